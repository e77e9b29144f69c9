//! Numbers of a type as 64-bit numbers of the same order.
//!
//! A column of `u64` or `f64` stores `i64`. The mappings preserve order, so that a range of values is a range of stored
//! numbers. They know nothing of columns and kinds.

/// The highest bit: the sign of `i64` and `f64`.
const TOP: u64 = 1 << 63;

/// Maps a `u64` to a stored number, preserving order.
#[inline]
pub const fn from_u64(value: u64) -> i64 {
    (value ^ TOP).cast_signed()
}

/// The `u64` that [`from_u64`] stored.
#[inline]
pub const fn to_u64(stored: i64) -> u64 {
    stored.cast_unsigned() ^ TOP
}

/// Maps an `f64` to a stored number, in the order of IEEE 754's *totalOrder*. Every bit pattern survives.
///
/// A negative number's bits below the sign are inverted, as Lucene's
/// `NumericUtils.doubleToSortableLong` does.
#[inline]
pub const fn from_f64(value: f64) -> i64 {
    sortable(value.to_bits().cast_signed())
}

/// The `f64` that [`from_f64`] stored, bit for bit.
#[inline]
pub const fn to_f64(stored: i64) -> f64 {
    f64::from_bits(sortable(stored).cast_unsigned())
}

/// Inverts the bits below the sign of negative numbers. The function is its own inverse.
const fn sortable(bits: i64) -> i64 {
    bits ^ ((bits >> 63) & i64::MAX)
}

/// The stored numbers of all doubles from `low` to `high`, both included. −0.0 and 0.0 count as equal, and NaN is in no
/// range. `None` if the range is empty.
///
/// ```
/// use docvalues_format::stored::{f64_range, from_f64};
///
/// let range = f64_range(0.0, f64::INFINITY).unwrap();
/// assert!(range.contains(&from_f64(-0.0)));
/// assert!(!range.contains(&from_f64(f64::NAN)));
/// assert_eq!(f64_range(f64::NAN, 1.0), None);
/// ```
pub fn f64_range(low: f64, high: f64) -> Option<std::ops::RangeInclusive<i64>> {
    // `<=` is false for NaN, on either side.
    (low <= high).then(|| {
        let low = if low == 0.0 { -0.0 } else { low };
        let high = if high == 0.0 { 0.0 } else { high };
        from_f64(low)..=from_f64(high)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn u64_keeps_order_and_value(a: u64, b: u64) {
            prop_assert_eq!(to_u64(from_u64(a)), a);
            prop_assert_eq!(a.cmp(&b), from_u64(a).cmp(&from_u64(b)));
        }

        #[test]
        fn f64_keeps_total_order_and_bits(a: u64, b: u64) {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            prop_assert_eq!(to_f64(from_f64(a)).to_bits(), a.to_bits());
            prop_assert_eq!(a.total_cmp(&b), from_f64(a).cmp(&from_f64(b)));
        }

        #[test]
        fn a_range_of_doubles_agrees_with_comparison(low: f64, high: f64, probe: u64) {
            let probe = f64::from_bits(probe);
            let stored = f64_range(low, high).is_some_and(|r| r.contains(&from_f64(probe)));
            prop_assert_eq!(stored, low <= probe && probe <= high);
        }
    }

    #[test]
    fn zeros_are_one_and_nan_is_nowhere() {
        let zeros = f64_range(-0.0, 0.0).unwrap();
        assert_eq!(f64_range(0.0, -0.0), Some(zeros.clone()));
        assert_eq!(zeros.clone().count(), 2);
        let all = f64_range(f64::NEG_INFINITY, f64::INFINITY).unwrap();
        for bits in [0x7ff8_0000_0000_0000, 0xfff8_0000_0000_0000, 0x7ff0_0000_0000_0001, u64::MAX] {
            assert!(!all.contains(&from_f64(f64::from_bits(bits))), "{bits:x}");
        }
    }
}
