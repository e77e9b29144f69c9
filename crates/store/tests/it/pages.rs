//! Pages of a snapshot: positions of values stay valid through merges.

use std::collections::BTreeMap;

use docvalues_column::{SortKey, Value};
use docvalues_search::Docs;
use docvalues_search::sort::SortCursor;
use docvalues_store::{Store, StoreOptions};
use proptest::prelude::*;

use crate::cases;
use crate::fixture::{add, apply, contents, id, schema};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(8, 200)))]

    #[test]
    fn pages_go_on_after_merges(
        segments in prop::collection::vec(prop::collection::vec((0..80_u32, 0..6_i64), 1..40), 1..4),
        deleted in prop::collection::vec(0..80_u32, 0..20),
        buffered in prop::collection::btree_map(0..100_u32, 0..6_i64, 0..20),
        (size, descending) in (1..12_usize, any::<bool>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
        segments.iter().for_each(|docs| add(&store, docs).unwrap());
        add(&store, &[(90, 3)]).unwrap();
        store.delete_ids(deleted.into_iter().map(id)).unwrap();
        store.commit().unwrap();
        let buffered: Vec<_> = buffered.into_iter().map(|(number, size)| (number, Some(size))).collect();
        apply(&store, &buffered).unwrap();
        store.refresh().unwrap();

        let sizes = SortKey::of("size");
        let keys = [if descending { sizes.descending() } else { sizes }, SortKey::of("id")];
        let docs = contents(&store.snapshot()).into_iter();
        let ordered: BTreeMap<(i64, u32), Vec<Option<Value>>> = docs
            .map(|(number, size)| {
                let values = vec![Some(size.into()), Some(id(number).as_str().into())];
                ((if descending { -size } else { size }, number), values)
            })
            .collect();
        let (mut found, mut last) = (Vec::new(), None);
        loop {
            let search = store.snapshot().search();
            let page = match &last {
                None => search.top(Docs::All, &keys, size).unwrap(),
                Some(last) => search.top_after(Docs::All, &keys, last, size).unwrap(),
            };
            if page.is_empty() {
                break;
            }
            for at in page {
                let position = search.sort_cursor(&keys, at).unwrap();
                last = Some(SortCursor::new(position.values().iter().cloned()));
                found.push(position.values().to_vec());
            }
            prop_assert!(found.len() <= ordered.len());
            // Documents get other addresses.
            store.commit().unwrap();
            store.merge_to(1).unwrap();
            store.refresh().unwrap();
        }
        prop_assert_eq!(found, ordered.into_values().collect::<Vec<_>>());
    }
}
