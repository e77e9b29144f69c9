//! The [`Number`] trait: Rust types of numeric columns, and their stored form.

use std::fmt;
use std::ops::{Bound, RangeBounds, RangeInclusive};

use docvalues_format::file::kind::{LogicalType, f64_range, from_f64, from_u64, to_f64, to_u64};

use crate::{ColumnInfo, ErrorKind, Result};

/// A type of numbers that columns store as `i64`, by an order-preserving transform.
///
/// ```
/// use docvalues_column::Number;
///
/// assert!(u64::MAX.to_stored() > 0_u64.to_stored());
/// assert_eq!(f64::from_stored((-1.5).to_stored()), -1.5);
/// assert_eq!(i64::stored_range(&(1..9)), 1..=8);
/// ```
pub trait Number: Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The logical type of columns of this type.
    const LOGICAL: LogicalType;

    /// The stored form of the value.
    fn to_stored(self) -> i64;

    /// The value of a stored form.
    fn from_stored(stored: i64) -> Self;

    /// The values as stored numbers, if the two have the same representation.
    #[doc(hidden)]
    fn as_stored(_values: &mut [Self]) -> Option<&mut [i64]> {
        None
    }

    /// Stored numbers as values, if the two have the same representation.
    #[doc(hidden)]
    fn of_stored(_stored: &[i64]) -> Option<&[Self]> {
        None
    }

    /// The stored forms of the values in `range`; an empty range if no value is in it.
    fn stored_range(range: &impl RangeBounds<Self>) -> RangeInclusive<i64> {
        let none = RangeInclusive::new(i64::MAX, i64::MIN);
        let low = match range.start_bound() {
            Bound::Included(low) => Some(low.to_stored()),
            Bound::Excluded(below) => below.to_stored().checked_add(1),
            Bound::Unbounded => Some(i64::MIN),
        };
        let high = match range.end_bound() {
            Bound::Included(high) => Some(high.to_stored()),
            Bound::Excluded(above) => above.to_stored().checked_sub(1),
            Bound::Unbounded => Some(i64::MAX),
        };
        low.zip(high).map_or(none, |(low, high)| low..=high)
    }

    /// Checks that a column of `source` has this type.
    ///
    /// # Errors
    ///
    /// [`WrongType`](ErrorKind::WrongType), which names both types, if it has another.
    fn check(source: &str, info: &ColumnInfo) -> Result<()> {
        let found = info.field.logical;
        if found == Self::LOGICAL {
            return Ok(());
        }
        let (file, field) = (source.to_owned(), info.field.name.clone());
        Err(ErrorKind::WrongType { file, field, found, asked: Self::LOGICAL }.into())
    }
}

impl Number for i64 {
    const LOGICAL: LogicalType = LogicalType::I64;

    #[inline]
    fn to_stored(self) -> i64 {
        self
    }

    #[inline]
    fn from_stored(stored: i64) -> i64 {
        stored
    }

    fn as_stored(values: &mut [i64]) -> Option<&mut [i64]> {
        Some(values)
    }

    fn of_stored(stored: &[i64]) -> Option<&[i64]> {
        Some(stored)
    }
}

impl Number for u64 {
    const LOGICAL: LogicalType = LogicalType::U64;

    #[inline]
    fn to_stored(self) -> i64 {
        from_u64(self)
    }

    #[inline]
    fn from_stored(stored: i64) -> u64 {
        to_u64(stored)
    }
}

/// In ranges, −0.0 equals 0.0, and no range contains NaN: `x..` ends at infinity.
impl Number for f64 {
    const LOGICAL: LogicalType = LogicalType::F64;

    #[inline]
    fn to_stored(self) -> i64 {
        from_f64(self)
    }

    #[inline]
    fn from_stored(stored: i64) -> f64 {
        to_f64(stored)
    }

    fn stored_range(range: &impl RangeBounds<f64>) -> RangeInclusive<i64> {
        // `f64_range` takes inclusive bounds, so an excluded bound becomes the next double up or down.
        let low = match range.start_bound() {
            Bound::Included(&low) => low,
            Bound::Excluded(&below) => below.next_up(),
            Bound::Unbounded => f64::NEG_INFINITY,
        };
        let high = match range.end_bound() {
            Bound::Included(&high) => high,
            Bound::Excluded(&above) => above.next_down(),
            Bound::Unbounded => f64::INFINITY,
        };
        let is_beyond = range.start_bound() == Bound::Excluded(&f64::INFINITY)
            || range.end_bound() == Bound::Excluded(&f64::NEG_INFINITY);
        let found = if is_beyond { None } else { f64_range(low, high) };
        found.unwrap_or(RangeInclusive::new(i64::MAX, i64::MIN))
    }
}

impl Number for bool {
    const LOGICAL: LogicalType = LogicalType::Bool;

    #[inline]
    fn to_stored(self) -> i64 {
        self.into()
    }

    #[inline]
    fn from_stored(stored: i64) -> bool {
        stored != 0
    }
}

macro_rules! units {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub i64);

        impl Number for $name {
            const LOGICAL: LogicalType = LogicalType::$name;

            #[inline]
            fn to_stored(self) -> i64 {
                self.0
            }

            #[inline]
            fn from_stored(stored: i64) -> $name {
                $name(stored)
            }
        }
    )*};
}

units! {
    /// A date, in days since 1970-01-01.
    Date,
    /// A timestamp, in milliseconds since 1970-01-01T00:00:00Z.
    TimestampMillis,
    /// A timestamp, in microseconds since 1970-01-01T00:00:00Z.
    TimestampMicros,
    /// A timestamp, in nanoseconds since 1970-01-01T00:00:00Z.
    TimestampNanos
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_range_is_an_inclusive_one() {
        assert_eq!(i64::stored_range(&(1..=9)), 1..=9);
        assert_eq!(i64::stored_range(&(1..9)), 1..=8);
        assert_eq!(i64::stored_range(&(..)), i64::MIN..=i64::MAX);
        assert_eq!(i64::stored_range(&(i64::MAX..)), i64::MAX..=i64::MAX);
        assert!(i64::stored_range(&(..i64::MIN)).is_empty());
        assert!(i64::stored_range(&(Bound::Excluded(i64::MAX), Bound::Unbounded)).is_empty());
        assert_eq!(u64::stored_range(&(0..1)), i64::MIN..=i64::MIN);
        assert_eq!(bool::stored_range(&(true..)), 1..=i64::MAX);
        assert_eq!(Date::stored_range(&(Date(3)..Date(5))), 3..=4);
    }

    #[test]
    fn ranges_of_doubles_are_those_of_queries() {
        let holds = |range: &dyn Fn(f64) -> bool, stored: RangeInclusive<i64>| {
            let probes = [
                f64::NEG_INFINITY,
                -1.5,
                -f64::MIN_POSITIVE,
                -0.0,
                0.0,
                f64::from_bits(1),
                1.0,
                2.0,
                f64::MAX,
                f64::INFINITY,
                f64::NAN,
                -f64::NAN,
            ];
            for probe in probes {
                assert_eq!(stored.contains(&from_f64(probe)), range(probe), "{probe} in {stored:?}");
            }
        };
        holds(&|x| (0.0..=2.0).contains(&x), f64::stored_range(&(0.0..=2.0)));
        holds(&|x| (-0.0..2.0).contains(&x), f64::stored_range(&(-0.0..2.0)));
        holds(&|x| x > 0.0, f64::stored_range(&(Bound::Excluded(-0.0), Bound::Unbounded)));
        holds(&|x| x < 0.0, f64::stored_range(&(..0.0)));
        holds(&|x| x >= 1.0, f64::stored_range(&(1.0..)));
        holds(&|x| !x.is_nan(), f64::stored_range(&(..)));
        holds(&|_| false, f64::stored_range(&(Bound::Excluded(f64::INFINITY), Bound::Unbounded)));
        holds(&|_| false, f64::stored_range(&(..f64::NEG_INFINITY)));
        holds(&|_| false, f64::stored_range(&(f64::NAN..)));
    }
}
