//! Conversion of literals to stored values, by the column's type.
//!
//! A literal that is compared with numbers is a point on the number line: at an integer, or between two of them (1.5
//! for integers, a day and an hour for days). So nothing is rounded.

use std::net::Ipv4Addr;
use std::ops::{Bound, RangeInclusive};

use docvalues_column::LogicalType;
use docvalues_format::file::kind::{f64_range, from_u64};

use super::Literal;
use super::iso8601::{DAY, DateOrTime};
use super::range_set::{End, RangeSet, end_of_prefix, next};

/// The expected form of a literal: `a number`.
pub(crate) type Mismatch = &'static str;

/// The expected form of literals of a type.
fn expected(logical: LogicalType) -> Mismatch {
    match logical {
        LogicalType::I64 | LogicalType::U64 | LogicalType::F64 => "a number",
        LogicalType::Bool => "`true` or `false`",
        _ if nanos_of_unit(logical).is_some() => "a day or a time in ISO 8601, in quotes",
        LogicalType::Ip => "an address or a network, in quotes",
        LogicalType::Uuid => "32 hexadecimal digits, in quotes",
        LogicalType::Utf8 => "text, in quotes",
        LogicalType::Bytes => "bytes",
        _ => logical.name(),
    }
}

/// The stored numbers that equal `literal`.
pub(super) fn equal_numbers(logical: LogicalType, literal: &Literal) -> Result<RangeSet<i64>, Mismatch> {
    if let (Some(unit), Literal::Text(text)) = (nanos_of_unit(logical), literal)
        && let Some(DateOrTime::Day(day, next)) = DateOrTime::parse(text)
    {
        let (first, next) = (Point::of_nanos(day, unit), Point::of_nanos(next, unit));
        return Ok(numbers(integers(logical, Bound::Included(first), Bound::Excluded(next))));
    }
    number_range(logical, Bound::Included(literal), Bound::Included(literal))
}

/// The stored numbers between two literals.
pub(super) fn number_range(
    logical: LogicalType,
    low: Bound<&Literal>,
    high: Bound<&Literal>,
) -> Result<RangeSet<i64>, Mismatch> {
    let range = if logical == LogicalType::F64 {
        let (low, high) = (double(low, false)?, double(high, true)?);
        low.zip(high).and_then(|(low, high)| f64_range(low, high))
    } else {
        let (low, high) = (point(logical, low)?, point(logical, high)?);
        low.zip(high).and_then(|(low, high)| integers(logical, low, high))
    };
    Ok(numbers(range))
}

/// The integers of any size between two literals; `None` if there are none.
pub(super) fn wide_range(
    low: Bound<&Literal>,
    high: Bound<&Literal>,
) -> Result<Option<RangeInclusive<i128>>, Mismatch> {
    let (low, high) = (point(LogicalType::I64, low)?, point(LogicalType::I64, high)?);
    let Some((low, high)) = low.zip(high) else { return Ok(None) };
    Ok(between(low, high))
}

/// The integers between two points; `None` if there are none.
fn between(low: Bound<Point>, high: Bound<Point>) -> Option<RangeInclusive<i128>> {
    let first = match low {
        Bound::Included(point) => point.first(false),
        Bound::Excluded(point) => point.first(true),
        Bound::Unbounded => i128::MIN,
    };
    let last = match high {
        Bound::Included(point) => point.last(false),
        Bound::Excluded(point) => point.last(true),
        Bound::Unbounded => i128::MAX,
    };
    (first <= last).then_some(first..=last)
}

/// The first stored number of a range that begins at a literal; `None` if there is none.
pub(crate) fn least_number(logical: LogicalType, low: Bound<&Literal>) -> Result<Option<i64>, Mismatch> {
    if logical.is_bytes() {
        return Err("a number");
    }
    let spans = number_range(logical, low, Bound::Unbounded)?;
    Ok(spans.ranges().next().map(|range| *range.start()))
}

fn numbers(range: Option<RangeInclusive<i64>>) -> RangeSet<i64> {
    range.map_or(RangeSet::none(), RangeSet::numbers)
}

/// A point on the line of integers: at one, or between it and the next.
#[derive(Clone, Copy, Debug)]
struct Point {
    whole: i128,
    is_between: bool,
}

impl Point {
    fn at(whole: i128) -> Point {
        Point { whole, is_between: false }
    }

    /// Converts nanoseconds to another unit.
    fn of_nanos(nanos: i128, unit: i128) -> Point {
        Point { whole: nanos.div_euclid(unit), is_between: nanos.rem_euclid(unit) != 0 }
    }

    /// `None` for NaN.
    #[allow(clippy::cast_possible_truncation, reason = "what is too large stays so, and it has no fraction")]
    fn of_double(value: f64) -> Option<Point> {
        let whole = value.floor();
        (!value.is_nan()).then_some(Point { whole: whole as i128, is_between: whole != value })
    }

    /// The first integer at or above the point; above it if `beyond`.
    fn first(self, beyond: bool) -> i128 {
        self.whole.saturating_add((self.is_between || beyond).into())
    }

    /// The last integer at or below the point; below it if `below`.
    fn last(self, below: bool) -> i128 {
        self.whole.saturating_sub((!self.is_between && below).into())
    }
}

/// The point of a literal among the integers of a type; `None` for NaN.
fn point(logical: LogicalType, bound: Bound<&Literal>) -> Result<Option<Bound<Point>>, Mismatch> {
    let (Bound::Included(literal) | Bound::Excluded(literal)) = bound else {
        return Ok(Some(Bound::Unbounded));
    };
    let is_bool = logical == LogicalType::Bool;
    let found = match (literal, nanos_of_unit(logical)) {
        (Literal::Bool(value), _) if is_bool => Some(Point::at((*value).into())),
        (Literal::Int(number), _) if !is_bool => Some(Point::at(*number)),
        (Literal::Float(number), _) if !is_bool => Point::of_double(*number),
        (Literal::Text(text), Some(unit)) => {
            let when = DateOrTime::parse(text).ok_or_else(|| expected(logical))?;
            Some(Point::of_nanos(when.start(), unit))
        }
        _ => return Err(expected(logical)),
    };
    Ok(found.map(|point| bound.map(|_| point)))
}

/// The unit of a date or timestamp type in nanoseconds.
pub(super) fn nanos_of_unit(logical: LogicalType) -> Option<i128> {
    match logical {
        LogicalType::Date => Some(DAY),
        LogicalType::TimestampMillis => Some(1_000_000),
        LogicalType::TimestampMicros => Some(1_000),
        LogicalType::TimestampNanos => Some(1),
        _ => None,
    }
}

/// The stored numbers between two points.
fn integers(logical: LogicalType, low: Bound<Point>, high: Bound<Point>) -> Option<RangeInclusive<i64>> {
    let (least, most) = match logical {
        LogicalType::U64 => (0, i128::from(u64::MAX)),
        _ => (i64::MIN.into(), i64::MAX.into()),
    };
    let (low, high) = between(low, high)?.into_inner();
    let (low, high) = (low.max(least), high.min(most));
    let stored = |number: i128| match logical {
        LogicalType::U64 => u64::try_from(number).ok().map(from_u64),
        _ => i64::try_from(number).ok(),
    };
    // None if one end lies beyond the type.
    if low <= high { Some(stored(low)?..=stored(high)?) } else { None }
}

/// The first double of a range that begins at `bound`, or the last of one that `ends` there; `None` if there is none.
fn double(bound: Bound<&Literal>, ends: bool) -> Result<Option<f64>, Mismatch> {
    let (inwards, farthest): (fn(f64) -> f64, f64) =
        if ends { (f64::next_down, f64::NEG_INFINITY) } else { (f64::next_up, f64::INFINITY) };
    // The nearest double, and whether it lies inside the range.
    let (near, is_inside) = match bound {
        Bound::Unbounded => return Ok(Some(-farthest)),
        Bound::Included(Literal::Float(value)) => (*value, true),
        Bound::Excluded(Literal::Float(value)) if *value == farthest => return Ok(None),
        Bound::Excluded(Literal::Float(value)) => (*value, false),
        Bound::Included(Literal::Int(number)) | Bound::Excluded(Literal::Int(number)) => {
            let (near, order) = nearest(*number);
            let is_equal = order.is_eq() && matches!(bound, Bound::Included(_));
            (near, is_equal || if ends { order.is_lt() } else { order.is_gt() })
        }
        _ => return Err(expected(LogicalType::F64)),
    };
    Ok(Some(if is_inside { near } else { inwards(near) }))
}

/// The double nearest to an integer, and its order relative to it.
#[allow(clippy::cast_possible_truncation, reason = "2^127 alone does not fit, and is looked at first")]
fn nearest(number: i128) -> (f64, std::cmp::Ordering) {
    let near = number as f64;
    let order =
        if near >= -(i128::MIN as f64) { std::cmp::Ordering::Greater } else { (near as i128).cmp(&number) };
    (near, order)
}

/// The stored byte strings that equal `literal`.
pub(super) fn equal_strings(logical: LogicalType, literal: &Literal) -> Result<RangeSet<Vec<u8>>, Mismatch> {
    if let (LogicalType::Ip, Literal::Text(text)) = (logical, literal)
        && let Some((address, len)) = text.split_once('/')
    {
        let (low, end) = network(address, len).ok_or("a network: an address, `/` and a prefix length")?;
        return Ok(RangeSet::one(low, end));
    }
    let value = string(logical, literal)?;
    Ok(RangeSet::one(value.clone(), End::Before(next(value))))
}

/// The stored byte strings between two literals.
pub(super) fn string_range(
    logical: LogicalType,
    low: Bound<&Literal>,
    high: Bound<&Literal>,
) -> Result<RangeSet<Vec<u8>>, Mismatch> {
    let low = match low {
        Bound::Unbounded => Vec::new(),
        Bound::Included(literal) => string(logical, literal)?,
        Bound::Excluded(literal) => next(string(logical, literal)?),
    };
    let end = match high {
        Bound::Unbounded => End::Never,
        Bound::Included(literal) => End::Before(next(string(logical, literal)?)),
        Bound::Excluded(literal) => End::Before(string(logical, literal)?),
    };
    Ok(RangeSet::one(low, end))
}

/// The stored byte strings that begin with `literal`.
pub(super) fn prefixed(logical: LogicalType, literal: &Literal) -> Result<RangeSet<Vec<u8>>, Mismatch> {
    match (logical, literal) {
        (LogicalType::Utf8 | LogicalType::Bytes, Literal::Text(text)) => {
            Ok(RangeSet::prefix(text.as_bytes().to_vec()))
        }
        (_, Literal::Bytes(bytes)) => Ok(RangeSet::prefix(bytes.clone())),
        (LogicalType::Ip, _) => Err("bytes; a network is compared by `=`"),
        (LogicalType::Uuid, _) => Err("bytes, which a prefix of a uuid must be"),
        _ => Err(expected(logical)),
    }
}

/// The stored form of a value.
fn string(logical: LogicalType, literal: &Literal) -> Result<Vec<u8>, Mismatch> {
    let found = match (logical, literal) {
        (LogicalType::Utf8 | LogicalType::Bytes, Literal::Text(text)) => Some(text.as_bytes().to_vec()),
        (LogicalType::Utf8 | LogicalType::Bytes, Literal::Bytes(bytes)) => Some(bytes.clone()),
        (LogicalType::Ip, Literal::Text(text)) if text.contains('/') => {
            return Err("an address; a network is compared by `=`, `!=` and `in (…)` alone");
        }
        (LogicalType::Ip | LogicalType::Uuid, Literal::Text(text)) => {
            logical.parse_fixed(text).map(|bytes| bytes.to_vec())
        }
        (LogicalType::Ip, Literal::Bytes(bytes)) => match <[u8; 4]>::try_from(bytes.as_slice()) {
            Ok(v4) => Some(Ipv4Addr::from(v4).to_ipv6_mapped().octets().to_vec()),
            Err(_) => Some(bytes.clone()).filter(|bytes| bytes.len() == 16),
        },
        (LogicalType::Uuid, Literal::Bytes(bytes)) => Some(bytes.clone()).filter(|bytes| bytes.len() == 16),
        _ => None,
    };
    found.ok_or_else(|| expected(logical))
}

/// Parses a network. Returns its first address and the end of its range.
fn network(text: &str, len: &str) -> Option<(Vec<u8>, End<Vec<u8>>)> {
    let bytes = LogicalType::Ip.parse_fixed(text)?;
    // An IPv4 address comes after so many bits.
    let before = if text.contains(':') { 0 } else { 96_u32 };
    let len: u32 = len.parse().ok().filter(|_| len.bytes().all(|byte| byte.is_ascii_digit()))?;
    let bits = before.checked_add(len).filter(|&bits| bits <= 128)?;
    let rest = u128::MAX.checked_shr(bits).unwrap_or(0);
    let first = u128::from_be_bytes(bytes) & !rest;
    let last = (first | rest).to_be_bytes();
    Some((first.to_be_bytes().to_vec(), end_of_prefix(&last)))
}
