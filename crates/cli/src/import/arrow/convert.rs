//! Converts an Arrow array to the stored values of a column.

use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};

use super::text::text;
use crate::api::{FlatArray, Lists, LogicalType, PlainValues, stored_values};
use crate::import::column::Column;
use crate::import::column_type::{ColumnType, value_name};
use crate::import::parse_cell::{Stored, TypeMismatch, ValueStyle};
use crate::import::row::Form;
use crate::text::number;
use crate::text::time::{Rfc3339, parse_offset, unit_name};

/// The values of some rows of a column.
#[derive(Debug)]
pub(crate) struct ConvertedColumn {
    pub(crate) stored: PlainValues,
    /// A bitmap of the rows with values, unless all have some: bit *i* % 64 of word *i* / 64 stands for row *i*.
    pub(crate) validity: Option<Vec<u64>>,
    /// For a column with several values a row, the offsets at which the values of each row begin.
    pub(crate) lists: Option<Vec<u64>>,
    /// The number of rows with values.
    pub(crate) rows: u64,
    /// The number of values.
    pub(crate) values: u64,
    pub(crate) seen: Styles,
}

impl ConvertedColumn {
    /// Whether a row has a value.
    pub(crate) fn has_value(&self, row: usize) -> bool {
        let word = |words: &Vec<u64>| words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1);
        self.validity.as_ref().is_none_or(word)
    }
}

/// The formats of values.
#[derive(Debug)]
pub(crate) enum Styles {
    Alike(ValueStyle),
    Each(Vec<ValueStyle>),
}

/// A value that does not fit its column.
#[derive(Debug)]
pub(crate) struct ValueError {
    pub(crate) row: usize,
    pub(crate) mismatch: TypeMismatch,
    pub(crate) text: String,
}

/// Converts the values of `array` to the type `ty` of `column`; adds values that do not fit to `faults`. Returns `None`
/// for an array of type null.
///
/// # Errors
///
/// If the array is damaged.
pub(crate) fn convert(
    column: &Column,
    ty: ColumnType,
    array: &ArrayRef,
    faults: &mut Vec<ValueError>,
) -> Result<Option<ConvertedColumn>, ArrowError> {
    if *array.data_type() == DataType::Null {
        return Ok(None);
    }
    let flat = FlatArray::of(array)?;
    for row in flat.rows_with_null_items() {
        let problem = "an array holds null, which no column stores";
        faults.push(ValueError::new(row, problem, "", String::new()));
    }
    let (stored, seen) = values(column, ty, &flat, faults);
    let (rows, values) = match &flat.lists {
        None => {
            let rows = (array.len() - array.null_count()) as u64;
            (rows, rows)
        }
        Some(lists) => {
            let lens = lists.windows(2).map(|pair| pair[1] - pair[0]).enumerate();
            let lens = lens.filter(|(row, len)| *len > 0 && flat.is_valid(*row));
            lens.fold((0, 0), |(rows, values), (_, len)| (rows + 1, values + len))
        }
    };
    let FlatArray { lists, validity, .. } = flat;
    Ok(Some(ConvertedColumn { stored, validity, lists, rows, values, seen }))
}

impl ValueError {
    fn new(row: usize, problem: impl Into<String>, wider: &'static str, text: String) -> ValueError {
        ValueError { row, mismatch: TypeMismatch { problem: problem.into(), wider }, text }
    }
}

/// The values of an array, and their formats.
fn values(
    column: &Column,
    ty: ColumnType,
    flat: &FlatArray,
    faults: &mut Vec<ValueError>,
) -> (PlainValues, Styles) {
    let items = flat.items.as_ref();
    // A column with a format is parsed as text.
    let stored = if column.time.is_some() { None } else { stored_values(items, ty.logical) };
    let Some((stored, refused)) = stored else { return by_text(column, ty, flat, faults) };
    for (at, row) in refused.into_iter().filter_map(|at| Some((at, flat.row(at)?))) {
        let mut found = String::new();
        text(items, at, &mut found);
        let (problem, wider) = misfit(items.data_type(), ty.logical);
        faults.push(ValueError::new(row, problem, wider, found));
    }
    (stored, Styles::Alike(mark(items.data_type(), ty.logical)))
}

/// Converts values by way of their text.
fn by_text(
    column: &Column,
    ty: ColumnType,
    flat: &FlatArray,
    faults: &mut Vec<ValueError>,
) -> (PlainValues, Styles) {
    let items = flat.items.as_ref();
    let reading = column.cell_parser(ty);
    let (mut numbers, mut strings, mut marks) = (Vec::new(), Lists::new(), Vec::new());
    let mut found = String::new();
    for at in 0..items.len() {
        let mut number = 0;
        strings.push_with(|bytes| {
            let Some(row) = flat.row(at).filter(|_| items.is_valid(at)) else { return };
            found.clear();
            text(items, at, &mut found);
            match reading.read(Form::Str, &found, bytes) {
                Ok((stored, mark)) => {
                    marks.push(mark);
                    if let Stored::Number(stored) = stored {
                        number = stored;
                    }
                }
                Err(mismatch) => faults.push(ValueError { row, mismatch, text: found.clone() }),
            }
        });
        numbers.push(number);
    }
    let stored =
        if ty.logical.is_bytes() { PlainValues::Strings(strings) } else { PlainValues::Numbers(numbers) };
    (stored, Styles::Each(marks))
}

/// The reason why a value does not fit a type, and a type that accepts it.
fn misfit(from: &DataType, to: LogicalType) -> (String, &'static str) {
    use DataType as D;
    match (from, to) {
        (D::Date64, LogicalType::Date) => ("expected the start of a day".to_owned(), "timestamp[ms]"),
        (D::Timestamp(..), _) => {
            let unit = unit_name(to);
            (format!("the moment is not a whole number of {unit}, or does not fit 64 bits"), "string")
        }
        (D::Decimal32(..) | D::Decimal64(..) | D::Decimal128(..), LogicalType::F64) => {
            ("the number has more digits than an f64 keeps".to_owned(), "string")
        }
        (D::UInt64, LogicalType::I64) => (format!("expected {}", value_name(to)), "u64"),
        _ => (format!("expected {}", value_name(to)), "string"),
    }
}

/// The text format of values of an Arrow type.
fn mark(from: &DataType, to: LogicalType) -> ValueStyle {
    use DataType as D;
    match (from, to) {
        (D::Decimal32(_, scale) | D::Decimal64(_, scale) | D::Decimal128(_, scale), LogicalType::F64) => {
            let digits = usize::try_from(*scale).unwrap_or(0);
            ValueStyle::Float { styles: number::fixed_style(digits), json: false }
        }
        (D::Timestamp(_, zone), _) => {
            // A timestamp without a zone is printed without one; one with a named zone in UTC.
            let zone = match zone.as_deref() {
                None => "",
                Some("+00:00") => "Z",
                Some(offset) if parse_offset(offset).is_some() => offset,
                Some(_) => "Z",
            };
            let mut suffix = [0; Rfc3339::MAX_SUFFIX];
            if let Some(suffix) = suffix.get_mut(..zone.len()) {
                suffix.copy_from_slice(zone.as_bytes());
            }
            ValueStyle::Time { separator: 'T', fractions: 1 << Rfc3339::SHORTEST, suffix }
        }
        (_, LogicalType::TimestampMillis) => {
            ValueStyle::Time { separator: 'T', fractions: 1 << Rfc3339::SHORTEST, suffix: *b"Z\0\0\0\0\0\0" }
        }
        _ => ValueStyle::Canonical,
    }
}
