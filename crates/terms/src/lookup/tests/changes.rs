//! Any changes, in any order.

use std::collections::BTreeSet;
use std::sync::Arc;

use docvalues_format::id::DocId;
use docvalues_testkit::damage::cases;
use proptest::prelude::*;

use super::segment::{Ids, id};
use super::{check, seeds};
use crate::lookup::{IdStore, SegmentId};

#[derive(Clone, Debug)]
enum Change {
    /// Ids by number and shape; the seed of the filter.
    Add(Vec<BTreeSet<(u32, u8)>>, usize),
    /// So many beside each other; ids whose number is divided by the last one were deleted.
    Merge(prop::sample::Index, usize, u32),
    Remove(prop::sample::Index),
    Maintain(usize),
}

fn ids() -> impl Strategy<Value = BTreeSet<(u32, u8)>> {
    let any_kind = prop::collection::btree_set((0_u32..300, 0_u8..5), 0..60);
    let one_kind = (0_u8..5, prop::collection::btree_set(0_u32..300, 0..60))
        .prop_map(|(kind, numbers)| numbers.into_iter().map(|number| (number, kind)).collect());
    prop_oneof![1 => any_kind, 3 => one_kind]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (prop::collection::vec(ids(), 1..2), 0_usize..2).prop_map(|(ids, seed)| Change::Add(ids, seed)),
        1 => (prop::collection::vec(ids(), 0..5), 0_usize..2).prop_map(|(ids, seed)| Change::Add(ids, seed)),
        3 => (any::<prop::sample::Index>(), 1_usize..5, 1_u32..9).prop_map(|(at, n, gone)| Change::Merge(at, n, gone)),
        1 => any::<prop::sample::Index>().prop_map(Change::Remove),
        3 => (0_usize..200).prop_map(Change::Maintain),
    ]
}

/// The ids of segments, newest first, without those that are `gone`.
fn merged(parts: &[Arc<Ids>], gone: u32) -> Ids {
    let is_left = |id: &&Vec<u8>| {
        gone == 1 || !id.iter().map(|&byte| u32::from(byte)).sum::<u32>().is_multiple_of(gone)
    };
    let ids = parts.iter().flat_map(|part| part.model.keys());
    Ids::of(ids.filter(is_left).cloned(), seeds()[0])
}

fn apply(store: &IdStore<Ids>, segments: &mut Vec<(SegmentId, Arc<Ids>)>, change: Change) {
    match change {
        Change::Add(added, seed) => {
            let new = |ids: BTreeSet<(u32, u8)>| {
                let ids = ids.into_iter().map(|(number, kind)| id(number, kind));
                Arc::new(Ids::of(ids, seeds()[seed]))
            };
            let added: Vec<Arc<Ids>> = added.into_iter().map(new).collect();
            let names = store.add_all(&added).unwrap();
            segments.splice(..0, names.into_iter().zip(added));
        }
        Change::Merge(at, count, gone) if !segments.is_empty() => {
            let at = at.index(segments.len());
            let range = at..(at + count).min(segments.len());
            let (names, parts): (Vec<_>, Vec<_>) = segments[range.clone()].iter().cloned().unzip();
            let new = Arc::new(merged(&parts, gone));
            let name = store.replace(&names, Arc::clone(&new)).unwrap();
            segments.splice(range, [(name, new)]);
        }
        Change::Remove(at) if !segments.is_empty() => {
            let (name, _) = segments.remove(at.index(segments.len()));
            store.remove(&[name]).unwrap();
        }
        Change::Merge(..) | Change::Remove(_) => {}
        Change::Maintain(steps) => {
            store.maintain(steps).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { cases(48, 96) }))]

    #[test]
    fn any_changes(
        changes in prop::collection::vec(change(), 1..40),
        absent in prop::collection::vec((0_u32..600, 0_u8..5), 0..40),
        deleted in prop::collection::btree_set((0_usize..9, 0_u32..60), 0..120),
    ) {
        let store = IdStore::with_seed(3);
        let mut segments = Vec::new();
        let absent: Vec<Vec<u8>> = absent.into_iter().map(|(number, kind)| id(number, kind)).collect();
        let live = |place: usize, doc: DocId| !deleted.contains(&(place, doc.get()));
        let mut held = Vec::new();
        for (i, change) in changes.into_iter().enumerate() {
            apply(&store, &mut segments, change);
            let lookup = store.snapshot();
            let names: Vec<SegmentId> = lookup.segments().map(|(name, _)| name).collect();
            prop_assert_eq!(names, segments.iter().map(|(name, _)| *name).collect::<Vec<_>>());
            // The newest ids are the ones that changes forget; all of them at the end.
            let some = segments.iter().take(2).flat_map(|(_, ids)| ids.model.keys()).chain(&absent).cloned();
            check(&lookup, &some.collect::<Vec<_>>(), live);
            if i % 7 == 0 {
                held.push((lookup, segments.clone()));
            }
        }
        held.push((store.snapshot(), segments));
        for (lookup, segments) in held {
            let all: BTreeSet<Vec<u8>> =
                segments.iter().flat_map(|(_, ids)| ids.model.keys()).chain(&absent).cloned().collect();
            check(&lookup, &all.into_iter().collect::<Vec<_>>(), live);
        }
    }
}
