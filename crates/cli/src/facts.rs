//! What the values of a column come to: the ends of their range, their sum, their mean.

use std::ops::ControlFlow;

use serde::Serialize;

use crate::input::import::StoredRef;
use crate::number::FloatStyle;
use crate::output::value::Printer;
use crate::store::{
    AnyColumn, ColumnSource as _, ColumnStats, Error, LogicalType, Segment, TermOrd, Terms, to_f64,
};

/// As text, so that no number loses digits on its way through a JSON reader.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Facts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sum: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mean: Option<String>,
}

impl Facts {
    /// From the directory what it knows, the rest from the values. Nothing where there are none.
    pub(crate) fn of(segment: &Segment, stats: &ColumnStats) -> Result<Facts, Error> {
        if stats.value_count == 0 {
            return Ok(Facts::default());
        }
        let field = &stats.field;
        let printer = Printer::new(field.logical, false, field.format.as_deref());
        let column = segment.column(&field.name)?;
        let (min, max) = match (stats.bounds, &column) {
            (Some((min, max)), _) => (number(&printer, min), number(&printer, max)),
            (None, AnyColumn::Sorted(column)) => first_and_last(&**column, &printer)?,
            (None, AnyColumn::SortedSet(column)) => first_and_last(&**column, &printer)?,
            (None, column) => least_and_greatest(column, &printer)?,
        };
        let (sum, mean) = sum_and_mean(&column, stats, &printer)?;
        Ok(Facts { min: Some(min), max: Some(max), sum, mean })
    }
}

fn number(printer: &Printer, stored: i64) -> String {
    let mut text = String::new();
    printer.text(StoredRef::Number(stored), &mut text);
    text
}

fn bytes(printer: &Printer, bytes: &[u8]) -> String {
    let mut text = String::new();
    printer.text(StoredRef::Bytes(bytes), &mut text);
    text
}

/// The ends of a dictionary.
fn first_and_last(terms: &dyn Terms, printer: &Printer) -> Result<(String, String), Error> {
    let term = |ord| {
        let mut term = Vec::new();
        terms.term(TermOrd::new(ord), &mut term)?;
        Ok::<_, Error>(bytes(printer, &term))
    };
    Ok((term(0)?, term(terms.term_count().saturating_sub(1))?))
}

/// The ends of the range of byte strings without a dictionary: all of them have to be looked at.
fn least_and_greatest(column: &AnyColumn, printer: &Printer) -> Result<(String, String), Error> {
    let mut ends: Option<(Vec<u8>, Vec<u8>)> = None;
    if let AnyColumn::Binary(column) = column {
        column.scan(0..column.docs(), &mut |batch| {
            for value in batch.values.iter() {
                let (min, max) = ends.get_or_insert_with(|| (value.to_vec(), value.to_vec()));
                if value < min.as_slice() {
                    value.clone_into(min);
                } else if value > max.as_slice() {
                    value.clone_into(max);
                }
            }
            ControlFlow::Continue(())
        })?;
    }
    let (min, max) = ends.unwrap_or_default();
    Ok((bytes(printer, &min), bytes(printer, &max)))
}

/// The sum and the mean, where the type has them.
fn sum_and_mean(
    column: &AnyColumn,
    stats: &ColumnStats,
    printer: &Printer,
) -> Result<(Option<String>, Option<String>), Error> {
    let count = stats.value_count;
    if stats.field.logical == LogicalType::F64 {
        let sum = float_sum(column)?;
        return Ok((Some(float(sum)), Some(float(sum / count as f64))));
    }
    let Some(stored) = stats.statistics.sum else { return Ok((None, None)) };
    Ok(match stats.field.logical {
        LogicalType::I64 | LogicalType::U64 | LogicalType::Bool => {
            // Stored numbers of u64 begin at -2^63. A file may say whatever it likes.
            let below = if stats.field.logical == LogicalType::U64 { i128::from(count) << 63 } else { 0 };
            let sum = stored.saturating_add(below);
            (Some(sum.to_string()), Some(float(sum as f64 / count as f64)))
        }
        _ => {
            let mean = i64::try_from(stored.div_euclid(count.into())).ok();
            (None, mean.map(|mean| number(printer, mean)))
        }
    })
}

/// The sum of a column of doubles, by Neumaier: what a summand loses is added at the end.
fn float_sum(column: &AnyColumn) -> Result<f64, Error> {
    let (mut sum, mut lost) = (0.0, 0.0);
    let mut add = |values: &[i64]| {
        for value in values.iter().map(|stored| to_f64(*stored)) {
            let next: f64 = sum + value;
            lost += if f64::abs(sum) >= value.abs() { (sum - next) + value } else { (value - next) + sum };
            sum = next;
        }
        ControlFlow::Continue(())
    };
    match column {
        AnyColumn::Numeric(column) => column.scan(0..column.docs(), &mut |batch| add(batch.values))?,
        AnyColumn::SortedNumeric(column) => {
            column.scan(0..column.docs(), &mut |batch| add(batch.values.items()))?;
        }
        AnyColumn::Binary(_) | AnyColumn::Sorted(_) | AnyColumn::SortedSet(_) => {}
    }
    // Of infinities nothing is lost, but the difference of two is no number.
    Ok(if sum.is_finite() { sum + lost } else { sum })
}

fn float(value: f64) -> String {
    let mut text = String::new();
    FloatStyle::Shortest.print(value, &mut text);
    text
}

/// A number with some six digits, for people; what is no number is left as it is.
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
