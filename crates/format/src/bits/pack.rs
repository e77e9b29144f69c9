//! Packing integers: one word of 64 bits after the other, or eight integers at a time with AVX-512.
//!
//! Eight integers of `width` bits occupy `width` bytes. The kernel shifts each integer to its bit within a byte, then
//! permutes bytes. If integers have more than 8 bits, no byte holds bits of three of them, so two integers at even
//! places never share a byte, nor do two at odd places: two permutations and an `or` make the group. Integers of up
//! to 8 bits are narrowed to a byte each, and `pext` extracts their bits. It is the inverse of the kernel in
//! [`super::unpack_kernels`].

use byteorder::{ByteOrder, LittleEndian};

#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::MAX_SPLIT_WIDTH;
use super::{is_width, mask};

/// Packs `values` and appends them to `out`, padded to a multiple of 8 bytes.
///
/// Bits of a value above its width are dropped; a width that [`is_width`] refuses packs as 64.
///
/// # Examples
///
/// ```
/// use docvalues_format::bits;
///
/// let mut bytes = Vec::new();
/// bits::pack(&[5, 1, 7], 3, &mut bytes);
/// assert_eq!(bytes, [0b11_001_101, 0b1, 0, 0, 0, 0, 0, 0]);
///
/// bytes.extend([0; bits::OVERREAD]);
/// assert_eq!(bits::get(&bytes, 3, 2), Some(7));
/// ```
pub fn pack(values: &[u64], width: u8, out: &mut Vec<u8>) {
    let width = if is_width(width) { width } else { 64 };
    let (start, len) = (out.len(), (values.len() * usize::from(width)).div_ceil(64) * 8);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if (1..=MAX_SPLIT_WIDTH).contains(&width) && super::has_avx512() {
        let groups = values.len().div_ceil(GROUP) * usize::from(width);
        out.resize(start + groups + WINDOW, 0);
        x86::vbmi(values, width, &mut out[start..]);
        out.truncate(start + len);
        return;
    }
    out.resize(start + len, 0);
    pack_scalar(values, width, &mut out[start..]);
}

/// Packs one integer after the other: the reference implementation. `out` has exactly the bytes of the result.
fn pack_scalar(values: &[u64], width: u8, out: &mut [u8]) {
    let (mask, mut words) = (mask(width), out.chunks_exact_mut(8));
    let mut put = |word| {
        if let Some(bytes) = words.next() {
            LittleEndian::write_u64(bytes, word);
        }
    };
    let (mut word, mut used) = (0_u64, 0_u8);
    for value in values {
        let value = value & mask;
        word |= value.checked_shl(used.into()).unwrap_or(0);
        used += width;
        if used >= 64 {
            put(word);
            used -= 64;
            // The bits that did not fit the word, or 0 if the value ended exactly there.
            word = value.checked_shr(u32::from(width - used)).unwrap_or(0);
        }
    }
    if used > 0 {
        put(word);
    }
}

/// Bytes from the start of a group that a kernel may write.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const WINDOW: usize = 64;

/// Integers in a group.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const GROUP: usize = 8;

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::{MAX_SPLIT_WIDTH, has_avx512, mask};
    use super::{GROUP, WINDOW};

    /// The widest integer that fits a byte.
    const NARROW: u8 = 8;

    /// Packs `values` at 1 to 56 bits into `out`, which must be zeroed and have space for whole groups and a
    /// [`WINDOW`].
    pub(super) fn vbmi(values: &[u64], width: u8, out: &mut [u8]) {
        let (groups, rest) = values.as_chunks::<GROUP>();
        let mut last = [0; GROUP];
        last[..rest.len()].copy_from_slice(rest);
        let end = groups.len() * usize::from(width);
        for (groups, at) in [(groups, 0), (&[last][..rest.len().min(1)], end)] {
            assert!(has_avx512());
            match width {
                // SAFETY: the line above: this CPU has every feature that the function is compiled for.
                ..=NARROW => unsafe { narrow(groups, width, &mut out[at..]) },
                // SAFETY: as above.
                _ => unsafe { wide(groups, width, &mut out[at..]) },
            }
        }
    }

    #[target_feature(enable = "avx512f,bmi2")]
    fn narrow(groups: &[[u64; GROUP]], width: u8, out: &mut [u8]) {
        let (bits, taken) = (usize::from(width), mask(width) * 0x0101_0101_0101_0101);
        for (place, group) in groups.iter().enumerate() {
            // SAFETY: `group` is 64 bytes.
            let lanes = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
            let bytes = _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(lanes));
            let packed = _pext_u64(bytes.cast_unsigned(), taken).to_le_bytes();
            out[place * bits..place * bits + GROUP].copy_from_slice(&packed);
        }
    }

    /// The byte permutations of a width: one for integers at even places, one for those at odd places.
    struct Pattern {
        even: [u8; 64],
        odd: [u8; 64],
        /// The bytes of the group that have bits of integers at even places.
        evens: u64,
        odds: u64,
    }

    /// The number of widths that index the table of patterns.
    const WIDTHS: usize = MAX_SPLIT_WIDTH as usize + 1;

    static PATTERNS: [Pattern; WIDTHS] = {
        let mut patterns = [const { Pattern { even: [0; 64], odd: [0; 64], evens: 0, odds: 0 } }; WIDTHS];
        let mut width = 0;
        while width < patterns.len() {
            let Pattern { even, odd, evens, odds } = &mut patterns[width];
            let mut byte = 0;
            while byte < width * GROUP / 8 {
                // The first and the last integer with a bit in this byte.
                let ends = [byte * 8 / width, (byte * 8 + 7) / width];
                let mut end = 0;
                while end < 2 {
                    let integer = ends[end];
                    // The byte within the eight-byte lane of the shifted integer.
                    #[expect(clippy::cast_possible_truncation, reason = "below 64")]
                    let from = (integer * 8 + byte - integer * width / 8) as u8;
                    if integer % 2 == 0 {
                        (even[byte], *evens) = (from, *evens | 1 << byte);
                    } else {
                        (odd[byte], *odds) = (from, *odds | 1 << byte);
                    }
                    end += 1;
                }
                byte += 1;
            }
            width += 1;
        }
        patterns
    };

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn wide(groups: &[[u64; GROUP]], width: u8, out: &mut [u8]) {
        let bits = usize::from(width);
        let Pattern { even, odd, evens, odds } = &PATTERNS[bits];
        let shifts: [u64; GROUP] = std::array::from_fn(|i| (i * bits % 8) as u64);
        // SAFETY: 64 bytes, as are the next two.
        let even = unsafe { _mm512_loadu_si512(even.as_ptr().cast()) };
        // SAFETY: as above.
        let odd = unsafe { _mm512_loadu_si512(odd.as_ptr().cast()) };
        // SAFETY: as above.
        let shifts = unsafe { _mm512_loadu_si512(shifts.as_ptr().cast()) };
        let mask = _mm512_set1_epi64(mask(width).cast_signed());
        assert!(out.len() >= groups.len() * bits + WINDOW);
        for (place, group) in groups.iter().enumerate() {
            // SAFETY: `group` is 64 bytes.
            let lanes = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
            let lanes = _mm512_sllv_epi64(_mm512_and_si512(lanes, mask), shifts);
            let even = _mm512_maskz_permutexvar_epi8(*evens, even, lanes);
            let odd = _mm512_maskz_permutexvar_epi8(*odds, odd, lanes);
            let packed = _mm512_or_si512(even, odd);
            let to = out.as_mut_ptr().wrapping_add(place * bits);
            // SAFETY: `place < groups.len()`, so by the `assert!` above, `out` has a `WINDOW`, which is 64 bytes, from `to` on.
            unsafe { _mm512_storeu_si512(to.cast(), packed) };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_kernel_packs_as_the_scalar_loop(
            width in 1_u8..=56,
            values in prop::collection::vec(any::<u64>(), 0..600),
        ) {
            let len = (values.len() * usize::from(width)).div_ceil(64) * 8;
            let (mut expected, mut found) = (vec![0; len], vec![0xA5]);
            pack_scalar(&values, width, &mut expected);
            pack(&values, width, &mut found);
            prop_assert_eq!(&found[1..], expected);
        }
    }
}
