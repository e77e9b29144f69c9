//! Merges beside changes, and in the order of an index sort.

use std::sync::atomic::{AtomicBool, Ordering};

use docvalues_column::{Field, Kind, LogicalType, SortKey};
use docvalues_store::{Store, StoreOptions, StoreSchema};

use crate::fixture::{Contents, Stop, add, contents, id, schema};

/// Replaces and deletes documents while another thread merges all segments, again and again.
fn change_while_merging(schema: StoreSchema) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema, StoreOptions::default()).unwrap();
    let (stop, mut now) = (AtomicBool::new(false), Contents::new());
    std::thread::scope(|scope| {
        let merger = scope.spawn(|| {
            let mut merges = 0;
            while !stop.load(Ordering::Relaxed) || store.snapshot().segments().len() > 1 {
                merges += u32::from(store.snapshot().segments().len() > 1);
                store.merge_to(1).unwrap();
            }
            merges
        });
        let changing = Stop(&stop);
        for round in 0..200_u32 {
            // Half of the ids are there: they are deleted in segments that are being merged.
            let docs: Vec<_> = (0..40).map(|i| (round * 20 + i, i64::from(round * 31 % 17 + i))).collect();
            add(&store, &docs).unwrap();
            now.extend(docs);
            for gone in [round * 3, round * 20 + 7] {
                now.remove(&gone);
                store.delete_ids([id(gone)]).unwrap();
            }
            if round % 16 == 0 {
                store.commit().unwrap();
            }
        }
        drop(changing);
        let merges = merger.join().unwrap();
        println!("{merges} merges beside 200 rounds of changes");
        assert!(merges > 2);
    });
    assert_eq!(contents(&store.snapshot()), now);
    store.commit().unwrap();
    drop(store);
    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    assert_eq!((contents(&store.snapshot()), store.snapshot().segments().len()), (now, 1));
    assert!(store.snapshot().segments().all(|part| part.segment.verify().is_ok()));
}

#[test]
fn documents_that_change_during_a_merge_are_changed_in_the_merged_segment() {
    change_while_merging(schema());
}

#[test]
fn the_same_in_sorted_segments() {
    let schema = schema().with_sort([SortKey::of("size").descending()]).unwrap();
    change_while_merging(schema);
}

#[test]
fn sorted_stores_stay_sorted() {
    let folder = tempfile::tempdir().unwrap();
    let sorted = schema().with_sort([SortKey::of("size")]).unwrap();
    let store = Store::create(folder.path().join("sorted"), sorted, StoreOptions::default()).unwrap();
    add(&store, &[(1, 9), (2, 3), (3, 7)]).unwrap();
    add(&store, &[(4, 8), (2, 1)]).unwrap();
    store.merge_to(1).unwrap();
    let snapshot = store.snapshot();
    let part = snapshot.segments().next().unwrap();
    assert_eq!(part.segment.sort(), [SortKey::of("size")]);
    let mut sizes = Vec::new();
    part.segment
        .numeric("size")
        .unwrap()
        .scan(0..part.segment.docs(), |_, values| {
            sizes.extend_from_slice(values);
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(sizes, [1, 7, 8, 9]);

    // A segment in another order is refused, and nothing of it stays.
    let other = Store::create(folder.path().join("other"), schema(), StoreOptions::default()).unwrap();
    add(&other, &[(1, 9), (2, 3)]).unwrap();
    store.commit().unwrap();
    add(&store, &[(9, 5)]).unwrap();
    let names = || std::fs::read_dir(folder.path().join("sorted")).unwrap().count();
    let before = names();
    let unsorted = folder.path().join("other/seg-000000.dv");
    let error = store.add_segment(unsorted).unwrap_err().to_string();
    assert!(error.contains("expected the index sort of the store"), "{error}");
    assert_eq!((names(), contents(&store.snapshot()).len()), (before, 5));
    // The segment that was not committed yet is still there.
    store.commit().unwrap();
    drop(store);
    let store = Store::open(folder.path().join("sorted"), StoreOptions::default()).unwrap();
    assert_eq!(contents(&store.snapshot()).len(), 5);
}

#[test]
fn fields_that_cannot_be_sorted_by_or_identify_are_refused() {
    let tags = Field::new("tags", Kind::SortedSet, LogicalType::Utf8);
    let schema = schema().with_field(tags).unwrap();
    for error in [
        schema.clone().with_sort([SortKey::of("tags")]).unwrap_err(),
        schema.clone().with_sort([SortKey::of("nothing")]).unwrap_err(),
        schema.clone().with_id_field("size").unwrap_err(),
        schema.clone().with_field(Field::new("_doc", Kind::Numeric, LogicalType::I64)).unwrap_err(),
    ] {
        assert!(error.to_string().contains("expected"), "{error}");
    }
}
