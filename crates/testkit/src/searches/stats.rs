//! Statistics: extremes, sums, spread, percentiles, distinct values.

use std::collections::BTreeSet;

use docvalues_column::{DocId, LogicalType};
use docvalues_format::file::kind::{to_f64, to_u64};
use docvalues_search::Value;
use docvalues_search::stats::{ColumnStats, Distinct, Stats, Sum};

use super::Trial;
use super::rows::{RowColumn, Rows};

const PERCENTILES: [f64; 8] = [0.0, 0.1, 7.0, 25.0, 50.0, 99.0, 99.9, 100.0];

pub(super) fn check(trial: &Trial<'_>, rows: &Rows, hits: &[DocId], column: usize) {
    let column = &rows.columns[column];
    let name = &column.field.name;
    let plain = Stats::of(name);
    let whole = if column.field.kind.is_bytes() {
        plain.clone().distinct()
    } else {
        plain.clone().distinct().spread().percentiles(PERCENTILES)
    };
    let asked = [plain, whole];
    let found = trial.search.stats_of(trial.docs, &asked).unwrap();
    // Equal to the last bit.
    let again = trial.search.stats_of(trial.docs, &asked).unwrap();
    assert_eq!(format!("{again:?}"), format!("{found:?}"), "\"{name}\"");
    let values: Vec<&Value> = hits.iter().flat_map(|doc| column.of(*doc)).collect();
    for stats in &found {
        let missing = hits.iter().filter(|doc| column.of(**doc).is_empty()).count();
        let counts = (stats.docs, stats.missing, stats.values);
        assert_eq!(counts, (hits.len() as u64, missing as u64, values.len() as u64), "\"{name}\"");
        check_values(stats, column, &values);
    }
    let distinct = hits.iter().flat_map(|doc| column.counted(*doc)).collect::<BTreeSet<_>>().len() as u64;
    match found[1].distinct.unwrap() {
        Distinct::Exact(found) => assert_eq!(found, distinct, "\"{name}\""),
        Distinct::About(found) => {
            assert!(
                distinct > 60_000 && found.abs_diff(distinct) < distinct / 20,
                "\"{name}\": {found} of {distinct}"
            );
        }
    }
    check_percentiles(&found[1], column, &values);
}

fn check_values(stats: &ColumnStats, column: &RowColumn, values: &[&Value]) {
    let name = &column.field.name;
    let numbers: Vec<&Value> = values.iter().copied().filter(|value| !column.is_nan(value)).collect();
    assert_eq!(stats.nans, (values.len() - numbers.len()) as u64, "\"{name}\"");
    let ends = (numbers.iter().min().map(|v| (*v).clone()), numbers.iter().max().map(|v| (*v).clone()));
    assert_eq!((stats.min.clone(), stats.max.clone()), ends, "\"{name}\"");
    let stored = numbers.iter().filter_map(|value| value.stored());
    match (column.field.logical, stats.sum) {
        (_, None) => assert!(numbers.is_empty() || column.field.kind.is_bytes(), "\"{name}\""),
        (LogicalType::F64, Some(Sum::Double(sum))) => {
            check_doubles(stats, &stored.map(to_f64).collect::<Vec<_>>(), sum)
        }
        (logical, Some(Sum::Integer(sum))) => {
            let unsigned = logical == LogicalType::U64;
            let plain: Vec<i128> =
                stored.map(|n| if unsigned { to_u64(n).into() } else { n.into() }).collect();
            assert_eq!(sum, plain.iter().sum::<i128>(), "\"{name}\"");
            let doubles: Vec<f64> = plain.iter().map(|n| *n as f64).collect();
            check_doubles(stats, &doubles, sum as f64);
        }
        (logical, sum) => panic!("\"{name}\": {sum:?} of {}", logical.name()),
    }
}

/// Checks sum, mean and variance, within the precision of doubles.
fn check_doubles(stats: &ColumnStats, values: &[f64], sum: f64) {
    let name = &stats.field.name;
    if values.iter().any(|value| value.is_infinite()) {
        return;
    }
    let (count, size) = (values.len() as f64, values.iter().map(|value| value.abs()).sum::<f64>());
    let close = |a: f64, b: f64, size: f64| (a - b).abs() <= size * 1e-9 || !size.is_finite();
    let plain = values.iter().sum::<f64>();
    assert!(close(sum, plain, size), "\"{name}\": expected the sum {plain}, found {sum}");
    let mean = plain / count;
    assert!(close(stats.mean.unwrap(), mean, size / count), "\"{name}\"");
    if let Some(variance) = stats.variance {
        let plain = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
        let squares = values.iter().map(|value| value * value).sum::<f64>() / count;
        assert!(
            close(variance, plain, squares),
            "\"{name}\": expected the variance {plain}, found {variance}"
        );
    }
}

fn check_percentiles(stats: &ColumnStats, column: &RowColumn, values: &[&Value]) {
    let mut numbers: Vec<&Value> = values.iter().copied().filter(|value| !column.is_nan(value)).collect();
    numbers.sort_unstable();
    if numbers.is_empty() || column.field.kind.is_bytes() {
        assert!(stats.percentiles.is_empty(), "\"{}\"", column.field.name);
        return;
    }
    assert_eq!(stats.percentiles.len(), PERCENTILES.len());
    for (percentile, found) in &stats.percentiles {
        let thousandths = (percentile * 1_000.0).round() as usize;
        let rank = (thousandths * numbers.len()).div_ceil(100_000).max(1);
        assert_eq!(found, numbers[rank - 1], "percentile {percentile} of \"{}\"", column.field.name);
    }
}
