//! Documents with a value: a set with rank.
//!
//! A column stores the values of those documents that have one, end to end. [`PresenceReader`] maps documents to
//! values: *rank* takes a [`DocId`] to the [`ValueIndex`] of its value.
//!
//! If every document has a value, or none has, nothing is stored. Otherwise the section has a block for each 65,536
//! documents. The writer gives each block the smallest of six layouts:
//!
//! | kind | bytes for 65,536 documents | chosen for | `rank` reads |
//! | --- | --- | --- | --- |
//! | empty | 0 | blocks without a value | nothing |
//! | full | 0 | blocks where every document has a value | nothing |
//! | list | 2 × values | up to 256 scattered documents | up to 512 bytes, 9 steps |
//! | sparse | 520 + values | up to 7,920 scattered documents | 4 bytes, and a bucket of up to 256 |
//! | dense | 8,448 | more scattered documents | 2 bytes of rank table, and up to 64 of bitmap |
//! | runs | 4 × runs | at most 2,110 runs | 4 × runs, 11 steps |
//!
//! Each block also takes 8 bytes of header, and 16 in the jump table. The last block only pays for the documents
//! that it has: a bitmap of 1,000 of them takes 136 bytes.
//!
//! Measured with 10 million documents in the cache, with AVX-512. A look-up in a batch takes 2 to 4 ns in ascending
//! order and 3 to 8 ns in random order, in dense and sparse blocks; a single look-up takes 9 to 14 ns.
//! [`collect`](PresenceReader::collect) takes 0.2 ns a document of a bitmap, and 0.5 to 0.8 ns of a sparse block.
//! [`encode`] takes 3 ns for each scattered document, and 0.05 ns when it copies a bitmap.
//!
//! # Sections
//!
//! | section | holds |
//! | --- | --- |
//! | presence | the blocks end to end, each a header and a payload |
//! | presence jump table | an entry for each block: values before it, its position, its header |
//!
//! # Byte by byte
//!
//! Documents 2, 5 and 64 of 100 become one *list* block, with its entry in the jump table:
//!
//! ```
//! use docvalues_format::presence::{Kind, Presence, encode};
//!
//! let Presence::Blocks { values, blocks, jump } = encode(100, &[1 << 2 | 1 << 5, 1 << 0], true) else { panic!() };
//! assert_eq!(values, 3);
//!
//! let (header, payload) = blocks.split_at(8);
//! assert_eq!(header, [Kind::List.tag(), 0, 0, 0, 3, 0, 0, 0]); // kind, zero, no runs, three values
//! assert_eq!(payload, [2, 0, 5, 0, 64, 0, 0, 0]); // the documents, zero-padded
//!
//! let entry = [0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, Kind::List.tag(), 0, 0, 0]; // no values before; payload at 1 * 8
//! assert_eq!(jump.unwrap(), entry);
//! ```
//!
//! # Entry in the directory
//!
//! | offset | bytes | field | meaning |
//! | -----: | ----: | --- | --- |
//! | 0 | 1 | `shape` | 0: no document has a value; 1: all have; 2: blocks; 3: blocks and jump table |
//! | 1 | 4 | `values` | shapes 2 and 3: documents with a value; more than none, fewer than all |
//! | 5 | 20 | `blocks` | shapes 2 and 3: the section *presence* |
//! | 25 | 20 | `jump` | shape 3: the section *presence jump table* |
//!
//! # Modules
//!
//! | module | contents |
//! | --- | --- |
//! | `meta` | the entry in the directory |
//! | `header` | block headers and jump entries |
//! | `list`, `sparse`, `dense`, `runs` | one layout each; `rank_table` is the index of `dense` |
//! | `kind_dispatch` | one `match` over the layouts for each operation |
//! | `encode` | the writer, which picks the layouts |
//! | `rank_verified`, `batch` | one look-up and many, in bytes whose checksums were compared; many in any bytes |
//! | `lookup` | one look-up, once the checksums of all bytes were compared |
//! | `kernel`, `simd`, `dense_simd`, `write_docs` | inner loops, scalar and for AVX2 and AVX-512 |
//! | `visitor` | consumers of documents: lists and bitsets |
//!
//! # Hostile bytes
//!
//! [`PresenceReader::open`] reads none of the sections. A look-up checks the header, or the jump entry, of each block
//! it visits; of the payload, it checks only the bytes it uses. A hostile file with good checksums can therefore cause
//! a wrong answer or an error. It cannot cause a panic, a [`ValueIndex`] that is not below
//! [`values`](PresenceReader::values), or a document outside the requested range. [`PresenceReader::verify`] reads
//! everything.
//!
//! # Sources
//!
//! The structure is that of Roaring bitmaps and of Lucene's `IndexedDISI`, whose rank entries it shares. The sparse
//! block is different: it is bucketed, which halves its size and bounds the search.

use crate::error::{Place, Result, Section};
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
mod lookup;
mod meta;
mod rank_table;
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
pub use lookup::RankLookup;

#[doc(hidden)]
pub use block::Block;
#[doc(hidden)]
pub use chain::Blocks;

use header::BlockEntry;
use meta::{check_len, check_values};

/// The result of [`PresenceReader::rank_many`] for a document without a value. No column has that many values.
pub const NO_VALUE: u32 = u32::MAX;

/// The documents of a segment that have a value. `S` is a section: bytes, or a reference to them.
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
///
/// let (mut docs, mut end) = (Vec::new(), 0);
/// let first = presence.collect(3..100, &mut docs, &mut end)?;
/// assert_eq!((first, &docs[..end]), (ValueIndex::new(1), &[DocId::new(3), DocId::new(64)][..]));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence<S> {
    /// Every document has a value. A document's number is its value index.
    All,
    /// Some documents have a value, and some have none: the blocks hold the set.
    Blocks {
        /// Documents with a value.
        values: u32,
        /// The section [`Presence`](Section::Presence).
        blocks: S,
        /// The section [`PresenceJump`](Section::PresenceJump), if the file has one.
        jump: Option<S>,
    },
    /// No document has a value.
    None,
}

impl<S> Presence<S> {
    /// The number of documents with a value, in a segment of `docs` documents.
    pub fn values(&self, docs: u32) -> u32 {
        match self {
            Presence::All => docs,
            Presence::Blocks { values, .. } => *values,
            Presence::None => 0,
        }
    }

    /// Maps every section, in file order.
    ///
    /// # Errors
    ///
    /// The first error of `f`.
    pub fn try_map<T, E>(self, f: &mut dyn FnMut(Section, S) -> Result<T, E>) -> Result<Presence<T>, E> {
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

/// Reads which documents of a column have a value.
///
/// It can be shared between threads. A look-up changes only the table that
/// [`BuildOnFirstUse`](JumpTables::BuildOnFirstUse) builds.
#[derive(Debug)]
pub struct PresenceReader<B> {
    docs: u32,
    /// Documents with a value: without blocks, all or none.
    values: u32,
    blocks: Option<OpenBlocks<B>>,
}

#[derive(Debug)]
struct OpenBlocks<B> {
    chain: Blocks<B>,
    jump: Jump<B, BlockEntry>,
}

impl<B: SectionBytes> PresenceReader<B> {
    /// Opens the presence of a segment of `docs` documents. Reads none of its sections.
    ///
    /// # Errors
    ///
    /// When the lengths of the sections do not fit the number of documents.
    pub fn open(meta: Presence<B>, docs: u32, mode: JumpTables) -> Result<PresenceReader<B>> {
        let values = meta.values(docs);
        let blocks = match meta {
            Presence::All | Presence::None => None,
            Presence::Blocks { values, blocks, jump } => {
                let checked = check_values(values, docs).and_then(|()| check_len(blocks.len() as u64, docs));
                blocks.place().check(0, checked)?;
                let chain = Blocks::new(docs, values, blocks);
                let jump = Jump::open(mode, jump, &chain)?;
                Some(OpenBlocks { chain, jump })
            }
        };
        Ok(PresenceReader { docs, values, blocks })
    }

    /// Documents in the segment.
    #[inline]
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// Documents with a value.
    #[inline]
    pub fn values(&self) -> u32 {
        self.values
    }

    /// Returns the index of `doc`'s value, or `None` if the document has no value or is past the end.
    ///
    /// O(1): at most three small reads.
    ///
    /// # Errors
    ///
    /// When bytes cannot be read or are damaged.
    #[inline]
    pub fn rank(&self, doc: DocId) -> Result<Option<ValueIndex>> {
        if doc.get() >= self.docs {
            return Ok(None);
        }
        let Some(OpenBlocks { chain, jump }) = &self.blocks else {
            return Ok(self.is_all().then(|| ValueIndex::new(doc.get())));
        };
        if let Some(rank) = rank_verified::rank(chain, jump, doc).and_then(|rank| chain.index(rank)) {
            return Ok(rank);
        }
        let (number, low) = doc.split();
        let (first, block) = locate(chain, jump, number)?;
        let probe = block.probe(low.into())?;
        Ok(probe.present.then(|| ValueIndex::new(first + probe.before)))
    }

    /// Fast path of [`rank`](Self::rank), for bytes whose checksums were compared: the outer `None` means that the
    /// caller must use `rank`.
    ///
    /// The index is not checked: in a hostile file it may be as large as or larger than [`values`](Self::values).
    #[inline(always)]
    pub fn rank_verified(&self, doc: DocId) -> Option<Option<u64>> {
        if doc.get() >= self.docs {
            return Some(None);
        }
        match &self.blocks {
            Some(OpenBlocks { chain, jump }) => rank_verified::rank(chain, jump, doc),
            None => Some(self.is_all().then(|| doc.get().into())),
        }
    }

    /// Whether every document has a value. A document's number then is its value index.
    #[inline]
    pub fn is_all(&self) -> bool {
        self.values == self.docs
    }

    /// The blocks and their jump table, if there are blocks: for benches that find a block in other ways.
    #[doc(hidden)]
    pub fn chain(&self) -> Option<(&Blocks<B>, &Jump<B, BlockEntry>)> {
        self.blocks.as_ref().map(|OpenBlocks { chain, jump }| (chain, jump))
    }

    /// The number of blocks of each [`Kind`], indexed by its tag; all zero if there are no blocks.
    ///
    /// Reads the jump table, or walks the blocks.
    ///
    /// # Errors
    ///
    /// As [`rank`](Self::rank).
    pub fn block_kinds(&self) -> Result<[u32; Kind::ALL.len()]> {
        let mut kinds = [0; Kind::ALL.len()];
        if let Some(OpenBlocks { chain, jump }) = &self.blocks {
            for number in 0..self.docs.div_ceil(BLOCK_DOCS) {
                let (_, block) = locate(chain, jump, number)?;
                kinds[usize::from(block.header.kind.tag())] += 1;
            }
        }
        Ok(kinds)
    }

    /// The position of errors that no single byte causes.
    fn place(&self) -> Place {
        let nowhere = Place { section: Section::Presence, offset: 0 };
        self.blocks.as_ref().map_or(nowhere, |blocks| blocks.chain.bytes.place())
    }
}

/// Returns the number of values before block `number`, and the block.
// Always inlined: returning a block through memory costs more than finding it.
#[inline(always)]
fn locate<'a, B: SectionBytes>(
    chain: &'a Blocks<B>,
    jump: &Jump<B, BlockEntry>,
    number: u32,
) -> Result<(u32, Block<'a, B>)> {
    let entry = jump.locate(chain, number as usize)?;
    Ok((entry.before, chain.block(number, &entry)))
}

#[cfg(test)]
mod tests;
