//! Decoding ranges of values: each block is located once, and has a loop for its encoding.

use std::ops::Range;

use super::block::{Block, Encoding, add_line};
use super::locate::Residuals;
use super::read::affine;
use super::{NumericReader, Transform};
use crate::bits::{multiples, unsigned};
use crate::error::Result;
use crate::source::SectionBytes;

/// Numbers that are unpacked for each pass: 4 KiB, which stay in the first-level cache.
pub(super) const NUMBERS_PER_PASS: usize = 512;

impl<B: SectionBytes> NumericReader<B> {
    /// Decodes the values of `range` into `out`, block by block.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); what `out` then holds is unspecified.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `range`.
    pub fn decode(&self, range: Range<u64>, out: &mut [i64]) -> Result<()> {
        let same = |value| value;
        self.decode_with(range, out, same, |header, residuals, first, out| {
            self.decode_block(header, residuals, first, out)
        })
    }

    /// As [`decode`](Self::decode): `constant` turns the value of a column of equal values into that of `out`, and
    /// `decode` decodes the values of one block from a place on.
    pub(super) fn decode_with<T: Clone>(
        &self,
        range: Range<u64>,
        out: &mut [T],
        constant: impl FnOnce(i64) -> T,
        decode: impl Fn(&Block, &Residuals<'_>, usize, &mut [T]) -> Result<()>,
    ) -> Result<()> {
        assert_eq!(
            range.end.saturating_sub(range.start),
            out.len() as u64,
            "`out` must be as long as `range`"
        );
        if let Transform::Constant(value) = self.meta.transform {
            self.in_range(&range)?;
            out.fill(constant(value));
            return Ok(());
        }
        let mut out = out;
        self.each_block(range, |block, header, within| {
            let places = out.split_off_mut(..within.len()).unwrap_or_default();
            let residuals = self.meta.residuals(block, header, within.clone())?;
            decode(header, &residuals, within.start, places)
        })
    }

    /// Decodes the values of one block from `first` on.
    ///
    /// The bases of the block and of the column are added while unpacking. A line and a divisor take a second pass
    /// over a part that is still in the first-level cache.
    pub(super) fn decode_block(
        &self,
        header: &Block,
        residuals: &Residuals<'_>,
        first: usize,
        out: &mut [i64],
    ) -> Result<()> {
        let Transform::Affine { base, gcd } = self.meta.transform else {
            return self.decode_others(header, residuals, first, out);
        };
        // Mapping the block's base to a value saves a multiplication for each number.
        let start = affine(base, gcd, header.base).cast_unsigned();
        for (part, out) in out.chunks_mut(NUMBERS_PER_PASS).enumerate() {
            let (first, numbers) = (first + part * NUMBERS_PER_PASS, unsigned(out));
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

    /// As [`decode_block`](Self::decode_block), for decimals and for tables of values.
    fn decode_others(
        &self,
        header: &Block,
        residuals: &Residuals<'_>,
        first: usize,
        out: &mut [i64],
    ) -> Result<()> {
        let mut done = 0;
        if let (Transform::Table(_), Encoding::Packed) = (&self.meta.transform, header.encoding) {
            let found = self.table.look_up(residuals, first, header.base, out);
            done = found.map_err(|number| self.no_entry(number))?;
        }
        for (part, out) in out[done..].chunks_mut(NUMBERS_PER_PASS).enumerate() {
            unpack(header, residuals, first + done + part * NUMBERS_PER_PASS, unsigned(out))?;
            self.replace(out)?;
        }
        Ok(())
    }

    /// The sum to add to numbers before [`replace`](Self::replace), which saves that pass if there is no divisor.
    #[inline]
    pub(super) fn added(&self) -> i64 {
        if let Transform::Affine { base, gcd: 1 } = self.meta.transform { base } else { 0 }
    }

    /// Replaces numbers by their values. [`added`](Self::added) must have been added to them.
    #[inline]
    pub(super) fn replace(&self, numbers: &mut [i64]) -> Result<()> {
        match self.meta.transform {
            Transform::Affine { gcd: 1, .. } | Transform::Constant(_) => {}
            Transform::Affine { base, gcd } => multiples(base.cast_unsigned(), gcd, unsigned(numbers)),
            Transform::Decimal(decimal) => decimal.values(unsigned(numbers)),
            Transform::Table(_) => self.table.replace(numbers).map_err(|number| self.no_entry(number))?,
        }
        Ok(())
    }

    /// Returns an error if `range` exceeds the number of values.
    pub(super) fn in_range(&self, range: &Range<u64>) -> Result<()> {
        if range.is_empty() { Ok(()) } else { self.in_count(range.end - 1) }
    }

    /// Calls `f` for each block that overlaps `range`, with its number, its header and the places in it.
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

/// Unpacks the numbers of a block from `first` on.
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
