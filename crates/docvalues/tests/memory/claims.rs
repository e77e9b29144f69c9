//! Small files that claim many documents: each call ends soon and in little memory, with a result or an error.

use std::io::Write as _;

use docvalues::column::ErrorKind as ReadErrorKind;
use docvalues::search::facet::{Facet, FacetOrder};
use docvalues::search::group::{Group, GroupOrder, Measure, Metric};
use docvalues::search::histogram::{Histogram, Step};
use docvalues::search::stats::{Distinct, Stats, Sum};
use docvalues::search::{Docs, Error, MissingColumns, Query, Search, SearchRequest, Value};
use docvalues::writer::{ErrorKind as WriteErrorKind, Spill};
use docvalues::{DocId, Merger, OpenOptions, Segment, SortKey, WriterOptions};
use docvalues_testkit::claims::claims;

use crate::{ALLOCATOR, turn};

/// The most documents of a segment: the largest `i32`.
const DOCS: u32 = i32::MAX as u32;

/// Bytes of memory that a call may take.
const MOST: usize = 64 << 20;

#[test]
fn many_documents_in_a_small_file() {
    let _turn = turn();
    an_untrusted_file_is_refused();
    a_trusted_file_is_sound();
    for threads in [1, 8] {
        counts(threads);
        groups(threads);
        documents(threads);
        several(threads);
    }
    merges();
}

/// A merge that exceeds its memory or its temporary file is refused before it writes any of the segment.
fn merges() {
    const BUDGET: usize = 16 << 20;
    let segment = open();
    let options = WriterOptions::new().budget(BUDGET).spill_limit(2 * BUDGET as u64);
    for sorts in [false, true] {
        let merger = || {
            let mut merger = Merger::new(options);
            if sorts {
                merger = merger.sort_by([SortKey::of("seven")]);
            }
            merger.add("claims", &segment).add("more", &segment);
            merger
        };
        let in_memory = ask("merge in memory", || merger().finish_bytes().map(drop)).unwrap_err();
        assert!(matches!(
            in_memory.kind(),
            WriteErrorKind::TooManyDocs { .. } | WriteErrorKind::Budget { .. }
        ));
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::in_folder(folder.path());
        let one = || {
            let mut merger = Merger::new(options);
            merger.add("claims", &segment);
            merger.finish_writer(Vec::new(), Some(spill))
        };
        let limited = ask("merge with a temporary file", || one().map(drop)).unwrap_err();
        assert!(limited.to_string().contains("more than its limit of 33554432 bytes"), "{limited}");
    }
}

fn an_untrusted_file_is_refused() {
    let bytes = claims(DOCS);
    assert!(bytes.len() < 1_024, "{} bytes", bytes.len());
    let most = (1 << 20) + 64 * bytes.len();
    let refused = Segment::from_bytes(bytes.clone(), OpenOptions::new().untrusted()).unwrap_err();
    let said = format!("number of documents: expected at most {most}, found {DOCS}");
    assert!(refused.to_string().contains(&said), "{refused}");
    assert!(matches!(refused.kind(), ReadErrorKind::Corrupt { .. }));
    for (most, opens) in [(DOCS, true), (DOCS - 1, false)] {
        let segment = Segment::from_bytes(bytes.clone(), OpenOptions::new().max_docs(most));
        assert_eq!(segment.is_ok(), opens);
    }
    let mut path = tempfile::NamedTempFile::new().unwrap();
    path.write_all(&bytes).unwrap();
    assert!(Segment::open_with(path.path(), OpenOptions::new().untrusted()).is_err());
}

fn open() -> Segment {
    Segment::from_bytes(claims(DOCS), OpenOptions::default()).unwrap()
}

fn a_trusted_file_is_sound() {
    open().verify().unwrap();
}

/// Runs `call`, prints the CPU time of this thread, and checks the peak of memory.
fn ask<R>(name: &str, call: impl FnOnce() -> R) -> R {
    let nanos = || {
        let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        times.split(' ').next()?.parse::<u64>().ok()
    };
    let before = nanos();
    let (answer, peak) = ALLOCATOR.peak_of(call);
    let micros = nanos().zip(before).map(|(after, before)| (after - before) / 1_000);
    println!("{name}: {peak} bytes, {micros:?} µs");
    assert!(peak < MOST, "{name}: {peak} bytes");
    answer
}

fn counts(threads: usize) {
    let segment = open();
    let search = Search::new(&segment).threads(threads);
    let docs = u64::from(DOCS);
    for order in [FacetOrder::Count, FacetOrder::Value] {
        let facet = Facet::of("seven").order(order).top(usize::MAX);
        let found = ask("facet", || search.facet(Docs::All, &facet).unwrap());
        assert_eq!((found.values, found.distinct), (vec![(Value::I64(7), docs)], 1));
        assert_eq!((found.docs, found.missing), (docs, 0));
    }
    let some = ask("facet of some", || search.facet(Docs::Range(1, DOCS), &Facet::of("seven")).unwrap());
    assert_eq!(some.values, [(Value::I64(7), docs - 1)]);
    let rare = Facet::of("seven").min_count(docs + 1);
    assert_eq!(ask("rare", || search.facet(Docs::All, &rare).unwrap()).distinct, 0);
    for step in [Step::Width(2.0), Step::Whole(1), Step::Edges(vec![0, 6, 10])] {
        let histogram = Histogram::of("seven", step);
        let found = ask("histogram", || search.histogram(Docs::All, &histogram).unwrap());
        assert_eq!(found.buckets.iter().map(|range| range.count).sum::<u64>(), docs);
        let more = histogram.facet(Facet::of("five")).metric(Metric::Sum("five".into()));
        let found = ask("more of each range", || search.histogram(Docs::All, &more).unwrap());
        let range = found.buckets.iter().find(|range| range.count > 0).unwrap();
        let facet = range.facet.as_ref().unwrap();
        assert_eq!((&facet.values, facet.docs), (&vec![(Value::I64(5), docs)], docs));
        assert_eq!(range.metrics, [Some(Measure::Sum(Sum::Integer(5 * i128::from(docs))))]);
    }
    let stats = Stats::of("five").spread().percentiles([0.0, 50.0, 100.0]).distinct();
    let found = ask("statistics", || search.stats(Docs::All, &stats).unwrap());
    assert_eq!((found.sum, found.variance), (Some(Sum::Integer(5 * i128::from(docs))), Some(0.0)));
    assert!(found.percentiles.iter().all(|(_, value)| *value == Value::I64(5)));
    assert_eq!((found.values, found.distinct), (docs, Some(Distinct::Exact(1))));
}

fn groups(threads: usize) {
    let segment = open();
    let search = Search::new(&segment).threads(threads);
    let metrics = [Metric::Sum, Metric::Min, Metric::Max, Metric::Mean].map(|metric| metric("five".into()));
    for order in [GroupOrder::Count, GroupOrder::Value, GroupOrder::Best, GroupOrder::Metric(0)] {
        let group = metrics.iter().cloned().fold(Group::of("seven"), Group::metric).order(order);
        let group = group.docs(2).sort([SortKey::of("five").descending(), SortKey::of("seven")]);
        let found = ask("group", || search.group(Docs::All, &group).unwrap());
        let [only] = found.groups.as_slice() else { panic!("{found:?}") };
        assert_eq!((&only.values[0], only.count), (&Some(Value::I64(7)), DOCS.into()));
        assert_eq!(only.metrics[0], Some(Measure::Sum(Sum::Integer(5 * i128::from(DOCS)))));
        assert_eq!(only.docs.iter().map(|found| found.doc.get()).collect::<Vec<_>>(), [0, 1]);
    }
    let all = Group::of("seven").docs(usize::MAX);
    assert!(matches!(ask("all of a group", || search.group(Docs::All, &all)), Err(Error::Memory { .. })));
}

fn documents(threads: usize) {
    let segment = open();
    let search = Search::new(&segment).threads(threads);
    let keys = [SortKey::of("five").descending(), SortKey::of("seven").missing_first()];
    for keys in [&keys[..], &keys[1..], &[]] {
        let top = ask("top", || search.top(Docs::All, keys, 3).unwrap());
        assert_eq!(top.iter().map(|found| found.doc.get()).collect::<Vec<_>>(), [0, 1, 2]);
        let top = ask("top of all", || search.top(Docs::All, keys, usize::MAX));
        assert!(matches!(top, Err(Error::Memory { .. })));
        let limited = Search::new(&segment).threads(threads).memory(MOST / 2);
        let sorted = ask("sorted", || limited.sorted(Docs::All, keys));
        assert!(matches!(sorted, Err(Error::Memory { bytes }) if bytes >= u64::from(DOCS)), "{sorted:?}");
    }
    for query in
        ["five = 5", "five = 6 or seven > 1", "not five = 5", "five in (1, 9)", "five != 7", "five exists"]
    {
        let query = Query::parse(query).unwrap();
        let count = ask("count", || search.count(&query).unwrap());
        assert!(count == 0 || count == u64::from(DOCS), "{query}: {count}");
        let limited = Search::new(&segment).threads(threads).memory(MOST / 2);
        // All documents, and none, need no bits.
        assert_eq!(ask("filter", || limited.filter(&query)).unwrap().count(), count);
        let bound = limited.bind(&query).unwrap();
        let mut bits = vec![0; 1_024];
        ask("matching", || bound.matching(0, DOCS - 65_000..DOCS, &mut bits).unwrap());
        let list = [7, DOCS - 1].map(DocId::new);
        let some = ask("of a list", || bound.collect(Docs::list(&list).unwrap()));
        match some {
            Ok(some) => assert_eq!((some.count(), count), (0, 0)),
            Err(error) => assert!(matches!(error, Error::Memory { bytes } if bytes == 1 << 28), "{error}"),
        }
        let range = ask("count of a range", || bound.count(Docs::Range(7, DOCS)).unwrap());
        assert!(range == 0 || range == u64::from(DOCS) - 7);
    }
    for docs in [Docs::All, Docs::Range(DOCS - 9, DOCS)] {
        let mut export = search.export(docs, &["five", "seven"]).unwrap();
        assert!(ask("a chunk", || export.next_chunk().unwrap().unwrap().len()) > 0);
    }
    let mut retriever = search.retriever(&["five"]).unwrap();
    assert_eq!(ask("retrieve", || retriever.retrieve(&[DocId::new(DOCS - 1)]).unwrap().len()), 1);
}

fn several(threads: usize) {
    let segment = open();
    let search = Search::new(&segment).threads(threads).missing_columns(MissingColumns::NoValues);
    for (query, hits) in [("five = 5", u64::from(DOCS)), ("five = 4", 0), ("eight missing", DOCS.into())] {
        let request = SearchRequest::new()
            .query(Query::parse(query).unwrap())
            .facets(["five", "seven", "eight"].map(Facet::of))
            .histograms(["five", "eight"].map(|name| Histogram::of(name, Step::Width(1.0))))
            .stats(["five", "eight"].map(|name| Stats::of(name).spread().distinct()))
            .groups(["five", "eight"].map(Group::of))
            .sort([SortKey::of("eight"), SortKey::of("seven")])
            .top(9);
        let found = ask("request", || search.request(&request).unwrap());
        assert_eq!((found.hits, found.facets[0].docs, found.groups[0].docs), (hits, hits, hits));
        assert_eq!(found.top.len() as u64, hits.min(9));
        assert_eq!((found.facets[2].missing, found.stats[1].missing), (hits, hits));
        assert!(found.groups[1].groups.is_empty());
    }
}
