//! Those of many that are there: put together, and spread out again.
//!
//! Whether a document has a value is a coin toss to the branch predictor, so neither way has a branch.
//!
//! | | plain | AVX-512 |
//! | --- | --- | --- |
//! | together | each is written; the next one takes the place of one that is not there | 16 at once |
//! | spread | from the end, each takes the value before, or does not | 8 at once |

/// Writes those of `all` that are not `none` one behind the other; returns how many these are. What is in
/// `out` behind them is unspecified.
///
/// # Panics
///
/// If `out` is not as long as `all`.
#[inline]
pub fn together(all: &[u32], none: u32, out: &mut [u32]) -> usize {
    assert_eq!(all.len(), out.len(), "room for all");
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if super::wide::has_avx512() {
        #[allow(unsafe_code, reason = "the features were found")]
        // SAFETY: the line above: this CPU has every feature that the function is compiled for.
        return unsafe { x86::together(all, none, out) };
    }
    together_plain(all, none, out)
}

/// The way back, in place: `values` begins with `count` values, which go to the places that are not `none`,
/// and `fill` to the others. `count` is how many those are.
///
/// # Panics
///
/// If `values` is not as long as `all`, or `count` is another.
#[inline]
pub fn spread(all: &[u32], none: u32, count: usize, fill: i64, values: &mut [i64]) {
    assert_eq!(all.len(), values.len(), "room for all");
    assert!(count <= all.len(), "{count} of {}", all.len());
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if super::wide::has_avx512() {
        #[allow(unsafe_code, reason = "the features were found")]
        // SAFETY: the line above: this CPU has every feature that the function is compiled for.
        return unsafe { x86::spread(all, none, count, fill, values) };
    }
    spread_plain(all, none, count, 0, fill, values);
}

fn together_plain(all: &[u32], none: u32, out: &mut [u32]) -> usize {
    let mut count = 0;
    for &one in all {
        out[count] = one;
        count += usize::from(one != none);
    }
    count
}

/// From the last place down to `first`, so that no value is overwritten before it moves; returns how many of
/// `count` values are left.
fn spread_plain(all: &[u32], none: u32, count: usize, first: usize, fill: i64, values: &mut [i64]) -> usize {
    let mut left = count;
    for place in (first..all.len()).rev() {
        let there = all[place] != none;
        left -= usize::from(there);
        let value = values[left];
        values[place] = if there { value } else { fill };
    }
    left
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) fn together(all: &[u32], none: u32, out: &mut [u32]) -> usize {
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
        count + super::together_plain(rest, none, &mut out[count..])
    }

    #[target_feature(enable = "avx512f,avx512vl,popcnt")]
    pub(super) fn spread(all: &[u32], none: u32, count: usize, fill: i64, values: &mut [i64]) {
        const LANES: usize = 8;
        let groups = all.as_chunks::<LANES>().0;
        let (none_of, filled) = (_mm256_set1_epi32(none.cast_signed()), _mm512_set1_epi64(fill));
        let mut left = super::spread_plain(all, none, count, groups.len() * LANES, fill, values);
        for (place, group) in groups.iter().enumerate().rev() {
            // SAFETY: eight u32s are 32 bytes.
            let group = unsafe { _mm256_loadu_si256(group.as_ptr().cast()) };
            let there = _mm256_cmpneq_epi32_mask(group, none_of);
            left -= there.count_ones() as usize;
            let from: &[i64] = &values[left..left + LANES];
            // SAFETY: eight i64s are 64 bytes.
            let from = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
            let spread = _mm512_mask_expand_epi64(filled, there, from);
            let to: &mut [i64] = &mut values[place * LANES..][..LANES];
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), spread) };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_there_comes_back_to_its_place(
            all in prop::collection::vec(prop_oneof![any::<u32>(), Just(7)], 0..100), fill: i64,
        ) {
            let there: Vec<u32> = all.iter().copied().filter(|&one| one != 7).collect();
            let expected: Vec<i64> = all.iter().map(|&one| if one == 7 { fill } else { one.into() }).collect();
            for together in [together, together_plain] {
                let mut out = vec![1; all.len()];
                let count = together(&all, 7, &mut out);
                prop_assert_eq!(&out[..count], &there);
            }
            let plain = |all: &[u32], none, count, fill, values: &mut [i64]| {
                assert_eq!(spread_plain(all, none, count, 0, fill, values), 0);
            };
            for spread in [spread, plain] {
                let mut values: Vec<i64> = there.iter().map(|&one| one.into()).collect();
                values.resize(all.len(), -1);
                spread(&all, 7, there.len(), fill, &mut values);
                prop_assert_eq!(&values, &expected);
            }
        }
    }
}
