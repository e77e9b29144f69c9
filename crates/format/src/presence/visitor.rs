//! What is done with the documents that a block tells of, and the bitsets it is done to.
//!
//! Four kinds of blocks tell of their documents one by one, by the word or by the run; three things
//! can be done with them. A [`Visitor`] between the two keeps that at seven loops instead of twelve.
//!
//! In all bitsets, bit *i* % 64 of word *i* / 64 is number *i*.

use std::ops::Range;

use super::write_docs::{self, BUCKET};
use crate::bits::fill;
use crate::id::DocId;

/// Takes the documents of a range that have a value, in ascending order, in whichever shape their
/// block has them.
pub(super) trait Visitor {
    /// One document.
    fn one(&mut self, doc: u32);

    /// The documents `doc + i` for every set bit *i* of `bits`, which has one.
    fn word(&mut self, doc: u32, bits: u64);

    /// The same for each of `words`, whether or not it has one; the first begins with `doc`.
    fn words(&mut self, doc: u32, words: &[[u8; 8]]) {
        for (doc, word) in (doc..).step_by(64).zip(words) {
            match u64::from_le_bytes(*word) {
                0 => {}
                word => self.word(doc, word),
            }
        }
    }

    /// The documents of sparse buckets, the first of which begins with `doc`: those of bucket *b* are
    /// `lows[starts[b] .. starts[b + 1]]`. `None` if there are no such.
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

/// Writes the documents one behind the other.
pub(super) struct Collect<'a> {
    /// Room for as many as there should be, and for [`ROOM`](write_docs::ROOM) more.
    out: &'a mut [DocId],
    /// How many there are, those included for which there was no room.
    found: usize,
}

impl<'a> Collect<'a> {
    pub(super) fn new(out: &'a mut [DocId]) -> Collect<'a> {
        Collect { out, found: 0 }
    }

    /// How many documents there were.
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
        let behind = self.found + docs.len();
        let places = self.out.get_mut(self.found..behind).unwrap_or_default();
        places.iter_mut().zip(docs).for_each(|(place, doc)| *place = DocId::new(doc));
        self.found = behind;
    }
}

/// Sets each document's bit.
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
        fill(self.bits, (docs.start - self.start) as usize..(docs.end - self.start) as usize);
    }
}

/// Sets the bits of those documents whose value has one.
pub(super) struct Expand<'a> {
    /// The document of bit 0.
    pub(super) start: u32,
    pub(super) bits: &'a mut [u64],
    /// One bit a value; those that are not there are taken as zero.
    pub(super) values: &'a [u64],
    /// The value of the next document.
    pub(super) at: usize,
}

impl Expand<'_> {
    /// The bits of the next `count` values, 1 to 64 of them.
    #[inline]
    fn take(&mut self, count: u32) -> u64 {
        let (index, shift) = (self.at / 64, self.at % 64);
        let word = |index: usize| self.values.get(index).copied().unwrap_or(0);
        // In two steps, because a shift by 64 would be one by 0.
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

    #[inline]
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

/// ORs `word` to the 64 bits that begin at bit `at`; those behind the bitset's end must be zero.
#[inline]
fn or_at(bits: &mut [u64], at: usize, word: u64) {
    let (index, shift) = (at / 64, at % 64);
    bits[index] |= word << shift;
    let spilt = word >> 1 >> (63 - shift);
    if spilt != 0 {
        bits[index + 1] |= spilt;
    }
}

/// Moves the low bits of `bits` to where `mask` has ones, as `pdep` does.
#[inline]
fn deposit(mut bits: u64, mut mask: u64) -> u64 {
    let mut deposited = 0;
    while bits != 0 {
        let lowest = mask & mask.wrapping_neg();
        deposited |= lowest * (bits & 1);
        mask ^= lowest;
        bits >>= 1;
    }
    deposited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_straddle_two() {
        let mut bits = [0; 2];
        or_at(&mut bits, 60, 0b10_0001);
        assert_eq!(bits, [1 << 60, 0b10]);
        or_at(&mut bits, 64, 1 << 63);
        assert_eq!(bits, [1 << 60, 1 << 63 | 0b10]);
    }

    #[test]
    fn bits_are_deposited_where_the_mask_has_ones() {
        assert_eq!(deposit(0b101, 0b1101_0000), 0b1001_0000);
        assert_eq!(deposit(!0, !0), !0);
        assert_eq!(deposit(0b11, 1 << 63 | 1), 1 << 63 | 1);
    }
}
