//! [`Value`]: a single value, in the type of its column.

use std::cmp::Ordering;
use std::fmt::{self, Display};
use std::hash::{Hash, Hasher};

use docvalues_format::file::kind::LogicalType;

use crate::{Date, Number, TimestampMicros, TimestampMillis, TimestampNanos};

/// A value of a column, in the column's type; results of searches hold them.
///
/// Values of one type compare as in their column. Doubles compare by IEEE 754's *totalOrder*: a NaN equals itself, and
/// −0.0 is below 0.0. Values of different types compare by type.
///
/// ```
/// use docvalues_column::{LogicalType, Value};
///
/// let price = Value::from(9.5);
/// assert_eq!(price, Value::of(LogicalType::F64, price.stored().unwrap()));
/// assert_eq!(price.logical(), LogicalType::F64);
/// assert!(Value::from(-1.0) < price);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// A signed integer.
    I64(i64),
    /// An unsigned integer.
    U64(u64),
    /// A double.
    F64(f64),
    /// A boolean.
    Bool(bool),
    /// A date.
    Date(Date),
    /// A timestamp in milliseconds.
    TimestampMillis(TimestampMillis),
    /// A timestamp in microseconds.
    TimestampMicros(TimestampMicros),
    /// A timestamp in nanoseconds.
    TimestampNanos(TimestampNanos),
    /// A byte string: text, an IP address, a UUID or any bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// Decodes a stored number of a column of type `logical`.
    pub fn of(logical: LogicalType, stored: i64) -> Value {
        match logical {
            LogicalType::U64 => Value::U64(Number::from_stored(stored)),
            LogicalType::F64 => Value::F64(Number::from_stored(stored)),
            LogicalType::Bool => Value::Bool(Number::from_stored(stored)),
            LogicalType::Date => Value::Date(Number::from_stored(stored)),
            LogicalType::TimestampMillis => Value::TimestampMillis(Number::from_stored(stored)),
            LogicalType::TimestampMicros => Value::TimestampMicros(Number::from_stored(stored)),
            LogicalType::TimestampNanos => Value::TimestampNanos(Number::from_stored(stored)),
            _ => Value::I64(stored),
        }
    }

    /// The type that it was made of; [`LogicalType::Bytes`] for any byte string.
    pub fn logical(&self) -> LogicalType {
        match self {
            Value::I64(_) => LogicalType::I64,
            Value::U64(_) => LogicalType::U64,
            Value::F64(_) => LogicalType::F64,
            Value::Bool(_) => LogicalType::Bool,
            Value::Date(_) => LogicalType::Date,
            Value::TimestampMillis(_) => LogicalType::TimestampMillis,
            Value::TimestampMicros(_) => LogicalType::TimestampMicros,
            Value::TimestampNanos(_) => LogicalType::TimestampNanos,
            Value::Bytes(_) => LogicalType::Bytes,
        }
    }

    /// The stored form of a number; `None` for a byte string.
    pub fn stored(&self) -> Option<i64> {
        Some(match self {
            Value::I64(value) => value.to_stored(),
            Value::U64(value) => value.to_stored(),
            Value::F64(value) => value.to_stored(),
            Value::Bool(value) => value.to_stored(),
            Value::Date(value) => value.to_stored(),
            Value::TimestampMillis(value) => value.to_stored(),
            Value::TimestampMicros(value) => value.to_stored(),
            Value::TimestampNanos(value) => value.to_stored(),
            Value::Bytes(_) => return None,
        })
    }

    /// The byte string, if it is one.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// The sort key: first by type, with byte strings last.
    fn key(&self) -> (u8, Option<i64>, Option<&[u8]>) {
        let rank = match self {
            Value::I64(_) => 0,
            Value::U64(_) => 1,
            Value::F64(_) => 2,
            Value::Bool(_) => 3,
            Value::Date(_) => 4,
            Value::TimestampMillis(_) => 5,
            Value::TimestampMicros(_) => 6,
            Value::TimestampNanos(_) => 7,
            Value::Bytes(_) => 8,
        };
        (rank, self.stored(), self.as_bytes())
    }
}

/// Dates and timestamps as days or units since 1970-01-01; byte strings as text, with `\u{FFFD}` for what is no UTF-8.
impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::I64(value) => value.fmt(f),
            Value::U64(value) => value.fmt(f),
            Value::F64(value) => value.fmt(f),
            Value::Bool(value) => value.fmt(f),
            Value::Date(date) => date.to_stored().fmt(f),
            Value::TimestampMillis(time) => time.to_stored().fmt(f),
            Value::TimestampMicros(time) => time.to_stored().fmt(f),
            Value::TimestampNanos(time) => time.to_stored().fmt(f),
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).fmt(f),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

macro_rules! from {
    ($($variant:ident: $of:ty),*) => {$(
        impl From<$of> for Value {
            fn from(value: $of) -> Value {
                Value::$variant(value)
            }
        }
    )*};
}

from! {
    I64: i64, U64: u64, F64: f64, Bool: bool, Date: Date, TimestampMillis: TimestampMillis,
    TimestampMicros: TimestampMicros, TimestampNanos: TimestampNanos, Bytes: Vec<u8>
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Bytes(value.into())
    }
}
