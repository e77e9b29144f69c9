//! Addresses belong to a snapshot: whatever the store does meanwhile, and whichever store is asked, they are those of the same
//! documents, or an error.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use docvalues_column::{DocAddress, DocId};
use docvalues_search::Query;
use docvalues_store::error::Result;
use docvalues_store::{
    Durability, Error, KeepCommits, Snapshot, Store, StoreOptions, StoreReader, WriteBatch,
};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::fixture::{POLICY, add, apply, contents, id, schema};
use crate::script::Random;

fn small() -> StoreOptions {
    StoreOptions::new().buffer_bytes(20_000)
}

fn on_disk(options: StoreOptions) -> (PowerLossDirectory, Store) {
    let disk = PowerLossDirectory::new("/disk");
    let store = Store::create_in(Arc::new(disk.clone()), schema(), options).unwrap();
    (disk, store)
}

/// Writes documents, and makes them visible.
fn put(store: &Store, docs: std::ops::Range<u32>) {
    apply(store, &docs.map(|doc| (doc, Some(1))).collect::<Vec<_>>()).unwrap();
    store.refresh().unwrap();
}

fn address(snapshot: &Snapshot, doc: u32) -> DocAddress {
    snapshot.find(id(doc).as_bytes()).unwrap().unwrap()
}

fn size(store: &Store, size: i64) -> WriteBatch {
    let mut batch = store.batch().unwrap();
    let field = batch.field("size").unwrap();
    let mut row = batch.update();
    row.i64(field, size).unwrap();
    row.finish().unwrap();
    batch
}

fn docs(store: &Store) -> BTreeSet<u32> {
    store.refresh().unwrap();
    contents(&store.snapshot()).into_keys().collect()
}

#[test]
fn those_of_another_store_are_refused() {
    // The same documents, files and numbers, in the buffer and in segments.
    for is_committed in [false, true] {
        let ((_, one), (_, two)) = (on_disk(small()), on_disk(small()));
        for store in [&one, &two] {
            put(store, 0..5);
            if is_committed {
                store.commit().unwrap();
            }
        }
        let other = two.snapshot();
        let at = [address(&other, 3)];
        assert!(matches!(one.delete(&other, &at), Err(Error::OtherSnapshot)));
        assert!(matches!(one.update(&other, &at, size(&one, 7)), Err(Error::OtherSnapshot)));
        assert_eq!((docs(&one).len(), one.snapshot().search().count(&Query::eq("size", 7)).unwrap()), (5, 0));
        assert_eq!(two.delete(&other, &at).unwrap(), 1);
    }
}

#[test]
fn those_of_an_earlier_opening_name_the_same_documents_or_none() {
    for durability in [Durability::OnCommit, Durability::EachBatch] {
        let options = small().durability(durability);
        let (disk, store) = on_disk(options);
        put(&store, 0..5);
        let early = store.snapshot();
        store.commit().unwrap();
        put(&store, 100..105);
        let late = store.snapshot();
        let reader = StoreReader::open_in(Arc::new(disk.clone()), options.open).unwrap().snapshot();
        drop(store);
        let store = Store::open_in(Arc::new(disk), options).unwrap();
        put(&store, 200..205);
        let before = docs(&store);
        // What was in the buffer is lost, or was replayed as other documents.
        for doc in 100..105 {
            let at = [address(&late, doc)];
            assert!(matches!(store.delete(&late, &at), Err(Error::OtherSnapshot)), "{durability:?}");
        }
        assert_eq!(docs(&store), before);
        // What was written to a segment is the same, whichever snapshot has it.
        for (doc, snapshot) in [(1, &early), (2, &late), (3, &reader)] {
            assert_eq!(store.delete(snapshot, &[address(snapshot, doc)]).unwrap(), 1);
        }
        let expected: BTreeSet<u32> = before.into_iter().filter(|doc| ![1, 2, 3].contains(doc)).collect();
        assert_eq!(docs(&store), expected);
    }
}

#[test]
fn those_of_the_buffer_stay_through_flush_commit_and_merge() {
    let (disk, store) = on_disk(StoreOptions::default());
    put(&store, 0..10);
    let first = store.snapshot();
    let at = |doc| [address(&first, doc)];
    // Copies in the buffer, and copies of them.
    assert_eq!(store.update(&first, &at(1), size(&store, 11)).unwrap(), 1);
    assert_eq!(store.update(&first, &at(1), size(&store, 12)).unwrap(), 1);
    assert_eq!(store.delete(&first, &at(2)).unwrap(), 1);
    store.commit().unwrap();
    put(&store, 20..22);
    // The document that took the place of another one is not that.
    put(&store, 3..4);
    for doc in [1, 4] {
        assert_eq!(store.update(&first, &at(doc), size(&store, 13)).unwrap(), 1);
    }
    assert_eq!((store.delete(&first, &at(2)).unwrap(), store.delete(&first, &at(3)).unwrap()), (0, 0));
    store.commit().unwrap();
    assert_eq!(store.delete(&first, &[address(&first, 5), address(&first, 6)]).unwrap(), 2);
    let expected = [(0, 1), (1, 13), (3, 1), (4, 13), (7, 1), (8, 1), (9, 1), (20, 1), (21, 1)];
    assert_eq!(contents(&store.snapshot()), expected.into_iter().collect());
    // Merges move them, too.
    let reader = StoreReader::open_in(Arc::new(disk), StoreOptions::default().open).unwrap().snapshot();
    store.merge_to(1).unwrap();
    assert_eq!((store.delete(&first, &at(7)).unwrap(), store.delete(&first, &at(5)).unwrap()), (1, 0));
    assert_eq!(store.update(&first, &at(8), size(&store, 14)).unwrap(), 1);
    store.purge().unwrap();
    assert_eq!(store.update(&first, &at(9), size(&store, 15)).unwrap(), 1);
    let expected = [(0, 1), (1, 13), (3, 1), (4, 13), (8, 14), (9, 15), (20, 1), (21, 1)];
    assert_eq!(contents(&store.snapshot()), expected.into_iter().collect());
    // A reader's snapshot does not know of merges.
    assert!(matches!(store.delete(&reader, &[address(&reader, 8)]), Err(Error::OtherSnapshot)));
    assert!(matches!(store.snapshot().resolve(&reader, address(&reader, 8)), Err(Error::OtherSnapshot)));
    assert!(matches!(store.snapshot().moves_since(&reader), Err(Error::OtherSnapshot)));
}

/// Documents that are gone with their segment, or before they were in one, are deleted ones.
#[test]
fn deleted_documents_are_no_error() {
    let (_, store) = on_disk(StoreOptions::default());
    put(&store, 0..3);
    let first = store.snapshot();
    let all: Vec<DocAddress> = (0..3).map(|doc| address(&first, doc)).collect();
    store.delete_ids((0..3).map(id)).unwrap();
    store.commit().unwrap();
    put(&store, 0..3);
    let second = store.snapshot();
    store.commit().unwrap();
    store.delete_ids((0..3).map(id)).unwrap();
    // The segment has no live document, and is dropped.
    store.commit().unwrap();
    put(&store, 0..3);
    for snapshot in [&first, &second] {
        assert_eq!(store.delete(snapshot, &all).unwrap(), 0);
        assert_eq!(store.update(snapshot, &all, size(&store, 7)).unwrap(), 0);
    }
    assert_eq!(docs(&store).len(), 3);
    let nowhere = DocAddress { part: 0, doc: DocId::new(9) };
    let nothing = DocAddress { part: 9, doc: DocId::new(0) };
    for at in [nowhere, nothing] {
        let error = store.delete(&first, &[at]).unwrap_err().to_string();
        assert!(error.starts_with("expected a document of the snapshot, found "), "{error}");
    }
}

/// After going back to an older commit, its snapshots of later ones name documents that are not there.
/// Snapshots of one block share a table of its ids, which one of them makes.
#[test]
fn snapshots_of_the_same_block_find_their_own_documents() {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        for is_asked_at_once in [false, true] {
            let (_, store) = on_disk(small());
            let (mut snapshots, mut known) = (Vec::new(), Vec::new());
            let writes = [(3, Some(1)), (6, Some(1)), (9, Some(1))];
            for batch in [&writes[..], &[(3, None)], &[(9, None)], &[(3, Some(2))]] {
                apply(&store, batch).unwrap();
                store.refresh().unwrap();
                let snapshot = store.snapshot();
                if is_asked_at_once {
                    address(&snapshot, 6);
                }
                known.push(contents_by_column(&snapshot));
                snapshots.push(snapshot);
            }
            assert_eq!(known[0].len() + known[1].len() + known[2].len() + known[3].len(), 3 + 2 + 1 + 2);
            for at in order {
                for doc in [3, 6, 9, 12] {
                    let found = snapshots[at].find(id(doc).as_bytes()).unwrap();
                    assert_eq!(found, known[at].get(&doc).copied(), "{order:?} {at} {doc}");
                }
            }
        }
    }
}

/// The addresses of all documents, read without a look-up of ids.
fn contents_by_column(snapshot: &Snapshot) -> BTreeMap<u32, DocAddress> {
    let live = snapshot.search().filter(&Query::all_of([])).unwrap();
    let address = |address: DocAddress| {
        let column = snapshot.parts().source(address.part as usize).column("id").unwrap();
        let mut found = Vec::new();
        assert!(column.values().bytes().unwrap().get(address.doc, &mut found).unwrap());
        let found = std::str::from_utf8(&found).unwrap().strip_prefix("doc-").unwrap().parse().unwrap();
        (found, address)
    };
    live.iter().map(address).collect()
}

#[test]
fn those_of_a_history_that_ended_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().keep_commits(KeepCommits::Newest(3));
    let store = Store::create(folder.path(), schema(), options).unwrap();
    add(&store, &[(1, 1), (2, 2)]).unwrap();
    let good = store.commit().unwrap();
    add(&store, &[(3, 3), (4, 4)]).unwrap();
    store.commit().unwrap();
    let later = store.snapshot();
    drop(store);
    Store::recover(folder.path(), good, None, options).unwrap();
    let store = Store::open(folder.path(), options).unwrap();
    add(&store, &[(5, 5), (6, 6)]).unwrap();
    store.commit().unwrap();
    assert!(matches!(store.delete(&later, &[address(&later, 4)]), Err(Error::OtherSnapshot)));
    assert_eq!(store.delete(&later, &[address(&later, 2)]).unwrap(), 1);
    assert_eq!(docs(&store), BTreeSet::from([1, 5, 6]));
}

/// Names of files that no commit ever had are not given again, though the next writer removes the files.
#[test]
fn numbers_are_never_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let files = || -> BTreeSet<String> {
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        names.filter(|name| name.ends_with(".dv") || name.starts_with("log-")).collect()
    };
    drop(Store::create(folder.path(), schema(), small()).unwrap());
    let mut seen = BTreeSet::new();
    for session in 0..5 {
        let store = Store::open(folder.path(), small()).unwrap();
        for batch in 0..4 {
            put(&store, batch * 300..(batch + 1) * 300);
        }
        let found = files();
        assert!(!found.is_empty() && found.is_disjoint(&seen), "session {session}: {found:?} of {seen:?}");
        seen.extend(found);
        drop(store);
        // Opened by one that writes nothing.
        drop(Store::open(folder.path(), small()).unwrap());
        assert!(files().is_empty());
    }
}

/// A document as it was written: updates change it, another write takes its place.
type Written = BTreeMap<u32, u64>;

/// Takes snapshots, and deletes and updates by their addresses long after.
fn run(seed: u64, durability: Durability) -> [usize; 3] {
    let options = small().durability(durability);
    let (disk, mut store) = on_disk(options);
    let (mut random, mut written, mut count) = (Random(seed), Written::new(), 0);
    // A snapshot, what it has, and how many openings there were.
    let mut snapshots: Vec<(Snapshot, Written, u64)> = Vec::new();
    let (mut openings, mut found) = (0, [0; 3]);
    for _ in 0..200 {
        match random.below(12) {
            0..=3 => {
                let first = random.below(200);
                let docs = first..first + 1 + random.below(40);
                for doc in docs.clone() {
                    count += 1;
                    // Some documents that are there are updated, which keeps their addresses.
                    if doc % 3 != 1 || !written.contains_key(&doc) {
                        written.insert(doc, count);
                    }
                }
                put(&store, docs);
            }
            4 => {
                let doc = random.below(200);
                store.delete_ids([id(doc)]).unwrap();
                written.remove(&doc);
            }
            5 | 6 => {
                store.refresh().unwrap();
                snapshots.push((store.snapshot(), written.clone(), openings));
            }
            7 => drop(store.commit().unwrap()),
            8 if random.below(4) == 0 => drop(store.merge(&POLICY).unwrap()),
            9 if random.below(6) == 0 => {
                if durability == Durability::OnCommit {
                    store.commit().unwrap();
                }
                drop(store);
                store = Store::open_in(Arc::new(disk.clone()), options).unwrap();
                openings += 1;
            }
            _ if !snapshots.is_empty() => {
                let at = usize::try_from(random.next()).unwrap_or(0) % snapshots.len();
                let (snapshot, had, opened) = &snapshots[at];
                let Some((&doc, &which)) =
                    had.iter().nth(random.below(u32::try_from(had.len()).unwrap().max(1)) as usize)
                else {
                    continue;
                };
                let is_there = written.get(&doc) == Some(&which);
                let at = [address(snapshot, doc)];
                let resolved = store.snapshot().resolve(snapshot, at[0]);
                if openings == *opened {
                    let now = is_there.then(|| address(&store.snapshot(), doc));
                    assert_eq!(resolved.unwrap(), now, "{seed}: {doc}");
                }
                let is_update = random.below(2) == 0;
                let done: Result<u64> = match is_update {
                    true => store.update(snapshot, &at, size(&store, 5)),
                    false => store.delete(snapshot, &at),
                };
                match done {
                    Ok(changed) => {
                        assert_eq!(changed, u64::from(is_there), "{seed}: {doc}");
                        if is_there && !is_update {
                            written.remove(&doc);
                        }
                        found[usize::from(is_there)] += 1;
                    }
                    Err(Error::OtherSnapshot) => {
                        assert!(openings > *opened, "{seed}: the same opening");
                        found[2] += 1;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            _ => {}
        }
        assert_eq!(docs(&store), written.keys().copied().collect(), "{seed}");
    }
    found
}

#[test]
fn an_address_is_never_that_of_another_document() {
    let mut all = [0; 3];
    for seed in 0..crate::cases(30, 3_000) {
        let durability = [Durability::OnCommit, Durability::EachBatch][usize::from(seed % 2 == 1)];
        let found = run(seed, durability);
        (0..3).for_each(|at| all[at] += found[at]);
    }
    println!("{all:?}: deleted before, done, refused");
    assert!(all.iter().all(|count| *count > 20), "{all:?}");
}
