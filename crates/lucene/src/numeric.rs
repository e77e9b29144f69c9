//! Numbers of a column, by the index of a value.
//!
//! | encoding | number |
//! | --- | --- |
//! | constant | the same for all |
//! | packed | `min + gcd * packed` |
//! | table | an entry of a table of at most 256 |
//! | blocks | as packed, with a minimum and a width for each block of 16,384 numbers |
//!
//! From Lucene 8 on, a jump table has the place of each block. Sums wrap, as Lucene's do.

mod blocks;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use docvalues_column::Bounds;
use docvalues_format::bits::{compress, expand, multiples, unsigned};
use docvalues_format::presence::NO_VALUE;

use blocks::{Block, Blocks};

use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::file::{Body, byte};
use crate::jump_tables::JumpTables;
use crate::packed::{self, BATCH, Packed};
use crate::presence::PresenceEntry;

/// The width that stands for blocks.
const BLOCKS: u8 = 0xFF;

/// Numbers up to which each is read on its own, as a batch has costs of its own.
const FEW: usize = 16;

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
    offset: i64,
    len: i64,
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
        let (min, gcd) = (cursor.i64()?, cursor.i64()?);
        let (offset, len) = (cursor.i64()?, cursor.i64()?);
        let jump = if has_tables { cursor.i64()? } else { -1 };
        Ok(NumericEntry { presence, count, table, shift, width, min, gcd, offset, len, jump })
    }

    /// Bytes of the numbers, as metadata has them.
    pub(crate) fn bytes(&self) -> i64 {
        self.len
    }

    /// The byte at which the numbers begin, for errors.
    pub(crate) fn start(&self) -> usize {
        byte(self.offset)
    }

    /// The entry of ords of Lucene 7 and 8, in the words of later releases.
    pub(crate) fn ords(
        presence: PresenceEntry,
        count: i64,
        width: u8,
        offset: i64,
        len: i64,
    ) -> NumericEntry {
        NumericEntry {
            presence,
            count,
            table: Vec::new(),
            shift: None,
            width,
            min: 0,
            gcd: 1,
            offset,
            len,
            jump: -1,
        }
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
    Constant(i64),
    Packed(Line, Packed),
    Table(Vec<i64>, Packed),
    Blocks(Blocks),
}

/// How packed integers become numbers: `min + gcd * packed`.
#[derive(Clone, Copy, Debug)]
struct Line {
    min: i64,
    gcd: i64,
}

impl Line {
    #[inline(always)]
    fn number(self, packed: u64) -> i64 {
        self.min.wrapping_add(self.gcd.wrapping_mul(packed.cast_signed()))
    }

    /// The bounds of the numbers of integers of some width; `None` if they wrap.
    fn bounds(self, width: u8) -> Option<RangeInclusive<i64>> {
        let rise = i128::from(self.gcd).checked_mul(packed::max(width).into())?;
        let max = i64::try_from(i128::from(self.min).checked_add(rise)?).ok()?;
        (self.min <= max).then_some(self.min..=max)
    }
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
            return open(Encoding::Constant(min));
        }
        let region = body.region(entry.offset, entry.len)?;
        let packed = |width| Packed::new(body, region.start, region.end, width, count);
        if let Some(shift) = shift {
            return open(Encoding::Blocks(Blocks::open(entry, (shift, count), region, body, mode)?));
        }
        if entry.table.is_empty() {
            return open(Encoding::Packed(Line { min, gcd }, packed(width)?));
        }
        if width > 8 {
            return Err(body.broken(region.start, "indices of a table of more than 8 bits"));
        }
        open(Encoding::Table(entry.table.clone(), packed(width)?))
    }

    /// The same number `count` times.
    pub(crate) fn constant(number: i64, count: u64, body: &Arc<Body>) -> Numbers {
        Numbers { body: Arc::clone(body), count, encoding: Encoding::Constant(number) }
    }

    /// The number of numbers.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Bounds of all numbers, as far as metadata tells.
    pub(crate) fn bounds(&self) -> Bounds {
        let known = match &self.encoding {
            _ if self.count == 0 => return Bounds::NONE,
            Encoding::Constant(number) => return Bounds::Exact(*number..=*number),
            Encoding::Packed(line, packed) => line.bounds(packed.width),
            Encoding::Table(table, _) => {
                let (least, greatest) = (table.iter().min(), table.iter().max());
                least.zip(greatest).map(|(least, greatest)| *least..=*greatest)
            }
            Encoding::Blocks(_) => None,
        };
        known.map_or(Bounds::Unknown, Bounds::Within)
    }

    /// Number `index`.
    pub(crate) fn get(&self, index: u64) -> Result<i64> {
        if index >= self.count {
            return Err(self.past());
        }
        let (bytes, order) = (self.body.bytes(), self.body.order);
        let number = match &self.encoding {
            Encoding::Constant(number) => Some(*number),
            Encoding::Packed(line, packed) => {
                packed.get(bytes, order, index).map(|packed| line.number(packed))
            }
            Encoding::Table(table, packed) => {
                packed.get(bytes, order, index).and_then(|at| table_entry(table, at))
            }
            Encoding::Blocks(blocks) => {
                let block = blocks.block(&self.body, bytes, index >> blocks.shift)?;
                block.packed.get(bytes, order, blocks.within(index)).map(|packed| block.line.number(packed))
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
            Encoding::Constant(number) => out.fill(*number),
            Encoding::Packed(line, packed) => {
                self.decode_line(*line, *packed, range.start, out).ok_or_else(past)?
            }
            Encoding::Table(table, packed) => {
                self.decode_table(table, *packed, range.start, out).ok_or_else(past)?;
            }
            Encoding::Blocks(blocks) => {
                let (mut at, mut rest) = (range.start, out);
                while !rest.is_empty() {
                    let block = blocks.block(&self.body, self.body.bytes(), at >> blocks.shift)?;
                    let here = usize::try_from(blocks.left(at)).unwrap_or(usize::MAX).min(rest.len());
                    let (now, later) = rest.split_at_mut(here);
                    self.decode_line(block.line, block.packed, blocks.within(at), now).ok_or_else(past)?;
                    (at, rest) = (at + here as u64, later);
                }
            }
        }
        Ok(())
    }

    fn decode_line(&self, line: Line, packed: Packed, start: u64, out: &mut [i64]) -> Option<()> {
        let (bytes, order, out) = (self.body.bytes(), self.body.order, unsigned(out));
        if line.gcd == 1 {
            return packed.unpack_add(bytes, order, start, line.min.cast_unsigned(), out);
        }
        let mut at = start;
        for out in out.chunks_mut(BATCH) {
            packed.unpack_add(bytes, order, at, 0, out)?;
            multiples(line.min.cast_unsigned(), line.gcd.cast_unsigned(), out);
            at += out.len() as u64;
        }
        Some(())
    }

    fn decode_table(&self, table: &[i64], packed: Packed, start: u64, out: &mut [i64]) -> Option<()> {
        let (bytes, order, mut at) = (self.body.bytes(), self.body.order, start);
        for out in out.chunks_mut(BATCH) {
            packed.unpack_add(bytes, order, at, 0, unsigned(out))?;
            for number in &mut *out {
                *number = table_entry(table, number.cast_unsigned())?;
            }
            at += out.len() as u64;
        }
        Some(())
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
        let pairs = indices.iter().map(|index| u64::from(*index)).zip(out);
        match &self.encoding {
            Encoding::Constant(number) => pairs.for_each(|(_, out)| *out = *number),
            Encoding::Packed(line, packed) => {
                for (index, out) in pairs {
                    *out = line.number(packed.get(bytes, order, index).ok_or_else(past)?);
                }
            }
            Encoding::Table(table, packed) => {
                for (index, out) in pairs {
                    let found = packed.get(bytes, order, index).and_then(|at| table_entry(table, at));
                    *out = found.ok_or_else(past)?;
                }
            }
            Encoding::Blocks(blocks) => {
                let mut last: Option<(u64, Block)> = None;
                for (index, out) in pairs {
                    let number = index >> blocks.shift;
                    let block = match last {
                        Some((last, block)) if last == number => block,
                        _ => blocks.block(&self.body, bytes, number)?,
                    };
                    last = Some((number, block));
                    let packed = block.packed.get(bytes, order, blocks.within(index));
                    *out = block.line.number(packed.ok_or_else(past)?);
                }
            }
        }
        Ok(())
    }

    /// Numbers of a block, if there are blocks: they have bounds of their own.
    pub(crate) fn block_len(&self) -> Option<u64> {
        if let Encoding::Blocks(blocks) = &self.encoding { Some(1 << blocks.shift) } else { None }
    }

    /// Bounds of the numbers of the block that number `index` is in; of all numbers, if there are no blocks.
    pub(crate) fn bounds_at(&self, index: u64) -> Result<Bounds> {
        let Encoding::Blocks(blocks) = &self.encoding else { return Ok(self.bounds()) };
        let Block { line, packed } = blocks.block(&self.body, self.body.bytes(), index >> blocks.shift)?;
        Ok(line.bounds(packed.width).map_or(Bounds::Unknown, Bounds::Within))
    }

    /// An error of a number that is not there.
    #[cold]
    fn past(&self) -> Error {
        let start = match &self.encoding {
            Encoding::Constant(_) => self.body.place.start,
            Encoding::Packed(_, packed) | Encoding::Table(_, packed) => packed.start,
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

#[inline(always)]
fn table_entry(table: &[i64], at: u64) -> Option<i64> {
    usize::try_from(at).ok().and_then(|at| table.get(at)).copied()
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
pub(crate) mod tests {
    use docvalues_testkit::rng::SplitMix64;

    use super::*;
    use crate::order::Order;
    use crate::packed::tests::{pack, width_of};
    use crate::presence;
    use crate::testing::{Encoder, body};

    /// An encoding of Lucene.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Form {
        Packed,
        Table,
        /// Blocks of this many numbers, as a power of two.
        Blocks(u32),
    }

    /// Appends the entry of `numbers` from their table on, and their bytes.
    pub(crate) fn encode(
        meta: &mut Encoder,
        data: &mut Encoder,
        numbers: &[i64],
        form: Form,
        has_tables: bool,
    ) {
        let start = data.out.len();
        let offset = data.offset();
        let min = numbers.iter().copied().min().unwrap_or(0);
        let steps = |min: i64, numbers: &[i64]| -> Vec<u64> {
            numbers.iter().map(|number| number.wrapping_sub(min).cast_unsigned()).collect()
        };
        let gcd = steps(min, numbers).into_iter().fold(0, |a, b| {
            let (mut a, mut b): (u64, u64) = (a, b);
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        });
        let gcd = gcd.max(1);
        let pack_all = |data: &mut Encoder, packed: Vec<u64>, width: u8| {
            let bytes = pack(data.order, width, &packed);
            data.bytes(&bytes).bytes(&[0; 3]);
        };
        meta.i64(numbers.len() as i64);
        let mut jump = -1;
        match form {
            Form::Packed => {
                let packed: Vec<u64> = steps(min, numbers).iter().map(|step| step / gcd).collect();
                let width = width_of(packed.iter().copied().max().unwrap_or(0));
                meta.i32(-1).u8(width).i64(min).i64(gcd.cast_signed());
                if width > 0 {
                    pack_all(data, packed, width);
                }
            }
            Form::Table => {
                let mut table = numbers.to_vec();
                table.sort_unstable();
                table.dedup();
                meta.i32(table.len() as i32);
                table.iter().for_each(|number| {
                    meta.i64(*number);
                });
                let places =
                    numbers.iter().map(|number| table.binary_search(number).unwrap() as u64).collect();
                let width = width_of(table.len() as u64 - 1);
                meta.u8(width).i64(0).i64(1);
                pack_all(data, places, width);
            }
            Form::Blocks(shift) => {
                meta.i32(-2 - shift as i32).u8(0xFF).i64(min).i64(gcd.cast_signed());
                let mut starts = Vec::new();
                for block in numbers.chunks(1 << shift) {
                    starts.push(data.offset());
                    let min = block.iter().copied().min().unwrap();
                    let packed: Vec<u64> = steps(min, block).iter().map(|step| step / gcd).collect();
                    let width = width_of(packed.iter().copied().max().unwrap());
                    data.u8(width).i64(min);
                    if width > 0 {
                        data.i32((block.len() * usize::from(width)).div_ceil(8) as i32 + 3);
                        pack_all(data, packed, width);
                    }
                }
                if has_tables {
                    jump = data.offset();
                    starts.push(jump);
                    starts.iter().for_each(|start| {
                        data.i64(*start);
                    });
                }
            }
        }
        meta.i64(offset).i64((data.out.len() - start) as i64);
        if has_tables {
            meta.i64(jump);
        }
    }

    /// Sequences that take each encoding.
    fn shapes() -> Vec<(Form, Vec<i64>)> {
        let mut rng = SplitMix64::new(1);
        let mut some = |count: usize, from: i64, step: i64, below: u64| -> Vec<i64> {
            (0..count).map(|_| from.wrapping_add(step.wrapping_mul(rng.below(below).cast_signed()))).collect()
        };
        let mut shapes = vec![
            (Form::Packed, vec![]),
            (Form::Packed, vec![i64::MIN]),
            (Form::Packed, vec![7; 3_000]),
            (Form::Packed, vec![i64::MIN, i64::MAX, 0, -1, 1]),
            (Form::Packed, some(3_000, i64::MIN, 1, u64::MAX)),
            (Form::Table, some(5_000, -70, 1_000_003, 2)),
            (Form::Table, some(5_000, i64::MIN, i64::MAX / 200, 200)),
            (Form::Blocks(6), some(1_000, 0, 60, 1_000)),
            (Form::Blocks(6), vec![7; 1_000]),
            (Form::Blocks(10), some(5_000, i64::MIN, 1, u64::MAX)),
        ];
        for below in [2, 4, 16, 256, 4_096, 1 << 20, 1 << 28, 1 << 32, 1 << 40, 1 << 48, 1 << 56] {
            shapes.push((Form::Packed, some(2_500, -9, 100, below)));
        }
        let mut rising = some(20_000, 0, 1, 100);
        rising.iter_mut().zip(0..).for_each(|(number, at)| *number += at * 1_000);
        // Some blocks are constant.
        rising[5_000..9_000].fill(-5);
        shapes.push((Form::Blocks(9), rising));
        shapes
    }

    fn open(order: Order, numbers: &[i64], form: Form, has_tables: bool, mode: JumpTables) -> Numbers {
        let (mut meta, mut data) = (Encoder::new(order), Encoder::new(order));
        let docs = numbers.len() as u32;
        presence::tests::encode(&mut meta, &mut data, docs, &(0..docs).collect::<Vec<_>>(), has_tables);
        encode(&mut meta, &mut data, numbers, form, has_tables);
        let meta = body(meta);
        let mut cursor = Cursor::new(&meta);
        let entry = NumericEntry::read(&mut cursor, has_tables).unwrap();
        cursor.end().unwrap();
        Numbers::open(&entry, entry.count.cast_unsigned(), &Arc::new(body(data)), mode).unwrap()
    }

    fn check(read: &Numbers, numbers: &[i64]) {
        let count = numbers.len();
        assert_eq!(read.count(), count as u64);
        let mut rng = SplitMix64::new(2);
        for at in (0..count).step_by(1 + count / 700) {
            assert_eq!(read.get(at as u64).unwrap(), numbers[at]);
            let found = read.bounds_at(at as u64).unwrap();
            assert!(found.range().contains(&numbers[at]) && read.bounds().range().contains(&numbers[at]));
        }
        assert!(read.get(count as u64).is_err());
        for len in [0, 1, 15, 16, 17, 100, 1_500, count] {
            let len = len.min(count);
            let start = rng.place(count - len + 1);
            let mut out = vec![1; len];
            read.decode(start as u64..(start + len) as u64, &mut out).unwrap();
            assert_eq!(out, numbers[start..start + len]);
        }
        assert!(read.decode(1..count as u64 + 1, &mut vec![0; count]).is_err());
        let mut indices: Vec<u32> = (0..count.min(2_500)).map(|_| rng.below_u32(count as u32)).collect();
        for are_all in [true, false] {
            let mut out = vec![1; indices.len()];
            read.gather(&indices, are_all, -3, &mut out).unwrap();
            let expected = |index: &u32| numbers.get(*index as usize).copied().unwrap_or(-3);
            assert_eq!(out, indices.iter().map(expected).collect::<Vec<_>>());
            indices.iter_mut().step_by(3).for_each(|index| *index = NO_VALUE);
        }
        assert!(read.gather(&[count as u32], true, 0, &mut [0]).is_err());
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for (form, numbers) in shapes() {
            for order in [Order::Big, Order::Little] {
                for has_tables in [false, true] {
                    for mode in JumpTables::ALL {
                        check(&open(order, &numbers, form, has_tables, mode), &numbers);
                    }
                }
            }
        }
    }

    #[test]
    fn bounds_are_those_of_widths() {
        let of = |numbers: &[i64], form| open(Order::Little, numbers, form, true, JumpTables::Baked).bounds();
        assert_eq!(of(&[], Form::Packed), Bounds::NONE);
        assert_eq!(of(&[5, 5], Form::Packed), Bounds::Exact(5..=5));
        assert_eq!(of(&[5, 8, 20], Form::Packed), Bounds::Within(5..=5 + 3 * 15));
        assert_eq!(of(&[5, 8, 20], Form::Table), Bounds::Within(5..=20));
        assert_eq!(of(&[i64::MIN, i64::MAX], Form::Packed), Bounds::Unknown, "they wrap");
        assert_eq!(of(&[5; 100], Form::Blocks(6)), Bounds::Unknown);
    }

    #[test]
    fn hostile_bytes_are_errors_or_other_numbers() {
        for (form, numbers) in [
            (Form::Table, (0..100).map(|at| at % 7).collect::<Vec<i64>>()),
            (Form::Blocks(4), (0..100).map(|at| at * at % 50 + at).collect()),
        ] {
            let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
            presence::tests::encode(&mut meta, &mut data, 100, &(0..100).collect::<Vec<_>>(), true);
            encode(&mut meta, &mut data, &numbers, form, true);
            let read = |meta: Encoder, data: Encoder, mode: JumpTables| {
                let meta = body(meta);
                let entry = NumericEntry::read(&mut Cursor::new(&meta), true)?;
                let count = entry.count.cast_unsigned();
                let numbers = Numbers::open(&entry, count, &Arc::new(body(data)), mode)?;
                let mut out = vec![0; 100];
                let _ = (numbers.decode(0..100, &mut out), numbers.bounds(), numbers.bounds_at(17));
                let _ = (numbers.get(count.saturating_sub(1)), numbers.get(0));
                numbers.gather(&[99, 0, 50, 17], true, 0, &mut out[..4])
            };
            let copy = |from: &Encoder| Encoder::of_bytes(from.order, from.out.clone());
            for byte in [0, 1, 0x7F, 0x80, 0xFF] {
                for mode in JumpTables::ALL {
                    for at in 0..meta.out.len() {
                        let mut damaged = copy(&meta);
                        damaged.out[at] = byte;
                        let _ = read(damaged, copy(&data), mode);
                    }
                    for at in 0..data.out.len() {
                        let mut damaged = copy(&data);
                        damaged.out[at] = byte;
                        let _ = read(copy(&meta), damaged, mode);
                    }
                }
            }
        }
    }
}
