//! Statistics of a column's values, from one pass: bounds, greatest common divisor, distinct values.

use super::slice::{Slice, Source, Stopped, for_width};
use super::{MAX_TABLE, Number, chunks};
use crate::bits::multiversion;

/// Values in a fine zone, for which bounds are kept: as many as the smallest block has.
pub(super) const FINE_ZONE: usize = 1 << *super::BLOCK_SHIFTS.start();

/// Values that are compared at once.
pub(super) const LANES: usize = 8;

/// The statistics that the choice of an encoding needs.
#[derive(Clone, Debug)]
pub(super) struct ValueStats {
    pub(super) min: i64,
    pub(super) max: i64,
    /// The first value, and the last.
    pub(super) outer: (i64, i64),
    /// The greatest common divisor of the differences between values.
    pub(super) divisor: Divisor,
    /// The distinct values; `None` if they are more than a table holds.
    pub(super) distinct: Option<Distinct>,
    /// The smallest and the largest value of every fine zone.
    pub(super) ends: Vec<(i64, i64)>,
}

impl ValueStats {
    /// Computes the statistics of `values`; `None` if there are none.
    pub(super) fn of(values: &mut dyn Source) -> Result<Option<ValueStats>, Stopped> {
        let mut stats = None;
        for range in chunks(values.len()) {
            let values = values.read(range)?;
            stats.get_or_insert_with(|| ValueStats::new(values.get(0))).add(values);
        }
        Ok(stats)
    }

    fn new(first: i64) -> ValueStats {
        ValueStats {
            min: first,
            max: first,
            outer: (first, first),
            divisor: Divisor::of(0),
            distinct: Some(Distinct::default()),
            ends: Vec::new(),
        }
    }

    /// Adds the next values, which begin with a fine zone.
    fn add(&mut self, values: Slice<'_>) {
        for values in values.fine_zones() {
            let (min, max) = for_width!(values, values => min_max(values));
            self.ends.push((min, max));
            (self.min, self.max) = (self.min.min(min), self.max.max(max));
            self.outer.1 = values.get(values.len() - 1);
            // One of several equal values is enough.
            let values = if min == max { values.range(0..1) } else { values };
            for_width!(values, values => {
                self.divisor = self.divisor.of_all(values, self.outer.0);
                self.distinct = self.distinct.take().and_then(|distinct| distinct.with(values));
            });
        }
    }
}

/// Merges the bounds of parts to those of all their values.
pub(super) fn min_max_of_all(ends: &[(i64, i64)]) -> (i64, i64) {
    ends.iter().fold((i64::MAX, i64::MIN), |all, ends| (all.0.min(ends.0), all.1.max(ends.1)))
}

multiversion! {
    /// The smallest and the largest value.
    pub(super) fn min_max<T: Number>(values: &[T]) -> (i64, i64) {
        let (mut min, mut max) = ([i64::MAX; LANES], [i64::MIN; LANES]);
        let (groups, rest) = values.as_chunks::<LANES>();
        for group in groups {
            for lane in 0..LANES {
                min[lane] = min[lane].min(group[lane].into());
                max[lane] = max[lane].max(group[lane].into());
            }
        }
        for &value in rest {
            (min[0], max[0]) = (min[0].min(value.into()), max[0].max(value.into()));
        }
        (min.into_iter().fold(i64::MAX, i64::min), max.into_iter().fold(i64::MIN, i64::max))
    }

    /// Returns whether `divisor` divides the difference of each value from `first`.
    fn divides<T: Number>(divisor: Divisor, values: &[T], first: i64) -> bool {
        let most = u64::MAX.checked_div(divisor.number).unwrap_or(0);
        values.iter().fold(true, |all, &value| {
            let value: i64 = value.into();
            all & (divisor.quotient(value.abs_diff(first)) <= most)
        })
    }
}

/// A divisor of exact multiples that needs no division instruction.
///
/// A multiple of an odd number is divided by multiplying with the inverse modulo 2^64; powers of two take a rotation
/// in addition. A number that is not a multiple gives a result above all possible quotients: Warren, *Hacker's
/// Delight*, 10-17.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Divisor {
    number: u64,
    inverse: u64,
    shift: u32,
}

impl Divisor {
    pub(super) fn of(number: u64) -> Divisor {
        if number == 0 {
            return Divisor { number, inverse: 1, shift: 0 };
        }
        let shift = number.trailing_zeros();
        let odd = number >> shift;
        // Newton's iteration: the first value is right in three bits, and each step doubles their number.
        let inverse = (0..5).fold(odd, |x: u64, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))));
        Divisor { number, inverse, shift }
    }

    /// The divisor; 0 divides nothing but 0.
    pub(super) fn get(self) -> u64 {
        self.number
    }

    /// Divides `multiple` by the divisor.
    #[inline(always)]
    pub(super) fn quotient(self, multiple: u64) -> u64 {
        multiple.wrapping_mul(self.inverse).rotate_right(self.shift)
    }

    /// The greatest common divisor of this one and of the differences of all values from `first`.
    pub(super) fn of_all<T: Number>(self, values: &[T], first: i64) -> Divisor {
        if self.number == 1 || divides(self, values, first) {
            return self;
        }
        let distances = values.iter().map(|&value| value.into().abs_diff(first));
        Divisor::of(distances.fold(self.number, gcd))
    }
}

/// A hash table of distinct values that maps each one to its number.
#[derive(Clone, Debug)]
pub(super) struct Distinct {
    values: Vec<i64>,
    /// The number of a value plus one, with linear probing from its home slot; 0 for an empty slot. At most a
    /// sixteenth of the slots is occupied, so the first probe usually succeeds.
    slots: Vec<u16>,
    /// Whether every value is in its home slot.
    at_home: bool,
}

/// The logarithm of the number of slots.
const SLOT_BITS: u32 = 12;
const SLOTS: usize = 1 << SLOT_BITS;

impl Default for Distinct {
    fn default() -> Distinct {
        Distinct { values: Vec::new(), slots: vec![0; SLOTS], at_home: true }
    }
}

impl Distinct {
    /// Adds new values; `None` if they exceed the length of a table.
    fn with<T: Number>(mut self, values: &[T]) -> Option<Distinct> {
        for &value in values {
            if let Err(slot) = self.find(value.into()) {
                self.insert(slot, value.into());
                if self.values.len() > MAX_TABLE {
                    return None;
                }
            }
        }
        Some(self)
    }

    fn insert(&mut self, slot: usize, value: i64) {
        self.values.push(value);
        self.at_home &= slot == home(value);
        // At most one more than a table holds.
        self.slots[slot] = u16::try_from(self.values.len()).unwrap_or(u16::MAX);
    }

    /// The number of `value`, or the empty slot where it would be inserted.
    #[inline]
    fn find(&self, value: i64) -> Result<usize, usize> {
        let mut slot = home(value);
        loop {
            match usize::from(self.slots[slot]).checked_sub(1) {
                None => return Err(slot),
                Some(number) if self.values[number] == value => return Ok(number),
                Some(_) => slot = (slot + 1) % SLOTS,
            }
        }
    }

    /// The same values, numbered in ascending order.
    pub(super) fn sorted(mut self) -> Distinct {
        self.values.sort_unstable();
        Distinct::default().with(&self.values).unwrap_or_default()
    }

    /// The values, in the order of their numbers.
    pub(super) fn values(&self) -> &[i64] {
        &self.values
    }

    /// The number of `value`, which is one of them.
    #[inline]
    pub(super) fn number(&self, value: i64) -> u64 {
        match self.at_home {
            true => u64::from(self.slots[home(value)]).saturating_sub(1),
            false => self.find(value).unwrap_or(0) as u64,
        }
    }
}

/// The home slot of `value`.
#[inline]
fn home(value: i64) -> usize {
    // Fibonacci hashing: multiplying by 2^64 divided by the golden ratio spreads neighbouring values.
    let hash = value.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    usize::try_from(hash >> (64 - SLOT_BITS)).unwrap_or(0)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}
