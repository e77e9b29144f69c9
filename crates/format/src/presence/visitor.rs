//! Visitors of the documents of a block: collect them, set their bits, or expand bits of values.
//!
//! The four layouts yield documents one by one, by the word, by the bucket or by the run. Each of the three operations
//! is a [`Visitor`] of those, which takes seven loops; a loop for each layout and operation would be twelve.
//!
//! In all bitsets, number *i* is bit *i* % 64 of word *i* / 64.

use std::ops::Range;

use super::write_docs::{self, BUCKET};
use crate::bits::{deposit, or_at, set_range};
use crate::id::DocId;

/// Receives the documents of a range that have a value, ascending, in the form in which their block stores them.
pub(super) trait Visitor {
    /// One document.
    fn one(&mut self, doc: u32);

    /// The documents `doc + i` for every set bit *i* of `bits`, which is not zero.
    fn word(&mut self, doc: u32, bits: u64);

    /// As [`word`](Self::word) for each of `words`, which may be zero; the first one begins with `doc`.
    fn words(&mut self, doc: u32, words: &[[u8; 8]]) {
        for (doc, word) in (doc..).step_by(64).zip(words) {
            match u64::from_le_bytes(*word) {
                0 => {}
                word => self.word(doc, word),
            }
        }
    }

    /// The documents of sparse buckets, the first of which begins with `doc`. Bucket *b* is
    /// `lows[starts[b] .. starts[b + 1]]`. `None` if that range is not valid.
    fn buckets(&mut self, doc: u32, starts: &[[u8; 2]], lows: &[u8]) -> Option<()> {
        for (doc, pair) in (doc..).step_by(BUCKET as usize).zip(starts.windows(2)) {
            let [start, end] = [pair[0], pair[1]].map(|start| usize::from(u16::from_le_bytes(start)));
            lows.get(start..end)?.iter().for_each(|&low| self.one(doc + u32::from(low)));
        }
        Some(())
    }

    /// All of `docs`, at least one.
    fn run(&mut self, docs: Range<u32>);
}

/// Writes the documents to a slice, in order.
pub(super) struct Collect<'a> {
    /// Space for the expected number of documents, and for [`ROOM`](write_docs::ROOM) more.
    out: &'a mut [DocId],
    /// Number of documents, with those that did not fit.
    found: usize,
}

impl<'a> Collect<'a> {
    pub(super) fn new(out: &'a mut [DocId]) -> Collect<'a> {
        Collect { out, found: 0 }
    }

    /// The number of documents visited.
    pub(super) fn found(&self) -> usize {
        self.found
    }
}

impl Visitor for Collect<'_> {
    #[inline]
    fn one(&mut self, doc: u32) {
        self.out.get_mut(self.found).into_iter().for_each(|place| *place = DocId::new(doc));
        self.found += 1;
    }

    fn word(&mut self, doc: u32, bits: u64) {
        self.words(doc, &[bits.to_le_bytes()]);
    }

    fn words(&mut self, doc: u32, words: &[[u8; 8]]) {
        let room = self.out.get_mut(self.found..).unwrap_or_default();
        self.found += write_docs::words(doc, words, room).unwrap_or(usize::from(u16::MAX));
    }

    fn buckets(&mut self, doc: u32, starts: &[[u8; 2]], lows: &[u8]) -> Option<()> {
        let out = self.out.get_mut(self.found..)?;
        let found = write_docs::buckets(doc, starts, lows, out)?;
        self.found += found;
        write_docs::ascend(out.get(..found)?).then_some(())
    }

    fn run(&mut self, docs: Range<u32>) {
        let end = self.found + docs.len();
        let places = self.out.get_mut(self.found..end).unwrap_or_default();
        places.iter_mut().zip(docs).for_each(|(place, doc)| *place = DocId::new(doc));
        self.found = end;
    }
}

/// Sets the bit of each document.
pub(super) struct Exists<'a> {
    /// The document of bit 0.
    pub(super) start: u32,
    pub(super) bits: &'a mut [u64],
}

impl Visitor for Exists<'_> {
    #[inline]
    fn one(&mut self, doc: u32) {
        let at = (doc - self.start) as usize;
        self.bits[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    fn word(&mut self, doc: u32, bits: u64) {
        or_at(self.bits, (doc - self.start) as usize, bits);
    }

    fn words(&mut self, doc: u32, words: &[[u8; 8]]) {
        let at = (doc - self.start) as usize;
        if at.is_multiple_of(64) {
            let bits = self.bits[at / 64..].iter_mut().zip(words);
            bits.for_each(|(bits, word)| *bits |= u64::from_le_bytes(*word));
        } else {
            (at..)
                .step_by(64)
                .zip(words)
                .for_each(|(at, word)| or_at(self.bits, at, u64::from_le_bytes(*word)));
        }
    }

    fn run(&mut self, docs: Range<u32>) {
        set_range(self.bits, (docs.start - self.start) as usize..(docs.end - self.start) as usize);
    }
}

/// Sets the bit of each document whose value has its bit set.
pub(super) struct Expand<'a> {
    /// The document of bit 0.
    pub(super) start: u32,
    pub(super) bits: &'a mut [u64],
    /// One bit a value; missing bits count as zero.
    pub(super) values: &'a [u64],
    /// Position of the next document's value in `values`.
    pub(super) at: usize,
}

impl Expand<'_> {
    /// The bits of the next `count` values, 1 to 64 of them.
    #[inline]
    fn take(&mut self, count: u32) -> u64 {
        let (index, shift) = (self.at / 64, self.at % 64);
        let word = |index: usize| self.values.get(index).copied().unwrap_or(0);
        // Shifts in two steps, because a single shift by 64 overflows.
        let bits = word(index) >> shift | word(index + 1) << 1 << (63 - shift);
        self.at += count as usize;
        bits & (!0 >> (64 - count))
    }
}

impl Visitor for Expand<'_> {
    #[inline]
    fn one(&mut self, doc: u32) {
        let at = (doc - self.start) as usize;
        self.bits[at / 64] |= self.take(1) << (at % 64);
    }

    // Not inlined otherwise, since it is twice as long as those of the other visitors.
    #[inline(always)]
    fn word(&mut self, doc: u32, bits: u64) {
        let taken = self.take(bits.count_ones());
        if taken != 0 {
            or_at(self.bits, (doc - self.start) as usize, deposit(taken, bits));
        }
    }

    fn run(&mut self, docs: Range<u32>) {
        let mut doc = docs.start;
        while doc < docs.end {
            let count = (docs.end - doc).min(64);
            let taken = self.take(count);
            or_at(self.bits, (doc - self.start) as usize, taken);
            doc += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_deposited_where_the_mask_has_ones() {
        assert_eq!(deposit(0b101, 0b1101_0000), 0b1001_0000);
        assert_eq!(deposit(!0, !0), !0);
        assert_eq!(deposit(0b11, 1 << 63 | 1), 1 << 63 | 1);
    }
}
