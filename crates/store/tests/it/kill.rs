//! A writer that is killed at any moment, by a signal that it cannot catch.

use std::path::Path;
use std::time::Duration;

use docvalues_storage::FsDirectory;
use docvalues_store::{
    Durability, Error, KeepCommits, MergePolicy, Snapshot, Store, StoreOptions, StoreReader, Update,
};
use docvalues_testkit::kill::killed_child;

use crate::fixture::{add, contents, id, schema};
use crate::id_files::{Ids, check, side_files};

/// The folder that a child writes to.
const FOLDER: &str = "DOCVALUES_STORE_OF_CHILD";

/// Adds three documents and deletes one for each commit, for ever, and prints the number of each round that is durable. Segments
/// have side files.
fn write(folder: &Path) {
    let store = Store::open_with(folder, StoreOptions::default(), Ids::new()).unwrap();
    let policy = MergePolicy::new().segments_per_tier(3).floor_bytes(1 << 10);
    let first = store.snapshot().docs() / 2;
    for round in u32::try_from(first).unwrap().. {
        let docs: Vec<_> = (0..3).map(|i| (3 * round + i, i64::from(round))).collect();
        add(&store, &docs).unwrap();
        store.delete_ids([id(3 * round + 1)]).unwrap();
        store.merge(&policy).unwrap();
        store.commit().unwrap();
        println!("durable {round}");
    }
}

/// The folder of a child that writes to a log.
const LOGGED: &str = "DOCVALUES_LOG_OF_CHILD";

fn logged() -> StoreOptions {
    StoreOptions::new().durability(Durability::EachBatch).keep_commits(KeepCommits::Newest(2))
}

/// Applies batches of one document, for ever, and prints the number of each; commits now and then. Each batch also adds 1 to the
/// size of the first document.
fn write_batches(folder: &Path) {
    let store = Store::open_with(folder, logged(), Ids::new()).unwrap();
    for number in u32::try_from(store.snapshot().docs()).unwrap().. {
        let mut batch = store.batch().unwrap();
        let (id_field, size) = (batch.field("id").unwrap(), batch.field("size").unwrap());
        let mut doc = batch.upsert();
        doc.str(id_field, &id(number)).unwrap().i64(size, 1).unwrap();
        doc.finish().unwrap();
        let mut row = batch.update_with(&Update::new().add(size, 1));
        row.str(id_field, &id(0)).unwrap();
        row.finish().unwrap();
        store.apply(batch).unwrap();
        println!("durable {number}");
        if number % 50 == 49 {
            store.commit().unwrap();
        }
    }
}

/// Each batch of [`write_batches`] was counted exactly once, and side files are those of the columns.
fn check_count(snapshot: &Snapshot) {
    let found = contents(snapshot);
    let expected = (!found.is_empty()).then_some(found.len() as u64 + 1);
    assert_eq!(found.get(&0).map(|size| size.cast_unsigned()), expected);
    check(snapshot);
}

/// Not a test of its own: the child of the next ones.
#[test]
fn child() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        write(Path::new(&folder));
    }
    if let Some(folder) = std::env::var_os(LOGGED) {
        write_batches(Path::new(&folder));
    }
}

/// A writer is killed, and then the newest commit is lost: batches are applied again or named, and an older commit under its
/// name is refused.
#[test]
fn a_kill_and_a_lost_commit_lose_nothing_silently() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::create(folder.path(), schema(), StoreOptions::default()).unwrap());
    let (mut applied, mut named) = (0, 0);
    for kill in 0..crate::cases(12, 1_000) {
        let after = Duration::from_micros(kill * 7_919 % 60_000);
        let acknowledged = killed_child(LOGGED, folder.path(), 3, after).unwrap() + 1;

        let copy = tempfile::tempdir().unwrap();
        let mut commits = Vec::new();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            commits.extend(name.strip_prefix("commit-").map(|number| number.parse::<u64>().unwrap()));
            std::fs::copy(&path, copy.path().join(name)).unwrap();
        }
        commits.sort_unstable();
        let [.., older, newest] = commits[..] else { panic!("{commits:?}") };
        let path = |number: u64| copy.path().join(format!("commit-{number:08}"));
        let reader = StoreReader::open(copy.path(), logged().open).unwrap();
        check_count(&reader.snapshot());
        let committed = reader.snapshot().docs();
        std::fs::copy(path(older), path(newest)).unwrap();
        assert!(
            matches!(Store::open(copy.path(), logged()), Err(Error::Damaged { .. })),
            "a commit of another name"
        );
        std::fs::remove_file(path(newest)).unwrap();
        let is_logged = committed < acknowledged;
        match Store::open_with(copy.path(), logged(), Ids::new()) {
            Ok(store) => {
                check_count(&store.snapshot());
                assert!(store.snapshot().docs() >= acknowledged, "the log of the older commit is still there")
            }
            Err(error) => {
                assert!(matches!(error, Error::Damaged { .. }), "{error}");
                match Store::recover_with(copy.path(), older, None, logged(), Ids::new()) {
                    Ok(recovered) => {
                        applied += 1;
                        let store = Store::open_with(copy.path(), logged(), Ids::new()).unwrap();
                        check_count(&store.snapshot());
                        assert!(!is_logged || recovered.commit.docs >= acknowledged);
                    }
                    Err(Error::LostBatches { last, .. }) => {
                        named += 1;
                        assert!(!is_logged || last >= acknowledged, "{last} of {acknowledged}");
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    println!("{applied} applied again, {named} named");
    assert!(applied + named > 0);
}

#[test]
fn a_kill_loses_nothing_committed() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::create(folder.path(), schema(), StoreOptions::default()).unwrap());
    let mut rounds = 0;
    let kills: u64 = crate::cases(16, 3_000);
    for (kill, waits) in (0..kills).zip([0, 1, 2, 3].into_iter().cycle()) {
        // After some commits, in the middle of another one.
        let after = Duration::from_micros(kill * 773 % 20_000);
        let durable = killed_child(FOLDER, folder.path(), waits, after);
        let reader = StoreReader::open(folder.path(), StoreOptions::default().open).unwrap();
        let found = contents(&reader.snapshot());
        // Whole rounds: of documents 3n, 3n + 1 and 3n + 2, the second was deleted.
        assert_eq!(found.len() % 2, 0);
        let whole = found.len() as u64 / 2;
        assert!(
            found.keys().copied().eq((0..u32::try_from(whole).unwrap()).flat_map(|n| [3 * n, 3 * n + 2]))
        );
        assert!(
            whole >= durable.map_or(rounds, |round| round + 1),
            "round {durable:?} is lost: {whole} are there"
        );
        rounds = whole;
        drop(Store::open(folder.path(), StoreOptions::default()).unwrap());
        // What a killed writer left is gone.
        let side_files = side_files(&FsDirectory::new(folder.path()));
        assert_eq!(side_files, check(&reader.snapshot()), "none orphaned, none missing");
        let used = std::fs::read_dir(folder.path()).unwrap().count() - side_files;
        assert!(used < 40, "{used} files");
    }
    println!("{kills} kills, {rounds} rounds");
    assert!(rounds > 0);
}
