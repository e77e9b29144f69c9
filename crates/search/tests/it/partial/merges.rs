//! Random documents in random shards.

use docvalues_column::{Field, Kind, LogicalType, SortKey};
use docvalues_search::facet::{Facet, FacetOrder};
use docvalues_search::group::{Group, GroupOrder, Metric};
use docvalues_search::histogram::{Histogram, Step, Unit};
use docvalues_search::stats::Stats;
use docvalues_testkit::damage::cases;
use docvalues_testkit::shapes::{Dataset, any_dataset, small_of_every_kind};
use proptest::prelude::*;

use super::shards::Shards;

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(10, 96), ..ProptestConfig::default() })]

    #[test]
    fn merged_results_equal_the_answer_over_all_parts(
        dataset in any_dataset(3),
        cuts in prop::collection::vec(any::<u32>(), 1..8),
        firsts in prop::collection::vec(any::<usize>(), 1..4),
        choice in any::<u8>(),
    ) {
        check(&dataset, &cuts, &firsts, choice);
    }
}

/// A part of the columns, or all in the full sweep.
#[test]
fn columns_of_every_kind_and_type() {
    let Dataset { docs, columns } = small_of_every_kind();
    for (columns, choice) in columns.chunks(3).zip(0..).step_by(cases(9, 1)) {
        let dataset = Dataset { docs, columns: columns.to_vec() };
        check(&dataset, &[0, 1, docs / 3, docs / 2, docs], &[2, 3, 4], choice);
    }
}

fn check(dataset: &Dataset, cuts: &[u32], firsts: &[usize], choice: u8) {
    let mut starts: Vec<u32> = cuts.iter().map(|cut| cut % (dataset.docs + 1)).chain([0]).collect();
    starts.sort_unstable();
    let mut firsts: Vec<usize> = firsts.iter().map(|first| first % starts.len()).chain([0]).collect();
    firsts.sort_unstable();
    firsts.dedup();
    let shards = Shards::new(dataset, &starts, &firsts, choice);
    let fields: Vec<&Field> = dataset.columns.iter().map(|(field, _)| field).collect();
    for (at, field) in fields.iter().enumerate() {
        let other = fields[(at + 1) % fields.len()];
        facets(field).iter().for_each(|facet| shards.check_facet(facet));
        stats(field).iter().for_each(|stats| shards.check_stats(stats));
        groups(field, other, &fields).iter().for_each(|group| shards.check_group(group));
        if let Some((low, high)) = shards.bounds(&field.name).filter(|_| !field.kind.is_bytes()) {
            histograms(field, other, low, high).iter().for_each(|asked| shards.check_histogram(asked));
        }
        let key = SortKey::of(&*field.name);
        let second = [key.clone().missing_first(), SortKey::of(&*other.name).descending().missing_first()];
        let one = [key.clone()];
        let down = [key.descending()];
        let second = &second[..fields.len().min(2)];
        for keys in [&one[..], &down, second, &[]] {
            [0, 1, 7, 300].into_iter().for_each(|top| shards.check_top(keys, top));
        }
    }
}

fn facets(field: &Field) -> Vec<Facet> {
    let facet = || Facet::of(&*field.name);
    let mut all = vec![
        facet(),
        facet().top(1),
        facet().order(FacetOrder::Value).top(5).min_count(0),
        facet().min_count(0).top(usize::MAX),
        facet().min_count(3).top(usize::MAX),
    ];
    if field.kind.is_bytes() {
        all.push(facet().prefix("a"));
        all.push(facet().prefix([]).min_count(0).top(3));
    }
    all
}

fn stats(field: &Field) -> Vec<Stats> {
    let plain = Stats::of(&*field.name);
    let whole = plain.clone().distinct();
    if field.kind.is_bytes() {
        return vec![plain, whole];
    }
    vec![plain, whole.clone(), whole.spread().percentiles([0.0, 7.0, 50.0, 99.9, 100.0])]
}

/// The four metrics of a column.
fn metrics(field: &Field) -> Vec<Metric> {
    [Metric::Sum, Metric::Mean, Metric::Min, Metric::Max].map(|metric| metric(field.name.clone())).into()
}

fn groups(field: &Field, other: &Field, fields: &[&Field]) -> Vec<Group> {
    if field.kind.is_multi_valued() {
        return Vec::new();
    }
    let is_number = |field: &&&Field| field.kind == Kind::Numeric;
    let numbers: Vec<&Field> = fields.iter().filter(is_number).copied().collect();
    let group = |order| {
        let metrics = numbers.iter().flat_map(|field| metrics(field));
        metrics.fold(Group::of(&*field.name), Group::metric).order(order)
    };
    let sort = [SortKey::of(&*other.name).descending(), SortKey::of(&*field.name)];
    let sort = &sort[..if other.name == field.name { 1 } else { 2 }];
    let mut all = vec![
        group(GroupOrder::Count),
        group(GroupOrder::Value).top(usize::MAX).docs(2).sort(sort.to_vec()),
        group(GroupOrder::Best).top(4).sort(sort.to_vec()),
        group(GroupOrder::Best).docs(2),
        group(GroupOrder::Count).top(3).docs(3).sort(sort.to_vec()),
        group(GroupOrder::Value).top(usize::MAX).docs(1).with_missing(),
    ];
    let kept = numbers.iter().take(1).flat_map(|number| {
        let percentile = |percentile| Metric::Percentile(number.name.clone(), percentile);
        let by_key =
            [Metric::First, Metric::Last].map(|metric| metric(other.name.clone(), number.name.clone()));
        // NaN equals nothing.
        let has_first = !other.kind.is_multi_valued() && other.logical != LogicalType::F64;
        let by_key = by_key.into_iter().filter(move |_| has_first);
        [percentile(50.0), percentile(99.9)].into_iter().chain(by_key)
    });
    let kept = kept.chain([Metric::Distinct(other.name.clone())]);
    all.push(kept.fold(Group::of(&*field.name), Group::metric).order(GroupOrder::Value).top(usize::MAX));
    if !other.kind.is_multi_valued() {
        all.push(group(GroupOrder::Best).docs(2).sort(sort.to_vec()).and(&*other.name).with_missing());
    }
    // Sums of doubles differ in their last bits, and so may their order.
    let orders = numbers.iter().enumerate().flat_map(|(at, field)| {
        let from = if field.logical == LogicalType::F64 { 2 } else { 0 };
        (from..4).map(move |metric| GroupOrder::Metric(4 * at + metric))
    });
    all.extend(orders.map(|order| group(order).top(5)));
    all
}

fn histograms(field: &Field, other: &Field, low: i64, high: i64) -> Vec<Histogram> {
    let middle = low.midpoint(high);
    let span = high.abs_diff(low);
    let mut steps = vec![Step::Edges(vec![middle]), Step::Whole(1), Step::every(Unit::Hour)];
    if low < middle {
        steps.push(Step::Edges(vec![low, middle]));
    }
    if field.logical == LogicalType::F64 {
        use docvalues_format::file::kind::to_f64;
        steps.push(Step::Width((to_f64(high) - to_f64(low)) / 37.0));
    } else {
        steps.push(Step::Whole((span / 37).max(1) | 1));
    }
    steps.extend([Unit::Week, Unit::Month, Unit::Year].map(Step::every));
    let histogram = |step| {
        let mut asked = Histogram::of(&*field.name, step);
        if field.kind == Kind::Numeric && other.kind != Kind::Binary {
            asked = asked.facet(Facet::of(&*other.name).top(2));
        }
        if field.kind == Kind::Numeric && other.kind == Kind::Numeric {
            asked = metrics(other).into_iter().fold(asked, Histogram::metric);
        }
        asked
    };
    steps.into_iter().map(histogram).collect()
}
