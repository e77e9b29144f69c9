//! Numbers of answers, and other values of columns, as text for tables and as JSON.

use crate::api::search::Value;
use crate::api::search::group::Measure;
use crate::api::search::stats::{ColumnStats, Distinct, Sum};
use crate::api::{Field, LogicalType};
use crate::text::json::integer;
use crate::text::number::FloatStyle;
use crate::text::{Json, Printer, thousands};

/// A figure as text, a value in the format of its column. Means and deviations, most of whose digits say nothing, are
/// rounded to about six digits.
pub(super) fn text(figure: &Measure, printer: &Printer) -> String {
    match figure {
        Measure::Value(value) => printer.to_text(value),
        Measure::Sum(Sum::Integer(sum)) => sum.to_string(),
        Measure::Sum(sum) => float(sum.to_f64()),
        Measure::Mean(mean) => rounded(*mean),
        count => count.to_string(),
    }
}

/// A figure as JSON: a number if JSON readers keep it, otherwise text.
pub(super) fn json(figure: &Measure, printer: &Printer) -> Json {
    match figure {
        Measure::Value(value) => printer.json_value(value),
        Measure::Sum(Sum::Integer(sum)) => integer(*sum),
        Measure::Distinct(count) => integer((*count).into()),
        figure => {
            let double = Value::F64(figure.to_f64().unwrap_or(f64::NAN));
            Printer::new(LogicalType::F64, false, None).json_value(&double)
        }
    }
}

/// The sum and the mean of a column, if its type has them. Dates and timestamps have a mean and no sum.
pub(super) fn sum_and_mean(stats: &ColumnStats) -> (Option<Measure>, Option<Measure>) {
    let Some(sum) = stats.sum else { return (None, None) };
    let Field { logical, .. } = stats.field;
    match sum {
        Sum::Integer(sum) if !matches!(logical, LogicalType::I64 | LogicalType::U64 | LogicalType::Bool) => {
            let mean = i64::try_from(sum.div_euclid(i128::from(stats.values.max(1)))).ok();
            (None, mean.map(|mean| Measure::Value(Value::of(logical, mean))))
        }
        _ => (Some(Measure::Sum(sum)), stats.mean.map(Measure::Mean)),
    }
}

/// The number of different values of a column, with `~` if it is an estimate; empty if it is not known.
pub(super) fn distinct(stats: &ColumnStats) -> String {
    let about = if let Some(Distinct::About(_)) = stats.distinct { "~" } else { "" };
    stats.distinct.map_or_else(String::new, |distinct| format!("{about}{}", thousands(distinct.get())))
}

fn float(value: f64) -> String {
    let mut text = String::new();
    FloatStyle::Shortest.print(value, &mut text);
    text
}

/// A number rounded to about six digits.
fn rounded(value: f64) -> String {
    if value.abs() < 1e6 {
        float(format!("{value:.5e}").parse().unwrap_or(value))
    } else if value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        float(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_six_digits_for_people() {
        for (mean, expected) in [
            (0.0, "0"),
            (0.3333333333333333, "0.333333"),
            (-39.019999999999996, "-39.02"),
            (61908.123456, "61908.1"),
            (1234567.891, "1234568"),
            (1e300, "1e300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(rounded(mean), expected);
        }
    }

    #[test]
    fn values_and_sums_are_not_rounded() {
        let printer = |logical, format| Printer::new(logical, false, Some(format));
        let date = Measure::Value(Value::of(LogicalType::Date, 0));
        assert_eq!(text(&date, &printer(LogicalType::Date, "%d%m%Y")), "01011970");
        let doubles = printer(LogicalType::F64, "");
        for figure in [Measure::Sum(Sum::Double(0.1 + 0.2)), Measure::Value(Value::F64(0.1 + 0.2))] {
            assert_eq!(text(&figure, &doubles), "0.30000000000000004");
        }
    }

    #[test]
    fn json_has_numbers_unless_readers_would_change_them() {
        let json = |figure: Measure| {
            serde_json::to_string(&json(&figure, &Printer::new(LogicalType::I64, false, None))).unwrap()
        };
        let double = |number| Measure::Sum(Sum::Double(number));
        let most = 1 << 53;
        for (number, expected) in [
            (0, "0"),
            (most, "9007199254740992"),
            (-most, "-9007199254740992"),
            (most + 1, "\"9007199254740993\""),
            (-most - 1, "\"-9007199254740993\""),
            (i128::MIN, "\"-170141183460469231731687303715884105728\""),
        ] {
            assert_eq!(json(Measure::Sum(Sum::Integer(number))), expected);
            if let Ok(number) = i64::try_from(number) {
                assert_eq!(json(Measure::Value(Value::I64(number))), expected);
            }
        }
        assert_eq!(json(Measure::Distinct(7)), "7");
        assert_eq!(json(double(0.5)), "0.5");
        assert_eq!(json(double(1e300)), "1e300");
        assert_eq!(json(double(f64::NAN)), "\"NaN\"");
        assert_eq!(json(double(f64::NEG_INFINITY)), "\"-inf\"");
    }
}
