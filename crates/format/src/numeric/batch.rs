//! Many values at once: each block is located once, and each loop knows its encoding.

use std::ops::Range;

use super::block::{Block, Encoding, add_line};
use super::decimal::Decimal;
use super::locate::Residuals;
use super::read::affine;
use super::{NumericReader, Transform};
use crate::bits::{multiples, unsigned};
use crate::error::Result;
use crate::source::SectionBytes;

/// Numbers that are unpacked before they are looked at: 4 KiB, which stays in the innermost cache.
pub(super) const STRETCH: usize = 512;

impl<B: SectionBytes> NumericReader<B> {
    /// The values of `range`, a block at a time.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); what `out` then holds is unspecified.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `range`.
    pub fn decode(&self, range: Range<u64>, out: &mut [i64]) -> Result<()> {
        assert_eq!(range.end.saturating_sub(range.start), out.len() as u64, "one place for every value");
        if let Transform::Constant(value) = self.meta.transform {
            self.in_range(&range)?;
            out.fill(value);
            return Ok(());
        }
        let mut out = out;
        self.each_block(range, |block, header, within| {
            let places = out.split_off_mut(..within.len()).unwrap_or_default();
            let residuals = self.meta.residuals(block, header, within.clone())?;
            self.decode_block(header, &residuals, within.start, places)
        })
    }

    /// The values of one block from `first` on.
    ///
    /// What is added to every residual (the block's base, and the column's) is added while unpacking;
    /// a line and a divisor take a second pass, over a stretch that is still in the innermost cache.
    pub(super) fn decode_block(
        &self,
        header: &Block,
        residuals: &Residuals<'_>,
        first: usize,
        out: &mut [i64],
    ) -> Result<()> {
        let (base, gcd) = match self.meta.transform {
            Transform::Affine { base, gcd } => (base, gcd),
            Transform::Decimal(decimal) => return decode_decimal(decimal, header, residuals, first, out),
            Transform::Table(_) | Transform::Constant(_) => {
                return self.decode_table(header, residuals, first, out);
            }
        };
        // As a value, the block's base saves a multiplication.
        let start = affine(base, gcd, header.base).cast_unsigned();
        for (stretch, out) in out.chunks_mut(STRETCH).enumerate() {
            let (first, numbers) = (first + stretch * STRETCH, unsigned(out));
            residuals.unpack_add(first, if gcd == 1 { start } else { 0 }, numbers)?;
            if header.encoding == Encoding::Linear {
                add_line(header.slope, first, numbers);
            }
            if gcd != 1 {
                multiples(start, gcd, numbers);
            }
        }
        Ok(())
    }

    /// The same through the table of values.
    fn decode_table(
        &self,
        header: &Block,
        residuals: &Residuals<'_>,
        first: usize,
        out: &mut [i64],
    ) -> Result<()> {
        let mut done = 0;
        if header.encoding == Encoding::Packed {
            let found = self.table.look_up(residuals, first, header.base, out);
            done = found.map_err(|number| self.no_entry(number))?;
        }
        for (stretch, out) in out[done..].chunks_mut(STRETCH).enumerate() {
            unpack(header, residuals, first + done + stretch * STRETCH, unsigned(out))?;
            self.table.replace(out).map_err(|number| self.no_entry(number))?;
        }
        Ok(())
    }

    /// Refuses a range with an index of no value.
    pub(super) fn in_range(&self, range: &Range<u64>) -> Result<()> {
        if range.is_empty() { Ok(()) } else { self.in_count(range.end - 1) }
    }

    /// Calls `f` for each block that `range` touches: its number, its header, the places in it.
    pub(super) fn each_block(
        &self,
        range: Range<u64>,
        mut f: impl FnMut(u64, &Block, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        self.in_range(&range)?;
        let mut at = range.start;
        while at < range.end {
            let (block, first) = self.meta.split(at);
            let len = (range.end - at).min((self.meta.values_in(block) - first) as u64);
            let header = self.locate(block)?;
            f(block, &header, first..self.meta.split(at + len - 1).1 + 1)?;
            at += len;
        }
        Ok(())
    }
}

/// The same of decimals: the division is a pass of its own.
fn decode_decimal(
    decimal: Decimal,
    header: &Block,
    residuals: &Residuals<'_>,
    first: usize,
    out: &mut [i64],
) -> Result<()> {
    for (stretch, out) in out.chunks_mut(STRETCH).enumerate() {
        let numbers = unsigned(out);
        unpack(header, residuals, first + stretch * STRETCH, numbers)?;
        decimal.values(numbers);
    }
    Ok(())
}

/// The numbers of a block from `first` on.
#[inline]
pub(super) fn unpack(
    header: &Block,
    residuals: &Residuals<'_>,
    first: usize,
    numbers: &mut [u64],
) -> Result<()> {
    residuals.unpack_add(first, header.base, numbers)?;
    if header.encoding == Encoding::Linear {
        add_line(header.slope, first, numbers);
    }
    Ok(())
}
