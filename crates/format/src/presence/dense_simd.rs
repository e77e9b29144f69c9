//! Look-ups in dense blocks, eight at a time, with AVX2 or AVX-512.
//!
//! | step | for eight documents |
//! | --- | --- |
//! | *find*: their jump entries | eight loads, and two transpositions that gather equal fields |
//! | *find*: offsets of rank entry and line, and bounds | arithmetic by lanes |
//! | *count*, AVX2: rank entry and bits of the line | one document after the other |
//! | *count*, AVX-512: bits of the lines | eight loads, a popcount of each word, and a tree of sums |
//!
//! All [`TOGETHER`] documents go through one step before the next one, so that the lines of all are prefetched before
//! the first is counted. If one of eight documents is unusual, [`VerifiedBlocks`] looks up the remaining ones.
#![expect(clippy::cast_possible_truncation, reason = "places below the end of a section with 32 bits")]

use std::arch::x86_64::*;

use super::header::{BlockEntry, UNIT};
use super::kernel::{LINE, count};
use super::rank_verified::{DENSE, TOGETHER, VerifiedBlocks};
use super::{NO_VALUE, dense, rank_table};
use crate::id::{BLOCK_DOCS, DocId};
use crate::prefetch::prefetch;

/// Documents that go through a step together.
const GROUP: usize = 8;

/// The state of a batch of look-ups.
pub(super) struct DenseBatch<'a> {
    blocks: VerifiedBlocks<'a>,
    /// Number of the last block, which may have fewer documents.
    last: u32,
    /// The largest valid offset of a payload, for a whole block and for the last one, in units of 8 bytes.
    most: [u32; 2],
    /// The block whose bytes were last found to be verified.
    verified: Option<u32>,
    groups: [Group; TOGETHER / GROUP],
}

/// The positions to read for eight documents.
#[derive(Clone, Copy, Default)]
struct Group {
    /// Values before their blocks.
    before: [u32; GROUP],
    /// Offsets of their rank entries.
    rank_at: [u32; GROUP],
    /// Offsets of their lines of bitmap.
    line_at: [u32; GROUP],
}

impl<'a> DenseBatch<'a> {
    /// `None` if not all of the jump table is verified, or the section is shorter than a block or not below 4 GiB.
    #[inline(always)]
    pub(super) fn new(blocks: VerifiedBlocks<'a>) -> Option<DenseBatch<'a>> {
        blocks.table.verified_range(0..blocks.blocks.checked_mul(BlockEntry::LEN)?)?;
        let len = u32::try_from(blocks.bytes.bytes.len()).ok()? as usize;
        let last = u32::try_from(blocks.blocks.checked_sub(1)?).ok()?;
        let most = |docs| Some((len.checked_sub(dense::len(docs))? / UNIT) as u32);
        let most = [most(BLOCK_DOCS)?, most(blocks.docs.checked_sub(last.checked_mul(BLOCK_DOCS)?)?)?];
        Some(DenseBatch { blocks, last, most, verified: None, groups: [Group::default(); TOGETHER / GROUP] })
    }

    /// Writes the ranks of `docs`, at most [`TOGETHER`], and stops at the first eight that need the general code.
    /// Returns the number of ranks written.
    ///
    /// # Safety
    ///
    /// The CPU must have AVX2, BMI2 and POPCNT, and with `AVX512` all features that
    /// [`has_avx512`](crate::bits::has_avx512) checks.
    #[inline(always)]
    pub(super) unsafe fn ranks<const AVX512: bool>(&mut self, docs: &[DocId], out: &mut [u32]) -> usize {
        let docs = docs.as_chunks().0;
        let mut found = 0;
        // No closures: they would not be inlined.
        for docs in docs {
            // SAFETY: the caller guarantees the CPU features.
            if !unsafe { self.find(docs, found) } {
                break;
            }
            found += 1;
        }
        let mut done = 0;
        for ((group, docs), out) in self.groups[..found].iter().zip(docs).zip(out.as_chunks_mut().0) {
            let is_verified = match AVX512 {
                // SAFETY: the caller guarantees the CPU features, and `find` has found each of these groups.
                true => unsafe { self.count_avx512(group, docs, out) },
                // SAFETY: as above.
                false => unsafe { self.count(group, docs, out) },
            };
            if !is_verified {
                break;
            }
            done += GROUP;
        }
        done
    }

    /// Stores the positions to read for `docs` in `groups[group]`; `false` if a document is not in a dense block, or
    /// needs the general code.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn find(&mut self, docs: &[DocId; GROUP], group: usize) -> bool {
        let VerifiedBlocks { docs: end, last, .. } = self.blocks;
        // SAFETY: eight documents are eight u32s, 32 bytes.
        let low = unsafe { _mm256_loadu_si256(docs.as_ptr().cast()) };
        if !all(at_most(low, ones(end - 1))) {
            return false;
        }
        let [before, payload, kind] = self.entries(docs);
        let is_last = _mm256_cmpeq_epi32(_mm256_srli_epi32::<16>(low), ones(self.last));
        let most = _mm256_blendv_epi8(ones(self.most[0]), ones(self.most[1]), is_last);
        if !all(_mm256_and_si256(at_most(payload, most), _mm256_cmpeq_epi32(kind, ones(DENSE)))) {
            return false;
        }
        let ranks = _mm256_blendv_epi8(ones(RANKS), ones(last.ranks(self.last) as u32), is_last);
        let stride = _mm256_and_si256(_mm256_srli_epi32::<9>(low), ones(127));
        let payload = _mm256_slli_epi32::<3>(payload);
        let rank_at = _mm256_add_epi32(payload, _mm256_slli_epi32::<1>(stride));
        let line_at = _mm256_add_epi32(_mm256_add_epi32(payload, ranks), _mm256_slli_epi32::<6>(stride));
        let places = &mut self.groups[group];
        store(&mut places.before, before);
        store(&mut places.rank_at, rank_at);
        store(&mut places.line_at, line_at);
        for line in places.line_at {
            prefetch(self.blocks.bytes.bytes.as_ptr().wrapping_add(line as usize));
        }
        self.blocks.bytes.granules.is_none() || self.are_verified(docs, payload)
    }

    /// The fields of the jump entries of `docs`, which must be documents of the segment: values before, offset of the
    /// payload in units of 8 bytes, and the tag of the kind (with the number of runs, if it is not 0).
    #[target_feature(enable = "avx2")]
    #[inline]
    fn entries(&self, docs: &[DocId; GROUP]) -> [__m256i; 3] {
        let table = self.blocks.table.bytes.as_ptr();
        let two = |i: usize| {
            let entry = |i: usize| {
                let entry = table.wrapping_add(docs[i].split().0 as usize * BlockEntry::LEN);
                // SAFETY: the table has an entry for each block, and `new` checked its length. `find` checked that the
                // document is one of the segment, so its block has an entry.
                unsafe { _mm_loadu_si128(entry.cast()) }
            };
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(entry(i)), entry(i + 4))
        };
        let (a, b, c, d) = (two(0), two(1), two(2), two(3));
        let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
        let kinds = _mm256_unpackhi_epi64(_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
        [_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high), kinds]
    }

    /// Whether all bytes of the blocks of `docs`, whose payloads begin at `payloads`, are verified.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn are_verified(&mut self, docs: &[DocId; GROUP], payloads: __m256i) -> bool {
        let mut lanes = [0; GROUP];
        store(&mut lanes, payloads);
        for (doc, at) in docs.iter().zip(lanes) {
            let block = doc.split().0;
            if self.verified == Some(block) {
                continue;
            }
            let size = if block == self.last { self.blocks.docs - block * BLOCK_DOCS } else { BLOCK_DOCS };
            if self.blocks.bytes.verified_range(at as usize..at as usize + dense::len(size)).is_none() {
                return false;
            }
            self.verified = Some(block);
        }
        true
    }

    /// Writes the ranks of eight documents; `false` if one exceeds the column's values.
    ///
    /// # Safety
    ///
    /// `group` must be what [`find`](Self::find) stored for `docs`.
    #[target_feature(enable = "avx2,bmi2,popcnt")]
    #[inline]
    unsafe fn count(&self, group: &Group, docs: &[DocId; GROUP], out: &mut [u32; GROUP]) -> bool {
        let bytes = self.blocks.bytes.bytes.as_ptr();
        let mut most = 0;
        for i in 0..GROUP {
            // SAFETY: `find` checked that the whole block lies in the section, and so do its rank entries and lines.
            let line = unsafe { &*bytes.wrapping_add(group.line_at[i] as usize).cast::<[u8; LINE]>() };
            // SAFETY: as above.
            let rank =
                unsafe { bytes.wrapping_add(group.rank_at[i] as usize).cast::<u16>().read_unaligned() };
            let (before, present) = count(line, docs[i].get() % (8 * LINE as u32));
            let rank = u32::from(u16::from_le(rank)) + before;
            most = most.max(u64::from(group.before[i]) + u64::from(rank) + u64::from(present));
            // Without a branch: all ones, which is `NO_VALUE`, if the document has no value.
            out[i] = group.before[i].wrapping_add(rank) | u32::from(present).wrapping_sub(1);
        }
        most <= self.blocks.values.into()
    }

    /// As [`count`](Self::count), with AVX-512.
    ///
    /// # Safety
    ///
    /// `group` must be what [`find`](Self::find) stored for `docs`.
    #[target_feature(enable = "avx2,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
    #[inline]
    unsafe fn count_avx512(&self, group: &Group, docs: &[DocId; GROUP], out: &mut [u32; GROUP]) -> bool {
        let bytes = self.blocks.bytes.bytes.as_ptr();
        let line = |i: usize| bytes.wrapping_add(group.line_at[i] as usize);
        let word = |i: usize| docs[i].get() / 64 % 8;
        let count = |i| {
            // SAFETY: `find` checked that the whole block lies in the section, and so do its lines, their words and the
            // rank entries, which are loaded below.
            let words = unsafe { _mm512_loadu_si512(line(i).cast()) };
            _mm512_maskz_popcnt_epi64(!(u8::MAX << word(i)), words)
        };
        let whole = sums([count(0), count(1), count(2), count(3), count(4), count(5), count(6), count(7)]);
        // SAFETY: as above.
        let here = |i| unsafe { line(i).cast::<i64>().wrapping_add(word(i) as usize).read_unaligned() };
        let words = _mm512_setr_epi64(here(0), here(1), here(2), here(3), here(4), here(5), here(6), here(7));
        // SAFETY: as above.
        let rank =
            |i| unsafe { bytes.wrapping_add(group.rank_at[i] as usize).cast::<i16>().read_unaligned() };
        let ranks = _mm_setr_epi16(rank(0), rank(1), rank(2), rank(3), rank(4), rank(5), rank(6), rank(7));
        // SAFETY: eight documents are eight u32s, 32 bytes.
        let docs = unsafe { _mm256_loadu_si256(docs.as_ptr().cast()) };
        // SAFETY: eight u32s.
        let before = unsafe { _mm256_loadu_si256(group.before.as_ptr().cast()) };
        let bit = _mm512_and_si512(_mm512_cvtepu32_epi64(docs), _mm512_set1_epi64(63));
        let bit = _mm512_sllv_epi64(_mm512_set1_epi64(1), bit);
        let present = _mm512_test_epi64_mask(words, bit);
        let below = _mm512_andnot_si512(_mm512_sub_epi64(_mm512_setzero_si512(), bit), words);
        let rank = _mm256_add_epi32(_mm512_cvtepi64_epi32(_mm512_popcnt_epi64(below)), whole);
        let rank = _mm256_add_epi32(rank, _mm256_cvtepu16_epi32(ranks));
        // Neither the values before the block nor those up to the document may exceed the column's.
        let values = ones(self.blocks.values);
        let with = _mm256_mask_add_epi32(rank, present, rank, ones(1));
        let above = _mm256_cmpgt_epu32_mask(before, values)
            | _mm256_cmpgt_epu32_mask(with, _mm256_sub_epi32(values, before));
        let index = _mm256_mask_add_epi32(ones(NO_VALUE), present, before, rank);
        // SAFETY: `out` is eight u32s, 32 bytes.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), index) };
        above == 0
    }
}

/// Bytes of the rank table of a whole block.
const RANKS: u32 = rank_table::len(BLOCK_DOCS) as u32;

const _: () = assert!(NO_VALUE == u32::MAX);

/// A number in all lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn ones(x: u32) -> __m256i {
    _mm256_set1_epi32(x.cast_signed())
}

/// A mask of the lanes in which `a` is at most `b`.
#[target_feature(enable = "avx2")]
#[inline]
fn at_most(a: __m256i, b: __m256i) -> __m256i {
    _mm256_cmpeq_epi32(_mm256_min_epu32(a, b), a)
}

/// Whether all bits are set.
#[target_feature(enable = "avx2")]
#[inline]
fn all(x: __m256i) -> bool {
    _mm256_testc_si256(x, ones(u32::MAX)) != 0
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(lanes: &mut [u32; GROUP], x: __m256i) {
    // SAFETY: eight u32s are 32 bytes.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), x) };
}

/// The sum of the lanes of each of eight vectors. Every lane must be a popcount, at most 64.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn sums([a, b, c, d, e, f, g, h]: [__m512i; GROUP]) -> __m256i {
    // Packing twice narrows the lanes to 16 bits and puts those of four vectors side by side; then neighbours are
    // added.
    let four = |a, b, c, d| {
        let pairs = _mm512_packus_epi32(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d));
        _mm512_madd_epi16(pairs, _mm512_set1_epi16(1))
    };
    // Each vector is now four numbers, 16 bytes apart. Two more steps add them up.
    let (low, high) = (four(a, b, c, d), four(e, f, g, h));
    let (even, odd) =
        (_mm512_shuffle_i64x2::<0b10_00_10_00>(low, high), _mm512_shuffle_i64x2::<0b11_01_11_01>(low, high));
    let two = _mm512_add_epi32(even, odd);
    let (even, odd) =
        (_mm512_shuffle_i64x2::<0b10_00_10_00>(two, two), _mm512_shuffle_i64x2::<0b11_01_11_01>(two, two));
    _mm512_castsi512_si256(_mm512_add_epi32(even, odd))
}
