//! Documents in shards of several parts each, and the comparison of merged answers with those over all of them.

use std::fmt::Debug;
use std::ops::Range;

use docvalues_column::{DocId, LiveDocs, Part, SortKey};
use docvalues_search::facet::Facet;
use docvalues_search::group::{Group, GroupFound, Measure};
use docvalues_search::histogram::Histogram;
use docvalues_search::partial::{PartialFacet, PartialGroups, PartialHistogram, PartialStats, PartialTop};
use docvalues_search::stats::{ColumnStats, Stats, Sum};
use docvalues_search::{Docs, DocsByPart, MissingColumns, Parts, Result, Search, Value};
use docvalues_testkit::shapes::Dataset;

/// The documents of a dataset in parts, and these in shards.
pub(crate) struct Shards {
    all: Parts,
    shards: Vec<(Range<usize>, Parts)>,
    /// The documents to search, by part.
    lists: Vec<Vec<DocId>>,
    are_all: bool,
    /// The order of merges.
    order: u8,
}

impl Shards {
    /// Part *i* begins at document `starts[i]`, and shard *i* at part `firsts[i]`.
    pub(crate) fn new(dataset: &Dataset, starts: &[u32], firsts: &[usize], choice: u8) -> Shards {
        let datasets = dataset.cut(starts);
        let lists = datasets.iter().map(|part| (0..part.docs).filter(|doc| doc % 3 != 1).map(DocId::new));
        let lists = lists.map(Iterator::collect).collect();
        let ends = firsts[1..].iter().copied().chain([starts.len()]);
        let ranges: Vec<_> = firsts.iter().zip(ends).map(|(&first, end)| first..end).collect();
        let parts = |range: Range<usize>| {
            let own = || datasets[range.clone()].iter();
            let all = Parts::new(own().map(|part| Part::new(part.source())));
            if choice.is_multiple_of(2) {
                return all;
            }
            own().enumerate().fold(all, |all, (at, part)| all.with_live(at, &live(part.docs)))
        };
        let (all, are_all) = (parts(0..starts.len()), choice.is_multiple_of(3));
        let shards = ranges.into_iter().map(|range| (range.clone(), parts(range))).collect();
        Shards { all, shards, lists, are_all, order: choice % 5 }
    }

    /// Checks that merged results equal the answer over all parts, and so does a partial result over all of them.
    fn check<P, A: Debug>(
        &self,
        search: impl Fn(&Search<'_>, DocsByPart<'_>) -> Result<A>,
        partial: impl Fn(&Search<'_>, DocsByPart<'_>) -> Result<P>,
        (merge, finish): (impl Fn(P, P) -> Result<P>, impl Fn(P) -> Result<A>),
        is_equal: impl Fn(&A, &A) -> bool,
    ) {
        let docs: Vec<Docs<'_>> = self.lists.iter().map(|list| Docs::list(list).unwrap()).collect();
        let docs_of = |range: Range<usize>| match self.are_all {
            true => DocsByPart::All,
            false => DocsByPart::Parts(&docs[range]),
        };
        let over = |parts| Search::over(parts).missing_columns(MissingColumns::NoValues).threads(2);
        let all = (over(&self.all), docs_of(0..docs.len()));
        let expected = search(&all.0, all.1);
        let whole = partial(&all.0, all.1).and_then(&finish);
        let shards = self.shards.iter().map(|(range, parts)| partial(&over(parts), docs_of(range.clone())));
        let merged = shards.collect::<Result<Vec<P>>>();
        let merged = merged.and_then(|shards| merged_in(self.order, shards, &merge)).and_then(&finish);
        for found in [whole, merged] {
            match (&expected, &found) {
                (Ok(expected), Ok(found)) => {
                    assert!(is_equal(found, expected), "expected {expected:#?}\nfound {found:#?}");
                }
                (Err(_), Err(_)) => {}
                _ => panic!("expected {expected:?}, found {found:?}"),
            }
        }
    }

    pub(crate) fn check_facet(&self, facet: &Facet) {
        self.check(
            |search, docs| search.facet(docs, facet),
            |search, docs| search.partial_facet(docs, facet).map(sent),
            (PartialFacet::merge, |all: PartialFacet| Ok(all.finish())),
            |found, expected| found == expected,
        );
    }

    pub(crate) fn check_histogram(&self, histogram: &Histogram) {
        self.check(
            |search, docs| search.histogram(docs, histogram),
            |search, docs| search.partial_histogram(docs, histogram).map(sent),
            (PartialHistogram::merge, PartialHistogram::finish),
            |found, expected| {
                let plain = |found: &docvalues_search::histogram::HistogramCounts| {
                    let mut found = found.clone();
                    found.buckets.iter_mut().for_each(|bucket| bucket.metrics.clear());
                    found
                };
                let mut buckets = found.buckets.iter().zip(&expected.buckets);
                plain(found) == plain(expected) && buckets.all(|(a, b)| are_close(&a.metrics, &b.metrics))
            },
        );
    }

    pub(crate) fn check_stats(&self, stats: &Stats) {
        self.check(
            |search, docs| search.stats(docs, stats),
            |search, docs| search.partial_stats(docs, stats).map(sent),
            (PartialStats::merge, |all: PartialStats| Ok(all.finish())),
            are_equal_stats,
        );
    }

    pub(crate) fn check_group(&self, group: &Group) {
        self.check(
            |search, docs| search.group(docs, group),
            |search, docs| search.partial_group(docs, group).map(sent),
            (PartialGroups::merge, |all: PartialGroups| Ok(all.finish())),
            |found, expected| {
                let plain = |found: &docvalues_search::group::Groups| {
                    let mut found = found.clone();
                    found.groups.iter_mut().for_each(|group| group.metrics.clear());
                    found
                };
                let is_close = |(a, b): (&GroupFound, &GroupFound)| are_close(&a.metrics, &b.metrics);
                plain(found) == plain(expected) && found.groups.iter().zip(&expected.groups).all(is_close)
            },
        );
    }

    pub(crate) fn check_top(&self, keys: &[SortKey], top: usize) {
        self.check(
            |search, docs| search.top(docs, keys, top),
            |search, docs| search.partial_top(docs, keys, top).map(sent),
            (PartialTop::merge, |all: PartialTop| Ok(all.finish())),
            |found, expected| found == expected,
        );
    }

    /// The least and the greatest stored number of a column.
    pub(crate) fn bounds(&self, column: &str) -> Option<(i64, i64)> {
        let search = Search::over(&self.all).missing_columns(MissingColumns::NoValues);
        let stats = search.stats(Docs::All, &Stats::of(column)).unwrap();
        stats.min.and_then(|min| min.stored()).zip(stats.max.and_then(|max| max.stored()))
    }
}

/// Some live documents.
fn live(docs: u32) -> LiveDocs {
    let mut live = LiveDocs::all(docs);
    for doc in (0..docs).filter(|doc| doc % 7 == 2 || *doc == 0) {
        assert!(live.delete(DocId::new(doc)));
    }
    live
}

/// Merges results from the left, from the right, or in pairs.
fn merged_in<P>(order: u8, mut shards: Vec<P>, merge: &impl Fn(P, P) -> Result<P>) -> Result<P> {
    while shards.len() > 1 {
        let at = match order {
            0 | 1 => 0,
            2 | 3 => shards.len() - 2,
            _ => (shards.len() - 1) / 2,
        };
        let second = shards.remove(at + 1);
        let first = shards.remove(at);
        shards.insert(at, merge(first, second)?);
    }
    Ok(shards.remove(0))
}

/// A result after it was serialised twice.
#[cfg(feature = "serde")]
fn sent<P: serde::Serialize + serde::de::DeserializeOwned + PartialEq + Debug>(partial: P) -> P {
    let bytes = postcard::to_stdvec(&partial).unwrap();
    let received: P = postcard::from_bytes(&bytes).unwrap();
    let text = serde_json::to_string(&received).unwrap();
    let received: P = serde_json::from_str(&text).unwrap();
    // Compared as text, since NaN equals nothing.
    assert_eq!(format!("{received:?}"), format!("{partial:?}"));
    received
}

#[cfg(not(feature = "serde"))]
fn sent<P>(partial: P) -> P {
    partial
}

fn are_equal_stats(found: &ColumnStats, expected: &ColumnStats) -> bool {
    let plain = |stats: &ColumnStats| {
        let mut stats = stats.clone();
        (stats.mean, stats.variance) = (None, None);
        stats.sum = stats.sum.filter(|sum| matches!(sum, Sum::Integer(_)));
        stats
    };
    let ends = [&expected.min, &expected.max].map(|end| end.as_ref().map_or(0.0, number).abs());
    let size = ends[0].max(ends[1]);
    let values = (expected.values - expected.nans) as f64;
    let sum = |stats: &ColumnStats| stats.sum.map(Sum::to_f64);
    plain(found) == plain(expected)
        && is_close(sum(found), sum(expected), size * values)
        // The mean of a sum that overflows in one order only is anything, too.
        && is_close(found.mean, expected.mean, if (size * values).is_finite() { size } else { f64::INFINITY })
        && is_close(found.variance, expected.variance, size * size)
}

/// Compares metrics: sum, mean, least and greatest number of each column.
fn are_close(found: &[Option<Measure>], expected: &[Option<Measure>]) -> bool {
    let of_column = |(found, expected): (&[Option<Measure>], &[Option<Measure>])| {
        let double = |measure: &Option<Measure>| match measure {
            Some(Measure::Sum(Sum::Double(sum))) => Some(*sum),
            Some(Measure::Mean(mean)) => Some(*mean),
            _ => None,
        };
        let end = |at: usize| match expected.get(at) {
            Some(Some(Measure::Value(value))) => number(value).abs(),
            _ => 0.0,
        };
        // The sums of a million numbers at most.
        let size = end(2).max(end(3)) * 1e6;
        found.iter().zip(expected).all(|(found, expected)| match double(expected) {
            None => found == expected,
            known => is_close(double(found), known, size),
        })
    };
    found.len() == expected.len() && found.chunks(4).zip(expected.chunks(4)).all(of_column)
}

fn number(value: &Value) -> f64 {
    match value {
        Value::F64(number) => *number,
        Value::U64(number) => *number as f64,
        other => other.stored().unwrap_or_default() as f64,
    }
}

fn is_close(found: Option<f64>, expected: Option<f64>, size: f64) -> bool {
    match (found, expected) {
        (Some(a), Some(b)) => (a - b).abs() <= size * 1e-9 || !size.is_finite() || a == b,
        (a, b) => a.is_none() && b.is_none(),
    }
}
