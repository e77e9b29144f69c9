//! Observers: side files that live and die with their segments, and moves with which they are merged.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use docvalues_column::{ColumnSource, DocId, Field, Kind, LogicalType};
use docvalues_reader::OpenOptions;
use docvalues_storage::{Directory, FsDirectory};
use docvalues_store::error::Result;
use docvalues_store::{
    Durability, Error, Observer, Publication, Replica, Snapshot, Store, StoreOptions, StoreReader,
};
use docvalues_testkit::faults::{FaultyDirectory, PowerLossDirectory};

use crate::fixture::{add, apply, contents, id, problems, schema};
use crate::replicas::install;

const ID: usize = "doc-00000".len();

/// Writes the ids of each segment, in the order of its documents: those of a merge from the side files before.
#[derive(Default)]
struct Ids {
    fails: AtomicBool,
    calls: AtomicUsize,
}

impl Observer for Ids {
    fn publish(&self, publication: &mut Publication<'_>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        self.calls.fetch_add(1, Relaxed);
        let expected = ids(publication.segment());
        let mut found = vec![0; expected.len()];
        let mut known = 0;
        for run in publication.moves() {
            let Some((to, first)) = run.to else { continue };
            assert_eq!(to.segment(), Some(publication.number()));
            let Some(number) = run.from.segment() else { continue };
            let mut before = Vec::new();
            publication.side_file(number, "ids").unwrap().read_to_end(&mut before)?;
            let len = run.docs.len() * ID;
            let (from, to) = (run.docs.start as usize * ID, first.get() as usize * ID);
            found[to..to + len].copy_from_slice(&before[from..from + len]);
            known += len;
        }
        assert!(known == 0 || found == expected, "moves are those of the columns");
        publication.write("ids", |out| out.write_all(&expected))?;
        match self.fails.load(Relaxed) {
            true => Err("no".into()),
            false => Ok(()),
        }
    }
}

/// The ids of all documents, end to end.
fn ids(source: &dyn ColumnSource) -> Vec<u8> {
    let column = source.column("id").unwrap();
    let (values, mut all, mut id) = (column.values().bytes().unwrap(), Vec::new(), Vec::new());
    for doc in (0..source.docs()).map(DocId::new) {
        assert!(values.get(doc, &mut id).unwrap());
        all.extend_from_slice(&id);
    }
    all
}

/// Checks the side file of each segment. Returns the number of segments.
fn check(snapshot: &Snapshot) -> usize {
    let check = |number: u64, source: &dyn ColumnSource| {
        let mut found = Vec::new();
        snapshot.side_file(number, "ids").unwrap().read_to_end(&mut found).unwrap();
        assert_eq!(found, ids(source), "segment {number:06x}");
    };
    snapshot.segments().for_each(|segment| check(segment.number, segment.segment));
    snapshot.segments().len()
}

/// The number of side files.
fn side_files(directory: &dyn Directory) -> usize {
    let names = directory.list().unwrap().into_iter().map(|entry| entry.name.into_string().unwrap());
    names.filter(|name| name.ends_with(".side")).count()
}

fn create(path: &Path, observer: &Arc<Ids>) -> Store {
    let directory = Arc::new(FsDirectory::new(path));
    Store::create_in_with(directory, schema(), StoreOptions::default(), observer.clone()).unwrap()
}

#[test]
fn side_files_live_and_die_with_their_segments() {
    let folder = tempfile::tempdir().unwrap();
    let observer = Arc::new(Ids::default());
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
    let observer = Arc::new(Ids::default());
    let store = create(folder.path(), &observer);
    add(&store, &[(1, 1), (5, 5)]).unwrap();
    add(&store, &[(2, 2)]).unwrap();
    store.commit().unwrap();
    apply(&store, &[(3, Some(3)), (1, Some(7))]).unwrap();
    observer.fails.store(true, Relaxed);
    for error in
        [store.commit().unwrap_err(), store.merge_to(1).unwrap_err(), add(&store, &[(4, 4)]).unwrap_err()]
    {
        assert!(matches!(&error, Error::Observer { segment, .. } if segment.contains("seg-")), "{error}");
        assert!(error.to_string().ends_with("the observer failed: no"), "{error}");
    }
    observer.fails.store(false, Relaxed);
    store.refresh().unwrap();
    assert_eq!(contents(&store.snapshot()), [(1, 7), (2, 2), (3, 3), (5, 5)].into());
    store.commit().unwrap();
    assert_eq!(side_files(&**store.directory()), check(&store.snapshot()));
    assert_eq!(contents(&store.snapshot()), [(1, 7), (2, 2), (3, 3), (5, 5)].into());
    assert_eq!(problems(folder.path()), Vec::<String>::new());
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

/// Commits, of which `safe` is told, with flushes, segments that are added, and merges.
fn script(directory: Arc<dyn Directory>, safe: &Cell<u32>) -> Result<()> {
    let observer = Arc::new(Ids::default());
    let store = Store::create_in_with(directory, schema(), StoreOptions::default(), observer)?;
    for round in 1..=4_u32 {
        add(&store, &[(2 * round, 7), (0, 1)])?;
        apply(&store, &[(2 * round + 1, Some(8)), (0, None)])?;
        if round % 2 == 0 {
            store.merge_to(1)?;
        }
        store.commit()?;
        safe.set(round);
    }
    Ok(())
}

/// Opens a store after a failure. Its side files are those of its segments. Returns the rounds that it has.
fn check_after(disk: PowerLossDirectory) -> Option<u32> {
    let opened =
        Store::open_in_with(Arc::new(disk.clone()), StoreOptions::default(), Arc::new(Ids::default()));
    let Ok(store) = opened else { return None };
    assert_eq!(side_files(&disk), check(&store.snapshot()), "none orphaned, none missing");
    Some(u32::try_from(contents(&store.snapshot()).len()).unwrap() / 2)
}

#[test]
fn no_side_file_is_missing_or_left_after_a_power_loss() {
    let whole = PowerLossDirectory::new("/disk");
    script(Arc::new(whole.clone()), &Cell::new(0)).unwrap();
    let mut seen = BTreeSet::new();
    for sync in 0..=whole.sync_count() {
        let (disk, safe) = (PowerLossDirectory::new("/disk").down_at_sync(sync), Cell::new(0));
        let _ = script(Arc::new(disk.clone()), &safe);
        for seed in 0..crate::cases(4, 400) {
            let Some(rounds) = check_after(disk.crash_image(seed)) else {
                assert_eq!(safe.get(), 0);
                continue;
            };
            assert!(rounds == safe.get() || rounds == safe.get() + 1, "{rounds} of {}", safe.get());
            seen.insert(rounds);
        }
    }
    assert_eq!(seen, BTreeSet::from([0, 1, 2, 3, 4]));
}

#[test]
fn no_side_file_is_missing_or_left_after_a_failed_call() {
    let run = |failing: usize| {
        let disk = PowerLossDirectory::new("/disk");
        let (calls, safe) = (Arc::new(AtomicUsize::new(0)), Cell::new(0));
        let counted = calls.clone();
        let faulty = FaultyDirectory::new(Arc::new(disk.clone()), move |call| {
            match counted.fetch_add(1, Relaxed) == failing {
                true => Err(io::Error::from_raw_os_error(5)),
                false => Ok(call.bytes),
            }
        });
        let _ = script(Arc::new(faulty), &safe);
        (disk, calls.load(Relaxed), safe.get())
    };
    let (_, calls, rounds) = run(usize::MAX);
    assert_eq!(rounds, 4);
    for failing in (0..calls).step_by(crate::cases(3, 1)) {
        let (disk, _, safe) = run(failing);
        let rounds = check_after(disk).unwrap_or_default();
        assert!(rounds == safe || rounds == safe + 1, "call {failing}: {rounds} of {safe}");
    }
}

#[test]
fn the_log_calls_the_observer_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let open = |observer: &Arc<Ids>| {
        Store::open_in_with(Arc::new(FsDirectory::new(folder.path())), options, observer.clone()).unwrap()
    };
    drop(Store::create(folder.path(), schema(), options).unwrap());
    let observer = Arc::new(Ids::default());
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
    let store = Store::create_in_with(disk("/leader"), schema(), options, Arc::new(Ids::default())).unwrap();
    let replica = Replica::open_in_with(disk("/replica"), options, Arc::new(Ids::default())).unwrap();
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
