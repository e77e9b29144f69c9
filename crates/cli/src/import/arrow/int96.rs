//! INT96 columns of Parquet: moments as a Julian day and the nanoseconds in it, over a calendar of millions of years.
//!
//! The `parquet` crate converts them to one unit, and wraps or rounds what does not fit. So their values are read once
//! before, to find a unit that holds all of them.

use std::fs::File;
use std::sync::Arc;

use arrow_schema::{Schema, TimeUnit};
use jiff::SignedDuration;
use parquet::basic::Type;
use parquet::column::reader::ColumnReader;
use parquet::data_type::Int96;
use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::RowGroupReader as _;
use parquet::file::serialized_reader::SerializedRowGroupReader;
use parquet::schema::types::ColumnDescriptor;

use super::pages::Pages;
use crate::api::leaves;
use crate::import::Exclude;
use crate::import::error::{BadRow, InputError, Place};
use crate::import::source::Source;
use crate::text::quoting::option;
use crate::text::time::TimeFormat;

/// The units, in order of preference: microseconds reach from 290,000 BC to 290,000 AD, and Spark writes no finer ones.
const UNITS: [(TimeUnit, i128); 3] =
    [(TimeUnit::Microsecond, 1_000), (TimeUnit::Nanosecond, 1), (TimeUnit::Millisecond, 1_000_000)];

/// The Julian day of 1970-01-01.
const EPOCH: i128 = 2_440_588;

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// The number of rows whose values are in memory at once.
const ROWS: usize = 8_192;

/// The values of a column for some rows.
#[derive(Default)]
struct Values {
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    values: Vec<Int96>,
}

/// Returns the first of [`UNITS`] that holds every value, for each INT96 column that `exclude` does not have, and `None`
/// for the other leaves; the inner error is a moment that no unit holds with those before it.
pub(super) fn units(
    file: &File,
    metadata: &ParquetMetaData,
    schema: &Schema,
    source: &Source,
    exclude: &Exclude,
) -> Result<Result<Vec<Option<TimeUnit>>, InputError>> {
    let columns = metadata.file_metadata().schema_descr().columns();
    let mut units = vec![None; columns.len()];
    let int96 = columns.iter().enumerate().filter(|(_, column)| column.physical_type() == Type::INT96);
    for (index, column) in int96.filter(|(_, column)| !exclude.has(&column.path().string())) {
        let pages = Arc::new(Pages::new(file.try_clone()?, metadata)?);
        match unit(&pages, metadata, index)? {
            Ok(unit) => units[index] = Some(unit),
            Err((row, nanos)) => return Ok(Err(misfit(&name(column, schema), source, row, nanos))),
        }
    }
    Ok(Ok(units))
}

/// The name of the column in a segment: the path without the groups of a list.
fn name(column: &ColumnDescriptor, schema: &Schema) -> String {
    let path = column.path().string();
    let leaves = leaves(schema).into_iter().map(|leaf| leaf.name);
    let is_prefix = |name: &String| {
        path.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    leaves.filter(is_prefix).max_by_key(String::len).unwrap_or(path)
}

/// The error for a moment. To skip its row does not help: the columns are declared before.
fn misfit(name: &str, source: &Source, row: usize, nanos: i128) -> InputError {
    let problem = format!("column {name:?}: expected a moment that one unit holds with those before it");
    let bad = BadRow::at(&source.name, Place::Row(row as u64), problem).text(print(nanos).as_bytes());
    InputError::refused(bad.to_string(), format!("leave the column out: {}", option("--exclude", name)))
}

/// The unit of a column; the row and the nanoseconds of the value after which there is none.
fn unit(
    pages: &Arc<Pages>,
    metadata: &ParquetMetaData,
    column: usize,
) -> Result<Result<TimeUnit, (usize, i128)>> {
    let (mut fitting, mut row) = (UNITS.to_vec(), 0);
    let properties = Arc::new(ReaderProperties::builder().build());
    for group in metadata.row_groups() {
        let group = SerializedRowGroupReader::new(Arc::clone(pages), group, None, Arc::clone(&properties))?;
        let ColumnReader::Int96ColumnReader(mut reader) = group.get_column_reader(column)? else { continue };
        loop {
            let mut read = Values::default();
            let Values { definitions, repetitions, values } = &mut read;
            let (rows, ..) = reader.read_records(ROWS, Some(definitions), Some(repetitions), values)?;
            if rows == 0 {
                break;
            }
            for (at, value) in read.values.iter().enumerate() {
                let nanos = nanos(value);
                fitting.retain(|(_, unit)| nanos % unit == 0 && i64::try_from(nanos / unit).is_ok());
                if fitting.is_empty() {
                    return Ok(Err((row + read.row_of(at), nanos)));
                }
            }
            row += rows;
        }
    }
    Ok(Ok(fitting.first().map_or(TimeUnit::Microsecond, |(unit, _)| *unit)))
}

impl Values {
    /// The row of a value. Without levels, each row has one value.
    fn row_of(&self, value: usize) -> usize {
        let most = self.definitions.iter().max();
        let mut defined = self.definitions.iter().enumerate().filter(|(_, level)| Some(*level) == most);
        let level = defined.nth(value).map_or(value, |(level, _)| level);
        let starts = self.repetitions.iter().take(level + 1).filter(|level| **level == 0).count();
        if self.repetitions.is_empty() { level } else { starts.saturating_sub(1) }
    }
}

/// The nanoseconds since 1970.
fn nanos(value: &Int96) -> i128 {
    let [low, high, day] = value.data() else { return 0 };
    let of_day = (u64::from(*high) << 32 | u64::from(*low)).cast_signed();
    (i128::from(day.cast_signed()) - EPOCH) * 86_400 * NANOS_PER_SECOND + i128::from(of_day)
}

fn print(nanos: i128) -> String {
    let seconds = i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).unwrap_or(i64::MAX);
    let fraction = i32::try_from(nanos.rem_euclid(NANOS_PER_SECOND)).unwrap_or(0);
    let mut out = String::new();
    // A canonical format prints every moment.
    let _ = TimeFormat::canonical().print(SignedDuration::new(seconds, fraction), &mut out);
    out
}
