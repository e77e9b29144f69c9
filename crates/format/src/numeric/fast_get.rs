//! The fast path of a single look-up, for verified columns.
//!
//! When look-ups miss the caches, the processor overlaps as many of them as fit its reorder buffer, so a look-up should
//! have few instructions. What all look-ups of a column need is computed once, as a [`FastPath`]. A look-up then only
//! checks its index and the bounds of its loads. It returns no error: after `None`, [`NumericReader::get`] reads the value
//! with all checks, and builds the fast path.
//!
//! A column with several blocks gets a fast path once all its bytes are verified and all its headers are legal. A
//! look-up then tests neither the block's encoding nor whether its residuals lie in the section.

use std::sync::atomic::Ordering;

use byteorder::{ByteOrder, LittleEndian};

use super::block::{Block, FRACTION, LONG_LEN, SHORT_LEN, Stride, UNIT, line};
use super::read::{NumericReader, affine};
use super::{ONE_BLOCK, Transform};
use crate::bits;
use crate::source::SectionBytes;

/// The headers of a column are checked after one look-up for each 16 of them, so that a few look-ups do not pay for
/// it.
const HEADERS_PER_LOOKUP: u64 = 16;

/// The fields that every look-up of a column reads.
#[derive(Debug)]
pub(super) struct FastPath {
    count: u64,
    blocks: Blocks,
    /// The number is mapped to `base + gcd * number`.
    base: i64,
    gcd: u64,
    /// Whether the result is the value itself, and not an index into the table, or a decimal.
    is_value: bool,
}

#[derive(Debug)]
enum Blocks {
    /// One block, whose base is part of the column's. Residuals need not be verified yet.
    One { payload: usize, width: u64, mask: u64, slope: i64 },
    /// Several blocks, all of them legal. Unless one is `steep`, a slope times a place in a block fits an i64.
    Several { shift: u8, stride: Stride, steep: bool },
    /// Several blocks, some of which need the checked path.
    Checked,
}

impl<B: SectionBytes> NumericReader<B> {
    /// Value `index`, if the column has a fast path and it applies. After `None`, call [`get`](Self::get).
    #[inline(always)]
    pub fn get_verified(&self, index: u64) -> Option<i64> {
        let fast_path = self.fast_path.get()?;
        if index >= fast_path.count {
            return None;
        }
        let number = match fast_path.blocks {
            Blocks::One { payload, width, mask, slope } => {
                self.in_one_block(index, payload, width, mask, slope)?
            }
            Blocks::Several { shift, stride, steep } => {
                self.in_several_blocks(index, shift, stride, steep)?
            }
            Blocks::Checked => return None,
        };
        let value = affine(fast_path.base, fast_path.gcd, number);
        match self.meta.transform {
            _ if fast_path.is_value => Some(value),
            Transform::Table(_) => self.table.get(value.cast_unsigned()),
            Transform::Decimal(decimal) => Some(decimal.value(value.cast_unsigned())),
            Transform::Constant(_) | Transform::Affine { .. } => None,
        }
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "all residuals of the block lie in the section")]
    fn in_one_block(&self, index: u64, payload: usize, width: u64, mask: u64, slope: i64) -> Option<u64> {
        let bit = index.wrapping_mul(width);
        let word = self.meta.blocks.as_ref()?.peek::<8>(payload.wrapping_add((bit / 8) as usize))?;
        let residual = LittleEndian::read_u64(word) >> (bit % 8) & mask;
        Some(if slope == 0 { residual } else { residual.wrapping_add(line(slope, index as usize)) })
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "places in sections that lie in memory")]
    fn in_several_blocks(&self, index: u64, shift: u8, stride: Stride, steep: bool) -> Option<u64> {
        let (table, bytes) = (self.jump.verified()?, self.meta.blocks.as_ref()?.verified()?);
        let (block, i) = ((index >> shift) as usize, (index & ((1 << shift) - 1)) as usize);
        // One bounds check each: neither the offset of a header nor that of a residual can wrap.
        let (base, tags, slope) = match stride {
            Stride::Short => {
                let [base, tags] = words(table.as_chunks::<SHORT_LEN>().0.get(block)?);
                (base, tags, 0)
            }
            Stride::Long => {
                let [base, tags, slope, _] = words(table.as_chunks::<LONG_LEN>().0.get(block)?);
                (base, tags, slope.cast_signed())
            }
        };
        let width = tags >> 8 & 0xFF;
        let bit = (i as u64).wrapping_mul(width);
        let byte = ((tags >> 16) * UNIT + bit / 8) as usize;
        let word = bytes.get(byte..byte.wrapping_add(8))?.first_chunk::<8>()?;
        let residual = LittleEndian::read_u64(word) >> (bit % 8) & bits::MASKS[width as usize];
        let product = || (slope.wrapping_mul(i as i64) >> FRACTION).cast_unsigned();
        let rise = if steep { line(slope, i) } else { product() };
        Some(base.wrapping_add(residual).wrapping_add(rise))
    }

    /// Builds the fast path, if the column is eligible and it is worthwhile.
    pub(super) fn build_fast_path(&self) {
        if self.fast_path.get().is_some() {
            return;
        }
        let one = self.meta.block_shift == ONE_BLOCK;
        let Some((blocks, first)) = (if one { self.one_block() } else { self.several_blocks() }) else {
            return;
        };
        let (base, gcd, is_value) = match self.meta.transform {
            Transform::Affine { base, gcd } => (base, gcd, true),
            _ => (0, 1, false),
        };
        let (count, base) = (self.meta.count, affine(base, gcd, first));
        self.fast_path.get_or_init(|| Box::new(FastPath { count, blocks, base, gcd, is_value }));
    }

    /// The only block, and the number that a residual of 0 has at place 0.
    fn one_block(&self) -> Option<(Blocks, u64)> {
        let header = self.locate(0).ok()?;
        let payload = self.meta.payload(0, &header).ok()?.start;
        let (width, mask) = (header.width.into(), bits::mask(header.width));
        Some((Blocks::One { payload, width, mask, slope: header.slope }, header.base))
    }

    /// Several blocks, if all bytes are verified and there were enough look-ups.
    fn several_blocks(&self) -> Option<(Blocks, u64)> {
        let table = self.jump.verified()?;
        self.meta.blocks.as_ref()?.verified()?;
        // The count may lose increments of other threads.
        let asked = self.lookups.load(Ordering::Relaxed).saturating_add(1);
        self.lookups.store(asked, Ordering::Relaxed);
        if u64::from(asked) < self.meta.block_count() / HEADERS_PER_LOOKUP {
            return None;
        }
        let (shift, stride) = (self.meta.block_shift, self.meta.stride);
        let (mut bytes, mut steep) = (Vec::with_capacity(stride.bytes()), false);
        let mut headers = (0..self.meta.block_count()).zip(table.chunks_exact(stride.bytes()));
        let good = headers.all(|(block, header)| {
            let Some(found) = Block::of(header, stride) else { return false };
            bytes.clear();
            found.encode(stride, &mut bytes);
            steep |= found.slope.unsigned_abs() >= 1 << (63 - shift);
            // Bytes are compared because a block without a line must have no slope.
            bytes == header && self.meta.payload(block, &found).is_ok()
        });
        Some((if good { Blocks::Several { shift, stride, steep } } else { Blocks::Checked }, 0))
    }
}

/// The 64-bit words of a header.
#[inline(always)]
fn words<const BYTES: usize, const WORDS: usize>(header: &[u8; BYTES]) -> [u64; WORDS] {
    // A loop, as a closure would not be inlined in functions as large as the look-ups.
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(header.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}
