//! Vectorized comparisons of slices of numbers.

use super::multiversion;
use crate::id::{DocId, TermOrd};

/// Numbers compared before the result is tested. A loop that ends early is not vectorized, so these loops end only
/// after a whole chunk.
const CHUNK: usize = 64;

multiversion! {
    /// Returns whether all `docs` are below `end`.
    pub fn all_below(docs: &[DocId], end: u32) -> bool {
        docs.iter().fold(true, |all, doc| all & (doc.get() < end))
    }

    /// Writes the offset of each ord from `first` to `out`, or `len` if the ord is not one of the `len` ords from
    /// `first` on.
    pub fn ord_offsets(ords: &[TermOrd], first: u32, len: u32, out: &mut [u32]) {
        ords.iter().zip(out).for_each(|(ord, out)| *out = ord.get().wrapping_sub(first).min(len));
    }

    /// Returns whether all `numbers` are at most `most`.
    ///
    /// Cheaper than finding their maximum on x86-64 without AVX2, which has no instruction for that of unsigned numbers.
    pub(crate) fn all_at_most(numbers: &[u32], most: u32) -> bool {
        numbers.iter().fold(true, |all, &number| all & (number <= most))
    }

    /// The smallest and the largest of `numbers`; `u32::MAX` and 0 if there are none.
    pub(crate) fn min_max(numbers: &[u32]) -> (u32, u32) {
        numbers.iter().fold((u32::MAX, 0), |(min, max), &number| (number.min(min), number.max(max)))
    }

    /// A bit for each of up to 64 `numbers`, set if it is not `none`.
    pub fn not_equal(numbers: &[u32], none: u32) -> u64 {
        // One byte for each number, as the compiler vectorizes that.
        let mut bytes = [0_u8; CHUNK];
        bytes.iter_mut().zip(numbers).for_each(|(byte, &number)| *byte = u8::from(number != none));
        bits_of(&bytes)
    }

    /// The number of leading numbers that can be skipped, as none of them lies in `low ..= high`: whole chunks of 64,
    /// or all numbers. If numbers are left, one of the next 64 lies in the range.
    pub fn skip_outside(numbers: &[i64], low: i64, high: i64) -> usize {
        let outside = |number: &i64| (*number < low) | (*number > high);
        let is_passed = |chunk: &&[i64]| chunk.iter().fold(true, |all, number| all & outside(number));
        let chunks = numbers.chunks(CHUNK).take_while(is_passed).count();
        numbers.len().min(chunks * CHUNK)
    }

    /// The number of leading counts that can be skipped, as all of them are below `bar`: whole chunks of 64, or all
    /// counts. The second result is the number of skipped counts that are `floor` or more.
    pub fn skip_below(counts: &[u32], bar: u32, floor: u32) -> (usize, u64) {
        let is_passed = |chunk: &&[u32]| chunk.iter().fold(true, |all, &count| all & (count < bar));
        let counted = |chunk: &[u32]| chunk.iter().fold(0, |all, &count| all + u32::from(count >= floor));
        let (chunks, all) = counts
            .chunks(CHUNK)
            .take_while(is_passed)
            .fold((0, 0), |(chunks, all), chunk| (chunks + 1, all + u64::from(counted(chunk))));
        (counts.len().min(chunks * CHUNK), all)
    }
}

/// A bit for each byte, which must be 0 or 1. One multiplication collects eight of them.
#[inline(always)]
pub(super) fn bits_of(bytes: &[u8; CHUNK]) -> u64 {
    bytes.as_chunks::<8>().0.iter().rev().fold(0, |bits, eight| {
        bits << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn comparing_many_is_comparing_each(
            numbers in prop::collection::vec(prop_oneof![0_u32..4, 0..200_u32, any::<u32>()], 0..300),
            bar in prop_oneof![0_u32..201, any::<u32>()],
            floor in 0_u32..3,
        ) {
            for numbers in numbers.chunks(64) {
                let expected = (0..).zip(numbers).fold(0, |bits, (i, &number)| bits | u64::from(number != bar) << i);
                prop_assert_eq!(not_equal(numbers, bar), expected);
            }
            let docs: Vec<DocId> = numbers.iter().copied().map(DocId::new).collect();
            prop_assert_eq!(all_below(&docs, bar), docs.iter().all(|doc| doc.get() < bar));
            let [min, max] = [numbers.iter().min(), numbers.iter().max()];
            prop_assert_eq!(min_max(&numbers), (min.copied().unwrap_or(u32::MAX), max.copied().unwrap_or(0)));
            for most in numbers.iter().copied().chain([0, u32::MAX]) {
                prop_assert_eq!(all_at_most(&numbers, most), max.is_none_or(|max| *max <= most));
            }

            let mut found = vec![0; numbers.len()];
            let ords: Vec<TermOrd> = numbers.iter().copied().map(TermOrd::new).collect();
            ord_offsets(&ords, floor, bar, &mut found);
            let inside = |ord: u32| (floor..floor.saturating_add(bar)).contains(&ord);
            let expected = numbers.iter().map(|&ord| if inside(ord) { ord - floor } else { bar });
            prop_assert!(found.iter().copied().eq(expected));

            let first = numbers.iter().position(|&number| number >= bar).unwrap_or(numbers.len());
            let expected = if first < numbers.len() { first / CHUNK * CHUNK } else { first };
            let counted = numbers[..expected].iter().filter(|&&number| number >= floor).count() as u64;
            prop_assert_eq!(skip_below(&numbers, bar, floor), (expected, counted));
            let signed: Vec<i64> = numbers.iter().map(|&number| i64::from(number)).collect();
            prop_assert_eq!(skip_outside(&signed, bar.into(), i64::MAX), expected);
            let negative: Vec<i64> = signed.iter().map(|number| -number).collect();
            prop_assert_eq!(skip_outside(&negative, i64::MIN, -i64::from(bar)), expected);
        }
    }
}
