//! Top-k over the values of a facet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use docvalues_format::bits;

use super::{Facet, FacetOrder};
use crate::engine::{Request, Stored, threads};
use crate::error::Result;

/// The first `top` values in the order of a [`Facet`]. O(log top) for a value that is kept, O(1) for any other.
pub(super) struct TopValues {
    top: usize,
    by_count: bool,
    /// The least count of a value that is counted.
    pub(super) min_count: u64,
    distinct: u64,
    /// Whether values are offered in ascending order, so that a later one loses a tie.
    ascend: bool,
    /// The last of the kept values is on top.
    heap: BinaryHeap<Kept>,
}

/// The height of a value in the order (its count, or 0 in the order of values), the value, and its count.
type Kept = (Reverse<u64>, Stored, u64);

impl TopValues {
    /// `ascend` if [`offer_all`](Self::offer_all) is called with ascending values.
    pub(super) fn new(facet: &Facet, min_count: u64, ascend: bool) -> TopValues {
        let (by_count, heap) = (facet.order == FacetOrder::Count, BinaryHeap::new());
        TopValues { top: facet.top, by_count, min_count, distinct: 0, ascend, heap }
    }

    /// Offers a value and its count. Each value is offered once.
    #[inline]
    pub(super) fn offer(&mut self, count: u64, key: impl FnOnce() -> Stored) {
        if count < self.min_count {
            return;
        }
        self.distinct += 1;
        let height = if self.by_count { count } else { 0 };
        match self.heap.peek() {
            Some((last, ..)) if self.heap.len() >= self.top && height < last.0 => {}
            _ => self.keep((Reverse(height), key(), count)),
        }
    }

    /// Keeps the `top` least items.
    fn keep(&mut self, one: Kept) {
        if self.heap.len() < self.top {
            self.heap.push(one);
        } else if let Some(mut last) = self.heap.peek_mut()
            && one < *last
        {
            *last = one;
        }
    }

    /// Offers counters; `key` returns the value at a position.
    ///
    /// Most counts are too small. [`bits::skip_below`] skips runs of them at once, and counts those that are at least
    /// `min_count`.
    pub(super) fn offer_all(&mut self, counts: &[u32], key: impl Fn(usize) -> Stored) {
        const SOME: usize = 64;
        let mut at = 0;
        while at < counts.len() {
            let [bar, min_count] = [self.bar(), self.min_count].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
            let (passed, distinct) = bits::skip_below(&counts[at..], bar, min_count);
            self.distinct += distinct;
            at += passed;
            for (at, &count) in counts.iter().enumerate().skip(at).take(SOME) {
                self.offer(count.into(), || key(at));
            }
            at += SOME;
        }
    }

    /// The least count that is competitive for a value greater than all before, or for any value.
    fn bar(&self) -> u64 {
        if self.heap.len() < self.top {
            return self.min_count;
        }
        self.heap.peek().map_or(u64::MAX, |(last, ..)| last.0 + u64::from(self.ascend)).max(self.min_count)
    }

    /// Returns the first values and their counts, in order, and the number of values that were offered.
    pub(super) fn finish(
        self,
        request: &Request<'_>,
    ) -> Result<(impl ExactSizeIterator<Item = (Stored, u64)>, u64)> {
        let mut values = self.heap.into_vec();
        threads::sort(&mut values, request.threads(), request.stop())?;
        Ok((values.into_iter().map(|(_, value, count)| (value, count)), self.distinct))
    }
}
