//! Bytes as a partial result: refused, or merged with itself and with others, and finished.

mod inputs;

use std::sync::OnceLock;

use docvalues::SortKey;
use docvalues::column::{Kind, Part};
use docvalues::search::facet::{Facet, FacetOrder};
use docvalues::search::group::{Group, GroupOrder, Metric};
use docvalues::search::histogram::{Histogram, Step, Unit};
use docvalues::search::stats::Stats;
use docvalues::search::{Docs, Parts, Search};
use docvalues_search::partial::{PartialFacet, PartialGroups, PartialHistogram, PartialStats, PartialTop};
use docvalues_testkit::rng::SplitMix64;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::naive::any_rows;

/// The number of documents of genuine results.
const DOCS: u32 = 40;

/// Genuine partial results of each kind.
#[derive(Default)]
struct Genuine {
    facets: Vec<PartialFacet>,
    histograms: Vec<PartialHistogram>,
    stats: Vec<PartialStats>,
    groups: Vec<PartialGroups>,
    tops: Vec<PartialTop>,
}

fn genuine() -> &'static Genuine {
    static GENUINE: OnceLock<Genuine> = OnceLock::new();
    GENUINE.get_or_init(|| {
        let rows = any_rows(DOCS, &mut SplitMix64::named("partial"));
        let parts = Parts::new([Part::new(rows.source())]);
        let search = Search::over(&parts).threads(1);
        let mut all = Genuine::default();
        let numbers: Vec<&str> = rows
            .columns
            .iter()
            .filter(|(field, _)| field.kind == Kind::Numeric)
            .map(|(field, _)| field.name.as_str())
            .collect();
        for (at, (field, _)) in rows.columns.iter().enumerate() {
            let name = || field.name.clone();
            let other = || rows.columns[(at + 1) % rows.columns.len()].0.name.clone();
            // A request that the kind of the column does not support is left out.
            let facet = Facet::of(name()).min_count(0).order(FacetOrder::Value);
            all.facets.extend(search.partial_facet(Docs::All, &facet));
            let number = || numbers[at % numbers.len()].to_owned();
            let (sum, max) = (Metric::Sum(number()), Metric::Max(number()));
            for step in [Step::Whole(10), Step::Width(0.5), Step::every(Unit::Month), Step::Edges(vec![0, 9])]
            {
                let plain = Histogram::of(name(), step);
                let whole = plain.clone().metric(sum.clone()).facet(Facet::of(other()));
                let whole = search.partial_histogram(Docs::All, &whole);
                all.histograms.extend(whole.or_else(|_| search.partial_histogram(Docs::All, &plain)));
            }
            let stats = Stats::of(name());
            for stats in [stats.clone().distinct(), stats.spread().percentiles([7.0, 50.0]).distinct()] {
                all.stats.extend(search.partial_stats(Docs::All, &stats));
            }
            let sort = [SortKey::of(other()).descending(), SortKey::of(name()).missing_first()];
            let group = Group::of(name()).docs(2).sort(sort.clone());
            all.groups.extend(search.partial_group(Docs::All, &group.clone().order(GroupOrder::Best)));
            let group = group.metric(sum).metric(max).order(GroupOrder::Metric(0));
            all.groups.extend(search.partial_group(Docs::All, &group));
            let last = Metric::Last(name(), number());
            let kept = Group::of(other()).metric(Metric::Percentile(number(), 50.0)).metric(last);
            all.groups.extend(search.partial_group(Docs::All, &kept.metric(Metric::Distinct(name()))));
            all.tops.extend(search.partial_top(Docs::All, &sort, 5));
        }
        all
    })
}

/// A byte that chooses the kind of a result, and the result. What is accepted can be sent on, and so can what is merged
/// from it.
pub fn partial(input: &[u8]) {
    let Some((kind, bytes)) = input.split_first() else { return };
    let Genuine { facets, histograms, stats, groups, tops } = genuine();
    match kind % 5 {
        0 => exercise(bytes, facets, PartialFacet::merge, |all| drop(all.finish())),
        1 => exercise(bytes, histograms, PartialHistogram::merge, |all| drop(all.finish())),
        2 => exercise(bytes, stats, PartialStats::merge, |all| drop(all.finish())),
        3 => exercise(bytes, groups, PartialGroups::merge, |all| drop(all.finish())),
        _ => exercise(bytes, tops, PartialTop::merge, |all| {
            all.entries().for_each(drop);
            drop(all.finish());
        }),
    }
}

fn exercise<P: Clone + Serialize + DeserializeOwned>(
    bytes: &[u8],
    genuine: &[P],
    merge: impl Fn(P, P) -> docvalues::search::Result<P>,
    finish: impl Fn(P),
) {
    let Ok(found) = postcard::from_bytes::<P>(bytes) else { return };
    let sent = |partial: &P| {
        let bytes = postcard::to_stdvec(partial).expect("results have a serialised form");
        finish(postcard::from_bytes(&bytes).expect("what was serialised is valid"));
    };
    sent(&found);
    for other in genuine.iter().chain([&found]) {
        for (a, b) in [(&found, other), (other, &found)] {
            if let Ok(all) = merge(a.clone(), b.clone()) {
                sent(&all);
            }
        }
    }
}

/// Inputs of [`partial`]: genuine results of requests with every option, groups under each of these conditions, and
/// damaged ones.
pub fn partial_inputs(conditions: &[String]) -> Vec<Vec<u8>> {
    inputs::inputs(conditions)
}
