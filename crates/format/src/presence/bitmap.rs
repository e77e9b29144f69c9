//! The documents of a block as a bitmap, which is the encoders' input.

use std::ops::Range;

use crate::bits::ones_of;
use crate::id::BLOCK_DOCS;

/// Words in the bitmap of a whole block.
pub(super) const BLOCK_WORDS: usize = BLOCK_DOCS as usize / 64;

/// The documents of one block: bit *d* % 64 of word *d* / 64 is document *d* of it.
pub(super) type Words = [u64; BLOCK_WORDS];

/// The positions of the set bits, ascending.
pub(super) fn ones(words: &[u64]) -> impl Iterator<Item = u32> {
    (0..).step_by(64).zip(words).flat_map(|(first, &word)| ones_of(word).map(move |bit| first + bit))
}

/// Splits a range into units of `unit`: the unit that it covers partly at its start, the units that it covers whole,
/// and the unit that it covers partly at its end. The results are ranges of unit numbers.
pub(super) fn cut(range: &Range<u32>, unit: u32) -> [Range<u32>; 3] {
    let (start, end) = (range.start / unit, range.end.div_ceil(unit));
    let whole = range.start.div_ceil(unit)..range.end / unit;
    match whole.is_empty() {
        true => [start..end, end..end, end..end],
        false => [start..whole.start, whole.clone(), whole.end..end],
    }
}

/// Bytes as an array of `u16` fields.
#[inline]
pub(super) fn u16s(bytes: &[u8]) -> &[[u8; 2]] {
    bytes.as_chunks().0
}

/// The number in a `u16` field.
#[inline]
pub(super) fn number(field: &[u8; 2]) -> u32 {
    u16::from_le_bytes(*field).into()
}

/// A number below 65,536, as the `u16` in which it is stored.
pub(super) fn short(number: u32) -> u16 {
    debug_assert!(number < BLOCK_DOCS, "expected a number below {BLOCK_DOCS}, found {number}");
    #[expect(clippy::cast_possible_truncation, reason = "documents of a block, and counts below them")]
    let short = number as u16;
    short
}
