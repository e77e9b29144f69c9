//! The blocks of presence: how they are found, and documents in them.

mod bitmap;
mod lows;
mod ranges;
mod ranks;

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};

use docvalues_format::id::BLOCK_DOCS;

use lows::{low_of, lower_bound};

use super::PresenceEntry;
use crate::error::{ErrorKind, Result};
use crate::file::Body;
use crate::header_cache::HeaderCache;
use crate::jump_tables::JumpTables;
use crate::order::Order;

/// Bytes of a block's header: its number, and its values less one.
const HEADER: usize = 4;

/// The most values of a sparse block.
const SPARSE: u32 = 4095;

/// Bytes and words of a bitmap.
const BITMAP: usize = BLOCK_DOCS as usize / 8;
const WORDS: usize = BITMAP / 8;

/// Documents of a rank, as a power of two, in tables that are built and in those of Lucene.
const POWER: u32 = 9;

/// The number of the block at the end. A real block may have it, but not only its last document.
const END: u32 = 0x7FFF;

/// The blocks of a column in which some documents have no value.
#[derive(Debug)]
pub(super) struct Blocks {
    body: Arc<Body>,
    docs: u32,
    values: u32,
    /// The blocks, without the jump table.
    region: Range<usize>,
    /// Documents of a rank of the file, as a power of two; `None` if dense blocks have no ranks.
    power: Option<u32>,
    tables: Tables,
}

#[derive(Debug)]
enum Tables {
    Walk,
    Built(OnceLock<Table>),
    /// The place of the entries in the file, how many there are, and the blocks that were read by them. Without any entry, there
    /// is only block 0.
    Baked(usize, u32, HeaderCache<Block>),
}

/// A jump table on the heap.
#[derive(Debug)]
struct Table {
    /// All blocks, with those that have no value.
    blocks: Vec<Block>,
    /// The ranks of dense blocks.
    ranks: Vec<u16>,
}

/// A block of documents.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Values in earlier blocks.
    before: u32,
    values: u32,
    /// The byte of the file at which its documents or its bitmap begin.
    start: usize,
    /// The index of its first rank in [`Table::ranks`].
    ranks: usize,
}

/// A document in its block.
struct Probe {
    is_present: bool,
    /// Values of earlier documents of the block.
    before: u32,
}

impl Blocks {
    pub(super) fn open(
        entry: PresenceEntry,
        docs: u32,
        values: u32,
        body: &Arc<Body>,
        mode: JumpTables,
    ) -> Result<Blocks> {
        let mut region = body.region(entry.offset, entry.len)?;
        let range = |what, found: i64, least, most| {
            Err(body.error(region.start, ErrorKind::OutOfRange { what, found, least, most }))
        };
        let power = match entry.power {
            -1 => None,
            power @ 7..=15 => Some(u32::from(power.unsigned_abs())),
            power => return range("documents of a rank, as a power of two", power.into(), 7, 15),
        };
        let count = u32::try_from(entry.jumps).ok();
        let bytes = 8 * count.unwrap_or(0) as usize;
        if bytes > region.len() {
            return range("entries of a jump table", entry.jumps.into(), 0, (region.len() / 8) as i64);
        }
        region.end -= bytes;
        let tables = match (mode, count) {
            (JumpTables::Walk, _) => Tables::Walk,
            (JumpTables::Baked, Some(count)) if power.is_some() => {
                Tables::Baked(region.end, count, HeaderCache::new())
            }
            _ => Tables::Built(OnceLock::new()),
        };
        Ok(Blocks { body: Arc::clone(body), docs, values, region, power, tables })
    }

    /// Bytes of the ranks of a dense block.
    fn rank_bytes(&self) -> usize {
        self.power.map_or(0, |power| 2 << (16 - power))
    }

    /// The number of the block whose header is at byte `at`, the block, and the byte after it.
    fn header(&self, bytes: &[u8], at: usize, before: u32) -> Result<(u32, Block, usize)> {
        let order = self.body.order;
        let header = order.u16(bytes, at).zip(order.u16(bytes, at.saturating_add(2)));
        let Some((number, last)) = header.filter(|_| self.region.contains(&at)) else {
            return Err(self.body.broken(at, "a block of presence past the end"));
        };
        let values = u32::from(last) + 1;
        let (start, len) = match values {
            ..=SPARSE => (at + HEADER, 2 * values as usize),
            BLOCK_DOCS => (at + HEADER, 0),
            _ => (at + HEADER + self.rank_bytes(), BITMAP),
        };
        if start + len > self.region.end {
            let (needed, left) = ((start + len - at) as u64, (self.region.end - at) as u64);
            return Err(self.body.error(at, ErrorKind::Truncated { needed, left }));
        }
        Ok((number.into(), Block { before, values, start, ranks: 0 }, start + len))
    }

    /// Fails if a block has more values than the column.
    fn check(&self, block: Block) -> Result<Block> {
        match block.before.checked_add(block.values).is_some_and(|end| end <= self.values) {
            true => Ok(block),
            false => Err(self.body.broken(block.start, "more documents with a value than the column has")),
        }
    }

    /// Calls `each` with the number of each block and the block, until it breaks. Returns the number of values before the
    /// last one of them, or of all blocks.
    fn each_block(&self, bytes: &[u8], mut each: impl FnMut(u32, Block) -> ControlFlow<()>) -> Result<u32> {
        let (mut at, mut before, mut next) = (self.region.start, 0, 0);
        loop {
            let (number, block, end) = self.header(bytes, at, before)?;
            let only = self.body.order.u16(bytes, block.start);
            if number == END && block.values == 1 && only == Some(u16::MAX) {
                return Ok(before);
            }
            if number < next || number >= self.docs.div_ceil(BLOCK_DOCS) {
                return Err(self.body.broken(at, "blocks of presence out of order"));
            }
            let block = self.check(block)?;
            if each(number, block).is_break() {
                return Ok(before);
            }
            (at, before, next) = (end, before + block.values, number + 1);
        }
    }

    /// A block that was left out.
    fn absent(&self, before: u32) -> Block {
        Block { before, values: 0, start: self.region.start, ranks: 0 }
    }

    /// The block of this number. It has no values if it was left out.
    #[inline]
    fn block(&self, bytes: &[u8], number: u32) -> Result<Block> {
        match &self.tables {
            Tables::Walk => {
                let mut found = None;
                let before = self.each_block(bytes, |here, block| {
                    found = (here == number).then_some(block);
                    if here < number { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                })?;
                Ok(found.unwrap_or(self.absent(before)))
            }
            Tables::Built(table) => {
                let blocks = &self.table(bytes, table)?.blocks;
                Ok(blocks.get(number as usize).copied().unwrap_or(self.absent(self.values)))
            }
            Tables::Baked(start, count, headers) => {
                let blocks = self.docs.div_ceil(BLOCK_DOCS).into();
                headers.get(number.into(), blocks, |number| self.by_table(bytes, (*start, *count), number))
            }
        }
    }

    /// As [`block`](Self::block), by the `count` entries of the file from byte `start` on.
    fn by_table(&self, bytes: &[u8], (start, count): (usize, u32), number: u64) -> Result<Block> {
        if count == 0 && number > 0 {
            return Ok(self.absent(self.values));
        }
        let entry = number.min(count.saturating_sub(1).into());
        let (order, entry) = (self.body.order, start + 8 * usize::try_from(entry).unwrap_or(usize::MAX));
        let (before, offset) = match count {
            0 => (0, 0),
            _ => order.u32(bytes, entry).zip(order.u32(bytes, entry + 4)).unwrap_or((0, u32::MAX)),
        };
        let at = self.region.start.saturating_add(offset as usize);
        let (found, block, _) = self.header(bytes, at, before)?;
        self.check(if u64::from(found) == number { block } else { self.absent(before) })
    }

    /// The table on the heap, which the first call builds.
    fn table<'t>(&self, bytes: &[u8], table: &'t OnceLock<Table>) -> Result<&'t Table> {
        if let Some(table) = table.get() {
            return Ok(table);
        }
        let (mut blocks, mut ranks) = (Vec::new(), Vec::new());
        let before = self.each_block(bytes, |number, mut block| {
            let absent = Block { values: 0, ..block };
            blocks.resize(number as usize, absent);
            block.ranks = ranks.len();
            if block.is_dense() {
                self.add_ranks(bytes, block, &mut ranks);
            }
            blocks.push(block);
            ControlFlow::Continue(())
        })?;
        blocks.resize(self.docs.div_ceil(BLOCK_DOCS) as usize, self.absent(before));
        Ok(table.get_or_init(|| Table { blocks, ranks }))
    }

    /// Appends the ranks of a dense block.
    fn add_ranks(&self, bytes: &[u8], block: Block, ranks: &mut Vec<u16>) {
        let mut rank = 0_u32;
        for word in 0..WORDS {
            if word.is_multiple_of(1 << (POWER - 6)) {
                // A damaged bitmap may have 65,536 bits; the count of a probe is checked.
                ranks.push(u16::try_from(rank).unwrap_or(u16::MAX));
            }
            rank += self.body.order.u64(bytes, block.start + 8 * word).unwrap_or(0).count_ones();
        }
    }

    /// Whether the block has its document `low`, and how many before it. `None` only in damaged bytes.
    #[inline(always)]
    fn probe(&self, bytes: &[u8], block: Block, low: u16) -> Option<Probe> {
        match block.values {
            0 => Some(Probe { is_present: false, before: 0 }),
            1..=SPARSE => {
                let (lows, order) = (block.lows(bytes)?, self.body.order);
                Some(probe_at(lows, order, low, lower_bound(lows, order, low)))
            }
            BLOCK_DOCS => Some(Probe { is_present: true, before: low.into() }),
            _ => self.bitmap(bytes, block)?.probe(self.body.order, low),
        }
    }
}

impl Block {
    /// Whether its documents are a bitmap.
    #[inline(always)]
    fn is_dense(self) -> bool {
        (SPARSE + 1..BLOCK_DOCS).contains(&self.values)
    }

    /// The documents of a sparse block, as two bytes each.
    #[inline(always)]
    fn lows(self, bytes: &[u8]) -> Option<&[[u8; 2]]> {
        Some(bytes.get(self.start..)?.get(..2 * self.values as usize)?.as_chunks().0)
    }
}

/// Whether the document at `place` is `low`.
#[inline(always)]
fn probe_at(lows: &[[u8; 2]], order: Order, low: u16, place: usize) -> Probe {
    let is_present = lows.get(place).is_some_and(|pair| low_of(*pair, order) == low);
    // A place of a sparse block, of which there are 4,095.
    Probe { is_present, before: u32::try_from(place).unwrap_or(0) }
}
