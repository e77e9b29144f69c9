//! The columns of a schema, and which type of a segment each one's values have.
//!
//! | Arrow | type | remarks |
//! | --- | --- | --- |
//! | bool | `bool` | |
//! | int8 to int64 | `i64` | |
//! | uint8 to uint64 | `u64` | |
//! | float16, 32, 64 | `f64` | exactly |
//! | utf8, large, view | `string` | |
//! | binary, large, view, fixed | `bytes` | `uuid` or `ip`, if the extension type `arrow.uuid` or `docvalues.ip` says so |
//! | date32, date64 | `date` | a date64 within a day is refused |
//! | timestamp | `timestamp[ms]`, `[us]`, `[ns]` | seconds in milliseconds; without a zone, a time is UTC |
//! | time32, time64, duration | `i64` | counts of their unit |
//! | decimal32, 64, 128 | `f64`, `i64` if none has a fraction | a value that would not come out again is refused |
//! | dictionary, run-end-encoded | that of their values | |
//! | list, large, view, fixed-size | several values | without a value: missing |
//! | struct | a column for each field, with dotted names | as objects of JSON |
//! | null | a column without values | |

use arrow_schema::extension::{EXTENSION_TYPE_NAME_KEY, ExtensionType as _, Uuid};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};

use crate::input::types::ColumnType;
use crate::store::{IP_EXTENSION, LogicalType};

/// Levels of structs that are opened.
const DEPTH: usize = 64;

/// A column of a file.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// With the names of the structs that it lies in before its own.
    pub(crate) name: String,
    /// The place of the column, then of the field in each struct.
    pub(crate) path: Vec<usize>,
    /// What the file calls its type.
    pub(crate) called: String,
    pub(crate) holds: Holds,
}

/// What a column of a file holds, for a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Values of this type.
    Values(ColumnType),
    /// No values.
    Nothing,
    /// What no column of a segment can.
    Other,
}

/// The columns of a schema, in order.
pub(crate) fn leaves(schema: &Schema) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    open(schema.fields(), "", &[], &mut leaves);
    leaves
}

fn open(fields: &Fields, prefix: &str, path: &[usize], leaves: &mut Vec<Leaf>) {
    for (index, field) in fields.iter().enumerate() {
        let name = format!("{prefix}{}", field.name());
        let path = [path, &[index]].concat();
        match field.data_type() {
            DataType::Struct(fields) if path.len() < DEPTH => {
                open(fields, &format!("{name}."), &path, leaves);
            }
            called => {
                let holds = holds(field);
                leaves.push(Leaf { name, path, called: called.to_string(), holds });
            }
        }
    }
}

fn holds(field: &Field) -> Holds {
    use DataType as D;
    let (item, multi) = match field.data_type() {
        D::Null => return Holds::Nothing,
        D::List(item) | D::LargeList(item) | D::FixedSizeList(item, _) => (item.as_ref(), true),
        D::ListView(item) | D::LargeListView(item) => (item.as_ref(), true),
        _ => (field, false),
    };
    match natural(item.data_type(), extension(item)) {
        Some(logical) => Holds::Values(ColumnType { multi, ..ColumnType::single(logical) }),
        None => Holds::Other,
    }
}

/// What an extension type makes of 16 bytes.
fn extension(field: &Field) -> Option<LogicalType> {
    match field.metadata().get(EXTENSION_TYPE_NAME_KEY)?.as_str() {
        Uuid::NAME => Some(LogicalType::Uuid),
        IP_EXTENSION => Some(LogicalType::Ip),
        _ => None,
    }
}

/// The type of a segment for values of a scalar type.
fn natural(scalar: &DataType, extension: Option<LogicalType>) -> Option<LogicalType> {
    use DataType as D;
    Some(match scalar {
        D::Boolean => LogicalType::Bool,
        D::Int8 | D::Int16 | D::Int32 | D::Int64 => LogicalType::I64,
        D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64 => LogicalType::U64,
        D::Float16 | D::Float32 | D::Float64 => LogicalType::F64,
        D::Utf8 | D::LargeUtf8 | D::Utf8View => LogicalType::Utf8,
        D::FixedSizeBinary(16) => extension.unwrap_or(LogicalType::Bytes),
        D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => LogicalType::Bytes,
        D::Date32 | D::Date64 => LogicalType::Date,
        D::Timestamp(TimeUnit::Second | TimeUnit::Millisecond, _) => LogicalType::TimestampMillis,
        D::Timestamp(TimeUnit::Microsecond, _) => LogicalType::TimestampMicros,
        D::Timestamp(TimeUnit::Nanosecond, _) => LogicalType::TimestampNanos,
        D::Time32(_) | D::Time64(_) | D::Duration(_) => LogicalType::I64,
        D::Decimal32(_, scale) | D::Decimal64(_, scale) | D::Decimal128(_, scale) => match scale {
            1.. => LogicalType::F64,
            _ => LogicalType::I64,
        },
        D::Dictionary(_, values) => return natural(values, extension),
        D::RunEndEncoded(_, values) => return natural(values.data_type(), extension),
        _ => return None,
    })
}
