//! Keys in blocks under a trie of separators: the form of the index for ids without much structure.
//!
//! # Sections
//!
//! | section | holds |
//! | --- | --- |
//! | ids | blocks of up to 48 keys, end to end; the layout is in `id_block.rs` |
//! | id block starts | the offset and the first rank of each block; `id_blocks/starts.rs` |
//! | id index | the separators between blocks, as a trie; `id_blocks/block_index.rs`; missing if there is one block |
//!
//! Blocks end where neighbouring keys share the fewest bytes, after 24 to 48 keys, so that separators are short.
//!
//! # Cost
//!
//! A look-up descends the trie to one block, and compares all of its heads at once. Starts and trie are on the
//! heap, about 0.3 bytes a key, and are verified at opening. Every offset inside of a block is checked each time.
//!
//! Sources: Lucene's `Lucene90BlockTreeTermsWriter` for the size of the blocks (25 to 48) and their purpose; Bayer
//! and Unterauer, *Prefix B-trees* (1977) for ending blocks where separators are short; Graefe and Larson, *B-tree
//! indexes and CPU caches* (2001), whose *poor man's normalized keys* the heads are.

use std::ops::{ControlFlow, Range};

use docvalues_format::error::{Error, ErrorKind, Result, Section};
use docvalues_format::source::{SectionBytes, VerifiedSection};

use crate::Dictionary;
use crate::id_block::{Block, OVERREAD};
use crate::id_blocks::block_index::{Descent, SeparatorTrie};
use crate::id_blocks::starts::Starts;

pub use build::BlocksBuilder;

pub(crate) mod block_index;
mod build;
pub(crate) mod starts;
#[cfg(test)]
mod tests;

/// Keys in blocks, in sections of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks<S> {
    /// The number of blocks: at least one.
    pub count: u32,
    /// The blocks.
    pub ids: S,
    /// The starts of the blocks.
    pub starts: S,
    /// The trie over the separators; `None` if there is one block.
    pub index: Option<S>,
}

impl<S> Blocks<S> {
    /// Converts every section, in file order: ids, starts, index.
    ///
    /// # Errors
    ///
    /// The first error of `f`.
    pub fn try_map<T, E>(self, f: &mut impl FnMut(Section, S) -> Result<T, E>) -> Result<Blocks<T>, E> {
        let Blocks { count, ids, starts, index } = self;
        let (ids, starts) = (f(Section::Ids, ids)?, f(Section::IdStarts, starts)?);
        let index = index.map(|index| f(Section::IdIndex, index)).transpose()?;
        Ok(Blocks { count, ids, starts, index })
    }
}

/// Keys in blocks, opened.
#[derive(Debug)]
pub struct BlocksReader<B> {
    section: B,
    index: Index,
    len: u32,
}

/// The index that leads to blocks, on the heap and verified.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Index {
    starts: Starts,
    trie: Option<SeparatorTrie>,
}

const _: () = assert!(size_of::<Index>() <= 128);

impl Index {
    /// The only block that may have `key`.
    #[inline]
    fn block_of(&self, key: &[u8]) -> u32 {
        // At most the number of separators, which is one less than that of blocks.
        self.trie.as_ref().map_or(0, |trie| trie.at_most(key))
    }

    /// The offset and the number of the only block that may have `key`.
    #[inline]
    pub(crate) fn place_of(&self, key: &[u8]) -> (usize, u32) {
        let number = self.block_of(key);
        (self.starts.offset(number), number)
    }

    /// Prefetches a block, all of it if it has a usual size. A look-up reads its beginning, then a line of its
    /// heads, then one of its rests, each known by the one before.
    #[inline]
    pub(crate) fn prefetch(&self, section: &impl SectionBytes, block: u32) {
        const MOST: usize = 1024;
        let (start, end) = (self.starts.offset(block), self.starts.offset(block + 1));
        for at in (start..end.min(start.saturating_add(MOST))).step_by(64) {
            section.prefetch(at);
        }
    }

    /// Prefetches all of a small index, so that the cache misses of a look-up overlap.
    #[inline]
    pub(crate) fn prefetch_all(&self) {
        if let Some(trie) = &self.trie {
            trie.prefetch();
            self.starts.prefetch();
        }
    }

    /// Starts the search for the only block that may have `key`. Returns a descent; or the block at once, if
    /// [`prefetch_all`](Self::prefetch_all) has loaded all of the index.
    #[inline]
    pub(crate) fn descend(&self, key: &[u8]) -> (Option<Descent>, Option<u32>) {
        match &self.trie {
            Some(trie) if !trie.is_small() => (Some(trie.descend()), None),
            _ => (None, Some(self.block_of(key))),
        }
    }

    /// Continues a descent by a step, and prefetches for the next. Returns the block once it is known.
    #[inline]
    pub(crate) fn step(&self, key: &[u8], way: &mut Descent) -> Option<u32> {
        let block = self.trie.as_ref().map_or(Some(0), |trie| trie.step(key, way))?;
        self.starts.prefetch_one(block);
        Some(block)
    }

    /// Prefetches a block, and passes the range of its ranks to `on_ranks`.
    #[inline]
    pub(crate) fn prefetch_block(
        &self,
        section: &impl SectionBytes,
        block: u32,
        on_ranks: impl FnOnce(Range<u32>),
    ) {
        self.prefetch(section, block);
        on_ranks(self.starts.rank(block)..self.starts.rank(block + 1));
    }

    /// The only block that may have `key`, after [prefetching](Self::prefetch_block) it.
    #[inline]
    pub(crate) fn locate(
        &self,
        section: &impl SectionBytes,
        key: &[u8],
        on_ranks: impl FnOnce(Range<u32>),
    ) -> u32 {
        let number = self.block_of(key);
        self.prefetch_block(section, number, on_ranks);
        number
    }

    #[inline]
    fn read<'a>(&self, section: &'a impl SectionBytes, block: u32) -> Result<Block<'a>> {
        let (start, end) = (self.starts.offset(block), self.starts.offset(block + 1));
        let bytes = section.slice(start..end.saturating_add(OVERREAD))?;
        Block::read(bytes).ok_or_else(|| self.broken(section, block))
    }

    #[cold]
    fn broken(&self, section: &impl SectionBytes, block: u32) -> Error {
        let what = "a block of ids is malformed";
        Error::at(section.place(), self.starts.offset(block), ErrorKind::Broken(what))
    }

    /// The ranks of a block's keys. Fails if the block has another number of keys.
    fn ranks(&self, section: &impl SectionBytes, number: u32, block: &Block<'_>) -> Result<Range<u32>> {
        let ranks = self.starts.rank(number)..self.starts.rank(number + 1);
        match ranks.len() == block.len() {
            true => Ok(ranks),
            false => Err(self.broken(section, number)),
        }
    }

    /// The rank of `key`, if block `number` has it.
    #[inline]
    pub(crate) fn find_in(
        &self,
        section: &impl SectionBytes,
        number: u32,
        key: &[u8],
    ) -> Result<Option<u32>> {
        let block = self.read(section, number)?;
        match block.find(key) {
            #[expect(clippy::cast_possible_truncation, reason = "a block has at most 48 keys")]
            Some(place) => Ok(Some(self.ranks(section, number, &block)?.start + place as u32)),
            None => Ok(None),
        }
    }
}

impl<B: SectionBytes> BlocksReader<B> {
    /// Opens the blocks of `keys` keys, at least one. Reads, verifies and copies starts and index to the heap;
    /// reads no block. O(blocks), about 10 ns each.
    ///
    /// # Errors
    ///
    /// When starts or index are damaged, or contradict each other.
    pub fn open(blocks: Blocks<B>, keys: u32) -> Result<BlocksReader<B>> {
        let Blocks { count, ids, starts, index } = blocks;
        let fits = 0 < count && count <= keys && index.is_some() == (count > 1);
        let why = "the number of id blocks does not match the number of ids or the index";
        ids.place().check(0, ErrorKind::rule(fits, why))?;
        let starts = Starts::open(&starts, count, keys, ids.len() as u64)?;
        let trie = match index {
            Some(index) => Some(SeparatorTrie::open(index.slice(0..index.len())?, count - 1, index.place())?),
            None => None,
        };
        Ok(BlocksReader { section: ids, index: Index { starts, trie }, len: keys })
    }

    /// The blocks and their index, if all blocks are verified by now.
    #[inline]
    pub(crate) fn verified(&self) -> Option<(VerifiedSection<'_>, &Index)> {
        Some((VerifiedSection::of(&self.section)?, &self.index))
    }

    /// Prefetches the block that may have `key`; searches the index for it.
    #[inline]
    pub fn prefetch(&self, key: &[u8]) {
        self.index.prefetch(&self.section, self.index.block_of(key));
    }

    /// The number of blocks.
    pub fn block_count(&self) -> u32 {
        self.index.starts.len()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.index.starts.heap_bytes() + self.index.trie.as_ref().map_or(0, SeparatorTrie::heap_bytes)
    }
}

impl<B: SectionBytes> Dictionary for BlocksReader<B> {
    fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    fn find(&self, key: &[u8]) -> Result<Option<u32>> {
        let number = self.index.locate(&self.section, key, |_| ());
        self.index.find_in(&self.section, number, key)
    }

    fn lower_bound(&self, key: &[u8]) -> Result<u32> {
        let BlocksReader { section, index, .. } = self;
        let number = index.block_of(key);
        let block = index.read(section, number)?;
        let ranks = index.ranks(section, number, &block)?;
        let place = block.lower_bound(key, &mut Vec::new()).ok_or_else(|| index.broken(section, number))?;
        #[expect(clippy::cast_possible_truncation, reason = "a block has at most 48 keys")]
        Ok(ranks.start + place as u32)
    }

    fn each(
        &self,
        ranks: Range<u32>,
        each: &mut dyn FnMut(u32, &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let ranks = ranks.start..ranks.end.min(self.len);
        if ranks.is_empty() {
            return Ok(());
        }
        let mut key = Vec::new();
        let BlocksReader { section, index, .. } = self;
        for number in index.starts.block_of(ranks.start)..index.starts.len() {
            let block = index.read(section, number)?;
            for (place, rank) in index.ranks(section, number, &block)?.enumerate() {
                if rank >= ranks.end {
                    return Ok(());
                }
                if rank < ranks.start {
                    continue;
                }
                block.key(place, &mut key).ok_or_else(|| index.broken(section, number))?;
                if each(rank, &key)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn verify(&self) -> Result<()> {
        let BlocksReader { section, index, .. } = self;
        let rule = |holds, why| section.place().check(0, ErrorKind::rule(holds, why));
        for number in 0..index.starts.len() {
            let end = index.starts.offset(number).saturating_add(index.read(section, number)?.end());
            if end != index.starts.offset(number + 1) {
                return Err(index.broken(section, number));
            }
        }
        let (mut before, mut count) = (None::<Vec<u8>>, 0);
        self.each(0..self.len, &mut |rank, key| {
            rule(before.as_ref().is_none_or(|before| &before[..] < key), "ids do not ascend")?;
            rule(self.find(key)? == Some(rank), "an id is not found at its rank")?;
            let before = before.get_or_insert_default();
            before.clear();
            before.extend_from_slice(key);
            count += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        rule(count == self.len, "there are fewer ids than there should be")
    }
}
