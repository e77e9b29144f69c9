//! An opened column of numbers.

use std::ops::{Range, RangeInclusive};

use super::block::Block;
use super::{Numeric, NumericWalk, Transform};
use crate::bits;
use crate::error::{Error, ErrorKind, Result};
use crate::jump::{Chain, Jump, JumpTables, Step};
use crate::source::{Place, SectionBytes, truncated};

/// Reads the values of a column, in any order and from any thread.
///
/// # Cost
///
/// On the heap: the table of values (at most 2 KiB), and the jump table if it has to be built (32 bytes
/// a block). No method allocates, but for that one.
#[derive(Debug)]
pub struct NumericReader<B> {
    meta: Numeric<B>,
    jump: Jump<B, Block>,
    table: Box<[i64]>,
}

impl<B: SectionBytes> Numeric<B> {
    /// Where the blocks are, for error messages.
    fn place(&self) -> Place {
        let nowhere = Place { section: self.role.blocks(), offset: 0 };
        self.blocks.as_ref().map_or(nowhere, SectionBytes::place)
    }

    /// The section of the blocks. A column without one is constant, and never asks.
    fn blocks(&self) -> Result<&B> {
        let none = || Error::at(self.place(), 0, ErrorKind::Broken("the column has no blocks"));
        self.blocks.as_ref().ok_or_else(none)
    }

    /// Values in `block`: as many as its size says, but in the last one.
    fn values_in(&self, block: u64) -> usize {
        let first = block.saturating_mul(1 << self.block_shift);
        let left = self.count.saturating_sub(first).min(1 << self.block_shift);
        usize::try_from(left).unwrap_or(0)
    }

    /// Where the residuals of `block` end, if that is inside the section.
    fn payload_end(&self, block: u64, entry: &Block) -> Result<u64> {
        let section = self.blocks()?;
        let end = entry.payload.saturating_add(entry.payload_len(self.values_in(block)));
        match end <= section.len() as u64 {
            true => Ok(end),
            false => Err(outside(section.place(), entry, end, section.len())),
        }
    }
}

#[cold]
fn outside(place: Place, entry: &Block, end: u64, len: usize) -> Error {
    let offset = place.offset.saturating_add(entry.payload);
    let what = "end of a block";
    Error::new(place.section, offset, ErrorKind::OutOfRange { what, found: end, max: len as u64 })
}

impl<B: SectionBytes> Chain for Numeric<B> {
    type Entry = Block;

    fn blocks(&self) -> usize {
        // Opening made sure that a header for each of them fits the section.
        usize::try_from(self.block_count()).unwrap_or(0)
    }

    fn stride(&self) -> usize {
        self.stride.bytes()
    }

    fn step(&self, block: usize, at: usize, values: u64) -> Result<Step<Block>> {
        let section = self.blocks()?;
        let behind = at.saturating_add(self.stride.bytes());
        let entry = <Block as crate::jump::Entry>::parse(section.place(), at, section.slice(at..behind)?)?;
        if entry.payload != behind as u64 {
            let what = "offset of a block's payload";
            let kind = ErrorKind::Mismatch { what, found: entry.payload, expected: behind as u64 };
            return Err(Error::at(section.place(), at.saturating_add(10), kind));
        }
        let next = self.payload_end(block as u64, &entry)?;
        let next =
            usize::try_from(next).map_err(|_| truncated(section.place(), at, usize::MAX, section.len()))?;
        Ok(Step { entry, next, values: values.saturating_add(self.values_in(block as u64) as u64) })
    }
}

impl<B: SectionBytes> NumericReader<B> {
    /// Opens a column whose sections were found; reads nothing but its table of values.
    ///
    /// # Errors
    ///
    /// When the lengths of the sections do not go together, or the table cannot be read.
    pub fn open(mut meta: Numeric<B>, mode: JumpTables) -> Result<NumericReader<B>> {
        meta.check(|section| section.len() as u64).map_err(|kind| Error::at(meta.place(), 0, kind))?;
        let table = match &meta.transform {
            Transform::Table(section) => {
                let bytes = section.slice(0..section.len())?;
                bytes.as_chunks().0.iter().map(|v| i64::from_le_bytes(*v)).collect()
            }
            Transform::Constant(_) | Transform::Affine { .. } => Box::default(),
        };
        let jump = Jump::open(mode, meta.jump.take(), &meta)?;
        Ok(NumericReader { meta, jump, table })
    }

    /// How many values there are.
    #[inline]
    pub fn count(&self) -> u64 {
        self.meta.count
    }

    /// What the directory says of the column. Its `jump` is `None`: see [`jump_table`](Self::jump_table).
    #[inline]
    pub fn meta(&self) -> &Numeric<B> {
        &self.meta
    }

    /// The baked jump table, if the file has one, in whatever mode the column is read.
    pub fn jump_table(&self) -> Option<&B> {
        self.jump.baked()
    }

    /// Bytes on the heap: the table of values, and the jump table if it was built.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.table) + self.jump.heap_bytes()
    }

    /// Value `index`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] if there is none; otherwise when bytes on the way to it cannot be read,
    /// or hold what they may not.
    pub fn get(&self, index: u64, walk: &mut NumericWalk) -> Result<i64> {
        if index >= self.meta.count {
            return Err(self.no_value(index));
        }
        if let Transform::Constant(value) = self.meta.transform {
            return Ok(value);
        }
        let number = index >> self.meta.block_shift;
        let block = usize::try_from(number).map_err(|_| self.no_value(index))?;
        let entry = self.jump.locate(&self.meta, block, walk)?;
        let end = self.meta.payload_end(number, &entry)?;
        let section = self.meta.blocks()?;
        let from = usize::try_from(entry.payload).map_err(|_| self.no_value(index))?;
        let end = usize::try_from(end).map_err(|_| self.no_value(index))?;
        let within = usize::try_from(index & ((1 << self.meta.block_shift) - 1)).unwrap_or(0);
        let payload = section.slice(from..end + bits::OVERREAD)?;
        let x = bits::get(payload, entry.width, within)
            .ok_or_else(|| truncated(section.place(), from, 8, payload.len()))?;
        self.value(entry.number(within, x))
    }

    fn value(&self, q: u64) -> Result<i64> {
        match &self.meta.transform {
            Transform::Constant(value) => Ok(*value),
            Transform::Affine { base, gcd } => Ok(base.wrapping_add(q.wrapping_mul(*gcd).cast_signed())),
            Transform::Table(section) => {
                let entry = usize::try_from(q).ok().and_then(|q| self.table.get(q));
                let (found, max) = (q, self.table.len() as u64 - 1);
                let kind = ErrorKind::OutOfRange { what: "place in the values table", found, max };
                entry.copied().ok_or_else(|| Error::at(section.place(), 0, kind))
            }
        }
    }

    /// Values `index` and `index + 1`: where something begins and where it ends.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn get_pair(&self, index: u64, walk: &mut NumericWalk) -> Result<(i64, i64)> {
        Ok((self.get(index, walk)?, self.get(index.saturating_add(1), walk)?))
    }

    /// The values of `indices`, in any order; where one is `u32::MAX`, `out` stays as it is.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); what `out` then holds is unspecified.
    ///
    /// # Panics
    ///
    /// If `indices` and `out` differ in length.
    pub fn gather(&self, indices: &[u32], out: &mut [i64], walk: &mut NumericWalk) -> Result<()> {
        assert_eq!(indices.len(), out.len(), "one place for every index");
        for (&index, out) in indices.iter().zip(out).filter(|(index, _)| **index != u32::MAX) {
            *out = self.get(index.into(), walk)?;
        }
        Ok(())
    }

    /// The values of `range`.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); what `out` then holds is unspecified.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `range`.
    pub fn decode(&self, range: Range<u64>, out: &mut [i64], walk: &mut NumericWalk) -> Result<()> {
        assert_eq!(range.end.saturating_sub(range.start), out.len() as u64, "one place for every value");
        for (index, out) in range.zip(out) {
            *out = self.get(index, walk)?;
        }
        Ok(())
    }

    /// Sets bit *i* of `bits` if value `positions.start + i` is one of `values`; leaves the other bits as
    /// they are.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); what `bits` then holds is unspecified.
    ///
    /// # Panics
    ///
    /// If `bits` has fewer bits than there are `positions`.
    pub fn filter(
        &self,
        positions: Range<u64>,
        values: RangeInclusive<i64>,
        bits: &mut [u64],
        walk: &mut NumericWalk,
    ) -> Result<()> {
        let first = positions.start;
        for index in positions {
            if values.contains(&self.get(index, walk)?) {
                let bit = index - first;
                bits[usize::try_from(bit / 64).unwrap_or(usize::MAX)] |= 1 << (bit % 64);
            }
        }
        Ok(())
    }

    /// Reads everything, and compares it with everything else.
    ///
    /// # Errors
    ///
    /// The first thing that is not as the writer leaves it.
    pub fn verify(&self) -> Result<()> {
        let mut walk = NumericWalk::default();
        for index in 0..self.meta.count {
            self.get(index, &mut walk)?;
        }
        Ok(())
    }

    #[cold]
    fn no_value(&self, index: u64) -> Error {
        let (found, max) = (index, self.meta.count.saturating_sub(1));
        Error::at(self.meta.place(), 0, ErrorKind::OutOfRange { what: "value index", found, max })
    }
}
