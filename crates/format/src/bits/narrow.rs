//! Narrowing 64-bit numbers to ords of 32 bits, and unpacking integers directly to 32 bits.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::by_cpu;
use super::multiversion;
use crate::id::TermOrd;

multiversion! {
    /// Converts each number to an ord. A number that does not fit a `u32` becomes ord `u32::MAX`.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `numbers`.
    pub fn to_ords(numbers: &[i64], out: &mut [TermOrd]) {
        /// 8 KiB of numbers, which stay in the first-level cache from the first pass to the second.
        const NUMBERS_PER_PASS: usize = 1024;
        assert_eq!(numbers.len(), out.len(), "`out` must be as long as `numbers`");
        for (numbers, out) in numbers.chunks(NUMBERS_PER_PASS).zip(out.chunks_mut(NUMBERS_PER_PASS)) {
            // If all numbers of a pass fit, the loop only truncates them, which every CPU can vectorize.
            let high = numbers.iter().fold(0, |high, number| high | number >> 32);
            for (number, out) in numbers.iter().zip(out) {
                // As unsigned numbers, negative ones are above `u32::MAX`, so they become `u32::MAX`, too.
                let number =
                    if high == 0 { number.cast_unsigned() } else { number.cast_unsigned().min(u32::MAX.into()) };
                #[expect(clippy::cast_possible_truncation, reason = "at most u32::MAX")]
                {
                    *out = TermOrd::new(number as u32);
                }
            }
        }
    }
}

/// Unpacks integers of `width` bits, from index `start` on, and adds `add` to each to make it an ord. No sum may exceed
/// `u32::MAX`.
///
/// Unpacks only whole groups, as many as this CPU's kernel can, and returns the number of integers unpacked. The caller
/// unpacks the rest, and all if `start` is no multiple of 8.
#[inline]
pub fn unpack_ords(bytes: &[u8], width: u8, start: usize, add: u32, out: &mut [TermOrd]) -> usize {
    let from = (start / 8).checked_mul(width.into()).and_then(|at| bytes.get(at..));
    let Some(bytes) = from.filter(|_| start.is_multiple_of(8)) else { return 0 };
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if (1..=super::shuffles::NARROW).contains(&width) {
        by_cpu!(x86::sixteens(bytes, width, add, out), x86::eights(bytes, width, add, out));
    }
    super::unpack_kernels::unrolled_ords(bytes, width, add, out)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
pub(super) mod x86 {
    use std::arch::x86_64::*;

    use super::super::shuffles::{SIXTEENS, Sixteens};
    use super::super::unpack_kernels::{AHEAD, groups};
    use crate::id::TermOrd;
    use crate::prefetch::prefetch;

    /// Unpacks sixteen integers at a time. The first integer begins at the first byte of `bytes`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn sixteens(bytes: &[u8], width: u8, add: u32, out: &mut [TermOrd]) -> usize {
        const GROUP: usize = 16;
        let step = 2 * usize::from(width);
        let Sixteens { bytes: pattern, shifts } = &SIXTEENS[usize::from(width)];
        // SAFETY: `pattern` and `shifts` are 64 bytes each.
        let pattern = unsafe { _mm512_loadu_si512(pattern.as_ptr().cast()) };
        // SAFETY: as above.
        let shifts = unsafe { _mm512_loadu_si512(shifts.as_ptr().cast()) };
        let mask = _mm512_set1_epi32((u32::MAX >> (32 - width)).cast_signed());
        let add = _mm512_set1_epi32(add.cast_signed());
        let (places, _) = out.as_chunks_mut::<GROUP>();
        let count = groups(bytes, step).min(places.len());
        for (group, out) in places[..count].iter_mut().enumerate() {
            let from = bytes.as_ptr().wrapping_add(group * step);
            prefetch(from.wrapping_add(AHEAD));
            // SAFETY: `groups` counts only groups with 64 readable bytes from their first one on.
            let window = unsafe { _mm512_loadu_si512(from.cast()) };
            let lanes = _mm512_srlv_epi32(_mm512_permutexvar_epi8(pattern, window), shifts);
            let ords = _mm512_add_epi32(_mm512_and_si512(lanes, mask), add);
            // SAFETY: `TermOrd` is a transparent wrapper of `u32`, so sixteen of them take 64 bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), ords) };
        }
        count * GROUP
    }

    /// Unpacks eight integers at a time. The first integer begins at the first byte of `bytes`.
    #[target_feature(enable = "avx2")]
    pub(super) fn eights(bytes: &[u8], width: u8, add: u32, out: &mut [TermOrd]) -> usize {
        let add = _mm256_set1_epi32(add.cast_signed());
        let (places, _) = out.as_chunks_mut::<8>();
        let count = groups(bytes, width.into()).min(places.len());
        each_eight(bytes, width, count, |group, integers| {
            let (ords, out) = (_mm256_add_epi32(integers, add), &mut places[group]);
            // SAFETY: `TermOrd` is a transparent wrapper of `u32`, so eight of them take 32 bytes.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), ords) };
        });
        count * 8
    }

    /// Calls `each` with the index and the integers of each of the first `count` groups of eight, but of no more groups
    /// than [`groups`] counts. Half a group, four integers of up to 25 bits, fits in one load of 16 bytes.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(in super::super) fn each_eight(
        bytes: &[u8],
        width: u8,
        count: usize,
        mut each: impl FnMut(usize, __m256i),
    ) {
        let step = usize::from(width);
        let Sixteens { bytes: pattern, shifts } = &SIXTEENS[step];
        // The byte in which the fifth integer begins. The upper half of the register is loaded from there, so its
        // pattern is relative to this byte.
        let fifth = width / 2;
        let offsets = _mm256_set_m128i(_mm_set1_epi8(fifth.cast_signed()), _mm_setzero_si128());
        // SAFETY: `pattern` and `shifts` are 64 bytes each.
        let pattern = _mm256_sub_epi8(unsafe { _mm256_loadu_si256(pattern.as_ptr().cast()) }, offsets);
        // SAFETY: as above.
        let shifts = unsafe { _mm256_loadu_si256(shifts.as_ptr().cast()) };
        let mask = _mm256_set1_epi32((u32::MAX >> (32 - width)).cast_signed());
        for group in 0..count.min(groups(bytes, step)) {
            let from = bytes.as_ptr().wrapping_add(group * step);
            prefetch(from.wrapping_add(AHEAD));
            // SAFETY: `groups` counts only groups with 64 readable bytes from their first one on.
            let first = unsafe { _mm_loadu_si128(from.cast()) };
            // SAFETY: as above; the fifth integer begins in byte 12 at the latest.
            let second = unsafe { _mm_loadu_si128(from.wrapping_add(fifth.into()).cast()) };
            let lanes = _mm256_shuffle_epi8(_mm256_set_m128i(second, first), pattern);
            each(group, _mm256_and_si256(_mm256_srlv_epi32(lanes, shifts), mask));
        }
    }
}
