//! Numbers of answers: values of columns, sums and means, as text for tables and as JSON.

use crate::api::search::Value;
use crate::api::search::group::Measure;
use crate::api::search::stats::{ColumnStats, Sum};
use crate::api::{Field, LogicalType};
use crate::text::json::{Json, integer};
use crate::text::number::FloatStyle;
use crate::text::print_value::Printer;

/// A number of an answer, or another value of a column.
#[derive(Clone, Debug)]
pub(crate) enum Figure {
    /// A value of a column, in the column's format.
    Value(Value),
    Integer(i128),
    Double(f64),
    /// A mean or a deviation, most of whose digits say nothing.
    Mean(f64),
}

impl Figure {
    /// The figure of a metric; `None` for metrics that this program does not ask for.
    pub(crate) fn of(measure: &Measure) -> Option<Figure> {
        match measure {
            Measure::Value(value) => Some(Figure::Value(value.clone())),
            Measure::Sum(sum) => Some(Figure::from(*sum)),
            Measure::Mean(mean) => Some(Figure::Mean(*mean)),
            Measure::Distinct(count) => Some(Figure::Integer((*count).into())),
            _ => None,
        }
    }

    /// The figure as text, with the format of its column.
    pub(crate) fn text(&self, printer: &Printer) -> String {
        match self {
            Figure::Value(value) => printer.to_text(value),
            Figure::Integer(number) => number.to_string(),
            Figure::Double(number) | Figure::Mean(number) => float(*number),
        }
    }

    /// The text, with means and deviations rounded to about six digits.
    pub(crate) fn rounded(&self, printer: &Printer) -> String {
        match self {
            Figure::Mean(mean) => rounded(*mean),
            Figure::Value(_) | Figure::Integer(_) | Figure::Double(_) => self.text(printer),
        }
    }

    /// The figure as JSON: a number if JSON readers keep it, otherwise text.
    pub(crate) fn json(&self, printer: &Printer) -> Json {
        match self {
            Figure::Value(value) => printer.json_value(value),
            Figure::Integer(number) => integer(*number),
            Figure::Double(number) | Figure::Mean(number) => {
                Printer::new(LogicalType::F64, false, None).json_value(&Value::F64(*number))
            }
        }
    }
}

impl From<Sum> for Figure {
    fn from(sum: Sum) -> Figure {
        match sum {
            Sum::Integer(sum) => Figure::Integer(sum),
            sum => Figure::Double(sum.to_f64()),
        }
    }
}

/// The sum and the mean of a column, if its type has them. Dates and timestamps have a mean and no sum.
pub(crate) fn sum_and_mean(stats: &ColumnStats) -> (Option<Figure>, Option<Figure>) {
    let Some(sum) = stats.sum else { return (None, None) };
    let Field { logical, .. } = stats.field;
    match sum {
        Sum::Integer(sum) if !matches!(logical, LogicalType::I64 | LogicalType::U64 | LogicalType::Bool) => {
            let mean = i64::try_from(sum.div_euclid(i128::from(stats.values.max(1)))).ok();
            (None, mean.map(|mean| Figure::Value(Value::of(logical, mean))))
        }
        _ => (Some(sum.into()), stats.mean.map(Figure::Mean)),
    }
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
        let date = Figure::Value(Value::of(LogicalType::Date, 0));
        assert_eq!(date.rounded(&printer(LogicalType::Date, "%d%m%Y")), "01011970");
        let doubles = printer(LogicalType::F64, "");
        for figure in [Figure::Double(0.1 + 0.2), Figure::Value(Value::F64(0.1 + 0.2))] {
            assert_eq!(figure.rounded(&doubles), "0.30000000000000004");
        }
    }

    #[test]
    fn json_has_numbers_unless_readers_would_change_them() {
        let json = |figure: Figure| {
            serde_json::to_string(&figure.json(&Printer::new(LogicalType::I64, false, None))).unwrap()
        };
        let most = 1 << 53;
        for (number, expected) in [
            (0, "0"),
            (most, "9007199254740992"),
            (-most, "-9007199254740992"),
            (most + 1, "\"9007199254740993\""),
            (-most - 1, "\"-9007199254740993\""),
            (i128::MIN, "\"-170141183460469231731687303715884105728\""),
        ] {
            assert_eq!(json(Figure::Integer(number)), expected);
            if let Ok(number) = i64::try_from(number) {
                assert_eq!(json(Figure::Value(Value::I64(number))), expected);
            }
        }
        assert_eq!(json(Figure::Double(0.5)), "0.5");
        assert_eq!(json(Figure::Double(1e300)), "1e300");
        assert_eq!(json(Figure::Double(f64::NAN)), "\"NaN\"");
        assert_eq!(json(Figure::Double(f64::NEG_INFINITY)), "\"-inf\"");
    }
}
