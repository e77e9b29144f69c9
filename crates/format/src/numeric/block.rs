//! The header of a block of numbers, which is also its jump entry.
//!
//! # Layout
//!
//! A block is a header and a payload: the residuals `x[i]`, packed at `width` bits as in [`crate::bits`]. The length
//! of the header is the column's [`Stride`]. The baked jump table has a copy of every header, so a reader needs one
//! load from the table to find any value of the block.
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 8 | `base` | u64: what is added to every residual |
//! | 8 | 1 | `encoding` | an [`Encoding`] |
//! | 9 | 1 | `width` | bits of a residual: 0 to 56, or 64 |
//! | 10 | 6 | `payload` | u48: where the residuals begin in the section, in units of 8 bytes |
//! | 16 | 8 | `slope` | i64 with 16 fractional bits; only with a stride of 32, zero unless `linear` |
//! | 24 | 8 | `zero` | zero; only with a stride of 32 |
//!
//! Number `i` of the block, modulo 2^64:
//!
//! | encoding | tag | `q[i]` |
//! | --- | ---: | --- |
//! | `constant` | 0 | `base` |
//! | `packed` | 1 | `base + x[i]` |
//! | `linear` | 2 | `base + floor(slope * i / 2^16) + x[i]`, the product exact |
//!
//! # Drawing
//!
//! The values 20, 21, 19, 25, 20 in one block: `q` is the distance from 19, at most 6, so three bits each.
//!
//! ```text
//! base                     encoding  width  payload            residuals
//! 00 00 00 00 00 00 00 00  01        03     02 00 00 00 00 00  11 1c 00 00 00 00 00 00
//!                          packed    3 bits 2 * 8 = byte 16    1 2 0 6 1, lowest bits first, padded to 8 bytes
//! ```
//!
//! The values `1000 + 10 i + (0 or 1)` in one linear block: the line takes all but one bit of each number.
//!
//! ```text
//! base                     encoding  width  payload            slope                    zero    residuals
//! 00 00 00 00 00 00 00 00  02        01     04 00 00 00 00 00  00 00 0a 00 00 00 00 00  8 bytes b6 6d db ...
//!                          linear    1 bit  4 * 8 = byte 32    10 * 2^16                        0 1 1 0 1 1 0 1 ...
//! ```
//!
//! # Why this layout
//!
//! A lookup knows the block from the index (`index >> block_shift`), finds the header at `block * stride` of the jump
//! table, and the residual at a bit offset that follows from `width`: two loads, whatever the position. Frame of
//! reference with a block-wise width is the layout of Lucene's `Lucene90DocValuesConsumer`, whose blocks have 16,384
//! values; here the writer chooses the block size of each column. The jump table is that of LUCENE-8585. Lines are
//! those of tantivy's `blockwise_linear` codec: they suit timestamps and offsets, which rise evenly.
//!
//! # Checks
//!
//! [`Block::parse`](Entry::parse) checks the tag and the width. Locating a block checks that its payload lies inside
//! the section.

use byteorder::{ByteOrder, LittleEndian};

use crate::bits::{self, multiversion};
use crate::cursor::Put;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::jump::Entry;
use crate::named::named;

/// Bytes of a header without a slope.
pub(super) const SHORT_LEN: usize = 16;
/// Bytes of a header with a slope.
pub(super) const LONG_LEN: usize = 32;
/// Fractional bits of a slope.
pub(super) const FRACTION: u32 = 16;
/// Payload offsets are counted in units of this many bytes.
pub(super) const UNIT: u64 = 8;

/// The length of each header and jump entry of a column.
///
/// A jump entry never crosses a cache line, as jump tables begin at one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Stride {
    /// 16 bytes: no block of the column is linear.
    Short = 16,
    /// 32 bytes: some block is linear, so every header has a slope.
    Long = 32,
}

const _: () = assert!(Stride::Short as usize == SHORT_LEN && Stride::Long as usize == LONG_LEN);

impl Stride {
    /// Both, cheapest first.
    pub const ALL: [Stride; 2] = [Stride::Short, Stride::Long];

    /// The number of bytes.
    #[inline]
    pub const fn bytes(self) -> usize {
        self as usize
    }
}

named! {
    /// The encoding of a block's numbers as residuals. The discriminants are the tags on disk.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum Encoding {
        /// One number for the whole block; no residuals.
        Constant = 0 => "constant",
        /// Frame of reference: residuals from the smallest number.
        Packed = 1 => "packed",
        /// Residuals from a line.
        Linear = 2 => "linear",
    }
}

/// The parsed header of a block: all that is needed to decode its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub(crate) base: u64,
    pub(crate) slope: i64,
    /// The offset of the residuals in the section, in bytes.
    pub(crate) payload: u64,
    pub(crate) encoding: Encoding,
    pub(crate) width: u8,
}

/// `floor(slope * i / 2^16)`, modulo 2^64.
///
/// A block has at most 2^40 values, so the product with the fraction, which determines the rounding, is exact. The
/// product with the integer part may wrap.
// Always inlined: it is called in loops that are compiled for one CPU, and in the fast path of single look-ups.
#[inline(always)]
pub(super) fn line(slope: i64, i: usize) -> u64 {
    let (i, whole, fraction) = (i as u64, slope >> FRACTION, slope.cast_unsigned() & ((1 << FRACTION) - 1));
    whole.cast_unsigned().wrapping_mul(i).wrapping_add(fraction.wrapping_mul(i) >> FRACTION)
}

multiversion! {
    /// Adds `floor(slope * i / 2^16)` to every number. The first number has place `first` on the line.
    ///
    /// The product is exact: see [`line()`]. A running sum replaces the product if it cannot overflow.
    pub(super) fn add_line(slope: i64, first: usize, numbers: &mut [u64]) {
        // 2^20 such steps stay below 2^63.
        const STEEP: u64 = 1 << 42;
        let rise = |i: usize| line(slope, i);
        if slope.unsigned_abs() >= STEEP || numbers.len() > 1 << 20 {
            for (i, x) in numbers.iter_mut().enumerate() {
                *x = x.wrapping_add(rise(first + i));
            }
            return;
        }
        // Adding 2^63 keeps sums non-negative, so an unsigned shift will do, which all CPUs have for vectors.
        const LIFT: u64 = 1 << 63;
        let fraction = slope.cast_unsigned().wrapping_mul(first as u64) & 0xFFFF;
        let (mut sum, base) = (LIFT + fraction, rise(first).wrapping_sub(LIFT >> FRACTION));
        for x in numbers {
            *x = x.wrapping_add(base).wrapping_add(sum >> FRACTION);
            sum = sum.wrapping_add(slope.cast_unsigned());
        }
    }
}

/// The slope of the line from a block's first number to its last, `steps` later; `None` if it does not fit its field.
pub(super) fn slope(first: u64, last: u64, steps: usize) -> Option<i64> {
    let rise = (i128::from(last) - i128::from(first)) << FRACTION;
    i64::try_from(rise.checked_div(i128::try_from(steps).ok()?)?).ok()
}

impl Block {
    /// Bytes of the residuals of a block with this many `values`.
    #[inline]
    pub(super) fn payload_len(&self, values: usize) -> u64 {
        // At most 2^40 times 64, so the saturating arithmetic of `packed_len` is not needed.
        (values as u64 * u64::from(self.width)).div_ceil(64) * 8
    }

    /// The exact rise of the line at place `i`; 0 if there is no line.
    #[inline]
    pub(super) fn rise(&self, i: usize) -> i128 {
        // Cannot overflow: the slope and `i` have at most 64 bits each.
        (i128::from(self.slope) * i as i128) >> FRACTION
    }

    /// The header in `bytes`, if it is legal.
    ///
    /// It does not branch on the encoding, which is unpredictable for random look-ups.
    #[inline(always)]
    pub(crate) fn of(bytes: &[u8], stride: Stride) -> Option<Block> {
        let (head, rest) = bytes.split_first_chunk::<SHORT_LEN>()?;
        let slope = match stride {
            Stride::Short => 0,
            Stride::Long => LittleEndian::read_i64(rest.first_chunk::<8>()?),
        };
        let (base, tags) = (LittleEndian::read_u64(&head[..8]), LittleEndian::read_u64(&head[8..]));
        let (encoding, width) = kind(tags, stride == Stride::Long)?;
        let slope = slope & -i64::from(encoding == Encoding::Linear);
        Some(Block { base, slope, payload: (tags >> 16) * UNIT, encoding, width })
    }

    /// Appends the header.
    pub(super) fn encode(&self, stride: Stride, out: &mut Vec<u8>) {
        let tags = u64::from(self.encoding as u8) | u64::from(self.width) << 8;
        out.put_u64(self.base);
        out.put_u64(tags | (self.payload / UNIT) << 16);
        if stride == Stride::Long {
            out.put_i64(self.slope);
            out.put_u64(0);
        }
    }
}

/// The encoding and the width in `tags`, if they are legal; a line needs a `long` header.
#[inline(always)]
fn kind(tags: u64, long: bool) -> Option<(Encoding, u8)> {
    let [tag, width, ..] = tags.to_le_bytes();
    let encoding = if tag == Encoding::Linear as u8 { Encoding::Linear } else { Encoding::Packed };
    // The common case: both fields are at least 1, and one comparison each checks the upper bounds.
    let most = if long { Encoding::Linear } else { Encoding::Packed };
    if tag.wrapping_sub(1) < most as u8 && width.wrapping_sub(1) < bits::MAX_SPLIT_WIDTH {
        return Some((encoding, width));
    }
    match (tag, width) {
        (0, 0) => Some((Encoding::Constant, 0)),
        (1, 64) => Some((Encoding::Packed, 64)),
        (2, 0 | 64) if long => Some((Encoding::Linear, width)),
        _ => None,
    }
}

impl Entry for Block {
    #[inline]
    fn parse(place: Place, at: usize, bytes: &[u8]) -> Result<Block> {
        let stride = if bytes.len() < LONG_LEN { Stride::Short } else { Stride::Long };
        Block::of(bytes, stride).ok_or_else(|| illegal(place, at, bytes))
    }
}

#[cold]
fn illegal(place: Place, at: usize, bytes: &[u8]) -> Error {
    let Some(&tag) = bytes.get(8).filter(|_| bytes.len() >= SHORT_LEN) else {
        return Error::truncated(place, at, SHORT_LEN, bytes.len());
    };
    if Encoding::ALL.iter().all(|encoding| *encoding as u8 != tag) {
        let kind = ErrorKind::UnknownTag { what: "block encoding", tag };
        return Error::at(place, at.saturating_add(8), kind);
    }
    let what = "the encoding of a block does not allow this width";
    Error::at(place, at.saturating_add(9), ErrorKind::Broken(what))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_line_is_added_as_one_by_one(
            slope in prop_oneof![any::<i64>(), -(1_i64 << 30)..1 << 30, (1_i64 << 42) - 2..(1 << 42) + 2],
            // Fewer than 2^40, or than there are addresses for.
            first in prop_oneof![0_usize..1 << 14, 0..usize::MAX >> 24],
            numbers in prop::collection::vec(any::<u64>(), 0..200),
        ) {
            let mut lined = numbers.clone();
            add_line(slope, first, &mut lined);
            for (i, (got, x)) in lined.iter().zip(&numbers).enumerate() {
                let rise = (i128::from(slope) * (first + i) as i128) >> 16;
                let expected = (i128::from(*x) + rise).rem_euclid(1 << 64);
                prop_assert_eq!(i128::from(*got), expected, "number {}", i);
            }
        }
    }
}
