//! The budget of a group holds.
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "a failing helper is a failing test"
)]

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_search::group::{Group, Metric};
use docvalues_search::stats::Distinct;
use docvalues_search::{Docs, Search};
use docvalues_testkit::damage::alloc::PeakAlloc;
use docvalues_testkit::model::{MemSource, ModelColumn};

#[global_allocator]
static ALLOC: PeakAlloc = PeakAlloc::new();

const DOCS: u32 = 600_000;
const GROUPS: i64 = 100_000;
const BUDGET: usize = 1 << 20;

/// What windows and candidates of two threads take.
const BESIDE: usize = 3 << 19;

fn source() -> MemSource {
    let group = |doc: u32| i64::from(doc) * 7 % GROUPS;
    let docs = || 0..DOCS;
    let string = |doc| Some(format!("group {}", group(doc)).into_bytes());
    let field = |name: &str, kind, logical| Field::new(name, kind, logical);
    MemSource::new(
        DOCS,
        [
            (
                field("near", Kind::Numeric, LogicalType::I64),
                ModelColumn::Numeric(docs().map(|doc| Some(group(doc))).collect()),
            ),
            (
                field("far", Kind::Numeric, LogicalType::I64),
                ModelColumn::Numeric(docs().map(|doc| Some(group(doc) << 32)).collect()),
            ),
            (
                field("sorted", Kind::Sorted, LogicalType::Utf8),
                ModelColumn::Sorted(docs().map(string).collect()),
            ),
            (
                field("binary", Kind::Binary, LogicalType::Utf8),
                ModelColumn::Binary(docs().map(string).collect()),
            ),
        ],
    )
}

// One test: the counter is the whole program's.
#[test]
fn the_budget_holds() {
    let source = source();
    for by in ["near", "far", "sorted", "binary"] {
        let asked = Group::by(by).metric(Metric::Sum("near".into()));
        for threads in [1, 2] {
            let search = Search::new(&source).threads(threads);
            let (plain, needed) = ALLOC.peak_of(|| search.group(Docs::All, &asked).unwrap());
            assert!(needed > BUDGET + BESIDE / 2, "{by}: {needed} bytes, so that there is something to save");
            let tight = asked.clone().budget(BUDGET);
            let (found, peak) = ALLOC.peak_of(|| search.group(Docs::All, &tight).unwrap());
            assert_eq!(found, plain, "{by}, {threads} threads");
            assert_eq!(found.distinct, Some(Distinct::Exact(GROUPS.cast_unsigned())));
            assert!(peak <= BUDGET + BESIDE, "{by}, {threads} threads: {peak} bytes");
        }
    }
}
