//! The columns of an Arrow schema, and the type that each has in a segment.

use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, TimeUnit};
use docvalues_format::file::kind::LogicalType;

use super::flat::plain;

/// The extension type of IP addresses: 16 bytes, IPv4 as `::ffff:a.b.c.d`.
const IP_EXTENSION: &str = "docvalues.ip";

/// Arrow's own extension type.
const UUID_EXTENSION: &str = "arrow.uuid";

/// The most levels of structs that become columns.
const DEPTH: usize = 64;

/// A column of an Arrow schema: a field, or a field of a struct.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Its name, prefixed by those of its structs: `a.b`.
    pub name: String,
    /// The index of the column, then of the field in each nested struct.
    pub path: Vec<usize>,
    /// The name of its Arrow type.
    pub called: String,
    /// Its values in a segment.
    pub holds: Holds,
}

/// The type of an Arrow column in a segment: [`Leaf::holds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Values of a type, one or a list for each document.
    Values {
        /// The type.
        logical: LogicalType,
        /// Whether they are lists.
        multi_valued: bool,
    },
    /// No values: the type is null.
    Nothing,
    /// Values that no column can hold.
    Other,
}

impl Leaf {
    /// The column's array in `batch`, decoded; a row is null if one of its structs is.
    ///
    /// # Errors
    ///
    /// The batch lacks the column, or is invalid.
    pub fn array(&self, batch: &RecordBatch) -> Result<ArrayRef, ArrowError> {
        let missing = || ArrowError::SchemaError(format!("a batch has no column {:?}", self.name));
        let mut path = self.path.iter();
        let mut array = path.next().and_then(|at| batch.columns().get(*at)).cloned().ok_or_else(missing)?;
        for at in path {
            let (_, fields) = array.as_struct_opt().ok_or_else(missing)?.flatten();
            array = fields.get(*at).cloned().ok_or_else(missing)?;
        }
        plain(&array)
    }
}

/// The columns of a schema, depth first: a struct is replaced by its fields.
pub fn leaves(schema: &Schema) -> Vec<Leaf> {
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
    let (item, multi_valued) = match field.data_type() {
        D::Null => return Holds::Nothing,
        D::List(item) | D::LargeList(item) | D::FixedSizeList(item, _) => (item.as_ref(), true),
        D::ListView(item) | D::LargeListView(item) => (item.as_ref(), true),
        _ => (field, false),
    };
    match natural(item.data_type(), extension(item)) {
        Some(logical) => Holds::Values { logical, multi_valued },
        None => Holds::Other,
    }
}

/// The type of 16 bytes with an extension type of Arrow.
fn extension(field: &Field) -> Option<LogicalType> {
    match field.metadata().get(EXTENSION_TYPE_NAME_KEY)?.as_str() {
        UUID_EXTENSION => Some(LogicalType::Uuid),
        IP_EXTENSION => Some(LogicalType::Ip),
        _ => None,
    }
}

/// The type in a segment of an Arrow scalar type, as [`field_specs`](super::field_specs) chooses it.
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
