//! A writer that is killed at any moment, by a signal that it cannot catch.

use std::path::Path;
use std::time::Duration;

use docvalues_tantivy::Index;
use docvalues_testkit::kill::killed_child;
use docvalues_testkit::rng::SplitMix64;

use crate::fixture::{Contents, Doc, add, check, columns, create, options, set_size};

/// The folder that a child writes to.
const FOLDER: &str = "DOCVALUES_TANTIVY_OF_CHILD";
/// The number of kills.
const KILLS: &str = "DOCVALUES_TANTIVY_KILLS";

enum Change {
    Add(u64, Doc),
    Delete(u64),
    SetSize(u64, i64),
}

/// The changes of a round. The size of document 0 is its number. Every third round only writes columns.
fn changes(round: u32) -> Vec<Change> {
    let (mut rng, number) = (SplitMix64::new(round.into()), i64::from(round));
    let doc =
        || Doc { words: vec![format!("v{round}")], size: Some(number), section: format!("s{}", round % 5) };
    if round % 3 == 2 {
        let mut changes: Vec<Change> = (0..5).map(|_| Change::SetSize(1 + rng.below(60), number)).collect();
        changes.push(Change::SetSize(0, number));
        return changes;
    }
    let mut changes = vec![Change::Add(0, doc())];
    changes.extend((0..8).map(|_| match (1 + rng.below(60), rng.below(4)) {
        (key, 0) => Change::Delete(key),
        (key, 1) => Change::SetSize(key, number),
        (key, _) => Change::Add(key, doc()),
    }));
    changes
}

/// The contents of the index after a round.
fn apply(contents: &mut Contents, round: u32) {
    for change in changes(round) {
        match change {
            Change::Add(key, doc) => drop(contents.insert(key, doc)),
            Change::Delete(key) => drop(contents.remove(&key)),
            Change::SetSize(key, size) => {
                if let Some(doc) = contents.get_mut(&key) {
                    doc.size = Some(size);
                }
            }
        }
    }
}

/// The last round that is there.
fn round_of(index: &Index) -> u32 {
    let searcher = index.searcher();
    let Some(address) = searcher.find(0).unwrap() else { return 0 };
    let mut retriever = searcher.search().retriever(&["size"]).unwrap();
    retriever.retrieve(&[address]).unwrap().row(0).get(0).unwrap()
}

/// Commits rounds, for ever, and prints each that is durable.
fn write(folder: &Path) {
    let (index, mut writer) = Index::open(folder, options()).unwrap();
    for round in round_of(&index) + 1.. {
        for change in changes(round) {
            match change {
                Change::Add(key, doc) => add(&index, &mut writer, key, &doc),
                Change::Delete(key) => writer.delete(key).unwrap(),
                Change::SetSize(key, size) => set_size(&mut writer, key, size),
            }
        }
        writer.commit().unwrap();
        println!("durable {round}");
        if round % 11 == 10 {
            // tantivy may merge some of the segments itself.
            drop(writer.merge());
        }
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
fn a_kill_leaves_text_and_columns_as_after_one_round() {
    let folder = tempfile::tempdir().unwrap();
    drop(create(folder.path(), columns()));
    let kills: u64 = std::env::var(KILLS).map_or(20, |kills| kills.parse().unwrap());
    let (mut contents, mut last) = (Contents::new(), 0_u32);
    for (kill, waits) in (0..kills).zip([1_usize, 2, 0, 3].into_iter().cycle()) {
        // After some commits, in the middle of another one.
        let after = Duration::from_micros(kill * 7_919 % 60_000);
        let durable = killed_child(FOLDER, folder.path(), waits, after);
        let (index, writer) = Index::open(folder.path(), options()).unwrap();
        let round = round_of(&index);
        assert!(
            u64::from(round) >= durable.unwrap_or(last.into()),
            "round {durable:?} after {last} is lost: {round} is there"
        );
        (last + 1..=round).for_each(|round| apply(&mut contents, round));
        check(&index.searcher(), &contents);
        last = round;
        drop(writer);
    }
    println!("{kills} kills, {last} rounds");
    assert!(last > 0);
}
