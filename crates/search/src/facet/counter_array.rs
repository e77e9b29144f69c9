//! Counters for small integers, in an array.

use std::ops::Range;

use crate::engine::threads::POLL_EVERY;
use crate::engine::{Interrupt, memory};
use crate::error::Result;

/// Copies of the array that take turns, if it is small.
///
/// A CPU that increments the same counter twice in a row waits for the first store. With few different values that
/// happens all the time; several copies avoid it.
const COPIES: usize = 4;

const _: () = assert!(COPIES.is_power_of_two(), "the copy of a place is found by a mask");

/// The most counters of which there are several copies. All copies then fit the first-level cache; larger arrays
/// seldom repeat a counter.
const MAX_COPIED_LEN: usize = 2_048;

/// The least ratio of values to counters that pays for clearing and adding up the copies.
const MIN_VALUES_PER_COUNTER: usize = 8;

/// Counters of `0..len`.
#[derive(Clone, Debug)]
pub(super) struct CounterArray {
    len: usize,
    /// The copies, one after the other.
    counts: Vec<u32>,
}

impl CounterArray {
    /// Counters for about `values` values.
    pub(super) fn new(len: usize, values: usize) -> Result<CounterArray> {
        let arrays = if len <= MAX_COPIED_LEN && values / MIN_VALUES_PER_COUNTER >= len { COPIES } else { 1 };
        Ok(CounterArray { len, counts: memory::zeroed(arrays * len)? })
    }

    /// The size in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.counts.as_slice())
    }

    /// An array of the same size with all counters at 0.
    pub(super) fn fork(&self) -> CounterArray {
        CounterArray { len: self.len, counts: vec![0; self.counts.len()] }
    }

    /// The number of counters.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Counts values by their places. Returns the number of values without a place.
    #[inline]
    pub(super) fn count<T: Copy>(&mut self, values: &[T], place: impl Fn(T) -> usize) -> u64 {
        if self.counts.len() == self.len {
            count::<T, 1>([&mut self.counts], values, place)
        } else {
            let mut arrays = self.counts.chunks_exact_mut(self.len.max(1));
            count::<T, COPIES>(std::array::from_fn(|_| arrays.next().unwrap_or_default()), values, place)
        }
    }

    /// Takes back the values at `places` of those that the last call of [`count`](Self::count) counted. Returns the number
    /// of them without a place.
    #[inline]
    pub(super) fn uncount<T: Copy>(
        &mut self,
        values: &[T],
        places: Range<usize>,
        place: impl Fn(T) -> usize,
    ) -> u64 {
        let (len, mask) = (self.len, if self.counts.len() == self.len { 0 } else { COPIES - 1 });
        let mut without = 0;
        for (at, &value) in places.clone().zip(&values[places]) {
            // The copy that counted it.
            let copy = (at & mask) * len;
            match self.counts[copy..copy + len].get_mut(place(value)) {
                Some(count) => *count -= 1,
                None => without += 1,
            }
        }
        without
    }

    /// Counts one value so many times.
    #[inline]
    pub(super) fn add(&mut self, place: usize, times: u32) {
        if let Some(count) = self.counts[..self.len].get_mut(place) {
            *count += times;
        }
    }

    /// Adds the counters of another array of the same length.
    pub(super) fn merge(&mut self, other: &CounterArray, stop: &Interrupt) -> Result<()> {
        for (to, from) in self.counts.chunks_mut(POLL_EVERY).zip(other.counts.chunks(POLL_EVERY)) {
            stop.check()?;
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
        Ok(())
    }

    /// Returns the counters.
    pub(super) fn finish(mut self) -> Vec<u32> {
        let (first, others) = self.counts.split_at_mut(self.len);
        for other in others.chunks_exact(self.len.max(1)) {
            first.iter_mut().zip(other).for_each(|(to, from)| *to += from);
        }
        self.counts.truncate(self.len);
        self.counts
    }
}

/// Counts values in the copies by turns. Returns the number of values without a place in them.
#[inline]
fn count<T: Copy, const ARRAYS: usize>(
    mut arrays: [&mut [u32]; ARRAYS],
    values: &[T],
    place: impl Fn(T) -> usize,
) -> u64 {
    let mut without = 0;
    // A branch, because it is hardly ever taken; branch-free code takes twice the instructions.
    let mut one = |array: &mut [u32], value: T| match array.get_mut(place(value)) {
        Some(count) => *count += 1,
        None => without += 1,
    };
    let (groups, rest) = values.as_chunks::<ARRAYS>();
    for group in groups {
        arrays.iter_mut().zip(group).for_each(|(array, &value)| one(array, value));
    }
    arrays.iter_mut().zip(rest).for_each(|(array, &value)| one(array, value));
    without
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_like_a_simple_loop(
            len in prop_oneof![0..3_usize, 2_040..2_060_usize],
            values in prop::collection::vec((any::<u32>(), any::<bool>()), 0..100),
            times in prop_oneof![Just(1_usize), Just(1_000_000)],
        ) {
            // A few different values, some of them past the end.
            let place = |&(value, near): &(u32, bool)| value as usize % if near { 3 } else { len + 2 };
            let values: Vec<usize> = values.iter().map(place).collect();
            let mut plain = vec![0; len];
            let inside = values.iter().filter(|place| **place < len);
            inside.clone().for_each(|&place| plain[place] += 2);
            if len > 0 {
                plain[0] += 1;
            }

            let mut array = CounterArray::new(len, values.len() * times).unwrap();
            let mut other = array.fork();
            let without = array.count(&values, |place| place);
            prop_assert_eq!(without, (values.len() - inside.count()) as u64);
            // Some are taken back, and counted again one by one.
            for at in (0..values.len()).filter(|at| at % 3 > 0) {
                let is_outside = array.uncount(&values, at..at + 1, |place| place);
                prop_assert_eq!(is_outside, u64::from(values[at] >= len));
            }
            (0..values.len()).filter(|at| at % 3 > 0).for_each(|at| array.add(values[at], 1));
            other.count(&values, |place| place);
            other.add(0, 1);
            other.add(len, 1);
            array.merge(&other, &Interrupt::default()).unwrap();
            prop_assert_eq!(array.finish(), plain);
        }
    }
}
