//! Searches over parts of which some documents are deleted, around the shares from which most documents of a window are
//! read at once.

use std::collections::{BTreeMap, BTreeSet};

use docvalues_column::{DocId, Field, Kind, LiveDocs, LogicalType, Part, SortKey, Value, bits};
use docvalues_search::facet::{Facet, FacetOrder};
use docvalues_search::stats::Stats;
use docvalues_search::{Docs, Parts, Query, Search, SearchRequest};
use docvalues_testkit::model::{MemSource, ModelColumn};

/// A hash of the document: reproducible, without a pattern.
fn mixed(doc: u32) -> u32 {
    doc.wrapping_mul(2_654_435_761) >> 8
}

/// The live documents of those from `first` on, `docs` of them.
fn live(first: u32, docs: u32, is_deleted: &dyn Fn(u32) -> bool) -> LiveDocs {
    let mut live = LiveDocs::all(docs);
    (0..docs).filter(|doc| is_deleted(first + doc)).for_each(|doc| assert!(live.delete(DocId::new(doc))));
    live
}

/// Windows over lists have 4,096 documents.
#[test]
fn facets_of_lists_leave_out_deleted_documents() {
    const SETS: u32 = 10_003;
    let term = |term: u32| format!("term {:02}", term % 40).into_bytes();
    let set = |doc: u32| (0..mixed(doc) % 4).map(|at| term(mixed(doc + 7 * at))).collect::<BTreeSet<_>>();
    let sets: Vec<BTreeSet<Vec<u8>>> = (0..SETS).map(set).collect();
    let source = |first: u32, end: u32| {
        let field = Field::new("set", Kind::SortedSet, LogicalType::Utf8);
        let column = ModelColumn::SortedSet(sets[first as usize..end as usize].to_vec());
        Part::new(MemSource::new(end - first, [(field, column)]))
    };
    let deleted: [&dyn Fn(u32) -> bool; 8] = [
        &|doc| doc == 4_096,
        &|doc| doc % 10 == 3 || doc % 4_096 == 0 || doc % 4_096 == 4_095 || doc + 1 == SETS,
        // A quarter, and one more.
        &|doc| doc % 4 == 1,
        &|doc| doc % 4 == 1 || doc == 2 || doc == 5_000,
        &|doc| doc < 4_097,
        &|doc| doc % 2 == 1,
        &|doc| doc % 2 == 1 || doc == 0,
        &|_| true,
    ];
    // The last part has fewer documents than terms.
    let all_starts: [&[u32]; 2] = [&[0], &[0, 4_200, SETS - 20]];
    for starts in all_starts {
        let ends = starts[1..].iter().copied().chain([SETS]);
        let cuts: Vec<(u32, u32)> = starts.iter().copied().zip(ends).collect();
        let parts = Parts::new(cuts.iter().map(|(first, end)| source(*first, *end)));
        for is_deleted in deleted {
            let change = |parts: Parts, (at, (first, end)): (usize, &(u32, u32))| {
                parts.with_live(at, &live(*first, end - first, is_deleted))
            };
            let parts = cuts.iter().enumerate().fold(parts.clone(), change);
            let mut counts = BTreeMap::<Vec<u8>, u64>::new();
            let kept: Vec<&BTreeSet<Vec<u8>>> =
                (0..SETS).filter(|doc| !is_deleted(*doc)).map(|doc| &sets[doc as usize]).collect();
            kept.iter().copied().flatten().for_each(|term| *counts.entry(term.clone()).or_default() += 1);
            let values: u64 = counts.values().sum();
            let counts: Vec<_> =
                counts.into_iter().map(|(term, count)| (Value::Bytes(term), count)).collect();
            let missing = kept.iter().filter(|set| set.is_empty()).count() as u64;

            let facet = Facet::of("set").top(100).order(FacetOrder::Value);
            // Two facets, then statistics, of what one window has read.
            let request = SearchRequest::new().facets([facet.clone(), facet]).stats([Stats::of("set")]);
            let found = Search::over(&parts).request(&request).unwrap();
            for facet in found.facets {
                assert_eq!((facet.docs, facet.missing), (kept.len() as u64, missing));
                assert_eq!(facet.values, counts);
            }
            assert_eq!((found.stats[0].values, found.stats[0].missing), (values, missing));
        }
    }
}

const DOCS: u32 = 3 * (1 << 16) + 1_001;

/// Numbers that ascend, and numbers without a pattern, of most documents.
fn numbers() -> [Vec<Option<i64>>; 2] {
    let rising = |doc: u32| Some(i64::from(doc));
    let shuffled = |doc: u32| (doc % 11 != 5).then(|| i64::from(mixed(doc) % 100_003));
    [(0..DOCS).map(rising).collect(), (0..DOCS).map(shuffled).collect()]
}

fn source([rising, shuffled]: [Vec<Option<i64>>; 2]) -> MemSource {
    let field = |name| Field::new(name, Kind::Numeric, LogicalType::I64);
    let columns = [(field("rising"), rising), (field("shuffled"), shuffled)];
    MemSource::new(DOCS, columns.map(|(field, numbers)| (field, ModelColumn::Numeric(numbers))))
}

/// Few, many of one window, and those with the best numbers.
const DELETED: [fn(u32) -> bool; 6] = [
    |doc| doc == 65_536,
    |doc| mixed(doc).is_multiple_of(10),
    |doc| doc >> 16 == 1 && doc != 65_600 && doc != 131_071,
    |doc| doc % 2 == 0 || doc == 77,
    |doc| doc > DOCS - 5_000 || mixed(doc) % 100_003 > 99_000,
    |doc| doc >= 300,
];

#[test]
fn counts_and_filters_leave_out_deleted_documents() {
    let numbers = numbers();
    let source = source(numbers.clone());
    let [rising, shuffled] = numbers;
    let low = Query::range("shuffled", ..20_000);
    let matches_low = |doc: u32| shuffled[doc as usize].is_some_and(|number| number < 20_000);
    let middle = Query::range("rising", 60_000..=140_000);
    let matches_middle =
        |doc: u32| rising[doc as usize].is_some_and(|number| (60_000..=140_000).contains(&number));
    let queries: [(Query, &dyn Fn(u32) -> bool); 6] = [
        (low.clone(), &matches_low),
        (middle.clone(), &matches_middle),
        (!low.clone(), &|doc| !matches_low(doc)),
        (Query::missing("shuffled"), &|doc| shuffled[doc as usize].is_none()),
        (low.and(middle), &|doc| matches_low(doc) && matches_middle(doc)),
        (Query::All, &|_| true),
    ];
    for is_deleted in DELETED {
        let live = live(0, DOCS, &is_deleted);
        let search = Search::new(&source).live(&live);
        for (query, matches) in &queries {
            let bound = search.bind(query).unwrap();
            for (from, to) in [(0, DOCS), (65_536, 131_072), (70_001, 140_003), (64, 130)] {
                let expected = (from..to).filter(|doc| matches(*doc) && !is_deleted(*doc));
                let expected: Vec<DocId> = expected.map(DocId::new).collect();
                assert_eq!(bound.count(Docs::Range(from, to)).unwrap(), expected.len() as u64, "{query}");
                let found = bound.collect(Docs::Range(from, to)).unwrap();
                assert!(found.iter().map(|found| found.doc).eq(expected.iter().copied()), "{query}");
                let mut words = vec![0; bits::words(from..to) + 1];
                bound.matching(0, from..to, &mut words).unwrap();
                let expected = expected.iter().map(|doc| (doc.get() - from) as usize);
                assert!(bits::ones(&words).eq(expected), "{query} in {from}..{to}");
            }
        }
    }
}

#[test]
fn the_first_of_an_order_are_not_deleted() {
    let numbers = numbers();
    let source = source(numbers.clone());
    for is_deleted in DELETED {
        let live = live(0, DOCS, &is_deleted);
        let search = Search::new(&source).live(&live);
        for (name, numbers) in ["rising", "shuffled"].into_iter().zip(&numbers) {
            for (from, to) in [(0, DOCS), (1, DOCS - 1)] {
                let hits = (from..to).filter(|doc| !is_deleted(*doc));
                let mut up: Vec<u32> = hits.collect();
                // Documents without a number are last.
                let key = |doc: u32| numbers[doc as usize];
                up.sort_by_key(|doc| (key(*doc).is_none(), key(*doc)));
                let mut down = up.clone();
                down.sort_by_key(|doc| (key(*doc).is_none(), std::cmp::Reverse(key(*doc)), *doc));
                for (order, sort) in [(up, SortKey::of(name)), (down, SortKey::of(name).descending())] {
                    for top in [1, 20, 2_000] {
                        let found =
                            search.top(Docs::Range(from, to), std::slice::from_ref(&sort), top).unwrap();
                        let expected = order.iter().take(top).copied();
                        assert!(found.iter().map(|found| found.doc.get()).eq(expected), "{top} by {sort:?}");
                    }
                }
            }
        }
    }
}
