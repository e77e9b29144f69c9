//! A block's documents as a bitmap: what encoders take.

use std::ops::Range;

use crate::id::BLOCK_DOCS;

/// Words in the bitmap of a whole block.
pub(super) const BLOCK_WORDS: usize = BLOCK_DOCS as usize / 64;

/// The documents of one block: bit *d* % 64 of word *d* / 64 is document *d* of it.
pub(super) type Words = [u64; BLOCK_WORDS];

/// The documents of a bitmap, ascending.
pub(super) fn ones(words: &[u64]) -> impl Iterator<Item = u32> {
    (0..).step_by(64).zip(words).flat_map(|(first, &word)| {
        let rest = |&left: &u64| Some(left & (left - 1)).filter(|&left| left != 0);
        let lefts = std::iter::successors(Some(word).filter(|&word| word != 0), rest);
        lefts.map(move |left| first + left.trailing_zeros())
    })
}

/// Cuts a range at multiples of `unit`, and counts in those: what lies partly in the range before the
/// first that does as a whole, those that do, and what lies partly in it behind them.
pub(super) fn cut(range: &Range<u32>, unit: u32) -> [Range<u32>; 3] {
    let (start, end) = (range.start / unit, range.end.div_ceil(unit));
    let whole = range.start.div_ceil(unit)..range.end / unit;
    match whole.is_empty() {
        true => [start..end, end..end, end..end],
        false => [start..whole.start, whole.clone(), whole.end..end],
    }
}

/// A table of `u16` fields.
#[inline]
pub(super) fn u16s(bytes: &[u8]) -> &[[u8; 2]] {
    bytes.as_chunks().0
}

/// A number below 65,536 as the `u16` that it is on disk.
pub(super) fn short(number: u32) -> u16 {
    debug_assert!(number < BLOCK_DOCS, "{number} is no number within a block");
    #[expect(clippy::cast_possible_truncation, reason = "documents of a block, and counts below them")]
    let short = number as u16;
    short
}
