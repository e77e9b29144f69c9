//! More documents than a chunk has: any number of threads gives the same results, to the last bit.

use std::sync::LazyLock;
use std::time::Duration;

use docvalues_column::{DocId, Field, Kind, LiveDocs, LogicalType, SortKey, bits};
use docvalues_format::file::kind::from_f64;
use docvalues_search::facet::{Facet, FacetOrder};
use docvalues_search::group::{Group, Metric};
use docvalues_search::histogram::{Histogram, Step};
use docvalues_search::query::Explain;
use docvalues_search::stats::Stats;
use docvalues_search::{Bitset, DocSet, Docs, Query, Search};
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{MemSource, ModelColumn};

/// Two whole chunks, and some more.
pub(crate) const DOCS: u32 = 2 * 524_288 + 70_001;

/// A hash of the document: reproducible, without a pattern.
fn mixed(doc: u32) -> i64 {
    i64::from(doc.wrapping_mul(2_654_435_761) >> 8)
}

/// That many documents, with a column of each kind but bytes and sets. Tests share them.
pub(crate) static SOURCE: LazyLock<MemSource> = LazyLock::new(source);

fn source() -> MemSource {
    let all = 0..DOCS;
    let numeric = |value: &dyn Fn(u32) -> Option<i64>| ModelColumn::Numeric(all.clone().map(value).collect());
    let field = |name: &str, kind, logical| Field::new(name, kind, logical);
    let some = |doc: u32| (doc % 7 != 3).then(|| mixed(doc) % 1_000_003);
    // Large and small numbers of either sign: their sum depends on the order.
    let double =
        |doc: u32| Some(from_f64((mixed(doc) - 8_000_000) as f64 * 1.1_f64.powi((doc % 200) as i32)));
    let term = |doc: u32| (doc % 5 != 1).then(|| format!("term {:03}", mixed(doc) % 300).into_bytes());
    let list = |doc: u32| (0..doc % 3).map(|i| mixed(doc.wrapping_add(i)) % 50).collect::<Vec<_>>();
    MemSource::new(
        DOCS,
        [
            (field("number", Kind::Numeric, LogicalType::I64), numeric(&some)),
            (field("double", Kind::Numeric, LogicalType::F64), numeric(&double)),
            (
                field("term", Kind::Sorted, LogicalType::Utf8),
                ModelColumn::Sorted(all.clone().map(term).collect()),
            ),
            (
                field("list", Kind::SortedNumeric, LogicalType::I64),
                ModelColumn::SortedNumeric(all.clone().map(list).collect()),
            ),
        ],
    )
}

/// The results of all searches as text, with all digits of doubles.
fn answers(search: &Search<'_>, docs: Docs<'_>) -> Vec<String> {
    let names = ["number", "double", "term", "list"];
    let facets = ["number", "term", "list"].map(|name| Facet::of(name).top(5));
    let by_value = Facet::of("term").order(FacetOrder::Value).min_count(700);
    let stats = names.map(|name| {
        let stats = Stats::of(name).distinct();
        if name == "term" { stats } else { stats.spread().percentiles([0.0, 12.5, 99.9]) }
    });
    let histogram = Histogram::of("number", Step::Width(50_000.0));
    let group = Group::of("term").metric(Metric::Mean("double".into())).metric(Metric::Sum("number".into()));
    vec![
        format!("{:?}", search.facets(docs, &facets).unwrap()),
        format!("{:?}", search.facet(docs, &by_value).unwrap()),
        format!("{:?}", search.stats_of(docs, &stats).unwrap()),
        format!("{:?}", search.histogram(docs, &histogram).unwrap()),
        format!("{:?}", search.group(docs, &group).unwrap()),
    ]
}

#[test]
fn any_number_of_threads_gives_the_same_results() {
    let bits = Bitset::from_docs((0..DOCS).filter(|doc| doc % 3 != 1).map(DocId::new), DOCS);
    let list: Vec<DocId> = (0..DOCS).step_by(29).map(DocId::new).collect();
    let sets = [Docs::All, Docs::Range(500_000, 1_100_000), Docs::list(&list).unwrap(), Docs::Bits(&bits)];
    for (docs, threads) in sets.into_iter().zip([2, 8].into_iter().cycle()) {
        let alone = answers(&Search::new(&*SOURCE).threads(1), docs);
        assert_eq!(answers(&Search::new(&*SOURCE).threads(threads), docs), alone, "{threads} threads");
    }
}

/// Clears times, which differ from run to run.
fn timeless(mut explain: Explain) -> Explain {
    if let Some(profile) = &mut explain.profile {
        profile.time = Duration::ZERO;
    }
    explain.parts = explain.parts.into_iter().map(timeless).collect();
    explain
}

#[test]
fn any_number_of_threads_finds_the_same_documents() {
    let some = Bitset::from_docs((0..DOCS).filter(|doc| doc % 3 != 1).map(DocId::new), DOCS);
    let list: Vec<DocId> = (0..DOCS).step_by(29).map(DocId::new).collect();
    let queries = [
        "number < 500_000",
        "term ^= 'term 1' and number in 1000..2000 and not list = 7",
        "list in (1, 5, 49) or double > 1e6 or number missing",
        "term exists",
        "number >= 0 and number < 0",
    ];
    let mut several = [2, 8].into_iter().cycle();
    for query in queries.map(|text| Query::parse(text).unwrap()) {
        let bound = |threads| Search::new(&*SOURCE).threads(threads).bind(&query).unwrap();
        // In one go, and document by document of the set.
        let mut words = vec![0; bits::words(0..DOCS)];
        bound(1).matching(0, 0..DOCS, &mut words).unwrap();
        let all = Bitset::from_words(words, DOCS);
        for docs in [
            Docs::All,
            Docs::Range(499_999, 1_100_003),
            Docs::Range(7, 7),
            Docs::list(&list).unwrap(),
            Docs::Bits(&some),
        ] {
            let of_docs: Vec<DocId> = docs.iter(DOCS).filter(|doc| all.contains(*doc)).collect();
            let check = |found: &DocSet, how: &str| {
                assert!(found.iter().map(|found| found.doc).eq(of_docs.iter().copied()), "{query}, {how}");
            };
            let (_, alone) = bound(1).collect_explained(docs).unwrap();
            let alone = timeless(alone);
            for threads in [1, several.next().unwrap()] {
                let bound = bound(threads);
                check(&bound.collect(docs).unwrap(), &format!("{threads} threads"));
                assert_eq!(bound.count(docs).unwrap(), of_docs.len() as u64, "{query}, {threads} threads");
                let (found, explain) = bound.collect_explained(docs).unwrap();
                check(&found, &format!("explained, {threads} threads"));
                assert_eq!(timeless(explain), alone, "{query}, {threads} threads");
            }
        }
    }
}

/// Windows of which most documents are live are read as runs. Lists with gaps are not, and give the same results.
#[test]
fn live_documents_are_as_those_of_a_list() {
    let best = |doc: u32| mixed(doc) % 1_000_003 > 700_000;
    let deleted: [&dyn Fn(u32) -> bool; 5] =
        [&|doc| doc == 70_000, &|doc| mixed(doc) % 10 == 0, &best, &|doc| doc % 7 < 4, &|doc| doc % 100 > 0];
    for is_deleted in deleted.into_iter().step_by(cases(2, 1)) {
        let mut live = LiveDocs::all(DOCS);
        (0..DOCS).filter(|doc| is_deleted(*doc)).for_each(|doc| assert!(live.delete(DocId::new(doc))));
        let list: Vec<DocId> = live.to_bitset().iter().collect();
        let list = Docs::list(&list).unwrap();
        let (all, search) = (Search::new(&*SOURCE), Search::new(&*SOURCE).live(&live));
        // Facets and histograms, not sums of doubles, whose last digits depend on the windows.
        let (found, of_list) = (answers(&search, Docs::All), answers(&all, list));
        assert_eq!([&found[..2], &found[3..4]], [&of_list[..2], &of_list[3..4]]);
        let some = Bitset::from_docs((0..DOCS).step_by(3).map(DocId::new), DOCS);
        let few = [3, 70_000, 70_001, 70_002, DOCS + 7].map(DocId::new);
        for docs in [Docs::All, Docs::Range(60_000, DOCS + 9), Docs::Bits(&some), Docs::list(&few).unwrap()] {
            let mut export = search.export(docs, &["number"]).unwrap().chunk_rows(10_000);
            let mut exported = Vec::new();
            while let Some(chunk) = export.next_chunk().unwrap() {
                exported.extend(chunk.docs().iter().map(|doc| doc.doc));
            }
            let expected = docs.iter(DOCS).filter(|doc| doc.get() < DOCS && !is_deleted(doc.get()));
            assert!(exported.into_iter().eq(expected), "{docs:?}");
        }
        for query in ["number < 500_000", "term ^= 'term 1' and not list = 7", "number missing or list = 3"] {
            let query = Query::parse(query).unwrap();
            let (found, of_list) =
                (search.filter(&query).unwrap(), all.bind(&query).unwrap().collect(list).unwrap());
            assert!(found.iter().eq(of_list.iter()), "{query}");
            assert_eq!(search.count(&query).unwrap(), found.count(), "{query}");
        }
        for key in ["number", "term", "list"].map(SortKey::of) {
            for keys in [[key.clone()], [key.descending()]] {
                let top = all.top(list, &keys, 50).unwrap();
                assert_eq!(search.top(Docs::All, &keys, 50).unwrap(), top, "by {keys:?}");
            }
        }
    }
}

#[test]
fn top_k_of_several_chunks_equals_a_full_sort() {
    let bits = Bitset::from_docs((0..DOCS).filter(|doc| doc % 3 != 1).map(DocId::new), DOCS);
    let list: Vec<DocId> = (0..DOCS).step_by(5).map(DocId::new).collect();
    let orders = [
        vec![SortKey::of("number").descending()],
        vec![SortKey::of("number").missing_first()],
        vec![SortKey::of("term").descending(), SortKey::of("double")],
        vec![SortKey::of("list"), SortKey::of("number")],
    ];
    let mut several = [2, 8].into_iter().cycle();
    for docs in [Docs::All, Docs::list(&list).unwrap(), Docs::Bits(&bits)] {
        for keys in &orders {
            let all = Search::new(&*SOURCE).threads(1).sorted(docs, keys).unwrap();
            for threads in [1, several.next().unwrap()] {
                let top = Search::new(&*SOURCE).threads(threads).top(docs, keys, 50).unwrap();
                assert_eq!(top, all[..50], "{threads} threads by {keys:?}");
            }
        }
    }
}

#[test]
fn any_number_of_threads_sorts_equally() {
    let bits = Bitset::from_docs((0..DOCS).filter(|doc| doc % 3 != 1).map(DocId::new), DOCS);
    // Documents without a value in the last key keep their order.
    let orders = [
        vec![SortKey::of("number").missing_first()],
        vec![SortKey::of("double").descending(), SortKey::of("term")],
        vec![SortKey::of("term").descending()],
    ];
    for (keys, several) in orders.iter().zip([2, 8, 3]) {
        let sorted =
            |threads| Search::new(&*SOURCE).threads(threads).sorted(Docs::Bits(&bits), keys).unwrap();
        let alone = sorted(1);
        assert_eq!(alone.len(), bits.count() as usize);
        assert!(sorted(several) == alone, "by {keys:?} with {several} threads");
    }
}

#[test]
fn a_pattern_is_not_that_without_regard_to_case() {
    let column = ModelColumn::Binary(["x", "X", "y"].map(|text| Some(text.as_bytes().to_vec())).into());
    let source = MemSource::new(3, [(Field::new("a", Kind::Binary, LogicalType::Utf8), column)]);
    let query = Query::parse("a *= 'x' i and not a *= 'x'").unwrap();
    let found = Search::new(&source).filter(&query).unwrap();
    assert!(found.iter().map(|found| found.doc).eq([DocId::new(1)]));
}
