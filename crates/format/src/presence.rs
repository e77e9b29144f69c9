//! Which documents have a value, and the how-manieth is it?
//!
//! A column stores the values of those documents that have one, end to end. [`PresenceReader`] says
//! which documents these are: *rank* takes a [`DocId`] to the [`ValueIndex`] of its value, *select*
//! takes it back.
//!
//! A column where every document has a value, or none, stores nothing for it. Any other has a block
//! for each 65,536 documents, which is written in the cheapest of six ways:
//!
//! | kind | bytes for 65,536 documents | chosen when | `rank` reads |
//! | --- | --- | --- | --- |
//! | empty | 0 | no document has a value | nothing |
//! | full | 0 | every document has one | nothing |
//! | list | 2 × values | up to 256 of them do, scattered | up to 512 bytes, 9 steps |
//! | sparse | 520 + values | up to 7,920 do, scattered | 4 bytes, and a bucket of up to 256 |
//! | dense | 8,448 | more do | 2 bytes, and up to 64 of bitmap |
//! | runs | 4 × runs | there are at most 2,110 runs | 4 × runs, 11 steps |
//!
//! A block's header takes 8 bytes more, its entry in the jump table 16. The last block pays for the
//! documents that it has: a bitmap of 1,000 of them takes 136 bytes.
//!
//! Measured hot, for 10 million documents and with AVX-512: a look-up in a batch 2 to 4 ns in ascending and 3 to
//! 8 in random order where blocks are dense or sparse, a single one 9 to 14;
//! [`collect`](PresenceReader::collect) 0.2 ns a document of a bitmap, 0.5 to 0.8 of a sparse block;
//! [`encode`] 3 ns for each of the scattered documents, 0.05 ns where a bitmap is copied.
//!
//! # Sections
//!
//! | section | holds |
//! | --- | --- |
//! | presence | the blocks end to end, each a header and a payload |
//! | presence jump table | an entry for each block: values before it, where it is, what it is |
//!
//! # In the directory
//!
//! | offset | bytes | field | meaning |
//! | -----: | ----: | --- | --- |
//! | 0 | 1 | `shape` | 0: no document has a value; 1: all have; 2: blocks; 3: blocks and jump table |
//! | 1 | 4 | `values` | shapes 2 and 3: documents with a value; more than none, fewer than all |
//! | 5 | 20 | `blocks` | shapes 2 and 3: the section *presence* |
//! | 25 | 20 | `jump` | shape 3: the section *presence jump table* |
//!
//! # What a reader may trust
//!
//! [`PresenceReader::open`] reads none of the sections. A block's header, or its jump entry, is
//! checked each time the block is located; of a payload, only what is used is looked at. So bytes that
//! a hostile writer gave good checksums can make an answer wrong or an error. They cannot make it a
//! [`ValueIndex`] that is not below [`values`](PresenceReader::values), a document outside of what
//! was asked for, or a panic. [`PresenceReader::verify`] reads everything.
//!
//! The structure is roaring's and that of Lucene's `IndexedDISI`, the rank entries are Lucene's as
//! well; the sparse block is bucketed here, which takes half of the bytes and bounds the search.

use crate::cursor::{Cursor, Put};
use crate::error::{Error, ErrorKind, Place, Result, Section};
use crate::granule::SectionRef;
use crate::id::{BLOCK_DOCS, DocId, ValueIndex};
use crate::jump::{Jump, JumpTables};
use crate::source::SectionBytes;

mod batch;
mod bitmap;
mod block;
mod chain;
mod dense;
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod dense_simd;
mod encode;
mod header;
mod kernel;
mod kind_dispatch;
mod list;
mod rank_single;
mod rank_verified;
mod runs;
mod simd;
mod sparse;
mod verify;
mod visitor;
mod write_docs;

pub use batch::Indices;
pub use encode::{encode, encode_docs};
pub use header::Kind;

use block::Block;
use chain::Blocks;
use header::{BlockEntry, Header};

/// What [`PresenceReader::rank_many`] gives for a document without a value: no column has that many
/// values.
pub const NO_VALUE: u32 = u32::MAX;

const SHAPE_NONE: u8 = 0;
const SHAPE_ALL: u8 = 1;
const SHAPE_BLOCKS: u8 = 2;
const SHAPE_JUMP: u8 = 3;

/// Which documents of a segment have a value; `S` is where the sections are.
///
/// ```
/// use docvalues_format::error::Error;
/// use docvalues_format::id::{DocId, ValueIndex};
/// use docvalues_format::jump::JumpTables;
/// use docvalues_format::presence::{PresenceReader, encode};
/// use docvalues_format::source::Owned;
///
/// // Of 100 documents, numbers 2, 3 and 64 have a value.
/// let encoded = encode(100, &[1 << 2 | 1 << 3, 1 << 0], true);
/// let opened = encoded.try_map(&mut |section, bytes| Ok::<_, Error>(Owned::new(section, bytes)))?;
/// let presence = PresenceReader::open(opened, 100, JumpTables::Baked)?;
///
/// assert_eq!(presence.values(), 3);
/// assert_eq!(presence.rank(DocId::new(64))?, Some(ValueIndex::new(2)));
/// assert_eq!(presence.rank(DocId::new(63))?, None);
/// assert_eq!(presence.select(ValueIndex::new(1))?, DocId::new(3));
///
/// let mut docs = Vec::new();
/// let first = presence.collect(3..100, &mut docs)?;
/// assert_eq!((first, docs), (ValueIndex::new(1), vec![DocId::new(3), DocId::new(64)]));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence<S> {
    /// Every document, so that its number is its value's index.
    All,
    /// Those that the blocks tell of: more than none, fewer than all.
    Blocks {
        /// How many documents have a value.
        values: u32,
        /// The section [`Presence`](Section::Presence).
        blocks: S,
        /// The section [`PresenceJump`](Section::PresenceJump), unless it was left out.
        jump: Option<S>,
    },
    /// No document.
    None,
}

impl<S> Presence<S> {
    /// How many of `docs` documents, the segment's, have a value.
    pub fn values(&self, docs: u32) -> u32 {
        match self {
            Presence::All => docs,
            Presence::Blocks { values, .. } => *values,
            Presence::None => 0,
        }
    }

    /// Takes every section to another form, in the order they have in the file.
    ///
    /// # Errors
    ///
    /// The first error of `f`.
    pub fn try_map<T, E>(self, f: &mut impl FnMut(Section, S) -> Result<T, E>) -> Result<Presence<T>, E> {
        Ok(match self {
            Presence::All => Presence::All,
            Presence::Blocks { values, blocks, jump } => Presence::Blocks {
                values,
                blocks: f(Section::Presence, blocks)?,
                jump: jump.map(|jump| f(Section::PresenceJump, jump)).transpose()?,
            },
            Presence::None => Presence::None,
        })
    }
}

/// Bytes of the jump table over the blocks of `docs` documents.
fn jump_len(docs: u32) -> u64 {
    u64::from(docs.div_ceil(BLOCK_DOCS)) * BlockEntry::LEN as u64
}

/// Whether blocks may say that `values` of `docs` documents have one.
fn check_values(values: u32, docs: u32) -> Result<(), ErrorKind> {
    ErrorKind::rule(values > 0, "presence blocks without a value")?;
    ErrorKind::at_most("documents with a value", values.into(), docs.saturating_sub(1).into())
}

/// Whether `len` bytes have room for the headers of the blocks of `docs` documents.
fn check_len(len: u64, docs: u32) -> Result<(), ErrorKind> {
    let needed = u64::from(docs.div_ceil(BLOCK_DOCS)) * Header::LEN as u64;
    if len < needed { Err(ErrorKind::Truncated { needed, left: len }) } else { Ok(()) }
}

impl Presence<SectionRef> {
    /// Appends the directory's fields.
    pub fn encode_meta(&self, out: &mut Vec<u8>) {
        match self {
            Presence::None => out.put_u8(SHAPE_NONE),
            Presence::All => out.put_u8(SHAPE_ALL),
            Presence::Blocks { values, blocks, jump } => {
                out.put_u8(if jump.is_some() { SHAPE_JUMP } else { SHAPE_BLOCKS });
                out.put_u32(*values);
                blocks.encode(out);
                jump.iter().for_each(|jump| jump.encode(out));
            }
        }
    }

    /// Reads the directory's fields, in a segment of `docs` documents.
    ///
    /// # Errors
    ///
    /// When a field holds what it may not.
    pub fn decode_meta(cursor: &mut Cursor<'_>, docs: u32) -> Result<Presence<SectionRef>> {
        let shape = cursor.u8()?;
        match shape {
            SHAPE_NONE => Ok(Presence::None),
            SHAPE_ALL => Ok(Presence::All),
            SHAPE_BLOCKS | SHAPE_JUMP => {
                let values = cursor.u32()?;
                cursor.check(check_values(values, docs))?;
                let blocks = SectionRef::decode(cursor)?;
                cursor.check(check_len(blocks.len, docs))?;
                let jump = (shape == SHAPE_JUMP).then(|| SectionRef::decode(cursor)).transpose()?;
                if let Some(jump) = &jump {
                    cursor.equal("length of the jump table", jump.len, jump_len(docs))?;
                }
                Ok(Presence::Blocks { values, blocks, jump })
            }
            tag => Err(cursor.refuse(ErrorKind::UnknownTag { what: "shape of presence", tag })),
        }
    }
}

/// The documents with a value of one column, in one of the three modes.
///
/// Share it between threads: a look-up changes nothing but the table that
/// [`BuildOnFirstUse`](JumpTables::BuildOnFirstUse) builds and the positions of
/// [`Ignore`](JumpTables::Ignore).
#[derive(Debug)]
pub struct PresenceReader<B> {
    docs: u32,
    shape: Shape<B>,
}

#[derive(Debug)]
enum Shape<B> {
    All,
    Blocks { chain: Blocks<B>, jump: Jump<B, BlockEntry> },
    None,
}

impl<B: SectionBytes> PresenceReader<B> {
    /// Opens presence for a segment of `docs` documents. Reads nothing of its sections.
    ///
    /// # Errors
    ///
    /// When the sections cannot be as long as they are.
    pub fn open(meta: Presence<B>, docs: u32, mode: JumpTables) -> Result<PresenceReader<B>> {
        let shape = match meta {
            Presence::All => Shape::All,
            Presence::Blocks { values, blocks, jump } => {
                let checked = check_values(values, docs).and_then(|()| check_len(blocks.len() as u64, docs));
                blocks.place().check(0, checked)?;
                let chain = Blocks::new(docs, values, blocks);
                let jump = Jump::open(mode, jump, &chain)?;
                Shape::Blocks { chain, jump }
            }
            Presence::None => Shape::None,
        };
        Ok(PresenceReader { docs, shape })
    }

    /// Documents in the segment.
    #[inline]
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// Documents with a value.
    #[inline]
    pub fn values(&self) -> u32 {
        match &self.shape {
            Shape::All => self.docs,
            Shape::Blocks { chain, .. } => chain.values,
            Shape::None => 0,
        }
    }

    /// The index of `doc`'s value, if it has one. A document past the end has none.
    ///
    /// O(1) and at most three small reads, but in mode `Ignore`.
    ///
    /// # Errors
    ///
    /// When bytes on the way cannot be read, or hold what they may not.
    #[inline]
    pub fn rank(&self, doc: DocId) -> Result<Option<ValueIndex>> {
        if doc.get() >= self.docs {
            return Ok(None);
        }
        match &self.shape {
            Shape::All => Ok(Some(ValueIndex::new(doc.get()))),
            Shape::Blocks { chain, jump } => {
                let known = rank_single::verified(chain, jump, doc)
                    .or_else(|| rank_single::partly_verified(chain, jump, doc));
                if let Some(rank) = known.and_then(|rank| chain.index(rank)) {
                    return Ok(rank);
                }
                let (number, low) = doc.split();
                let (first, block) = locate(chain, jump, number)?;
                let probe = block.probe(low.into())?;
                Ok(probe.present.then(|| ValueIndex::new(first + probe.before)))
            }
            Shape::None => Ok(None),
        }
    }

    /// The index of `doc`'s value, if it has one; `None` if that takes more care, which [`rank`](Self::rank) has. In a
    /// damaged block, an index may be above all that there are.
    #[inline(always)]
    pub fn rank_verified(&self, doc: DocId) -> Option<Option<u64>> {
        let Shape::Blocks { chain, jump } = &self.shape else { return None };
        if doc.get() >= self.docs {
            return None;
        }
        rank_single::verified(chain, jump, doc)
    }

    /// Whether every document has a value, and is itself its value's index.
    #[inline]
    pub fn is_all(&self) -> bool {
        matches!(self.shape, Shape::All)
    }

    /// The document that has value `value`.
    ///
    /// O(log blocks) jump entries, then a search in one block.
    ///
    /// # Errors
    ///
    /// When there is no such value, and as [`rank`](Self::rank).
    pub fn select(&self, value: ValueIndex) -> Result<DocId> {
        let value = value.get();
        let Some(max) = self.values().checked_sub(1).filter(|&max| value <= max) else {
            let (what, found, max) = ("value index", value.into(), self.values().saturating_sub(1).into());
            return Err(Error::at(self.place(), 0, ErrorKind::OutOfRange { what, found, max }));
        };
        let Shape::Blocks { chain, jump } = &self.shape else { return Ok(DocId::new(value.min(max))) };
        let found = jump.search(chain, |entry| {
            use std::cmp::Ordering::{Equal, Greater, Less};
            match value.checked_sub(entry.before) {
                None => Greater,
                Some(within) if within < entry.header.values => Equal,
                Some(_) => Less,
            }
        })?;
        let broken = || chain.refuse(0, ErrorKind::Broken("no presence block holds this value"));
        let (number, entry) = found.ok_or_else(broken)?;
        let number = u32::try_from(number).map_err(|_| broken())?;
        let low = chain.block(number, &entry, !jump.is_ignored()).select(value - entry.before)?;
        Ok(DocId::new(number * BLOCK_DOCS + low))
    }

    /// Bytes on the heap: the jump table, if it was built.
    pub fn heap_bytes(&self) -> usize {
        match &self.shape {
            Shape::Blocks { jump, .. } => jump.heap_bytes(),
            Shape::All | Shape::None => 0,
        }
    }

    /// How many blocks there are of each [`Kind`], by its tag; none of any where all documents have
    /// a value, or none has. Reads the jump table, or walks.
    ///
    /// # Errors
    ///
    /// As [`rank`](Self::rank).
    pub fn block_kinds(&self) -> Result<[u32; Kind::ALL.len()]> {
        let mut kinds = [0; Kind::ALL.len()];
        if let Shape::Blocks { chain, jump } = &self.shape {
            for number in 0..self.docs.div_ceil(BLOCK_DOCS) {
                let (_, block) = locate(chain, jump, number)?;
                kinds[usize::from(block.header.kind.tag())] += 1;
            }
        }
        Ok(kinds)
    }

    /// Where to say that an error is, if no byte is to blame.
    fn place(&self) -> Place {
        match &self.shape {
            Shape::Blocks { chain, .. } => chain.bytes.place(),
            Shape::All | Shape::None => Place { section: Section::Presence, offset: 0 },
        }
    }
}

/// Block `number`, and the values before it.
// Always: handed back through memory, a block costs more than it takes to find it.
#[inline(always)]
fn locate<'a, B: SectionBytes>(
    chain: &'a Blocks<B>,
    jump: &Jump<B, BlockEntry>,
    number: u32,
) -> Result<(u32, Block<'a, B>)> {
    let entry = jump.locate(chain, number as usize)?;
    Ok((entry.before, chain.block(number, &entry, !jump.is_ignored())))
}

#[cfg(test)]
mod tests;
