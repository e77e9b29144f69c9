//! Statistics of a column as text: minimum, maximum, sum, mean, standard deviation, percentiles.

use crate::api::LogicalType;
use crate::api::search::Value;
use crate::api::search::stats::{ColumnStats, Sum};
use crate::number::FloatStyle;
use crate::output::format_value::Printer;

/// Statistics as text, because readers of JSON round large numbers.
#[derive(Debug, Default)]
pub(crate) struct StatsText {
    pub(crate) min: Option<String>,
    pub(crate) max: Option<String>,
    pub(crate) sum: Option<String>,
    pub(crate) mean: Option<String>,
    /// The standard deviation.
    pub(crate) deviation: Option<String>,
    /// Percentiles and their values, in the order of the request.
    pub(crate) percentiles: Vec<(String, String)>,
}

impl StatsText {
    /// Formats `stats`. Without values, all fields are `None`. Dates and timestamps have a mean and no sum.
    pub(crate) fn of(stats: &ColumnStats) -> StatsText {
        let printer = Printer::of(&stats.field);
        let value = |value: &Value| printer.to_text(value);
        let (sum, mean) = sum_and_mean(stats, &value);
        let percentiles =
            stats.percentiles.iter().map(|(percentile, found)| (float(*percentile), value(found)));
        StatsText {
            min: stats.min.as_ref().map(value),
            max: stats.max.as_ref().map(value),
            sum,
            mean,
            deviation: stats.standard_deviation().map(float),
            percentiles: percentiles.collect(),
        }
    }
}

/// The sum and the mean, if the type has them.
fn sum_and_mean(stats: &ColumnStats, value: &dyn Fn(&Value) -> String) -> (Option<String>, Option<String>) {
    let mean = stats.mean.map(float);
    match (stats.field.logical, stats.sum) {
        (_, None) => (None, None),
        (LogicalType::I64 | LogicalType::U64 | LogicalType::Bool, Some(sum)) => (Some(sum_text(sum)), mean),
        (_, Some(Sum::Integer(sum))) => {
            let mean = i64::try_from(sum.div_euclid(i128::from(stats.values.max(1)))).ok();
            (None, mean.map(|mean| value(&Value::of(stats.field.logical, mean))))
        }
        (_, Some(sum @ Sum::Double(_))) => (Some(sum_text(sum)), mean),
    }
}

/// A sum as text.
pub(crate) fn sum_text(sum: Sum) -> String {
    match sum {
        Sum::Integer(sum) => sum.to_string(),
        Sum::Double(sum) => float(sum),
    }
}

fn float(value: f64) -> String {
    let mut text = String::new();
    FloatStyle::Shortest.print(value, &mut text);
    text
}

/// A number rounded to about six digits, for tables; other text is returned unchanged.
pub(crate) fn rounded(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value.abs() < 1e6 => {
            float(format!("{value:.5e}").parse().unwrap_or(value))
        }
        Ok(value) if value.is_finite() && value.abs() < 1e15 => format!("{value:.0}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_six_digits_for_people() {
        for (text, expected) in [
            ("0", "0"),
            ("0.3333333333333333", "0.333333"),
            ("-39.019999999999996", "-39.02"),
            ("61908.123456", "61908.1"),
            ("1234567.891", "1234568"),
            ("1e300", "1e300"),
            ("NaN", "NaN"),
            ("2013-01-01", "2013-01-01"),
        ] {
            assert_eq!(rounded(text), expected);
        }
    }
}
