//! One value, by as few instructions as there are.
//!
//! When look-ups miss the caches, the processor works on as many of them at once as it has buf for their
//! instructions. So what all of them need is found out once, and kept: a [`FastPath`]. A look-up compares its
//! index and the places that it loads from, and makes no error: [`NumericReader::get`] asks again, with care.
//!
//! A column in several blocks has a short way once all its bytes were compared with their checksums and
//! all its headers were found good: a look-up then asks neither what kind of block it meets nor whether
//! the block's residuals lie in the section.

use std::sync::atomic::Ordering;

use byteorder::{ByteOrder, LittleEndian};

use super::block::{Block, FRACTION, LONG_LEN, SHORT_LEN, Stride, UNIT, line};
use super::read::{NumericReader, affine};
use super::{ONE_BLOCK, Transform};
use crate::bits;
use crate::source::SectionBytes;

/// All headers of a column are looked at after one look-up for each so many of them, so that a few look-ups do
/// not pay for it.
const HEADERS_PER_LOOKUP: u64 = 16;

/// Fields that every look-up of a column reads.
#[derive(Debug)]
pub(super) struct FastPath {
    count: u64,
    blocks: Blocks,
    /// What is made of a number: `base + gcd * number`.
    base: i64,
    gcd: u64,
    /// Whether that is the value, and not its place in a table, or a decimal.
    is_value: bool,
}

#[derive(Debug)]
enum Blocks {
    /// One, with its base in the column's; residuals are asked for as they are needed.
    One { payload: usize, width: u64, mask: u64, slope: i64 },
    /// Several, all of them good. Unless one is `steep`, a slope times a place in a block fits an i64.
    Several { shift: u8, stride: Stride, steep: bool },
    /// Several, of which some take care.
    Checked,
}

impl<B: SectionBytes> NumericReader<B> {
    /// Value `index`, if all on the way to it was checked before and is what it should be; [`get`](Self::get)
    /// tells of the others.
    #[inline(always)]
    pub fn get_verified(&self, index: u64) -> Option<i64> {
        match self.fast_path.get() {
            Some(fast_path) if !matches!(fast_path.blocks, Blocks::Checked) => self.get_by(fast_path, index),
            _ => self.get_verified_slow(index),
        }
    }

    /// Value `index`, if there is a short way to it.
    #[inline(always)]
    pub fn get_fast(&self, index: u64) -> Option<i64> {
        self.get_by(self.fast_path.get()?, index)
    }

    #[inline(always)]
    fn get_by(&self, fast_path: &FastPath, index: u64) -> Option<i64> {
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
        // One comparison each: neither a header's place nor a residual's can wrap.
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

    /// [`get_verified`](Self::get_verified) of a column that has no short way.
    #[inline(never)]
    fn get_verified_slow(&self, index: u64) -> Option<i64> {
        if index >= self.meta.count || self.meta.block_shift == ONE_BLOCK {
            return None;
        }
        self.build_fast_path();
        let (block, i) = self.meta.split(index);
        self.value(self.verified_number(&self.verified_header(block)?, i)?).ok()
    }

    /// Finds the short way, if there is one and it is time to.
    pub(super) fn build_fast_path(&self) {
        if self.fast_path.get().is_some() || self.jump.is_ignored() {
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

    /// The only block, and the number of a residual 0 where its line begins.
    fn one_block(&self) -> Option<(Blocks, u64)> {
        let header = self.locate(0).ok()?;
        let payload = self.meta.payload(0, &header).ok()?.start;
        let (width, mask) = (header.width.into(), bits::mask(header.width));
        Some((Blocks::One { payload, width, mask, slope: header.slope }, header.base))
    }

    /// Several blocks, if all bytes were checked and this is asked for often enough.
    fn several_blocks(&self) -> Option<(Blocks, u64)> {
        let table = self.jump.verified()?;
        self.meta.blocks.as_ref()?.verified()?;
        // A count that another thread loses is none that is needed.
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
            // The same bytes: a block without a line has no slope.
            bytes == header && self.meta.payload(block, &found).is_ok()
        });
        Some((if good { Blocks::Several { shift, stride, steep } } else { Blocks::Checked }, 0))
    }
}

/// The words of a header.
#[inline(always)]
fn words<const BYTES: usize, const WORDS: usize>(header: &[u8; BYTES]) -> [u64; WORDS] {
    // A loop: a closure becomes a call in functions as large as those that look up one value.
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(header.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}
