//! Compressing a list to the entries whose bits are set, in place.
//!
//! | entries | scalar | AVX2 | AVX-512 |
//! | --- | --- | --- | --- |
//! | of 4 bytes | each entry is written; the next one overwrites an unwanted one | 8 at once | 16 at once |
//! | of 8 bytes | as above | 4 at once | 8 at once |

use crate::id::{DocId, TermOrd};

/// Types without padding, all of whose bytes may have any values, so that kernels can move them.
///
/// # Safety
///
/// They must be as described.
#[allow(unsafe_code, reason = "kernels rely on it")]
pub unsafe trait Lane: Copy {}

#[allow(unsafe_code, reason = "an integer")]
// SAFETY: an integer.
unsafe impl Lane for i64 {}

#[allow(unsafe_code, reason = "a transparent integer")]
// SAFETY: a transparent integer.
unsafe impl Lane for TermOrd {}

#[allow(unsafe_code, reason = "a transparent integer")]
// SAFETY: a transparent integer.
unsafe impl Lane for DocId {}

#[allow(unsafe_code, reason = "an integer")]
// SAFETY: an integer.
unsafe impl Lane for u8 {}

/// Moves the entries whose bits are set to the front and returns their number. The rest of `list` is unspecified.
/// Entries of 4 and of 8 bytes have kernels.
///
/// # Panics
///
/// If there are fewer bits than entries.
pub fn compress_by_bits<T: Lane>(list: &mut [T], bits: &[u64]) -> usize {
    assert!(list.len().div_ceil(64) <= bits.len(), "a bit for each entry");
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    let (read, count) = x86::compress_by_bits(list, bits);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let (read, count) = (0, 0);
    compress_by_bits_scalar(list, bits, read, count)
}

/// As [`compress_by_bits`], from entry `read` on, if `count` of the entries before it were kept.
fn compress_by_bits_scalar<T: Lane>(list: &mut [T], bits: &[u64], read: usize, mut count: usize) -> usize {
    for at in read..list.len() {
        list[count] = list[at];
        count += usize::from(bits[at / 64] >> (at % 64) & 1 == 1);
    }
    count
}

/// As [`compress_by_bits`], for a list of `len` bits. The bits after those that are kept are clear up to a multiple of
/// 64.
///
/// # Panics
///
/// If there are fewer bits than `len`.
pub fn compress_bits(list: &mut [u64], len: usize, bits: &[u64]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if crate::bits::has_avx2() {
        #[allow(unsafe_code, reason = "the features were found")]
        // SAFETY: the line above: this CPU has every feature that the function is compiled for.
        return unsafe { x86::compress_bits_bmi2(list, len, bits) };
    }
    compress_bits_with(list, len, bits, extract_scalar)
}

/// [`compress_bits`], given the function that moves the bits of a word to its lowest places.
#[inline(always)]
fn compress_bits_with(
    list: &mut [u64],
    len: usize,
    bits: &[u64],
    extract: impl Fn(u64, u64) -> u64,
) -> usize {
    let mut count = 0;
    for at in 0..len.div_ceil(64) {
        let kept = bits[at] & u64::MAX >> (64 * (at + 1)).saturating_sub(len);
        let word = extract(list[at], kept);
        // The words before this one are read already.
        let (to, shift) = (count / 64, count % 64);
        list[to] = list[to] & ((1 << shift) - 1) | word << shift;
        if shift > 0 && to < at {
            list[to + 1] = word >> (64 - shift);
        }
        count += kept.count_ones() as usize;
    }
    count
}

fn extract_scalar(mut word: u64, kept: u64) -> u64 {
    let mut removed = !kept;
    // Few are removed: from the highest place on, so that no lower one moves.
    while removed != 0 {
        let below = (1 << removed.ilog2()) - 1;
        word = word & below | word >> 1 & !below;
        removed &= below;
    }
    word
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::x86::permutation;
    use super::Lane;
    use crate::bits::{SET_BITS, by_cpu};

    /// For each set of four 64-bit lanes: the set of their 32-bit halves.
    static PAIRS: [u8; 16] = {
        let (mut table, mut set) = ([0; 16], 0);
        while set < table.len() {
            let mut lane = 0;
            while lane < 4 {
                if set >> lane & 1 == 1 {
                    table[set] |= 0b11 << (2 * lane);
                }
                lane += 1;
            }
            set += 1;
        }
        table
    };

    /// Compresses as many entries as a kernel can. Returns how many it read, and how many it kept.
    pub(super) fn compress_by_bits<T: Lane>(list: &mut [T], bits: &[u64]) -> (usize, usize) {
        if matches!(size_of::<T>(), 4 | 8) {
            by_cpu!(by_bits_avx512(list, bits), by_bits_avx2(list, bits));
        }
        (0, 0)
    }

    /// The bits of a group of `lanes` entries, of which the first is entry `first`.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a group has at most 16 entries")]
    fn bits_of(bits: &[u64], first: usize, lanes: usize) -> u16 {
        (bits[first / 64] >> (first % 64) & ((1 << lanes) - 1)) as u16
    }

    /// A group is read before it is overwritten, as entries move towards the front.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn by_bits_avx2<T: Lane>(list: &mut [T], bits: &[u64]) -> (usize, usize) {
        const { assert!(32 % size_of::<T>() == 0, "groups of 32 bytes") };
        let lanes = 32 / size_of::<T>();
        let (read, mut count) = (list.len() / lanes * lanes, 0);
        for first in (0..read).step_by(lanes) {
            let set = bits_of(bits, first, lanes);
            let from: &[T] = &list[first..first + lanes];
            // SAFETY: by the assertion, the entries are 32 bytes.
            let group = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
            // An entry of eight bytes is two lanes of the permutation.
            let halves = if lanes == 4 { PAIRS[usize::from(set)] } else { set.to_le_bytes()[0] };
            let packed = _mm256_permutevar8x32_epi32(group, permutation(SET_BITS[usize::from(halves)]));
            let room: &mut [T] = &mut list[count..count + lanes];
            // SAFETY: as above, and any bytes are a `Lane`.
            unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), packed) };
            count += set.count_ones() as usize;
        }
        (read, count)
    }

    #[target_feature(enable = "bmi2,popcnt")]
    pub(super) fn compress_bits_bmi2(list: &mut [u64], len: usize, bits: &[u64]) -> usize {
        super::compress_bits_with(list, len, bits, |word, kept| _pext_u64(word, kept))
    }

    /// As [`by_bits_avx2`].
    #[target_feature(enable = "avx512f,popcnt")]
    fn by_bits_avx512<T: Lane>(list: &mut [T], bits: &[u64]) -> (usize, usize) {
        const { assert!(64 % size_of::<T>() == 0, "groups of 64 bytes") };
        let lanes = 64 / size_of::<T>();
        let (read, mut count) = (list.len() / lanes * lanes, 0);
        for first in (0..read).step_by(lanes) {
            let set = bits_of(bits, first, lanes);
            let from: &[T] = &list[first..first + lanes];
            // SAFETY: by the assertion, the entries are 64 bytes.
            let group = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
            let packed = if lanes == 8 {
                _mm512_maskz_compress_epi64(set.to_le_bytes()[0], group)
            } else {
                _mm512_maskz_compress_epi32(set, group)
            };
            let room: &mut [T] = &mut list[count..count + lanes];
            // SAFETY: as above, and any bytes are a `Lane`.
            unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), packed) };
            count += set.count_ones() as usize;
        }
        (read, count)
    }
}

#[cfg(test)]
#[cfg_attr(not(all(target_arch = "x86_64", not(miri))), expect(unused_mut, reason = "x86-64 adds kernels"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type ByBits<T> = fn(&mut [T], &[u64]) -> usize;

    fn every_by_bits<T: Lane>() -> Vec<ByBits<T>> {
        let mut every: Vec<ByBits<T>> =
            vec![compress_by_bits, |list, bits| compress_by_bits_scalar(list, bits, 0, 0)];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if crate::bits::has_avx2() {
            every.push(|list, bits| {
                // SAFETY: this CPU has every feature that the function is compiled for.
                #[allow(unsafe_code, reason = "the features were found")]
                let (read, count) = unsafe { x86::by_bits_avx2(list, bits) };
                compress_by_bits_scalar(list, bits, read, count)
            });
        }
        every
    }

    proptest! {
        #[test]
        fn entries_whose_bits_are_set_are_kept(
            words in prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], 4),
            others in prop::collection::vec(any::<u64>(), 4),
            len in 0..=256_usize,
        ) {
            let all: Vec<u32> = (1..).take(len).collect();
            let is_kept = |one: &u32| words[(*one - 1) as usize / 64] >> ((*one - 1) % 64) & 1 == 1;
            let kept: Vec<u32> = all.iter().copied().filter(is_kept).collect();
            for compress in every_by_bits::<i64>() {
                let mut list: Vec<i64> = all.iter().map(|one| i64::from(*one) << 40 | 7).collect();
                let count = compress(&mut list, &words);
                prop_assert!(list[..count].iter().copied().eq(kept.iter().map(|one| i64::from(*one) << 40 | 7)));
            }
            for compress in every_by_bits::<TermOrd>() {
                let mut list: Vec<TermOrd> = all.iter().copied().map(TermOrd::new).collect();
                let count = compress(&mut list, &words);
                prop_assert!(list[..count].iter().map(|ord| ord.get()).eq(kept.iter().copied()));
            }
            let scalar: fn(&mut [u64], usize, &[u64]) -> usize =
                |list, len, bits| compress_bits_with(list, len, bits, extract_scalar);
            for compress in [compress_bits, scalar] {
                let mut list = others.clone();
                let count = compress(&mut list, len, &words);
                let is_set = |words: &[u64], at: usize| words[at / 64] >> (at % 64) & 1 == 1;
                let found: Vec<bool> = (0..count.next_multiple_of(64)).map(|at| is_set(&list, at)).collect();
                let mut expected: Vec<bool> =
                    kept.iter().map(|one| is_set(&others, (*one - 1) as usize)).collect();
                prop_assert_eq!(count, expected.len());
                expected.resize(found.len(), false);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
