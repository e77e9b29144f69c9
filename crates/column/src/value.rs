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

/// What each type of numbers adds to [`Value`].
macro_rules! numbers {
    ($($variant:ident: $of:ty),*) => {
        impl Value {
            /// Decodes a stored number of a column of type `logical`.
            pub fn of(logical: LogicalType, stored: i64) -> Value {
                match logical {
                    $(LogicalType::$variant => Value::$variant(Number::from_stored(stored)),)*
                    _ => Value::I64(stored),
                }
            }

            /// The type that it was made of; [`LogicalType::Bytes`] for any byte string.
            pub fn logical(&self) -> LogicalType {
                match self {
                    $(Value::$variant(_) => LogicalType::$variant,)*
                    Value::Bytes(_) => LogicalType::Bytes,
                }
            }

            /// The stored form of a number; `None` for a byte string.
            pub fn stored(&self) -> Option<i64> {
                match self {
                    $(Value::$variant(value) => Some(value.to_stored()),)*
                    Value::Bytes(_) => None,
                }
            }
        }

        $(
            impl From<$of> for Value {
                fn from(value: $of) -> Value {
                    Value::$variant(value)
                }
            }
        )*
    };
}

numbers! {
    I64: i64, U64: u64, F64: f64, Bool: bool, Date: Date, TimestampMillis: TimestampMillis,
    TimestampMicros: TimestampMicros, TimestampNanos: TimestampNanos
}

impl Value {
    /// The byte string, if it is one.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// The sort key: first by type, with byte strings last.
    fn key(&self) -> (u8, Option<i64>, Option<&[u8]>) {
        (self.logical() as u8, self.stored(), self.as_bytes())
    }
}

/// Dates and timestamps as days or units since 1970-01-01; byte strings as text, with `\u{FFFD}` for what is no UTF-8.
impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::U64(value) => value.fmt(f),
            Value::F64(value) => value.fmt(f),
            Value::Bool(value) => value.fmt(f),
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).fmt(f),
            _ => self.stored().unwrap_or_default().fmt(f),
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

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Value {
        Value::Bytes(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Bytes(value.into())
    }
}
