//! A sorted dictionary: distinct terms in byte order, and their ords, which count from 0.
//!
//! The terms are front-coded in blocks of [`BLOCK_TERMS`]: each is stored as the number of bytes that it shares with
//! the block's first term, and its remaining bytes (the layout is in `dictionary/block.rs`). A dictionary of several
//! blocks also has the offset of each block, and a key of eight bytes of its first term.
//!
//! # Sections
//!
//! | section | holds |
//! | --- | --- |
//! | terms | the blocks, end to end |
//! | term offsets | the start of each block, and the end of the last: [numbers](crate::numeric) |
//! | term offsets jump table | the jump table of the offsets |
//! | term keys | a *key* of 8 bytes for each block |
//!
//! A dictionary of at most one block has no offsets and no keys; one without terms has no section.
//!
//! Keys stand in for terms in a search. They ascend with the first terms of the blocks, but may tie. Most terms begin
//! with the `prefix` of the directory entry. The key of such a term is the number that its next eight bytes form, big
//! endian, padded with zeros. A term without the prefix is below all terms with it, and has key 0, or above them all,
//! and has key 2<sup>64</sup> − 1.
//!
//! # Entry in the directory
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 4 | `count` | terms |
//! | 4 | 4 | `max_len` | bytes of the longest term |
//! | 8 | 8 | `total_len` | bytes of all terms |
//! | 16 | 20 | `blocks` | reference to the terms; if `count` > 0 |
//! | 36 | | `offsets` | the entry of the term offsets; this and the next fields only if `count` > 32 |
//! | | 20 | `keys` | reference to the term keys |
//! | | 1 | `prefix_len` | bytes of the prefix |
//! | | `prefix_len` | `prefix` | the prefix of most terms, which keys leave out |
//!
//! # Byte by byte
//!
//! A dictionary of one block, and the keys of one of two blocks:
//!
//! ```
//! use docvalues_format::dictionary;
//!
//! let one = dictionary::encode([&b"wren"[..], b"wrestle", b"yew"], true)?;
//! assert_eq!(one.blocks.unwrap(), b"\x01\0\x03\0\x04\x04\x03wrenstleyew"); // class, shared, own, ends
//! assert!(one.index.is_none());
//!
//! let hosts: Vec<String> = (0..40).map(|i| format!("host-{i:02}.example")).collect();
//! let two = dictionary::encode(hosts.iter().map(String::as_bytes), true)?;
//! let index = two.index.unwrap();
//! assert_eq!(&*index.prefix, b"host-");
//! let keys = index.keys.chunks(8).map(|key| key.iter().rev().copied().collect::<Vec<u8>>()); // little-endian
//! assert!(keys.eq([b"00.examp", b"32.examp"])); // of host-00.example and host-32.example
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A search for `host-35.example` compares its key, `35.examp` as a number, with the two keys, and then searches block
//! 1.
//!
//! # Cost
//!
//! | operation | bytes read, at most | time |
//! | --- | --- | --- |
//! | ord → term | one offset, 65 bytes of lengths, the term's bytes in two places | O(length) |
//! | many ords → terms | the same for each | O(length) each; their cache misses overlap |
//! | term → ord | log₂ blocks keys; an offset and a head for the log₂ of blocks that tie; one block | O(length + log terms) |
//! | in order | every block once | O(1) a term, and its own bytes |
//!
//! Space: 2 bytes a term, and its own bytes. Every 32 terms add a class byte, a key of eight bytes, an offset of
//! usually 1 to 2 bytes, and the first term in full. A length of 256 bytes or more doubles the 2 bytes of all terms in
//! its block; one of 64 KiB or more doubles them again.
//!
//! # Hostile bytes
//!
//! [`DictionaryReader::open`] checks the directory's numbers against each other and against the lengths of the
//! sections, and reads no section. Whatever the bytes of the sections are, a look-up returns a term no longer than
//! `max_len`, an ord of the dictionary, or an error. In a hostile file with good checksums, the term or ord may be
//! wrong; [`DictionaryReader::verify`] finds that.
//!
//! # Sources
//!
//! Coding against the first term of a block is the "front coding with difference to first" of Müller, Ratsch and
//! Färber, *Adaptive string dictionary compression in in-memory column-store database systems* (EDBT 2014). There as
//! here, any term of a block decodes alone. The keys replace the sampled *reverse index* of Lucene's
//! `Lucene90DocValuesFormat`, and have a fixed size.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Place, Result, Section};
use crate::id::TermOrd;
use crate::jump::JumpTables;
use crate::numeric::{Numeric, NumericReader};
use crate::source::SectionBytes;

use block::{BlockHeader, Parts};

pub use block::BLOCK_TERMS;
pub use build::{BuildError, DictionaryBuilder, encode};
pub use gather::{BATCH, Gather};

mod block;
mod build;
mod full_block;
mod gather;
mod meta;
mod scan;
mod seek;
#[cfg(test)]
mod tests;
mod verify;

/// Bytes of a key.
pub const KEY_LEN: usize = size_of::<u64>();

/// The most bytes of the prefix that keys leave out.
pub const MAX_PREFIX: usize = u8::MAX as usize;

/// A dictionary, generic over its sections: encoded bytes (`Vec<u8>`), references in the directory
/// ([`SectionRef`](crate::granule::SectionRef)), or sections of an open file ([`SectionBytes`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary<S> {
    /// Number of terms.
    pub count: u32,
    /// Bytes of the longest term.
    pub max_len: u32,
    /// Bytes of all terms.
    pub total_len: u64,
    /// The blocks, end to end; `None` without terms.
    pub blocks: Option<S>,
    /// The index of the blocks; `None` if there is at most one block.
    pub index: Option<Index<S>>,
}

/// The index of the blocks of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index<S, N = Numeric<S>> {
    /// The start of each block, and the end of the last.
    pub offsets: N,
    /// A key of eight bytes for each block's first term.
    pub keys: S,
    /// The prefix of most terms, which keys leave out. At most [`MAX_PREFIX`] bytes.
    pub prefix: Box<[u8]>,
}

/// The number of blocks of `count` terms.
const fn block_count(count: u32) -> u32 {
    count.div_ceil(BLOCK_TERMS)
}

impl<S> Dictionary<S> {
    /// The number of blocks.
    pub fn block_count(&self) -> u32 {
        block_count(self.count)
    }

    /// Maps every section, in file order: terms, term offsets and their jump table, term keys.
    ///
    /// # Errors
    ///
    /// The first error of `f`.
    pub fn try_map<T, E>(self, f: &mut dyn FnMut(Section, S) -> Result<T, E>) -> Result<Dictionary<T>, E> {
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
}

/// Reads an open dictionary: terms by ord, and ords by term.
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

type OpenIndex<B> = Index<B, NumericReader<B>>;

impl<B: SectionBytes> DictionaryReader<B> {
    /// Opens a dictionary. O(1): reads no section.
    ///
    /// # Errors
    ///
    /// When the fields disagree with each other, or with the lengths of the sections.
    pub fn open(meta: Dictionary<B>, mode: JumpTables) -> Result<DictionaryReader<B>> {
        place_of(meta.blocks.as_ref()).check(0, meta.check(|section| section.len() as u64))?;
        let Dictionary { count, max_len, total_len, blocks, index } = meta;
        let index = match index {
            Some(Index { offsets, keys, prefix }) => {
                Some(Index { offsets: NumericReader::open(offsets, mode)?, keys, prefix })
            }
            None => None,
        };
        let max_len = max_len as usize;
        Ok(DictionaryReader { count, max_len, total_len, blocks, index })
    }

    /// The number of terms.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Replaces the contents of `out` by the term of `ord`, and reuses its memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] past the last term; when bytes cannot be read or are damaged. `out` is then empty.
    ///
    /// # Complexity
    ///
    /// O(length of the term), after O(1) to find its block. To read many consecutive terms use
    /// [`for_each`](Self::for_each).
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

    /// The section of terms, and the header of one of its blocks.
    fn header(&self, block: u32) -> Result<(&B, BlockHeader<'_>)> {
        self.header_in(block, |section| self.bounds(section, block))
    }

    /// As [`header`](Self::header), for a block that lies at the start of `bounds`.
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

    /// The two parts of term `i` of a block: the bytes that it shares with the head, and its own.
    fn parts<'a>(&self, section: &'a B, header: &BlockHeader<'a>, i: usize) -> Result<(&'a [u8], &'a [u8])> {
        let parts = header.parts(i)?;
        self.check_len(header, parts.len())?;
        let Parts { head, shared, own, own_len } = parts;
        Ok((section.slice(head..head + shared)?, section.slice(own..own + own_len)?))
    }

    /// Refuses a term longer than `max_len` of the directory.
    fn check_len(&self, header: &BlockHeader<'_>, len: usize) -> Result<()> {
        let checked = ErrorKind::at_most("length of a term", len as u64, self.max_len as u64);
        checked.map_err(|kind| header.refuse(kind))
    }

    /// The number of blocks.
    fn block_count(&self) -> u32 {
        block_count(self.count)
    }

    #[cold]
    fn no_such_ord(&self, what: &'static str, found: u32, max: u32) -> Error {
        let kind = ErrorKind::OutOfRange { what, found: found.into(), max: max.into() };
        Error::at(place_of(self.blocks.as_ref()), 0, kind)
    }
}

/// The position of errors in a section, or in a dictionary without sections.
fn place_of<B: SectionBytes>(section: Option<&B>) -> Place {
    section.map_or(Place { section: Section::Terms, offset: 0 }, B::place)
}
