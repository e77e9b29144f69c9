//! The blocks of a column, end to end.

use super::block::Block;
use super::header::{BlockEntry, Header};
use super::{rank_table, sparse};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::id::{BLOCK_DOCS, ValueIndex};
use crate::jump::{Chain, Step};
use crate::source::SectionBytes;

/// The blocks of one column, as a chain.
#[derive(Debug)]
pub struct Blocks<B> {
    /// Documents in the segment.
    pub(super) docs: u32,
    /// Those of them that have a value.
    pub(super) values: u32,
    pub(super) bytes: B,
    pub(super) last: Last,
}

/// The last block, the only one that may have fewer than [`BLOCK_DOCS`] documents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) number: u32,
    ranks: u16,
    starts: u16,
}

impl Last {
    #[expect(clippy::cast_possible_truncation, reason = "520 bytes at most")]
    fn of(docs: u32) -> Last {
        let number = docs.saturating_sub(1) / BLOCK_DOCS;
        let last = docs - number * BLOCK_DOCS;
        Last { number, ranks: rank_table::len(last) as u16, starts: sparse::starts_len(last) as u16 }
    }

    /// Bytes of the rank table of block `number`, if it is dense.
    #[inline(always)]
    pub(super) fn ranks(self, number: u32) -> usize {
        if number == self.number { self.ranks.into() } else { rank_table::len(BLOCK_DOCS) }
    }

    /// Bytes of the bucket starts of block `number`, if it is sparse.
    #[inline(always)]
    pub(super) fn starts(self, number: u32) -> usize {
        if number == self.number { self.starts.into() } else { sparse::starts_len(BLOCK_DOCS) }
    }
}

impl<B> Blocks<B> {
    /// The blocks of `docs` documents, `values` of which have a value.
    pub(super) fn new(docs: u32, values: u32, bytes: B) -> Blocks<B> {
        Blocks { docs, values, bytes, last: Last::of(docs) }
    }

    /// Documents in block `number`.
    #[inline(always)]
    pub(super) fn docs_in(&self, number: u32) -> u32 {
        self.docs.saturating_sub(number.saturating_mul(BLOCK_DOCS)).min(BLOCK_DOCS)
    }

    /// `rank` as a value index; the outer `None` if the column has fewer values.
    #[inline]
    #[expect(clippy::option_option, reason = "whether it is right, and whether there is a value")]
    pub(super) fn index(&self, rank: Option<u64>) -> Option<Option<ValueIndex>> {
        let Some(rank) = rank else { return Some(None) };
        let index = u32::try_from(rank).ok().filter(|index| *index < self.values)?;
        Some(Some(ValueIndex::new(index)))
    }
}

impl<B: SectionBytes> Blocks<B> {
    /// The block of the jump entry `entry`.
    #[inline]
    pub fn block(&self, number: u32, entry: &BlockEntry) -> Block<'_, B> {
        let docs = self.docs_in(number);
        Block { bytes: &self.bytes, at: entry.payload(), docs, header: entry.header }
    }

    /// An error of `kind` at byte `at` of the section.
    #[cold]
    pub(super) fn refuse(&self, at: usize, kind: ErrorKind) -> Error {
        Error::at(self.bytes.place(), at, kind)
    }
}

impl<B: SectionBytes> Chain for Blocks<B> {
    type Entry = BlockEntry;

    fn blocks(&self) -> usize {
        self.docs.div_ceil(BLOCK_DOCS) as usize
    }

    fn stride(&self) -> usize {
        BlockEntry::LEN
    }

    fn put(&self, entry: &BlockEntry, out: &mut Vec<u8>) {
        entry.encode(out);
    }

    fn place(&self) -> Place {
        self.bytes.place()
    }

    fn step(&self, block: usize, at: usize, values: u64) -> Result<Step<BlockEntry>> {
        let (place, len) = (self.bytes.place(), self.bytes.len());
        // `slice` does not check this: it may read the zeros after the payload, which would pass for empty blocks.
        let payload = at.saturating_add(Header::LEN);
        if payload > len {
            return Err(Error::truncated(place, at, Header::LEN, len.saturating_sub(at)));
        }
        let header = Header::parse(place, at, self.bytes.array(at)?)?;
        let before = u32::try_from(values).ok();
        let entry = before.and_then(|before| BlockEntry::new(before, payload, header));
        let entry = entry.ok_or_else(|| self.refuse(at, ErrorKind::Broken("too many presence blocks")))?;
        place.check(at, self.admit(block, &entry))?;
        let docs = self.docs_in(u32::try_from(block).unwrap_or(u32::MAX));
        let needed = header.payload_len(docs);
        let next = payload.saturating_add(needed);
        if next > len {
            return Err(Error::truncated(place, payload, needed, len - payload));
        }
        if block + 1 == self.blocks() {
            place.check(next, ErrorKind::equal("length of presence", len as u64, next as u64))?;
        }
        Ok(Step { entry, next, values: values + u64::from(header.values) })
    }

    /// Checks the rules of the block's kind, and that the values up to its end are no more than the column's. That
    /// keeps every answer a [`ValueIndex`](crate::id::ValueIndex) below `values`.
    #[inline]
    fn admit(&self, block: usize, entry: &BlockEntry) -> Result<(), ErrorKind> {
        let number = u32::try_from(block).unwrap_or(u32::MAX);
        entry.header.check(self.docs_in(number))?;
        let (found, values) = (u64::from(entry.before) + u64::from(entry.header.values), self.values.into());
        let what = "values up to the end of a presence block";
        ErrorKind::at_most(what, found, values)?;
        if block + 1 < self.blocks() { Ok(()) } else { ErrorKind::equal(what, found, values) }
    }
}
