//! Kinds of columns and logical types.
//!
//! A column stores 64-bit numbers or byte strings. Its [`LogicalType`] is the type of the values before they were
//! stored; [`stored`](crate::stored) maps numbers of a type to stored numbers.

use std::net::IpAddr;

use crate::named::named;

pub use crate::stored::{f64_range, from_f64, from_u64, to_f64, to_u64};

named! {
    /// The number of values a document may have, and their storage form. The discriminants are stored in files.
    ///
    /// A `match` may be exhaustive: another kind requires a new major release. A new [`LogicalType`] does not.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum Kind {
        /// At most one 64-bit number a document.
        Numeric = 0 => "numeric",
        /// At most one byte string a document.
        Binary = 1 => "binary",
        /// At most one byte string a document, stored as an ord of a sorted dictionary.
        Sorted = 2 => "sorted",
        /// Any number of 64-bit numbers a document, in ascending order, with duplicates.
        SortedNumeric = 3 => "sorted-numeric",
        /// A set of byte strings a document, stored as ascending ords.
        SortedSet = 4 => "sorted-set",
    }
}

impl Kind {
    /// Whether a document may have more than one value.
    pub const fn is_multi_valued(self) -> bool {
        matches!(self, Kind::SortedNumeric | Kind::SortedSet)
    }

    /// Whether the values are byte strings.
    pub const fn is_bytes(self) -> bool {
        matches!(self, Kind::Binary | Kind::Sorted | Kind::SortedSet)
    }
}

named! {
    /// The type of a column's values before they were stored. The discriminants are stored in files.
    ///
    /// | type | stored as | order preserved |
    /// | --- | --- | --- |
    /// | `I64` | itself | yes |
    /// | `U64` | [`from_u64`] | yes |
    /// | `F64` | [`from_f64`]: every bit pattern survives | yes; −0.0 just before 0.0, NaN at the ends |
    /// | `Bool` | 0 or 1 | yes |
    /// | `Date` | days since 1970-01-01 | yes |
    /// | `TimestampMillis`, `…Micros`, `…Nanos` | units since 1970-01-01T00:00:00Z | yes |
    /// | `Ip` | 16 bytes, IPv4 as `::ffff:a.b.c.d` | yes |
    /// | `Uuid` | 16 bytes: any 128-bit id, big-endian | yes |
    /// | `Utf8` | its bytes | by code point |
    /// | `Bytes` | itself | yes |
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum LogicalType {
        /// A signed integer.
        I64 = 0 => "i64",
        /// An unsigned integer.
        U64 = 1 => "u64",
        /// A double.
        F64 = 2 => "f64",
        /// True or false.
        Bool = 3 => "bool",
        /// A day of the proleptic Gregorian calendar.
        Date = 4 => "date",
        /// A moment, to the millisecond.
        TimestampMillis = 5 => "timestamp[ms]",
        /// A moment, to the microsecond.
        TimestampMicros = 6 => "timestamp[us]",
        /// A moment, to the nanosecond.
        TimestampNanos = 7 => "timestamp[ns]",
        /// An IPv4 or IPv6 address.
        Ip = 8 => "ip",
        /// A 128-bit id.
        Uuid = 9 => "uuid",
        /// Text.
        Utf8 = 10 => "string",
        /// Any bytes.
        Bytes = 11 => "bytes",
    }
}

impl LogicalType {
    /// Whether values are stored as byte strings, and not as 64-bit numbers.
    pub const fn is_bytes(self) -> bool {
        matches!(self, LogicalType::Ip | LogicalType::Uuid | LogicalType::Utf8 | LogicalType::Bytes)
    }

    /// The length of every value in bytes, if the type fixes it.
    pub const fn fixed_len(self) -> Option<u32> {
        match self {
            LogicalType::Ip | LogicalType::Uuid => Some(16),
            _ => None,
        }
    }

    /// Parses a value of 16 bytes: an IP address, with IPv4 mapped to `::ffff:a.b.c.d`, or a UUID of 32 hexadecimal
    /// digits, with or without dashes as 8-4-4-4-12. Returns `None` for other texts, and for types without a fixed
    /// length.
    ///
    /// ```
    /// use docvalues_format::file::kind::LogicalType;
    ///
    /// let address = LogicalType::Ip.parse_fixed("10.0.0.1");
    /// assert!(address.is_some() && address == LogicalType::Ip.parse_fixed("::ffff:10.0.0.1"));
    /// let id = LogicalType::Uuid.parse_fixed("00000000-0000-0000-0000-0000000000FF");
    /// assert_eq!(id, Some(255_u128.to_be_bytes()));
    /// assert_eq!(LogicalType::Uuid.parse_fixed("0000000000000000-0000000000000000"), None);
    /// ```
    pub fn parse_fixed(self, text: &str) -> Option<[u8; 16]> {
        match self {
            LogicalType::Ip => Some(match text.parse().ok()? {
                IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                IpAddr::V6(address) => address.octets(),
            }),
            LogicalType::Uuid => {
                let groups = text.split('-').map(str::len);
                let is_whole = groups.clone().eq([32_usize]) || groups.eq([8_usize, 4, 4, 4, 12]);
                let mut digits = text.chars().filter(|c| *c != '-').map(|c| c.to_digit(16));
                let number = digits.try_fold(0_u128, |number, digit| Some(number << 4 | u128::from(digit?)));
                number.filter(|_| is_whole).map(u128::to_be_bytes)
            }
            _ => None,
        }
    }

    /// Whether a column of `kind` can hold this type.
    pub const fn fits(self, kind: Kind) -> bool {
        self.is_bytes() == kind.is_bytes()
    }
}
