//! Blocks of numbers, each with a minimum and a width of its own, and the ways to find one.
//!
//! ```text
//! block         width (1), min (8); unless the width is 0, the length of the packed integers (4), and these
//! jump table    the place of each block (8)
//! ```

use std::ops::Range;
use std::sync::OnceLock;

use super::block::Block;
use super::{NumericEntry, past};
use crate::error::{ErrorKind, Result};
use crate::file::Body;
use crate::header_cache::HeaderCache;
use crate::jump_tables::JumpTables;
use crate::packed::Packed;

/// Bytes of a block's header: width and minimum; and the length of its packed integers, if it has any.
const HEADER: usize = 9;
const LENGTH: usize = 4;

/// The blocks of a column.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Numbers of a block, as a power of two.
    pub(super) shift: u32,
    gcd: i64,
    /// The number of numbers.
    count: u64,
    /// The blocks, and the jump table.
    pub(super) region: Range<usize>,
    starts: Starts,
}

/// Where blocks begin.
#[derive(Debug)]
enum Starts {
    Walk,
    /// The blocks, so that a look-up reads no header.
    Built(OnceLock<Vec<Block>>),
    /// The place of a table in the file, and the blocks that were read by it.
    Baked(usize, HeaderCache<Block>),
}

impl Blocks {
    /// The blocks of `count` numbers, each of `1 << shift`.
    pub(super) fn open(
        entry: &NumericEntry,
        (shift, count): (u32, u64),
        region: Range<usize>,
        body: &Body,
        mode: JumpTables,
    ) -> Result<Blocks> {
        let starts = match (mode, usize::try_from(entry.jump)) {
            (JumpTables::Walk, _) => Starts::Walk,
            (JumpTables::Baked, Ok(jump)) if region.contains(&jump) => {
                let blocks = count.div_ceil(1 << shift);
                let (needed, left) = (blocks.saturating_mul(8), (region.end - jump) as u64);
                if needed > left {
                    return Err(body.error(jump, ErrorKind::Truncated { needed, left }));
                }
                Starts::Baked(jump, HeaderCache::new())
            }
            _ => Starts::Built(OnceLock::new()),
        };
        Ok(Blocks { shift, gcd: entry.gcd, count, region, starts })
    }

    /// The place of a number in its block.
    #[inline(always)]
    pub(super) fn within(&self, index: u64) -> u64 {
        index & ((1 << self.shift) - 1)
    }

    /// The numbers from `index` on to the end of its block.
    pub(super) fn left(&self, index: u64) -> u64 {
        (1 << self.shift) - self.within(index)
    }

    /// The blocks, if their headers are in memory.
    #[inline(always)]
    pub(super) fn in_memory(&self) -> &[Block] {
        match &self.starts {
            Starts::Walk => &[],
            Starts::Built(blocks) => blocks.get().map_or(&[], Vec::as_slice),
            Starts::Baked(_, headers) => headers.all(),
        }
    }

    /// Block `number`, which exists. `bytes` are those of `body`.
    #[inline]
    pub(super) fn block(&self, body: &Body, bytes: &[u8], number: u64) -> Result<Block> {
        match &self.starts {
            Starts::Walk => {
                let (mut at, mut left) = (self.region.start, number);
                while left > 0 {
                    at = self.header(body, bytes, at, 0)?.1;
                    left -= 1;
                }
                Ok(self.header(body, bytes, at, self.values(number))?.0)
            }
            Starts::Built(blocks) => {
                let blocks = match blocks.get() {
                    Some(blocks) => blocks,
                    None => self.read_all(body, bytes, blocks)?,
                };
                let block = usize::try_from(number).ok().and_then(|number| blocks.get(number));
                block.copied().ok_or_else(|| past(body, self.region.start))
            }
            Starts::Baked(table, headers) => {
                let count = self.count.div_ceil(1 << self.shift);
                headers.get(number, count, |number| self.by_table(body, bytes, *table, number))
            }
        }
    }

    /// Block `number`, by the table at byte `table`.
    fn by_table(&self, body: &Body, bytes: &[u8], table: usize, number: u64) -> Result<Block> {
        let entry = usize::try_from(number).ok().and_then(|number| table.checked_add(8 * number));
        let start = entry.and_then(|entry| body.order.u64(bytes, entry));
        let at = start.and_then(|start| usize::try_from(start).ok());
        let at = at.ok_or_else(|| past(body, self.region.start))?;
        Ok(self.header(body, bytes, at, self.values(number))?.0)
    }

    /// The numbers of block `number`.
    fn values(&self, number: u64) -> u64 {
        self.count.saturating_sub(number << self.shift).min(1 << self.shift)
    }

    /// The block whose header is at byte `at`, and the byte after it. It has at least `values`.
    fn header(&self, body: &Body, bytes: &[u8], at: usize, values: u64) -> Result<(Block, usize)> {
        let order = body.order;
        if !self.region.contains(&at) || self.region.end - at < HEADER {
            return Err(body.broken(at, "a block of numbers past the end"));
        }
        let (width, min) = (bytes.get(at).copied().unwrap_or(0), order.i64(bytes, at + 1).unwrap_or(0));
        let block = |packed| Block { min, gcd: self.gcd, packed };
        if width == 0 {
            return Ok((block(Packed { start: at, width }), at + HEADER));
        }
        let start = at + HEADER + LENGTH;
        let len = order.i32(bytes, at + HEADER).and_then(|len| usize::try_from(len).ok());
        let end = len.and_then(|len| start.checked_add(len)).filter(|end| *end <= self.region.end);
        let end = end.ok_or_else(|| body.broken(at, "a block of numbers that ends past the end"))?;
        Ok((block(Packed::new(body, start, end, width, values)?), end))
    }

    /// All blocks, by one walk.
    #[cold]
    fn read_all<'s>(
        &self,
        body: &Body,
        bytes: &[u8],
        into: &'s OnceLock<Vec<Block>>,
    ) -> Result<&'s Vec<Block>> {
        let (mut all, mut at) = (Vec::new(), self.region.start);
        // Each block takes bytes of the file, so no count of its metadata makes this long.
        for number in 0..self.count.div_ceil(1 << self.shift) {
            let (block, end) = self.header(body, bytes, at, self.values(number))?;
            all.push(block);
            at = end;
        }
        Ok(into.get_or_init(|| all))
    }
}
