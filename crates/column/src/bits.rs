//! Bitsets as slices of `u64`: bit *i* is bit `i % 64` of word `i / 64`.
//!
//! Other crates' bitsets have the same layout, such as `bitvec`'s slices of `u64`:
//!
//! ```
//! use docvalues_column::bits;
//!
//! let mut words = vec![0_u64; bits::words(0..100)];
//! bits::set(&mut words, 64);
//! assert!(bits::get(&words, 64));
//! # #[cfg(target_pointer_width = "64")] {
//! use bitvec::{order::Lsb0, slice::BitSlice};
//! assert_eq!(BitSlice::<u64, Lsb0>::from_slice(&words).first_one(), Some(64));
//! # }
//! ```

use std::ops::Range;

use docvalues_format::bits::ones_of;

use crate::DocRange;

/// The number of words of a bitset over the documents `docs`.
///
/// ```
/// use docvalues_column::bits;
///
/// assert_eq!([bits::words(0..64), bits::words(0..65), bits::words(100..164)], [1, 2, 1]);
/// ```
pub fn words(docs: Range<u32>) -> usize {
    docs.len().div_ceil(64)
}

/// Checks that a bitset is long enough for `docs`: sources call it first.
///
/// # Panics
///
/// If `bits` has too few words for `docs`.
#[inline]
pub fn check(docs: DocRange, bits: &[u64]) {
    let words = docs.words();
    assert!(bits.len() >= words, "{} words for the documents {docs:?}, {words} are needed", bits.len());
}

/// Whether bit `at` is set. Bits past the end are not.
#[inline]
pub fn get(bits: &[u64], at: usize) -> bool {
    bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
}

/// Sets bit `at`.
///
/// # Panics
///
/// If `bits` is too short.
#[inline]
pub fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

/// The positions of all set bits, ascending. O(words + set bits).
///
/// ```
/// use docvalues_column::bits;
///
/// let words = [0b1010, 1];
/// assert!(bits::ones(&words).eq([1, 3, 64]));
/// assert_eq!(bits::count(&words), 3);
/// ```
pub fn ones(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(i, &word)| ones_of(word).map(move |bit| i * 64 + bit as usize))
}

/// The longest runs of set bits within `range`, ascending. O(words + runs).
///
/// ```
/// use docvalues_column::bits;
///
/// assert!(bits::runs(&[0b1011_1010], 0..6).eq([1..2, 3..6]));
/// ```
///
/// # Panics
///
/// If `range` ends past the last word.
#[inline]
pub fn runs(bits: &[u64], range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let len = range.end;
    // The first place from `from` on whose bit is set, or clear if `flip` is all ones.
    let next = move |from: usize, flip: u64| {
        let mut places = u64::MAX << (from % 64);
        for (at, word) in bits[..len.div_ceil(64)].iter().enumerate().skip(from / 64) {
            let found = (word ^ flip) & places;
            if found != 0 {
                return len.min(64 * at + found.trailing_zeros() as usize);
            }
            places = u64::MAX;
        }
        len
    };
    let mut end = range.start;
    std::iter::from_fn(move || {
        let start = next(end, 0);
        end = next(start, u64::MAX);
        (start < len).then_some(start..end)
    })
}

pub use docvalues_format::bits::{PUSH_DOCS_SPARE, push_docs, set_range};

/// The number of set bits. O(words).
pub fn count(bits: &[u64]) -> usize {
    // A slice has at most `usize::MAX` bytes.
    usize::try_from(docvalues_format::bits::count_ones(bits)).unwrap_or(usize::MAX)
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use bitvec::{order::Lsb0, slice::BitSlice, vec::BitVec};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_the_bits_that_bitvec_sees(
            mut words in prop::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 1..5),
            at in 0..320_usize,
        ) {
            let at = at % (64 * words.len());
            let mut model = BitVec::<u64, Lsb0>::from_slice(&words);
            prop_assert_eq!(get(&words, at), model[at]);
            set(&mut words, at);
            model.set(at, true);
            prop_assert_eq!(BitSlice::<u64, Lsb0>::from_slice(&words), model.as_bitslice());
            prop_assert!(ones(&words).eq(model.iter_ones()));
            prop_assert_eq!(count(&words), model.count_ones());
            let mut in_runs = vec![0; words.len()];
            for run in runs(&words, at / 3..at) {
                prop_assert!(!get(&words, run.end) || run.end == at);
                run.for_each(|at| set(&mut in_runs, at));
            }
            prop_assert!(ones(&in_runs).eq(ones(&words).filter(|one| (at / 3..at).contains(one))));
        }
    }
}
