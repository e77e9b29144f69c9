//! The documents of a sparse block, ascending: two bytes for each.

use crate::order::Order;

/// Documents that are compared without a branch, which CPUs could not predict: those of ascending lists are mostly near.
const NEAR: usize = 8;

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
    if let Some(near) = lows[start..].first_chunk::<NEAR>() {
        let near = match order {
            Order::Big => near.map(u16::from_be_bytes),
            Order::Little => near.map(u16::from_le_bytes),
        };
        let below = usize::from(near.iter().map(|next| u16::from(*next < low)).sum::<u16>());
        start += below;
        if below < NEAR {
            return start;
        }
    }
    while lows.get(start + step - 1).is_some_and(|pair| low_of(*pair, order) < low) {
        start += step;
        step *= 2;
    }
    start + lower_bound(&lows[start..(start + step).min(lows.len())], order, low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gallops_end_at_the_lower_bound() {
        for order in [Order::Big, Order::Little] {
            let pair = |low: u16| if order == Order::Big { low.to_be_bytes() } else { low.to_le_bytes() };
            let lows: Vec<[u8; 2]> = (0..40).map(|at| pair(300 * at)).collect();
            for low in (0..13_000).step_by(50) {
                let expected = lower_bound(&lows, order, low);
                for from in 0..=expected {
                    assert_eq!(gallop(&lows, order, from, low), expected, "{low} from {from}");
                }
            }
            assert_eq!(gallop(&lows, order, 99, 7), lows.len());
        }
    }
}
