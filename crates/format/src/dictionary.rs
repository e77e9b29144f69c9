//! Terms in byte order, numbered from 0: which term has this ord, and which ord this term?
//!
//! The terms lie in blocks of [`BLOCK_TERMS`], in which each is stored as the number of bytes it shares
//! with the block's first term, and the rest (its layout stands in `dictionary/block.rs`). Beside the blocks
//! there are, if there is more than one, their offsets and eight bytes of each block's first term.
//!
//! # Sections
//!
//! | section | holds |
//! | --- | --- |
//! | terms | the blocks, end to end |
//! | term offsets | where each block begins, and the end of the last: [numbers](crate::numeric) |
//! | term offsets jump table | the jump table of those |
//! | term keys | a *key* of 8 bytes for each block |
//!
//! A dictionary of at most one block has no offsets and no keys; one without terms has no section.
//!
//! Keys are compared in place of terms: they ascend as the first terms of the blocks do, but may tie.
//! Most terms begin with the entry's `prefix`, and have as their key the eight bytes behind it, zero
//! where the term is shorter, as a number with the first byte on top. Terms that do not have the prefix
//! lie below all that do, and their key is 0, or above, and it is 2<sup>64</sup> − 1.
//!
//! # Entry in the directory
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 4 | `count` | terms |
//! | 4 | 4 | `max_len` | bytes of the longest term |
//! | 8 | 8 | `total_len` | bytes of all terms |
//! | 16 | 20 | `blocks` | reference to the terms; if `count` > 0 |
//! | 36 | | `offsets` | the entry of the term offsets; if `count` > 32, as all that follows |
//! | | 20 | `keys` | reference to the term keys |
//! | | 1 | `prefix_len` | bytes of the prefix |
//! | | `prefix_len` | `prefix` | what terms begin with, behind which keys begin |
//!
//! # Cost
//!
//! | | bytes touched, at most | time |
//! | --- | --- | --- |
//! | ord → term | one offset, 65 bytes of lengths, the term's bytes in two places | O(length) |
//! | many ords → terms | as much for each | O(length) for each, of which none waits for another |
//! | term → ord | log₂ blocks keys; an offset and a head for the log₂ of blocks that tie; one block | O(length + log terms) |
//! | in order | every block once | O(1) a term, but for its own bytes |
//!
//! Space: 2 bytes a term, its own bytes, and for every 32 terms a byte of class, the eight of the key,
//! an offset of usually 1 to 2 bytes, and the head's bytes in full. A length of 256 bytes or more doubles
//! the two bytes of all terms in its block, one of 64 KiB doubles them again.
//!
//! # What a reader may trust
//!
//! [`DictionaryReader::open`] checks the numbers of the directory against each other and against the
//! sections' lengths, and reads no section. Whatever their bytes are, look-ups return a term no
//! longer than `max_len`, an ord of the dictionary, or an error; that it is the right one in a file
//! whose checksums match is for [`DictionaryReader::verify`].
//!
//! Sources: coding against a block's first term is the "front coding with difference to first" of
//! Müller, Ratsch and Färber, *Adaptive string dictionary compression in in-memory column-store
//! database systems* (EDBT 2014), there for the same reason: any string of a block decodes alone. Keys
//! take the place of the sampled *reverse index* of Lucene's `Lucene90DocValuesFormat`, with a fixed size.

use std::ops::{ControlFlow, Range};

use crate::cursor::{Cursor, Put};
use crate::error::{Error, ErrorKind, Place, Result, Section};
use crate::granule::SectionRef;
use crate::id::TermOrd;
use crate::jump::JumpTables;
use crate::numeric::{Numeric, NumericReader, Role};
use crate::source::SectionBytes;

use block::BlockHeader;

pub use block::BLOCK_TERMS;
pub use build::{BuildError, DictionaryBuilder, encode};
pub use gather::{BATCH, Gather};
pub use term_iter::TermIter;

mod block;
mod build;
mod full_block;
mod gather;
mod seek;
mod term_iter;
#[cfg(test)]
mod tests;
mod verify;

/// Bytes of a key.
pub const KEY_LEN: usize = size_of::<u64>();

/// The most bytes of the prefix behind which keys begin.
pub const MAX_PREFIX: usize = u8::MAX as usize;

/// A dictionary, wherever its sections are: just made (`Vec<u8>`), in the directory ([`SectionRef`]),
/// or opened ([`SectionBytes`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary<S> {
    /// How many terms there are.
    pub count: u32,
    /// Bytes of the longest term.
    pub max_len: u32,
    /// Bytes of all terms.
    pub total_len: u64,
    /// The blocks, end to end; `None` without terms.
    pub blocks: Option<S>,
    /// What leads to a block; `None` if there is at most one.
    pub index: Option<Index<S>>,
}

/// What leads to a block of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index<S> {
    /// Where each block begins, and where the last ends.
    pub offsets: Numeric<S>,
    /// Eight bytes of each block's first term.
    pub keys: S,
    /// What most terms begin with; keys begin behind it. At most [`MAX_PREFIX`] bytes.
    pub prefix: Box<[u8]>,
}

/// Blocks that `count` terms take.
const fn block_count(count: u32) -> u32 {
    count.div_ceil(BLOCK_TERMS)
}

impl<S> Dictionary<S> {
    /// How many blocks there are.
    pub fn block_count(&self) -> u32 {
        block_count(self.count)
    }

    /// Turns every section that is there into something else, in file order: terms, term offsets and
    /// their jump table, term keys.
    ///
    /// # Errors
    ///
    /// The first that `f` returns.
    pub fn try_map<T, E>(self, f: &mut impl FnMut(Section, S) -> Result<T, E>) -> Result<Dictionary<T>, E> {
        let Dictionary { count, max_len, total_len, blocks, index } = self;
        let blocks = blocks.map(|s| f(Section::Terms, s)).transpose()?;
        let index = match index {
            Some(Index { offsets, keys, prefix }) => {
                Some(Index { offsets: offsets.try_map(f)?, keys: f(Section::TermKeys, keys)?, prefix })
            }
            None => None,
        };
        Ok(Dictionary { count, max_len, total_len, blocks, index })
    }

    /// Compares all fields with each other, given the length of each section.
    fn check(&self, len: impl Fn(&S) -> u64) -> Result<(), ErrorKind> {
        let (count, blocks) = (u64::from(self.count), u64::from(self.block_count()));
        let max_len = u64::from(self.max_len);
        let bytes = self.blocks.as_ref().map_or(0, &len);
        let as_asked = self.blocks.is_some() == (blocks > 0) && self.index.is_some() == (blocks > 1);
        ErrorKind::rule(as_asked, "the dictionary's sections do not fit its number of terms")?;
        ErrorKind::at_most("length of all terms", self.total_len, count.saturating_mul(max_len))?;
        // A term lies in its block in two pieces that do not overlap, so none is longer than all of
        // the blocks: what a look-up allocates is bounded by bytes that are there.
        ErrorKind::at_most("length of the longest term", max_len, bytes)?;
        ErrorKind::at_most("least length of the terms", blocks + 2 * count, bytes)?;
        if let Some(Index { offsets, keys, prefix }) = &self.index {
            ErrorKind::at_most("length of the prefix", prefix.len() as u64, MAX_PREFIX as u64)?;
            ErrorKind::equal("length of the term keys", len(keys), blocks * KEY_LEN as u64)?;
            ErrorKind::equal("number of term offsets", offsets.count, blocks + 1)?;
            ErrorKind::equal("first term offset", offsets.min.cast_unsigned(), 0)?;
            ErrorKind::equal("last term offset", offsets.max.cast_unsigned(), bytes)?;
        }
        Ok(())
    }
}

impl Dictionary<SectionRef> {
    /// Appends the dictionary's fields to a directory entry; the layout stands in the head of
    /// [the module](self#entry-in-the-directory).
    pub fn encode_meta(&self, out: &mut Vec<u8>) {
        out.put_u32(self.count);
        out.put_u32(self.max_len);
        out.put_u64(self.total_len);
        if let Some(blocks) = &self.blocks {
            blocks.encode(out);
        }
        if let Some(Index { offsets, keys, prefix }) = &self.index {
            offsets.encode_meta(out);
            keys.encode(out);
            let prefix = &prefix[..prefix.len().min(MAX_PREFIX)];
            #[expect(clippy::cast_possible_truncation, reason = "MAX_PREFIX fits a byte")]
            out.put_u8(prefix.len() as u8);
            out.put(prefix);
        }
    }

    /// Reads what [`encode_meta`](Self::encode_meta) wrote.
    ///
    /// # Errors
    ///
    /// When a field holds what it may not, or two of them disagree.
    pub fn decode_meta(cursor: &mut Cursor<'_>) -> Result<Dictionary<SectionRef>> {
        let (count, max_len, total_len) = (cursor.u32()?, cursor.u32()?, cursor.u64()?);
        let blocks = (count > 0).then(|| SectionRef::decode(cursor)).transpose()?;
        let index = match block_count(count) > 1 {
            true => Some(Index {
                offsets: Numeric::decode_meta(cursor, Role::TermOffsets)?,
                keys: SectionRef::decode(cursor)?,
                prefix: prefix(cursor)?,
            }),
            false => None,
        };
        let meta = Dictionary { count, max_len, total_len, blocks, index };
        cursor.check(meta.check(|section| section.len))?;
        Ok(meta)
    }
}

fn prefix(cursor: &mut Cursor<'_>) -> Result<Box<[u8]>> {
    let len = cursor.u8()?;
    cursor.take(len.into()).map(Into::into)
}

/// A dictionary, opened.
///
/// ```
/// use docvalues_format::dictionary::{self, DictionaryReader};
/// use docvalues_format::id::TermOrd;
/// use docvalues_format::jump::JumpTables;
/// use docvalues_format::source::Owned;
///
/// let terms: [&[u8]; 3] = [b"wren", b"wrestle", b"yew"];
/// let made = dictionary::encode(terms, true)?;
/// let opened = made.try_map(&mut |section, bytes| Ok::<_, std::convert::Infallible>(Owned::new(section, bytes)))?;
/// let terms = DictionaryReader::open(opened, JumpTables::Baked)?;
///
/// let mut term = Vec::new();
/// terms.term(TermOrd::new(1), &mut term)?;
/// assert_eq!(term, b"wrestle");
/// assert_eq!(terms.seek_exact(b"yew")?, Some(TermOrd::new(2)));
/// assert_eq!(terms.seek_ceil(b"x")?, TermOrd::new(2));
/// assert_eq!(terms.prefix(b"wre")?, 0..2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DictionaryReader<B: SectionBytes> {
    count: u32,
    max_len: usize,
    total_len: u64,
    blocks: Option<B>,
    index: Option<OpenIndex<B>>,
}

#[derive(Debug)]
struct OpenIndex<B: SectionBytes> {
    offsets: NumericReader<B>,
    keys: B,
    prefix: Box<[u8]>,
}

impl<B: SectionBytes> DictionaryReader<B> {
    /// Opens a dictionary. O(1): reads no section.
    ///
    /// # Errors
    ///
    /// When the fields disagree with each other or with the lengths of the sections.
    pub fn open(meta: Dictionary<B>, mode: JumpTables) -> Result<DictionaryReader<B>> {
        place_of(meta.blocks.as_ref()).check(0, meta.check(|section| section.len() as u64))?;
        let Dictionary { count, max_len, total_len, blocks, index } = meta;
        let index = match index {
            Some(Index { offsets, keys, prefix }) => {
                Some(OpenIndex { offsets: NumericReader::open(offsets, mode)?, keys, prefix })
            }
            None => None,
        };
        let max_len = max_len as usize;
        Ok(DictionaryReader { count, max_len, total_len, blocks, index })
    }

    /// How many terms there are.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of the longest term.
    pub fn max_len(&self) -> usize {
        self.max_len
    }

    /// Bytes of all terms together, as if each were stored in full.
    pub fn total_len(&self) -> u64 {
        self.total_len
    }

    /// Where each block begins, and where the last ends; `None` if there is at most one.
    pub fn offsets(&self) -> Option<&NumericReader<B>> {
        self.index.as_ref().map(|index| &index.offsets)
    }

    /// Bytes on the heap: the prefix of the keys, and the jump table of the offsets if it was built.
    pub fn heap_bytes(&self) -> usize {
        self.index.as_ref().map_or(0, |index| index.offsets.heap_bytes() + index.prefix.len())
    }

    /// Replaces `out` by the term of `ord`, and uses the memory it has.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] past the last term; when bytes on the way cannot be read, or hold what
    /// they may not. `out` is then empty.
    ///
    /// # Complexity
    ///
    /// O(length of the term), once the offset of its block is found, which is O(1) but in
    /// [`JumpTables::Ignore`]. For many terms in a row see [`for_each`](Self::for_each).
    pub fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        if ord.get() >= self.count {
            return Err(self.no_such_ord("ord", ord.get(), self.count.saturating_sub(1)));
        }
        if self.copy_verified(ord, out).is_some() {
            return Ok(());
        }
        let (section, header) = self.header(ord.get() / BLOCK_TERMS)?;
        let (shared, own) = self.parts(section, &header, (ord.get() % BLOCK_TERMS) as usize)?;
        out.reserve(shared.len() + own.len());
        out.extend_from_slice(shared);
        out.extend_from_slice(own);
        Ok(())
    }

    /// Hands the terms of `ords` to `each` in order, until it breaks off. Decodes every block once, and
    /// copies of each term what it does not share with the one before.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] if `ords` ends past the last term; when bytes on the way cannot be
    /// read, or hold what they may not.
    pub fn for_each(
        &self,
        ords: Range<u32>,
        mut each: impl FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut terms = self.terms(ords)?;
        while let Some((ord, term)) = terms.next()? {
            if each(ord, term).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The bytes of `block` in the section of terms.
    fn bounds(&self, section: &B, block: u32) -> Result<Range<usize>> {
        let Some(index) = &self.index else {
            return Ok(0..section.len());
        };
        let (start, end) = index.offsets.get_pair(block.into())?;
        let bounds = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        match bounds {
            Some((start, end)) if start < end && end <= section.len() => Ok(start..end),
            _ => {
                let place = place_of(index.offsets.meta().blocks.as_ref());
                let kind = ErrorKind::Broken("the offsets of a block of terms descend, or leave the section");
                Err(Error::at(place, 0, kind))
            }
        }
    }

    /// The section of terms, and the lengths of one of its blocks.
    fn header(&self, block: u32) -> Result<(&B, BlockHeader<'_>)> {
        self.header_in(block, |section| self.bounds(section, block))
    }

    /// As [`header`](Self::header), where the block lies within `bounds`, or at their beginning.
    fn header_in(
        &self,
        block: u32,
        bounds: impl FnOnce(&B) -> Result<Range<usize>>,
    ) -> Result<(&B, BlockHeader<'_>)> {
        let terms = self.count.saturating_sub(block.saturating_mul(BLOCK_TERMS)).min(BLOCK_TERMS);
        match &self.blocks {
            Some(section) if terms > 0 => Ok((section, BlockHeader::read(section, bounds(section)?, terms)?)),
            _ => Err(self.no_such_ord("block of terms", block, self.block_count())),
        }
    }

    /// The two parts of a block's term `i`: what it shares with the head, and what it does not.
    fn parts<'a>(&self, section: &'a B, header: &BlockHeader<'a>, i: usize) -> Result<(&'a [u8], &'a [u8])> {
        let parts = header.parts(i)?;
        self.check_len(header, parts.shared.len() + parts.own.len())?;
        Ok((section.slice(parts.shared)?, section.slice(parts.own)?))
    }

    /// Refuses a term that is longer than the directory says any is.
    fn check_len(&self, header: &BlockHeader<'_>, len: usize) -> Result<()> {
        let checked = ErrorKind::at_most("length of a term", len as u64, self.max_len as u64);
        checked.map_err(|kind| header.refuse(kind))
    }

    /// How many blocks there are.
    fn block_count(&self) -> u32 {
        block_count(self.count)
    }

    #[cold]
    fn no_such_ord(&self, what: &'static str, found: u32, max: u32) -> Error {
        let kind = ErrorKind::OutOfRange { what, found: found.into(), max: max.into() };
        Error::at(place_of(self.blocks.as_ref()), 0, kind)
    }
}

/// Where an error about a section lies, or about a dictionary without one.
fn place_of<B: SectionBytes>(section: Option<&B>) -> Place {
    section.map_or(Place { section: Section::Terms, offset: 0 }, B::place)
}
