//! Numbers of a column, by the index of a value.
//!
//! | encoding | number |
//! | --- | --- |
//! | constant | the same for all: packed, of 0 bits |
//! | packed | `min + gcd * packed` |
//! | table | an entry of a table of at most 256 |
//! | blocks | as packed, with a minimum and a width for each block of 16,384 numbers |
//!
//! From Lucene 8 on, a jump table has the place of each block. Sums wrap, as Lucene's do.
//!
//! ```text
//! entry    presence, count (8), size of the table (4) and its numbers (8 each), width (1), min (8), gcd (8),
//!          place and length of the numbers (8, 8), from Lucene 8 on the place of the jump table (8)
//!
//! size     -1 packed, 1 to 256 a table, -2 - shift blocks of 1 << shift numbers, whose width is 255
//! ```

mod block;
mod blocks;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use docvalues_column::{Bounds, TermOrd};
use docvalues_format::bits::{compress, expand, unsigned};
use docvalues_format::numeric::{Lookup, Table};
use docvalues_format::presence::NO_VALUE;
use docvalues_storage::SharedBytes;

use block::Block;
use blocks::Blocks;

use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::file::{Body, byte};
use crate::jump_tables::JumpTables;
use crate::order::Order;
use crate::packed::{BATCH, Packed};
use crate::presence::PresenceEntry;

/// The width that stands for blocks.
const BLOCKS: u8 = 0xFF;

/// Numbers up to which each is read on its own, as a batch has costs of its own.
pub(crate) const FEW: usize = 16;

/// Numbers of a block that are gathered together.
const RUN: usize = 128;

/// Numbers that are found before the first of them is read.
const TOGETHER: usize = 32;

/// The entry of a column of numbers in metadata.
#[derive(Clone, Debug)]
pub(crate) struct NumericEntry {
    pub(crate) presence: PresenceEntry,
    /// The number of numbers; for sets of ords of Lucene 7 and 8, that of documents with a value.
    pub(crate) count: i64,
    table: Vec<i64>,
    /// Numbers of a block, as a power of two.
    shift: Option<u32>,
    width: u8,
    min: i64,
    gcd: i64,
    /// The place and the length of the numbers.
    place: (i64, i64),
    jump: i64,
}

impl NumericEntry {
    /// Reads an entry. Those of Lucene 7 have no jump tables.
    pub(crate) fn read(cursor: &mut Cursor<'_>, has_tables: bool) -> Result<NumericEntry> {
        let (presence, count) = (PresenceEntry::read(cursor, has_tables)?, cursor.i64()?);
        cursor.within("numbers", count, 0, i64::MAX)?;
        let size = cursor.i32()?;
        cursor.within("size of a table of numbers", size.into(), -32, 256)?;
        let mut table = Vec::new();
        for _ in 0..size {
            table.push(cursor.i64()?);
        }
        let shift = (size < -1).then(|| (size + 2).unsigned_abs());
        let width = cursor.u8()?;
        cursor.rule(
            (width == BLOCKS) == shift.is_some(),
            "a width of blocks without blocks, or another with them",
        )?;
        let (min, gcd, place) = (cursor.i64()?, cursor.i64()?, (cursor.i64()?, cursor.i64()?));
        let jump = if has_tables { cursor.i64()? } else { -1 };
        Ok(NumericEntry { presence, count, table, shift, width, min, gcd, place, jump })
    }

    /// Bytes of the numbers, as metadata has them.
    pub(crate) fn bytes(&self) -> i64 {
        self.place.1
    }

    /// The byte at which the numbers begin, for errors.
    pub(crate) fn start(&self) -> usize {
        byte(self.place.0)
    }

    /// The entry of ords of Lucene 7 and 8, in the words of later releases.
    pub(crate) fn ords(presence: PresenceEntry, count: i64, width: u8, place: (i64, i64)) -> NumericEntry {
        let (table, shift) = (Vec::new(), None);
        NumericEntry { presence, count, table, shift, width, min: 0, gcd: 1, place, jump: -1 }
    }
}

/// The numbers of an open column.
#[derive(Debug)]
pub(crate) struct Numbers {
    body: Arc<Body>,
    count: u64,
    encoding: Encoding,
}

#[derive(Debug)]
enum Encoding {
    Packed(Block),
    Table(Table, Packed),
    Blocks(Blocks),
}

impl Numbers {
    /// The numbers of `entry`, of which there are `count`.
    pub(crate) fn open(
        entry: &NumericEntry,
        count: u64,
        body: &Arc<Body>,
        mode: JumpTables,
    ) -> Result<Numbers> {
        let NumericEntry { shift, width, min, gcd, .. } = *entry;
        let open = |encoding| Ok(Numbers { body: Arc::clone(body), count, encoding });
        if count == 0 || (shift.is_none() && width == 0) {
            // Without bytes, their place may be anywhere.
            return Ok(Numbers::constant(min, count, body));
        }
        let region = body.region(entry.place.0, entry.place.1)?;
        let packed = |width| Packed::new(body, region.start, region.end, width, count);
        if let Some(shift) = shift {
            return open(Encoding::Blocks(Blocks::open(entry, (shift, count), region, body, mode)?));
        }
        if entry.table.is_empty() {
            return open(Encoding::Packed(Block { min, gcd, packed: packed(width)? }));
        }
        if width > 8 {
            return Err(body.broken(region.start, "indices of a table of more than 8 bits"));
        }
        open(Encoding::Table(Table::of(entry.table.iter().copied()), packed(width)?))
    }

    /// The same number `count` times.
    pub(crate) fn constant(number: i64, count: u64, body: &Arc<Body>) -> Numbers {
        Numbers { body: Arc::clone(body), count, encoding: Encoding::Packed(Block::constant(number, body)) }
    }

    /// The number of numbers.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Bounds of all numbers, as far as metadata tells.
    pub(crate) fn bounds(&self) -> Bounds {
        match &self.encoding {
            _ if self.count == 0 => Bounds::NONE,
            Encoding::Packed(block) => block.bounds(),
            Encoding::Table(table, _) => {
                let bounds = table.values().iter().min().zip(table.values().iter().max());
                bounds.map_or(Bounds::Unknown, |(least, greatest)| Bounds::Within(*least..=*greatest))
            }
            Encoding::Blocks(_) => Bounds::Unknown,
        }
    }

    /// Look-ups of single numbers in few instructions. `None` for big-endian integers and for blocks; a number that has none is
    /// past the last one, or damaged.
    pub(crate) fn lookup(&self) -> Option<Lookup<SharedBytes>> {
        let (Block { min, gcd, packed }, table) = match &self.encoding {
            Encoding::Packed(block) => (*block, &[][..]),
            Encoding::Table(table, packed) => (Block { min: 0, gcd: 1, packed: *packed }, table.values()),
            Encoding::Blocks(_) => return None,
        };
        if self.body.order == Order::Big {
            return None;
        }
        let bytes = self.body.file.part(packed.start..usize::MAX)?;
        Lookup::of_packed(bytes, (packed.width, self.count), (min, gcd.cast_unsigned()), table)
    }

    /// Number `index`.
    #[inline]
    pub(crate) fn get(&self, index: u64) -> Result<i64> {
        if index >= self.count {
            return Err(self.past());
        }
        let (bytes, order) = (self.body.bytes(), self.body.order);
        let number = match &self.encoding {
            Encoding::Packed(block) => block.get(bytes, order, index),
            Encoding::Table(table, packed) => packed.get(bytes, order, index).and_then(|at| table.get(at)),
            Encoding::Blocks(blocks) => {
                let (number, within) = (index >> blocks.shift, blocks.within(index));
                match usize::try_from(number).ok().and_then(|number| blocks.in_memory().get(number)) {
                    Some(block) => block.get(bytes, order, within),
                    None => blocks.block(&self.body, bytes, number)?.get(bytes, order, within),
                }
            }
        };
        number.ok_or_else(|| self.past())
    }

    /// The numbers of a range, into `out`, which is as long.
    pub(crate) fn decode(&self, range: Range<u64>, out: &mut [i64]) -> Result<()> {
        if range.end > self.count {
            return Err(self.past());
        }
        if out.len() <= FEW {
            for (out, index) in out.iter_mut().zip(range) {
                *out = self.get(index)?;
            }
            return Ok(());
        }
        let past = || self.past();
        match &self.encoding {
            Encoding::Packed(block) => block.decode(&self.body, range.start, out).ok_or_else(past)?,
            Encoding::Table(table, packed) => {
                let (bytes, order) = (self.body.bytes(), self.body.order);
                packed.unpack_add(bytes, order, range.start, 0, unsigned(out)).ok_or_else(past)?;
                table.replace(out).map_err(|_| past())?;
            }
            Encoding::Blocks(blocks) => {
                let (mut at, mut rest) = (range.start, out);
                while !rest.is_empty() {
                    let block = blocks.block(&self.body, self.body.bytes(), at >> blocks.shift)?;
                    let here = usize::try_from(blocks.left(at)).unwrap_or(usize::MAX).min(rest.len());
                    let (now, later) = rest.split_at_mut(here);
                    block.decode(&self.body, blocks.within(at), now).ok_or_else(past)?;
                    (at, rest) = (at + here as u64, later);
                }
            }
        }
        Ok(())
    }

    /// The numbers from `start` on as ords, as many of the first as a kernel can. Returns how many.
    pub(crate) fn decode_ords(&self, start: u64, out: &mut [TermOrd]) -> usize {
        match &self.encoding {
            Encoding::Packed(block) if start.saturating_add(out.len() as u64) <= self.count => {
                block.decode_ords(&self.body, start, out).unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// The numbers at `indices` as ords, as many of the first as a kernel can. Returns how many.
    pub(crate) fn gather_ords(&self, indices: &[u32], out: &mut [TermOrd]) -> usize {
        match &self.encoding {
            Encoding::Packed(block) => block.gather_ords(&self.body, self.count, indices, out).unwrap_or(0),
            Encoding::Table(..) | Encoding::Blocks(_) => 0,
        }
    }

    /// The numbers at `indices`, into `out`, which is as long: `fill` for [`NO_VALUE`], if not `are_all` indices.
    pub(crate) fn gather(&self, indices: &[u32], are_all: bool, fill: i64, out: &mut [i64]) -> Result<()> {
        if are_all {
            return self.gather_all(indices, out);
        }
        if out.len() <= FEW {
            for (out, index) in out.iter_mut().zip(indices) {
                *out = if *index == NO_VALUE { fill } else { self.get((*index).into())? };
            }
            return Ok(());
        }
        let mut there = [0; BATCH];
        for (indices, out) in indices.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            let there = &mut there[..indices.len()];
            let count = compress(indices, NO_VALUE, there);
            self.gather_all(&there[..count], &mut out[..count])?;
            expand(indices, NO_VALUE, count, fill, out);
        }
        Ok(())
    }

    fn gather_all(&self, indices: &[u32], out: &mut [i64]) -> Result<()> {
        // No early exit, so that the comparisons are vectorized.
        let last = indices.iter().fold(0, |last, index| (*index).max(last));
        if !indices.is_empty() && u64::from(last) >= self.count {
            return Err(self.past());
        }
        let (bytes, order, past) = (self.body.bytes(), self.body.order, || self.past());
        match &self.encoding {
            Encoding::Packed(block) => block.gather(&self.body, indices, out).ok_or_else(past),
            Encoding::Table(table, packed) => {
                packed.gather_add(bytes, order, indices, 0, out).ok_or_else(past)?;
                table.replace(out).map_err(|_| past())
            }
            Encoding::Blocks(blocks) => self.gather_blocks(blocks, indices, out),
        }
    }

    /// The numbers at `indices`, which exist. Those of neighbouring indices in one block are read together.
    fn gather_blocks(&self, blocks: &Blocks, mut indices: &[u32], mut out: &mut [i64]) -> Result<()> {
        let mut places = [0; RUN];
        while let Some(first) = indices.first() {
            let number = first >> blocks.shift;
            let here = indices.iter().take(RUN).take_while(|index| **index >> blocks.shift == number);
            let here = match here.count() {
                here @ ..=FEW => {
                    let here = indices.len().min(TOGETHER.max(here));
                    self.gather_each(blocks, &indices[..here], &mut out[..here])?;
                    here
                }
                here => {
                    let (block, first) =
                        (blocks.block(&self.body, self.body.bytes(), number.into())?, number << blocks.shift);
                    let places = &mut places[..here];
                    places.iter_mut().zip(indices).for_each(|(place, index)| *place = index - first);
                    block.gather(&self.body, places, &mut out[..here]).ok_or_else(|| self.past())?;
                    here
                }
            };
            (indices, out) = (&indices[here..], &mut out[here..]);
        }
        Ok(())
    }

    /// The numbers at `indices`, which exist, one by one. All are prefetched before the first of them is read, so that their cache
    /// misses overlap.
    fn gather_each(&self, blocks: &Blocks, indices: &[u32], out: &mut [i64]) -> Result<()> {
        let in_memory = blocks.in_memory();
        for index in indices {
            if let Some(block) = in_memory.get((index >> blocks.shift) as usize) {
                block.packed.prefetch(self.body.bytes(), blocks.within((*index).into()));
            }
        }
        for (index, out) in indices.iter().zip(out) {
            *out = self.get((*index).into())?;
        }
        Ok(())
    }

    /// Sets bit *i* of `found` if number `start + i` is in `wanted`, for as many of the first numbers as a kernel compares without
    /// unpacking them. Returns how many. All are in one block, if there are blocks.
    pub(crate) fn compare(
        &self,
        start: u64,
        wanted: &RangeInclusive<i64>,
        found: &mut [u64],
    ) -> Result<usize> {
        if start.saturating_add(64 * found.len() as u64) > self.count {
            return Err(self.past());
        }
        let (block, start) = match &self.encoding {
            Encoding::Packed(block) => (*block, start),
            Encoding::Table(..) => return Ok(0),
            Encoding::Blocks(blocks) => {
                let block = blocks.block(&self.body, self.body.bytes(), start >> blocks.shift)?;
                (block, blocks.within(start))
            }
        };
        Ok(block.compare(&self.body, start, wanted, found).unwrap_or(0))
    }

    /// Numbers of a block, if there are blocks: they have bounds of their own.
    pub(crate) fn block_len(&self) -> Option<u64> {
        if let Encoding::Blocks(blocks) = &self.encoding { Some(1 << blocks.shift) } else { None }
    }

    /// Bounds of the numbers of the block that number `index` is in; of all numbers, if there are no blocks.
    pub(crate) fn bounds_at(&self, index: u64) -> Result<Bounds> {
        let Encoding::Blocks(blocks) = &self.encoding else { return Ok(self.bounds()) };
        Ok(blocks.block(&self.body, self.body.bytes(), index >> blocks.shift)?.bounds())
    }

    /// An error of a number that is not there.
    #[cold]
    fn past(&self) -> Error {
        let start = match &self.encoding {
            Encoding::Packed(Block { packed, .. }) | Encoding::Table(_, packed) => packed.start,
            Encoding::Blocks(blocks) => blocks.region.start,
        };
        past(&self.body, start)
    }
}

/// An error of a number that is not there, in numbers that begin at byte `start`.
#[cold]
fn past(body: &Body, start: usize) -> Error {
    body.broken(start, "a number past the last one, or an index past its table")
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
pub(crate) mod tests;
