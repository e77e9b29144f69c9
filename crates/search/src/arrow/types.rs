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

/// The Arrow field of a column. It is a dictionary if `dictionaries` is set and the column can have one.
pub fn arrow_field(field: &Field, nullable: bool, dictionaries: bool) -> ArrowField {
    if field.kind.is_multi_valued() {
        let item = Arc::new(scalar("item", field.logical, false));
        return ArrowField::new(&field.name, DataType::List(item), nullable);
    }
    let scalar = scalar(&field.name, field.logical, nullable);
    if dictionaries && has_dictionary(field) {
        let values = Box::new(scalar.data_type().clone());
        return scalar.with_data_type(DataType::Dictionary(Box::new(DataType::Int32), values));
    }
    scalar
}

/// Whether the strings of a column are exported as a dictionary. For 16-byte values, a 4-byte index saves too little.
pub(super) fn has_dictionary(field: &Field) -> bool {
    field.kind == Kind::Sorted && matches!(field.logical, LogicalType::Utf8 | LogicalType::Bytes)
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
