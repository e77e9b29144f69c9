//! Vector kernels that unpack or compare eight integers at a time.
//!
//! Eight integers of `width` bits occupy `width` bytes, so every group of eight begins at a whole byte. One pattern
//! then serves all groups of a width: which bytes go to which lane, and by how many bits each lane is shifted. The
//! scalar loop of [`super::unpack`] is the reference; tests compare every kernel that the CPU has with it.
//!
//! Unpacking:
//!
//! | kernel | instructions for a group of eight | needs |
//! | --- | --- | --- |
//! | `vbmi` | one load, one byte permutation over 64 bytes, shift, mask, add, store | AVX-512 F, BW, VBMI |
//! | `avx2` | four loads of 16 bytes, two shuffles within lanes, shift, mask, add, two stores | AVX2 |
//! | `unrolled` | eight loads, with offsets, shifts and masks that are constants for each width | nothing |
//!
//! The byte permutation is the one for which Lemire and Boytsov's *Decoding billions of integers per second through
//! vectorization* (2015) uses `pshufb`, over four times the bytes.

use super::MAX_SPLIT_WIDTH;
#[cfg(target_arch = "aarch64")]
use super::compare::bits_of;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::multiversion::by_cpu;
use super::multiversion::multiversion;
use crate::id::TermOrd;

/// Integers in a group.
pub(super) const GROUP: usize = 8;

/// Bytes that a kernel may read from the start of a group, whether it uses them or not.
pub(super) const WINDOW: usize = 64;

/// The prefetch distance in bytes: four pages. The hardware prefetcher does not cross pages and so is late. A group
/// is shorter than a cache line, so one prefetch for each group covers every line.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) const AHEAD: usize = 16 << 10;

/// A kernel that unpacks whole groups of eight and returns the number of integers. The first group begins with byte 0
/// of `bytes`, the width is 1 to 56, and `base` is added to each integer modulo 2^64. The kernel stops when `out` has
/// less than a group left, or `bytes` less than a [`WINDOW`].
pub(super) type Unpack = fn(bytes: &[u8], width: u8, base: u64, out: &mut [u64]) -> usize;

/// The fastest kernel of this CPU.
#[inline]
pub(super) fn best() -> Unpack {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return x86::best().unwrap_or(unrolled);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    return unrolled;
}

/// The instance of a function that has `$width` as a constant, from a table of those for 1 to 56. `None` for other
/// widths.
macro_rules! by_width {
    ($function:ident, $width:expr) => {
        by_width!($function, $width, 1 9 17 25 33 41 49)
    };
    ($function:ident, $width:expr, $($first:literal)*) => {{
        static BY_WIDTH: [OfWidth; MAX_SPLIT_WIDTH as usize] = [$(
            $function::<{ $first }>, $function::<{ $first + 1 }>, $function::<{ $first + 2 }>, $function::<{ $first + 3 }>,
            $function::<{ $first + 4 }>, $function::<{ $first + 5 }>, $function::<{ $first + 6 }>, $function::<{ $first + 7 }>,
        )*];
        usize::from($width).checked_sub(1).and_then(|at| BY_WIDTH.get(at))
    }};
}

/// An [`Unpack`] without vector instructions: one unrolled loop for each width.
fn unrolled(bytes: &[u8], width: u8, base: u64, out: &mut [u64]) -> usize {
    type OfWidth = fn(&[u8], u64, &mut [u64]) -> usize;
    fn of_width<const WIDTH: usize>(bytes: &[u8], base: u64, out: &mut [u64]) -> usize {
        groups_of::<WIDTH, _>(bytes, out, |residual| base.wrapping_add(residual))
    }
    by_width!(of_width, width).map_or(0, |kernel| kernel(bytes, base, out))
}

/// As [`unrolled`], to ords, with `add` added to each. No sum may exceed `u32::MAX`.
pub(super) fn unrolled_ords(bytes: &[u8], width: u8, add: u32, out: &mut [TermOrd]) -> usize {
    type OfWidth = fn(&[u8], u32, &mut [TermOrd]) -> usize;
    #[expect(clippy::cast_possible_truncation, reason = "no sum passes a u32")]
    fn of_width<const WIDTH: usize>(bytes: &[u8], add: u32, out: &mut [TermOrd]) -> usize {
        groups_of::<WIDTH, _>(bytes, out, |residual| TermOrd::new(add.wrapping_add(residual as u32)))
    }
    by_width!(of_width, width).map_or(0, |kernel| kernel(bytes, add, out))
}

#[inline(always)]
fn groups_of<const WIDTH: usize, T>(bytes: &[u8], out: &mut [T], value: impl Fn(u64) -> T) -> usize {
    let mask = u64::MAX >> (64 - WIDTH);
    let (groups, _) = out.as_chunks_mut::<GROUP>();
    let mut done = 0;
    for out in groups {
        let window = bytes.get(done / GROUP * WIDTH..).and_then(<[u8]>::first_chunk::<WINDOW>);
        let Some(window) = window else { break };
        for (i, out) in out.iter_mut().enumerate() {
            let (byte, bit) = (i * WIDTH / 8, i * WIDTH % 8);
            let word: &[u8; 8] = window[byte..].first_chunk().unwrap_or(&[0; 8]);
            *out = value(u64::from_le_bytes(*word) >> bit & mask);
        }
        done += GROUP;
    }
    done
}

multiversion! {
    /// Replaces each number `x` by `start + factor * x`, modulo 2^64.
    pub fn multiples(start: u64, factor: u64, numbers: &mut [u64]) {
        numbers.iter_mut().for_each(|x| *x = start.wrapping_add(x.wrapping_mul(factor)));
    }
}

/// Compares up to 64 numbers with `low ..= low + span`: bit *i* is set if number *i* lies in the range.
///
/// One comparison checks both bounds: a number below `low` wraps to a difference above `span`.
#[inline]
pub(crate) fn in_range(numbers: &[u64], low: u64, span: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Ok(numbers) = numbers.try_into() {
        by_cpu!(x86::in_range(numbers, low, span), x86::in_range_avx2(numbers, low, span));
    }
    #[cfg(target_arch = "aarch64")]
    if let Ok(numbers) = numbers.try_into() {
        return in_range_bytes(numbers, low, span);
    }
    in_range_scalar(numbers, low, span)
}

/// Compares up to 64 numbers with `low ..= high`: bit *i* is set if number *i* lies in the range.
///
/// ```
/// use docvalues_format::bits::within;
///
/// assert_eq!(within(&[-2, -1, 5, i64::MAX], -1, 5), 0b0110);
/// ```
#[inline]
#[allow(unsafe_code, reason = "no safe function of the standard library does it")]
pub fn within(numbers: &[i64], low: i64, high: i64) -> u64 {
    let (len, start) = (numbers.len(), numbers.as_ptr().cast());
    // SAFETY: `i64` and `u64` have the same size and alignment, every bit pattern is valid for both,
    // and the slice is borrowed for as long as the result is.
    let numbers = unsafe { std::slice::from_raw_parts(start, len) };
    if low > high { 0 } else { in_range(numbers, low.cast_unsigned(), high.abs_diff(low)) }
}

/// The compiler vectorizes this loop with NEON, but not [`in_range_scalar`].
#[cfg(target_arch = "aarch64")]
fn in_range_bytes(numbers: &[u64; 64], low: u64, span: u64) -> u64 {
    let mut bytes = [0; 64];
    bytes.iter_mut().zip(numbers).for_each(|(byte, x)| *byte = u8::from(x.wrapping_sub(low) <= span));
    bits_of(&bytes)
}

/// The reference implementation.
#[inline(always)]
fn in_range_scalar(numbers: &[u64], low: u64, span: u64) -> u64 {
    numbers.iter().rev().fold(0, |word, x| word << 1 | u64::from(x.wrapping_sub(low) <= span))
}

/// Reinterprets signed numbers as unsigned ones, in place.
///
/// ```
/// let mut numbers = [-1, 5];
/// docvalues_format::bits::multiples(10, 2, docvalues_format::bits::unsigned(&mut numbers));
/// assert_eq!(numbers, [8, 20]);
/// ```
#[inline]
#[allow(unsafe_code, reason = "no safe function of the standard library does it")]
pub fn unsigned(numbers: &mut [i64]) -> &mut [u64] {
    let (len, start) = (numbers.len(), numbers.as_mut_ptr().cast());
    // SAFETY: `i64` and `u64` have the same size and alignment, every bit pattern is valid for both,
    // and the slice is borrowed mutably for as long as the result is.
    unsafe { std::slice::from_raw_parts_mut(start, len) }
}

/// Every kernel that this CPU can run, with its name.
#[cfg(test)]
pub(super) fn available() -> Vec<(&'static str, Unpack)> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return x86::available().into_iter().chain([("unrolled", unrolled as Unpack)]).collect();
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    return vec![("unrolled", unrolled)];
}

/// The number of groups, `step` bytes each, for which `bytes` has a whole window.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) fn groups(bytes: &[u8], step: usize) -> usize {
    bytes.len().checked_sub(WINDOW).map_or(0, |last| last / step + 1)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
pub(super) mod x86 {
    use std::arch::x86_64::*;

    use super::super::shuffles::{EIGHTS, Eights};
    use super::super::{has_avx2, mask};
    use super::{AHEAD, GROUP, Unpack, groups};
    use crate::prefetch::prefetch;

    pub(super) fn best() -> Option<Unpack> {
        if crate::bits::has_avx512() {
            return Some(vbmi);
        }
        has_avx2().then_some(avx2 as Unpack)
    }

    #[cfg(test)]
    pub(super) fn available() -> Vec<(&'static str, Unpack)> {
        let kernels: [(&str, bool, Unpack); 2] =
            [("vbmi", crate::bits::has_avx512(), vbmi), ("avx2", has_avx2(), avx2)];
        kernels.into_iter().filter(|(_, has, _)| *has).map(|(name, _, kernel)| (name, kernel)).collect()
    }

    fn vbmi(bytes: &[u8], width: u8, base: u64, out: &mut [u64]) -> usize {
        assert!(crate::bits::has_avx512());
        // SAFETY: the line above: this CPU has every feature that the function is compiled for.
        unsafe { vbmi_groups(bytes, width, base, out) }
    }

    fn avx2(bytes: &[u8], width: u8, base: u64, out: &mut [u64]) -> usize {
        assert!(has_avx2());
        // SAFETY: the line above: this CPU has every feature that the function is compiled for.
        unsafe { avx2_groups(bytes, width, base, out) }
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn in_range(numbers: &[u64; 64], low: u64, span: u64) -> u64 {
        let low = _mm512_set1_epi64(low.cast_signed());
        let span = _mm512_set1_epi64(span.cast_signed());
        let mut word = 0;
        for (group, numbers) in numbers.as_chunks::<GROUP>().0.iter().enumerate() {
            // SAFETY: `numbers` is eight u64s, 64 bytes.
            let lanes = unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) };
            let inside = _mm512_cmple_epu64_mask(_mm512_sub_epi64(lanes, low), span);
            word |= u64::from(inside) << (group * GROUP);
        }
        word
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn in_range_avx2(numbers: &[u64; 64], low: u64, span: u64) -> u64 {
        const FOUR: usize = 4;
        // With the highest bit flipped, signed comparison orders unsigned numbers.
        let low = _mm256_set1_epi64x((low ^ 1 << 63).cast_signed());
        let span = _mm256_set1_epi64x((span ^ 1 << 63).cast_signed());
        let mut outside = 0;
        for (group, numbers) in numbers.as_chunks::<FOUR>().0.iter().enumerate() {
            // SAFETY: `numbers` is four u64s, 32 bytes.
            let lanes = unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) };
            // Subtracting a number with a flipped top bit flips the top bit of the difference.
            let beyond = _mm256_cmpgt_epi64(_mm256_sub_epi64(lanes, low), span);
            let four = _mm256_movemask_pd(_mm256_castsi256_pd(beyond)).cast_unsigned();
            outside |= u64::from(four) << (group * FOUR);
        }
        !outside
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn vbmi_groups(bytes: &[u8], width: u8, base: u64, out: &mut [u64]) -> usize {
        let bits = usize::from(width);
        let Eights { bytes: pattern, shifts, .. } = &EIGHTS[bits];
        // SAFETY: `pattern` and `shifts` are 64 bytes each.
        let pattern = unsafe { _mm512_loadu_si512(pattern.as_ptr().cast()) };
        // SAFETY: as above.
        let shifts = unsafe { _mm512_loadu_si512(shifts.as_ptr().cast()) };
        let mask = _mm512_set1_epi64(mask(width).cast_signed());
        let base = _mm512_set1_epi64(base.cast_signed());
        let count = groups(bytes, bits).min(out.len() / GROUP);
        for (group, out) in out.chunks_exact_mut(GROUP).take(count).enumerate() {
            let from = bytes.as_ptr().wrapping_add(group * bits);
            prefetch(from.wrapping_add(AHEAD));
            // SAFETY: `group < groups(…)`, which counts those with 64 bytes of `bytes` from `from` on.
            let window = unsafe { _mm512_loadu_si512(from.cast()) };
            let lanes = _mm512_permutexvar_epi8(pattern, window);
            let lanes = _mm512_and_si512(_mm512_srlv_epi64(lanes, shifts), mask);
            let lanes = _mm512_add_epi64(lanes, base);
            // SAFETY: `out` is a chunk of eight u64s, 64 bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), lanes) };
        }
        count * GROUP
    }

    #[target_feature(enable = "avx2")]
    fn avx2_groups(bytes: &[u8], width: u8, base: u64, out: &mut [u64]) -> usize {
        let base = _mm256_set1_epi64x(base.cast_signed());
        avx2_each(bytes, width, out, |residuals| _mm256_add_epi64(residuals, base))
    }

    /// As an [`Unpack`], but stores the result of `each` for four integers at a time.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(in super::super) fn avx2_each(
        bytes: &[u8],
        width: u8,
        out: &mut [u64],
        mut each: impl FnMut(__m256i) -> __m256i,
    ) -> usize {
        let bits = usize::from(width);
        let Eights { pairs, shifts, .. } = &EIGHTS[bits];
        // The bytes of each pair of integers fit 16 bytes.
        let starts: [usize; 4] = std::array::from_fn(|pair| 2 * pair * bits / 8);
        let ([low, high], [shift_low, shift_high]) = (pairs.as_chunks::<32>().0, shifts.as_chunks::<4>().0)
        else {
            return 0;
        };
        // SAFETY: each of the four is 32 bytes.
        let pattern_low = unsafe { _mm256_loadu_si256(low.as_ptr().cast()) };
        // SAFETY: as above.
        let pattern_high = unsafe { _mm256_loadu_si256(high.as_ptr().cast()) };
        // SAFETY: as above.
        let shift_low = unsafe { _mm256_loadu_si256(shift_low.as_ptr().cast()) };
        // SAFETY: as above.
        let shift_high = unsafe { _mm256_loadu_si256(shift_high.as_ptr().cast()) };
        let mask = _mm256_set1_epi64x(mask(width).cast_signed());
        let mut unpacked = |low: __m128i, high: __m128i, pattern, shift| {
            let lanes = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), pattern);
            each(_mm256_and_si256(_mm256_srlv_epi64(lanes, shift), mask))
        };
        let count = groups(bytes, bits).min(out.len() / GROUP);
        for (group, out) in out.chunks_exact_mut(GROUP).take(count).enumerate() {
            let from = bytes.as_ptr().wrapping_add(group * bits);
            prefetch(from.wrapping_add(AHEAD));
            let [a, b, c, d] = starts.map(|start| from.wrapping_add(start).cast());
            // SAFETY: `group < groups(…)`, which counts those with 64 bytes of `bytes` from `from` on, and
            // no start is above 42: 16 bytes from there end inside.
            let a = unsafe { _mm_loadu_si128(a) };
            // SAFETY: as above.
            let b = unsafe { _mm_loadu_si128(b) };
            // SAFETY: as above.
            let c = unsafe { _mm_loadu_si128(c) };
            // SAFETY: as above.
            let d = unsafe { _mm_loadu_si128(d) };
            let (first, second) = out.split_at_mut(4);
            // SAFETY: `first` is four u64s, 32 bytes.
            unsafe { _mm256_storeu_si256(first.as_mut_ptr().cast(), unpacked(a, b, pattern_low, shift_low)) };
            // SAFETY: so is `second`.
            unsafe {
                _mm256_storeu_si256(second.as_mut_ptr().cast(), unpacked(c, d, pattern_high, shift_high))
            };
        }
        count * GROUP
    }
}
