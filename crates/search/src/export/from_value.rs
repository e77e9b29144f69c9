//! [`FromValue`]: values of rows as Rust types.

use std::net::{IpAddr, Ipv6Addr};

use docvalues_column::{Date, LogicalType, Number, TimestampMicros, TimestampMillis, TimestampNanos, Value};

use super::chunk::Cell;

/// A type that a value of a row is read as, by [`Row::get`](super::Row::get).
///
/// Nothing is lost: a value that the type does not hold is an error that names both.
///
/// | type | of columns |
/// | --- | --- |
/// | `i32`, `u32`, `i64`, `u64` | `i64` and `u64`, if the number is in its range |
/// | `f64` | `f64`; `i64` and `u64` up to ±2⁵³ |
/// | `bool`, [`Date`], [`TimestampMillis`], [`TimestampMicros`], [`TimestampNanos`] | its own |
/// | `&str`, `String` | text |
/// | `&[u8]`, `Vec<u8>` | byte strings of any type, as they are stored |
/// | [`IpAddr`] | addresses; IPv4-mapped ones are IPv4 |
/// | `u128` | UUIDs |
/// | `Option<T>` | those of `T`; `None` is a missing value |
/// | `Vec<T>` | those of `T`, with any number of values |
///
/// ```
/// # use docvalues_column::{DocId, Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_search::Search;
///
/// # let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let source = MemSource::new(2, [(field, ModelColumn::Numeric(vec![Some(-512), None]))]);
/// let mut retriever = Search::new(&source).retriever(&["size"])?;
/// let page = retriever.retrieve(&[0, 1].map(DocId::new))?;
/// assert_eq!(page.row(0).get::<f64>(0)?, -512.0);
/// assert_eq!(page.row(1).get::<Option<i64>>(0)?, None);
/// let error = page.row(0).get::<u64>(0).unwrap_err().to_string();
/// assert_eq!(error, "column \"size\": document 0 of part 0 has i64 -512, which u64 does not hold");
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type that values of rows are read as",
    note = "`FromValue` has a table of these types"
)]
pub trait FromValue<'a>: Sized {
    /// The value of a cell of a column of type `logical`.
    ///
    /// # Errors
    ///
    /// The reason why it is not of this type, as a verb phrase.
    fn from_value(logical: LogicalType, cell: Cell<'a>) -> Result<Self, String>;
}

/// The error of a value that `asked` does not hold.
#[cold]
fn refuse<T>(logical: LogicalType, cell: &Cell<'_>, asked: &str) -> Result<T, String> {
    let ty = logical.name();
    let found = match cell {
        Cell::Missing => "no value".into(),
        Cell::Numbers(_) | Cell::Terms(_) => format!("a list of {ty}"),
        Cell::Number(stored) => format!("{ty} {}", Value::of(logical, *stored)),
        Cell::Bytes(_) => format!("a {ty}"),
    };
    Err(format!("has {found}, which {asked} does not hold"))
}

/// The number of a cell of integers.
#[inline]
fn integer(logical: LogicalType, cell: &Cell<'_>) -> Option<i128> {
    match (logical, cell) {
        (LogicalType::I64, Cell::Number(stored)) => Some(i128::from(*stored)),
        (LogicalType::U64, Cell::Number(stored)) => Some(i128::from(u64::from_stored(*stored))),
        _ => None,
    }
}

macro_rules! integers {
    ($($of:ty),*) => {$(
        impl FromValue<'_> for $of {
            #[inline]
            fn from_value(logical: LogicalType, cell: Cell<'_>) -> Result<$of, String> {
                let number = integer(logical, &cell).and_then(|number| <$of>::try_from(number).ok());
                number.map_or_else(|| refuse(logical, &cell, stringify!($of)), Ok)
            }
        }
    )*};
}

integers!(i32, u32, i64, u64);

impl FromValue<'_> for f64 {
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "none is lost up to 2^53")]
    fn from_value(logical: LogicalType, cell: Cell<'_>) -> Result<f64, String> {
        match (&cell, integer(logical, &cell)) {
            (Cell::Number(stored), None) if logical == LogicalType::F64 => Ok(f64::from_stored(*stored)),
            (_, Some(number)) if number.unsigned_abs() <= 1 << 53 => Ok(number as f64),
            _ => refuse(logical, &cell, "f64"),
        }
    }
}

macro_rules! numbers {
    ($($of:ty),*) => {$(
        impl FromValue<'_> for $of {
            #[inline]
            fn from_value(logical: LogicalType, cell: Cell<'_>) -> Result<$of, String> {
                match cell {
                    Cell::Number(stored) if logical == <$of as Number>::LOGICAL => Ok(Number::from_stored(stored)),
                    _ => refuse(logical, &cell, <$of as Number>::LOGICAL.name()),
                }
            }
        }
    )*};
}

numbers!(bool, Date, TimestampMillis, TimestampMicros, TimestampNanos);

impl<'a> FromValue<'a> for &'a [u8] {
    #[inline]
    fn from_value(logical: LogicalType, cell: Cell<'a>) -> Result<&'a [u8], String> {
        if let Cell::Bytes(bytes) = cell { Ok(bytes) } else { refuse(logical, &cell, "&[u8]") }
    }
}

impl FromValue<'_> for Vec<u8> {
    fn from_value(logical: LogicalType, cell: Cell<'_>) -> Result<Vec<u8>, String> {
        <&[u8]>::from_value(logical, cell).map(<[u8]>::to_vec)
    }
}

impl<'a> FromValue<'a> for &'a str {
    #[inline]
    fn from_value(logical: LogicalType, cell: Cell<'a>) -> Result<&'a str, String> {
        match cell {
            Cell::Bytes(bytes) if logical == LogicalType::Utf8 => {
                std::str::from_utf8(bytes).map_err(|_| "has text that is not UTF-8".to_owned())
            }
            _ => refuse(logical, &cell, "&str"),
        }
    }
}

impl FromValue<'_> for String {
    fn from_value(logical: LogicalType, cell: Cell<'_>) -> Result<String, String> {
        <&str>::from_value(logical, cell).map(str::to_owned)
    }
}

/// The 16 bytes of a cell of type `of`.
fn sixteen(of: LogicalType, logical: LogicalType, cell: &Cell<'_>) -> Result<[u8; 16], String> {
    let bytes = if let Cell::Bytes(bytes) = cell { <[u8; 16]>::try_from(*bytes).ok() } else { None };
    bytes.filter(|_| logical == of).map_or_else(|| refuse(logical, cell, of.name()), Ok)
}

impl FromValue<'_> for IpAddr {
    fn from_value(logical: LogicalType, cell: Cell<'_>) -> Result<IpAddr, String> {
        sixteen(LogicalType::Ip, logical, &cell).map(|octets| Ipv6Addr::from(octets).to_canonical())
    }
}

impl FromValue<'_> for u128 {
    fn from_value(logical: LogicalType, cell: Cell<'_>) -> Result<u128, String> {
        sixteen(LogicalType::Uuid, logical, &cell).map(u128::from_be_bytes)
    }
}

impl<'a, T: FromValue<'a>> FromValue<'a> for Option<T> {
    #[inline]
    fn from_value(logical: LogicalType, cell: Cell<'a>) -> Result<Option<T>, String> {
        if let Cell::Missing = cell { Ok(None) } else { T::from_value(logical, cell).map(Some) }
    }
}

/// A missing value is an empty list.
impl<'a, T: FromValue<'a>> FromValue<'a> for Vec<T> {
    fn from_value(logical: LogicalType, cell: Cell<'a>) -> Result<Vec<T>, String> {
        match cell {
            Cell::Missing => Ok(Vec::new()),
            Cell::Numbers(numbers) => {
                numbers.iter().map(|number| T::from_value(logical, Cell::Number(*number))).collect()
            }
            Cell::Terms(terms) => terms.map(|term| T::from_value(logical, Cell::Bytes(term))).collect(),
            one => T::from_value(logical, one).map(|value| vec![value]),
        }
    }
}
