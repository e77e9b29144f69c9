//! The fast path of a single look-up, for verified columns.
//!
//! When look-ups miss the caches, the processor overlaps as many of them as fit its reorder buffer, so a look-up should
//! have few instructions. What all look-ups of a column need is computed once, as a [`FastPath`]. A look-up then only
//! checks its index and the bounds of its loads. It returns no error: after `None`, [`NumericReader::get`] reads the value
//! with all checks, and builds the fast path.
//!
//! A column with several blocks gets a fast path after some look-ups, if its jump table is verified and all headers are
//! legal. A look-up then tests neither the block's encoding nor whether its residuals lie in the section.
//!
//! The fast path also serves columns of which some bytes are not verified yet. A [`Lookup`](super::Lookup) takes
//! fewer instructions once all are.

use std::sync::atomic::Ordering;

use byteorder::{ByteOrder, LittleEndian};

use super::block::{Block, FRACTION, LONG_LEN, SHORT_LEN, Stride, UNIT, line};
use super::read::{NumericReader, affine};
use super::{ONE_BLOCK, Transform};
use crate::bits;
use crate::source::SectionBytes;

/// The headers of a column are verified and checked after one look-up for each 16 of them, so that a few look-ups do
/// not pay for it.
const HEADERS_PER_LOOKUP: u64 = 16;

/// The number of look-ups once a thread builds the fast path.
const BUILDING: u32 = u32::MAX;

/// The fields that every look-up of a column reads.
#[derive(Debug)]
pub(super) struct FastPath {
    /// The number of values; 0 if a block is not legal, so that every look-up is checked.
    pub(super) count: u64,
    pub(super) blocks: Blocks,
    /// The number is mapped to `base + gcd * number`.
    pub(super) base: i64,
    pub(super) gcd: u64,
    /// Whether the result is the value itself, and not an index into the table, or a decimal.
    pub(super) is_value: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Blocks {
    /// One block without a line, whose numbers are values. Its base is part of the column's.
    Plain(OneBlock),
    /// One block, with the slope of its line. Its base is part of the column's.
    One(OneBlock, i64),
    /// Several blocks, all of them legal, each with `last` as the greatest place. Unless one is `steep`, a slope times a
    /// place in a block fits an i64.
    Several { shift: u8, last: u64, stride: Stride, steep: bool },
}

/// The place and the width of the residuals of the only block.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneBlock {
    pub(super) payload: usize,
    pub(super) width: u64,
    pub(super) mask: u64,
}

/// The header of a legal block.
#[derive(Clone, Copy)]
struct Header {
    base: u64,
    /// Encoding, width, and place of the residuals, as in the file.
    tags: u64,
    slope: i64,
}

impl<B: SectionBytes> NumericReader<B> {
    /// Value `index`, if the column is constant, or has a fast path and it applies. After `None`, call [`get`](Self::get).
    #[inline(always)]
    pub fn get_verified(&self, index: u64) -> Option<i64> {
        let Some(fast_path) = self.fast_path.get() else {
            let Transform::Constant(value) = self.meta.transform else { return None };
            return (index < self.meta.count).then_some(value);
        };
        if index >= fast_path.count {
            return None;
        }
        let number = match fast_path.blocks {
            Blocks::Plain(place) => {
                return Some(affine(fast_path.base, fast_path.gcd, self.in_one_block(place, 0, index)?));
            }
            Blocks::One(place, slope) => self.in_one_block(place, slope, index)?,
            Blocks::Several { shift, last, stride, steep } => {
                let (header, i) = (self.header_of(index >> shift, stride)?, index & last);
                self.in_block(header, i, steep)?
            }
        };
        let value = affine(fast_path.base, fast_path.gcd, number);
        match self.meta.transform {
            _ if fast_path.is_value => Some(value),
            Transform::Table(_) => self.table.get(value.cast_unsigned()),
            Transform::Decimal(decimal) => Some(decimal.value(value.cast_unsigned())),
            Transform::Constant(_) | Transform::Affine { .. } => None,
        }
    }

    /// Values `index` and `index + 1`, if the column has a fast path and it applies.
    #[inline(always)]
    pub fn pair_verified(&self, index: u64) -> Option<(i64, i64)> {
        let fast_path = self.fast_path.get()?;
        let next = index.checked_add(1)?;
        if next >= fast_path.count || !fast_path.is_value {
            return None;
        }
        let (first, second) = match fast_path.blocks {
            Blocks::Plain(place) => (self.in_one_block(place, 0, index)?, self.in_one_block(place, 0, next)?),
            Blocks::One(place, slope) => {
                (self.in_one_block(place, slope, index)?, self.in_one_block(place, slope, next)?)
            }
            Blocks::Several { shift, last, stride, steep } => {
                let (header, i) = (self.header_of(index >> shift, stride)?, index & last);
                let second = if i == last { self.header_of(next >> shift, stride)? } else { header };
                (self.in_block(header, i, steep)?, self.in_block(second, next & last, steep)?)
            }
        };
        let (base, gcd) = (fast_path.base, fast_path.gcd);
        Some((affine(base, gcd, first), affine(base, gcd, second)))
    }

    /// Residual `index` of the only block, above the line of this `slope`.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "all residuals of the block lie in the section")]
    fn in_one_block(&self, place: OneBlock, slope: i64, index: u64) -> Option<u64> {
        let OneBlock { payload, width, mask } = place;
        let bit = index.wrapping_mul(width);
        let word = self.meta.blocks.as_ref()?.peek::<8>(payload.wrapping_add((bit / 8) as usize))?;
        let residual = LittleEndian::read_u64(word) >> (bit % 8) & mask;
        Some(if slope == 0 { residual } else { residual.wrapping_add(line(slope, index as usize)) })
    }

    /// The header of `block`.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "places in sections that lie in memory")]
    fn header_of(&self, block: u64, stride: Stride) -> Option<Header> {
        let (table, block) = (self.jump.verified()?, block as usize);
        // One bounds check: the offset of a header cannot wrap.
        Some(match stride {
            Stride::Short => {
                let [base, tags] = words(table.as_chunks::<SHORT_LEN>().0.get(block)?);
                Header { base, tags, slope: 0 }
            }
            Stride::Long => {
                let [base, tags, slope, _] = words(table.as_chunks::<LONG_LEN>().0.get(block)?);
                Header { base, tags, slope: slope.cast_signed() }
            }
        })
    }

    /// Number `i` of a block.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "places in sections that lie in memory")]
    fn in_block(&self, header: Header, i: u64, steep: bool) -> Option<u64> {
        let Header { base, tags, slope } = header;
        let width = tags >> 8 & 0xFF;
        let bit = i.wrapping_mul(width);
        // The offset of a residual cannot wrap.
        let byte = ((tags >> 16) * UNIT + bit / 8) as usize;
        let word = self.meta.blocks.as_ref()?.peek::<8>(byte)?;
        let residual = LittleEndian::read_u64(word) >> (bit % 8) & bits::MASKS[width as usize];
        let product = || (slope.wrapping_mul(i.cast_signed()) >> FRACTION).cast_unsigned();
        let rise = if steep { line(slope, i as usize) } else { product() };
        Some(base.wrapping_add(residual).wrapping_add(rise))
    }

    /// Builds the fast path, if the column is eligible and it is worthwhile.
    pub(super) fn build_fast_path(&self) {
        if self.fast_path.get().is_some() {
            return;
        }
        let (base, gcd, is_value) = match self.meta.transform {
            Transform::Affine { base, gcd } => (base, gcd, true),
            _ => (0, 1, false),
        };
        let one = self.meta.block_shift == ONE_BLOCK;
        let found = if one { self.one_block(is_value) } else { self.several_blocks() };
        let Some((count, blocks, first)) = found else { return };
        let base = affine(base, gcd, first);
        self.fast_path.get_or_init(|| Box::new(FastPath { count, blocks, base, gcd, is_value }));
    }

    /// The number of values, the only block, and the number that a residual of 0 has at place 0.
    fn one_block(&self, is_value: bool) -> Option<(u64, Blocks, u64)> {
        let header = self.locate(0).ok()?;
        let payload = self.meta.payload(0, &header).ok()?.start;
        let place = OneBlock { payload, width: header.width.into(), mask: bits::mask(header.width) };
        let plain = is_value && header.slope == 0;
        let blocks = if plain { Blocks::Plain(place) } else { Blocks::One(place, header.slope) };
        Some((self.meta.count, blocks, header.base))
    }

    /// The number of values, and several blocks, if the jump table is in memory, there were enough look-ups, and no other
    /// thread builds the fast path.
    fn several_blocks(&self) -> Option<(u64, Blocks, u64)> {
        self.jump.partly_verified()?;
        let before = self.lookups.load(Ordering::Relaxed);
        let asked = before.saturating_add(1);
        let enough = u64::from(asked) >= self.meta.block_count() / HEADERS_PER_LOOKUP;
        let next = if enough { BUILDING } else { asked };
        // One thread checks the headers. Of look-ups at the same time, one is counted.
        if before == BUILDING
            || self.lookups.compare_exchange(before, next, Ordering::Relaxed, Ordering::Relaxed).is_err()
            || !enough
        {
            return None;
        }
        let (shift, stride) = (self.meta.block_shift, self.meta.stride);
        let verified = || self.jump.baked().and_then(|table| table.slice(0..table.len()).ok());
        // Nothing of a damaged table.
        let table = self.jump.verified().or_else(verified).unwrap_or_default();
        let (mut bytes, mut steep) = (Vec::with_capacity(stride.bytes()), false);
        let mut headers = (0..self.meta.block_count()).zip(table.chunks_exact(stride.bytes()));
        let good = !table.is_empty()
            && headers.all(|(block, header)| {
                let Some(found) = Block::of(header, stride) else { return false };
                bytes.clear();
                found.encode(stride, &mut bytes);
                steep |= found.slope.unsigned_abs() >= 1 << (63 - shift);
                // Bytes are compared because a block without a line must have no slope.
                bytes == header && self.meta.payload(block, &found).is_ok()
            });
        let blocks = Blocks::Several { shift, last: (1 << shift) - 1, stride, steep };
        Some((if good { self.meta.count } else { 0 }, blocks, 0))
    }
}

/// The 64-bit words of a header.
#[inline(always)]
pub(super) fn words<const BYTES: usize, const WORDS: usize>(header: &[u8; BYTES]) -> [u64; WORDS] {
    // A loop, as a closure would not be inlined in functions as large as the look-ups.
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(header.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}
