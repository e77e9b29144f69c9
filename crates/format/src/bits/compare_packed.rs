//! Range comparison of packed integers, without unpacking them to memory.
//!
//! The AVX-512 kernels unpack as in [`super::unpack_kernels`], eight or (up to 25 bits) sixteen integers at a time,
//! and compare instead of storing. The AVX2 kernel unpacks as in [`super::narrow`].

/// Integers for each word of the result.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const WORD: usize = 64;

/// Sets bit *i* of `found` if packed integer `start + i` lies in `low ..= low + span`, modulo 2^64.
///
/// Compares as many whole words of 64 integers as a kernel of this CPU can, and returns the number of integers. The
/// caller unpacks the others. A kernel needs a window of 64 bytes for each group, and a `start` that is a multiple of 8.
#[inline]
pub fn in_range_packed(
    bytes: &[u8],
    width: u8,
    start: usize,
    low: u64,
    span: u64,
    found: &mut [u64],
) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if start.is_multiple_of(8) && (super::has_avx512() || super::has_avx2()) {
        return x86::in_range_packed(bytes, width, start / 8, low, span, found);
    }
    let _ = (bytes, width, start, low, span, found);
    0
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::narrow::x86::each_eight;
    use super::super::shuffles::{EIGHTS, Eights, NARROW, SIXTEENS, Sixteens};
    use super::super::unpack_kernels::{AHEAD, groups};
    use super::super::{MAX_SPLIT_WIDTH, by_cpu, has_avx512, mask};
    use super::WORD;
    use crate::prefetch::prefetch;

    /// As [`in_range_packed`](super::in_range_packed), from group `group` of eight on.
    pub(super) fn in_range_packed(
        bytes: &[u8],
        width: u8,
        group: usize,
        low: u64,
        span: u64,
        found: &mut [u64],
    ) -> usize {
        let from = group.checked_mul(width.into()).and_then(|at| bytes.get(at..));
        let (Some(bytes), 1..=MAX_SPLIT_WIDTH) = (from, width) else { return 0 };
        if width > NARROW {
            // SAFETY: this CPU has every feature that the function is compiled for.
            return if has_avx512() { unsafe { eights(bytes, width, low, span, found) } } else { 0 };
        }
        let Some((low, span)) = narrowed(low, span, width) else { return 0 };
        by_cpu!(sixteens(bytes, width, low, span, found), narrow_eights(bytes, width, low, span, found));
        0
    }

    /// The part of the range that integers of `width` bits can reach, in 32 bits; `None` if it is empty or wraps into
    /// two ranges.
    fn narrowed(low: u64, span: u64, width: u8) -> Option<(u32, u32)> {
        let max = mask(width);
        let (low, high) = match low.checked_add(span) {
            Some(high) => (low, high),
            // The range begins below zero and wraps.
            None if low > max => (0, low.wrapping_add(span)),
            None => return None,
        };
        let (low, high) = (u32::try_from(low).ok()?, u32::try_from(high.min(max)).ok()?);
        Some((low, high.checked_sub(low)?))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn sixteens(bytes: &[u8], width: u8, low: u32, span: u32, found: &mut [u64]) -> usize {
        const EACH: usize = WORD / 16;
        let step = 2 * usize::from(width);
        let Sixteens { bytes: pattern, shifts } = &SIXTEENS[usize::from(width)];
        // SAFETY: `pattern` and `shifts` are 64 bytes each.
        let pattern = unsafe { _mm512_loadu_si512(pattern.as_ptr().cast()) };
        // SAFETY: as above.
        let shifts = unsafe { _mm512_loadu_si512(shifts.as_ptr().cast()) };
        let mask = _mm512_set1_epi32((u32::MAX >> (32 - width)).cast_signed());
        let low = _mm512_set1_epi32(low.cast_signed());
        let span = _mm512_set1_epi32(span.cast_signed());
        let count = (groups(bytes, step) / EACH).min(found.len());
        for (word, found) in found[..count].iter_mut().enumerate() {
            *found |= (0..EACH).fold(0, |found, group| {
                let from = bytes.as_ptr().wrapping_add((word * EACH + group) * step);
                prefetch(from.wrapping_add(AHEAD));
                // SAFETY: `groups` counts those that have 64 bytes from `from` on.
                let window = unsafe { _mm512_loadu_si512(from.cast()) };
                let lanes = _mm512_srlv_epi32(_mm512_permutexvar_epi8(pattern, window), shifts);
                let lanes = _mm512_sub_epi32(_mm512_and_si512(lanes, mask), low);
                found | u64::from(_mm512_cmple_epu32_mask(lanes, span)) << (16 * group)
            });
        }
        count * WORD
    }

    #[target_feature(enable = "avx2")]
    fn narrow_eights(bytes: &[u8], width: u8, low: u32, span: u32, found: &mut [u64]) -> usize {
        const EACH: usize = WORD / 8;
        let low = _mm256_set1_epi32(low.cast_signed());
        let span = _mm256_set1_epi32(span.cast_signed());
        let count = (groups(bytes, width.into()) / EACH).min(found.len());
        // The bits of the last eight groups, in a register: in memory, each group would wait for the store of the one
        // before.
        let mut word = 0;
        each_eight(bytes, width, count * EACH, |group, integers| {
            let above = _mm256_sub_epi32(integers, low);
            let inside = _mm256_cmpeq_epi32(_mm256_min_epu32(above, span), above);
            let eight = _mm256_movemask_ps(_mm256_castsi256_ps(inside)).cast_unsigned();
            word = word >> 8 | u64::from(eight) << 56;
            if group % EACH == EACH - 1 {
                found[group / EACH] |= word;
            }
        });
        count * WORD
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn eights(bytes: &[u8], width: u8, low: u64, span: u64, found: &mut [u64]) -> usize {
        const EACH: usize = WORD / 8;
        let step = usize::from(width);
        let Eights { bytes: pattern, shifts, .. } = &EIGHTS[step];
        // SAFETY: `pattern` and `shifts` are 64 bytes each.
        let pattern = unsafe { _mm512_loadu_si512(pattern.as_ptr().cast()) };
        // SAFETY: as above.
        let shifts = unsafe { _mm512_loadu_si512(shifts.as_ptr().cast()) };
        let mask = _mm512_set1_epi64(mask(width).cast_signed());
        let low = _mm512_set1_epi64(low.cast_signed());
        let span = _mm512_set1_epi64(span.cast_signed());
        let count = (groups(bytes, step) / EACH).min(found.len());
        for (word, found) in found[..count].iter_mut().enumerate() {
            *found |= (0..EACH).fold(0, |found, group| {
                let from = bytes.as_ptr().wrapping_add((word * EACH + group) * step);
                prefetch(from.wrapping_add(AHEAD));
                // SAFETY: `groups` counts those that have 64 bytes from `from` on.
                let window = unsafe { _mm512_loadu_si512(from.cast()) };
                let lanes = _mm512_srlv_epi64(_mm512_permutexvar_epi8(pattern, window), shifts);
                let lanes = _mm512_sub_epi64(_mm512_and_si512(lanes, mask), low);
                found | u64::from(_mm512_cmple_epu64_mask(lanes, span)) << (8 * group)
            });
        }
        count * WORD
    }
}
