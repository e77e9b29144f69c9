//! Decimal encoding of doubles: 12.5 is stored as 125 tenths.
//!
//! A decimal of up to 15 digits, parsed as a double, equals an integer divided by a power of ten and rounded once.
//! IEEE 754 division is correctly rounded, so every machine computes the same bits. A column of such doubles is
//! stored as integers, which are small and have small differences.
//!
//! The idea is that of Afroozeh, Kuffó and Boncz, *ALP: Adaptive Lossless floating-Point compression* (2023). ALP
//! multiplies, which is faster but misses some decimals, so it stores exceptions. Here a column with a value that is
//! no decimal is not transformed, and every value takes one load.
//!
//! # Drawing
//!
//! ```text
//! doubles      12.5   12.75    3.0     8 bytes each
//! integers     1250    1275    300     times 10^2, the fewest digits that all values need
//! numbers q      38      39      0     minus the smallest (300), divided by the common divisor (25): 6 bits each
//! ```
//!
//! The directory entry has 300, 25 and 2. A reader computes `(300 + 25 * q) / 100.0`, one division for each value.

use super::chunks;
use super::slice::{Slice, Source, Stopped};
use super::value_stats::{Divisor, FINE_ZONE, ValueStats};
use crate::bits::multiversion;
use crate::stored::{from_f64, to_f64};

/// The most digits after the point: 10^22 is the largest power of ten that is exactly a double.
pub const MAX_DIGITS: u8 = 22;

/// The absolute value of a decimal's integer is below this limit.
///
/// Up to this limit, the product of a double and a power of ten, which is rounded twice, is closest to the right
/// integer, and different integers give different doubles.
pub const DECIMAL_LIMIT: i64 = 1 << 51;

const POWERS: [f64; MAX_DIGITS as usize + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Adding this to a double within the limits leaves the nearest integer in the lowest bits.
const MAGIC: f64 = 3.0 * DECIMAL_LIMIT as f64;

/// The parameters of the decimal transform: number `q` stands for the double `(base + q * gcd) / 10^digits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// The integer of the smallest value.
    pub base: i64,
    /// A common divisor of all differences from `base`; at least 1.
    pub gcd: u64,
    /// Digits after the point: at most [`MAX_DIGITS`].
    pub digits: u8,
}

impl Decimal {
    /// The transform of a column with the smallest stored value `min`; `None` if that is no decimal of `digits`.
    pub fn new(min: i64, gcd: u64, digits: u8) -> Option<Decimal> {
        let (base, good) = integer(min, *POWERS.get(usize::from(digits))?);
        (good && gcd > 0).then_some(Decimal { base, gcd, digits })
    }

    /// The transform with the fewest digits for `values`; `None` if not all of them are decimals.
    pub(super) fn of(values: &mut dyn Source, stats: &ValueStats) -> Result<Option<Decimal>, Stopped> {
        let (mut integers, mut digits) = ([0; FINE_ZONE], 0);
        for range in chunks(values.len()) {
            for values in values.read(range)?.fine_zones() {
                let integers = &mut integers[..values.len()];
                // A decimal of d digits is one of d + 1 digits, too, with ten times the integer.
                let enough = (digits..=MAX_DIGITS).find(|&d| are_decimals(values, power(d), integers));
                let Some(enough) = enough else { return Ok(None) };
                digits = enough;
            }
        }
        // With more digits, the integers of earlier values may exceed the limit.
        let decimal = Decimal::new(stats.min, 1, digits);
        let Some(decimal) = decimal.filter(|decimal| decimal.integer(stats.max).is_some()) else {
            return Ok(None);
        };
        let mut divisor = Divisor::of(0);
        for range in chunks(values.len()) {
            for values in values.read(range)?.fine_zones() {
                let integers = &mut integers[..values.len()];
                decimal.integers(values, integers);
                divisor = divisor.of_all(integers, decimal.base);
            }
        }
        Ok(Some(Decimal { gcd: divisor.get(), ..decimal }))
    }

    /// Fills `out` with the integers of `values`, all of which must be decimals of these digits.
    pub(super) fn integers(self, values: Slice<'_>, out: &mut [i64]) {
        are_decimals(values, power(self.digits), out);
    }

    /// The integer of `value`, if it is a decimal of these digits.
    pub(super) fn integer(self, value: i64) -> Option<i64> {
        let (integer, good) = integer(value, power(self.digits));
        good.then_some(integer)
    }

    /// The value of `number`.
    #[inline]
    pub(super) fn value(self, number: u64) -> i64 {
        quotient(number, self.base.cast_unsigned(), self.gcd, power(self.digits))
    }

    /// Replaces each number by its [`value`](Self::value).
    pub(super) fn values(self, numbers: &mut [u64]) {
        divide(numbers, self.base.cast_unsigned(), self.gcd, power(self.digits));
    }

    /// The number of numbers, from 0 to that of `max`, whose values satisfy `below`. `below` must hold for a prefix
    /// of them, as larger numbers have larger values.
    pub(super) fn partition_point(self, max: i64, below: impl Fn(i64) -> bool) -> u64 {
        let (mut low, mut high) = (0, self.largest(max) + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            (low, high) = if below(self.value(middle)) { (middle + 1, high) } else { (low, middle) };
        }
        low
    }

    /// The number of `max`.
    pub(super) fn largest(self, max: i64) -> u64 {
        self.integer(max).map_or(0, |max| max.abs_diff(self.base) / self.gcd)
    }
}

/// 10^`digits`; 1 if `digits` exceeds [`MAX_DIGITS`].
#[inline]
fn power(digits: u8) -> f64 {
    POWERS.get(usize::from(digits)).copied().unwrap_or(1.0)
}

/// The integer nearest to `value` times `power`, and whether dividing it by `power` gives exactly the bits of
/// `value`.
#[inline(always)]
fn integer(value: i64, power: f64) -> (i64, bool) {
    let value = to_f64(value);
    let shifted = value * power + MAGIC;
    let rounded = shifted - MAGIC;
    let same = (rounded / power).to_bits() == value.to_bits();
    let integer = shifted.to_bits().wrapping_sub(MAGIC.to_bits()).cast_signed();
    (integer, same & (rounded.abs() < DECIMAL_LIMIT as f64))
}

/// The stored value of `number`.
#[inline(always)]
fn quotient(number: u64, base: u64, gcd: u64, power: f64) -> i64 {
    from_f64(base.wrapping_add(number.wrapping_mul(gcd)).cast_signed() as f64 / power)
}

/// Returns whether all `values` are decimals that `power` scales to integers; if so, writes these to `out`.
fn are_decimals(values: Slice<'_>, power: f64, out: &mut [i64]) -> bool {
    match values {
        Slice::Long(values) => all_decimals(values, power, out),
        // Doubles have 64 bits.
        Slice::Short(values) => all_decimals(&Vec::from_iter(values.iter().map(|&x| x.into())), power, out),
    }
}

multiversion! {
    fn all_decimals(values: &[i64], power: f64, out: &mut [i64]) -> bool {
        values.iter().zip(out).fold(true, |all, (&value, out)| {
            let (integer, good) = integer(value, power);
            *out = integer;
            all & good
        })
    }

    fn divide(numbers: &mut [u64], base: u64, gcd: u64, power: f64) {
        numbers.iter_mut().for_each(|x| *x = quotient(*x, base, gcd, power).cast_unsigned());
    }
}
