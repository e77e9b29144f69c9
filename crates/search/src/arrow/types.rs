//! Columns as Arrow fields.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field as ArrowField, TimeUnit};
use docvalues_column::{Field, Kind, LogicalType};

/// The extension type of IP addresses: 16 bytes, IPv4 as `::ffff:a.b.c.d`.
pub const IP_EXTENSION: &str = "docvalues.ip";

/// Arrow's canonical extension type of UUIDs.
const UUID_EXTENSION: &str = "arrow.uuid";

/// The layout of arrays of strings and bytes: [`Batches::strings_as`](crate::arrow::Batches::strings_as). It does not matter to
/// lists, nor to values of 16 bytes each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StringLayout {
    /// The bytes of each row one after the other: utf8 and binary.
    #[default]
    Offsets,
    /// Views of bytes, which rows with the same string of a sorted column share: utf8-view and binary-view. DataFusion
    /// groups and joins by them fastest.
    Views,
    /// For sorted columns, positions in a dictionary, a separate one for each batch, otherwise as [`Offsets`](Self::Offsets).
    /// They are as small as the column. Arrow IPC files, which need one dictionary for all batches, do not accept them.
    Dictionary,
}

/// The Arrow field that [`Batches`](crate::arrow::Batches) have for a column: a list for a kind with several values, and an
/// extension type for UUIDs.
pub fn arrow_field(field: &Field, nullable: bool, strings: StringLayout) -> ArrowField {
    if field.kind.is_multi_valued() {
        let item = Arc::new(scalar("item", field.logical, false));
        return ArrowField::new(&field.name, DataType::List(item), nullable);
    }
    let scalar = scalar(&field.name, field.logical, nullable);
    let ty = match (scalar.data_type(), strings) {
        (DataType::Utf8, StringLayout::Views) => DataType::Utf8View,
        (DataType::Binary, StringLayout::Views) => DataType::BinaryView,
        (ty @ (DataType::Utf8 | DataType::Binary), StringLayout::Dictionary)
            if field.kind == Kind::Sorted =>
        {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(ty.clone()))
        }
        _ => return scalar,
    };
    scalar.with_data_type(ty)
}

fn scalar(name: &str, logical: LogicalType, nullable: bool) -> ArrowField {
    let field = ArrowField::new(name, data_type(logical), nullable);
    let extension = match logical {
        LogicalType::Ip => IP_EXTENSION,
        LogicalType::Uuid => UUID_EXTENSION,
        _ => return field,
    };
    field.with_metadata(HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_owned(), extension.to_owned())]))
}

/// The type of a single value.
fn data_type(logical: LogicalType) -> DataType {
    let timestamp = |unit| DataType::Timestamp(unit, Some("UTC".into()));
    match logical {
        LogicalType::U64 => DataType::UInt64,
        LogicalType::F64 => DataType::Float64,
        LogicalType::Bool => DataType::Boolean,
        LogicalType::Date => DataType::Date32,
        LogicalType::TimestampMillis => timestamp(TimeUnit::Millisecond),
        LogicalType::TimestampMicros => timestamp(TimeUnit::Microsecond),
        LogicalType::TimestampNanos => timestamp(TimeUnit::Nanosecond),
        LogicalType::Ip | LogicalType::Uuid => DataType::FixedSizeBinary(16),
        LogicalType::Utf8 => DataType::Utf8,
        // As stored.
        _ if logical.is_bytes() => DataType::Binary,
        _ => DataType::Int64,
    }
}
