//! The three ways equal one another and a model after each refresh.

use std::ops::ControlFlow;
use std::sync::Arc;

use docvalues::DocRange;
use docvalues::column::Values;
use docvalues::search::Parts;
use docvalues::store::{MergePolicy, Store, StoreOptions};
use docvalues_testkit::rng::SplitMix64;

use crate::ways::{Base, Hybrid, Op, Way};
use crate::{Kind, base};
use docvalues_benches::updated_docs::{copy, first_seed, time, title};

const DOCS: u32 = 70_000;

/// The seeds of a column's values, found by the values of `seeds`.
fn are_as(parts: &Parts, kind: Kind, seeds: &[u64]) {
    let mut at = 0;
    for part in 0..parts.len() {
        let source = parts.source(part);
        let docs = DocRange::new(0, source.docs());
        let column = source.column(if kind == Kind::Numeric { "time" } else { "title" }).expect("a column");
        match column.values() {
            Values::Numbers(rows) => rows.scan(docs, &mut |batch| {
                for value in batch.values.items() {
                    assert_eq!(*value, time(seeds[at]), "document {at}");
                    at += 1;
                }
                ControlFlow::Continue(())
            }),
            Values::Bytes(rows) => rows.scan(docs, &mut |batch| {
                for row in 0..batch.values.len() {
                    assert_eq!(batch.values.row(row), title(seeds[at]).as_bytes(), "document {at}");
                    at += 1;
                }
                ControlFlow::Continue(())
            }),
            Values::Ords(..) => panic!("numbers and byte strings only"),
        }
        .expect("good bytes");
    }
    assert_eq!(at, seeds.len());
}

#[test]
fn the_three_ways_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    let built = base(folder.path(), DOCS, 3);
    for kind in [Kind::Numeric, Kind::Binary] {
        let at = |name: &str| {
            let folder = folder.path().join(format!("{name}-{kind:?}"));
            std::fs::create_dir(&folder).expect("a folder");
            (copy(&built, &folder), folder.join("files"))
        };
        let options = StoreOptions::new().keep_commits(docvalues::store::KeepCommits::Newest(2));
        let store = Arc::new(Store::open(at("hybrid").0, options).expect("a store"));
        let hybrid = Hybrid(store.clone());
        let (stacked, rewritten) = (at("stacked"), at("rewritten"));
        let stacked = Base::stacked(&stacked.0, stacked.1);
        let rewritten = Base::rewritten(&rewritten.0, rewritten.1);
        let mut seeds: Vec<u64> = (0..DOCS).map(first_seed).collect();
        let mut rng = SplitMix64::new(1);
        for round in 0..20_u32 {
            let count = if round == 7 { 20_000 } else { 30 * round };
            let op = || Op { number: rng.below_u32(DOCS), seed: rng.next_u64() };
            let ops: Vec<Op> = std::iter::repeat_with(op).take(count as usize).collect();
            ops.iter().for_each(|op| seeds[op.number as usize] = op.seed);
            for way in [&hybrid as &dyn Way, &stacked, &rewritten] {
                way.apply(kind, &ops);
                are_as(&way.refresh(), kind, &seeds);
            }
            match round % 5 {
                // Merges move no document, as each is of one segment.
                1 => assert!(store.commit().is_ok()),
                3 => {
                    let policy = MergePolicy::new().segments_per_tier(3).max_deleted_percent(0);
                    store.merge(&policy).expect("a disk with room");
                    are_as(&hybrid.refresh(), kind, &seeds);
                }
                _ => {}
            }
        }
        drop((hybrid, store));
        let path = folder.path().join(format!("hybrid-{kind:?}/copy"));
        let store = Store::open(path, options).expect("a store");
        assert!(store.snapshot().docs() == u64::from(DOCS));
    }
}
