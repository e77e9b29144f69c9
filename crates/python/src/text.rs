//! IP addresses and UUIDs as text and as objects of Python, and back.

use std::net::Ipv6Addr;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, ListArray, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field as ArrowField, Schema as ArrowSchema};
use docvalues::search::arrow::{StringLayout, arrow_field};
use docvalues::writer::arrow::{FlatArray, for_each};
use docvalues::{Field, Kind, LogicalType};
use pyo3::prelude::*;

use crate::errors::{Result, argument, wrong_type, wrong_value};

/// A value of an extension type as text; `None` of another type.
pub(crate) fn text_of(field: &ArrowField, bytes: &[u8]) -> Option<String> {
    let bytes = <[u8; 16]>::try_from(bytes).ok()?;
    match extension(field)? {
        LogicalType::Ip => {
            let address = Ipv6Addr::from(bytes);
            Some(address.to_ipv4_mapped().map_or_else(|| address.to_string(), |v4| v4.to_string()))
        }
        _ => {
            let digits = format!("{:032x}", u128::from_be_bytes(bytes));
            let [a, b, c, d, e] = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
            Some(format!("{a}-{b}-{c}-{d}-{e}"))
        }
    }
}

/// The batch with text in place of extension types.
pub(crate) fn as_text(batch: &RecordBatch) -> Result<RecordBatch> {
    let text = |field: &ArrowField, array: &FixedSizeBinaryArray| -> StringArray {
        array.iter().map(|value| value.and_then(|bytes| text_of(field, bytes))).collect()
    };
    map_columns(batch, |field, column| {
        let (ty, array): (DataType, ArrayRef) = match column.data_type() {
            DataType::FixedSizeBinary(16) if extension(field).is_some() => {
                (DataType::Utf8, Arc::new(text(field, column.as_fixed_size_binary())))
            }
            DataType::List(item) if extension(item).is_some() => {
                let (lists, of_text) =
                    (column.as_list::<i32>(), ArrowField::new("item", DataType::Utf8, false));
                let items = Arc::new(text(item, lists.values().as_fixed_size_binary()));
                let (item, offsets) = (Arc::new(of_text), lists.offsets().clone());
                let lists = ListArray::try_new(Arc::clone(&item), offsets, items, lists.nulls().cloned())?;
                (DataType::List(item), Arc::new(lists))
            }
            _ => return Ok(None),
        };
        Ok(Some((ArrowField::new(field.name(), ty, field.is_nullable()), array)))
    })
}

/// The batch with 16 bytes in place of the text of columns that `logical` says to be IP addresses or UUIDs, or lists of them. It
/// follows `rows` others.
pub(crate) fn parsed(
    batch: &RecordBatch,
    rows: u64,
    logical: impl Fn(&str) -> Option<LogicalType>,
) -> Result<RecordBatch> {
    map_columns(batch, |field, column| {
        let wanted = logical(field.name()).filter(|logical| logical.fixed_len().is_some());
        let Some(logical) = wanted else { return Ok(None) };
        let flat = FlatArray::of(column)?;
        let is_text =
            matches!(flat.items.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        if !is_text {
            return Ok(None);
        }
        let (mut values, mut refused) = (Vec::with_capacity(flat.items.len()), None);
        for_each(flat.items.as_ref(), |text| {
            let text = text.map(String::from_utf8_lossy);
            let value = text.as_deref().and_then(|text| logical.parse_fixed(text));
            if let Some(text) = &text
                && value.is_none()
                && refused.is_none()
            {
                refused = flat.row(values.len()).map(|row| (row as u64, text.to_string()));
            }
            values.push(value);
        });
        if let Some((row, text)) = refused {
            let what = format!("{text:?} is not of type {}", logical.name());
            return Err(wrong_value(field.name(), rows + row, &what));
        }
        let values = FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.into_iter(), 16)?;
        let values: ArrayRef = Arc::new(values);
        let Some(lists) = &flat.lists else { return Ok(Some((field_of(field.name(), logical), values))) };
        let lens = lists.windows(2).map(|ends| usize::try_from(ends[1] - ends[0]).unwrap_or(0));
        let nulls = NullBuffer::from_iter((0..column.len()).map(|row| flat.is_valid(row)));
        let (item, offsets) = (Arc::new(field_of("item", logical)), OffsetBuffer::from_lengths(lens));
        let lists = ListArray::try_new(Arc::clone(&item), offsets, values, Some(nulls))?;
        Ok(Some((ArrowField::new(field.name(), DataType::List(item), true), Arc::new(lists) as ArrayRef)))
    })
}

/// The IP addresses or UUIDs of a list as 16 bytes each; `None` if its first value is something else.
pub(crate) fn addresses(values: &Bound<'_, PyAny>) -> Result<Option<(LogicalType, ArrayRef)>> {
    let Ok(items) = values.try_iter() else { return Ok(None) };
    let (mut of_all, mut parsed): (Option<LogicalType>, Vec<Option<Vec<u8>>>) = (None, Vec::new());
    for value in items {
        let value = value?;
        if value.is_none() {
            parsed.push(None);
            continue;
        }
        match (of_all, type_of(&value)?) {
            (None, None) => return Ok(None),
            (None, Some(logical)) => of_all = Some(logical),
            (Some(first), found) if found != Some(first) => {
                return Err(wrong_type(&format!("only values of type {}", first.name()), &value).into());
            }
            _ => {}
        }
        parsed.push(of_all.map(|logical| id_of_text(&value.str()?.to_string_lossy(), logical)).transpose()?);
    }
    let Some(logical) = of_all else { return Ok(None) };
    let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(parsed.into_iter(), 16)?;
    Ok(Some((logical, Arc::new(array))))
}

/// The type of an object of `uuid` or `ipaddress`, or of a library with such objects.
fn type_of(value: &Bound<'_, PyAny>) -> PyResult<Option<LogicalType>> {
    Ok(match (value.hasattr("urn")?, value.hasattr("packed")?) {
        (true, _) => Some(LogicalType::Uuid),
        (_, true) => Some(LogicalType::Ip),
        _ => None,
    })
}

/// The Arrow field of a column of an extension type.
pub(crate) fn field_of(name: &str, logical: LogicalType) -> ArrowField {
    arrow_field(&Field::new(name, Kind::Binary, logical), true, StringLayout::Offsets)
}

/// The bytes of an id or another value that is given as text.
pub(crate) fn id_of_text(text: &str, logical: LogicalType) -> Result<Vec<u8>> {
    if logical.fixed_len().is_none() {
        return Ok(text.as_bytes().to_vec());
    }
    let bytes = logical.parse_fixed(text).map(|bytes| bytes.to_vec());
    bytes.ok_or_else(|| argument(format!("expected a value of type {}, found {text:?}", logical.name())))
}

/// The extension type of a field.
fn extension(field: &ArrowField) -> Option<LogicalType> {
    match field.metadata().get(EXTENSION_TYPE_NAME_KEY)?.as_str() {
        docvalues::search::arrow::IP_EXTENSION => Some(LogicalType::Ip),
        "arrow.uuid" => Some(LogicalType::Uuid),
        _ => None,
    }
}

/// The batch with the columns that `change` returns others for.
fn map_columns(
    batch: &RecordBatch,
    mut change: impl FnMut(&ArrowField, &ArrayRef) -> Result<Option<(ArrowField, ArrayRef)>>,
) -> Result<RecordBatch> {
    let schema = batch.schema();
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        let (field, column) = match change(field, column)? {
            Some((field, column)) => (Arc::new(field), column),
            None => (Arc::clone(field), Arc::clone(column)),
        };
        fields.push(field);
        columns.push(column);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::new(ArrowSchema::new(fields)), columns, &options)?)
}
