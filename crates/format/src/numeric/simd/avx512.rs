//! Eight packed integers at a time, in registers of 512 bits.
#![allow(unsafe_code, reason = "intrinsics; each use has its proof")]

use std::arch::x86_64::*;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Blocks, GROUP, Numbers, Packed};
use crate::bits::{MAX_SPLIT_WIDTH, mask};
use crate::granule::GRANULE;
use crate::numeric::Stride;
use crate::source::Touched;

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn gather(
    blocks: Blocks<'_>,
    numbers: Numbers,
    indices: &[[u32; GROUP]],
    out: &mut [[i64; GROUP]],
) -> usize {
    let Some(lanes) = Lanes::new(blocks) else { return 0 };
    match (blocks.table.granules, blocks.section.granules) {
        (None, None) => each_pair(blocks, numbers, indices, out, |indices| lanes.numbers::<false>(indices)),
        _ => each_pair(blocks, numbers, indices, out, |indices| lanes.numbers::<true>(indices)),
    }
}

/// Writes the numbers of pairs of groups where these are narrow and in one block, and of others what `find` finds,
/// until it finds nothing; returns how many groups that were.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn each_pair(
    blocks: Blocks<'_>,
    numbers: Numbers,
    indices: &[[u32; GROUP]],
    out: &mut [[i64; GROUP]],
    find: impl Fn(__m512i) -> Option<__m512i>,
) -> usize {
    let mut runs = narrow::Runs::new(blocks, numbers);
    // The longer there is no such pair, the less often one is looked for.
    let (mut done, mut others) = (0, 1);
    loop {
        let found = narrow::in_runs(&mut runs, &indices[done..], &mut out[done..]);
        done += found;
        others = if found > 0 { 2 } else { (2 * others).min(64) };
        let end = indices.len().min(done + others);
        let found = each_group(numbers, &indices[done..end], &mut out[done..end], &find);
        done += found;
        if done < end || done == indices.len() {
            return done;
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn gather_packed(
    packed: Packed<'_>,
    numbers: Numbers,
    indices: &[[u32; GROUP]],
    out: &mut [[i64; GROUP]],
) -> usize {
    let done = narrow::packed(packed, numbers, indices, out);
    done + eights(packed, numbers, &indices[done..], &mut out[done..])
}

/// The same of integers of any width.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn eights(packed: Packed<'_>, numbers: Numbers, indices: &[[u32; GROUP]], out: &mut [[i64; GROUP]]) -> usize {
    let Packed { section, payload, width, .. } = packed;
    let last_word = section.bytes.len().checked_sub(8).filter(|_| width <= MAX_SPLIT_WIDTH);
    let Some(last) = last_word.map(|at| ones(at as u64)) else { return 0 };
    let (payload, width, mask) = (ones(payload as u64), ones(width.into()), ones(mask(width)));
    let place = |indices| {
        let bit = _mm512_mul_epu32(indices, width);
        let byte = _mm512_add_epi64(_mm512_srli_epi64::<3>(bit), payload);
        (_mm512_cmpgt_epu64_mask(byte, last) == 0).then_some((byte, bit))
    };
    match section.granules {
        None => each_group(numbers, indices, out, |indices| {
            let (byte, bit) = place(indices)?;
            // SAFETY: in each lane, `byte` and the 8 bytes from it on lie in the section.
            let words = unsafe { words::<false>(&section, byte) }?;
            Some(residuals(words, bit, mask))
        }),
        Some(_) => each_group(numbers, indices, out, |indices| {
            let (byte, bit) = place(indices)?;
            // SAFETY: as above.
            let words = unsafe { words::<true>(&section, byte) }?;
            Some(residuals(words, bit, mask))
        }),
    }
}

/// Writes what `find` finds at the indices of a group, until it finds nothing; returns how often.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn each_group(
    numbers: Numbers,
    indices: &[[u32; GROUP]],
    out: &mut [[i64; GROUP]],
    find: impl Fn(__m512i) -> Option<__m512i>,
) -> usize {
    let (count, add) = (ones(numbers.count), ones(numbers.add.cast_unsigned()));
    for (group, (indices, out)) in indices.iter().zip(out).enumerate() {
        // SAFETY: eight u32s are 32 bytes.
        let indices = _mm512_cvtepu32_epi64(unsafe { _mm256_loadu_si256(indices.as_ptr().cast()) });
        if _mm512_cmpge_epu64_mask(indices, count) != 0 {
            return group;
        }
        let Some(found) = find(indices) else { return group };
        let found = _mm512_add_epi64(found, add);
        // SAFETY: eight i64s are 64 bytes.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), found) };
    }
    indices.len()
}

/// `x` in each lane.
#[target_feature(enable = "avx512f")]
#[inline]
fn ones(x: u64) -> __m512i {
    _mm512_set1_epi64(x.cast_signed())
}

/// What is in the lanes.
///
/// In one cache line: of what was stored across two, a load gets nothing before the store has left the
/// processor, and so not before all loads that came earlier are done.
#[repr(align(64))]
struct InMemory([u64; GROUP]);

/// What is in the lanes.
#[target_feature(enable = "avx512f")]
#[inline]
fn lanes(x: __m512i) -> InMemory {
    let mut lanes = InMemory([0; GROUP]);
    // SAFETY: `lanes` is eight u64s, 64 bytes.
    unsafe { _mm512_storeu_si512(lanes.0.as_mut_ptr().cast(), x) };
    lanes
}

/// The same of places in memory.
#[target_feature(enable = "avx512f")]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a usize has 64 bits here")]
fn places(x: __m512i) -> [usize; GROUP] {
    lanes(x).0.map(|at| at as usize)
}

/// What is in the first lane.
#[target_feature(enable = "avx512f")]
#[inline]
fn lowest(x: __m512i) -> u64 {
    _mm_cvtsi128_si64(_mm512_castsi512_si128(x)).cast_unsigned()
}

/// A word for each lane.
#[target_feature(enable = "avx512f")]
#[inline]
fn each(word: impl Fn(usize) -> u64) -> __m512i {
    let lane = |i| word(i).cast_signed();
    _mm512_setr_epi64(lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7))
}

/// What is left of `words` of eight bytes that begin with the byte of `bit`.
#[target_feature(enable = "avx512f")]
#[inline]
fn residuals(words: __m512i, bit: __m512i, mask: __m512i) -> __m512i {
    _mm512_and_si512(_mm512_srlv_epi64(words, _mm512_and_si512(bit, ones(7))), mask)
}

/// Whether the granules of the `N` bytes at all `places` are known to be good.
#[target_feature(enable = "avx512f")]
#[inline]
fn good<const N: usize>(granules: &[AtomicU64], places: __m512i) -> bool {
    // The usual places lie in the order of the file, and so close together that two words know of them.
    let granule = _mm512_srli_epi64::<{ GRANULE.ilog2() }>(places);
    let first = lowest(granule) / 64;
    let from_first = _mm512_sub_epi64(granule, ones(first * 64));
    let within = _mm512_and_si512(places, ones(GRANULE as u64 - 1));
    let far = _mm512_cmpgt_epu64_mask(from_first, ones(127));
    let split = _mm512_cmpgt_epu64_mask(within, ones((GRANULE - N) as u64));
    if far | split != 0 {
        return good_anywhere(granules, places)
            && (split == 0 || good_anywhere(granules, last_of::<N>(places)));
    }
    let second = _mm512_cmpgt_epu64_mask(from_first, ones(63));
    let states =
        _mm512_mask_mov_epi64(ones(state(granules, first)), second, ones(state(granules, first + 1)));
    let states = _mm512_srlv_epi64(states, _mm512_and_si512(from_first, ones(63)));
    _mm512_test_epi64_mask(states, ones(1)) == u8::MAX
}

/// Word `word` of what is known of granules: no bit is set where there are none.
#[inline(always)]
fn state(granules: &[AtomicU64], word: u64) -> u64 {
    let word = usize::try_from(word).ok().and_then(|word| granules.get(word));
    word.map_or(0, |word| word.load(Ordering::Acquire))
}

/// The last of `N` bytes from each place on.
#[target_feature(enable = "avx512f")]
#[inline]
fn last_of<const N: usize>(places: __m512i) -> __m512i {
    _mm512_add_epi64(places, ones(N as u64 - 1))
}

/// The same of single bytes at any places.
#[target_feature(enable = "avx512f")]
#[inline]
fn good_anywhere(granules: &[AtomicU64], places: __m512i) -> bool {
    let granule = _mm512_srli_epi64::<{ GRANULE.ilog2() }>(places);
    let word = _mm512_srli_epi64::<6>(granule);
    if _mm512_cmpge_epu64_mask(word, ones(granules.len() as u64)) != 0 {
        return false;
    }
    let at = self::places(word);
    let states = each(|lane| {
        // SAFETY: in each lane, `word` is below the number of words.
        let word = unsafe { &*granules.as_ptr().wrapping_add(at[lane]) };
        word.load(Ordering::Acquire)
    });
    let states = _mm512_srlv_epi64(states, _mm512_and_si512(granule, ones(63)));
    _mm512_test_epi64_mask(states, ones(1)) == u8::MAX
}

/// The eight bytes at each `byte`, if they are known to be good, or nobody is to `CHECK` that.
///
/// # Safety
///
/// In each lane, they lie in the section.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn words<const CHECK: bool>(section: &Touched<'_>, byte: __m512i) -> Option<__m512i> {
    if CHECK && section.granules.is_some_and(|granules| !good::<8>(granules, byte)) {
        return None;
    }
    let at = places(byte);
    let bytes = section.bytes.as_ptr();
    Some(each(|lane| {
        // SAFETY: as the caller promises. The lowest byte comes first, here as in the format.
        unsafe { bytes.wrapping_add(at[lane]).cast::<u64>().read_unaligned() }
    }))
}

/// What is the same for all groups, once in each lane.
struct Lanes<'a> {
    blocks: Blocks<'a>,
    long: bool,
    /// The last byte of the table with a whole header behind it.
    last_header: __m512i,
    /// The last byte of the section with eight bytes behind it.
    last_word: __m512i,
}

/// What eight headers hold.
struct Headers {
    base: __m512i,
    /// Tag, width and payload.
    tags: __m512i,
    /// Of lines; anything if headers are short.
    slope: __m512i,
}

impl<'a> Lanes<'a> {
    #[target_feature(enable = "avx512f,avx512dq")]
    #[inline]
    fn new(blocks: Blocks<'a>) -> Option<Lanes<'a>> {
        Some(Lanes {
            blocks,
            long: blocks.stride == Stride::Long,
            last_header: ones(blocks.table.bytes.len().checked_sub(blocks.stride.bytes())? as u64),
            last_word: ones(blocks.section.bytes.len().checked_sub(8)? as u64),
        })
    }

    /// Eight numbers; `None` if one of them is for whoever makes errors. Without `CHECK`, all bytes are good.
    #[target_feature(enable = "avx512f,avx512dq")]
    #[inline]
    fn numbers<const CHECK: bool>(&self, indices: __m512i) -> Option<__m512i> {
        let shift = _mm_cvtsi32_si128(self.blocks.shift.into());
        let i = _mm512_andnot_si512(_mm512_sll_epi64(ones(u64::MAX), shift), indices);
        let stride = _mm_cvtsi32_si128(if self.long { 5 } else { 4 });
        let at = _mm512_sll_epi64(_mm512_srl_epi64(indices, shift), stride);
        if _mm512_cmpgt_epu64_mask(at, self.last_header) != 0 {
            return None;
        }
        // SAFETY: in each lane, `at` is not above `last_header`.
        let Headers { base, tags, slope } = unsafe { self.headers::<CHECK>(at) }?;

        let (tag, low) = (_mm512_and_si512(tags, ones(0xFF)), ones(0xFF));
        let width = _mm512_and_si512(_mm512_srli_epi64::<8>(tags), low);
        let line = _mm512_cmpeq_epi64_mask(tag, ones(2));
        let none = _mm512_cmpeq_epi64_mask(width, _mm512_setzero_si512());
        let constant = _mm512_cmpeq_epi64_mask(tag, _mm512_setzero_si512());
        // A constant block has no width, a packed one has some; lines have both.
        let illegal = _mm512_cmpgt_epu64_mask(tag, ones(2))
            | _mm512_cmpgt_epu64_mask(width, ones(MAX_SPLIT_WIDTH.into()))
            | (none ^ constant) & !line
            | if self.long { 0 } else { line };
        // Places have at most 32 bits, and widths fewer.
        let bit = _mm512_mul_epu32(i, width);
        let payload = _mm512_slli_epi64::<3>(_mm512_srli_epi64::<16>(tags));
        let byte = _mm512_add_epi64(payload, _mm512_srli_epi64::<3>(bit));
        let outside = _mm512_cmpgt_epu64_mask(byte, self.last_word);
        if illegal | outside != 0 {
            return None;
        }
        // SAFETY: in each lane, `byte` and the 8 bytes from it on lie in the section.
        let words = unsafe { words::<CHECK>(&self.blocks.section, byte) }?;
        // A shift by 64 leaves nothing.
        let mask = _mm512_srlv_epi64(ones(u64::MAX), _mm512_sub_epi64(ones(64), width));
        let number = _mm512_add_epi64(base, residuals(words, bit, mask));
        Some(if line == 0 { number } else { _mm512_add_epi64(number, rises(line, slope, i)) })
    }

    /// The headers at each `byte` of the table, if they are known to be good.
    ///
    /// # Safety
    ///
    /// In each lane, one lies in the table.
    #[target_feature(enable = "avx512f,avx512dq")]
    #[inline]
    unsafe fn headers<const CHECK: bool>(&self, byte: __m512i) -> Option<Headers> {
        // A header lies in one granule: granules begin where headers do.
        if CHECK && self.blocks.table.granules.is_some_and(|granules| !good::<1>(granules, byte)) {
            return None;
        }
        let at = places(byte);
        let header = |lane: usize| self.blocks.table.bytes.as_ptr().wrapping_add(at[lane]);
        Some(if self.long {
            // SAFETY: each of these headers has 32 bytes, as the caller promises.
            let load = |lane| unsafe { _mm256_loadu_si256(header(lane).cast()) };
            let two = |lane| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(load(lane)), load(lane + 4));
            transposed([two(0), two(1), two(2), two(3)])
        } else {
            // SAFETY: each of these headers has 16 bytes, as the caller promises.
            let load = |lane| unsafe { _mm_loadu_si128(header(lane).cast()) };
            let two = |lane| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(lane)), load(lane + 2));
            let four = |lane| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(two(lane)), two(lane + 4));
            let (even, odd) = (four(0), four(1));
            let (base, tags) = (_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd));
            Headers { base, tags, slope: tags }
        })
    }
}

/// The long headers of lanes 0 and 4, 1 and 5, 2 and 6, 3 and 7.
#[target_feature(enable = "avx512f")]
#[inline]
fn transposed(headers: [__m512i; 4]) -> Headers {
    let (low, high) = ([headers[0], headers[1]], [headers[2], headers[3]]);
    // Of lanes 0, 1, 4, 5, and of the others: bases and slopes, tags and what nobody needs.
    let even = [_mm512_unpacklo_epi64(low[0], low[1]), _mm512_unpacklo_epi64(high[0], high[1])];
    let odd = [_mm512_unpackhi_epi64(low[0], low[1]), _mm512_unpackhi_epi64(high[0], high[1])];
    let front = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let back = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    Headers {
        base: _mm512_permutex2var_epi64(even[0], front, even[1]),
        tags: _mm512_permutex2var_epi64(odd[0], front, odd[1]),
        slope: _mm512_permutex2var_epi64(even[0], back, even[1]),
    }
}

/// How far the lines of some lanes have risen at `i`, as [`line`](crate::numeric::block::line) has it: in
/// two halves, because the product may pass 64 bits.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn rises(lines: __mmask8, slope: __m512i, i: __m512i) -> __m512i {
    let slope = _mm512_maskz_mov_epi64(lines, slope);
    let whole = _mm512_srai_epi64::<16>(slope);
    let half = _mm512_srai_epi64::<32>(_mm512_slli_epi64::<32>(whole));
    let whole = match _mm512_cmpneq_epi64_mask(whole, half) {
        // The usual one takes a third of the time.
        0 => _mm512_mul_epi32(whole, i),
        _ => _mm512_mullo_epi64(whole, i),
    };
    let fraction = _mm512_mul_epu32(_mm512_and_si512(slope, ones(0xFFFF)), i);
    _mm512_add_epi64(whole, _mm512_srli_epi64::<16>(fraction))
}

pub(super) mod narrow;
