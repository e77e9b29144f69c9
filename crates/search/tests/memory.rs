//! The memory limit holds, and does not change results.
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "a failing helper is a failing test"
)]

use docvalues_column::{Field, Kind, LogicalType, SortKey};
use docvalues_search::facet::{Facet, FacetOrder};
use docvalues_search::group::{Group, Metric};
use docvalues_search::stats::{Distinct, Stats};
use docvalues_search::{Docs, Error, Query, Search, SearchRequest};
use docvalues_testkit::damage::alloc::PeakAlloc;
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{MemSource, ModelColumn};

#[global_allocator]
static ALLOC: PeakAlloc = PeakAlloc::new();

/// Memory outside of the limit: windows, candidates and results, with two threads.
const BESIDE: usize = 3 << 19;

/// `docs` documents with `distinct` values: dense numbers, sparse numbers, terms, byte strings.
fn source(docs: u32, distinct: i64) -> MemSource {
    let value = |doc: u32| i64::from(doc) * 7 % distinct;
    let string = |doc| Some(format!("value {}", value(doc)).into_bytes());
    let field = |name: &str, kind, logical| Field::new(name, kind, logical);
    let columns = [
        (
            field("near", Kind::Numeric, LogicalType::I64),
            ModelColumn::Numeric((0..docs).map(|doc| Some(value(doc))).collect()),
        ),
        (
            field("far", Kind::Numeric, LogicalType::I64),
            ModelColumn::Numeric((0..docs).map(|doc| (doc % 9 > 0).then_some(value(doc) << 32)).collect()),
        ),
        (
            field("sorted", Kind::Sorted, LogicalType::Utf8),
            ModelColumn::Sorted((0..docs).map(string).collect()),
        ),
        (
            field("binary", Kind::Binary, LogicalType::Utf8),
            ModelColumn::Binary((0..docs).map(string).collect()),
        ),
    ];
    MemSource::new(docs, columns)
}

const NAMES: [&str; 4] = ["near", "far", "sorted", "binary"];

// A single test, because the allocation counter is global.
#[test]
fn memory_holds() {
    let some = source(600_000, 100_000);
    groups(&some);
    statistics(&some);
    requests(&some);
    facets(cases(1_500_000, 3_000_000));
}

fn groups(source: &MemSource) {
    const MEMORY: usize = 1 << 20;
    for (by, turn) in NAMES.iter().zip(0..) {
        // Percentiles of some groups in each of several passes.
        let metric =
            if *by == "near" { Metric::Percentile("near".into(), 50.0) } else { Metric::Sum("near".into()) };
        let asked = Group::of(*by).metric(metric);
        // By turns, but for the full sweep.
        for threads in [1, 2].into_iter().skip(cases(turn % 2, 0)).take(cases(1, 2)) {
            let search = Search::new(source).threads(threads);
            let (plain, needed) = ALLOC.peak_of(|| search.group(Docs::All, &asked).unwrap());
            assert!(needed > MEMORY + BESIDE / 2, "{by}: {needed} bytes, so that there is something to save");
            let search = search.memory(MEMORY);
            let (found, peak) = ALLOC.peak_of(|| search.group(Docs::All, &asked).unwrap());
            assert_eq!(found, plain, "{by}, {threads} threads");
            assert_eq!(found.distinct, Some(Distinct::Exact(100_000)));
            assert!(peak <= MEMORY + BESIDE, "{by}, {threads} threads: {peak} bytes");
        }
    }
}

fn facets(docs: u32) {
    let source = &source(docs, i64::from(docs - docs / 30));
    let memory = cases(16 << 20, 32 << 20);
    // Counters of ords take less.
    let columns = [("near", memory), ("far", memory), ("sorted", memory / 4), ("binary", memory)];
    for (turn, (by, memory)) in columns.into_iter().enumerate() {
        let by_count = Facet::of(by).top(12);
        let by_value = Facet::of(by).order(FacetOrder::Value).min_count(2);
        // Both in the full sweep; otherwise by turns.
        let both = [(&by_count, 2), (&by_value, 1)].into_iter();
        for (facet, threads) in both.skip(cases(turn % 2, 0)).take(cases(1, 2)) {
            let search = Search::new(source).threads(threads);
            let (plain, needed) = ALLOC.peak_of(|| search.facet(Docs::All, facet).unwrap());
            assert!(needed > memory + BESIDE, "{by}: {needed} bytes, so that there is something to save");
            let search = search.memory(memory);
            let (found, peak) = ALLOC.peak_of(|| search.facet(Docs::All, facet).unwrap());
            assert_eq!(found, plain, "{by}, {threads} threads");
            assert!(peak <= memory + BESIDE, "{by}, {threads} threads: {peak} bytes");
        }
    }
    let search = Search::new(source).threads(2).memory(memory);
    let key = [SortKey::of("far").descending()];
    // Neither a heap nor a full sort fits.
    let (refused, peak) = ALLOC.peak_of(|| search.top(Docs::All, &key, usize::MAX).unwrap_err());
    assert!(matches!(refused, Error::Memory { bytes } if bytes == u64::from(docs) * 20), "{refused}");
    assert!(peak < BESIDE, "{peak} bytes");
    assert!(matches!(search.sorted(Docs::All, &key), Err(Error::Memory { .. })));
    // A heap does not fit, a full sort does.
    let search = search.memory(2 * memory);
    let (all, peak) = ALLOC.peak_of(|| search.top(Docs::All, &key, usize::MAX).unwrap());
    assert!(peak <= 2 * memory + BESIDE, "{peak} bytes");
    let sorted = search.sorted(Docs::All, &key).unwrap();
    assert!(all.iter().map(|found| found.doc).eq(sorted.iter().map(|found| found.doc)));
    // The heap of one thread fits.
    let few = docs as usize / 6;
    let (some, peak) = ALLOC.peak_of(|| search.top(Docs::All, &key, few).unwrap());
    assert!(some == all[..few] && peak <= 2 * memory + BESIDE, "{peak} bytes");
}

/// A bitset of all ords or numbers does not fit, so they are counted in ranges.
fn statistics(source: &MemSource) {
    const MEMORY: usize = 64 << 10;
    for by in ["near", "sorted"] {
        let asked = Stats::of(by).distinct();
        let search = Search::new(source).threads(2);
        let plain = search.stats(Docs::All, &asked).unwrap();
        assert_eq!(plain.distinct, Some(Distinct::Exact(100_000)));
        let search = search.memory(1);
        let three = [asked.clone(), asked.clone(), asked];
        let (found, peak) = ALLOC.peak_of(|| search.stats_of(Docs::All, &three).unwrap());
        assert!(found.iter().all(|found| *found == plain), "{by}");
        assert!(peak <= MEMORY + BESIDE, "{by}: {peak} bytes");
    }
    // A few long byte strings exceed the exact set, so their number is estimated.
    let docs = 40_000_u32;
    let long = |doc: u32| Some(format!("{:>400}", doc % 20_000).into_bytes());
    let field = Field::new("long", Kind::Binary, LogicalType::Utf8);
    let source = MemSource::new(docs, [(field, ModelColumn::Binary((0..docs).map(long).collect()))]);
    let asked = Stats::of("long").distinct();
    let search = Search::new(&source);
    assert_eq!(search.stats(Docs::All, &asked).unwrap().distinct, Some(Distinct::Exact(20_000)));
    for threads in [1, 8] {
        let search = Search::new(&source).threads(threads).memory(32 << 20);
        let (found, peak) = ALLOC.peak_of(|| search.stats(Docs::All, &asked).unwrap());
        assert!(matches!(found.distinct, Some(Distinct::About(19_000..=21_000))), "{:?}", found.distinct);
        assert!(peak <= (32 << 20) + 2 * BESIDE, "{peak} bytes");
    }
}

/// Several searches of a request share the limit.
fn requests(source: &MemSource) {
    const MEMORY: usize = 2 << 20;
    let asked = SearchRequest::new()
        .query(Query::range("near", 1..))
        .facets(NAMES.iter().chain(&NAMES).map(|name| Facet::of(*name)))
        .stats(NAMES.map(|name| Stats::of(name).distinct()));
    let plain = Search::new(source).request(&asked).unwrap();
    // Both in the full sweep.
    for threads in [2, 1].into_iter().take(cases(1, 2)) {
        let search = Search::new(source).threads(threads).memory(MEMORY);
        let (found, peak) = ALLOC.peak_of(|| search.request(&asked).unwrap());
        assert_eq!(found.facets, plain.facets, "{threads} threads");
        // Sketches of fixed size do not count.
        assert!(peak <= MEMORY + 4 * BESIDE, "{threads} threads: {peak} bytes");
    }
}
