//! Random sequences of operations, against a map.

use proptest::prelude::*;

use docvalues_search::Query;
use docvalues_store::{Durability, Outcome, Store, StoreOptions, StoreReader};

use crate::fixture::{Contents, POLICY, add, apply, contents, count, id, schema};

#[derive(Clone, Debug)]
enum Step {
    Add(Vec<(u32, i64)>),
    /// Writes documents, and deletes those without a size.
    Apply(Vec<(u32, Option<i64>)>),
    /// Adds to sizes.
    Count(Vec<(u32, i64)>),
    DeleteIds(Vec<u32>),
    DeleteBelow(i64),
    DeleteEach(usize),
    Commit,
    Merge,
    MergeTo(usize),
    /// Drops the store without a commit, and opens it again.
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let docs = prop::collection::vec((0..60_u32, -50..50_i64), 0..12);
    prop_oneof![
        4 => docs.prop_map(Step::Add),
        6 => prop::collection::vec((0..60_u32, prop::option::weighted(0.8, -50..50_i64)), 0..12).prop_map(Step::Apply),
        4 => prop::collection::vec((0..70_u32, -9..9_i64), 0..12).prop_map(Step::Count),
        3 => prop::collection::vec(0..70_u32, 0..6).prop_map(Step::DeleteIds),
        1 => (-60..-20_i64).prop_map(Step::DeleteBelow),
        1 => (2..9_usize).prop_map(Step::DeleteEach),
        5 => Just(Step::Commit),
        2 => Just(Step::Merge),
        1 => (1..4_usize).prop_map(Step::MergeTo),
        2 => Just(Step::Reopen),
    ]
}

/// Some buffers are so small that nearly every batch fills one. Some stores have a log.
fn options(keep_commits: usize) -> StoreOptions {
    let buffer_bytes = if keep_commits == 1 { 2_000 } else { 64 << 20 };
    let durability = if keep_commits == 2 { Durability::EachBatch } else { Durability::OnCommit };
    let keep_commits = Some(docvalues_store::KeepCommits::Newest(keep_commits));
    StoreOptions::new().keep_commits(keep_commits).buffer_bytes(buffer_bytes).durability(durability)
}

fn run(keep: usize, steps: &[Step]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut store = Store::create(&path, schema(), options(keep)).unwrap();
    let mut reader = StoreReader::open(&path, options(keep).open).unwrap();
    let (mut now, mut committed) = (Contents::new(), Contents::new());
    for step in steps {
        let before = (store.snapshot(), now.clone());
        match step {
            Step::Add(docs) => {
                add(&store, docs).unwrap();
                now.extend(docs.iter().copied());
            }
            Step::Apply(operations) => {
                let outcomes = apply(&store, operations).unwrap();
                for ((number, size), outcome) in operations.iter().zip(outcomes) {
                    let was_there = now.remove(number).is_some();
                    now.extend(size.map(|size| (*number, size)));
                    let expected = match (size, was_there) {
                        (Some(_), true) => Outcome::Replaced,
                        (Some(_), false) => Outcome::Added,
                        (None, true) => Outcome::Deleted,
                        (None, false) => Outcome::NotFound,
                    };
                    assert_eq!(outcome, expected);
                }
                store.refresh().unwrap();
                assert!(!store.refresh().unwrap(), "nothing is left to publish");
            }
            Step::Count(amounts) => {
                let outcomes = count(&store, amounts).unwrap();
                for ((number, amount), outcome) in amounts.iter().zip(outcomes) {
                    let size = now.get_mut(number);
                    assert_eq!(outcome, if size.is_some() { Outcome::Updated } else { Outcome::NotFound });
                    size.into_iter().for_each(|size| *size += amount);
                }
                store.refresh().unwrap();
            }
            Step::DeleteIds(ids) => {
                let known = ids.iter().filter(|number| now.remove(number).is_some()).count() as u64;
                assert_eq!(store.delete_ids(ids.iter().map(|number| id(*number))).unwrap(), known);
            }
            Step::DeleteBelow(size) if !store.snapshot().parts().is_empty() => {
                let all = now.len();
                now.retain(|_, value| *value >= *size);
                let deleted = store.delete_where(&Query::range("size", ..*size)).unwrap();
                assert_eq!(deleted, (all - now.len()) as u64);
            }
            Step::DeleteBelow(_) => {}
            Step::DeleteEach(nth) => {
                let snapshot = store.snapshot();
                let ids: Vec<u32> = now.keys().copied().step_by(*nth).collect();
                let address = |number: &u32| snapshot.find(id(*number).as_bytes()).unwrap().unwrap();
                let addresses: Vec<_> = ids.iter().map(address).collect();
                assert_eq!(store.delete(&snapshot, &addresses).unwrap(), ids.len() as u64);
                now.retain(|number, _| !ids.contains(number));
            }
            Step::Commit => {
                let number = store.commit().unwrap();
                committed.clone_from(&now);
                reader.reopen().unwrap();
                assert_eq!(reader.snapshot().commit(), number);
                assert_eq!(contents(&reader.snapshot()), now);
                let commits = StoreReader::commits(&path).unwrap();
                let newest = commits.last().unwrap().1.as_ref().unwrap();
                assert!(commits.len() <= keep && newest.docs == now.len() as u64);
            }
            Step::Merge => {
                store.merge(&POLICY).unwrap();
                assert!(POLICY.segments_per_tier * 4 >= store.snapshot().segments().len());
            }
            Step::MergeTo(segments) => {
                store.merge_to(*segments).unwrap();
                let snapshot = store.snapshot();
                assert!(snapshot.segments().len() <= *segments);
            }
            Step::Reopen => {
                drop(store);
                store = Store::open(&path, options(keep)).unwrap();
                match options(keep).durability {
                    Durability::OnCommit => now.clone_from(&committed),
                    // The log has the batches; other changes were committed.
                    _ => {
                        committed.clone_from(&now);
                        reader.reopen().unwrap();
                    }
                }
            }
        }
        if options(keep).durability != Durability::OnCommit
            && !matches!(step, Step::Apply(_) | Step::Count(_) | Step::DeleteIds(_))
        {
            reader.reopen().unwrap();
            committed = contents(&reader.snapshot());
        }
        assert_eq!(contents(&store.snapshot()), now, "{step:?}");
        // Snapshots do not change.
        assert_eq!(contents(&before.0), before.1);
        assert_eq!(contents(&reader.snapshot()), committed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(16, 6_000)))]
    #[test]
    fn a_store_contains_what_a_map_does(
        keep in 1..4_usize,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        run(keep, &steps);
    }
}
