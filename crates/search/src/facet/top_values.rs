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
    min_count: u64,
    distinct: u64,
    /// Whether values are offered in ascending order, so that a later one loses a tie.
    ascend: bool,
    first: First,
}

enum First {
    /// The last of the kept values is on top: the smallest count, and among equal counts the greatest value.
    ByCount(BinaryHeap<(Reverse<u64>, Stored)>),
    ByValue(BinaryHeap<(Stored, u64)>),
}

impl TopValues {
    /// `ascend` if [`offer_all`](Self::offer_all) is called with ascending values.
    pub(super) fn new(facet: &Facet, ascend: bool) -> TopValues {
        let first = match facet.order {
            FacetOrder::Count => First::ByCount(BinaryHeap::new()),
            FacetOrder::Value => First::ByValue(BinaryHeap::new()),
        };
        TopValues { top: facet.top, min_count: facet.min_count, distinct: 0, ascend, first }
    }

    /// Offers a value and its count. Each value is offered once.
    #[inline]
    pub(super) fn offer(&mut self, count: u64, key: impl FnOnce() -> Stored) {
        if count < self.min_count {
            return;
        }
        self.distinct += 1;
        match &mut self.first {
            First::ByCount(heap) => match heap.peek() {
                Some((last, _)) if heap.len() >= self.top && count < last.0 => {}
                _ => keep(heap, (Reverse(count), key()), self.top),
            },
            First::ByValue(heap) => keep(heap, (key(), count), self.top),
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
        match &self.first {
            First::ByCount(heap) if heap.len() >= self.top => {
                heap.peek().map_or(u64::MAX, |(last, _)| last.0 + u64::from(self.ascend)).max(self.min_count)
            }
            _ => self.min_count,
        }
    }

    /// Returns the first values and their counts, in order, and the number of values that were offered.
    pub(super) fn finish(self, request: &Request<'_>) -> Result<(Vec<(Stored, u64)>, u64)> {
        let (threads, stop) = (request.threads(), request.stop());
        let values = match self.first {
            First::ByCount(heap) => {
                let mut values = heap.into_vec();
                threads::sort(&mut values, threads, stop)?;
                let (mut found, mut pace) = (Vec::with_capacity(values.len()), stop.pace());
                for (count, key) in values {
                    pace.step()?;
                    found.push((key, count.0));
                }
                found
            }
            First::ByValue(heap) => {
                let mut values = heap.into_vec();
                threads::sort(&mut values, threads, stop)?;
                values
            }
        };
        Ok((values, self.distinct))
    }
}

/// Keeps the `top` least items.
fn keep<T: Ord>(heap: &mut BinaryHeap<T>, one: T, top: usize) {
    if heap.len() < top {
        heap.push(one);
    } else if let Some(mut last) = heap.peek_mut()
        && one < *last
    {
        *last = one;
    }
}
