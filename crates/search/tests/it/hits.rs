//! Hits in runs: the sets of lists, and searches over them, compared with the lists.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use docvalues_column::{DocId, Field, Kind, LiveDocs, LogicalType, SortKey, Value};
use docvalues_search::facet::Facet;
use docvalues_search::stats::{Stats, Sum};
use docvalues_search::{Docs, Query, Search, SearchRequest};
use docvalues_testkit::model::{MemSource, ModelColumn};
use proptest::prelude::*;

/// Two blocks, and some more.
const DOCS: u32 = 2 * 65_536 + 9_000;

/// Documents around the ends of words, of groups and of blocks.
const EDGES: [u32; 10] = [0, 63, 64, 65, 511, 512, 513, 65_535, 65_536, 65_537];

/// The documents of runs, each from its first number up to, and excluding, its second.
fn listed(runs: impl IntoIterator<Item = (u32, u32)>) -> Vec<DocId> {
    runs.into_iter().flat_map(|(start, end)| start..end).map(DocId::new).collect()
}

/// All runs from one edge to a later one.
fn between_edges() -> impl Iterator<Item = (u32, u32)> {
    let starts = EDGES.into_iter().enumerate();
    starts.flat_map(|(at, start)| EDGES.into_iter().skip(at + 1).map(move |end| (start, end)))
}

/// Checks the set of a list in a source of `docs` documents, and that of its documents in a source half as long.
fn check_set(list: &[DocId], docs: u32) {
    let of_list = Docs::list(list).unwrap();
    let source = MemSource::new(docs, []);
    let set = Search::new(&source).doc_set(of_list).unwrap();
    assert_eq!(set.count(), list.len() as u64, "{} documents", list.len());
    assert!(set.iter().map(|found| found.doc).eq(list.iter().copied()), "{list:?}");

    let source = MemSource::new(docs / 2, []);
    let set = Search::new(&source).bind(&Query::All).unwrap().collect(of_list).unwrap();
    let within = list.iter().copied().take_while(|doc| doc.get() < docs / 2);
    assert!(set.iter().map(|found| found.doc).eq(within), "below {} of {list:?}", docs / 2);
}

#[test]
fn a_run_may_begin_and_end_anywhere() {
    for (start, end) in between_edges() {
        let run = listed([(start, end)]);
        check_set(&run, end);
        check_set(&run, end + 1);
        // Between single documents, and before another run.
        let around = [(start, start + 1), (start + 2, end + 2), (end + 4, end + 5), (end + 7, end + 147)];
        check_set(&listed(around), end + 200);
    }
    // Several blocks.
    check_set(&listed([(100, 200_001)]), 200_001);
    check_set(&listed([(0, 200_000)]), 200_000);
}

proptest! {
    #[test]
    fn a_set_has_the_documents_of_its_list(
        runs in prop::collection::vec((0..130_u32, prop_oneof![Just(1_u32), 60..70_u32, 1..700_u32]), 0..40),
        more in 0..70_u32,
    ) {
        let mut end = 0;
        let runs = runs.into_iter().map(|(gap, len)| {
            let start = end + gap;
            end = start + len;
            (start, end)
        });
        let list = listed(runs.collect::<Vec<_>>());
        check_set(&list, end + more);
    }
}

#[test]
fn a_list_is_counted_up_to_the_end_of_the_source() {
    let list = [0, 62, 63, 64, 700].map(DocId::new);
    for docs in [0, 1, 63, 64, 65, 700, 701, u32::MAX] {
        let within = list.iter().filter(|doc| doc.get() < docs).count();
        assert_eq!(Docs::list(&list).unwrap().count(docs) as usize, within, "{docs} documents");
    }
    assert_eq!(Docs::list(&[]).unwrap().count(0), 0);
}

/// The first and the last document may be those of a run.
#[test]
fn a_list_with_a_document_twice_is_refused() {
    let run = listed([(0, 200)]);
    for at in [1, 63, 64, 65, 127, 128, 198, 199] {
        let (mut replaced, mut longer) = (run.clone(), run.clone());
        replaced[at] = run[at - 1];
        longer.insert(at, run[at - 1]);
        for list in [replaced, longer] {
            let refused = Docs::list(&list).unwrap_err().to_string();
            let twice = at - 1;
            assert_eq!(
                refused,
                format!("expected documents in strictly ascending order: {twice} follows {twice}")
            );
        }
    }
}

/// The size of a document, if it has one. Others have the same.
fn size(doc: u32) -> Option<i64> {
    (doc % 11 != 3).then(|| i64::from(doc.wrapping_mul(2_654_435_761) >> 16))
}

/// The host of a document, if it has one: one of eight.
fn host(doc: u32) -> Option<Vec<u8>> {
    (doc % 13 != 5).then(|| format!("host {}", doc.wrapping_mul(2_246_822_519) >> 29).into_bytes())
}

static SOURCE: LazyLock<MemSource> = LazyLock::new(|| {
    let (sizes, hosts) = ((0..DOCS).map(size).collect(), (0..DOCS).map(host).collect());
    let columns = [
        (Field::new("size", Kind::Numeric, LogicalType::I64), ModelColumn::Numeric(sizes)),
        (Field::new("host", Kind::Sorted, LogicalType::Utf8), ModelColumn::Sorted(hosts)),
    ];
    MemSource::new(DOCS, columns)
});

/// Compares the answers of a request for the live documents among `hits` with those documents.
fn check_answers(search: &Search<'_>, hits: &[DocId], is_live: impl Fn(u32) -> bool) {
    let set = search.doc_set(Docs::list(hits).unwrap()).unwrap();
    let request = SearchRequest::new()
        .query(Query::hits(set))
        .facets([Facet::of("host")])
        .stats([Stats::of("size")])
        .sort([SortKey::of("size").descending()])
        .top(20);
    let answer = search.request(&request).unwrap();
    let mut docs: Vec<u32> = hits.iter().map(|doc| doc.get()).filter(|doc| is_live(*doc)).collect();
    let of_set = format!("of {} documents from {:?} to {:?}", docs.len(), docs.first(), docs.last());
    assert_eq!(answer.hits, docs.len() as u64, "{of_set}");

    let mut hosts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    docs.iter().filter_map(|doc| host(*doc)).for_each(|host| *hosts.entry(host).or_default() += 1);
    let with_host: u64 = hosts.values().sum();
    let mut counts: Vec<(Value, u64)> =
        hosts.into_iter().map(|(host, count)| (Value::Bytes(host), count)).collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    assert_eq!(answer.facets[0].values, counts, "{of_set}");
    assert_eq!(answer.facets[0].missing, answer.hits - with_host, "{of_set}");

    let (stats, sizes) = (&answer.stats[0], docs.iter().filter_map(|doc| size(*doc)));
    assert_eq!(stats.values, sizes.clone().count() as u64, "{of_set}");
    assert_eq!(stats.min, sizes.clone().min().map(Value::from), "{of_set}");
    assert_eq!(stats.max, sizes.clone().max().map(Value::from), "{of_set}");
    let sum: i128 = sizes.map(i128::from).sum();
    assert_eq!(stats.sum.and_then(Sum::to_i128).unwrap_or(0), sum, "{of_set}");

    docs.sort_by_key(|doc| (size(*doc).is_none(), Reverse(size(*doc)), *doc));
    docs.truncate(20);
    assert_eq!(answer.top.iter().map(|top| top.doc.get()).collect::<Vec<_>>(), docs, "{of_set}");
}

#[test]
fn answers_are_those_of_the_documents_of_runs() {
    let search = Search::new(&*SOURCE).threads(1);
    for run in between_edges() {
        check_answers(&search, &listed([run]), |_| true);
    }
    let mut live = LiveDocs::all(DOCS);
    (0..DOCS).step_by(10).for_each(|doc| assert!(live.delete(DocId::new(doc))));
    let some_live = Search::new(&*SOURCE).threads(1).live(&live);
    let every = |step: u32, len: u32| (0..DOCS / step).map(move |at| (at * step, at * step + len));
    let sets: [Vec<(u32, u32)>; 12] = [
        // The part, a block, and the last block, which is shorter.
        vec![(0, DOCS)],
        vec![(65_536, 131_072)],
        vec![(131_072, DOCS)],
        // Several blocks.
        vec![(100, 139_000)],
        vec![(0, 1), (65_536, DOCS)],
        // Less than half of a block, without gaps and with some.
        vec![(70_000, 85_000)],
        vec![(70_000, 70_001), (70_003, 84_000), (84_002, 84_003)],
        vec![(65_536, 65_537), (66_000, 72_000), (131_071, DOCS - 1)],
        // Far from one another in a block.
        vec![(66_000, 70_000), (128_000, 131_000)],
        // Many in a block, and with single documents between.
        every(640, 64).collect(),
        every(300, 200).collect(),
        every(300, 200).flat_map(|run| [run, (run.0 + 250, run.0 + 251)]).collect(),
    ];
    for runs in sets {
        let list = listed(runs);
        check_answers(&search, &list, |_| true);
        check_answers(&some_live, &list, |doc| doc % 10 > 0);
    }
}
