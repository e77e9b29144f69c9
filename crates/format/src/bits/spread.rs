//! Those of many that are there: put together, and spread out again.
//!
//! Whether a document has a value is a coin toss to the branch predictor, so neither way has a branch.
//!
//! | | plain | AVX-512 |
//! | --- | --- | --- |
//! | together | each is written; the next one takes the place of one that is not there | 16 at once |
//! | spread | each takes the next value, or does not | 8 at once |

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

/// The way back: `values`, of which there are at least as many as places that are not `none`, each at its
/// place, and `fill` at the others. What is in `values` behind those is not used.
///
/// # Panics
///
/// If the slices differ in length.
#[inline]
pub fn spread(values: &[i64], all: &[u32], none: u32, fill: i64, out: &mut [i64]) {
    assert_eq!([values.len(), out.len()], [all.len(); 2], "as many values and places");
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if super::wide::has_avx512() {
        #[allow(unsafe_code, reason = "the features were found")]
        // SAFETY: the line above: this CPU has every feature that the function is compiled for.
        return unsafe { x86::spread(values, all, none, fill, out) };
    }
    spread_plain(values, all, none, fill, out);
}

fn together_plain(all: &[u32], none: u32, out: &mut [u32]) -> usize {
    let mut count = 0;
    for &one in all {
        out[count] = one;
        count += usize::from(one != none);
    }
    count
}

fn spread_plain(values: &[i64], all: &[u32], none: u32, fill: i64, out: &mut [i64]) {
    let mut next = 0;
    for (out, &one) in out.iter_mut().zip(all) {
        let value = values[next];
        *out = if one == none { fill } else { value };
        next += usize::from(one != none);
    }
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
    pub(super) fn spread(values: &[i64], all: &[u32], none: u32, fill: i64, out: &mut [i64]) {
        const LANES: usize = 8;
        let (groups, rest) = all.as_chunks::<LANES>();
        let (places, rest_places) = out.as_chunks_mut::<LANES>();
        let (none_of, filled, mut next) = (_mm256_set1_epi32(none.cast_signed()), _mm512_set1_epi64(fill), 0);
        for (group, place) in groups.iter().zip(places) {
            let values: &[i64] = &values[next..next + LANES];
            // SAFETY: eight u32s are 32 bytes.
            let group = unsafe { _mm256_loadu_si256(group.as_ptr().cast()) };
            // SAFETY: eight i64s are 64 bytes.
            let values = unsafe { _mm512_loadu_si512(values.as_ptr().cast()) };
            let there = _mm256_cmpneq_epi32_mask(group, none_of);
            let spread = _mm512_mask_expand_epi64(filled, there, values);
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), spread) };
            next += there.count_ones() as usize;
        }
        super::spread_plain(&values[next..], rest, none, fill, rest_places);
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
            let mut values: Vec<i64> = there.iter().map(|&one| one.into()).collect();
            values.resize(all.len(), -1);
            for spread in [spread, spread_plain] {
                let mut out = vec![1; all.len()];
                spread(&values, &all, 7, fill, &mut out);
                prop_assert_eq!(&out, &expected);
            }
        }
    }
}
