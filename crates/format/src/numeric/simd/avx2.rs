//! The AVX2 gather kernel: computes the places of four packed integers of several blocks at a time.
#![allow(unsafe_code, reason = "intrinsics; each use has its proof")]

use std::arch::x86_64::*;

use super::scalar::{INDICES_PER_PASS, Places, each_part};
use super::{Blocks, Numbers};
use crate::bits::MAX_SPLIT_WIDTH;
use crate::granule::GRANULE;
use crate::numeric::Stride;
use crate::prefetch::prefetch;

/// Integers in a group.
const GROUP: usize = 4;

/// As [`gather`](super::gather); stops before the first integer that needs the checked path.
#[target_feature(enable = "avx2,bmi2,popcnt")]
pub(super) fn gather(blocks: Blocks<'_>, numbers: Numbers, indices: &[u32], out: &mut [i64]) -> usize {
    let find = |indices: &[u32], places: &mut Places| {
        // SAFETY: `each_part` passes only indices whose headers lie in the table.
        let found = unsafe { find(blocks, indices, places) };
        if found + GROUP <= indices.len() {
            return found;
        }
        // SAFETY: as above.
        unsafe { places.find_from(found, blocks, indices) }
    };
    // SAFETY: both ways of finding stop before a place with fewer than eight bytes after it.
    unsafe { each_part(blocks, numbers, indices, out, find) }
}

/// `x` in each lane.
#[target_feature(enable = "avx2")]
#[inline]
fn ones(x: u64) -> __m256i {
    _mm256_set1_epi64x(x.cast_signed())
}

/// The four lanes as an array, which lies in one cache line: see [`avx512`](super::avx512).
#[target_feature(enable = "avx2")]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a usize has 64 bits here")]
fn lanes(x: __m256i) -> [usize; GROUP] {
    #[repr(align(32))]
    struct InMemory([u64; GROUP]);
    let mut lanes = InMemory([0; GROUP]);
    // SAFETY: `lanes` is four u64s, 32 bytes.
    unsafe { _mm256_store_si256(lanes.0.as_mut_ptr().cast(), x) };
    lanes.0.map(|at| at as usize)
}

/// Computes the places of groups of `indices`, up to the first group that needs the checked path. Returns the number
/// of places.
///
/// # Safety
///
/// The header of each of `indices` lies in the table.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn find(blocks: Blocks<'_>, indices: &[u32], places: &mut Places) -> usize {
    let Blocks { table, section, stride, shift } = blocks;
    let Some(last) = section.bytes.len().checked_sub(8) else { return 0 };
    let (last, low, zero) = (ones(last as u64), ones(0xFF), _mm256_setzero_si256());
    let (shift, within) = (_mm_cvtsi32_si128(shift.into()), ones((1 << shift) - 1));
    let long = stride == Stride::Long;
    let header_bits = _mm_cvtsi32_si128(if long { 5 } else { 4 });
    let (groups, _) = indices.as_chunks::<GROUP>();
    let Places { byte: byte_of, shift: shift_of, mask: mask_of, add: add_of } = places;
    let (byte_of, shift_of) = (byte_of.as_chunks_mut().0, shift_of.as_chunks_mut().0);
    let (mask_of, add_of) = (mask_of.as_chunks_mut().0, add_of.as_chunks_mut().0);
    for (group, indices) in groups.iter().take(INDICES_PER_PASS / GROUP).enumerate() {
        // SAFETY: four u32s are 16 bytes.
        let indices = _mm256_cvtepu32_epi64(unsafe { _mm_loadu_si128(indices.as_ptr().cast()) });
        let headers = lanes(_mm256_sll_epi64(_mm256_srl_epi64(indices, shift), header_bits));
        if table.granules.is_some() && !headers.iter().all(|at| table.is_good(at / GRANULE)) {
            return group * GROUP;
        }
        let header = |lane: usize| table.bytes.as_ptr().wrapping_add(headers[lane]);
        let [base, tags, slope] = if long {
            // SAFETY: as the caller promises of headers of this length.
            unsafe { long_headers(header) }
        } else {
            // SAFETY: as above.
            unsafe { short_headers(header) }
        };

        let i = _mm256_and_si256(indices, within);
        let (tag, width) = (_mm256_and_si256(tags, low), _mm256_and_si256(_mm256_srli_epi64::<8>(tags), low));
        let is_line = _mm256_cmpeq_epi64(tag, ones(2));
        // A constant block has no width, a packed one has some; lines have both.
        let wrong = _mm256_xor_si256(_mm256_cmpeq_epi64(width, zero), _mm256_cmpeq_epi64(tag, zero));
        let wide = _mm256_andnot_si256(
            _mm256_cmpeq_epi64(width, ones(64)),
            _mm256_cmpgt_epi64(width, ones(MAX_SPLIT_WIDTH.into())),
        );
        let unknown = _mm256_cmpgt_epi64(tag, ones(if long { 2 } else { 1 }));
        // Places have at most 32 bits, and widths fewer. No sum has more than 52.
        let bit = _mm256_mul_epu32(i, width);
        let payload = _mm256_slli_epi64::<3>(_mm256_srli_epi64::<16>(tags));
        let byte = _mm256_add_epi64(payload, _mm256_srli_epi64::<3>(bit));
        let outside = _mm256_cmpgt_epi64(byte, last);
        let refused = _mm256_or_si256(
            _mm256_or_si256(unknown, outside),
            _mm256_or_si256(wide, _mm256_andnot_si256(is_line, wrong)),
        );
        if _mm256_testz_si256(refused, refused) == 0 {
            return group * GROUP;
        }
        let mut add = base;
        if long {
            add = _mm256_add_epi64(add, rises(_mm256_and_si256(slope, is_line), i));
        }
        let mask = _mm256_andnot_si256(_mm256_sllv_epi64(ones(u64::MAX), width), ones(u64::MAX));
        put(byte, &mut byte_of[group]);
        put(_mm256_and_si256(bit, ones(7)), &mut shift_of[group]);
        put(mask, &mut mask_of[group]);
        put(add, &mut add_of[group]);
        lanes(byte).iter().for_each(|&byte| prefetch(section.bytes.as_ptr().wrapping_add(byte)));
    }
    groups.len() * GROUP
}

/// Writes the four lanes to `to`.
#[target_feature(enable = "avx2")]
#[inline]
fn put(x: __m256i, to: &mut [u64; GROUP]) {
    // SAFETY: four u64s are 32 bytes.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), x) };
}

/// Base and tags of four headers of 16 bytes.
///
/// # Safety
///
/// At each `header` there are as many.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn short_headers(header: impl Fn(usize) -> *const u8) -> [__m256i; 3] {
    // SAFETY: as the caller promises.
    let load = |lane| unsafe { _mm_loadu_si128(header(lane).cast()) };
    let two = |lane| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(lane)), load(lane + 2));
    let (even, odd) = (two(0), two(1));
    let (base, tags) = (_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd));
    [base, tags, _mm256_setzero_si256()]
}

/// Base, tags and slope of four headers of 32 bytes.
///
/// # Safety
///
/// At each `header` there are as many.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn long_headers(header: impl Fn(usize) -> *const u8) -> [__m256i; 3] {
    // SAFETY: as the caller promises.
    let load = |lane| unsafe { _mm256_loadu_si256(header(lane).cast()) };
    let (front, back) = ([load(0), load(1)], [load(2), load(3)]);
    // Bases and slopes of two lanes; tags and zeros of two lanes.
    let even = [_mm256_unpacklo_epi64(front[0], front[1]), _mm256_unpacklo_epi64(back[0], back[1])];
    let odd = [_mm256_unpackhi_epi64(front[0], front[1]), _mm256_unpackhi_epi64(back[0], back[1])];
    [
        _mm256_permute2x128_si256::<0x20>(even[0], even[1]),
        _mm256_permute2x128_si256::<0x20>(odd[0], odd[1]),
        _mm256_permute2x128_si256::<0x31>(even[0], even[1]),
    ]
}

/// The rise of lines at `i`, which has at most 32 bits, as computed by [`line`](crate::numeric::block::line): the
/// product with the upper half of the slope, which loses no bits, and that with the lower half.
#[target_feature(enable = "avx2")]
#[inline]
fn rises(slope: __m256i, i: __m256i) -> __m256i {
    let upper = _mm256_mul_epi32(_mm256_srli_epi64::<32>(slope), i);
    let lower = _mm256_mul_epu32(slope, i);
    _mm256_add_epi64(_mm256_slli_epi64::<16>(upper), _mm256_srli_epi64::<16>(lower))
}
