//! From a term to its ord, or to the place where it would be.
//!
//! A search takes four steps, each of which leaves less:
//!
//! 1. the prefix common to all terms: a target without it lies before or behind them all;
//! 2. binary search over the keys of the blocks, eight bytes each in an array;
//! 3. among blocks with the target's key, binary search by their first terms (*heads*), each found in
//!    its block without decoding anything;
//! 4. in the one block left, `shared` alone rules out all terms but those that share with the head
//!    exactly as much as the target does: let that be *s* bytes. A term that shares more has the head's
//!    byte at *s*, where the target, which is above the head, has a greater one: it lies below the
//!    target. One that shares less left the head for a greater byte earlier: it lies above. The lengths
//!    descend, so those between are found by binary search, and the target among them by another over
//!    their own bytes.
//!
//! A key is padded with zero, so `ab` and `ab\0` tie like terms that differ behind their eighth byte, and
//! step 3 settles both.

use std::cmp::Ordering;
use std::ops::{Bound, Range};

use byteorder::{BigEndian, ByteOrder, LittleEndian};

use super::block::{BLOCK_TERMS, Front, shared_len};
use super::{DictionaryReader, KEY_LEN, OpenIndex};
use crate::error::{ErrorKind, Result};
use crate::id::TermOrd;
use crate::numeric::NumericWalk;
use crate::source::SectionBytes;

/// The key of a block's first term: the eight bytes behind the `common` first ones, zero-padded.
/// Keys ascend with the terms, but tie where those eight bytes do.
pub(super) fn key(term: &[u8], common: usize) -> u64 {
    let mut bytes = [0; KEY_LEN];
    let rest = term.get(common..).unwrap_or(&[]);
    let len = rest.len().min(KEY_LEN);
    bytes[..len].copy_from_slice(&rest[..len]);
    BigEndian::read_u64(&bytes)
}

/// What a search found: how many terms are below the target, and whether the next one is it.
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
    /// The ord of `term`, if it is one.
    ///
    /// # Errors
    ///
    /// When bytes on the way cannot be read, or hold what they may not.
    ///
    /// # Complexity
    ///
    /// O(length + log terms), no allocation: see the head of the module for what is touched.
    pub fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
        let found = self.seek(term)?;
        Ok(found.exact.then_some(TermOrd::new(found.below)))
    }

    /// The ord of the first term not below `term`; [`len`](Self::len) if all are below.
    ///
    /// # Errors
    ///
    /// When bytes on the way cannot be read, or hold what they may not.
    ///
    /// # Complexity
    ///
    /// As [`seek_exact`](Self::seek_exact).
    pub fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        self.seek(term).map(|found| TermOrd::new(found.below))
    }

    /// The ords of all terms that begin with `prefix`; all terms, if that is empty.
    ///
    /// # Errors
    ///
    /// When bytes on the way cannot be read, or hold what they may not.
    ///
    /// # Complexity
    ///
    /// Two searches, and a copy of `prefix`.
    pub fn prefix(&self, prefix: &[u8]) -> Result<Range<u32>> {
        let start = self.seek(prefix)?.below;
        let end = match successor(prefix) {
            Some(next) => self.seek(&next)?.below,
            None => self.len(),
        };
        Ok(start..end.max(start))
    }

    /// The ords of all terms between two bounds: an empty range if `low` is above `high`.
    ///
    /// # Errors
    ///
    /// When bytes on the way cannot be read, or hold what they may not.
    ///
    /// # Complexity
    ///
    /// Two searches.
    pub fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Range<u32>> {
        let start = match low {
            Bound::Unbounded => 0,
            Bound::Included(term) => self.seek(term)?.below,
            Bound::Excluded(term) => self.not_above(term)?,
        };
        let end = match high {
            Bound::Unbounded => self.len(),
            Bound::Included(term) => self.not_above(term)?,
            Bound::Excluded(term) => self.seek(term)?.below,
        };
        Ok(start..end.max(start))
    }

    /// How many terms are `term` or below it.
    fn not_above(&self, term: &[u8]) -> Result<u32> {
        self.seek(term).map(|found| found.below + u32::from(found.exact))
    }

    fn seek(&self, target: &[u8]) -> Result<Found> {
        match self.compare_common(target)? {
            Ordering::Less => return Ok(Found::before(0)),
            Ordering::Greater => return Ok(Found::before(self.len())),
            Ordering::Equal => {}
        }
        let mut walk = NumericWalk::default();
        let block = match &self.index {
            Some(index) => self.block_of(index, target, &mut walk)?,
            None => 0,
        };
        self.seek_in(block, target, &mut walk)
    }

    /// Compares `target`, as far as that goes, with the prefix of all terms.
    fn compare_common(&self, target: &[u8]) -> Result<Ordering> {
        if self.is_empty() {
            return Ok(Ordering::Less);
        }
        if self.common == 0 {
            return Ok(Ordering::Equal);
        }
        // The first block needs no offset: it begins with the section.
        let (section, front) = self.front_in(0, |section| Ok(0..section.len()))?;
        let (_, head) = self.parts(section, &front, 0)?;
        let Some(prefix) = head.get(..self.common) else {
            let (found, max) = (self.common as u64, head.len() as u64);
            return Err(front.refuse(ErrorKind::OutOfRange {
                what: "length of the common prefix",
                found,
                max,
            }));
        };
        Ok(target[..target.len().min(self.common)].cmp(prefix))
    }

    /// The last block whose head is not above `target`; the first, if none is.
    fn block_of(&self, index: &OpenIndex<B>, target: &[u8], walk: &mut NumericWalk) -> Result<u32> {
        let (blocks, wanted) = (self.block_count(), key(target, self.common));
        let ties = partition(0..blocks, |block| Ok(index.key(block)? < wanted))?;
        // Most keys are alone: look at the neighbours before the rest, in steps that double.
        let (mut tied, mut next, mut step) = (ties, ties, 1);
        while next < blocks && index.key(next)? == wanted {
            (tied, next, step) = (next + 1, next.saturating_add(step).min(blocks), step * 2);
        }
        let tied = partition(tied..next, |block| Ok(index.key(block)? == wanted))?;
        let above = partition(ties..tied, |block| {
            let (section, front) = self.front(block, walk)?;
            Ok(self.parts(section, &front, 0)?.1 <= target)
        })?;
        Ok(above.saturating_sub(1))
    }

    /// Searches one block, the last whose head is not above `target`, or the first.
    fn seek_in(&self, block: u32, target: &[u8], walk: &mut NumericWalk) -> Result<Found> {
        let (section, front) = self.front(block, walk)?;
        let first = block * BLOCK_TERMS;
        let (_, head) = self.parts(section, &front, 0)?;
        let shared = shared_len(head, target);
        match head[shared..].cmp(&target[shared..]) {
            Ordering::Greater => return Ok(Found::before(first)),
            Ordering::Equal => return Ok(Found { below: first, exact: true }),
            Ordering::Less => {}
        }
        let candidates = sharing(&front, shared)?;
        let rest = &target[shared..];
        let own = |i: u32| section.slice(front.own_bytes(i as usize)?);
        let below = partition(candidates.clone(), |i| Ok(own(i)? < rest))?;
        let exact = below < candidates.end && own(below)? == rest;
        Ok(Found { below: first + below, exact })
    }
}

impl<B: SectionBytes> OpenIndex<B> {
    /// The key of `block`. Asks for its eight bytes alone, so that a search checks only those granules
    /// of the keys that it visits.
    pub(super) fn key(&self, block: u32) -> Result<u64> {
        let bytes = self.keys.array::<KEY_LEN>((block as usize).saturating_mul(KEY_LEN))?;
        Ok(LittleEndian::read_u64(bytes))
    }
}

/// The terms of a block, but for its head, that share exactly `shared` bytes with it.
fn sharing(front: &Front<'_>, shared: usize) -> Result<Range<u32>> {
    let terms = u32::try_from(front.terms()).unwrap_or(BLOCK_TERMS);
    let start = partition(1..terms, |i| Ok(front.shared(i as usize) > shared))?;
    let end = partition(start..terms, |i| Ok(front.shared(i as usize) == shared))?;
    Ok(start..end)
}

/// The first number of `range` for which `below` is false, given that it is true for all before; the
/// range's end, if it is true for all.
fn partition(range: Range<u32>, mut below: impl FnMut(u32) -> Result<bool>) -> Result<u32> {
    let Range { mut start, mut end } = range;
    while start < end {
        let middle = start + (end - start) / 2;
        match below(middle)? {
            true => start = middle + 1,
            false => end = middle,
        }
    }
    Ok(start)
}

/// The least byte string above all that begin with `prefix`; `None` if there is none, as for `\xff\xff`.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_successor_is_above_all_with_the_prefix_and_nothing_between() {
        assert_eq!(successor(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(successor(b"a\xff\xff"), Some(b"b".to_vec()));
        assert_eq!(successor(b"\0"), Some(b"\x01".to_vec()));
        assert_eq!(successor(b"\xff\xff"), None);
        assert_eq!(successor(b""), None);
    }

    #[test]
    fn keys_ascend_with_the_terms_and_tie_where_eight_bytes_do() {
        let terms: [&[u8]; 7] = [b"x", b"x\0", b"xa", b"xab", b"xab\0\0", b"xabcdefgh", b"xabcdefghi"];
        let keys = terms.map(|term| key(term, 1));
        assert_eq!(keys[0], keys[1]);
        assert!(keys[1] < keys[2] && keys[2] < keys[3]);
        assert_eq!(keys[3], keys[4]);
        assert!(keys[4] < keys[5]);
        assert_eq!(keys[5], keys[6]);
        assert_eq!(keys[5], 0x6162_6364_6566_6768);
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
