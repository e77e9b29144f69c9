//! Literals of queries, before the column's type is known.

use std::fmt::{self, Write as _};
use std::net::IpAddr;

/// A value to compare with.
///
/// Binding the query converts it to a stored value of the column's type.
///
/// ```
/// use docvalues_search::Query;
/// use docvalues_search::query::Literal;
///
/// assert_eq!(Literal::from("a.example"), Literal::Text("a.example".into()));
/// // One query for any type: text is a host, a day or an address, as the column says.
/// let queries = [Query::eq("host", "a.example"), Query::eq("day", "2024-01-31"), Query::eq("client", "10.0.0.0/8")];
/// # assert_eq!(queries.len(), 3);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Literal {
    /// An integer: any `i64` or `u64`, and beyond.
    Int(i128),
    /// A double.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// Text, including days, times, addresses, networks and UUIDs in text form.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Literal {
    /// Parses a bare value: a number as in queries, such as `1_000`, `2.5e3` or `10MiB`, or else text.
    ///
    /// ```
    /// use docvalues_search::query::Literal;
    ///
    /// assert_eq!(Literal::read("10KiB"), Literal::Int(10_240));
    /// assert_eq!(Literal::read("2024-01-31"), Literal::from("2024-01-31"));
    /// ```
    pub fn read(text: &str) -> Literal {
        super::tokens::as_number(text).unwrap_or_else(|| Literal::Text(text.into()))
    }
}

/// Doubles are equal if their bits are: -0.0 and 0.0 differ, NaN equals NaN.
impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        match (self, other) {
            (Literal::Int(a), Literal::Int(b)) => a == b,
            (Literal::Float(a), Literal::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Literal::Bool(a), Literal::Bool(b)) => a == b,
            (Literal::Text(a), Literal::Text(b)) => a == b,
            (Literal::Bytes(a), Literal::Bytes(b)) => a == b,
            _ => false,
        }
    }
}

/// The syntax of a query.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Int(number) => write!(f, "{number}"),
            Literal::Float(number) if number.is_nan() => f.write_str("nan"),
            // With a point or an exponent, so that it stays a double.
            Literal::Float(number) => write!(f, "{number:?}"),
            Literal::Bool(value) => write!(f, "{value}"),
            Literal::Text(text) => write!(f, "\"{}\"", text.replace('"', "\"\"")),
            Literal::Bytes(bytes) => {
                f.write_str("x'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_char('\'')
            }
        }
    }
}

macro_rules! from {
    ($($variant:ident: $($type:ty),+;)+) => {
        $($(impl From<$type> for Literal {
            fn from(value: $type) -> Literal {
                Literal::$variant(value.into())
            }
        })+)+
    };
}

from! {
    Int: i8, u8, i16, u16, i32, u32, i64, u64, i128;
    Float: f64;
    Bool: bool;
    Text: &str, String;
    Bytes: &[u8], Vec<u8>;
}

impl<const N: usize> From<[u8; N]> for Literal {
    fn from(value: [u8; N]) -> Literal {
        Literal::Bytes(value.into())
    }
}

impl From<IpAddr> for Literal {
    fn from(value: IpAddr) -> Literal {
        Literal::Text(value.to_string())
    }
}
