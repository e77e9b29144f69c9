//! Gathering the values at a list of indices: by a kernel, and by checked reads where it stops.
//!
//! If neighbouring indices lie in different blocks, each value costs a jump entry and a load that depends on it.
//! Kernels have few instructions for each value, so that the processor overlaps the latencies of many values.

use super::block::Block;
use super::simd::{self, Blocks, Numbers, Packed};
use super::{NumericReader, ONE_BLOCK, Transform};
use crate::bits;
use crate::error::Result;
use crate::id::TermOrd;
use crate::jump::Chain;
use crate::source::{PartlyVerified, SectionBytes};

/// Indices that are read with all checks before a kernel is tried again.
const GROUP: usize = 8;

/// Gathers the integers at `indices`, in any order and with repeats, with `base` added to each, modulo 2^64. Integer 0 begins
/// at the first bit of `bytes`, and each has `width` bits, as [`bits`] packs them. Returns how many of the leading integers were
/// written: at least all whose eight bytes lie in `bytes`, but none if `width` is 0 or [illegal](bits::is_width).
///
/// ```
/// use docvalues_format::{bits, numeric};
///
/// let mut bytes = Vec::new();
/// bits::pack(&[5, 1, 7], 3, &mut bytes);
/// bytes.extend([0; bits::OVERREAD]);
///
/// let mut numbers = [0; 4];
/// assert_eq!(numeric::gather_packed(&bytes, 3, 100, &[2, 0, 2, 9_999], &mut numbers), 3);
/// assert_eq!(numbers[..3], [107, 105, 107]);
/// ```
///
/// # Panics
///
/// If `indices` and `out` differ in length.
pub fn gather_packed(bytes: &[u8], width: u8, base: i64, indices: &[u32], out: &mut [i64]) -> usize {
    assert_eq!(indices.len(), out.len(), "`out` must be as long as `indices`");
    if width == 0 || !bits::is_width(width) {
        return 0;
    }
    let section = PartlyVerified { bytes, granules: None };
    let packed = Packed { section, payload: 0, width, slope: 0 };
    simd::gather_packed(packed, Numbers { count: u64::MAX, add: base }, indices, out)
}

/// As [`gather_packed`], for integers of up to 32 bits as ords: the first `count` of them, with `add` added to each. No sum may
/// exceed `u32::MAX`. Stops also at an index that is not below `count`.
///
/// # Panics
///
/// If `indices` and `out` differ in length.
pub fn gather_packed_ords(
    bytes: &[u8],
    (width, count): (u8, u64),
    add: u32,
    indices: &[u32],
    out: &mut [TermOrd],
) -> usize {
    assert_eq!(indices.len(), out.len(), "`out` must be as long as `indices`");
    if !(1..=32).contains(&width) {
        return 0;
    }
    let section = PartlyVerified { bytes, granules: None };
    simd::gather_ords(Packed { section, payload: 0, width, slope: 0 }, count, add, indices, out)
}

impl<B: SectionBytes> NumericReader<B> {
    /// Gathers the values at `indices`, which may be in any order and repeat.
    ///
    /// O(indices).
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); what `out` then holds is unspecified.
    ///
    /// # Panics
    ///
    /// If `indices` and `out` differ in length.
    pub fn gather(&self, indices: &[u32], out: &mut [i64]) -> Result<()> {
        assert_eq!(indices.len(), out.len(), "`out` must be as long as `indices`");
        if indices.is_empty() {
            return Ok(());
        }
        if let Transform::Constant(value) = self.meta.transform {
            self.in_count(indices.iter().copied().max().unwrap_or(0).into())?;
            out.fill(value);
            return Ok(());
        }
        let (mut at, header) = (0, self.only_header()?);
        loop {
            let done = self.gather_verified(header.as_ref(), &indices[at..], &mut out[at..]);
            let end = at + done.unwrap_or(0);
            self.replace(&mut out[at..end])?;
            if end == indices.len() {
                return Ok(());
            }
            // After a few checked reads, the kernel can usually continue.
            at = if done.is_some() { indices.len().min(end + GROUP) } else { indices.len() };
            self.gather_checked(&indices[end..at], &mut out[end..at])?;
        }
    }

    /// The header of the block, if the column is a single one.
    pub(super) fn only_header(&self) -> Result<Option<Block>> {
        if self.meta.block_shift == ONE_BLOCK { self.locate(0).map(Some) } else { Ok(None) }
    }

    /// Gathers numbers with a kernel, with [`added`](Self::added) added to each, and returns how many of the leading
    /// `indices` it handled. `None` if the bytes are not in memory, so no kernel applies.
    fn gather_verified(&self, header: Option<&Block>, indices: &[u32], out: &mut [i64]) -> Option<usize> {
        let (section, count, add) = (self.meta.section().ok()?, self.meta.count, self.added());
        let section = section.partly_verified()?.up_to(section.len() + bits::OVERREAD)?;
        match header {
            Some(&Block { payload, width, base, slope, .. }) => {
                let payload = usize::try_from(payload).ok().filter(|&at| at <= section.bytes.len())?;
                let numbers = Numbers { count, add: add.wrapping_add(base.cast_signed()) };
                Some(simd::gather_packed(Packed { section, payload, width, slope }, numbers, indices, out))
            }
            None => {
                let (stride, shift) = (self.meta.stride, self.meta.block_shift);
                let table = self.jump.partly_verified()?.up_to(Chain::blocks(&self.meta) * stride.bytes())?;
                let blocks = Blocks { table, stride, section, shift };
                Some(simd::gather(blocks, Numbers { count, add }, indices, out))
            }
        }
    }

    /// Gathers values one by one, with all checks.
    fn gather_checked(&self, indices: &[u32], out: &mut [i64]) -> Result<()> {
        let mut last: Option<(u64, Block)> = None;
        for (&index, out) in indices.iter().zip(out) {
            self.in_count(index.into())?;
            let (block, i) = self.meta.split(index.into());
            let header = match last.filter(|(number, _)| *number == block) {
                Some((_, header)) => header,
                None => self.locate(block)?,
            };
            last = Some((block, header));
            *out = self.value_in(&header, i)?;
        }
        Ok(())
    }
}
