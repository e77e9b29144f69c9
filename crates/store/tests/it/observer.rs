//! Observers: side files that live and die with their segments, and moves with which they are merged.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock, Weak};

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_reader::OpenOptions;
use docvalues_storage::{FsDirectory, Step};
use docvalues_store::{
    Durability, Error, KeepCommits, Observer, Publication, Replica, Store, StoreOptions, StoreReader,
};
use docvalues_testkit::faults::{FaultyDirectory, PowerLossDirectory};

use crate::fixture::{add, apply, contents, count, files, id, problems, schema};
use crate::id_files::{Ids, check, side_files};
use crate::replicas::{frames, install};

fn create(path: &Path, observer: &Arc<Ids>) -> Store {
    let directory = Arc::new(FsDirectory::new(path));
    Store::create_in_with(directory, schema(), StoreOptions::default(), observer.clone()).unwrap()
}

#[test]
fn side_files_live_and_die_with_their_segments() {
    let folder = tempfile::tempdir().unwrap();
    let observer = Ids::new();
    let store = create(folder.path(), &observer);
    for round in 0..3 {
        add(&store, &[(10 * round, 1), (10 * round + 1, 1)]).unwrap();
        apply(&store, &[(10 * round + 2, Some(2)), (10 * round, None), (10 * round + 3, Some(3))]).unwrap();
        store.commit().unwrap();
    }
    assert_eq!((check(&store.snapshot()), side_files(&**store.directory())), (6, 6));
    let before = store.snapshot();
    store.merge_to(1).unwrap();
    assert_eq!(check(&store.snapshot()), 1);
    store.alter([Field::new("size", Kind::Numeric, LogicalType::F64)]).unwrap();
    store.commit().unwrap();
    assert_eq!((check(&store.snapshot()), side_files(&**store.directory())), (1, 1));
    assert_eq!(observer.calls.load(Relaxed), 8);
    // They are open as long as a snapshot has their segments.
    assert_eq!(check(&before), 6);
    drop(store);

    assert_eq!(problems(folder.path()), Vec::<String>::new());
    let reader = StoreReader::open(folder.path(), OpenOptions::new()).unwrap();
    assert_eq!(check(&reader.snapshot()), 1);
    let number = reader.snapshot().segments().next().unwrap().number;
    assert!(reader.snapshot().side_file(number, "other").is_none());
    assert!(reader.snapshot().side_file(number + 1_000, "ids").is_none());

    let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let file = entries.into_iter().find(|path| path.extension().is_some_and(|end| end == "side")).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[3] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let found = problems(folder.path());
    assert!(found.len() == 1 && found[0].contains(".side: expected the content"), "{found:?}");
    std::fs::write(&file, &bytes[1..]).unwrap();
    assert!(matches!(Store::open(folder.path(), StoreOptions::default()), Err(Error::Damaged { .. })));
    std::fs::remove_file(&file).unwrap();
    assert!(matches!(Store::open(folder.path(), StoreOptions::default()), Err(Error::Storage(_))));
}

#[test]
fn an_observer_fails_the_publication() {
    let folder = tempfile::tempdir().unwrap();
    let observer = Ids::new();
    let store = create(folder.path(), &observer);
    add(&store, &[(1, 1), (5, 5)]).unwrap();
    add(&store, &[(2, 2)]).unwrap();
    store.commit().unwrap();
    apply(&store, &[(3, Some(3)), (1, Some(7))]).unwrap();
    observer.fails.store(true, Relaxed);
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let before = files();
    for error in
        [store.commit().unwrap_err(), store.merge_to(1).unwrap_err(), add(&store, &[(4, 4)]).unwrap_err()]
    {
        assert!(matches!(&error, Error::Observer { segment, .. } if segment.contains("seg-")), "{error}");
        assert!(error.to_string().ends_with("the observer failed: no"), "{error}");
    }
    assert_eq!(files(), before, "a segment that was not published leaves no file");
    observer.fails.store(false, Relaxed);
    store.refresh().unwrap();
    assert_eq!(contents(&store.snapshot()), [(1, 7), (2, 2), (3, 3), (5, 5)].into());
    store.commit().unwrap();
    assert_eq!(side_files(&**store.directory()), check(&store.snapshot()));
    assert_eq!(contents(&store.snapshot()), [(1, 7), (2, 2), (3, 3), (5, 5)].into());
    assert_eq!(problems(folder.path()), Vec::<String>::new());
}

/// Deletes documents while a merged segment is to be published: all of a segment, which a commit drops, and then another one.
#[derive(Default)]
struct Deleter(OnceLock<Weak<Store>>);

impl Observer for Deleter {
    fn publish(&self, _: &mut Publication<'_>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        if let Some(store) = self.0.get().and_then(Weak::upgrade) {
            assert_eq!(store.delete_ids([1, 2, 4].map(id))?, 3);
            store.commit()?;
            assert_eq!(store.delete_ids([id(5)])?, 1);
        }
        Ok(())
    }
}

#[test]
fn documents_that_are_deleted_during_a_merge_are_not_in_the_merged_segment() {
    let folder = tempfile::tempdir().unwrap();
    let (observer, directory) = (Arc::new(Deleter::default()), Arc::new(FsDirectory::new(folder.path())));
    let store = Store::create_in_with(directory, schema(), StoreOptions::default(), observer.clone());
    let store = Arc::new(store.unwrap());
    add(&store, &[(1, 1), (2, 2)]).unwrap();
    add(&store, &[(3, 3), (4, 4), (5, 5), (6, 6)]).unwrap();
    store.commit().unwrap();
    observer.0.set(Arc::downgrade(&store)).unwrap();
    store.merge_to(1).unwrap();
    assert_eq!(store.snapshot().segments().len(), 1);
    assert_eq!(contents(&store.snapshot()), [(3, 3), (6, 6)].into());
    store.commit().unwrap();
    assert_eq!(problems(folder.path()), Vec::<String>::new());
    let reader = StoreReader::open(folder.path(), OpenOptions::new()).unwrap();
    assert_eq!(contents(&reader.snapshot()), [(3, 3), (6, 6)].into());
}

/// Writes side files with names that are refused, and some that are not.
struct Names;

impl Observer for Names {
    fn publish(&self, publication: &mut Publication<'_>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        let long = "a".repeat(65);
        for name in ["", ".", "..", "../a", "a/b", "/a", "a\\b", "a\0", ".a", "ä", "a b", long.as_str()] {
            let refused = publication.write(name, |out| out.write_all(b"never"));
            assert!(matches!(refused, Err(Error::Request(_))), "{name:?}");
        }
        publication.write("a", |_| Ok(()))?;
        assert!(matches!(publication.write("a", |_| Ok(())), Err(Error::Request(_))), "twice");
        let failed = publication.write("b", |_| Err(io::Error::other("no more")));
        assert!(failed.unwrap_err().to_string().contains("no more"));
        // More than a piece.
        let large = vec![7; (2 << 20) + 5];
        publication.write("b", |out| large.chunks(1_000).try_for_each(|bytes| out.write_all(bytes)))?;
        publication.write(&long[..64], |_| Ok(()))?;
        publication.write("Z-_.9", |_| Ok(()))?;
        assert!(matches!(publication.write("c", |_| Ok(())), Err(Error::Request(_))), "a fifth");
        Ok(())
    }
}

/// Returns the error of another store that failed.
struct OfAnother(Error);

impl Observer for OfAnother {
    fn publish(&self, _: &mut Publication<'_>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        let Error::Poisoned { why } = &self.0 else { return Ok(()) };
        Err(Error::Poisoned { why: why.clone() }.into())
    }
}

#[test]
fn an_error_of_another_store_does_not_poison() {
    let folder = tempfile::tempdir().unwrap();
    let directory = Arc::new(FsDirectory::new(folder.path()));
    let observer = Arc::new(OfAnother(Error::Poisoned { why: "a sync failed".into() }));
    let store = Store::create_in_with(directory, schema(), StoreOptions::default(), observer).unwrap();
    apply(&store, &[(1, Some(1))]).unwrap();
    for _ in 0..2 {
        let error = store.commit().unwrap_err();
        assert!(matches!(error, Error::Observer { .. }), "{error}");
    }
    store.refresh().unwrap();
    assert_eq!(contents(&store.snapshot()), [(1, 1)].into());
}

/// Hides that its side file could not be written.
struct Hides;

impl Observer for Hides {
    fn publish(&self, publication: &mut Publication<'_>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        drop(publication.write("ids", |out| out.write_all(b"some")));
        Ok(())
    }
}

#[test]
fn a_side_file_that_was_not_written_fails_the_publication() {
    let directory = FaultyDirectory::new(Arc::new(PowerLossDirectory::new("/disk")), |call| {
        match call.step == Step::Sync && Path::new(call.name).extension().is_some_and(|end| end == "side") {
            true => Err(io::Error::other("no sync")),
            false => Ok(call.bytes),
        }
    });
    let options = StoreOptions::default();
    let store = Store::create_in_with(Arc::new(directory), schema(), options, Arc::new(Hides)).unwrap();
    apply(&store, &[(1, Some(1))]).unwrap();
    let error = store.commit().unwrap_err();
    assert!(matches!(&error, Error::Storage(error) if error.step() == Step::Sync), "{error}");
    let error = store.commit().unwrap_err();
    assert!(matches!(error, Error::Poisoned { .. }), "{error}");
}

#[test]
fn names_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let directory = Arc::new(FsDirectory::new(folder.path()));
    let store = Store::create_in_with(directory, schema(), StoreOptions::default(), Arc::new(Names)).unwrap();
    add(&store, &[(1, 1)]).unwrap();
    store.commit().unwrap();
    assert_eq!(side_files(&**store.directory()), 4);
    drop(store);
    assert_eq!(problems(folder.path()), Vec::<String>::new());
    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    let (snapshot, mut bytes) = (store.snapshot(), Vec::new());
    let number = snapshot.segments().next().unwrap().number;
    snapshot.side_file(number, "b").unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, vec![7; (2 << 20) + 5]);
}

#[test]
fn the_log_calls_the_observer_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let open = |observer: &Arc<Ids>| {
        Store::open_in_with(Arc::new(FsDirectory::new(folder.path())), options, observer.clone()).unwrap()
    };
    drop(Store::create(folder.path(), schema(), options).unwrap());
    let observer = Ids::new();
    let store = open(&observer);
    apply(&store, &[(1, Some(1)), (2, Some(2))]).unwrap();
    drop(store);
    assert_eq!(observer.calls.load(Relaxed), 0);
    let store = open(&observer);
    assert_eq!((observer.calls.load(Relaxed), check(&store.snapshot())), (1, 1));
    assert!(store.snapshot().find(id(2).as_bytes()).unwrap().is_some());
}

#[test]
fn replicas_get_side_files_and_write_their_own() {
    let disk = |name: &str| Arc::new(PowerLossDirectory::new(name));
    let options = StoreOptions::default();
    let store = Store::create_in_with(disk("/leader"), schema(), options, Ids::new()).unwrap();
    let replica = Replica::open_in_with(disk("/replica"), options, Ids::new()).unwrap();
    for round in 0..3 {
        apply(&store, &[(round, Some(1)), (round + 10, Some(2))]).unwrap();
        store.commit().unwrap();
        install(&store, &replica).unwrap();
        assert_eq!(check(&replica.snapshot()), check(&store.snapshot()));
        assert_eq!(side_files(&**replica.store().directory()), side_files(&**store.directory()));
    }
    let store = replica.promote().unwrap();
    apply(&store, &[(20, Some(1))]).unwrap();
    store.merge_to(1).unwrap();
    store.commit().unwrap();
    assert_eq!(side_files(&**store.directory()), check(&store.snapshot()));
}

/// The first frame of a new leader has a replica write its buffer, which its observer may fail.
#[test]
fn a_replica_whose_observer_failed_goes_on() {
    let disk = |name: &str| Arc::new(PowerLossDirectory::new(name));
    let options = StoreOptions::new().durability(Durability::EachBatch).keep_frames(1 << 20);
    let store = Store::create_in_with(disk("/leader"), schema(), options, Ids::new()).unwrap();
    let observer = Ids::new();
    let first = Replica::open_in_with(disk("/first"), options, Ids::new()).unwrap();
    let second = Replica::open_in_with(disk("/second"), options, observer.clone()).unwrap();
    let start = store.position().sequence;
    apply(&store, &[(5, Some(5))]).unwrap();
    for replica in [&first, &second] {
        install(&store, replica).unwrap();
        replica.apply_frame(&frames(&store, start)[0].bytes).unwrap();
    }
    let leader = first.promote().unwrap();
    apply(&leader, &[(6, Some(6))]).unwrap();
    let frames = frames(&leader, start);
    observer.fails.store(true, Relaxed);
    let failed = frames.iter().map(|frame| second.apply_frame(&frame.bytes)).find_map(Result::err).unwrap();
    assert!(matches!(failed, Error::Observer { .. }), "{failed}");
    observer.fails.store(false, Relaxed);
    for frame in &frames {
        second.apply_frame(&frame.bytes).unwrap();
    }
    assert_eq!(second.position(), leader.position());
    second.store().refresh().unwrap();
    assert_eq!(contents(&second.snapshot()), [(5, 5), (6, 6)].into());
}

/// The names and bytes of all files but the lock's.
fn stored(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = files(folder);
    files.retain(|name, _| !name.starts_with("LOCK"));
    files
}

#[test]
fn without_an_observer_no_segment_lacks_side_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = create(folder.path(), &Ids::new());
    for round in 0..2 {
        apply(&store, &[(10 * round, Some(1)), (10 * round + 2, Some(2))]).unwrap();
        store.commit().unwrap();
    }
    drop(store);

    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    // These need no other segment.
    apply(&store, &[(0, None)]).unwrap();
    count(&store, &[(2, 5)]).unwrap();
    store.commit().unwrap();
    let before = stored(folder.path());
    let is_refused = |error: Error| {
        assert!(matches!(error, Error::NoObserver { .. }), "{error}");
    };
    is_refused(store.merge_to(1).unwrap_err());
    is_refused(store.purge().unwrap_err());
    is_refused(store.alter([Field::new("size", Kind::Numeric, LogicalType::F64)]).unwrap_err());
    is_refused(add(&store, &[(4, 4)]).unwrap_err());
    is_refused(apply(&store, &[(9, Some(9))]).unwrap_err());
    store.commit().unwrap();
    assert_eq!(check(&store.snapshot()), 2);
    drop(store);
    assert_eq!(stored(folder.path()).keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());

    let directory = Arc::new(FsDirectory::new(folder.path()));
    let store = Store::open_in_with(directory, StoreOptions::default(), Ids::new()).unwrap();
    assert_eq!(contents(&store.snapshot()), [(2, 7), (10, 1), (12, 2)].into());
    store.merge_to(1).unwrap();
    store.commit().unwrap();
    assert_eq!((side_files(&**store.directory()), check(&store.snapshot())), (1, 1));
}

/// A replica without an observer takes files, and keeps those of its leader; it refuses frames with documents.
#[test]
fn a_replica_without_an_observer_takes_files() {
    let disk = |name: &str| Arc::new(PowerLossDirectory::new(name));
    let options = StoreOptions::new().keep_frames(1 << 20);
    let store = Store::create_in_with(disk("/leader"), schema(), options, Ids::new()).unwrap();
    let replica = Replica::open_in(disk("/replica"), options).unwrap();
    for round in 0..3 {
        apply(&store, &[(round, Some(1)), (round + 10, Some(2))]).unwrap();
        store.commit().unwrap();
        install(&store, &replica).unwrap();
        assert_eq!(check(&replica.snapshot()), check(&store.snapshot()));
    }
    apply(&store, &[(20, Some(1))]).unwrap();
    let frame = frames(&store, replica.position().sequence).remove(0);
    assert!(matches!(replica.apply_frame(&frame.bytes), Err(Error::NoObserver { .. })));
    store.commit().unwrap();
    install(&store, &replica).unwrap();
    assert_eq!(check(&replica.snapshot()), check(&store.snapshot()));
}

/// A commit that a merge replaced has its side files as long as it is kept, and so has what the log adds to it.
#[test]
fn an_older_commit_has_its_side_files() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().durability(Durability::EachBatch).keep_commits(KeepCommits::Newest(2));
    let directory = FsDirectory::new(folder.path());
    let store = Store::create_with(folder.path(), schema(), options, Ids::new()).unwrap();
    let mut older = 0;
    for round in 0..2 {
        apply(&store, &[(round, Some(1)), (round + 10, Some(2))]).unwrap();
        older = store.commit().unwrap();
    }
    store.merge_to(1).unwrap();
    store.commit().unwrap();
    let merged = format!("seg-{:06x}.", store.snapshot().segments().next().unwrap().number);
    apply(&store, &[(20, Some(3)), (0, None)]).unwrap();
    drop(store);
    assert_eq!(side_files(&directory), 3);

    // The batch of the log has a document, whose segment would lack a side file.
    let before = stored(folder.path());
    let refused = Store::recover(folder.path(), older, None, options).unwrap_err();
    assert!(matches!(refused, Error::NoObserver { .. }), "{refused}");
    assert!(stored(folder.path()) == before, "nothing is changed");
    let recovered = Store::recover_with(folder.path(), older, None, options, Ids::new()).unwrap();
    assert_eq!((recovered.replayed, recovered.lost.len()), (1, 1));
    let expected = [(1, 1), (10, 2), (11, 2), (20, 3)].into();
    let reader = StoreReader::open(folder.path(), OpenOptions::new()).unwrap();
    assert_eq!((check(&reader.snapshot()), contents(&reader.snapshot())), (3, expected));
    assert_eq!(side_files(&directory), 4, "recovering removes nothing");

    // The next commits do.
    let is_there = || stored(folder.path()).keys().any(|name| name.starts_with(&merged));
    assert!(is_there());
    let store = Store::open_with(folder.path(), options, Ids::new()).unwrap();
    apply(&store, &[(1, None)]).unwrap();
    store.commit().unwrap();
    assert!(!is_there());
    assert_eq!((side_files(&directory), check(&store.snapshot())), (3, 3));
    assert_eq!(problems(folder.path()), Vec::<String>::new());
}

/// Without batches of the log to add, going back needs no observer.
#[test]
fn going_back_without_a_log_needs_no_observer() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().keep_commits(KeepCommits::Newest(3));
    let store = Store::create_with(folder.path(), schema(), options, Ids::new()).unwrap();
    apply(&store, &[(1, Some(1)), (2, Some(2))]).unwrap();
    let older = store.commit().unwrap();
    apply(&store, &[(3, Some(3))]).unwrap();
    store.commit().unwrap();
    drop(store);
    Store::recover(folder.path(), older, None, options).unwrap();
    let store = Store::open(folder.path(), options).unwrap();
    assert_eq!((check(&store.snapshot()), contents(&store.snapshot())), (1, [(1, 1), (2, 2)].into()));
    assert_eq!(side_files(&**store.directory()), 2, "of two commits");
    drop(store);
    let store = Store::open_with(folder.path(), options, Ids::new()).unwrap();
    for doc in 4..7 {
        apply(&store, &[(doc, Some(1))]).unwrap();
        store.commit().unwrap();
    }
    // That of document 3 is gone.
    assert_eq!((check(&store.snapshot()), side_files(&**store.directory())), (4, 4));
}

#[test]
fn a_purge_removes_side_files_of_deleted_documents() {
    let folder = tempfile::tempdir().unwrap();
    let store = create(folder.path(), &Ids::new());
    for round in 0..2 {
        apply(&store, &[(10 * round + 1_001, Some(1)), (10 * round + 1_002, Some(2))]).unwrap();
        store.commit().unwrap();
    }
    let has = |doc: u32| {
        let doc = doc.to_le_bytes();
        let mut files = stored(folder.path()).into_iter().filter(|(name, _)| name.ends_with(".side"));
        files.any(|(_, bytes)| bytes.chunks(doc.len()).any(|found| found == doc))
    };
    apply(&store, &[(1_001, None)]).unwrap();
    store.commit().unwrap();
    assert!(has(1_001) && has(1_002) && has(1_012));
    store.purge().unwrap();
    assert!(!has(1_001) && has(1_002) && has(1_012));
    assert_eq!((side_files(&**store.directory()), check(&store.snapshot())), (2, 2));
}
