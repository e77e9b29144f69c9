//! A column of some rows as a segment keeps it.

use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};

use super::text::text;
use crate::api::{FlatArray, LogicalType, Stored, Strings};
use crate::input::column::Column;
use crate::input::column_type::{ColumnType, unit_of, value_name};
use crate::input::parse_cell::{TypeMismatch, ValueStyle};
use crate::input::row::Form;
use crate::time::{Rfc3339, parse_offset};
use crate::{input::parse_cell, number};

/// The values of some rows of a column.
#[derive(Debug)]
pub(crate) struct ConvertedColumn {
    pub(crate) stored: Stored,
    /// Which rows have some, if not all do: row *i* if bit *i* % 64 of word *i* / 64 is set.
    pub(crate) validity: Option<Vec<u64>>,
    /// Of a column with several values a row: where those of each begin.
    pub(crate) lists: Option<Vec<u64>>,
    /// Rows that have values.
    pub(crate) rows: u64,
    /// Values that they have.
    pub(crate) values: u64,
    pub(crate) seen: Styles,
}

/// How values were spelled.
#[derive(Debug)]
pub(crate) enum Styles {
    Alike(ValueStyle),
    Each(Vec<ValueStyle>),
}

/// A value that its column does not hold.
#[derive(Debug)]
pub(crate) struct ValueError {
    pub(crate) row: usize,
    pub(crate) mismatch: TypeMismatch,
    pub(crate) text: String,
}

/// The values of `array` as `column`, whose type is `ty`, holds them; those that it does not are `faults`. `None`
/// where the array has none by its type.
///
/// # Errors
///
/// When the array is damaged.
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
        let problem = "an array holds null, which no column can";
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

/// The values of an array, and how they were spelled.
fn values(
    column: &Column,
    ty: ColumnType,
    flat: &FlatArray,
    faults: &mut Vec<ValueError>,
) -> (Stored, Styles) {
    let items = flat.items.as_ref();
    // A column with a format is read by it.
    let stored = if column.time.is_some() { None } else { Stored::of(items, ty.logical) };
    let Some((stored, refused)) = stored else { return by_text(column, ty, flat, faults) };
    for (at, row) in refused.into_iter().filter_map(|at| Some((at, flat.row(at)?))) {
        let mut found = String::new();
        text(items, at, &mut found);
        let (problem, wider) = misfit(items.data_type(), ty.logical);
        faults.push(ValueError::new(row, problem, wider, found));
    }
    (stored, Styles::Alike(mark(items.data_type(), ty.logical)))
}

/// Values that are read as text.
fn by_text(
    column: &Column,
    ty: ColumnType,
    flat: &FlatArray,
    faults: &mut Vec<ValueError>,
) -> (Stored, Styles) {
    let items = flat.items.as_ref();
    let reading = column.cell_parser(ty);
    let (mut numbers, mut strings, mut marks) = (Vec::new(), Strings::default(), Vec::new());
    let mut found = String::new();
    for at in 0..items.len() {
        let mut number = 0;
        if let Some(row) = flat.row(at).filter(|_| items.is_valid(at)) {
            found.clear();
            text(items, at, &mut found);
            match reading.read(Form::Str, &found, &mut strings.data) {
                Ok((stored, mark)) => {
                    marks.push(mark);
                    if let parse_cell::Stored::Number(stored) = stored {
                        number = stored;
                    }
                }
                Err(mismatch) => faults.push(ValueError { row, mismatch, text: found.clone() }),
            }
        }
        numbers.push(number);
        strings.end();
    }
    let stored = if ty.logical.is_bytes() { Stored::Strings(strings) } else { Stored::Numbers(numbers) };
    (stored, Styles::Each(marks))
}

/// Why a value of a type that becomes the other does not, and which one would take it.
fn misfit(from: &DataType, to: LogicalType) -> (String, &'static str) {
    use DataType as D;
    match (from, to) {
        (D::Date64, LogicalType::Date) => ("within a day, not at its beginning".to_owned(), "timestamp[ms]"),
        (D::Timestamp(..), _) => {
            let unit = unit_of(to).map_or("", |unit| unit.name());
            (format!("no count of {unit}, or one that 64 bits do not reach"), "string")
        }
        (D::Decimal32(..) | D::Decimal64(..) | D::Decimal128(..), LogicalType::F64) => {
            ("more digits than a double keeps".to_owned(), "string")
        }
        (D::UInt64, LogicalType::I64) => (format!("not {}", value_name(to)), "u64"),
        _ => (format!("not {}", value_name(to)), "string"),
    }
}

/// How values that become stored ones are to be printed.
fn mark(from: &DataType, to: LogicalType) -> ValueStyle {
    use DataType as D;
    match (from, to) {
        (D::Decimal32(_, scale) | D::Decimal64(_, scale) | D::Decimal128(_, scale), LogicalType::F64) => {
            let digits = usize::try_from(*scale).unwrap_or(0);
            ValueStyle::Float { styles: number::fixed_style(digits), json: false }
        }
        (D::Timestamp(_, zone), _) => {
            // A clock without a zone is printed without one; one whose zone has a name, in UTC.
            let zone = match zone.as_deref() {
                None => "",
                Some("+00:00") => "Z",
                Some(offset) if parse_offset(offset).is_some() => offset,
                Some(_) => "Z",
            };
            let mut suffix = [0; 6];
            if let Some(suffix) = suffix.get_mut(..zone.len()) {
                suffix.copy_from_slice(zone.as_bytes());
            }
            ValueStyle::Time { separator: 'T', fractions: 1 << Rfc3339::SHORTEST, suffix }
        }
        (_, LogicalType::TimestampMillis) => {
            ValueStyle::Time { separator: 'T', fractions: 1 << Rfc3339::SHORTEST, suffix: *b"Z\0\0\0\0\0" }
        }
        _ => ValueStyle::Canonical,
    }
}
