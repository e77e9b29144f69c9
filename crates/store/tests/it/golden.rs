//! Stores of version 1, which 0.1.0 wrote before commits had their numbers, and one with side files: they are read, written,
//! replicated and recovered.
//!
//! | in `tests/golden` | made by |
//! | --- | --- |
//! | `plain` | `dv put`, and ten times `dv rm` and `dv set`: a fold, two deltas, updates; two commits |
//! | `log` | `dv put --durability batch`, killed after five batches: two commits, and a log after the newest |
//! | `versions` | `dv put` and `dv rm` with a version field: a deletion is remembered |
//! | `stream` | `dv replicate log`: the files of a commit, and frames |
//! | `replica` | `dv replica` of that stream |
//! | `depot` | `dv replicate plain --to` |
//!
//! `side` has version 2, side files, two commits, and a log after the newest: `UPDATE_GOLDEN=1` makes it anew.

use std::error::Error as StdError;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docvalues_reader::OpenOptions;
use docvalues_store::{
    Durability, Error, FolderDepot, KeepCommits, Observer, Publication, Replica, Store, StoreOptions,
    StoreReader, StreamReader, Taken,
};

use crate::fixture::{Contents, apply, contents, problems, schema};
use crate::id_files::{Ids, check, side_files};

/// Without a log, and with one.
fn both() -> [StoreOptions; 2] {
    let plain = StoreOptions::new().keep_commits(KeepCommits::Newest(2));
    [plain, plain.durability(Durability::EachBatch)]
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// A copy of a golden store.
fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(golden(name)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

/// Earlier commits do not say how many stay: two do, whatever a new store keeps.
#[test]
fn two_commits_of_an_older_store_stay() {
    let folder = copy("plain");
    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    for doc in 2_000..2_003 {
        apply(&store, &[(doc, Some(1))]).unwrap();
        store.commit().unwrap();
    }
    assert_eq!(StoreReader::commits(folder.path()).unwrap().len(), 2);
}

/// What a store has at its newest commit.
fn committed(name: &str) -> Contents {
    let all = |docs: std::ops::Range<u32>, size: i64| docs.map(move |doc| (doc, size));
    match name {
        "plain" => {
            let mut docs: Contents = all(0..1_000, 0).collect();
            docs.retain(|doc, _| *doc == 0 || *doc > 100 || doc % 10 != 0);
            docs.extend((1..=10).map(|round| (500 + round, 100 + i64::from(round))));
            docs
        }
        "log" => all(0..100, 1).collect(),
        "versions" => (0..20).filter(|doc| *doc != 3).map(|doc| (doc, i64::from(doc))).collect(),
        _ => with_log("log"),
    }
}

/// What it has with the batches of its log.
fn with_log(name: &str) -> Contents {
    let mut docs = committed(name);
    if name == "log" {
        docs.extend((100..140).map(|doc| (doc, 2)));
        docs.extend((0..10).map(|doc| (doc, 3)));
    }
    docs
}

fn read(folder: &Path) -> Contents {
    contents(&StoreReader::open(folder, OpenOptions::new()).unwrap().snapshot())
}

#[test]
fn older_stores_are_read_and_written() {
    for name in ["plain", "log", "versions"] {
        let folder = copy(name);
        assert!(read(folder.path()) == committed(name), "{name}");
        assert_eq!(problems(folder.path()), [""; 0], "{name}");
        for options in both().into_iter().rev() {
            let store = Store::open(folder.path(), options).unwrap();
            assert!(contents(&store.snapshot()) == with_log(name), "{name}");
        }
        let store = Store::open(folder.path(), both()[1]).unwrap();
        apply(&store, &[(9_999, Some(9)), (5, None)]).unwrap();
        drop(store);
        let mut expected = with_log(name);
        expected.extend([(9_999, 9)]);
        expected.remove(&5);
        let store = Store::open(folder.path(), both()[0]).unwrap();
        assert!(contents(&store.snapshot()) == expected, "{name}");
        store.merge_to(1).unwrap();
        store.commit().unwrap();
        drop(store);
        assert!(read(folder.path()) == expected, "{name}");
        assert_eq!(problems(folder.path()), [""; 0], "{name}");
    }
}

/// A commit of version 1 does not name itself, but none comes after one that does.
#[test]
fn an_older_commit_under_a_newer_name_is_damage() {
    let folder = copy("plain");
    drop(Store::open(folder.path(), both()[1]).unwrap());
    fs::copy(golden("plain").join("commit-00000022"), folder.path().join("commit-00000099")).unwrap();
    let expected = "commit-00000099: expected a commit with its number, as commit 23 has";
    let error = Store::open(folder.path(), both()[0]).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    let error = StoreReader::open(folder.path(), OpenOptions::new()).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    assert!(problems(folder.path())[0].contains(expected));
}

#[test]
fn older_versions_are_remembered() {
    let folder = copy("versions");
    let store = Store::open(folder.path(), both()[0]).unwrap();
    let mut batch = store.batch().unwrap();
    let (id, version) = (batch.field("id").unwrap(), batch.field("version").unwrap());
    for (name, value) in [("doc-00003", 5), ("doc-00004", 8)] {
        let mut doc = batch.upsert();
        doc.str(id, name).unwrap().u64(version, value).unwrap();
        doc.finish().unwrap();
    }
    let outcomes = store.apply(batch).unwrap().outcomes;
    assert!(format!("{outcomes:?}").starts_with("[Stale { current: "), "{outcomes:?}");
    assert!(format!("{outcomes:?}").ends_with("Replaced]"), "{outcomes:?}");
}

#[test]
fn older_stores_replicate() {
    // A replica that an older release made.
    let folder = copy("replica");
    assert!(read(folder.path()) == committed("replica"));
    let replica = Replica::open(folder.path(), both()[0]).unwrap();
    let position = replica.position();
    // What an older leader sent: to a new replica, and again to the one that has it.
    let empty = tempfile::tempdir().unwrap();
    let fresh = Replica::open(empty.path(), both()[0]).unwrap();
    let mut stream = StreamReader::new(File::open(golden("stream")).unwrap());
    let mut frames = 0;
    while let Some(taken) = fresh.take(&mut stream).unwrap() {
        frames += usize::from(matches!(taken, Taken::Frame(_)));
    }
    assert_eq!((fresh.position(), frames), (position, 5));
    fresh.store().commit().unwrap();
    assert!(read(empty.path()) == committed("replica"));
    // An older leader, to a replica of now.
    let leader = copy("log");
    let store = Store::open(leader.path(), both()[1]).unwrap();
    assert_eq!(store.position().sequence, position.sequence);
    apply(&store, &[(7_777, Some(7))]).unwrap();
    store.commit().unwrap();
    let commit = store.hold_commit(None).unwrap();
    replica.install(commit.files(), |file| commit.open(file)).unwrap();
    assert_eq!(contents(&replica.snapshot()).get(&7_777), Some(&7));
    let promoted = replica.promote().unwrap();
    apply(&promoted, &[(8_888, Some(8))]).unwrap();
}

#[test]
fn older_depots_are_read_and_written() {
    let folder = copy("depot");
    let depot = FolderDepot::open(folder.path()).unwrap();
    let empty = tempfile::tempdir().unwrap();
    let replica = Replica::open(empty.path(), both()[0]).unwrap();
    replica.install_from(&depot).unwrap().unwrap();
    assert!(contents(&replica.snapshot()) == committed("plain"));
    // The leader that wrote it goes on.
    let leader = copy("plain");
    let held = StoreReader::hold_commit(leader.path(), None).unwrap();
    assert_eq!(held.publish(&depot).unwrap().files, 0);
    let store = Store::open(leader.path(), both()[0]).unwrap();
    apply(&store, &[(7_777, Some(7))]).unwrap();
    store.commit().unwrap();
    store.hold_commit(None).unwrap().publish(&depot).unwrap();
    replica.install_from(&depot).unwrap().unwrap();
    assert_eq!(contents(&replica.snapshot()).get(&7_777), Some(&7));
}

#[test]
fn older_stores_go_back() {
    for (name, to) in [("plain", 21), ("versions", 2)] {
        let folder = copy(name);
        let before = StoreReader::open_commit(folder.path(), to, OpenOptions::new()).unwrap().snapshot();
        Store::recover(folder.path(), to, None, both()[0]).unwrap();
        assert!(read(folder.path()) == contents(&before), "{name}");
        assert_eq!(problems(folder.path()), [""; 0], "{name}");
        drop(Store::open(folder.path(), both()[0]).unwrap());
    }
    let folder = copy("replica");
    let error = Store::recover(folder.path(), 3, None, both()[0]).unwrap_err();
    assert!(matches!(error, Error::Request(_) | Error::IsReplica { .. }), "{error}");
}

/// Writes the numbers of documents, and an empty file.
struct TwoFiles(Ids);

impl Observer for TwoFiles {
    fn publish(&self, publication: &mut Publication<'_>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        self.0.publish(publication)?;
        publication.write("Empty_1.0", |_| Ok(()))?;
        Ok(())
    }
}

fn two_files() -> Arc<TwoFiles> {
    Arc::new(TwoFiles(Ids::default()))
}

/// Makes the store `side`: a merged segment and one of a flush, with a delta; and a batch that only the log has.
fn make_side() {
    let folder = golden("side");
    let _ = fs::remove_dir_all(&folder);
    let store = Store::create_with(&folder, schema(), both()[1], two_files()).unwrap();
    for first in [0, 10] {
        let docs: Vec<_> = (first..first + 10).map(|doc| (doc, Some(i64::from(doc)))).collect();
        apply(&store, &docs).unwrap();
        store.commit().unwrap();
    }
    store.merge_to(1).unwrap();
    apply(&store, &[(3, None), (20, Some(20)), (21, Some(21))]).unwrap();
    store.commit().unwrap();
    apply(&store, &[(4, None), (22, Some(22))]).unwrap();
    drop(store);
    for name in ["LOCK", "LOCK.info"] {
        fs::remove_file(folder.join(name)).unwrap();
    }
}

#[test]
fn side_files_are_read_and_written() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        make_side();
    }
    let mut expected: Contents = (0..22).filter(|doc| *doc != 3).map(|doc| (doc, i64::from(doc))).collect();
    let folder = copy("side");
    assert!(read(folder.path()) == expected);
    assert_eq!(problems(folder.path()), [""; 0]);
    let snapshot = StoreReader::open(folder.path(), OpenOptions::new()).unwrap().snapshot();
    assert_eq!(check(&snapshot), 2);
    for segment in snapshot.segments() {
        let mut empty = Vec::new();
        snapshot.side_file(segment.number, "Empty_1.0").unwrap().read_to_end(&mut empty).unwrap();
        assert!(empty.is_empty() && snapshot.side_file(segment.number, "empty_1.0").is_none());
    }

    // Opening applies the log, which has a document.
    let error = Store::open(folder.path(), both()[1]).unwrap_err();
    assert!(matches!(error, Error::NoObserver { .. }), "{error}");
    let store = Store::open_with(folder.path(), both()[1], two_files()).unwrap();
    expected.remove(&4);
    expected.extend([(22, 22)]);
    assert!(contents(&store.snapshot()) == expected);
    assert_eq!(check(&store.snapshot()), 3);
    store.merge_to(1).unwrap();
    store.commit().unwrap();
    assert_eq!(check(&store.snapshot()), 1);
    // With those of the commit before.
    assert_eq!(side_files(&**store.directory()), 2 * (1 + 3));
    drop(store);
    assert_eq!(problems(folder.path()), [""; 0]);
}
