//! Locating the residuals of a block.

use std::ops::Range;

use super::Numeric;
use super::block::{Block, LONG_LEN, SHORT_LEN, Stride};
use crate::bits;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::id::TermOrd;
use crate::jump::{Chain, Entry, Step};
use crate::source::{SectionBytes, TAIL};

/// Some residuals of a block. The first one begins at the first bit of `bytes`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Residuals<'a> {
    bytes: &'a [u8],
    width: u8,
    /// The place in its block of the first residual.
    first: usize,
    /// The place of the bytes, for error messages.
    place: Place,
}

impl Residuals<'_> {
    /// Unpacks residuals `i ..` of the block, with `base` added to each.
    #[inline]
    pub(super) fn unpack_add(&self, i: usize, base: u64, out: &mut [u64]) -> Result<()> {
        let unpacked = bits::unpack_add(self.bytes, self.width, i.wrapping_sub(self.first), base, out);
        unpacked.ok_or_else(|| self.missing())
    }

    /// Unpacks residuals `i ..` as ords with a kernel, with `first` added to each; no sum may exceed `u32::MAX`.
    /// Returns how many it unpacked.
    #[inline]
    pub(super) fn unpack_ords(&self, i: usize, first: u32, out: &mut [TermOrd]) -> usize {
        bits::unpack_ords(self.bytes, self.width, i.wrapping_sub(self.first), first, out)
    }

    /// Sets the bits of residuals `i ..` that lie in `low ..= low + span`, modulo 2^64, with a kernel. Returns how
    /// many it compared, in whole words of `found`.
    #[inline]
    pub(super) fn within(&self, i: usize, low: u64, span: u64, found: &mut [u64]) -> usize {
        bits::in_range_packed(self.bytes, self.width, i.wrapping_sub(self.first), low, span, found)
    }

    /// Looks up residuals `i ..`, with `base` added to each, in `table` with a kernel. Returns how many it handled,
    /// and the largest sum.
    #[inline]
    pub(super) fn look_up(&self, i: usize, base: u64, table: &[i64], out: &mut [i64]) -> (usize, u64) {
        bits::look_up_packed(table, self.bytes, self.width, i.wrapping_sub(self.first), base, out)
    }

    #[cold]
    fn missing(&self) -> Error {
        Error::at(self.place, 0, ErrorKind::Broken("residuals lie outside their block"))
    }
}

impl<B: SectionBytes> Numeric<B> {
    /// The place of the blocks, for error messages.
    pub(super) fn place(&self) -> Place {
        let nowhere = Place { section: self.role.sections().0, offset: 0 };
        self.blocks.as_ref().map_or(nowhere, SectionBytes::place)
    }

    /// The section of the blocks. Only a constant column has none, and it does not call this.
    #[inline]
    pub(super) fn section(&self) -> Result<&B> {
        self.blocks.as_ref().ok_or_else(|| self.refuse(ErrorKind::Broken("the column has no blocks")))
    }

    /// An error somewhere in the blocks.
    #[cold]
    pub(super) fn refuse(&self, kind: ErrorKind) -> Error {
        Error::at(self.place(), 0, kind)
    }

    /// The block of value `index`, and the value's place there.
    #[inline]
    pub(super) fn split(&self, index: u64) -> (u64, usize) {
        let within = index & ((1 << self.block_shift) - 1);
        (index >> self.block_shift, usize::try_from(within).unwrap_or(usize::MAX))
    }

    /// The number of values in `block`. The last block may have fewer.
    #[inline]
    pub(super) fn values_in(&self, block: u64) -> usize {
        let left = self.count.saturating_sub(block << self.block_shift).min(1 << self.block_shift);
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// A residual that would begin at `byte` of the section lies somewhere else.
    #[cold]
    pub(super) fn outside(&self, byte: usize) -> Error {
        let max = self.blocks.as_ref().map_or(0, SectionBytes::len) as u64;
        let kind = ErrorKind::OutOfRange { what: "offset of a residual", found: byte as u64, max };
        Error::at(self.place(), byte, kind)
    }

    /// Where the residuals of `block` begin and end, if that is inside the section.
    #[inline]
    pub(super) fn payload(&self, block: u64, header: &Block) -> Result<Range<usize>> {
        let section = self.section()?;
        let end = header.payload.saturating_add(header.payload_len(self.values_in(block)));
        match (usize::try_from(header.payload), usize::try_from(end)) {
            (Ok(start), Ok(end)) if end <= section.len() => Ok(start..end),
            _ => Err(outside(section.place(), header.payload, end, section.len())),
        }
    }

    /// The residuals of the values at places `within` a `block`.
    ///
    /// Verifies the granules that these residuals lie in, unless the whole section is verified.
    #[inline]
    pub(super) fn residuals(
        &self,
        block: u64,
        header: &Block,
        within: Range<usize>,
    ) -> Result<Residuals<'_>> {
        let section = self.section()?;
        let payload = self.payload(block, header)?;
        let (width, first) = (header.width, within.start & !7);
        if width == 0 || within.is_empty() {
            return Ok(Residuals { bytes: &[], width: 0, first: 0, place: section.place() });
        }
        // Eight residuals take `width` bytes, so number `first` begins at a whole byte. The last load reads past the
        // last residual, into the zeros or the header after the payload.
        let start = payload.start + first / 8 * usize::from(width);
        let last = payload.start + (within.end - 1) * usize::from(width) / 8;
        let bytes = match section.verified() {
            // Includes the tail, so that kernels can load whole windows up to the end.
            Some(all) => all
                .get(start..last + TAIL)
                .ok_or_else(|| outside(section.place(), header.payload, last as u64, section.len()))?,
            None => section.slice(start..last + bits::OVERREAD)?,
        };
        Ok(Residuals { bytes, width, first, place: section.place() })
    }
}

#[cold]
fn outside(place: Place, payload: u64, end: u64, len: usize) -> Error {
    let kind = ErrorKind::OutOfRange { what: "end of a block", found: end, max: len as u64 };
    Error::new(place.section, place.offset.saturating_add(payload), kind)
}

impl<B: SectionBytes> Chain for Numeric<B> {
    type Entry = Block;

    fn blocks(&self) -> usize {
        // Opening checked that the section has space for all headers.
        usize::try_from(self.block_count()).unwrap_or(0)
    }

    fn stride(&self) -> usize {
        self.stride.bytes()
    }

    fn put(&self, entry: &Block, out: &mut Vec<u8>) {
        entry.encode(self.stride, out);
    }

    fn place(&self) -> Place {
        self.place()
    }

    fn step(&self, block: usize, at: usize, values: u64) -> Result<Step<Block>> {
        let section = self.section()?;
        let end = at.saturating_add(self.stride.bytes());
        let bytes: &[u8] = match self.stride {
            _ if self.block_count() > 1 => section.slice(at..end)?,
            // The reader keeps the only header, so nothing else of its granule may be needed.
            Stride::Short => &section.copy::<SHORT_LEN>(at)?,
            Stride::Long => &section.copy::<LONG_LEN>(at)?,
        };
        let entry = Block::parse(section.place(), at, bytes)?;
        let checked = ErrorKind::equal("offset of a block's payload", entry.payload, end as u64);
        section.place().check(at, checked)?;
        let next = self.payload(block as u64, &entry)?.end;
        Ok(Step { entry, next, values: values.saturating_add(self.values_in(block as u64) as u64) })
    }
}
