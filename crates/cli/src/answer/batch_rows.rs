//! Arrow record batches as rows.
//!
//! Types that docvalues has print as in [`print_value`](crate::text::print_value), in canonical form; structs and maps as JSON
//! objects; others as Arrow prints them.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray as _, ListArray, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Field, Float32Type, Float64Type, Int64Type, SchemaRef, TimeUnit, UInt64Type,
};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use super::rows::{RecordFormat, RowCell, RowPrinter, TABLE_ROWS};
use super::table::Align;
use crate::api::search::arrow::IP_EXTENSION;
use crate::api::{LogicalType, from_f64, from_u64};
use crate::console::Console;
use crate::error::{CliError, Result};
use crate::text::quoting::{joined, json_string, quote_csv_value};
use crate::text::{Printer, StoredRef};

/// Prints batches in one format.
pub(crate) struct BatchRows {
    schema: SchemaRef,
    rows: RowPrinter,
    printed: usize,
}

impl BatchRows {
    /// Prints the heading of CSV.
    pub(crate) fn begin(
        schema: SchemaRef,
        format: RecordFormat,
        console: &mut Console<'_>,
    ) -> Result<BatchRows> {
        let mut names = schema.fields().iter().enumerate();
        let twice = names.find(|(at, field)| schema.fields()[..*at].iter().any(|f| f.name() == field.name()));
        if let Some((_, field)) = twice.filter(|_| format == RecordFormat::Ndjson) {
            let message = format!("two columns are named {:?}, which JSON cannot tell apart", field.name());
            return Err(CliError::usage(message).hint("name one of them with `as`"));
        }
        let side = |ty: &DataType| if ty.is_numeric() { Align::Right } else { Align::Left };
        let columns = schema.fields().iter().map(|f| (f.name().clone(), side(f.data_type())));
        let rows = RowPrinter::begin(&columns.collect::<Vec<_>>(), 0, format, console.out)?;
        Ok(BatchRows { schema, rows, printed: 0 })
    }

    /// Prints the rows of a batch, or keeps them for the next table.
    pub(crate) fn print(&mut self, batch: &RecordBatch, console: &mut Console<'_>) -> Result<()> {
        let columns = self.schema.fields().iter().zip(batch.columns());
        let columns = columns.map(|(field, array)| Values::of(field, array)).collect::<Result<Vec<_>, _>>();
        let columns =
            columns.map_err(|error| CliError::failed(format!("cannot print the answer: {error}")))?;
        for row in 0..batch.num_rows() {
            self.printed += 1;
            let title = || format!("row {}", self.printed);
            self.rows.row(title, columns.iter().map(|values| BatchCell { values, row }), console.out)?;
            self.rows.print_table(TABLE_ROWS, console)?;
        }
        Ok(console.out.flush()?)
    }

    /// Prints the rows that are kept.
    pub(crate) fn finish(self, console: &mut Console<'_>) -> Result<()> {
        self.rows.finish(console)
    }
}

/// A value of a batch.
struct BatchCell<'a> {
    values: &'a Values,
    row: usize,
}

impl RowCell for BatchCell<'_> {
    fn csv(&self, delimiter: char, line: &mut String) {
        let BatchCell { values, row } = *self;
        if values.is_null(row) {
            return;
        }
        let start = line.len();
        match values.form {
            Form::Lists(_) => values.json(row, line),
            _ => values.text(row, line),
        }
        quote_csv_value(line, start, delimiter, None);
    }

    fn json(&self, line: &mut String) -> bool {
        let has_value = !self.values.is_null(self.row);
        if has_value {
            self.values.json(self.row, line);
        }
        has_value
    }

    fn plain(&self, cell: &mut String) {
        if !self.values.is_null(self.row) {
            self.values.text(self.row, cell);
        }
    }
}

/// The values of a column.
struct Values {
    array: ArrayRef,
    form: Form,
}

/// The form in which an array has values.
enum Form {
    /// As docvalues stores them: `i64`, or views of bytes.
    Stored(Printer),
    Lists(Box<Values>),
    Structs(Vec<Values>),
    /// Lists of entries, with the keys and the values of maps.
    Maps(Box<[Values; 2]>),
    /// Text of values of a type that docvalues does not have; numbers if the flag is set.
    Others(bool),
}

impl Values {
    fn of(field: &Field, array: &ArrayRef) -> Result<Values, ArrowError> {
        let simpler = match array.data_type() {
            DataType::List(item) => {
                let items = Values::of(item, &items_of(array.as_list()))?;
                return Ok(Values { array: array.clone(), form: Form::Lists(Box::new(items)) });
            }
            DataType::Struct(fields) => {
                let columns = fields.iter().zip(array.as_struct().columns());
                let columns = columns.map(|(field, column)| Values::of(field, column));
                let columns = columns.collect::<Result<_, _>>()?;
                return Ok(Values { array: array.clone(), form: Form::Structs(columns) });
            }
            DataType::Map(..) => {
                let maps = ListArray::from(array.as_map().clone());
                let items = items_of(&maps);
                let entries = items.as_struct();
                let side = |at: usize| Values::of(&entries.fields()[at], entries.column(at));
                let sides = Box::new([side(0)?, side(1)?]);
                return Ok(Values { array: Arc::new(maps), form: Form::Maps(sides) });
            }
            DataType::Dictionary(_, values) => Some(values.as_ref().clone()),
            DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                Some(DataType::List(item.clone()))
            }
            _ => None,
        };
        if let Some(simpler) = simpler {
            let field = field.clone().with_data_type(simpler);
            return Values::of(&field, &cast(array, field.data_type())?);
        }
        let Some(logical) = logical_type(field) else {
            let form = Form::Others(array.data_type().is_numeric());
            return Ok(Values { array: Arc::new(text(array)?), form });
        };
        let stored: ArrayRef = match logical {
            // Views do not copy the bytes, of which many rows may share some.
            logical if logical.is_bytes() => cast(array, &DataType::BinaryView)?,
            LogicalType::U64 => Arc::new(array.as_primitive::<UInt64Type>().unary::<_, Int64Type>(from_u64)),
            // The double that prints as short as it does.
            LogicalType::F64 if *array.data_type() == DataType::Float32 => {
                let double = |value: f32| value.to_string().parse().unwrap_or_else(|_| f64::from(value));
                let floats = array.as_primitive::<Float32Type>();
                Arc::new(floats.unary::<_, Int64Type>(|value| from_f64(double(value))))
            }
            LogicalType::F64 => {
                let doubles = cast(array, &DataType::Float64)?;
                Arc::new(doubles.as_primitive::<Float64Type>().unary::<_, Int64Type>(from_f64))
            }
            _ => cast(array, &DataType::Int64)?,
        };
        Ok(Values { array: stored, form: Form::Stored(Printer::new(logical, false, None)) })
    }

    fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    fn stored(&self, row: usize) -> StoredRef<'_> {
        match self.array.as_binary_view_opt() {
            Some(bytes) => StoredRef::Bytes(bytes.value(row)),
            None => StoredRef::Number(self.array.as_primitive::<Int64Type>().value(row)),
        }
    }

    /// Appends a value without quotes of any kind; several are separated by commas. What is nested deeper is JSON.
    fn text(&self, row: usize, out: &mut String) {
        match &self.form {
            Form::Stored(printer) => printer.text(self.stored(row), out),
            Form::Lists(items) => {
                let is_nested = matches!(items.form, Form::Lists(_));
                joined(range(self.array.as_list(), row), ", ", out, |item, out| {
                    items.or_null(item, out, if is_nested { Values::json } else { Values::text });
                });
            }
            Form::Structs(_) | Form::Maps(_) => self.json(row, out),
            Form::Others(_) => out.push_str(self.array.as_string::<i32>().value(row)),
        }
    }

    fn json(&self, row: usize, out: &mut String) {
        match &self.form {
            Form::Stored(printer) => {
                printer.json(&[self.stored(row)], out);
            }
            Form::Lists(items) => {
                out.push('[');
                let range = range(self.array.as_list(), row);
                joined(range, ",", out, |item, out| items.or_null(item, out, Values::json));
                out.push(']');
            }
            // The fields that have a value.
            Form::Structs(columns) => {
                out.push('{');
                let fields = self.array.as_struct().fields().iter().zip(columns);
                let fields = fields.filter(|(_, values)| !values.is_null(row));
                joined(fields, ",", out, |(field, values), out| {
                    json_string(field.name(), out);
                    out.push(':');
                    values.json(row, out);
                });
                out.push('}');
            }
            Form::Maps(sides) => {
                let [keys, values] = &**sides;
                out.push('{');
                joined(range(self.array.as_list(), row), ",", out, |entry, out| {
                    // A key is text.
                    let mut key = String::new();
                    keys.text(entry, &mut key);
                    json_string(&key, out);
                    out.push(':');
                    values.or_null(entry, out, Values::json);
                });
                out.push('}');
            }
            Form::Others(true) => self.text(row, out),
            Form::Others(false) => json_string(self.array.as_string::<i32>().value(row), out),
        }
    }

    fn or_null(&self, row: usize, out: &mut String, print: fn(&Values, usize, &mut String)) {
        if self.is_null(row) { out.push_str("null") } else { print(self, row, out) }
    }
}

/// The type of docvalues that has these values.
fn logical_type(field: &Field) -> Option<LogicalType> {
    Some(match field.data_type() {
        DataType::Boolean => LogicalType::Bool,
        DataType::UInt64 => LogicalType::U64,
        ty if ty.is_integer() => LogicalType::I64,
        ty if ty.is_floating() => LogicalType::F64,
        DataType::Date32 => LogicalType::Date,
        DataType::Timestamp(unit, Some(zone)) if **zone == *"UTC" => match unit {
            TimeUnit::Second => return None,
            TimeUnit::Millisecond => LogicalType::TimestampMillis,
            TimeUnit::Microsecond => LogicalType::TimestampMicros,
            TimeUnit::Nanosecond => LogicalType::TimestampNanos,
        },
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => LogicalType::Utf8,
        DataType::FixedSizeBinary(16) => match field.extension_type_name() {
            Some(IP_EXTENSION) => LogicalType::Ip,
            Some("arrow.uuid") => LogicalType::Uuid,
            _ => LogicalType::Bytes,
        },
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            LogicalType::Bytes
        }
        _ => return None,
    })
}

/// The items of all lists; those of a slice are fewer than its array has.
fn items_of(lists: &ListArray) -> ArrayRef {
    let starts = lists.value_offsets();
    let [start, end] = [starts.first(), starts.last()].map(|at| at.map_or(0, |at| place(*at)));
    lists.values().slice(start, end - start)
}

/// The positions of a list's items in [`items_of`].
fn range(lists: &ListArray, row: usize) -> Range<usize> {
    let starts = lists.value_offsets();
    let [start, end] = [row, row + 1].map(|row| place(starts[row] - starts[0]));
    start..end
}

/// An offset as a position.
fn place(offset: i32) -> usize {
    usize::try_from(offset).unwrap_or(0)
}

/// Values as Arrow prints them.
fn text(array: &ArrayRef) -> Result<StringArray, ArrowError> {
    let (options, nulls) = (FormatOptions::new().with_display_error(false), array.logical_nulls());
    let formatter = ArrayFormatter::try_new(array, &options)?;
    let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let value = |row| is_valid(row).then(|| formatter.value(row).try_to_string()).transpose();
    (0..array.len()).map(value).collect()
}
