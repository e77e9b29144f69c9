//! Bitsets as plain words, and as `bitvec` sees the same words.
//!
//! ```
//! use docvalues_column::bits;
//!
//! let mut words = vec![0_u64; bits::words(0..100)];
//! bits::set(&mut words, 64);
//! assert!(bits::get(&words, 64));
//! # #[cfg(target_pointer_width = "64")]
//! assert_eq!(bits::view(&words).iter_ones().collect::<Vec<_>>(), [64]);
//! ```

use std::ops::Range;

use crate::DocRange;
#[cfg(target_pointer_width = "64")]
use bitvec::{order::Lsb0, slice::BitSlice};

/// Words of a bitset over the documents `docs`.
pub fn words(docs: Range<u32>) -> usize {
    docs.len().div_ceil(64)
}

/// Holds a caller to what the traits ask of a bitset, whatever is written to it.
///
/// # Panics
///
/// If `bits` has too few words for `docs`.
#[inline]
pub fn check(docs: DocRange, bits: &[u64]) {
    let words = docs.words();
    assert!(bits.len() >= words, "{} words for the documents {docs:?}, {words} are needed", bits.len());
}

/// Whether bit `at` is set; bits past the end are not.
#[inline]
pub fn get(bits: &[u64], at: usize) -> bool {
    bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
}

/// Sets bit `at`.
///
/// # Panics
///
/// If `bits` ends before it.
#[inline]
pub fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

/// The places of all set bits, ascending.
pub fn ones(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(i, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(i * 64 + bit)
        })
    })
}

pub use docvalues_format::bits::{DOCS_SPARE, docs, fill};

/// How many bits are set.
pub fn count(bits: &[u64]) -> usize {
    // There are no more than a slice has.
    usize::try_from(docvalues_format::bits::ones(bits)).unwrap_or(usize::MAX)
}

/// The words as `bitvec`'s slice: no copy. Only where addresses have 64 bits: elsewhere, `bitvec` takes no such
/// words.
#[cfg(target_pointer_width = "64")]
pub fn view(bits: &[u64]) -> &BitSlice<u64, Lsb0> {
    BitSlice::from_slice(bits)
}
