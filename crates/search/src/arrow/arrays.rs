//! Conversion of a chunk's columns to Arrow arrays.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, DictionaryArray, FixedSizeBinaryArray,
    Float64Array, Int32Array, Int64Array, ListArray, StringArray, StringViewArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use docvalues_column::{DocAddress, Field, LogicalType};
use docvalues_format::file::kind::{to_f64, to_u64};

use super::types::{StringLayout, arrow_field};
use crate::error::{Error, Result};
use crate::export::{Chunk, ChunkColumn, Numbers, Strings};

/// The column being converted, for error messages.
struct ColumnContext<'a> {
    field: &'a Field,
    /// The document of each row.
    docs: &'a [DocAddress],
}

impl ColumnContext<'_> {
    fn refuse(&self, row: usize, what: &'static str) -> Error {
        Error::Value { field: self.field.name.clone(), doc: self.docs[row].doc.get(), what }
    }

    /// The error for an array that arrow rejects.
    fn unfit(&self, error: impl std::fmt::Display) -> Error {
        Error::Request(format!("column \"{}\" has no Arrow array: {error}", self.field.name))
    }
}

/// Converts rows of column `i` of a chunk to the type of [`arrow_field`].
pub(super) fn array(
    chunk: &Chunk,
    i: usize,
    rows: Range<usize>,
    field: &Field,
    layout: StringLayout,
) -> Result<ArrayRef> {
    let about = ColumnContext { field, docs: &chunk.docs()[rows.clone()] };
    match chunk.column(i) {
        ChunkColumn::Numbers(column) => numbers(&about, column, rows),
        ChunkColumn::Strings(column) => match arrow_field(field, true, layout).data_type() {
            DataType::Dictionary(..) | DataType::Utf8View | DataType::BinaryView => {
                shared(&about, column, rows, layout)
            }
            _ => {
                let nulls = nulls(rows.len(), |row| column.place(rows.start + row).is_some());
                strings(&about, rows.clone().map(|at| column.get(at).unwrap_or_default()), nulls, |row| row)
            }
        },
        ChunkColumn::NumberLists(column) => {
            let lists = || rows.clone().map(|at| column.get(at));
            let values: Vec<i64> = lists().flatten().copied().collect();
            let starts = starts(&about, lists().map(<[i64]>::len))?;
            let items = of_stored(&about, values, None, |item| row_of(&starts, item))?;
            list(&about, starts, items)
        }
        ChunkColumn::StringLists(column) => {
            let lists = || rows.clone().map(|at| column.get(at));
            let starts = starts(&about, lists().map(|terms| terms.len()))?;
            let items = strings(&about, lists().flatten(), None, |item| row_of(&starts, item))?;
            list(&about, starts, items)
        }
    }
}

/// The bytes that these rows of a column take as an array of strings or lists.
pub(super) fn weight(column: &ChunkColumn<'_>, rows: Range<usize>, layout: StringLayout) -> u64 {
    let bytes = |bytes: usize| bytes as u64;
    match column {
        ChunkColumn::Numbers(_) => 0,
        // The chunk has each once.
        ChunkColumn::Strings(_) if layout == StringLayout::Views => 0,
        ChunkColumn::Strings(column) => rows.map(|at| column.get(at).map_or(0, |s| bytes(s.len()))).sum(),
        ChunkColumn::NumberLists(column) => rows.map(|at| bytes(8 * column.get(at).len())).sum(),
        ChunkColumn::StringLists(column) => {
            rows.map(|at| column.get(at).map(|term| bytes(4 + term.len())).sum::<u64>()).sum()
        }
    }
}

fn nulls(rows: usize, there: impl Fn(usize) -> bool) -> Option<NullBuffer> {
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(rows, there));
    (nulls.null_count() > 0).then_some(nulls)
}

fn numbers(about: &ColumnContext<'_>, column: Numbers<'_>, rows: Range<usize>) -> Result<ArrayRef> {
    let nulls = column.present.and_then(|present| {
        let words = Buffer::from_slice_ref(present);
        let nulls = NullBuffer::new(BooleanBuffer::new(words, rows.start, rows.len()));
        (nulls.null_count() > 0).then_some(nulls)
    });
    of_stored(about, column.values[rows].to_vec(), nulls, |row| row)
}

/// Converts stored numbers; `row` returns the row of an item.
fn of_stored(
    about: &ColumnContext<'_>,
    values: Vec<i64>,
    nulls: Option<NullBuffer>,
    row: impl Fn(usize) -> usize,
) -> Result<ArrayRef> {
    Ok(match about.field.logical {
        LogicalType::U64 => Arc::new(UInt64Array::new(values.into_iter().map(to_u64).collect(), nulls)),
        LogicalType::F64 => Arc::new(Float64Array::new(values.into_iter().map(to_f64).collect(), nulls)),
        LogicalType::Bool => Arc::new(BooleanArray::new(
            BooleanBuffer::from_iter(values.iter().map(|value| *value != 0)),
            nulls,
        )),
        LogicalType::Date => {
            let day = |(item, value)| {
                i32::try_from(value).map_err(|_| about.refuse(row(item), "has a day beyond 32 bits"))
            };
            let days = values.into_iter().enumerate().map(day).collect::<Result<Vec<_>>>()?;
            Arc::new(Date32Array::new(days.into(), nulls))
        }
        LogicalType::TimestampMillis => {
            Arc::new(TimestampMillisecondArray::new(values.into(), nulls).with_timezone("UTC"))
        }
        LogicalType::TimestampMicros => {
            Arc::new(TimestampMicrosecondArray::new(values.into(), nulls).with_timezone("UTC"))
        }
        LogicalType::TimestampNanos => {
            Arc::new(TimestampNanosecondArray::new(values.into(), nulls).with_timezone("UTC"))
        }
        _ => Arc::new(Int64Array::new(values.into(), nulls)),
    })
}

/// Converts byte strings, empty for missing values; `row` returns the row of a string.
fn strings<'a>(
    about: &ColumnContext<'_>,
    each: impl Iterator<Item = &'a [u8]> + Clone,
    nulls: Option<NullBuffer>,
    row: impl Fn(usize) -> usize,
) -> Result<ArrayRef> {
    if about.field.logical.fixed_len().is_some() {
        let mut data: Vec<u8> = Vec::new();
        for (at, string) in each.enumerate() {
            match string.len() {
                16 => data.extend_from_slice(string),
                0 if nulls.as_ref().is_some_and(|nulls| nulls.is_null(at)) => {
                    data.extend_from_slice(&[0; 16])
                }
                _ => return Err(about.refuse(row(at), "has a value that is not 16 bytes long")),
            }
        }
        let array = FixedSizeBinaryArray::try_new(16, Buffer::from_vec(data), nulls);
        return Ok(Arc::new(array.map_err(|error| about.unfit(error))?));
    }
    let offsets = starts(about, each.clone().map(<[u8]>::len))?;
    let bytes = offsets.last().map_or(0, |end| usize::try_from(*end).unwrap_or(0));
    let mut data = Vec::with_capacity(bytes);
    each.clone().for_each(|string| data.extend_from_slice(string));
    let data = Buffer::from_vec(data);
    if about.field.logical != LogicalType::Utf8 {
        let array = BinaryArray::try_new(offsets, data, nulls);
        return Ok(Arc::new(array.map_err(|error| about.unfit(error))?));
    }
    match StringArray::try_new(offsets, data, nulls) {
        Ok(array) => Ok(Arc::new(array)),
        Err(error) => {
            let bad = each.enumerate().find(|(_, string)| str::from_utf8(string).is_err());
            Err(bad.map_or_else(
                || about.unfit(error),
                |(at, _)| about.refuse(row(at), "has text that is not UTF-8"),
            ))
        }
    }
}

/// Converts rows to positions in a dictionary of the chunk's strings, each once, or to views of them.
fn shared(
    about: &ColumnContext<'_>,
    column: Strings<'_>,
    rows: Range<usize>,
    layout: StringLayout,
) -> Result<ArrayRef> {
    let key = |at| column.place(at).map(|place| i32::try_from(place).unwrap_or(i32::MAX));
    let keys: Int32Array = rows.clone().map(key).collect();
    let row_with = |place| rows.clone().position(|at| column.place(at) == Some(place)).unwrap_or(0);
    let all = column.strings();
    let values = strings(about, (0..all.len()).map(|place| all.get(place)), None, row_with)?;
    if layout == StringLayout::Dictionary {
        return Ok(Arc::new(DictionaryArray::try_new(keys, values).map_err(|error| about.unfit(error))?));
    }
    let views: ArrayRef = match values.data_type() {
        DataType::Utf8 => Arc::new(StringViewArray::from(values.as_string::<i32>())),
        _ => Arc::new(BinaryViewArray::from(values.as_binary::<i32>())),
    };
    arrow_select::take::take(&views, &keys, None).map_err(|error| about.unfit(error))
}

/// Builds lists from offsets and items; an empty list is null.
fn list(about: &ColumnContext<'_>, starts: OffsetBuffer<i32>, items: ArrayRef) -> Result<ArrayRef> {
    let DataType::List(item) = arrow_field(about.field, true, StringLayout::Offsets).data_type().clone()
    else {
        return Err(about.unfit("its documents have one value each"));
    };
    let nulls = nulls(about.docs.len(), |row| starts[row] < starts[row + 1]);
    Ok(Arc::new(ListArray::try_new(item, starts, items, nulls).map_err(|error| about.unfit(error))?))
}

/// Converts lengths to offsets.
fn starts(about: &ColumnContext<'_>, lens: impl Iterator<Item = usize>) -> Result<OffsetBuffer<i32>> {
    let (mut starts, mut end) = (vec![0], 0_usize);
    for len in lens {
        end = end.saturating_add(len);
        starts.push(i32::try_from(end).map_err(|_| about.refuse(0, "has about 2 GiB or more in a row"))?);
    }
    Ok(OffsetBuffer::new(ScalarBuffer::from(starts)))
}

/// The list that contains an item.
fn row_of(starts: &OffsetBuffer<i32>, item: usize) -> usize {
    let item = i32::try_from(item).unwrap_or(i32::MAX);
    starts.partition_point(|start| *start <= item) - 1
}
