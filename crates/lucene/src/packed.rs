//! Packed integers: numbers of the same number of bits, end to end.
//!
//! ```text
//! big-endian       the first integer begins with the highest bit of the first byte
//! little-endian    it begins with the lowest bit, as in segments of docvalues
//! ```
//!
//! Eight bytes are loaded for each integer. The footer of the file lies after the last one, so the load stays in the file.

use docvalues_format::bits;
use docvalues_format::numeric::gather_packed;
use docvalues_format::prefetch::prefetch;

use crate::error::{ErrorKind, Result};
use crate::file::Body;
use crate::order::Order;

/// Numbers of a batch, which fit in the first-level cache.
pub(crate) const BATCH: usize = 1024;

/// Integers in a group: they take as many bytes as each has bits.
const GROUP: usize = 8;

/// A sequence of packed integers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    /// The first byte in the file.
    pub(crate) start: usize,
    /// Bits of an integer; without any, all are 0.
    pub(crate) width: u8,
}

impl Packed {
    /// The `count` integers from `start` on, which end at `end` or before.
    pub(crate) fn new(body: &Body, start: usize, end: usize, width: u8, count: u64) -> Result<Packed> {
        if width != 0 && !is_width(width) {
            let (what, found) = ("bits of a packed integer", width.into());
            return Err(body.error(start, ErrorKind::OutOfRange { what, found, least: 1, most: 64 }));
        }
        let needed = count.saturating_mul(width.into()).div_ceil(8);
        let left = end.min(body.place.end).saturating_sub(start) as u64;
        match needed <= left {
            true => Ok(Packed { start, width }),
            false => Err(body.error(start, ErrorKind::Truncated { needed, left })),
        }
    }

    /// Integer `index`. `bytes` are those of the file. `None` only for an integer past its end.
    #[inline(always)]
    pub(crate) fn get(self, bytes: &[u8], order: Order, index: u64) -> Option<u64> {
        if self.width == 0 {
            return Some(0);
        }
        let bit = index.checked_mul(self.width.into())?;
        let at = self.start.checked_add(usize::try_from(bit / 8).ok()?)?;
        let word = order.u64(bytes, at)?;
        Some(match order {
            // At most 56 bits begin within a byte, so that all of them are in the eight bytes.
            Order::Little => word >> (bit % 8) & bits::mask(self.width),
            Order::Big => word << (bit % 8) >> (64 - u32::from(self.width)),
        })
    }

    /// Prefetches integer `index`. `bytes` are those of the file.
    #[inline(always)]
    pub(crate) fn prefetch(self, bytes: &[u8], index: u64) {
        let within = usize::try_from(index.wrapping_mul(self.width.into()) / 8).unwrap_or(0);
        prefetch(bytes.as_ptr().wrapping_add(self.start).wrapping_add(within));
    }

    /// Gathers the integers at `indices` into `out`, which is as long, with `base` added to each, modulo 2^64. `None` only for
    /// an integer past their end.
    pub(crate) fn gather_add(
        self,
        bytes: &[u8],
        order: Order,
        indices: &[u32],
        base: i64,
        out: &mut [i64],
    ) -> Option<()> {
        if self.width == 0 {
            out.fill(base);
            return Some(());
        }
        if order == Order::Little {
            let done = gather_packed(bytes.get(self.start..)?, self.width, base, indices, out);
            return (done == indices.len()).then_some(());
        }
        for (index, out) in indices.iter().zip(out) {
            *out = base.wrapping_add(self.get(bytes, order, (*index).into())?.cast_signed());
        }
        Some(())
    }

    /// Unpacks the integers from index `start` on into `out`, with `base` added to each, modulo 2^64.
    pub(crate) fn unpack_add(
        self,
        bytes: &[u8],
        order: Order,
        start: u64,
        base: u64,
        out: &mut [u64],
    ) -> Option<()> {
        if self.width == 0 {
            out.fill(base);
            return Some(());
        }
        // Whole groups before the first integer are skipped, so that the kernels count from a small index.
        let (group, within) = (start / GROUP as u64, usize::try_from(start % GROUP as u64).ok()?);
        let skipped = usize::try_from(group.checked_mul(self.width.into())?).ok()?;
        let bytes = bytes.get(self.start.checked_add(skipped)?..)?;
        match order {
            Order::Little => bits::unpack_add(bytes, self.width, within, base, out),
            Order::Big => {
                unpack_big(bytes, self.width, within, out)?;
                if base != 0 {
                    out.iter_mut().for_each(|value| *value = value.wrapping_add(base));
                }
                Some(())
            }
        }
    }
}

/// Unpacks big-endian integers from index `start` of a group on.
fn unpack_big(bytes: &[u8], width: u8, start: usize, out: &mut [u64]) -> Option<()> {
    let packed = Packed { start: 0, width };
    let before = (start.next_multiple_of(GROUP) - start).min(out.len());
    let (head, rest) = out.split_at_mut(before);
    for (index, value) in (start as u64..).zip(head) {
        *value = packed.get(bytes, Order::Big, index)?;
    }
    if rest.is_empty() {
        return Some(());
    }
    let first = start.div_ceil(GROUP) * usize::from(width);
    let bytes = bytes.get(first..)?;
    let (groups, rest) = rest.as_chunks_mut::<GROUP>();
    unpack_all(width, bytes, groups)?;
    for (index, value) in ((groups.len() * GROUP) as u64..).zip(rest) {
        *value = packed.get(bytes, Order::Big, index)?;
    }
    Some(())
}

/// Declares the widths of integers, and what is compiled for each of them.
macro_rules! widths {
    ($($width:literal)*) => {
        /// Whether Lucene packs integers of this width.
        pub(crate) const fn is_width(width: u8) -> bool {
            matches!(width, $($width)|*)
        }

        /// Unpacks whole groups of big-endian integers.
        fn unpack_all(width: u8, bytes: &[u8], groups: &mut [[u64; GROUP]]) -> Option<()> {
            match width {
                $($width => unpack_groups::<$width>(bytes, groups),)*
                _ => None,
            }
        }
    };
}

widths!(1 2 4 8 12 16 20 24 28 32 40 48 56 64);

/// As [`unpack_all`]. The width is a constant, so that places and shifts are.
fn unpack_groups<const WIDTH: usize>(bytes: &[u8], groups: &mut [[u64; GROUP]]) -> Option<()> {
    for (at, group) in groups.iter_mut().enumerate() {
        // The load of the last integer may reach past those of the group.
        let bytes = bytes.get(at * WIDTH..)?;
        let bytes = bytes.get(..(GROUP - 1) * WIDTH / 8 + 8)?;
        for (i, value) in group.iter_mut().enumerate() {
            let word = Order::Big.u64(bytes, i * WIDTH / 8)?;
            *value = word << (i * WIDTH % 8) >> (64 - WIDTH);
        }
    }
    Some(())
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Encoder, body};

    pub(crate) const WIDTHS: [u8; 14] = [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64];

    /// The narrowest width for numbers up to `max`; 0 for none but 0.
    pub(crate) fn width_of(max: u64) -> u8 {
        WIDTHS.into_iter().find(|width| bits::mask(*width) >= max).filter(|_| max > 0).unwrap_or(0)
    }

    /// Packs integers bit by bit.
    pub(crate) fn pack(order: Order, width: u8, values: &[u64]) -> Vec<u8> {
        let width = usize::from(width);
        let mut out = vec![0; (values.len() * width).div_ceil(8)];
        for (at, value) in values.iter().enumerate() {
            for i in 0..width {
                let place = at * width + i;
                match order {
                    Order::Little => out[place / 8] |= u8::from(value >> i & 1 == 1) << (place % 8),
                    Order::Big => {
                        out[place / 8] |= u8::from(value >> (width - 1 - i) & 1 == 1) << (7 - place % 8);
                    }
                }
            }
        }
        out
    }

    #[test]
    fn bytes_of_lucene() {
        assert_eq!(pack(Order::Big, 4, &[1, 2, 3]), [0x12, 0x30]);
        assert_eq!(pack(Order::Little, 4, &[1, 2, 3]), [0x21, 0x03]);
        assert_eq!(pack(Order::Big, 12, &[0xABC, 0xDEF]), [0xAB, 0xCD, 0xEF]);
        assert_eq!(pack(Order::Little, 12, &[0xABC, 0xDEF]), [0xBC, 0xFA, 0xDE]);
    }

    proptest! {
        #[test]
        fn integers_are_unpacked_as_they_were_packed(
            width in prop::sample::select(WIDTHS.to_vec()),
            numbers in prop::collection::vec(any::<u64>(), 1..70),
            start in 0..70_usize,
            base in prop_oneof![Just(0), any::<u64>()],
            big: bool,
        ) {
            let order = if big { Order::Big } else { Order::Little };
            let values: Vec<u64> = numbers.iter().map(|number| number & bits::mask(width)).collect();
            let mut out = Encoder::new(order);
            out.bytes(b"before").bytes(&pack(order, width, &values));
            let body = body(out);
            let count = values.len() as u64;
            let packed = Packed::new(&body, body.place.start + 6, body.place.end, width, count).unwrap();
            for (index, value) in (0..).zip(&values) {
                prop_assert_eq!(packed.get(body.bytes(), order, index), Some(*value));
            }
            let start = start % values.len();
            let mut unpacked = vec![9; values.len() - start];
            packed.unpack_add(body.bytes(), order, start as u64, base, &mut unpacked).unwrap();
            let expected = values[start..].iter().map(|value| value.wrapping_add(base));
            prop_assert_eq!(unpacked, expected.collect::<Vec<_>>());
            let [start, end] = [start, values.len()].map(|at| u32::try_from(at).unwrap());
            let indices: Vec<u32> = (start..end).chain([0, start]).rev().collect();
            let mut gathered = vec![9; indices.len()];
            packed.gather_add(body.bytes(), order, &indices, base.cast_signed(), &mut gathered).unwrap();
            let expected = indices.iter().map(|index| values[*index as usize].wrapping_add(base).cast_signed());
            prop_assert_eq!(gathered, expected.collect::<Vec<_>>());
            prop_assert_eq!(packed.gather_add(body.bytes(), order, &[0, u32::MAX], 0, &mut [0; 2]), None);
            prop_assert!(Packed::new(&body, body.place.start + 6, body.place.end, width, count + 8).is_err());
            prop_assert_eq!(packed.get(body.bytes(), order, u64::MAX / 2), None);
        }
    }

    #[test]
    fn other_widths_are_refused() {
        let body = body(Encoder::new(Order::Big));
        for width in (0..=u8::MAX).filter(|width| !WIDTHS.contains(width)) {
            assert_eq!(Packed::new(&body, body.place.start, body.place.end, width, 0).is_ok(), width == 0);
        }
        let none = Packed::new(&body, 0, 0, 0, u64::MAX).unwrap();
        assert_eq!(none.get(&[], Order::Big, 7), Some(0));
        assert_eq!([0, 1, 2, 255, 256, u64::MAX].map(width_of), [0, 1, 2, 8, 12, 64]);
    }
}
