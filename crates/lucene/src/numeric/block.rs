//! A block of numbers: packed integers, and the line on which the numbers lie.
//!
//! ```text
//! number i    min + gcd * packed i, modulo 2^64
//! ```

use std::ops::RangeInclusive;

use docvalues_column::{Bounds, TermOrd};
use docvalues_format::bits::{in_range_packed, mask, multiples, unpack_ords, unsigned};
use docvalues_format::numeric::gather_packed_ords;

use crate::file::Body;
use crate::order::Order;
use crate::packed::Packed;

/// A block of numbers; also all of a column that has no blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) min: i64,
    pub(super) gcd: i64,
    pub(super) packed: Packed,
}

impl Block {
    /// The same number at every index.
    pub(super) fn constant(number: i64, body: &Body) -> Block {
        Block { min: number, gcd: 1, packed: Packed { start: body.place.start, width: 0 } }
    }

    /// Number `index`. `bytes` are those of the file. `None` only for a number past its end.
    #[inline(always)]
    pub(super) fn get(&self, bytes: &[u8], order: Order, index: u64) -> Option<i64> {
        let packed = self.packed.get(bytes, order, index)?;
        Some(self.min.wrapping_add(self.gcd.wrapping_mul(packed.cast_signed())))
    }

    /// The numbers from index `start` on, into `out`.
    pub(super) fn decode(self, body: &Body, start: u64, out: &mut [i64]) -> Option<()> {
        let (bytes, order, out) = (body.bytes(), body.order, unsigned(out));
        let (min, gcd) = (self.min.cast_unsigned(), self.gcd.cast_unsigned());
        if gcd == 1 {
            return self.packed.unpack_add(bytes, order, start, min, out);
        }
        self.packed.unpack_add(bytes, order, start, 0, out)?;
        multiples(min, gcd, out);
        Some(())
    }

    /// The numbers at `indices`, into `out`, which is as long. `None` only for a number past the end of the file.
    pub(super) fn gather(self, body: &Body, indices: &[u32], out: &mut [i64]) -> Option<()> {
        let (bytes, order) = (body.bytes(), body.order);
        if self.gcd == 1 {
            return self.packed.gather_add(bytes, order, indices, self.min, out);
        }
        self.packed.gather_add(bytes, order, indices, 0, out)?;
        multiples(self.min.cast_unsigned(), self.gcd.cast_unsigned(), unsigned(out));
        Some(())
    }

    /// The first bytes of little-endian numbers, and the number of an integer of 0, if all numbers are ords.
    fn ords(self, body: &Body) -> Option<(&[u8], u32)> {
        let first = u32::try_from(self.min).ok()?;
        first.checked_add(u32::try_from(mask(self.packed.width)).ok()?)?;
        let bytes = body.bytes().get(self.packed.start..)?;
        (body.order == Order::Little && self.gcd == 1).then_some((bytes, first))
    }

    /// The numbers from index `start` on as ords, as many of the first as a kernel can. Returns how many.
    pub(super) fn decode_ords(self, body: &Body, start: u64, out: &mut [TermOrd]) -> Option<usize> {
        let (bytes, first) = self.ords(body)?;
        Some(unpack_ords(bytes, self.packed.width, usize::try_from(start).ok()?, first, out))
    }

    /// As [`gather`](Self::gather), of ords: as many of the first as a kernel can, and below `count`. Returns how many.
    pub(super) fn gather_ords(
        self,
        body: &Body,
        count: u64,
        indices: &[u32],
        out: &mut [TermOrd],
    ) -> Option<usize> {
        let (bytes, first) = self.ords(body)?;
        Some(gather_packed_ords(bytes, (self.packed.width, count), first, indices, out))
    }

    /// Sets bit *i* of `found` if number `start + i` is in `wanted`. Compares as many whole words of 64 numbers as a kernel can,
    /// without unpacking them, and returns how many numbers.
    pub(super) fn compare(
        self,
        body: &Body,
        start: u64,
        wanted: &RangeInclusive<i64>,
        found: &mut [u64],
    ) -> Option<usize> {
        let (Bounds::Exact(all) | Bounds::Within(all)) = self.bounds() else { return None };
        if body.order == Order::Big || self.gcd <= 0 {
            return None;
        }
        // Sums do not wrap, so a range of numbers is one of integers.
        let integer = |number: i64| i128::from(number) - i128::from(self.min);
        let low = integer(*wanted.start().max(all.start()));
        let (high, gcd) = (integer(*wanted.end().min(all.end())), i128::from(self.gcd));
        let first = (low + gcd - 1) / gcd;
        if high < first * gcd {
            return Some(64 * found.len());
        }
        let (low, span) = (u64::try_from(first).ok()?, u64::try_from(high / gcd - first).ok()?);
        let bytes = body.bytes().get(self.packed.start..)?;
        Some(in_range_packed(bytes, self.packed.width, usize::try_from(start).ok()?, low, span, found))
    }

    /// Bounds of the numbers, by the width of the integers; unknown if sums wrap.
    pub(super) fn bounds(self) -> Bounds {
        let rise = i128::from(self.gcd).saturating_mul(mask(self.packed.width).into());
        match i64::try_from(rise.saturating_add(self.min.into())) {
            Ok(max) if self.packed.width == 0 => Bounds::Exact(self.min..=max),
            Ok(max) if self.min <= max => Bounds::Within(self.min..=max),
            _ => Bounds::Unknown,
        }
    }
}
