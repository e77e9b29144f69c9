//! Fast path for full blocks of class 1, which nearly all blocks are.
//!
//! The lengths of such a block are at fixed offsets, so a look-up takes few instructions, without unpredictable
//! branches. For everything else the functions return `None`, and the general
//! [`BlockHeader`](super::block::BlockHeader) reads the block or reports the error.

use std::cmp::Ordering;
use std::hint::select_unpredictable;

use super::block::{BLOCK_TERMS, Class, TERMS, count_above, sum_before};
use crate::strings::{leading, shared_len};

/// Bytes before `ends` in a full block of class 1.
pub(super) const FULL_HEADER_LEN: usize = Class::One.header_len(BLOCK_TERMS);

/// A full block of class 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullBlock<'a> {
    /// The bytes of the block, and possibly some after them.
    bytes: &'a [u8],
    shared: &'a [u8; TERMS],
    own: &'a [u8; TERMS],
}

impl<'a> FullBlock<'a> {
    /// The full block at the start of `bytes`, if it is of class 1 and its head shares nothing.
    #[inline]
    pub(super) fn peek(bytes: &'a [u8]) -> Option<FullBlock<'a>> {
        let [class, lengths @ ..] = bytes.first_chunk::<FULL_HEADER_LEN>()?;
        let (shared, own) = (lengths.first_chunk::<TERMS>()?, lengths.last_chunk::<TERMS>()?);
        (*class == Class::One as u8 && shared[0] == 0).then_some(FullBlock { bytes, shared, own })
    }

    /// The number of bytes that term `i` shares with the head.
    #[inline]
    pub(super) fn shared(self, i: usize) -> usize {
        self.shared[i % TERMS].into()
    }

    /// The number of own bytes of term `i`.
    #[inline]
    pub(super) fn own(self, i: usize) -> usize {
        self.own[i % TERMS].into()
    }

    /// The own bytes of all terms before term `i`.
    #[inline]
    pub(super) fn own_before(self, i: usize) -> usize {
        sum_before(self.own, i)
    }

    /// The number of terms of the block below `target`, and whether the next one equals it. `None` if lengths leave the
    /// block.
    #[inline]
    pub(super) fn seek(self, target: &[u8]) -> Option<(u32, bool)> {
        let head = self.bytes[FULL_HEADER_LEN..].get(..self.own(0))?;
        let shared = shared_len(head, target);
        // They differ in the next byte, or one of them ends before it.
        match head.get(shared).cmp(&target.get(shared)) {
            Ordering::Greater => Some((0, false)),
            Ordering::Equal => Some((0, true)),
            Ordering::Less => self.find(shared, &target[shared..]),
        }
    }

    /// Searches the terms that share exactly `shared` bytes with the head for the one with own bytes `rest`. Returns
    /// the number of terms of the block below it, and whether it exists. `None` if lengths leave the block.
    ///
    /// Compares the first eight own bytes as numbers, in a fixed number of steps, and the other bytes only on ties.
    fn find(self, shared: usize, rest: &[u8]) -> Option<(u32, bool)> {
        let above = |limit| 1 + count_above(self.shared, limit) as usize;
        let (from, to) = (above(shared), shared.checked_sub(1).map_or(TERMS, above).min(TERMS));
        let mut ends = [0_u16; TERMS];
        let mut end = 0;
        for (to, own) in ends.iter_mut().zip(self.own) {
            end += u16::from(*own);
            *to = end;
        }
        let ends_bytes = &self.bytes[FULL_HEADER_LEN..];
        if usize::from(end) > ends_bytes.len() {
            return None;
        }
        // Term `i` follows term `i - 1`, which exists because `i` is not 0.
        let own = |i: usize| &ends_bytes[usize::from(ends[(i - 1) % TERMS])..usize::from(ends[i % TERMS])];
        let wanted = leading(rest);
        let mut below = from;
        for step in [16, 8, 4, 2, 1] {
            let next = below + step;
            let less = (next <= to) & (leading(own((next - 1).min(TERMS - 1))) < wanted);
            below = select_unpredictable(less, next, below);
        }
        while below < to && own(below) < rest {
            below += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a block has few terms")]
        Some((below as u32, below < to && own(below) == rest))
    }
}
