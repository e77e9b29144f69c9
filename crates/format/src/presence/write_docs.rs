//! Decoding of bitmaps and sparse buckets to lists of documents.
//!
//! | input | scalar | AVX2 | AVX-512 |
//! | --- | --- | --- | --- |
//! | a word of bitmap | 8 bits at a time, by a table | the same | 16 bits, by compressed stores |
//! | sparse buckets | one document at a time, by a running maximum | 8 documents of a bucket | 16 documents of one |
//!
//! The scalar functions are the reference: tests compare the others with them.

use crate::bits::{SET_BITS, multiversion};
use crate::id::DocId;

/// Documents in a sparse bucket.
pub(super) const BUCKET: u32 = 256;

/// Documents of free space that a kernel needs after those that it writes.
pub(super) const ROOM: usize = 64;

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(super) use self::{buckets_scalar as buckets, words_scalar as words};
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) use x86::{buckets, words};

multiversion! {
    /// Whether the documents ascend strictly.
    pub(super) fn ascend(docs: &[DocId]) -> bool {
        // Without an early exit, so that the loop is vectorized.
        let next = docs.get(1..).unwrap_or_default();
        docs.iter().zip(next).fold(true, |ascend, (doc, next)| ascend & (doc.get() < next.get()))
    }
}

/// Writes the documents of a bitmap that begins with document `first`, ascending. Returns their number; the rest of
/// `out` is unspecified. `None` if `out` has not [`ROOM`] left after them.
#[inline(always)]
pub(super) fn words_scalar(first: u32, words: &[[u8; 8]], out: &mut [DocId]) -> Option<usize> {
    let (mut first, mut count) = (first, 0);
    for word in words {
        let room = out.get_mut(count..)?.first_chunk_mut()?;
        count += word_scalar(first, *word, room);
        first = first.wrapping_add(64);
    }
    Some(count)
}

#[inline(always)]
fn word_scalar(first: u32, word: [u8; 8], out: &mut [DocId; ROOM]) -> usize {
    let (mut first, mut count) = (first, 0);
    for byte in word {
        // Writes eight places for each byte; the next byte overwrites those after its set bits.
        for (doc, bit) in out[count..count + 8].iter_mut().zip(SET_BITS[usize::from(byte)]) {
            *doc = DocId::new(first.wrapping_add(bit.into()));
        }
        first = first.wrapping_add(8);
        count += byte.count_ones() as usize;
    }
    count
}

/// Values before a bucket.
#[inline(always)]
fn start(start: &[u8; 2]) -> usize {
    u16::from_le_bytes(*start).into()
}

/// Writes the documents of sparse buckets, the first of which begins with `first`. Bucket *b* is `lows[starts[b] ..
/// starts[b + 1]]`. Returns the number of documents; the rest of `out` is unspecified. `None` if a range is not valid,
/// or `out` has not [`ROOM`] left.
#[inline(always)]
pub(super) fn buckets_scalar(
    first: u32,
    starts: &[[u8; 2]],
    lows: &[u8],
    out: &mut [DocId],
) -> Option<usize> {
    let (begin, end) = (start(starts.first()?), start(starts.last()?));
    let count = end.checked_sub(begin)?;
    // One more than the documents, because empty buckets at the end are marked as well.
    let (lows, out) = (lows.get(begin..=end)?, out.get_mut(..=count)?);
    // Marks the start of each bucket's lows with the bucket's first document. Empty buckets share a start with the next
    // one, which overwrites the mark.
    out.fill(DocId::new(0));
    let (mut doc, mut before, mut ascend) = (first, begin, true);
    for at in starts.iter().map(start) {
        ascend &= before <= at;
        *out.get_mut(at.wrapping_sub(begin))? = DocId::new(doc);
        doc = doc.wrapping_add(BUCKET);
        before = at;
    }
    // A running maximum: the first document of the bucket of each low.
    let mut bucket = 0;
    for (doc, &low) in out.iter_mut().zip(lows) {
        bucket = doc.get().max(bucket);
        *doc = DocId::new(bucket.wrapping_add(low.into()));
    }
    ascend.then_some(count)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    use super::*;
    use crate::bits::by_cpu;

    pub(in super::super) fn buckets(
        first: u32,
        starts: &[[u8; 2]],
        lows: &[u8],
        out: &mut [DocId],
    ) -> Option<usize> {
        by_cpu!(buckets_avx512(first, starts, lows, out), buckets_avx2(first, starts, lows, out));
        buckets_scalar(first, starts, lows, out)
    }

    #[target_feature(enable = "avx2")]
    fn buckets_avx2(first: u32, starts: &[[u8; 2]], lows: &[u8], out: &mut [DocId]) -> Option<usize> {
        buckets_in_steps::<8>(first, starts, lows, out)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn buckets_avx512(first: u32, starts: &[[u8; 2]], lows: &[u8], out: &mut [DocId]) -> Option<usize> {
        buckets_in_steps::<16>(first, starts, lows, out)
    }

    /// Writes whole steps for each bucket, most of which have no more. The next bucket overwrites the surplus.
    #[inline(always)]
    pub(super) fn buckets_in_steps<const STEP: usize>(
        first: u32,
        starts: &[[u8; 2]],
        lows: &[u8],
        out: &mut [DocId],
    ) -> Option<usize> {
        let (begin, end) = (start(starts.first()?), start(starts.last()?));
        let count = end.checked_sub(begin)?;
        let (lows, out) = (lows.get(begin..end + STEP)?, out.get_mut(..count + STEP)?);
        let (mut doc, mut at) = (first, 0);
        for next in &starts[1..] {
            // Compared as it is read: a mapped file may change.
            let end = start(next).wrapping_sub(begin);
            if end < at || end > count {
                return None;
            }
            loop {
                // Both have room for a step at any place up to `count`.
                let (lows, docs) = (lows.get(at..at + STEP)?, out.get_mut(at..at + STEP)?);
                for (place, low) in docs.iter_mut().zip(lows) {
                    *place = DocId::new(doc.wrapping_add(u32::from(*low)));
                }
                at += STEP;
                if at >= end {
                    break;
                }
            }
            at = end;
            doc = doc.wrapping_add(BUCKET);
        }
        // The last end was read twice: had it shrunk, documents after it would not have been written.
        (at == count).then_some(count)
    }

    pub(in super::super) fn words(first: u32, words: &[[u8; 8]], out: &mut [DocId]) -> Option<usize> {
        by_cpu!(words_avx512(first, words, out), words_popcnt(first, words, out));
        words_scalar(first, words, out)
    }

    #[target_feature(enable = "popcnt,bmi2")]
    fn words_popcnt(first: u32, words: &[[u8; 8]], out: &mut [DocId]) -> Option<usize> {
        words_scalar(first, words, out)
    }

    #[target_feature(enable = "popcnt,avx512f")]
    fn words_avx512(first: u32, words: &[[u8; 8]], out: &mut [DocId]) -> Option<usize> {
        const LANES: usize = 16;
        let mut docs = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        docs = _mm512_add_epi32(docs, _mm512_set1_epi32(first.cast_signed()));
        let (step, mut count) = (_mm512_set1_epi32(16), 0);
        for word in words {
            let room: &mut [DocId; ROOM] = out.get_mut(count..)?.first_chunk_mut()?;
            let mut found = 0;
            for bits in word.as_chunks().0 {
                let bits = u16::from_le_bytes(*bits);
                let there = _mm512_maskz_compress_epi32(bits, docs);
                let room: &mut [DocId] = &mut room[found..found + LANES];
                // SAFETY: `room` is 16 documents, which are `u32`s: 64 bytes.
                unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), there) };
                docs = _mm512_add_epi32(docs, step);
                found += bits.count_ones() as usize;
            }
            count += found;
        }
        Some(count)
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "a few thousand documents")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn documents_of_a_bitmap_and_of_buckets(
            all in prop::collection::vec(any::<[u64; 3]>(), 0..20), first in 0..u32::MAX - 64 * 80,
        ) {
            // Words of every density.
            let all = all.iter().flat_map(|&[a, b, c]| [a, a | b | c, a & b & c, 0]);
            let all: Vec<[u8; 8]> = all.map(u64::to_le_bytes).collect();
            let set = |i: &usize| all[i / 64][i / 8 % 8] >> (i % 8) & 1 == 1;
            let set: Vec<usize> = (0..all.len() * 64).filter(set).collect();
            let expected: Vec<DocId> = set.iter().map(|&i| DocId::new(first + i as u32)).collect();
            let mut out = vec![DocId::new(7); expected.len() + ROOM];
            for words in [words, words_scalar] {
                let count = words(first, &all, &mut out).unwrap();
                prop_assert_eq!(&out[..count], &expected);
            }
            let start = |bucket: usize| (set.partition_point(|i| i / 256 < bucket) as u16).to_le_bytes();
            let starts: Vec<[u8; 2]> = (0..=all.len().div_ceil(4)).map(start).collect();
            let lows: Vec<u8> = set.iter().map(|&i| i as u8).chain([0; ROOM]).collect();
            for buckets in [buckets, buckets_scalar] {
                let count = buckets(first, &starts, &lows, &mut out).unwrap();
                prop_assert_eq!(&out[..count], &expected);
            }
        }
    }

    /// With the steps of every CPU, whichever runs the test.
    #[test]
    fn buckets_with_starts_that_are_not_valid() {
        type Buckets = fn(u32, &[[u8; 2]], &[u8], &mut [DocId]) -> Option<usize>;
        const ALL: &[Buckets] = &[
            buckets_scalar,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            x86::buckets_in_steps::<8>,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            x86::buckets_in_steps::<16>,
        ];
        let lows: Vec<u8> = (0..40 + ROOM).map(|i| i as u8).collect();
        // Starts of four buckets, the end of the last, and whether they are valid.
        let cases: [([u16; 5], bool); 10] = [
            ([0, 3, 20, 20, 40], true),
            ([5, 5, 22, 30, 39], true),
            ([7, 7, 7, 7, 7], true),
            ([0, 20, 3, 20, 40], false),
            ([5, 4, 22, 30, 39], false),
            ([5, 22, 30, 4, 39], false),
            ([0, 3, 41, 20, 40], false),
            ([0, 3, 20, 41, 40], false),
            ([0, 3, u16::MAX, 20, 40], false),
            ([9, 9, 9, 9, 8], false),
        ];
        for (all, valid) in cases {
            let starts = all.map(u16::to_le_bytes);
            let mut expected = Vec::new();
            for (bucket, ends) in (0..).zip(all.windows(2)).filter(|_| valid) {
                let lows = &lows[usize::from(ends[0])..usize::from(ends[1])];
                expected.extend(lows.iter().map(|low| DocId::new(1_000 + BUCKET * bucket + u32::from(*low))));
            }
            for buckets in ALL {
                let mut out = vec![DocId::new(7); 40 + ROOM];
                let count = buckets(1_000, &starts, &lows, &mut out);
                assert_eq!(count, valid.then_some(expected.len()), "{all:?}");
                assert_eq!(out[..expected.len()], expected, "{all:?}");
            }
        }
    }
}
