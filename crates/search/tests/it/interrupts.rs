//! Interrupted searches return an error soon, and break nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use docvalues_column::{DocId, Field, Kind, LogicalType, SortKey};
use docvalues_search::facet::{Facet, FacetOrder};
use docvalues_search::group::{Group, GroupOrder, Metric};
use docvalues_search::histogram::{Histogram, Step};
use docvalues_search::stats::Stats;
use docvalues_search::{Bitset, Docs, Error, Query, Result, Search, SearchRequest};

use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{MemSource, ModelColumn};

use crate::chunks::{DOCS, SOURCE};

type Asked = (&'static str, fn(&Search<'_>, Docs<'_>) -> Result<String>);

/// One request of each kind, with its result as text.
const REQUESTS: [Asked; 18] = [
    ("filter", |search, _| {
        let query = Query::range("number", 9..).and(Query::eq("term", "term 007"));
        Ok(format!("{:?}", search.filter(&query)?))
    }),
    ("count", |search, _| Ok(search.count(&Query::range("list", 7..9))?.to_string())),
    ("facet", |search, docs| Ok(format!("{:?}", search.facet(docs, &Facet::of("list"))?))),
    ("stats", |search, docs| {
        let stats = Stats::of("number").spread().percentiles([50.0]).distinct();
        Ok(format!("{:?}", search.stats(docs, &stats)?))
    }),
    ("histogram", |search, docs| {
        let histogram = Histogram::of("number", Step::Width(50_000.0));
        Ok(format!("{:?}", search.histogram(docs, &histogram)?))
    }),
    ("facet of all values", |search, docs| {
        let facet = Facet::of("number").top(usize::MAX).order(FacetOrder::Value);
        let found = search.facet(docs, &facet)?;
        Ok(format!("{} {:?}", found.distinct, found.values.iter().step_by(1_009).collect::<Vec<_>>()))
    }),
    ("facet of values far apart", |search, docs| {
        Ok(format!("{:?}", search.facet(docs, &Facet::of("double"))?))
    }),
    ("group of all values", |search, docs| {
        let found = search.group(docs, &Group::of("number").top(usize::MAX))?;
        Ok(format!("{:?}", found.groups.iter().step_by(1_009).collect::<Vec<_>>()))
    }),
    ("all documents as top", |search, docs| {
        let found = search.top(docs, &[SortKey::of("number").descending()], usize::MAX)?;
        Ok(format!("{:?}", found.iter().step_by(1_009).collect::<Vec<_>>()))
    }),
    ("many documents as top", |search, docs| {
        let found = search.top(docs, &[SortKey::of("double")], 50_000)?;
        Ok(format!("{:?}", found.iter().step_by(1_009).collect::<Vec<_>>()))
    }),
    ("sorted by doubles", |search, docs| {
        let keys = [SortKey::of("double").descending()];
        Ok(format!("{:?}", search.sorted(docs, &keys)?.iter().step_by(1_009).collect::<Vec<_>>()))
    }),
    ("group", |search, docs| {
        let group =
            Group::of("term").metric(Metric::Sum("number".into())).order(GroupOrder::Metric(0)).docs(2);
        Ok(format!("{:?}", search.group(docs, &group)?))
    }),
    ("percentiles of groups", |search, docs| {
        let median = Metric::Percentile("number".into(), 50.0);
        let last = Metric::Last("term".into(), "number".into());
        let group = Group::of("term").metric(median).metric(last).metric(Metric::Distinct("number".into()));
        Ok(format!("{:?}", search.group(docs, &group)?))
    }),
    ("top", |search, docs| Ok(format!("{:?}", search.top(docs, &[SortKey::of("term").descending()], 9)?))),
    ("sorted", |search, docs| {
        let keys = [SortKey::of("term"), SortKey::of("number")];
        Ok(format!("{:?}", search.sorted(docs, &keys)?.iter().step_by(1_009).collect::<Vec<_>>()))
    }),
    ("export", |search, docs| {
        let mut export = search.export(docs, &["number", "term", "list"])?;
        let mut rows = Vec::new();
        while let Some(chunk) = export.next_chunk()? {
            rows.push(chunk.len());
        }
        Ok(format!("{rows:?}"))
    }),
    ("retrieve", |search, _| {
        let mut retriever = search.retriever(&["number", "term"])?;
        let page = retriever.retrieve(&[7, 3].map(DocId::new))?;
        Ok(format!("{:?}", page.row(0).value(0)))
    }),
    ("request", |search, _| {
        let request = SearchRequest::new()
            .query(Query::exists("number"))
            .facets([Facet::of("term")])
            .stats([Stats::of("double")]);
        let found = search.request(&request)?;
        Ok(format!("{} {:?} {:?}", found.hits, found.facets, found.stats))
    }),
];

#[test]
fn an_interrupted_search_ends_soon_and_breaks_nothing() {
    let bits = Bitset::from_docs((0..DOCS).filter(|doc| doc % 3 != 1).map(DocId::new), DOCS);
    for threads in [1, 2] {
        let asked = Arc::new(AtomicUsize::new(0));
        let at = Arc::new(AtomicUsize::new(usize::MAX));
        let (count, limit) = (asked.clone(), at.clone());
        let stop = move || count.fetch_add(1, Ordering::Relaxed) >= limit.load(Ordering::Relaxed);
        let search = Search::new(&*SOURCE).threads(threads).interrupt(stop);
        for (turn, (name, ask)) in (threads..).zip(&REQUESTS) {
            // Both in the full sweep; otherwise by turns.
            let sets = [Docs::All, Docs::Bits(&bits)].into_iter().skip(cases(turn % 2, 0)).take(cases(1, 2));
            for docs in sets {
                let run = |limit: usize| {
                    asked.store(0, Ordering::Relaxed);
                    at.store(limit, Ordering::Relaxed);
                    (ask(&search, docs), asked.load(Ordering::Relaxed))
                };
                let (whole, windows) = run(usize::MAX);
                let whole = whole.unwrap();
                assert!(windows > 1, "{name} asks");
                // And any other.
                let mut random = docvalues_testkit::rng::SplitMix64::new(windows as u64);
                let other = random.below(windows as u64) as usize;
                let limits = [0, 1, windows - 1, other].into_iter().skip(cases(turn / 2 % 2, 0));
                for limit in limits.step_by(cases(2, 1)) {
                    let (found, asked) = run(limit);
                    match found {
                        Err(Error::Interrupted) => {
                            assert!(asked <= limit + 2 * threads, "{name}: {asked} after {limit}")
                        }
                        // Several threads may skip more the next time.
                        Ok(found) => {
                            assert!(threads > 1 && asked <= limit && found == whole, "{name} at {limit}")
                        }
                        Err(error) => panic!("{name} at {limit}: {error}"),
                    }
                }
                assert_eq!(run(usize::MAX).0.unwrap(), whole, "{name}, {threads} threads");
            }
        }
    }
}

/// Both are polled: blocks, since a collector may need no document of any, and windows, of which a block has several.
#[test]
fn each_block_and_each_window_of_a_bitset_polls() {
    const BLOCKS: u32 = 8;
    const WINDOWS: u32 = 2 * BLOCKS;
    let docs = BLOCKS << 16;
    let numbers = (0..docs).map(|doc| Some(i64::from(doc))).collect();
    let field = Field::new("number", Kind::Numeric, LogicalType::I64);
    let source = MemSource::new(docs, [(field, ModelColumn::Numeric(numbers))]);
    let set = Bitset::from_docs((0..docs).filter(|doc| doc % 3 != 1).map(DocId::new), docs);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let stop = move || {
        count.fetch_add(1, Ordering::Relaxed);
        false
    };
    let search = Search::new(&source).threads(1).interrupt(stop);

    // The best documents are in the first block, so the filter of any other finds none and no window is read.
    let top = search.top(Docs::Bits(&set), &[SortKey::of("number")], 9).unwrap();
    assert!(top.iter().map(|found| found.doc.get()).eq([0, 2, 3, 5, 6, 8, 9, 11, 12]));
    let polls = asked.swap(0, Ordering::Relaxed);
    assert!(polls >= BLOCKS as usize, "{polls} polls in {BLOCKS} blocks");

    let stats = search.stats(Docs::Bits(&set), &Stats::of("number")).unwrap();
    assert_eq!(stats.values, u64::from(set.count()));
    let polls = asked.load(Ordering::Relaxed);
    assert!(polls >= WINDOWS as usize, "{polls} polls in {WINDOWS} windows");
}
