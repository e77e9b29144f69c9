//! A writer that is killed at any moment, by a signal that it cannot catch.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use docvalues_store::{MergePolicy, Store, StoreOptions, StoreReader};

use crate::fixture::{add, contents, id, schema};

/// The folder that a child writes to.
const FOLDER: &str = "DOCVALUES_STORE_OF_CHILD";

/// Adds three documents and deletes one for each commit, for ever, and prints the number of each round that is durable.
fn write(folder: &Path) {
    let store = Store::open(folder, StoreOptions::default()).unwrap();
    let policy = MergePolicy { segments_per_tier: 3, floor_bytes: 1 << 10, ..MergePolicy::default() };
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

/// Not a test of its own: the child of the next one.
#[test]
fn child() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        write(Path::new(&folder));
    }
}

#[test]
fn a_kill_loses_nothing_committed() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::create(folder.path(), schema(), StoreOptions::default()).unwrap());
    let mut rounds = 0;
    let kills: u64 = crate::cases(30, 3_000);
    for (kill, waits) in (0..kills).zip([0_u8, 1, 2, 3].into_iter().cycle()) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["kill::child", "--exact", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // After some commits, in the middle of another one.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let is_durable = |line: &String| line.contains("durable");
        let mut printed: Vec<String> = lines.by_ref().filter(is_durable).take(usize::from(waits)).collect();
        std::thread::sleep(Duration::from_micros(kill * 773 % 20_000));
        child.kill().unwrap();
        printed.extend(lines);
        child.wait().unwrap();
        let durable =
            printed.iter().rev().find_map(|line| line.split("durable ").nth(1)?.parse::<u64>().ok());
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
        let used: usize = std::fs::read_dir(folder.path()).unwrap().count();
        assert!(used < 40, "{used} files");
    }
    println!("{kills} kills, {rounds} rounds");
    assert!(rounds > 0);
}
