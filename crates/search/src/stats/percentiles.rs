//! Exact percentiles, by counting.
//!
//! A percentile is the value at a position in sorted order. Each pass divides the range that must contain it into
//! 4,096 parts, counts the values in each, and continues with the part that contains the position. Numbers of 24 bits
//! take two passes, timestamps three or four. Nothing is sorted, and no values are kept.

use docvalues_column::LogicalType;
use docvalues_format::file::kind::{from_u64, to_f64, to_u64};

use crate::engine::{Collector, Interrupt, Request, Slot, Window};
use crate::error::Result;

/// The bits by which a pass narrows a range.
const BITS: u32 = 12;

/// The search for the value at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Search {
    /// The position in sorted order.
    place: u64,
    /// The number of values below the range.
    below: u64,
    /// The start of the range.
    first: u64,
    /// The range spans 2^bits values.
    bits: u32,
}

/// The stored values at `places` in sorted order. All values lie in `range`, and there are more than the greatest
/// place.
pub(super) fn find(request: &Request<'_>, slot: Slot, range: (i64, i64), places: &[u64]) -> Result<Vec<i64>> {
    let (first, last) = (to_u64(range.0), to_u64(range.1));
    let bits = u64::BITS - (last - first).leading_zeros();
    let mut searches: Vec<Search> =
        places.iter().map(|&place| Search { place, below: 0, first, bits }).collect();
    while searches.iter().any(|search| search.bits > 0) {
        let logical = request.columns().get(slot).info().field.logical;
        let counter = request.run(Counter::new(slot, logical, &searches))?;
        searches.iter_mut().filter(|search| search.bits > 0).for_each(|search| counter.narrow(search));
    }
    Ok(searches.iter().map(|search| from_u64(search.first)).collect())
}

/// Counts the values in each part of some disjoint ranges.
struct Counter {
    slot: Slot,
    logical: LogicalType,
    ranges: Vec<Range>,
}

struct Range {
    first: u64,
    bits: u32,
    counts: Vec<u64>,
}

impl Counter {
    fn new(slot: Slot, logical: LogicalType, searches: &[Search]) -> Counter {
        let searches = searches.iter().filter(|search| search.bits > 0);
        let mut ranges: Vec<(u64, u32)> = searches.map(|search| (search.first, search.bits)).collect();
        ranges.sort_unstable();
        ranges.dedup();
        let counts = |bits: u32| vec![0; 1 << bits.min(BITS)];
        let ranges =
            ranges.into_iter().map(|(first, bits)| Range { first, bits, counts: counts(bits) }).collect();
        Counter { slot, logical, ranges }
    }

    #[inline]
    fn count(&mut self, number: i64) {
        if self.logical == LogicalType::F64 && to_f64(number).is_nan() {
            return;
        }
        let rank = to_u64(number);
        // The last range that begins at or below it.
        let after = self.ranges.partition_point(|range| range.first <= rank);
        let Some(range) = after.checked_sub(1).and_then(|at| self.ranges.get_mut(at)) else { return };
        let part = (rank - range.first) >> range.bits.saturating_sub(BITS);
        let part = usize::try_from(part).unwrap_or(usize::MAX);
        if let Some(count) = range.counts.get_mut(part) {
            *count += 1;
        }
    }

    fn narrow(&self, search: &mut Search) {
        let is_its = |range: &&Range| (range.first, range.bits) == (search.first, search.bits);
        let Some(range) = self.ranges.iter().find(is_its) else { return };
        search.bits = search.bits.saturating_sub(BITS);
        for (part, count) in (0_u64..).zip(&range.counts) {
            if search.place < search.below + count {
                search.first += part << search.bits;
                return;
            }
            search.below += count;
        }
    }
}

impl Collector for Counter {
    fn fork(&self) -> Counter {
        let fresh = |range: &Range| Range { counts: vec![0; range.counts.len()], ..*range };
        Counter { slot: self.slot, logical: self.logical, ranges: self.ranges.iter().map(fresh).collect() }
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        window.read_stored(self.slot)?;
        window.stored_cells(self.slot).each_number(|number| self.count(number));
        Ok(())
    }

    fn merge(&mut self, other: Counter, _stop: &Interrupt) -> Result<()> {
        for (to, from) in self.ranges.iter_mut().zip(other.ranges) {
            to.counts.iter_mut().zip(from.counts).for_each(|(to, from)| *to += from);
        }
        Ok(())
    }
}
