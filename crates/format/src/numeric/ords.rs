//! Decoding and gathering ords. Kernels write narrow ones directly as 32 bits.

use std::ops::Range;

use super::block::{Block, Encoding};
use super::decode::NUMBERS_PER_PASS;
use super::locate::Residuals;
use super::read::affine;
use super::simd::{Packed, gather_ords};
use super::{NumericReader, Transform};
use crate::bits;
use crate::error::Result;
use crate::id::TermOrd;
use crate::source::SectionBytes;

impl<B: SectionBytes> NumericReader<B> {
    /// Decodes the values of `range` as ords. A value that is no ord comes from a damaged file and becomes
    /// `u32::MAX`.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `range`.
    pub fn decode_ords(&self, range: Range<u64>, out: &mut [TermOrd]) -> Result<()> {
        let constant = |value: i64| TermOrd::new(u32::try_from(value).unwrap_or(u32::MAX));
        self.decode_with(range, out, constant, |header, residuals, start, out| {
            // Kernels begin at a whole byte.
            let before = (start.next_multiple_of(8) - start).min(out.len());
            let (head, rest) = out.split_at_mut(before);
            self.decode_wide(header, residuals, start, head)?;
            let first = start + before;
            let done = self.first_ord(header).map_or(0, |ord| residuals.unpack_ords(first, ord, rest));
            self.decode_wide(header, residuals, first + done, &mut rest[done..])
        })
    }

    /// Decodes the values of one block from `first` on, through 64-bit numbers.
    fn decode_wide(
        &self,
        header: &Block,
        residuals: &Residuals<'_>,
        first: usize,
        out: &mut [TermOrd],
    ) -> Result<()> {
        if out.is_empty() {
            // The usual case: clearing 4 KiB would take a third of the kernel's time.
            return Ok(());
        }
        let mut numbers = [0; NUMBERS_PER_PASS];
        for (part, out) in out.chunks_mut(NUMBERS_PER_PASS).enumerate() {
            let numbers = &mut numbers[..out.len()];
            self.decode_block(header, residuals, first + part * NUMBERS_PER_PASS, numbers)?;
            bits::to_ords(numbers, out);
        }
        Ok(())
    }

    /// Gathers ords with a kernel and returns the number of leading `indices` that it handled. Kernels handle columns
    /// of one block of narrow residuals, if the bytes from the smallest to the largest index are verified. Pass the
    /// rest to [`gather`](Self::gather), which returns errors, too.
    ///
    /// # Panics
    ///
    /// If `indices` and `out` differ in length.
    pub fn gather_ords(&self, indices: &[u32], out: &mut [TermOrd]) -> usize {
        assert_eq!(indices.len(), out.len(), "`out` must be as long as `indices`");
        self.gather_ords_verified(indices, out).unwrap_or(0)
    }

    fn gather_ords_verified(&self, indices: &[u32], out: &mut [TermOrd]) -> Option<usize> {
        let header = self.only_header().ok()??;
        let first = self.first_ord(&header)?;
        let (section, payload) = (self.meta.section().ok()?, usize::try_from(header.payload).ok()?);
        let section = section.partly_verified()?.up_to(section.len() + bits::OVERREAD)?;
        let packed = Packed { section, payload, width: header.width, slope: 0 };
        Some(gather_ords(packed, self.meta.count, first, indices, out))
    }

    /// The ord of a residual of 0, if the block's ords are sums of it and the residuals, and none exceeds `u32::MAX`.
    fn first_ord(&self, header: &Block) -> Option<u32> {
        let (&Transform::Affine { base, gcd: 1 }, Encoding::Packed) = (&self.meta.transform, header.encoding)
        else {
            return None;
        };
        let first = u32::try_from(affine(base, 1, header.base)).ok()?;
        first.checked_add(u32::try_from(bits::mask(header.width)).ok()?)?;
        Some(first)
    }
}
