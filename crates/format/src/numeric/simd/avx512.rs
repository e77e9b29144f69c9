//! The AVX-512 gather kernel: sixteen narrow integers at a time.
//!
//! An integer of up to 25 bits lies in four bytes, whichever bit it begins at, so a register takes sixteen integers
//! instead of eight. All sixteen must have the same width. That is so if the column has one block, or if indices
//! ascend and are close, so that runs of them lie in one block. The header is then read once for each run.
//!
//! The kernel also prefetches. If indices are so dense that a cache line holds more than one, it prefetches the bytes
//! some lines ahead; otherwise the bytes of later indices. The hardware prefetcher does not cross pages and cannot
//! predict sparse indices.
#![allow(unsafe_code, reason = "intrinsics; each use has its proof")]

use std::arch::x86_64::*;

use super::{Blocks, Numbers, Packed, avx2};
use crate::bits::min_max;
use crate::id::TermOrd;
use crate::numeric::Block;
use crate::prefetch::prefetch;

/// 64-bit numbers in a register.
const GROUP: usize = 8;

/// Integers that are gathered together: two registers of results.
const PAIR: usize = 2 * GROUP;

/// The widest integer that lies in four bytes, whichever bit of a byte it begins at.
const WIDEST: u8 = 25;

/// The prefetch distance for dense integers, in bytes: four pages.
const BYTES_AHEAD: usize = 16 << 10;

/// The prefetch distance for the list of indices, in bytes.
const LIST_AHEAD: usize = 4096;

/// The prefetch distance for sparse integers, in pairs. With several blocks it is shorter, as the next block may have
/// another width.
const PAIRS_AHEAD: usize = 8;
const PAIRS_AHEAD_IN_BLOCK: usize = 2;

/// The most bits between the first and the last integer of a dense pair: less than one cache line of 64 bytes for
/// each integer.
const DENSE: u32 = 16 * 64 * 8;

/// Pairs whose indices are bounds-checked before they are gathered. Their indices stay in the first-level cache.
const PAIRS_PER_PASS: usize = 64;

/// The most integers that are left to AVX2 before the next attempt to find a pair in one block.
const MAX_AVX2_RUN: usize = 512;

/// `x` in each lane.
#[target_feature(enable = "avx512f")]
#[inline]
fn ones(x: u64) -> __m512i {
    _mm512_set1_epi64(x.cast_signed())
}

/// Packed integers of one narrow width.
struct Narrow<'a> {
    /// All loads lie in these bytes.
    bytes: &'a [u8],
    /// The offset of `bytes` from the byte where integer 0 begins.
    before: usize,
    width: u8,
    /// A pair is dense if its last index minus its first is below this.
    dense_span: u32,
}

impl<'a> Narrow<'a> {
    /// Integers of `width` bits, at most [`WIDEST`]. The first of `bytes` is byte `before` from the start of integer
    /// 0.
    fn new(bytes: &'a [u8], before: usize, width: u8) -> Narrow<'a> {
        let dense_span = DENSE.checked_div(width.into()).unwrap_or(u32::MAX);
        Narrow { bytes, before, width, dense_span }
    }

    /// Loads sixteen integers as u32s, and prefetches those `ahead`. `LOOP` gives each calling loop its own instance,
    /// which the compiler then inlines.
    ///
    /// # Safety
    ///
    /// For each index `i`, the four bytes from `i * width / 8 - before` on lie in `bytes`.
    #[target_feature(enable = "avx512f,avx512dq")]
    #[inline]
    unsafe fn pair<const LOOP: u8>(&self, indices: &[u32; PAIR], ahead: &[u32; PAIR]) -> __m512i {
        let start = self.bytes.as_ptr().wrapping_sub(self.before);
        let width = u64::from(self.width);
        let at = |index: u32| start.wrapping_add((u64::from(index) * width / 8) as usize);
        // Prefetches the indices of the next batch, as batches of a page each lie end to end.
        prefetch(indices.as_ptr().wrapping_byte_add(LIST_AHEAD).cast());
        if indices[PAIR - 1].wrapping_sub(indices[0]) < self.dense_span {
            // Every other integer is enough to cover nearly all lines.
            for [index, _] in indices.as_chunks::<2>().0 {
                prefetch(at(*index).wrapping_add(BYTES_AHEAD).cast());
            }
        } else {
            for &index in ahead {
                prefetch(at(index).cast());
            }
        }
        let word = |lane: usize| {
            // SAFETY: as the caller promises. x86-64 is little-endian, as is the format.
            unsafe { at(indices[lane]).cast::<i32>().read_unaligned() }
        };
        let four = |lane| _mm_setr_epi32(word(lane), word(lane + 1), word(lane + 2), word(lane + 3));
        let eight = |lane| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(four(lane)), four(lane + 4));
        let words = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(eight(0)), eight(8));
        // The shift is the bit offset modulo 8. SAFETY: sixteen u32s are 64 bytes.
        let indices = unsafe { _mm512_loadu_si512(indices.as_ptr().cast()) };
        let bit = _mm512_mullo_epi32(indices, _mm512_set1_epi32(self.width.into()));
        let words = _mm512_srlv_epi32(words, _mm512_and_si512(bit, _mm512_set1_epi32(7)));
        _mm512_and_si512(words, _mm512_set1_epi32((1 << self.width) - 1))
    }
}

/// Widens sixteen u32s to two registers of u64s.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn halves(pair: __m512i) -> [__m512i; 2] {
    let (low, high) = (_mm512_castsi512_si256(pair), _mm512_extracti64x4_epi64::<1>(pair));
    [_mm512_cvtepu32_epi64(low), _mm512_cvtepu32_epi64(high)]
}

#[target_feature(enable = "avx512f")]
#[inline]
fn sums(a: [__m512i; 2], b: [__m512i; 2]) -> [__m512i; 2] {
    [_mm512_add_epi64(a[0], b[0]), _mm512_add_epi64(a[1], b[1])]
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(numbers: [__m512i; 2], out: &mut [i64; PAIR]) {
    let (halves, _) = out.as_chunks_mut::<GROUP>();
    for (half, out) in numbers.into_iter().zip(halves) {
        // SAFETY: eight i64s are 64 bytes.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), half) };
    }
}

/// As [`gather`](super::gather); stops before the first integer that needs the checked path. If [`PAIR`] narrow
/// integers lie in one block, they are gathered together; others are left to the AVX2 kernel.
#[target_feature(enable = "avx512f,avx512dq,avx2,bmi2,popcnt")]
pub(super) fn gather(blocks: Blocks<'_>, numbers: Numbers, indices: &[u32], out: &mut [i64]) -> usize {
    let mut runs = BlockRuns::new(blocks, numbers);
    // Exponential backoff: the longer no such pair was found, the less often one is searched for.
    let (mut done, mut others) = (0, PAIR);
    loop {
        let found = in_runs(&mut runs, &indices[done..], &mut out[done..]);
        done += found;
        others = if found > 0 { PAIR } else { (2 * others).min(MAX_AVX2_RUN) };
        let end = indices.len().min(done + others);
        done += avx2::gather(blocks, numbers, &indices[done..end], &mut out[done..end]);
        if done < end || done == indices.len() {
            return done;
        }
    }
}

/// Gathers all whole pairs, or none, from integers of one narrow width. Returns the number of integers.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn gather_packed(packed: Packed<'_>, numbers: Numbers, indices: &[u32], out: &mut [i64]) -> usize {
    let (pairs, _) = indices.as_chunks::<PAIR>();
    let (places, _) = out.as_chunks_mut::<PAIR>();
    let Some(integers) = verified_span(packed, numbers.count, pairs.as_flattened()) else { return 0 };
    let add = ones(numbers.add.cast_unsigned());
    for (at, (pair, out)) in pairs.iter().zip(places).enumerate() {
        let ahead = pairs.get(at + PAIRS_AHEAD).unwrap_or(pair);
        // SAFETY: `verified_span` saw that this is so for the least and the greatest of all indices.
        let found = unsafe { integers.pair::<1>(pair, ahead) };
        store(sums(halves(found), [add; 2]), out);
    }
    pairs.len() * PAIR
}

/// Gathers whole pairs as ords, from integers of one narrow width to which `add` is added. Returns the number of
/// integers.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn gather_ords(
    packed: Packed<'_>,
    count: u64,
    add: u32,
    indices: &[u32],
    out: &mut [TermOrd],
) -> usize {
    let (pairs, _) = indices.as_chunks::<PAIR>();
    let (places, _) = out.as_chunks_mut::<PAIR>();
    let add = _mm512_set1_epi32(add.cast_signed());
    let mut done = 0;
    for (part, places) in pairs.chunks(PAIRS_PER_PASS).zip(places.chunks_mut(PAIRS_PER_PASS)) {
        let Some(integers) = verified_span(packed, count, part.as_flattened()) else { break };
        for (pair, out) in part.iter().zip(places) {
            let ahead = pairs.get(done + PAIRS_AHEAD).unwrap_or(pair);
            // SAFETY: `verified_span` saw that this is so for the least and the greatest index of the part.
            let found = _mm512_add_epi32(unsafe { integers.pair::<0>(pair, ahead) }, add);
            // SAFETY: a `TermOrd` is a `u32`, transparently: sixteen are 64 bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), found) };
            done += 1;
        }
    }
    done * PAIR
}

/// The bytes from the integer at the smallest of `indices` to that at the largest. `None` if an index is too large,
/// the bytes are not verified, or the integers are not narrow.
fn verified_span<'a>(packed: Packed<'a>, count: u64, indices: &[u32]) -> Option<Narrow<'a>> {
    let Packed { section, payload, width, .. } = packed;
    if indices.is_empty() || !(1..=WIDEST).contains(&width) {
        return None;
    }
    let (least, greatest) = min_max(indices);
    if u64::from(greatest) >= count {
        return None;
    }
    let byte = |index: u32| usize::try_from(u64::from(index) * u64::from(width) / 8).ok();
    let (first, last) = (byte(least)?, byte(greatest)?);
    let bytes =
        section.verified_range(payload.checked_add(first)?..payload.checked_add(last)?.checked_add(4)?)?;
    Some(Narrow::new(bytes, first, width))
}

/// Gathers pairs as long as each lies in one block. Returns the number of integers.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn in_runs(runs: &mut BlockRuns<'_>, indices: &[u32], out: &mut [i64]) -> usize {
    let (pairs, _) = indices.as_chunks();
    let (places, _) = out.as_chunks_mut();
    for (at, out) in places.iter_mut().enumerate() {
        if !runs.pair(&pairs[at..], out) {
            return at * PAIR;
        }
    }
    pairs.len() * PAIR
}

/// Integers in blocks, with the last block that was read.
struct BlockRuns<'a> {
    blocks: Blocks<'a>,
    numbers: Numbers,
    block: u32,
    run: Option<Run<'a>>,
}

/// The integers of a block.
struct Run<'a> {
    integers: Narrow<'a>,
    base: u64,
    /// Of a line.
    slope: i64,
}

impl<'a> BlockRuns<'a> {
    fn new(blocks: Blocks<'a>, numbers: Numbers) -> BlockRuns<'a> {
        BlockRuns { blocks, numbers, block: u32::MAX, run: None }
    }

    /// Gathers the first of `pairs`, if its integers lie in one block of narrow integers whose bytes are verified.
    #[target_feature(enable = "avx512f,avx512dq")]
    #[inline]
    fn pair(&mut self, pairs: &[[u32; PAIR]], out: &mut [i64; PAIR]) -> bool {
        let Some(pair) = pairs.first() else { return false };
        // SAFETY: sixteen u32s are 64 bytes.
        let indices = unsafe { _mm512_loadu_si512(pair.as_ptr().cast()) };
        let shift = _mm_cvtsi32_si128(self.blocks.shift.into());
        let blocks = _mm512_srl_epi32(indices, shift);
        let block = pair[0].unbounded_shr(self.blocks.shift.into());
        let in_block = _mm512_cmpeq_epi32_mask(blocks, _mm512_set1_epi32(block.cast_signed()));
        let count = u32::try_from(self.numbers.count).unwrap_or(u32::MAX);
        let known = _mm512_cmplt_epu32_mask(indices, _mm512_set1_epi32(count.cast_signed()));
        if in_block & known != u16::MAX {
            return false;
        }
        if block != self.block {
            (self.block, self.run) = (block, self.run(block.into()));
        }
        let Some(Run { integers, base, slope }) = &self.run else { return false };
        let ahead = pairs.get(PAIRS_AHEAD_IN_BLOCK).unwrap_or(pair);
        // SAFETY: all indices are those of integers of this block, and `run` saw that this is so for the first
        // and the last of them.
        let found = halves(unsafe { integers.pair::<2>(pair, ahead) });
        let base = ones(base.wrapping_add(self.numbers.add.cast_unsigned()));
        let mut found = sums(found, [base; 2]);
        if *slope != 0 {
            let i = halves(_mm512_sub_epi32(indices, _mm512_sll_epi32(blocks, shift)));
            let slope = ones(slope.cast_unsigned());
            found = sums(found, [rises(slope, i[0]), rises(slope, i[1])]);
        }
        store(found, out);
        true
    }

    /// The integers of `block`, which must exist, if they are narrow and all their bytes are verified.
    #[cold]
    fn run(&self, block: u64) -> Option<Run<'a>> {
        let Blocks { table, stride, section, shift } = self.blocks;
        let at = usize::try_from(block).ok()?.checked_mul(stride.bytes())?;
        let header = Block::of(table.verified_range(at..at.checked_add(stride.bytes())?)?, stride)?;
        if header.width > WIDEST {
            return None;
        }
        let first = block << shift;
        let last = self.numbers.count.checked_sub(first + 1)?.min((1 << shift) - 1);
        // A block has at least 512 integers: each begins with a whole byte.
        let byte = |index: u64| usize::try_from(index * u64::from(header.width) / 8).ok();
        let payload = usize::try_from(header.payload).ok()?;
        let bytes = section.verified_range(payload..payload.checked_add(byte(last)?)?.checked_add(4)?)?;
        let integers = Narrow::new(bytes, byte(first)?, header.width);
        Some(Run { integers, base: header.base, slope: header.slope })
    }
}

/// The rise of a line at `i`, as computed by [`line`](crate::numeric::block::line).
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn rises(slope: __m512i, i: __m512i) -> __m512i {
    let whole = _mm512_mullo_epi64(_mm512_srai_epi64::<16>(slope), i);
    let fraction = _mm512_mul_epu32(_mm512_and_si512(slope, ones(0xFFFF)), i);
    _mm512_add_epi64(whole, _mm512_srli_epi64::<16>(fraction))
}
