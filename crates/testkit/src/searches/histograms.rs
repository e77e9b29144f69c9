//! Values by range.

use std::collections::BTreeMap;

use docvalues_column::{DocId, Kind, LogicalType};
use docvalues_format::file::kind::{to_f64, to_u64};
use docvalues_search::Value;
use docvalues_search::facet::Facet;
use docvalues_search::group::{Measure, Metric};
use docvalues_search::histogram::{Histogram, HistogramCounts, Step, Unit};

use super::Trial;
use super::rows::{RowColumn, Rows};

pub(super) fn check(trial: &Trial<'_>, rows: &Rows, hits: &[DocId], at: usize) {
    let column = &rows.columns[at];
    let numbers = |docs: &[DocId]| {
        let values = docs.iter().flat_map(|doc| column.of(*doc)).map(|value| value.stored().unwrap());
        values.collect::<Vec<i64>>()
    };
    let asked = asked(column);
    if asked.is_empty() {
        return;
    }
    let found = numbers(hits);
    let missing = hits.iter().filter(|doc| column.of(**doc).is_empty()).count() as u64;
    for (asked, other) in asked.into_iter().zip(at + 1..) {
        let expected = expected(column, &asked.step, &found);
        let HistogramCounts { buckets: ranges, docs, missing: without, outside, .. } =
            trial.search.histogram(trial.docs, &asked).unwrap_or_else(|error| panic!("{asked:?}: {error}"));
        let counts: BTreeMap<i64, u64> =
            ranges.iter().filter(|range| range.count > 0).map(|range| (range.from, range.count)).collect();
        assert_eq!(counts, expected, "{asked:?}");
        assert!(ranges.is_sorted_by_key(|range| range.from), "{asked:?}");
        if let Step::Edges(edges) = &asked.step {
            assert_eq!(ranges.iter().map(|range| range.from).collect::<Vec<_>>(), *edges);
        }
        let inside: u64 = expected.values().sum();
        assert_eq!((docs, without), (hits.len() as u64, missing), "{asked:?}");
        assert_eq!(outside, found.len() as u64 - inside, "{asked:?}");
        if !column.field.kind.is_multi_valued() {
            // Another one for each step.
            let other = &rows.columns[other % rows.columns.len()];
            check_inside(trial, hits, &asked, column, other);
        }
    }
}

/// Checks facets and metrics of the documents of each range.
fn check_inside(trial: &Trial<'_>, hits: &[DocId], asked: &Histogram, column: &RowColumn, other: &RowColumn) {
    let mut by_range: BTreeMap<i64, Vec<DocId>> = BTreeMap::new();
    for &doc in hits {
        let number = column.of(doc).first().and_then(Value::stored);
        let from = number.and_then(|number| range_of(column, &asked.step, number));
        from.into_iter().for_each(|from| by_range.entry(from).or_default().push(doc));
    }
    let (name, kind) = (&other.field.name, other.field.kind);
    let mut asked = asked.clone();
    if kind != Kind::Binary {
        asked = asked.facet(Facet::of(name).top(3));
    }
    if kind == Kind::Numeric {
        asked = asked.metric(Metric::Min(name.clone())).metric(Metric::Max(name.clone()));
    }
    let found =
        trial.search.histogram(trial.docs, &asked).unwrap_or_else(|error| panic!("{asked:?}: {error}"));
    for range in found.buckets {
        let docs = by_range.get(&range.from).map_or(&[][..], Vec::as_slice);
        if let Some(facet) = &asked.facet {
            let expected = trial.with_list(docs, |docs| trial.search.facet(docs, facet).unwrap());
            assert_eq!(range.facet, Some(expected), "{asked:?}: {}", range.from);
        }
        if kind == Kind::Numeric {
            let there = |doc: &&DocId| !other.of(**doc).iter().any(|value| other.is_nan(value));
            let numbers = docs.iter().filter(there).flat_map(|doc| other.of(*doc).iter().cloned());
            let ends = [numbers.clone().min(), numbers.max()].map(|end| end.map(Measure::Value));
            assert_eq!(range.metrics, ends, "{asked:?}: {}", range.from);
        }
    }
}

/// The metrics of a column.
pub(super) fn asked(column: &RowColumn) -> Vec<Histogram> {
    if column.field.kind.is_bytes() {
        return Vec::new();
    }
    let of = |step| Histogram::of(column.field.name.clone(), step);
    steps(column, &column.all_numbers()).into_iter().map(of).collect()
}

/// Steps that do not exceed the limit of ranges.
fn steps(column: &RowColumn, all: &[i64]) -> Vec<Step> {
    let (Some(low), Some(high)) = (all.iter().min(), all.iter().max()) else {
        return vec![Step::Width(10.0)];
    };
    let middle = low.midpoint(*high);
    let mut steps = vec![Step::Edges(vec![middle])];
    if *low < middle {
        steps.push(Step::Edges(vec![*low, middle]));
    }
    match column.field.logical {
        LogicalType::F64 => {
            let width = (to_f64(*high) - to_f64(*low)) / 37.0;
            steps.extend((width > 1e-300 && width.is_finite()).then_some(Step::Width(width)));
            let whole = width.ceil() as u64;
            steps.extend((1..u64::MAX).contains(&whole).then_some(Step::Whole(whole)));
        }
        _ => {
            // A power of two, so that the double is exact.
            let width = (high.abs_diff(*low) / 37).max(1);
            steps.push(Step::Width(width.next_power_of_two().min(1 << 61) as f64));
            steps.push(Step::Whole(width | 1));
        }
    }
    // A span of some years, in days and in milliseconds.
    let span = high.abs_diff(*low);
    let few = match column.field.logical {
        LogicalType::Date => span < 20_000,
        LogicalType::TimestampMillis => span < 20_000 * 86_400_000,
        _ => false,
    };
    steps.extend(
        few.then_some([Unit::Day, Unit::Week, Unit::Month, Unit::Quarter, Unit::Year].map(Step::every))
            .into_iter()
            .flatten(),
    );
    steps
}

/// The count of `numbers` in each range, by the start of the range. Empty ranges are left out.
fn expected(column: &RowColumn, step: &Step, numbers: &[i64]) -> BTreeMap<i64, u64> {
    let mut counts = BTreeMap::new();
    let ranges = numbers.iter().filter_map(|number| range_of(column, step, *number));
    ranges.for_each(|from| *counts.entry(from).or_default() += 1);
    counts
}

/// The start of the range that contains a number.
fn range_of(column: &RowColumn, step: &Step, number: i64) -> Option<i64> {
    match step {
        _ if column.is_nan(&Value::of(column.field.logical, number)) => None,
        Step::Edges(edges) => edges.iter().rev().find(|edge| **edge <= number).copied(),
        Step::Width(width) => Some(of_width(column.field.logical, *width, *width as u64, number)),
        Step::Whole(width) => Some(of_width(column.field.logical, *width as f64, *width, number)),
        Step::Every(step) => Some(of_calendar(column.field.logical, step.unit, number)),
        step => panic!("no expected result for {step:?}"),
    }
}

fn of_width(logical: LogicalType, width: f64, whole: u64, number: i64) -> i64 {
    use docvalues_format::file::kind::{from_f64, from_u64};
    match logical {
        LogicalType::F64 => {
            // The quotient is rounded, so the range may be a neighbour.
            let (number, at) = (to_f64(number), (to_f64(number) / width).floor());
            let at = [at + 1.0, at].into_iter().find(|at| times(width, *at) <= number).unwrap_or(at - 1.0);
            from_f64(times(width, at) + 0.0)
        }
        LogicalType::U64 => from_u64(to_u64(number) / whole * whole),
        _ => {
            i64::try_from(i128::from(number).div_euclid(whole.into()) * i128::from(whole)).unwrap_or(i64::MIN)
        }
    }
}

/// A multiple of a width; of a decimal with up to 15 digits, the double nearest to the product of decimals.
fn times(width: f64, at: f64) -> f64 {
    let text = format!("{width:e}");
    let (number, power) = text.split_once('e').unwrap();
    let decimals = number.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let digits: i128 = number.replace('.', "").parse().unwrap();
    if digits >= 1_000_000_000_000_000 || at.abs() >= 2_f64.powi(53) {
        return at * width;
    }
    let power = power.parse::<i64>().unwrap() - decimals as i64;
    format!("{}e{power}", at as i128 * digits).parse().unwrap()
}

/// The first day of the unit, found by going back day by day.
fn of_calendar(logical: LogicalType, unit: Unit, number: i64) -> i64 {
    let per_day = if logical == LogicalType::Date { 1 } else { 86_400_000 };
    let mut day = number.div_euclid(per_day);
    while !begins(unit, day) {
        day -= 1;
    }
    day * per_day
}

/// Whether a unit begins with this day since 1970, a Thursday. Civil dates after Howard Hinnant, `days_from_civil`.
fn begins(unit: Unit, day: i64) -> bool {
    let (era, of_era) = ((day + 719_468).div_euclid(146_097), (day + 719_468).rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let (of_month, month) = (of_year - (153 * from_march + 2) / 5 + 1, (from_march + 2) % 12 + 1);
    let _ = era;
    match unit {
        Unit::Week => (day + 3).rem_euclid(7) == 0,
        Unit::Month => of_month == 1,
        Unit::Quarter => of_month == 1 && month % 3 == 1,
        Unit::Year => of_month == 1 && month == 1,
        Unit::Second | Unit::Minute | Unit::Hour | Unit::Day => true,
        unit => panic!("no expected result for {unit:?}"),
    }
}
