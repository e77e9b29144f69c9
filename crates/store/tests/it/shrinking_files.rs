//! A file that another program shortens while a store reads it: an error without mappings.

use docvalues_column::DocId;
use docvalues_reader::{Access, OpenOptions};
use docvalues_search::stats::Stats;
use docvalues_search::{Docs, Search};
use docvalues_store::{Store, StoreOptions, StoreReader};

use crate::fixture::{add, schema};

#[test]
fn a_shortened_segment_is_an_error_without_mappings() {
    let folder = tempfile::tempdir().unwrap();
    let open = OpenOptions::new().access(Access::Read);
    let options = StoreOptions::new().open(open);
    let path = folder.path().join("seg-000000.dv");
    let docs: Vec<(u32, i64)> = (0..60_000)
        .map(|number| (number, i64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed())))
        .collect();
    // A file of up to 64 KiB is never mapped.
    let long = 64 << 10;
    let write = |store: &Store| {
        add(store, &docs).unwrap();
        store.commit().unwrap();
    };
    for with_writer in [false, true] {
        let _ = std::fs::remove_dir_all(folder.path());
        let store = Store::create(folder.path(), schema(), options).unwrap();
        write(&store);
        let snapshot = match with_writer {
            true => store.snapshot(),
            false => StoreReader::open(folder.path(), open).unwrap().snapshot(),
        };
        assert!(std::fs::metadata(&path).unwrap().len() > 4 * long);
        std::fs::File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
        let search: Search<'_> = snapshot.search();
        assert!(search.stats(Docs::All, &Stats::of("size")).is_err());
        assert!(
            search
                .retriever(&["id"])
                .and_then(|mut retriever| retriever.retrieve(&[DocId::new(50_000)]).map(drop))
                .is_err()
        );
        assert!(StoreReader::open(folder.path(), open).is_err());
    }
}
