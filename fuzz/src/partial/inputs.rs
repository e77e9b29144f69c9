//! Inputs of [`partial`](super::partial): results of requests with every option, over several data sets, and damaged ones.

use docvalues::SortKey;
use docvalues::column::Part;
use docvalues::search::facet::{Facet, FacetOrder};
use docvalues::search::group::{Group, GroupOrder, Metric};
use docvalues::search::histogram::{Histogram, Step, Unit};
use docvalues::search::stats::Stats;
use docvalues::search::{Docs, Parts, Query, Search};
use docvalues_testkit::rng::SplitMix64;
use serde::Serialize;

use crate::naive::any_rows;
use crate::neighbours::neighbours;

/// A condition whose text is replaced by others.
const HAVING: &str = "count exists";

/// Damaged bytes of an input.
const DAMAGED: usize = 120;

const UNITS: [Unit; 8] =
    [Unit::Second, Unit::Minute, Unit::Hour, Unit::Day, Unit::Week, Unit::Month, Unit::Quarter, Unit::Year];

/// Genuine inputs, and some that are damaged.
pub(super) fn inputs(conditions: &[String]) -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    for (docs, seed) in [(0, 1), (3, 2), (40, 3), (40, 4), (900, 5)] {
        inputs.extend(of_rows(docs, &mut SplitMix64::new(seed)));
    }
    let small = |kind: u8| {
        let of_kind = inputs.iter().filter(|input| input[0] == kind && input.len() > 60);
        of_kind.min_by_key(|input| input.len()).cloned()
    };
    let damaged: Vec<Vec<u8>> =
        (0..5).filter_map(small).flat_map(|input| neighbours(&input, DAMAGED)).collect();
    inputs.extend(damaged);
    let has_condition =
        |input: &&Vec<u8>| input.windows(HAVING.len()).any(|window| window == HAVING.as_bytes());
    let groups = inputs.iter().find(has_condition).cloned().unwrap_or_default();
    inputs.extend(conditions.iter().filter_map(|text| with_condition(&groups, text)));
    inputs
}

/// The input with another condition on its groups.
fn with_condition(input: &[u8], text: &str) -> Option<Vec<u8>> {
    let at = input.windows(HAVING.len()).position(|window| window == HAVING.as_bytes())?;
    // The length before it takes a byte.
    let mut changed = input[..at - 1].to_vec();
    changed = postcard::to_extend(text, changed).ok()?;
    changed.extend_from_slice(&input[at + HAVING.len()..]);
    Some(changed)
}

/// Results over random rows.
fn of_rows(docs: u32, rng: &mut SplitMix64) -> Vec<Vec<u8>> {
    let rows = any_rows(docs, rng);
    let parts = Parts::new([Part::new(rows.source()), Part::new(rows.source())]);
    // The least, so that a set of byte strings becomes a sketch.
    let search = Search::over(&parts).threads(1).memory(0);
    let names: Vec<&str> = rows.columns.iter().map(|(field, _)| field.name.as_str()).collect();
    let mut inputs = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let other = names[(at + 5) % names.len()];
        // A request that the kinds of its columns do not support has no result.
        let mut save = |kind: u8, made: Option<Vec<u8>>| {
            inputs.extend(made.map(|bytes| [&[kind], &bytes[..]].concat()));
        };
        for facet in facets(name) {
            save(0, search.partial_facet(Docs::All, &facet).ok().as_ref().and_then(bytes_of));
        }
        for histogram in histograms(name, other, at) {
            save(1, search.partial_histogram(Docs::All, &histogram).ok().as_ref().and_then(bytes_of));
        }
        for stats in stats(name) {
            save(2, search.partial_stats(Docs::All, &stats).ok().as_ref().and_then(bytes_of));
        }
        for group in groups(name, other, at) {
            save(3, search.partial_group(Docs::All, &group).ok().as_ref().and_then(bytes_of));
        }
        for (keys, top) in [(sort(name, other), 5), (vec![SortKey::of(*name)], 0), (sort(other, name), 2_000)]
        {
            save(4, search.partial_top(Docs::All, &keys, top).ok().as_ref().and_then(bytes_of));
        }
    }
    inputs
}

fn bytes_of(partial: &impl Serialize) -> Option<Vec<u8>> {
    postcard::to_stdvec(partial).ok()
}

fn facets(name: &str) -> [Facet; 3] {
    [
        Facet::of(name).top(3),
        Facet::of(name).min_count(0).order(FacetOrder::Value),
        Facet::of(name).prefix("a").min_count(2).top(0),
    ]
}

fn histograms(name: &str, other: &str, turn: usize) -> Vec<Histogram> {
    let steps = [
        Step::Whole(1),
        Step::Whole(u64::MAX),
        Step::Width(0.1),
        Step::Width(1e300),
        Step::Edges(Vec::new()),
        Step::Edges(vec![i64::MIN, 0, 9]),
        Step::every(UNITS[turn % UNITS.len()]),
    ];
    let [sum, _, max, mean, distinct] = metrics(other);
    let of = |step: Step| {
        let plain = Histogram::of(name, step);
        let measured = plain.clone().metric(sum.clone()).metric(distinct.clone()).metric(mean.clone());
        [plain.clone(), measured, plain.metric(max.clone()).facet(Facet::of(other).min_count(1))]
    };
    steps.into_iter().flat_map(of).collect()
}

fn stats(name: &str) -> [Stats; 4] {
    let plain = Stats::of(name);
    [
        plain.clone(),
        plain.clone().spread(),
        plain.clone().distinct(),
        plain.percentiles([0.0, 33.3, 100.0]).distinct(),
    ]
}

fn groups(name: &str, other: &str, turn: usize) -> Vec<Group> {
    let by = Group::of(name);
    let metrics = metrics(other);
    let measured = metrics.iter().cloned().fold(by.clone(), Group::metric);
    let having = ["count > 1", HAVING, "not count in (1, 2)"][turn % 3];
    let having = Query::parse(having).unwrap_or(Query::All);
    vec![
        by.clone().order(GroupOrder::Count).docs(0),
        by.clone().with_missing().order(GroupOrder::Value).docs(2).having(having.clone()),
        by.clone().and(other).with_missing().order(GroupOrder::Best).sort(sort(other, name)).docs(1),
        measured.clone().order(GroupOrder::Metric(turn % 5)).having(having),
        kept(&by, name, other),
        kept(&by, other, name),
        measured.and(other).order(GroupOrder::Metric(4)).having(Query::exists(metrics[0].name())),
    ]
}

/// Groups with metrics that keep values.
fn kept(by: &Group, column: &str, other: &str) -> Group {
    let (column, key) = (column.to_owned(), other.to_owned());
    by.clone()
        .metric(Metric::Percentile(key.clone(), 99.9))
        .metric(Metric::Percentile(key.clone(), 0.0))
        .metric(Metric::First(column.clone(), key.clone()))
        .metric(Metric::Last(column.clone(), key))
        .metric(Metric::Distinct(column))
        .order(GroupOrder::Metric(0))
}

fn metrics(column: &str) -> [Metric; 5] {
    let column = || column.to_owned();
    [
        Metric::Sum(column()),
        Metric::Min(column()),
        Metric::Max(column()),
        Metric::Mean(column()),
        Metric::Distinct(column()),
    ]
}

fn sort(first: &str, second: &str) -> Vec<SortKey> {
    vec![SortKey::of(first).descending(), SortKey::of(second).missing_first()]
}
