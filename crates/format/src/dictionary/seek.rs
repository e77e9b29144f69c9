//! Search of a term: its ord, or the ord at which it would be inserted.
//!
//! A search takes three steps:
//!
//! 1. A binary search over the keys of the blocks, an array of eight bytes each.
//! 2. Among blocks with the target's key, a binary search by their first terms, the *heads*, which need no decoding.
//! 3. In the one block left, `shared` alone rules out most terms. Let the target share *s* bytes with the head. A term
//!    that shares more has the head's byte at *s*, where the target, which is above the head, has a greater one: the
//!    term is below the target. A term that shares less has a greater byte than the head earlier: it is above the
//!    target. Only terms that share exactly *s* bytes remain. `shared` descends, so counting the greater values finds
//!    these terms, and a binary search over their own bytes finds the target.

use std::cmp::Ordering;
use std::hint::select_unpredictable;
use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian};

use super::block::BLOCK_TERMS;
use super::full_block::FullBlock;
use super::{DictionaryReader, KEY_LEN, OpenIndex};
use crate::error::Result;
use crate::id::TermOrd;
use crate::source::SectionBytes;
use crate::strings::{leading, shared_len};

/// The key of a term. For a term that begins with `prefix`, it is the next eight bytes, padded with zeros, as a
/// big-endian number. Terms below all those have key 0, and terms above them the largest number.
///
/// Keys ascend with the terms, but tie if those eight bytes are equal, as for `ab` and `ab\0`.
pub(super) fn key(term: &[u8], prefix: &[u8]) -> u64 {
    let Some(rest) = term.strip_prefix(prefix) else {
        return if term < prefix { 0 } else { u64::MAX };
    };
    leading(rest)
}

/// The result of a search: the number of terms below the target, and whether the next one equals it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    below: u32,
    exact: bool,
}

impl Found {
    fn before(below: u32) -> Found {
        Found { below, exact: false }
    }
}

impl<B: SectionBytes> DictionaryReader<B> {
    /// The ord of `term`, if the dictionary has it.
    ///
    /// # Errors
    ///
    /// When bytes cannot be read or are damaged.
    ///
    /// # Complexity
    ///
    /// O(length + log terms), without allocation. [The module](crate::dictionary#cost) lists the bytes read.
    pub fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
        let found = self.seek(term)?;
        Ok(found.exact.then_some(TermOrd::new(found.below)))
    }

    /// The ord of the first term that is not below `term`; [`len`](Self::len) if all are below.
    ///
    /// # Errors
    ///
    /// When bytes cannot be read or are damaged.
    ///
    /// # Complexity
    ///
    /// As [`seek_exact`](Self::seek_exact).
    pub fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        self.seek(term).map(|found| TermOrd::new(found.below))
    }

    fn seek(&self, target: &[u8]) -> Result<Found> {
        if self.is_empty() {
            return Ok(Found::before(0));
        }
        let block = match &self.index {
            Some(index) => self.block_of(index, target)?,
            None => 0,
        };
        self.seek_in(block, target)
    }

    /// The last block whose head is not above `target`, or else the first block.
    fn block_of(&self, index: &OpenIndex<B>, target: &[u8]) -> Result<u32> {
        let (blocks, wanted) = (self.block_count(), key(target, &index.prefix));
        let ties = index.keys_below(wanted, blocks)?;
        // Most keys are unique: an exponential search tries the neighbours first.
        let (mut tied, mut next, mut step) = (ties, ties, 1);
        while next < blocks && index.key(next)? == wanted {
            (tied, next, step) = (next + 1, next.saturating_add(step).min(blocks), step * 2);
        }
        let tied = partition(tied..next, |block| Ok(index.key(block)? == wanted))?;
        let above = partition(ties..tied, |block| Ok(self.head(index, block)? <= target))?;
        Ok(above.saturating_sub(1))
    }

    /// The first term of `block`, which takes only the start of the block.
    fn head(&self, index: &OpenIndex<B>, block: u32) -> Result<&[u8]> {
        let start = index.offsets.get(block.into())?;
        let (section, header) = self.header_in(block, |section| {
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            Ok(start.min(section.len())..section.len())
        })?;
        section.slice(header.own_bytes(0)?)
    }

    /// Searches one block: the one that [`block_of`](Self::block_of) returns.
    fn seek_in(&self, block: u32, target: &[u8]) -> Result<Found> {
        let first = block * BLOCK_TERMS;
        let (below, exact) = match self.seek_full(block, target)? {
            Some(found) => found,
            None => self.seek_any(block, target)?,
        };
        Ok(Found { below: first + below, exact })
    }

    /// The number of terms of a full block of class 1 below `target`, and whether the next one equals it.
    fn seek_full(&self, block: u32, target: &[u8]) -> Result<Option<(u32, bool)>> {
        match &self.blocks {
            Some(section) if block < self.len() / BLOCK_TERMS => {
                let bytes = section.slice(self.bounds(section, block)?)?;
                Ok(FullBlock::peek(bytes).and_then(|full| full.seek(target)))
            }
            _ => Ok(None),
        }
    }

    /// As [`seek_full`](Self::seek_full), in any block.
    fn seek_any(&self, block: u32, target: &[u8]) -> Result<(u32, bool)> {
        let (section, header) = self.header(block)?;
        let head = section.slice(header.own_bytes(0)?)?;
        let shared = shared_len(head, target);
        match head[shared..].cmp(&target[shared..]) {
            Ordering::Greater => return Ok((0, false)),
            Ordering::Equal => return Ok((0, true)),
            Ordering::Less => {}
        }
        let rest = &target[shared..];
        let own = |i: u32| section.slice(header.own_bytes(i as usize)?);
        let candidates = header.sharing(shared);
        let below = partition(candidates.clone(), |i| Ok(own(i)? < rest))?;
        Ok((below, candidates.contains(&below) && own(below)? == rest))
    }
}

impl<B: SectionBytes> OpenIndex<B> {
    /// The number of the `blocks` keys below `wanted`. The keys ascend.
    fn keys_below(&self, wanted: u64, blocks: u32) -> Result<u32> {
        match self.keys.verified() {
            Some(keys) => {
                let keys = &keys.as_chunks::<KEY_LEN>().0[..blocks as usize];
                partition(0..blocks, |block| Ok(u64::from_le_bytes(keys[block as usize]) < wanted))
            }
            None => partition(0..blocks, |block| Ok(self.key(block)? < wanted)),
        }
    }

    /// The key of `block`. Reads only its eight bytes, so that a search compares the checksums of only those granules
    /// of the keys that it visits.
    pub(super) fn key(&self, block: u32) -> Result<u64> {
        let bytes = self.keys.array::<KEY_LEN>((block as usize).saturating_mul(KEY_LEN))?;
        Ok(LittleEndian::read_u64(bytes))
    }
}

/// The first number of `range` for which `below` is false, or the end of the range. `below` must be true for all
/// numbers before it.
///
/// Takes a fixed number of steps, without an unpredictable branch on the outcome.
fn partition(range: Range<u32>, mut below: impl FnMut(u32) -> Result<bool>) -> Result<u32> {
    let Range { start: mut base, end } = range;
    let mut left = end.saturating_sub(base);
    while left > 1 {
        let half = left / 2;
        let middle = base + half;
        base = select_unpredictable(below(middle)?, middle, base);
        left -= half;
    }
    Ok(base + u32::from(left > 0 && below(base)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ascend_with_the_terms_and_tie_where_eight_bytes_do() {
        let terms: [(&[u8], u64); 10] = [
            (b"", 0),
            (b"w~", 0),
            (b"x", 0),
            (b"x\0", 0),
            (b"xa", 0x6100_0000_0000_0000),
            (b"xab\0\0", 0x6162_0000_0000_0000),
            (b"xabcdefgh", 0x6162_6364_6566_6768),
            (b"xabcdefghi", 0x6162_6364_6566_6768),
            (b"x\xff\xff\xff\xff\xff\xff\xff\xff", u64::MAX),
            (b"y", u64::MAX),
        ];
        assert!(terms.is_sorted());
        for (term, expected) in terms {
            assert_eq!(key(term, b"x"), expected, "{term:?}");
        }
    }

    #[test]
    fn a_partition_is_found_wherever_it_is() {
        for end in 0..9 {
            for at in 0..=end {
                assert_eq!(partition(0..end, |i| Ok(i < at)).unwrap(), at);
            }
        }
    }
}
