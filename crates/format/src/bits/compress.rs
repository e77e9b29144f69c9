//! Compressing a list to the entries that are present, and expanding it again.
//!
//! A column with gaps compresses value indices to those of documents with a value, gathers the values, and expands
//! them to their documents. Presence is unpredictable to the branch predictor, so neither direction has a branch.
//!
//! | | scalar | AVX2 | AVX-512 |
//! | --- | --- | --- | --- |
//! | compress | each entry is written; the next one overwrites an absent one | 8 at once | 16 at once |
//! | expand | backwards, each present entry takes the next value | 4 at once | 8 at once |
//!
//! AVX-512 has an instruction for each direction. AVX2 permutes lanes by a table with an entry for each set of lanes.
//! [`deposit`] expands the bits of a word.

mod by_bits;

use std::hint::select_unpredictable;

pub use by_bits::{Lane, compress_bits, compress_by_bits};

use super::by_cpu;

/// Writes the entries of `all` that are not `none` to the front of `out` and returns their number. The rest of `out`
/// is unspecified.
///
/// # Panics
///
/// If `out` is not as long as `all`.
#[inline]
pub fn compress(all: &[u32], none: u32, out: &mut [u32]) -> usize {
    assert_eq!(all.len(), out.len(), "`out` must be as long as `all`");
    by_cpu!(x86::compress_avx512(all, none, out), x86::compress_avx2(all, none, out));
    compress_scalar(all, none, out)
}

/// Expands in place: moves the first `count` of `values` to the places where `all` is not `none`, and writes `fill`
/// to the others. `count` is the number of entries that are not `none`.
///
/// # Panics
///
/// If `values` is not as long as `all`, or `count` is wrong.
#[inline]
pub fn expand(all: &[u32], none: u32, count: usize, fill: i64, values: &mut [i64]) {
    assert_eq!(all.len(), values.len(), "`values` must be as long as `all`");
    assert!(count <= all.len(), "`count` must be at most the length of `all`");
    by_cpu!(
        x86::expand_avx512(all, none, count, fill, values),
        x86::expand_avx2(all, none, count, fill, values)
    );
    expand_scalar(all, none, count, 0, fill, values);
}

/// Moves the low bits of `bits` to the positions of the ones in `mask`, as the `pdep` instruction does.
#[inline]
pub fn deposit(bits: u64, mask: u64) -> u64 {
    // Other CPUs have the instruction, too, but that of Zen and Zen 2 is slower than the loop.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if super::has_avx512() {
        #[allow(unsafe_code, reason = "the features were found")]
        // SAFETY: the condition: it includes the features of `has_avx2`, BMI2 among them.
        return unsafe { x86::deposit_bmi2(bits, mask) };
    }
    deposit_scalar(bits, mask)
}

#[inline]
fn deposit_scalar(mut bits: u64, mut mask: u64) -> u64 {
    let mut deposited = 0;
    while bits != 0 {
        let lowest = mask & mask.wrapping_neg();
        deposited |= lowest * (bits & 1);
        mask ^= lowest;
        bits >>= 1;
    }
    deposited
}

fn compress_scalar(all: &[u32], none: u32, out: &mut [u32]) -> usize {
    let mut count = 0;
    for &one in all {
        out[count] = one;
        count += usize::from(one != none);
    }
    count
}

/// Expands from the last place down to `first`, so that no value is overwritten before it moves. Returns how many of
/// the `count` values are left.
fn expand_scalar(all: &[u32], none: u32, count: usize, first: usize, fill: i64, values: &mut [i64]) -> usize {
    let mut left = count;
    for place in (first..all.len()).rev() {
        let there = all[place] != none;
        left -= usize::from(there);
        // The compiler turns a condition, and even a mask, into a branch.
        values[place] = select_unpredictable(there, values[left], fill);
    }
    left
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    use crate::bits::SET_BITS;

    /// For each set of four 64-bit lanes: the two 32-bit halves that each lane takes, if the values of the set lie at
    /// the front.
    static EXPAND: [[u8; 8]; 16] = {
        let (mut table, mut set) = ([[0; 8]; 16], 0);
        while set < table.len() {
            let (mut lane, mut count) = (0, 0);
            while lane < 4 {
                (table[set][2 * lane], table[set][2 * lane + 1]) = (2 * count, 2 * count + 1);
                if set >> lane & 1 == 1 {
                    count += 1;
                }
                lane += 1;
            }
            set += 1;
        }
        table
    };

    #[target_feature(enable = "bmi2")]
    pub(super) fn deposit_bmi2(bits: u64, mask: u64) -> u64 {
        _pdep_u64(bits, mask)
    }

    /// An entry of a table, as a permutation of eight lanes.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn permutation(entry: [u8; 8]) -> __m256i {
        _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(entry)))
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn compress_avx2(all: &[u32], none: u32, out: &mut [u32]) -> usize {
        const LANES: usize = 8;
        let (groups, rest) = all.as_chunks::<LANES>();
        let (none_of, mut count) = (_mm256_set1_epi32(none.cast_signed()), 0);
        for group in groups {
            // SAFETY: eight u32s are 32 bytes.
            let group = unsafe { _mm256_loadu_si256(group.as_ptr().cast()) };
            let missing = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(group, none_of)));
            let there = !missing & 0xFF;
            let packed = _mm256_permutevar8x32_epi32(group, permutation(SET_BITS[there as usize]));
            let room: &mut [u32] = &mut out[count..count + LANES];
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), packed) };
            count += there.count_ones() as usize;
        }
        count + super::compress_scalar(rest, none, &mut out[count..])
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn expand_avx2(all: &[u32], none: u32, count: usize, fill: i64, values: &mut [i64]) {
        const LANES: usize = 4;
        let groups = all.as_chunks::<LANES>().0;
        let (none_of, filled) = (_mm_set1_epi32(none.cast_signed()), _mm256_set1_epi64x(fill));
        let mut left = super::expand_scalar(all, none, count, groups.len() * LANES, fill, values);
        for (place, group) in groups.iter().enumerate().rev() {
            // SAFETY: four u32s are 16 bytes.
            let group = unsafe { _mm_loadu_si128(group.as_ptr().cast()) };
            let missing = _mm_cmpeq_epi32(group, none_of);
            let there = !_mm_movemask_ps(_mm_castsi128_ps(missing)) & 0xF;
            left -= there.count_ones() as usize;
            let from: &[i64] = &values[left..left + LANES];
            // SAFETY: four i64s are 32 bytes.
            let from = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
            let expand = _mm256_permutevar8x32_epi32(from, permutation(EXPAND[there as usize]));
            let expand = _mm256_blendv_epi8(expand, filled, _mm256_cvtepi32_epi64(missing));
            let to: &mut [i64] = &mut values[place * LANES..][..LANES];
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), expand) };
        }
    }

    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) fn compress_avx512(all: &[u32], none: u32, out: &mut [u32]) -> usize {
        const LANES: usize = 16;
        let (groups, rest) = all.as_chunks::<LANES>();
        let (none_of, mut count) = (_mm512_set1_epi32(none.cast_signed()), 0);
        for group in groups {
            // SAFETY: 16 u32s are 64 bytes.
            let group = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
            let there = _mm512_cmpneq_epi32_mask(group, none_of);
            let room: &mut [u32] = &mut out[count..count + LANES];
            let packed = _mm512_maskz_compress_epi32(there, group);
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), packed) };
            count += there.count_ones() as usize;
        }
        count + super::compress_scalar(rest, none, &mut out[count..])
    }

    #[target_feature(enable = "avx512f,avx512vl,popcnt")]
    pub(super) fn expand_avx512(all: &[u32], none: u32, count: usize, fill: i64, values: &mut [i64]) {
        const LANES: usize = 8;
        let groups = all.as_chunks::<LANES>().0;
        let (none_of, filled) = (_mm256_set1_epi32(none.cast_signed()), _mm512_set1_epi64(fill));
        let mut left = super::expand_scalar(all, none, count, groups.len() * LANES, fill, values);
        for (place, group) in groups.iter().enumerate().rev() {
            // SAFETY: eight u32s are 32 bytes.
            let group = unsafe { _mm256_loadu_si256(group.as_ptr().cast()) };
            let there = _mm256_cmpneq_epi32_mask(group, none_of);
            left -= there.count_ones() as usize;
            let from: &[i64] = &values[left..left + LANES];
            // SAFETY: eight i64s are 64 bytes.
            let from = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
            let expand = _mm512_mask_expand_epi64(filled, there, from);
            let to: &mut [i64] = &mut values[place * LANES..][..LANES];
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), expand) };
        }
    }
}

#[cfg(test)]
#[cfg_attr(not(all(target_arch = "x86_64", not(miri))), expect(unused_mut, reason = "x86-64 adds kernels"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Compress = fn(&[u32], u32, &mut [u32]) -> usize;

    fn every_compress() -> Vec<Compress> {
        let mut every: Vec<Compress> = vec![compress, compress_scalar];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if crate::bits::has_avx2() {
            // SAFETY: the line above: this CPU has every feature that the function is compiled for.
            #[allow(unsafe_code, reason = "the features were found")]
            every.push(|all, none, out| unsafe { x86::compress_avx2(all, none, out) });
        }
        every
    }

    type Expand = fn(&[u32], u32, usize, i64, &mut [i64]);

    fn every_expand() -> Vec<Expand> {
        let scalar = |all: &[u32], none, count, fill, values: &mut [i64]| {
            assert_eq!(expand_scalar(all, none, count, 0, fill, values), 0);
        };
        let mut every: Vec<Expand> = vec![expand, scalar];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if crate::bits::has_avx2() {
            // SAFETY: as above.
            #[allow(unsafe_code, reason = "the features were found")]
            every.push(|all, none, count, fill, values| unsafe {
                x86::expand_avx2(all, none, count, fill, values)
            });
        }
        every
    }

    proptest! {
        #[test]
        fn bits_are_deposited_as_one_by_one(bits: u64, mask: u64, other: u64) {
            for mask in [mask, mask & other, mask | other, 0, u64::MAX] {
                prop_assert_eq!(deposit(bits, mask), deposit_scalar(bits, mask));
            }
        }

        #[test]
        fn expand_reverses_compress(
            all in prop::collection::vec(prop_oneof![any::<u32>(), Just(7)], 0..100), fill: i64,
        ) {
            let there: Vec<u32> = all.iter().copied().filter(|&one| one != 7).collect();
            let expected: Vec<i64> = all.iter().map(|&one| if one == 7 { fill } else { one.into() }).collect();
            for compress in every_compress() {
                let mut out = vec![1; all.len()];
                let count = compress(&all, 7, &mut out);
                prop_assert_eq!(&out[..count], &there);
            }
            for expand in every_expand() {
                let mut values: Vec<i64> = there.iter().map(|&one| one.into()).collect();
                values.resize(all.len(), -1);
                expand(&all, 7, there.len(), fill, &mut values);
                prop_assert_eq!(&values, &expected);
            }
        }
    }
}
