//! The documents of a sparse block, ascending: two bytes for each.

use crate::order::Order;

/// A document in its block.
#[inline(always)]
pub(super) fn low_of(pair: [u8; 2], order: Order) -> u16 {
    match order {
        Order::Big => u16::from_be_bytes(pair),
        Order::Little => u16::from_le_bytes(pair),
    }
}

/// The place of the first document that is at least `low`.
#[inline(always)]
pub(super) fn lower_bound(lows: &[[u8; 2]], order: Order, low: u16) -> usize {
    lows.partition_point(|pair| low_of(*pair, order) < low)
}

/// As [`lower_bound`], if it is at `from` or after it: O(log of the distance).
#[inline(always)]
pub(super) fn gallop(lows: &[[u8; 2]], order: Order, from: usize, low: u16) -> usize {
    let (mut start, mut step) = (from.min(lows.len()), 1);
    while lows.get(start + step - 1).is_some_and(|pair| low_of(*pair, order) < low) {
        start += step;
        step *= 2;
    }
    start + lower_bound(&lows[start..(start + step).min(lows.len())], order, low)
}
