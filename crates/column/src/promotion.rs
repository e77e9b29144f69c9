//! Type promotion: exact conversion of stored numbers of different types to a common type.

use docvalues_format::file::kind::{LogicalType, from_f64, to_u64};

/// The common type of two types; `None` if there is no conversion.
///
/// Integers and doubles have the common type `f64`, signed and unsigned integers `i64`, and timestamps the finer of their
/// units. Every other type is common only with itself.
///
/// ```
/// use docvalues_column::{LogicalType, promotion};
///
/// assert_eq!(promotion::common(LogicalType::I64, LogicalType::F64), Some(LogicalType::F64));
/// assert_eq!(promotion::common(LogicalType::I64, LogicalType::Date), None);
/// ```
pub fn common(a: LogicalType, b: LogicalType) -> Option<LogicalType> {
    use LogicalType::{F64, I64, U64};
    match (a, b) {
        (I64 | U64, F64) | (F64, I64 | U64) => Some(F64),
        (I64, U64) | (U64, I64) => Some(I64),
        _ => match (per_second(a), per_second(b)) {
            (Some(first), Some(second)) => Some(if first < second { b } else { a }),
            _ => (a == b).then_some(a),
        },
    }
}

/// The units of a timestamp in a second; `None` for other types.
///
/// ```
/// use docvalues_column::{LogicalType, promotion};
///
/// assert_eq!(promotion::per_second(LogicalType::TimestampMillis), Some(1_000));
/// ```
pub fn per_second(logical: LogicalType) -> Option<i64> {
    match logical {
        LogicalType::TimestampMillis => Some(1_000),
        LogicalType::TimestampMicros => Some(1_000_000),
        LogicalType::TimestampNanos => Some(1_000_000_000),
        _ => None,
    }
}

/// Converts a stored number of type `from` to type `to`, as [`common`] allows; `None` if the result is not exact: a
/// double has 53 bits, and an `i64` ends at 2^63 - 1, as nanoseconds in the year 2262.
///
/// ```
/// use docvalues_column::{LogicalType, Number, promotion};
///
/// let stored = promotion::convert(3, LogicalType::I64, LogicalType::F64);
/// assert_eq!(stored, Some(3.0_f64.to_stored()));
/// assert_eq!(promotion::convert((1 << 53) + 1, LogicalType::I64, LogicalType::F64), None);
///
/// let (millis, micros) = (LogicalType::TimestampMillis, LogicalType::TimestampMicros);
/// assert_eq!(promotion::convert(-5, millis, micros), Some(-5_000));
/// ```
pub fn convert(stored: i64, from: LogicalType, to: LogicalType) -> Option<i64> {
    if from == to {
        return Some(stored);
    }
    if let (Some(from), Some(to)) = (per_second(from), per_second(to)) {
        return if from < to { stored.checked_mul(to / from) } else { None };
    }
    let value = integer(stored, from);
    if to == LogicalType::F64 { exact_f64(value).map(from_f64) } else { i64::try_from(value).ok() }
}

/// The integer that a stored number of an integer type stands for.
pub fn integer(stored: i64, logical: LogicalType) -> i128 {
    if logical == LogicalType::U64 { to_u64(stored).into() } else { i128::from(stored) }
}

/// The double that equals an integer, if there is one: the integer has at most 53 significant bits.
fn exact_f64(value: i128) -> Option<f64> {
    let magnitude = value.unsigned_abs();
    let odd = magnitude.checked_shr(magnitude.trailing_zeros()).unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "there are no more than 53 bits")]
    (odd >> f64::MANTISSA_DIGITS == 0).then_some(value as f64)
}
