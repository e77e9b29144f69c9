//! Arrow record batches as rows.
//!
//! Types that docvalues has print as in [`print_value`](crate::text::print_value), in canonical form; structs and maps as JSON
//! objects; others as Arrow prints them.

use std::iter;
use std::ops::Range;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray as _, BinaryViewArray, Int64Array, ListArray, StringArray, StructArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Field, Fields, Float32Type, Float64Type, Int64Type, SchemaRef, TimeUnit, UInt64Type,
};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use super::rows::{RecordFormat, RowCell, RowPrinter};
use super::table::Align;
use crate::api::search::arrow::IP_EXTENSION;
use crate::api::{LogicalType, from_f64, from_u64};
use crate::console::Console;
use crate::error::CliError;
use crate::text::quoting::{json_string, json_text, quote_csv_value};
use crate::text::{Printer, StoredRef};

/// The rows of a table, whose columns are as wide as these need. The next ones have a heading of their own, so that a
/// large result takes little memory.
const TABLE_ROWS: usize = 1_000;

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
    ) -> Result<BatchRows, CliError> {
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
    pub(crate) fn print(&mut self, batch: &RecordBatch, console: &mut Console<'_>) -> Result<(), CliError> {
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
    pub(crate) fn finish(self, console: &mut Console<'_>) -> Result<(), CliError> {
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
        match values {
            Values::Lists(..) => values.json(row, line),
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

/// Appends a JSON object of the fields that have a value.
fn object(fields: &Fields, columns: &[Values], row: usize, out: &mut String) {
    out.push('{');
    let fields = fields.iter().zip(columns).filter(|(_, values)| !values.is_null(row));
    for (index, (field, values)) in fields.enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        out.push_str(&json_text(field.name()));
        out.push(':');
        values.json(row, out);
    }
    out.push('}');
}

/// Appends a JSON object of the entries of a map, whose keys are text there.
fn map([keys, values]: &[Values; 2], entries: Range<usize>, out: &mut String) {
    out.push('{');
    for (index, entry) in entries.enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        let mut key = String::new();
        keys.text(entry, &mut key);
        json_string(&key, out);
        out.push(':');
        if values.is_null(entry) { out.push_str("null") } else { values.json(entry, out) }
    }
    out.push('}');
}

/// The values of a column, as docvalues stores them or as text.
enum Values {
    Numbers(Int64Array, Printer),
    Bytes(BinaryViewArray, Printer),
    Lists(ListArray, Box<Values>),
    Structs(StructArray, Vec<Values>),
    /// The keys and the values of maps, as lists of entries.
    Maps(ListArray, Box<[Values; 2]>),
    /// Values of a type that docvalues does not have; numbers if the flag is set.
    Others(StringArray, bool),
}

impl Values {
    fn of(field: &Field, array: &ArrayRef) -> Result<Values, ArrowError> {
        let simpler = match array.data_type() {
            DataType::List(item) => {
                let lists = array.as_list::<i32>();
                let items = Values::of(item, &items_of(lists))?;
                return Ok(Values::Lists(lists.clone(), Box::new(items)));
            }
            DataType::Struct(fields) => {
                let structs = array.as_struct();
                let columns = fields.iter().zip(structs.columns());
                let columns = columns.map(|(field, column)| Values::of(field, column));
                return Ok(Values::Structs(structs.clone(), columns.collect::<Result<_, _>>()?));
            }
            DataType::Map(..) => {
                let maps = ListArray::from(array.as_map().clone());
                let items = items_of(&maps);
                let entries = items.as_struct();
                let side = |at: usize| Values::of(&entries.fields()[at], entries.column(at));
                return Ok(Values::Maps(maps, Box::new([side(0)?, side(1)?])));
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
            return Ok(Values::Others(text(array)?, array.data_type().is_numeric()));
        };
        let printer = Printer::new(logical, false, None);
        if logical.is_bytes() {
            // Views do not copy the bytes, of which many rows may share some.
            let views = cast(array, &DataType::BinaryView)?;
            return Ok(Values::Bytes(views.as_binary_view().clone(), printer));
        }
        let stored = match logical {
            LogicalType::U64 => array.as_primitive::<UInt64Type>().unary(from_u64),
            // The double that prints as short as it does.
            LogicalType::F64 if *array.data_type() == DataType::Float32 => {
                let double = |value: f32| value.to_string().parse().unwrap_or_else(|_| f64::from(value));
                array.as_primitive::<Float32Type>().unary(|value| from_f64(double(value)))
            }
            LogicalType::F64 => {
                cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().unary(from_f64)
            }
            _ => cast(array, &DataType::Int64)?.as_primitive::<Int64Type>().clone(),
        };
        Ok(Values::Numbers(stored, printer))
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Values::Numbers(array, _) => array.is_null(row),
            Values::Bytes(array, _) => array.is_null(row),
            Values::Lists(array, _) | Values::Maps(array, _) => array.is_null(row),
            Values::Structs(array, _) => array.is_null(row),
            Values::Others(array, _) => array.is_null(row),
        }
    }

    /// Appends a value without quotes of any kind; several are separated by commas. What is nested deeper is JSON.
    fn text(&self, row: usize, out: &mut String) {
        match self {
            Values::Numbers(array, printer) => printer.text(StoredRef::Number(array.value(row)), out),
            Values::Bytes(array, printer) => printer.text(StoredRef::Bytes(array.value(row)), out),
            Values::Lists(lists, items) => {
                let is_nested = matches!(**items, Values::Lists(..));
                items.each(lists, row, ", ", out, if is_nested { Values::json } else { Values::text });
            }
            Values::Structs(..) | Values::Maps(..) => self.json(row, out),
            Values::Others(array, _) => out.push_str(array.value(row)),
        }
    }

    fn json(&self, row: usize, out: &mut String) {
        match self {
            Values::Numbers(array, printer) => {
                printer.json(&[StoredRef::Number(array.value(row))], out);
            }
            Values::Bytes(array, printer) => {
                printer.json(&[StoredRef::Bytes(array.value(row))], out);
            }
            Values::Lists(lists, items) => {
                out.push('[');
                items.each(lists, row, ",", out, Values::json);
                out.push(']');
            }
            Values::Structs(structs, columns) => object(structs.fields(), columns, row, out),
            Values::Maps(maps, entries) => map(entries, range(maps, row), out),
            Values::Others(array, true) => out.push_str(array.value(row)),
            Values::Others(array, false) => json_string(array.value(row), out),
        }
    }

    /// Appends each item of a list with `print`.
    fn each(
        &self,
        lists: &ListArray,
        row: usize,
        separator: &str,
        out: &mut String,
        print: fn(&Values, usize, &mut String),
    ) {
        for (item, separator) in range(lists, row).zip(iter::once("").chain(iter::repeat(separator))) {
            out.push_str(separator);
            if self.is_null(item) { out.push_str("null") } else { print(self, item, out) }
        }
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
