//! A block of up to 32 front-coded terms, each stored as a prefix of the block's first term and its own bytes.
//!
//! # Layout
//!
//! *n* is the number of terms, 32 in every block but the last; *c* is the block's class.
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 1 | `class` | *c*, the bytes of a length: 1, 2 or 4, the fewest that hold all of the block's |
//! | 1 | *n* × *c* | `shared` | bytes that term *i* has in common with the block's first; 0 for the first itself |
//! | 1 + *n* × *c* | *n* × *c* | `own` | bytes of term *i* after those |
//! | 1 + 2 × *n* × *c* | Σ `own` | `ends` | the own bytes of all terms, end to end |
//!
//! The block's first term is its *head*, which shares nothing. Term *i* is `head[..shared[i]]` followed by its own
//! bytes, which begin at Σ `own[..i]` of `ends`. So no term but the head is needed to decode another one; the sum is
//! one over at most 31 bytes in class 1. Lucene codes each term against the one before: that shares a little more, but
//! decoding starts at the block's first term.
//!
//! The terms ascend, so `shared` never rises after the head. Therefore a search can rule out terms by `shared` alone,
//! and iteration in order only truncates and appends.
//!
//! # Drawing
//!
//! ```text
//! terms    wren, wrestle, yew
//!
//! class    01                        lengths of one byte
//! shared   00 03 00                  wren shares nothing with itself, wrestle three bytes, yew none
//! own      04 04 03
//! ends     w r e n s t l e y e w     wrestle = wren[..3] + ends[4..8]
//! ```

use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian};

use crate::cursor::Put;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::source::SectionBytes;
use crate::strings::shared_len;

/// Terms in every block but the last.
///
/// More terms save heads, keys and offsets; fewer make a look-up read less. With 32, the header of a block of class 1
/// takes one cache line and a byte.
pub const BLOCK_TERMS: u32 = 32;

/// [`BLOCK_TERMS`] as `usize`.
pub(super) const TERMS: usize = BLOCK_TERMS as usize;

/// Bytes of the field `class`.
const CLASS_LEN: usize = 1;

/// The width of the lengths in a block, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    One = 1,
    Two = 2,
    Four = 4,
}

impl Class {
    /// The narrowest class that holds `longest`.
    pub(super) fn of(longest: u32) -> Class {
        match longest {
            0..=0xff => Class::One,
            0x100..=0xffff => Class::Two,
            0x1_0000.. => Class::Four,
        }
    }

    fn read(place: Place, at: usize, tag: u8) -> Result<Class> {
        match tag {
            1 => Ok(Class::One),
            2 => Ok(Class::Two),
            4 => Ok(Class::Four),
            tag => Err(Error::at(place, at, ErrorKind::UnknownTag { what: "class of lengths", tag })),
        }
    }

    const fn width(self) -> usize {
        self as usize
    }

    /// Bytes before `ends`, in a block of `terms` terms.
    pub(super) const fn header_len(self, terms: u32) -> usize {
        CLASS_LEN + 2 * terms as usize * self.width()
    }

    fn put(self, length: u32, out: &mut Vec<u8>) {
        #[expect(clippy::cast_possible_truncation, reason = "the class was chosen for the block's longest")]
        match self {
            Class::One => out.put_u8(length as u8),
            Class::Two => out.put_u16(length as u16),
            Class::Four => out.put_u32(length),
        }
    }

    #[inline]
    fn get(self, lengths: &[u8], i: usize) -> usize {
        match self {
            Class::One => usize::from(lengths[i]),
            Class::Two => usize::from(LittleEndian::read_u16(&lengths[2 * i..])),
            Class::Four => LittleEndian::read_u32(&lengths[4 * i..]) as usize,
        }
    }

    /// The sum of the first `n` lengths.
    #[inline]
    fn sum(self, lengths: &[u8], n: usize) -> usize {
        match (self, <&[u8; TERMS]>::try_from(lengths)) {
            (Class::One, Ok(all)) => sum_before(all, n),
            // Saturates, so that a hostile sum lies past the end of any block.
            _ => (0..n).fold(0, |sum: usize, i| sum.saturating_add(self.get(lengths, i))),
        }
    }

    /// The number of lengths above `limit`.
    #[inline]
    fn above(self, lengths: &[u8], limit: usize) -> u32 {
        match self {
            Class::One => count_above(lengths, limit),
            Class::Two | Class::Four => {
                let lengths = (0..lengths.len() / self.width()).map(|i| self.get(lengths, i));
                lengths.map(|length| u32::from(length > limit)).sum()
            }
        }
    }
}

// `count_above` counts a block's terms in a byte.
const _: () = assert!(TERMS <= u8::MAX as usize);

/// One byte of ones for each term, and then as many zeros. The bytes from *i* before the first zero on are a mask of
/// the first *i* lengths of a block.
pub(super) static FIRST: [u8; 2 * TERMS] = {
    let mut mask = [0; 2 * TERMS];
    let mut i = 0;
    while i < TERMS {
        mask[i] = u8::MAX;
        i += 1;
    }
    mask
};

/// The sum of the first `n` lengths of a full block of class 1; `n` must be below [`TERMS`].
///
/// Adds up all masked lengths, eight to a word: few instructions, and no branch to predict.
#[inline(always)]
pub(super) fn sum_before(lengths: &[u8; TERMS], n: usize) -> usize {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    let words = lengths.as_chunks().0.iter().zip(FIRST[TERMS - n % TERMS..].as_chunks().0);
    let sums = words.map(|(&lengths, &mask)| {
        let word = u64::from_le_bytes(lengths) & u64::from_le_bytes(mask);
        (word & EVEN) + (word >> 8 & EVEN)
    });
    // Four sums of less than 2^13 each; the product has their sum in its highest 16 bits.
    (sums.sum::<u64>().wrapping_mul(0x0001_0001_0001_0001) >> 48) as usize
}

/// The number of lengths above `limit` in a block of class 1.
#[inline]
pub(super) fn count_above(lengths: &[u8], limit: usize) -> u32 {
    // No length of one byte exceeds the largest byte.
    let limit = u8::try_from(limit).unwrap_or(u8::MAX);
    lengths.iter().map(|&length| u8::from(length > limit)).sum::<u8>().into()
}

/// Collects the terms of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockBuilder {
    shared: Vec<u32>,
    own: Vec<u32>,
    ends: Vec<u8>,
}

impl BlockBuilder {
    pub(super) fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.own.len() == TERMS
    }

    /// Adds a term, whose length must fit a `u32`. O(length).
    pub(super) fn push(&mut self, term: &[u8]) {
        let head = self.own.first().map_or(&[][..], |&own| &self.ends[..own as usize]);
        let shared = shared_len(head, term);
        let own = &term[shared..];
        #[expect(clippy::cast_possible_truncation, reason = "neither is longer than the term")]
        let (shared, own_len) = (shared as u32, own.len() as u32);
        self.shared.push(shared);
        self.own.push(own_len);
        self.ends.extend_from_slice(own);
    }

    /// Appends the block, which must have at least one term, to `out`, and begins the next one. Returns the range of
    /// its head in `out`.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> Range<usize> {
        let class = Class::of(self.shared.iter().chain(&self.own).copied().max().unwrap_or(0));
        out.put_u8(class as u8);
        self.shared.iter().chain(&self.own).for_each(|&length| class.put(length, out));
        let head = out.len()..out.len() + self.own.first().map_or(0, |&own| own as usize);
        out.put(&self.ends);
        self.shared.clear();
        self.own.clear();
        self.ends.clear();
        head
    }
}

/// The header of a block: its class and the lengths of its terms.
///
/// [`read`](Self::read) checks that the class is known, the lengths lie inside the block, and the head shares nothing.
/// Locating a term checks that it lies inside the block. Only `verify` checks that the terms ascend, that `shared` is
/// maximal, and that no bytes are left over.
#[derive(Clone, Debug)]
pub(super) struct BlockHeader<'a> {
    place: Place,
    /// The block's bytes in its section.
    block: Range<usize>,
    class: Class,
    terms: u32,
    shared: &'a [u8],
    own: &'a [u8],
}

/// The two parts of a term in the section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// Start of the block's head, whose first bytes the term shares.
    pub(super) head: usize,
    /// Number of shared bytes.
    pub(super) shared: usize,
    /// Start of the term's own bytes.
    pub(super) own: usize,
    /// Number of own bytes.
    pub(super) own_len: usize,
}

impl Parts {
    /// Bytes of the term.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.shared + self.own_len
    }
}

impl<'a> BlockHeader<'a> {
    /// Reads the header of the block at `block` with `terms` terms, at least one.
    pub(super) fn read<B: SectionBytes>(
        section: &'a B,
        block: Range<usize>,
        terms: u32,
    ) -> Result<BlockHeader<'a>> {
        let place = section.place();
        let bytes = header_bytes(section, &block, Class::One.header_len(terms))?;
        let class = Class::read(place, block.start, bytes[0])?;
        let bytes = match class {
            Class::One => bytes,
            wider => header_bytes(section, &block, wider.header_len(terms))?,
        };
        let (shared, own) = bytes[CLASS_LEN..].split_at(terms as usize * class.width());
        if class.get(shared, 0) != 0 {
            let kind = ErrorKind::Broken("the first term of a block declares shared bytes");
            return Err(Error::at(place, block.start, kind));
        }
        Ok(BlockHeader { place, block, class, terms, shared, own })
    }

    /// The number of terms.
    #[inline]
    pub(super) fn terms(&self) -> usize {
        self.terms as usize
    }

    pub(super) fn class(&self) -> Class {
        self.class
    }

    /// The block's bytes in its section.
    pub(super) fn block(&self) -> Range<usize> {
        self.block.clone()
    }

    /// The number of bytes that term `i` shares with the head.
    #[inline]
    pub(super) fn shared(&self, i: usize) -> usize {
        self.class.get(self.shared, i)
    }

    /// The terms after the head that share exactly `len` bytes with it. They are consecutive, and follow those that
    /// share more.
    #[inline]
    pub(super) fn sharing(&self, len: usize) -> Range<u32> {
        let above = |limit| 1 + self.class.above(self.shared, limit);
        above(len)..len.checked_sub(1).map_or(self.terms, above)
    }

    /// The number of own bytes of term `i`.
    #[inline]
    pub(super) fn own(&self, i: usize) -> usize {
        self.class.get(self.own, i)
    }

    /// Start of the own bytes of term `i`, from the block's first byte. Unchecked: a hostile sum lies past the block,
    /// and [`end`](Self::end) refuses it.
    #[inline]
    pub(super) fn start(&self, i: usize) -> usize {
        self.class.header_len(self.terms).saturating_add(self.class.sum(self.own, i))
    }

    /// End of the own bytes of term `i`, which begin at `start`; both from the block's first byte.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] when it is past the end of the block.
    #[inline]
    pub(super) fn end(&self, i: usize, start: usize) -> Result<usize> {
        let (end, max) = (start.saturating_add(self.own(i)), self.block.len());
        if end <= max { Ok(end) } else { Err(self.outside("end of a term in its block", end, max)) }
    }

    /// The range of the own bytes of term `i` in the section. O(1).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] when they end past the end of the block.
    #[inline]
    pub(super) fn own_bytes(&self, i: usize) -> Result<Range<usize>> {
        let start = self.start(i);
        let end = self.end(i, start)?;
        Ok(self.block.start + start..self.block.start + end)
    }

    /// The two parts of term `i` in the section. O(1).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] when the term shares more bytes than the head has, or ends past the end of the block.
    #[inline]
    pub(super) fn parts(&self, i: usize) -> Result<Parts> {
        let (shared, own) = (self.shared(i), self.own_bytes(i)?);
        if shared > self.own(0) {
            return Err(self.outside("length shared with the block's first term", shared, self.own(0)));
        }
        // Inside the block: `shared` is at most the length of the head, and the head ends no later than term `i`.
        let head = self.block.start + self.start(0);
        Ok(Parts { head, shared, own: own.start, own_len: own.len() })
    }

    /// An error at the block's first byte.
    #[cold]
    pub(super) fn refuse(&self, kind: ErrorKind) -> Error {
        Error::at(self.place, self.block.start, kind)
    }

    #[cold]
    fn outside(&self, what: &'static str, found: usize, max: usize) -> Error {
        self.refuse(ErrorKind::OutOfRange { what, found: found as u64, max: max as u64 })
    }
}

/// The first `len` bytes of a block; an error if it is shorter.
#[inline]
fn header_bytes<'a, B: SectionBytes>(section: &'a B, block: &Range<usize>, len: usize) -> Result<&'a [u8]> {
    match len <= block.len() {
        true => section.slice(block.start..block.start + len),
        false => Err(Error::truncated(section.place(), block.start, len, block.len())),
    }
}
