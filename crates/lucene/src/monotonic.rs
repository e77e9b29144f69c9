//! Sequences of numbers that do not decrease: addresses of values, of blocks of terms, and of keys.
//!
//! They are cut into blocks. A block is a straight line, and packed distances from it:
//!
//! ```text
//! number i of a block    min + slope * i, rounded to zero, + packed i
//! ```
//!
//! The product is one of single precision, as in Lucene.

use std::ops::Range;

use docvalues_format::bits::unsigned;

use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::file::Body;
use crate::packed::{BATCH, Packed};

/// Bytes of a block's metadata.
const BLOCK_LEN: usize = 21;

/// The shifts that Lucene allows: numbers of a block, as a power of two.
const SHIFTS: Range<i32> = 2..23;

/// A sequence in metadata, before the place of its packed numbers is known.
#[derive(Clone, Debug)]
pub(crate) struct MonotonicEntry {
    count: u64,
    shift: u32,
    blocks: Vec<BlockEntry>,
}

#[derive(Clone, Copy, Debug)]
struct BlockEntry {
    min: i64,
    slope: f32,
    offset: i64,
    width: u8,
}

impl MonotonicEntry {
    /// Reads the blocks of `count` numbers.
    pub(crate) fn read(cursor: &mut Cursor<'_>, count: u64, shift: i32) -> Result<MonotonicEntry> {
        cursor.within("shift of addresses", shift.into(), SHIFTS.start.into(), i64::from(SHIFTS.end) - 1)?;
        let shift = shift.unsigned_abs();
        let needed = count.div_ceil(1 << shift);
        let left = cursor.left() as u64;
        if needed.saturating_mul(BLOCK_LEN as u64) > left {
            return Err(
                cursor.refuse(ErrorKind::Truncated { needed: needed.saturating_mul(BLOCK_LEN as u64), left })
            );
        }
        let mut blocks = Vec::new();
        for _ in 0..needed {
            let (min, slope, offset, width) = (cursor.i64()?, cursor.f32()?, cursor.i64()?, cursor.u8()?);
            blocks.push(BlockEntry { min, slope, offset, width });
        }
        Ok(MonotonicEntry { count, shift, blocks })
    }
}

/// The entry of addresses in metadata: a sequence, and the place of its packed numbers.
#[derive(Clone, Debug)]
pub(crate) struct AddressEntry {
    entry: MonotonicEntry,
    place: (i64, i64),
}

impl AddressEntry {
    /// Reads the entry of `count` addresses.
    pub(crate) fn read(cursor: &mut Cursor<'_>, count: u64) -> Result<AddressEntry> {
        let offset = cursor.i64()?;
        AddressEntry::at(offset, cursor, count)
    }

    /// As [`read`](Self::read), after the offset of the packed numbers.
    pub(crate) fn at(offset: i64, cursor: &mut Cursor<'_>, count: u64) -> Result<AddressEntry> {
        let shift = cursor.vint()?;
        let entry = MonotonicEntry::read(cursor, count, shift)?;
        Ok(AddressEntry { entry, place: (offset, cursor.i64()?) })
    }

    /// Bytes of the addresses, as metadata has them.
    pub(crate) fn bytes(&self) -> i64 {
        self.place.1
    }

    /// Opens the addresses.
    pub(crate) fn open(&self, data: &Body) -> Result<Monotonic> {
        Monotonic::open(&self.entry, data, self.place.0, self.place.1)
    }
}

/// An open sequence.
#[derive(Debug)]
pub(crate) struct Monotonic {
    count: u64,
    shift: u32,
    blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    min: i64,
    slope: f32,
    packed: Packed,
}

impl Block {
    /// The number of the line at place `index` of the block.
    #[inline(always)]
    fn line(&self, index: u32) -> i64 {
        // `index` has at most 22 bits, so it is exact. Too large a product saturates, as in Java.
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as said above")]
        let rise = (self.slope * index as f32) as i64;
        self.min.wrapping_add(rise)
    }

    /// The number at place `index` of the block. `None` only for one past the end of the file.
    #[inline(always)]
    fn number(&self, data: &Body, index: u32) -> Option<i64> {
        let packed = self.packed.get(data.bytes(), data.order, index.into())?;
        Some(self.line(index).wrapping_add(packed.cast_signed()))
    }
}

impl Monotonic {
    /// The sequence of `entry`, whose packed numbers lie in `data` at `offset`.
    pub(crate) fn open(entry: &MonotonicEntry, data: &Body, offset: i64, len: i64) -> Result<Monotonic> {
        let region = data.region(offset, len)?;
        let MonotonicEntry { count, shift, .. } = *entry;
        let (mut left, mut blocks) = (count, Vec::with_capacity(entry.blocks.len()));
        for block in &entry.blocks {
            let here = left.min(1 << shift);
            left -= here;
            let start =
                usize::try_from(block.offset).ok().and_then(|offset| region.start.checked_add(offset));
            let start =
                start.ok_or_else(|| data.broken(region.start, "addresses that begin before the file"))?;
            let packed = Packed::new(data, start, region.end, block.width, here)?;
            blocks.push(Block { min: block.min, slope: block.slope, packed });
        }
        Ok(Monotonic { count, shift, blocks })
    }

    /// The number of numbers.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Prefetches number `index`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, data: &Body, index: u64) {
        if let Some(block) = self.block(index) {
            block.packed.prefetch(data.bytes(), self.within(index).into());
        }
    }

    /// Number `index`.
    #[inline]
    pub(crate) fn get(&self, data: &Body, index: u64) -> Result<i64> {
        let block = self.block(index).filter(|_| index < self.count);
        let number = block.and_then(|block| block.number(data, self.within(index)));
        number.ok_or_else(|| self.past(data))
    }

    /// Numbers `index` and `index + 1`, such as the start and the end of a list.
    #[inline]
    pub(crate) fn pair(&self, data: &Body, index: u64) -> Result<[i64; 2]> {
        let (within, next) = (self.within(index), index.saturating_add(1));
        // Both are in one block, unless the second is the first one of the next.
        let block = self.block(index).filter(|_| next < self.count && self.within(next) != 0);
        let Some(block) = block else { return Ok([self.get(data, index)?, self.get(data, next)?]) };
        match [within, within + 1].map(|within| block.number(data, within)) {
            [Some(start), Some(end)] => Ok([start, end]),
            _ => Err(self.past(data)),
        }
    }

    /// Replaces `out` by the numbers of a range.
    pub(crate) fn decode(&self, data: &Body, range: Range<u64>, out: &mut Vec<i64>) -> Result<()> {
        let past = || self.past(data);
        out.clear();
        if range.end > self.count {
            return Err(past());
        }
        let (bytes, mut at) = (data.bytes(), range.start);
        while at < range.end {
            let (block, within) = (self.block(at).ok_or_else(past)?, self.within(at));
            // Both are at most a block, and so have at most 22 bits.
            let here = (1 << self.shift) - u64::from(within);
            let here = usize::try_from(here.min(range.end - at)).unwrap_or(BATCH).min(BATCH);
            let before = out.len();
            out.resize(before + here, 0);
            let numbers = &mut out[before..];
            let unpacked = block.packed.unpack_add(bytes, data.order, within.into(), 0, unsigned(numbers));
            unpacked.ok_or_else(past)?;
            for (index, number) in (within..).zip(numbers) {
                *number = block.line(index).wrapping_add(*number);
            }
            at += here as u64;
        }
        Ok(())
    }

    /// The byte at which the packed numbers begin, for errors.
    pub(crate) fn start(&self, data: &Body) -> usize {
        self.blocks.first().map_or(data.place.start, |block| block.packed.start)
    }

    /// An error of a number that is not there.
    #[cold]
    fn past(&self, data: &Body) -> Error {
        data.broken(self.start(data), "an address past the last one")
    }

    /// The block of a number.
    #[inline(always)]
    fn block(&self, index: u64) -> Option<&Block> {
        self.blocks.get(usize::try_from(index >> self.shift).ok()?)
    }

    /// The place of a number in its block.
    #[inline(always)]
    fn within(&self, index: u64) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "below 2^22")]
        {
            (index & ((1 << self.shift) - 1)) as u32
        }
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::order::Order;
    use crate::packed::tests::{pack, width_of};
    use crate::testing::{Encoder, body};

    /// Appends the metadata of `numbers` to `meta`, and their packed distances to `data`.
    pub(crate) fn encode(meta: &mut Encoder, data: &mut Encoder, shift: u32, numbers: &[i64]) {
        let start = data.out.len();
        for block in numbers.chunks(1 << shift) {
            let slope = match block {
                [first, .., last] => (last - first) as f32 / (block.len() - 1) as f32,
                _ => 0.0,
            };
            let line = |index: usize| (slope * index as f32) as i64;
            let min = block.iter().enumerate().map(|(index, number)| number - line(index)).min().unwrap();
            let packed: Vec<u64> =
                block.iter().enumerate().map(|(index, number)| (number - line(index) - min) as u64).collect();
            let width = width_of(packed.iter().copied().max().unwrap());
            meta.i64(min).f32(slope).i64((data.out.len() - start) as i64).u8(width);
            let bytes = pack(data.order, width, &packed);
            data.bytes(&bytes);
        }
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(
            steps in prop::collection::vec(prop_oneof![0..3_i64, 0..1_000_000_i64], 0..300),
            shift in 2..9_u32,
            from in 0..300_u64,
            big: bool,
        ) {
            let order = if big { Order::Big } else { Order::Little };
            let numbers: Vec<i64> = steps.iter().scan(-5, |sum, step| { *sum += step; Some(*sum) }).collect();
            let (mut meta, mut data) = (Encoder::new(order), Encoder::new(order));
            let offset = data.offset();
            encode(&mut meta, &mut data, shift, &numbers);
            let len = data.out.len() as i64;
            let (meta, data) = (body(meta), body(data));
            let count = numbers.len() as u64;
            let mut cursor = Cursor::new(&meta);
            let entry = MonotonicEntry::read(&mut cursor, count, shift as i32).unwrap();
            cursor.end().unwrap();
            let read = Monotonic::open(&entry, &data, offset, len).unwrap();
            for (index, number) in (0..).zip(&numbers) {
                prop_assert_eq!(read.get(&data, index).unwrap(), *number);
                let pair = numbers.get(index as usize..index as usize + 2).map(|pair| [pair[0], pair[1]]);
                prop_assert_eq!(read.pair(&data, index).ok(), pair);
            }
            let (from, mut out) = (from.min(count), vec![7]);
            read.decode(&data, from..count, &mut out).unwrap();
            prop_assert_eq!(&out, &numbers[from as usize..]);
            prop_assert!(read.pair(&data, count).is_err() && read.pair(&data, u64::MAX).is_err());
            prop_assert!(read.get(&data, count).is_err() && read.decode(&data, 0..count + 1, &mut out).is_err());
            if count > 0 {
                prop_assert!(Monotonic::open(&entry, &data, offset, len + 1).is_err());
            }
        }
    }

    #[test]
    fn hostile_metadata_is_refused() {
        let meta = body(Encoder::new(Order::Little));
        for (count, shift) in [(u64::MAX, 2), (1, 16), (0, 1), (0, 23), (0, -1), (0, i32::MIN)] {
            assert!(MonotonicEntry::read(&mut Cursor::new(&meta), count, shift).is_err(), "{count}, {shift}");
        }
        let mut meta = Encoder::new(Order::Little);
        meta.i64(i64::MAX).f32(f32::NAN).i64(-1).u8(8).i64(i64::MAX).f32(f32::INFINITY).i64(0).u8(0);
        let meta = body(meta);
        let entry = MonotonicEntry::read(&mut Cursor::new(&meta), 8, 2).unwrap();
        let mut data = Encoder::new(Order::Little);
        let offset = data.offset();
        data.bytes(&[0; 8]);
        assert!(Monotonic::open(&entry, &body(data), offset, 8).is_err(), "a negative offset");
    }
}
