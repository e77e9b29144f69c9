//! Parallel radix sort of documents by 32-bit ranks.
//!
//! Documents are sorted by one digit of their ranks after the other, least significant first. Each step is stable and
//! documents come in ascending order, so they need no comparison. Every thread counts the digits of its slice, and
//! then writes to places that no other thread writes to.

use std::ops::Range;
use std::slice::IterMut;

use docvalues_column::DocId;

use crate::engine::threads::{self, POLL_EVERY};
use crate::engine::{Interrupt, memory};
use crate::error::Result;

/// The fewest documents to sort on several threads.
const MIN_PARALLEL: usize = 1 << 16;

/// The most bits of a digit: with more output positions, a CPU's TLB does not hold all pages.
const MAX_DIGIT_BITS: u32 = 11;

/// Packs a rank and a document into a number.
#[inline]
pub(super) fn item(rank: u32, doc: DocId) -> u64 {
    u64::from(rank) << 32 | u64::from(doc.get())
}

/// The rank of an item.
pub(super) fn rank(item: u64) -> u32 {
    halves(item).0
}

/// The document of an item.
pub(super) fn doc(item: u64) -> DocId {
    DocId::new(halves(item).1)
}

#[expect(clippy::cast_possible_truncation, reason = "one half, and the other")]
fn halves(item: u64) -> (u32, u32) {
    ((item >> 32) as u32, item as u32)
}

/// Sorts `items` by the low `bits` bits of their ranks, and writes their documents to `docs`. Returns the sorted
/// items if `wanted`. Takes as much memory again as the items.
pub(super) fn sort(
    docs: &mut [DocId],
    mut items: Vec<u64>,
    bits: u32,
    threads: usize,
    wanted: bool,
    stop: &Interrupt,
) -> Result<Option<Vec<u64>>> {
    let threads = if docs.len() < MIN_PARALLEL { 1 } else { threads };
    let digits = bits.div_ceil(MAX_DIGIT_BITS);
    let width = bits.div_ceil(digits.max(1));
    let mut spare = Vec::new();
    for at in 0..digits {
        let digit = |item: u64| (rank(item) >> (at * width) & ((1 << width) - 1)) as usize;
        let pass = Pass { len: docs.len(), digits: 1 << width, threads, digit, stop };
        let from = |range: Range<usize>| items[range].iter().copied();
        let Some(counts) = pass.count(from)? else { continue };
        if at + 1 == digits && !wanted {
            pass.put(from, counts, docs, doc)?;
            return Ok(None);
        }
        if spare.is_empty() {
            spare = memory::zeroed(docs.len())?;
        }
        pass.put(from, counts, &mut spare, |item| item)?;
        std::mem::swap(&mut items, &mut spare);
    }
    threads::copy(docs, &items, threads, stop, |item| doc(*item))?;
    Ok(wanted.then_some(items))
}

/// One pass over all items, by one digit.
struct Pass<'s, D> {
    len: usize,
    /// The number of different digits.
    digits: usize,
    threads: usize,
    digit: D,
    stop: &'s Interrupt,
}

impl<D: Fn(u64) -> usize + Sync> Pass<'_, D> {
    /// The slice of each thread.
    fn slices(&self) -> impl Iterator<Item = Range<usize>> {
        let len = self.len.div_ceil(self.threads).max(1);
        (0..self.len).step_by(len).map(move |start| start..self.len.min(start + len))
    }

    /// Counts the digits of each thread's slice. Returns `None` if all items have the same digit.
    fn count<I: Iterator<Item = u64>>(
        &self,
        from: impl Fn(Range<usize>) -> I + Sync,
    ) -> Result<Option<Vec<Vec<u32>>>> {
        let count = |slice| {
            let mut counts = vec![0; self.digits];
            self.each(slice, &from, |item| counts[(self.digit)(item)] += 1)?;
            Ok(counts)
        };
        let counts = threads::map(self.slices().collect(), count).into_iter().collect::<Result<Vec<_>>>()?;
        let all = |digit| counts.iter().map(|counts: &Vec<u32>| counts[digit] as usize).sum::<usize>();
        let first = from(0..self.len.min(1)).next();
        Ok(first.filter(|first| all((self.digit)(*first)) < self.len).map(|_| counts))
    }

    /// Writes `get` of all items in the order of the digit.
    fn put<T: Send, I: Iterator<Item = u64>>(
        &self,
        from: impl Fn(Range<usize>) -> I + Sync,
        counts: Vec<Vec<u32>>,
        to: &mut [T],
        get: impl Fn(u64) -> T + Sync,
    ) -> Result<()> {
        let mut places: Vec<Vec<IterMut<'_, T>>> =
            counts.iter().map(|_| Vec::with_capacity(self.digits)).collect();
        let mut left = to;
        for digit in 0..self.digits {
            for (places, counts) in places.iter_mut().zip(&counts) {
                let (here, others) = left.split_at_mut(counts[digit] as usize);
                left = others;
                places.push(here.iter_mut());
            }
        }
        let put = threads::map(self.slices().zip(places).collect(), |(slice, mut places)| {
            self.each(slice, &from, |item| {
                if let Some(place) = places[(self.digit)(item)].next() {
                    *place = get(item);
                }
            })
        });
        put.into_iter().collect()
    }

    /// Calls `each` for the items of a slice.
    fn each<I: Iterator<Item = u64>>(
        &self,
        slice: Range<usize>,
        from: impl Fn(Range<usize>) -> I,
        mut each: impl FnMut(u64),
    ) -> Result<()> {
        for start in slice.clone().step_by(POLL_EVERY) {
            self.stop.check()?;
            from(start..slice.end.min(start + POLL_EVERY)).for_each(&mut each);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(ranks: &[u32], bits: u32, threads: usize) {
        let docs: Vec<DocId> = (0..).zip(ranks).map(|(at, _)| DocId::new(3 * at)).collect();
        let items: Vec<u64> = ranks.iter().zip(&docs).map(|(rank, doc)| item(*rank, *doc)).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        for wanted in [false, true] {
            let mut sorted = docs.clone();
            let items =
                sort(&mut sorted, items.clone(), bits, threads, wanted, &Interrupt::default()).unwrap();
            assert!(
                sorted.into_iter().eq(expected.iter().copied().map(doc)),
                "{} of {bits} bits",
                ranks.len()
            );
            assert!(items.is_none_or(|items| items == expected), "{} of {bits} bits", ranks.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn radix_sort_orders_like_a_comparison_sort(
            seed: u64,
            bits in 0..=32_u32,
            len in prop_oneof![0..40_usize, MIN_PARALLEL - 2..MIN_PARALLEL + 3, 0..100_000_usize],
            low in 0..32_u32,
            threads in 1..9_usize,
        ) {
            let mut random = docvalues_testkit::rng::SplitMix64::new(seed);
            let mask = u32::MAX.checked_shr(32 - bits).unwrap_or(0);
            // Some of the low digits are all equal; the first third has other digits than the rest.
            let mut ranks: Vec<u32> = (0..len).map(|_| random.below_u32(u32::MAX) << low & mask).collect();
            check(&ranks, bits, threads);
            ranks[..len / 3].fill(mask);
            check(&ranks, bits, threads);
            ranks.sort_unstable();
            check(&ranks, bits, threads);
            ranks.fill(mask);
            if let Some(last) = ranks.last_mut() {
                *last = 0;
            }
            check(&ranks, bits, threads);
        }
    }
}
