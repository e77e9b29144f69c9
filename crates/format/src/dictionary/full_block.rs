//! Fast path for full blocks of class 1, which nearly all blocks are.
//!
//! The lengths of such a block are at fixed offsets, so a look-up takes few instructions, without unpredictable
//! branches. For everything else the functions return `None`, and the general
//! [`BlockHeader`](super::block::BlockHeader) reads the block or reports the error.

use std::cmp::Ordering;
use std::hint::select_unpredictable;

#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::block::FIRST;
use super::block::{BLOCK_TERMS, Class, Parts, TERMS, count_above, sum_before};
use crate::bits::by_cpu;
use crate::granule::GRANULE;
use crate::id::TermOrd;
use crate::prefetch::prefetch;
use crate::source::PartlyVerified;
use crate::strings::{leading, shared_len};

/// Bytes before `ends` in a full block of class 1.
pub(super) const FULL_HEADER_LEN: usize = Class::One.header_len(BLOCK_TERMS);

/// A full block of class 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullBlock<'a> {
    /// The bytes of the block, and possibly some after them.
    bytes: &'a [u8],
    shared: &'a [u8; TERMS],
    own: &'a [u8; TERMS],
}

impl<'a> FullBlock<'a> {
    /// The full block at the start of `bytes`, if it is of class 1 and its head shares nothing.
    #[inline(always)]
    pub(super) fn peek(bytes: &'a [u8]) -> Option<FullBlock<'a>> {
        let [class, lengths @ ..] = bytes.first_chunk::<FULL_HEADER_LEN>()?;
        let (shared, own) = (lengths.first_chunk::<TERMS>()?, lengths.last_chunk::<TERMS>()?);
        (*class == Class::One as u8 && shared[0] == 0).then_some(FullBlock { bytes, shared, own })
    }

    /// The number of bytes that term `i` shares with the head.
    #[inline(always)]
    pub(super) fn shared(self, i: usize) -> usize {
        self.shared[i % TERMS].into()
    }

    /// The number of own bytes of term `i`.
    #[inline(always)]
    pub(super) fn own(self, i: usize) -> usize {
        self.own[i % TERMS].into()
    }

    /// The number of terms of the block below `target`, and whether the next one equals it. `None` if lengths leave the
    /// block.
    #[inline]
    pub(super) fn seek(self, target: &[u8]) -> Option<(u32, bool)> {
        let head = self.bytes[FULL_HEADER_LEN..].get(..self.own(0))?;
        let shared = shared_len(head, target);
        // They differ in the next byte, or one of them ends before it.
        match head.get(shared).cmp(&target.get(shared)) {
            Ordering::Greater => Some((0, false)),
            Ordering::Equal => Some((0, true)),
            Ordering::Less => self.find(shared, &target[shared..]),
        }
    }

    /// Searches the terms that share exactly `shared` bytes with the head for the one with own bytes `rest`. Returns
    /// the number of terms of the block below it, and whether it exists. `None` if lengths leave the block.
    ///
    /// Compares the first eight own bytes as numbers, in a fixed number of steps, and the other bytes only on ties.
    fn find(self, shared: usize, rest: &[u8]) -> Option<(u32, bool)> {
        let above = |limit| 1 + count_above(self.shared, limit) as usize;
        let (from, to) = (above(shared), shared.checked_sub(1).map_or(TERMS, above).min(TERMS));
        let mut ends = [0_u16; TERMS];
        let mut end = 0;
        for (to, own) in ends.iter_mut().zip(self.own) {
            end += u16::from(*own);
            *to = end;
        }
        let ends_bytes = &self.bytes[FULL_HEADER_LEN..];
        if usize::from(end) > ends_bytes.len() {
            return None;
        }
        // Term `i` follows term `i - 1`, which exists because `i` is not 0.
        let own = |i: usize| &ends_bytes[usize::from(ends[(i - 1) % TERMS])..usize::from(ends[i % TERMS])];
        let wanted = leading(rest);
        let mut below = from;
        for step in [16, 8, 4, 2, 1] {
            let next = below + step;
            let less = (next <= to) & (leading(own((next - 1).min(TERMS - 1))) < wanted);
            below = select_unpredictable(less, next, below);
        }
        while below < to && own(below) < rest {
            below += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a block has few terms")]
        Some((below as u32, below < to && own(below) == rest))
    }
}

/// The full blocks of a dictionary whose bytes are in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullBlocks<'a> {
    /// The section of terms and its tail.
    pub(super) section: PartlyVerified<'a>,
    /// Bytes of the section without the tail.
    pub(super) len: usize,
    /// The number of terms in full blocks.
    pub(super) terms: u32,
    /// Bytes of the longest term.
    pub(super) max_len: usize,
}

impl FullBlocks<'_> {
    /// Locates the terms of `ords`, whose blocks begin at `starts`, and prefetches their own bytes. Stops before the
    /// first term that [`place`](Self::place) does not locate. Returns the number of terms located.
    pub(super) fn locate(self, ords: &[TermOrd], starts: &[i64], places: &mut [Parts]) -> usize {
        by_cpu!(self.locate_avx2(ords, starts, places), self.locate_avx2(ords, starts, places));
        self.locate_by(ords, starts, places, sum_before)
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "avx2,bmi2,popcnt")]
    fn locate_avx2(self, ords: &[TermOrd], starts: &[i64], places: &mut [Parts]) -> usize {
        self.locate_by(ords, starts, places, |lengths, n| {
            sum_masked(lengths, &FIRST[TERMS - n % TERMS..][..TERMS])
        })
    }

    #[inline(always)]
    fn locate_by(
        self,
        ords: &[TermOrd],
        starts: &[i64],
        places: &mut [Parts],
        sum_before: impl Fn(&[u8; TERMS], usize) -> usize + Copy,
    ) -> usize {
        let mut located = 0;
        for ((&ord, &start), to) in ords.iter().zip(starts).zip(places) {
            let Some(place) = self.place(ord, start, sum_before) else { break };
            prefetch(self.section.bytes.as_ptr().wrapping_add(place.own));
            *to = place;
            located += 1;
        }
        located
    }

    /// The location of a term whose block begins at `start`. `sum_before` adds up the first lengths of a block. `None`
    /// if the block is not full and of class 1, or its bytes up to the term's end are not verified: the caller then
    /// uses the general code.
    #[inline(always)]
    pub(super) fn place(
        self,
        ord: TermOrd,
        start: i64,
        sum_before: impl Fn(&[u8; TERMS], usize) -> usize,
    ) -> Option<Parts> {
        if ord.get() >= self.terms {
            return None;
        }
        let (start, i) = (usize::try_from(start).ok()?, (ord.get() % BLOCK_TERMS) as usize);
        let block = FullBlock::peek(self.section.bytes.get(start..)?)?;
        let head = start + FULL_HEADER_LEN;
        let own = head + sum_before(block.own, i);
        let (shared, own_len) = (block.shared(i), block.own(i));
        let end = own + own_len;
        let fits = shared <= block.own(0) && shared + own_len <= self.max_len && end <= self.len;
        (fits && self.is_verified(start, end)).then_some(Parts { head, shared, own, own_len })
    }

    /// Whether the bytes from `start` to `end` are verified. May be `false` if they are longer than a granule.
    #[inline(always)]
    fn is_verified(&self, start: usize, end: usize) -> bool {
        let is_good = |at: usize| self.section.is_good(at / GRANULE);
        // Shorter bytes lie in at most two granules: that of the first byte and that of the last.
        self.section.granules.is_none() || (end - start <= GRANULE && is_good(start) && is_good(end - 1))
    }
}

/// The sum of the lengths under a mask of as many bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
#[target_feature(enable = "avx2")]
fn sum_masked(lengths: &[u8; TERMS], mask: &[u8]) -> usize {
    use std::arch::x86_64::*;

    // Four loads of neighbouring words, which the compiler combines to one.
    let load = |bytes: &[u8]| {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |i: usize| i64::from_le_bytes(words[i]);
        _mm256_set_epi64x(word(3), word(2), word(1), word(0))
    };
    let masked = _mm256_and_si256(load(lengths), load(mask));
    // Four sums of eight lengths each.
    let sums = _mm256_sad_epu8(masked, _mm256_setzero_si256());
    let sums = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    let sum = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
    _mm_cvtsi128_si32(sum).cast_unsigned() as usize
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::error::Section;
    use crate::source::{Owned, SectionBytes};

    proptest! {
        #![proptest_config(crate::cases(256))]

        /// A block with these lengths, at any byte of a section that may end before the last term does.
        #[test]
        fn the_kernel_of_this_cpu_locates_the_same_terms(
            start in 0..70_usize,
            longest in prop_oneof![Just(0_u8), 1..20_u8, Just(u8::MAX)],
            shared in vec(any::<u8>(), TERMS),
            own in vec(any::<u8>(), TERMS),
            ends in 0..9_000_usize,
            max_len in 0..600_usize,
        ) {
            let mut bytes = vec![1_u8; start];
            bytes.extend([1_u8, 0]);
            bytes.extend(shared[1..].iter().chain(&own).map(|&length| length.min(longest)));
            bytes.resize(bytes.len() + ends, b'x');
            let bytes = Owned::new(Section::Terms, bytes);
            let (section, start) = (bytes.partly_verified().unwrap(), i64::try_from(start).unwrap());
            let blocks = FullBlocks { section, len: bytes.len(), terms: BLOCK_TERMS, max_len };
            let one_by_one = |lengths: &[u8; TERMS], n: usize| {
                lengths[..n].iter().map(|&length| usize::from(length)).sum::<usize>()
            };
            for ord in (0..=BLOCK_TERMS).map(TermOrd::new) {
                let expected = blocks.place(ord, start, one_by_one);
                prop_assert_eq!(blocks.place(ord, start, sum_before), expected);
                let mut place = [Parts::default()];
                let located = blocks.locate(&[ord], &[start], &mut place);
                prop_assert_eq!((located == 1).then_some(place[0]), expected);
            }
        }
    }
}
