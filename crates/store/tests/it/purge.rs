//! [`Store::purge`]: no file has what was deleted before; and the commits that a store keeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_reader::OpenOptions;
use docvalues_search::Query;
use docvalues_storage::Directory;
use docvalues_store::{
    Condition, Durability, Feed, KeepCommits, Outcome, Position, Replica, Store, StoreOptions, StoreReader,
    StoreSchema,
};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::fixture::{dying, id};
use crate::replicas::pump;

fn schema(versions: bool) -> StoreSchema {
    let fields = [
        Field::new("id", Kind::Binary, LogicalType::Utf8),
        Field::new("name", Kind::Sorted, LogicalType::Utf8),
        Field::new("text", Kind::Binary, LogicalType::Utf8),
        Field::new("tags", Kind::SortedSet, LogicalType::Utf8),
        Field::new("v", Kind::Numeric, LogicalType::I64),
    ];
    let schema = StoreSchema::new().with_fields(fields).unwrap().with_id_field("id").unwrap();
    if versions { schema.with_version_field("v").unwrap() } else { schema }
}

/// A text that no other document has, and that does not compress.
fn secret(number: u32, round: u32) -> String {
    format!("secret-{number:05}-{round}-{:08x}", (number * 7919 + round).wrapping_mul(0x9e37_79b9))
}

fn put(store: &Store, number: u32, round: u32) -> Outcome {
    let mut batch = store.batch().unwrap();
    let [id_field, name, text, tags] = ["id", "name", "text", "tags"].map(|name| batch.field(name).unwrap());
    let mut doc = batch.upsert();
    doc.str(id_field, &id(number)).unwrap().str(name, &secret(number, round)).unwrap();
    doc.str(text, &secret(number, round + 1)).unwrap().str(tags, &secret(number, round + 2)).unwrap();
    doc.finish().unwrap();
    store.apply(batch).unwrap().outcomes[0]
}

fn set(store: &Store, number: u32, round: u32) {
    let mut batch = store.batch().unwrap();
    let [id_field, name, text] = ["id", "name", "text"].map(|name| batch.field(name).unwrap());
    let mut doc = batch.update();
    doc.str(id_field, &id(number)).unwrap().str(name, &secret(number, round)).unwrap();
    doc.str(text, &secret(number, round + 1)).unwrap();
    doc.finish().unwrap();
    store.apply(batch).unwrap();
}

/// The files that have one of these, as bytes.
fn files_with(directory: &dyn Directory, needles: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in directory.list().unwrap() {
        let source = directory.open(&entry.name).unwrap();
        let len = usize::try_from(source.len()).unwrap();
        let bytes = source.read_at(docvalues_format::error::Section::Header, 0, len).unwrap();
        let has = |needle: &String| bytes.windows(needle.len()).any(|part| part == needle.as_bytes());
        if needles.iter().any(has) {
            found.push(entry.name.into_string().unwrap());
        }
    }
    found
}

/// The values of a document in all rounds, and its id.
fn all_of(number: u32) -> Vec<String> {
    let mut all: Vec<String> = (0..60).map(|round| secret(number, round)).collect();
    all.push(id(number));
    all
}

/// Deleted documents in segments, with updates in deltas and folds, in older commits and in logs.
fn filled(directory: Arc<dyn Directory>, versions: bool, options: StoreOptions) -> Store {
    let store = Store::create_in(directory, schema(versions), options).unwrap();
    for number in 0..30 {
        put(&store, number, 0);
        if number % 10 == 9 {
            store.commit().unwrap();
        }
    }
    for round in 3..20 {
        set(&store, 3, round);
        set(&store, 13, round);
        set(&store, 5, round);
        store.commit().unwrap();
    }
    put(&store, 30, 0);
    store.delete_ids([3, 30].map(id)).unwrap();
    store.commit().unwrap();
    store.delete_ids([13, 14].map(id)).unwrap();
    store
}

const DELETED: [u32; 4] = [3, 13, 14, 30];

#[test]
fn no_file_has_what_was_deleted() {
    for versions in [false, true] {
        for durability in [Durability::OnCommit, Durability::EachBatch] {
            let disk: Arc<dyn Directory> = Arc::new(PowerLossDirectory::new("/a"));
            let keep_commits = Some(KeepCommits::Newest(20));
            let options =
                StoreOptions::new().durability(durability).keep_commits(keep_commits).keep_frames(1 << 20);
            let store = filled(disk.clone(), versions, options);
            for number in DELETED {
                assert!(!files_with(&*disk, &all_of(number)).is_empty());
            }
            let before = store.snapshot();
            let docs = before.docs();
            let purged = store.purge().unwrap();
            assert_eq!(purged.left, [""; 0]);
            for number in DELETED {
                assert_eq!(files_with(&*disk, &all_of(number)), [""; 0], "{number}");
            }
            // Neither has one the values that updates replaced.
            let old = (0..19).filter(|round| *round != 2).map(|round| secret(5, round)).collect::<Vec<_>>();
            assert_eq!(files_with(&*disk, &old), [""; 0]);
            let is_commit = |name: &str| name.starts_with("commit-");
            let names = disk.list().unwrap().into_iter().map(|entry| entry.name.into_string().unwrap());
            assert_eq!(
                names.filter(|name| is_commit(name)).collect::<Vec<_>>(),
                [format!("commit-{:08}", purged.commit)]
            );
            // A reader of before goes on, and what is left is whole.
            assert_eq!(before.search().count(&Query::eq("name", secret(5, 19))).unwrap(), 1);
            assert_eq!(
                (store.snapshot().docs(), store.position().sequence),
                (docs, store.snapshot().sequence())
            );
            put(&store, 40, 0);
            store.commit().unwrap();
            drop(store);
            let store = Store::open_in(disk.clone(), options).unwrap();
            assert_eq!(store.snapshot().docs(), docs + 1);
            assert!(store.snapshot().find(id(3).as_bytes()).unwrap().is_none());
            assert!(store.snapshot().find(id(5).as_bytes()).unwrap().is_some());
            // What the store did not remember: an old version of a deleted document is there again.
            if versions {
                let mut batch = store.batch().unwrap();
                let [id_field, v] = ["id", "v"].map(|name| batch.field(name).unwrap());
                let mut doc = batch.upsert_if(Condition::Always);
                doc.str(id_field, &id(3)).unwrap().i64(v, 1).unwrap();
                doc.finish().unwrap();
                assert_eq!(store.apply(batch).unwrap().outcomes, [Outcome::Added]);
            }
        }
    }
}

/// Replicas get the purged files; and one with frames of its own is purged by itself.
#[test]
fn replicas_are_purged() {
    let options = StoreOptions::new().keep_frames(1 << 20);
    let (leader, copy): (Arc<dyn Directory>, Arc<dyn Directory>) =
        (Arc::new(PowerLossDirectory::new("/leader")), Arc::new(PowerLossDirectory::new("/copy")));
    let store = filled(leader.clone(), true, options);
    let replica = Replica::open_in(copy.clone(), options).unwrap();
    let mut feed = Feed::open_in(leader.clone(), Position::default());
    let mut pump = || {
        pump(&mut feed, &replica).unwrap();
        assert_eq!(replica.position(), store.position());
    };
    pump();
    store.purge().unwrap();
    pump();
    replica.store().purge().unwrap();
    for number in DELETED {
        assert_eq!(files_with(&*leader, &all_of(number)), [""; 0]);
        assert_eq!(files_with(&*copy, &all_of(number)), [""; 0]);
    }
    put(&store, 50, 0);
    pump();
    replica.store().refresh().unwrap();
    assert_eq!(replica.snapshot().docs(), store.snapshot().docs() + 1);
}

/// The process ends at any call of a purge: the store has all that it had, and the next purge does the rest.
#[test]
fn a_purge_that_dies_loses_nothing() {
    let mut deaths = 0;
    for last in 0_u32.. {
        let disk = PowerLossDirectory::new("/a");
        let options = StoreOptions::new().durability(Durability::EachBatch);
        let docs = {
            let store = filled(Arc::new(disk.clone()), true, options);
            store.refresh().unwrap();
            store.snapshot().docs()
        };
        let done = Store::open_in(dying(&disk, last), options).and_then(|store| store.purge());
        let is_done = done.is_ok_and(|purged| purged.left.is_empty());
        for image in [disk.crash_image(last.into()), disk] {
            let image = Arc::new(image);
            let store = Store::open_in(image.clone(), options).unwrap();
            assert_eq!(store.snapshot().docs(), docs, "{last}");
            assert_eq!(store.purge().unwrap().left, [""; 0]);
            for number in DELETED {
                assert_eq!(files_with(&*image, &all_of(number)), [""; 0], "{last}");
            }
        }
        if is_done {
            break;
        }
        deaths += 1;
    }
    assert!(deaths > 30, "{deaths}");
}

/// By number and by age; the store remembers which, and a replica has its own.
#[test]
fn a_store_keeps_commits_by_number_or_by_age() {
    static NOW: AtomicU64 = AtomicU64::new(0);
    const HOUR: u64 = 3_600_000_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let numbers = || -> Vec<u64> {
        StoreReader::commits(&path).unwrap().into_iter().map(|(number, _)| number).collect()
    };
    let commit = |keep_commits: Option<KeepCommits>, hours: u64| {
        NOW.store(hours * HOUR, Ordering::Relaxed);
        let options = StoreOptions::new().keep_commits(keep_commits);
        let store = match path.join("LOCK").exists() {
            true => Store::open(&path, options).unwrap(),
            false => Store::create(&path, schema(false), options).unwrap(),
        };
        let store = store.with_clock(|| NOW.load(Ordering::Relaxed));
        put(&store, 0, 0);
        store.commit().unwrap();
        numbers()
    };
    // Without a word, the newest; the number holds for later openings.
    assert_eq!(commit(None, 1_000_000_000), [2]);
    assert_eq!(commit(None, 1_000_000_000), [3]);
    assert_eq!(commit(Some(KeepCommits::Newest(3)), 1_000_000_001), [3, 4]);
    assert_eq!(commit(None, 1_000_000_002), [3, 4, 5]);
    assert_eq!(commit(None, 1_000_000_003), [4, 5, 6]);
    // Those that were the newest within ten hours. Commit 6 was, until ten hours before 15.
    let ten = Some(KeepCommits::Within(Duration::from_secs(36_000)));
    assert_eq!(commit(ten, 1_000_000_005), [4, 5, 6, 7]);
    assert_eq!(commit(None, 1_000_000_014), [6, 7, 8]);
    assert_eq!(commit(None, 1_000_000_015), [6, 7, 8, 9]);
    assert_eq!(commit(None, 1_000_001_000), [9, 10]);
    let made: Vec<_> = StoreReader::commits(&path).unwrap();
    let made = made.iter().map(|(_, commit)| commit.as_ref().unwrap().made.unwrap());
    let made: Vec<u64> =
        made.map(|time| time.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / 3_600).collect();
    assert_eq!(made, [1_000_000_015, 1_000_001_000]);
    // Also if nothing else changes.
    let options = StoreOptions::new().keep_commits(KeepCommits::Newest(1));
    Store::open(&path, options).unwrap().commit().unwrap();
    assert_eq!(numbers().len(), 1);
    assert_eq!(commit(None, 1_000_001_001).len(), 1);
    StoreReader::open(&path, OpenOptions::new()).unwrap();
}
