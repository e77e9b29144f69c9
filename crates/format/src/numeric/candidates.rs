//! Which documents may have a value in a range, as zones and stretches tell: no value is looked at.

use std::ops::{ControlFlow, Range, RangeInclusive};

use super::NumericReader;
use super::counts::{FilterCounts, Share};
use super::filter::{begun, fill};
use super::stretch;
use super::zone::{self, Level, ZONE};
use crate::error::Result;
use crate::source::SectionBytes;

impl<B: SectionBytes> NumericReader<B> {
    /// Shows `each` the parts of `positions`, ascending, of which the zones may hold some of `values`, until it breaks
    /// off; all others do not. What zones were looked at is added to `counts`.
    ///
    /// O(zones): no block is looked at.
    ///
    /// # Errors
    ///
    /// When there are not so many values, or zones cannot be read.
    pub fn candidates(
        &self,
        positions: Range<u64>,
        values: &RangeInclusive<i64>,
        counts: &mut FilterCounts,
        mut each: impl FnMut(Range<u64>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.in_range(&positions)?;
        let is_outside =
            |all: RangeInclusive<i64>| values.is_empty() || Share::of(&all, values) == Share::None;
        if positions.is_empty() {
            return Ok(());
        }
        if is_outside(self.meta.min..=self.meta.max) {
            counts.directory += positions.end - positions.start;
            return Ok(());
        }
        let Some(zones) = &self.meta.zones else {
            let _ = each(positions);
            return Ok(());
        };
        // The candidates that come last, as far as they are known to go.
        let (mut at, mut found) = (positions.start, positions.start..positions.start);
        while at < positions.end {
            let upper = at / Level::Upper.values();
            let end = positions.end.min((upper + 1) * Level::Upper.values());
            if is_outside(zone::read(&self.meta, zones, Level::Upper, upper)?) {
                counts.zones.note(Share::None, begun(&(at..end), ZONE));
                at = end;
                continue;
            }
            for all in zone::read_all(&self.meta, zones, Level::Lower, at / ZONE..end.div_ceil(ZONE))? {
                let here = at..end.min((at / ZONE + 1) * ZONE);
                at = here.end;
                let share = if is_outside(all) { Share::None } else { Share::Some };
                counts.zones.note(share, begun(&here, ZONE));
                if share == Share::None {
                    continue;
                }
                if found.end < here.start {
                    if !found.is_empty() && each(found).is_break() {
                        return Ok(());
                    }
                    found = here.start..here.start;
                }
                found.end = here.end;
            }
        }
        if !found.is_empty() {
            let _ = each(found);
        }
        Ok(())
    }

    /// Sets the bit of each stretch of `positions` that may hold some of `values`, as its zone tells, and, if `finely`, its own
    /// entry; all others do not. Bit *i* is of the [`STRETCH`](stretch::STRETCH) values from `positions.start + 512 * i` on.
    /// What zones and stretches were looked at is added to `counts`. Bits of the zone in which `positions` end may be set behind these.
    ///
    /// O(stretches): no block is looked at.
    ///
    /// # Errors
    ///
    /// When there are not so many values, or zones cannot be read.
    ///
    /// # Panics
    ///
    /// If `positions` do not begin with a zone, or there are too few bits.
    pub fn open_stretches(
        &self,
        positions: Range<u64>,
        values: &RangeInclusive<i64>,
        finely: bool,
        counts: &mut FilterCounts,
        bits: &mut [u64],
    ) -> Result<()> {
        assert!(positions.start.is_multiple_of(ZONE), "stretches of whole zones");
        self.in_range(&positions)?;
        if positions.is_empty() {
            return Ok(());
        }
        let is_outside = |all: &RangeInclusive<i64>| Share::of(all, values) == Share::None;
        if values.is_empty() || is_outside(&(self.meta.min..=self.meta.max)) {
            counts.directory += positions.end - positions.start;
            return Ok(());
        }
        let Some(zones) = &self.meta.zones else {
            fill(bits, 0..(positions.end - positions.start).div_ceil(stretch::STRETCH));
            return Ok(());
        };
        let mut at = positions.start;
        while at < positions.end {
            let upper = at / Level::Upper.values();
            let part = at..positions.end.min((upper + 1) * Level::Upper.values());
            at = part.end;
            let lower = part.start / ZONE..part.end.div_ceil(ZONE);
            if is_outside(&zone::read(&self.meta, zones, Level::Upper, upper)?) {
                counts.zones.note(Share::None, lower.end - lower.start);
                continue;
            }
            let stretches = self.meta.stretches.as_ref().filter(|_| finely);
            let stretches =
                stretches.map(|all| stretch::read_zones(&self.meta, all, lower.clone())).transpose()?;
            let mut stretches = stretches.map(|all| all.chunks(stretch::PER_ZONE));
            let first = lower.start - positions.start / ZONE;
            for (zone, all) in (first..).zip(zone::read_all(&self.meta, zones, Level::Lower, lower)?) {
                let stretches = stretches.as_mut().and_then(Iterator::next);
                let share = if is_outside(&all) { Share::None } else { Share::Some };
                counts.zones.note(share, 1);
                if share == Share::Some {
                    let open = stretches.map_or(u8::MAX, |codes| open_of_zone(&all, codes, values, counts));
                    // There are as many bits, and no more than memory has.
                    let word = usize::try_from(zone / 8).unwrap_or(usize::MAX);
                    bits[word] |= u64::from(open) << (zone % 8 * stretch::PER_ZONE as u64);
                }
            }
        }
        Ok(())
    }
}

/// Which of the stretches of a zone may hold some of `values`, as it may: a bit for each.
fn open_of_zone(
    zone: &RangeInclusive<i64>,
    stretches: &[stretch::Codes],
    values: &RangeInclusive<i64>,
    counts: &mut FilterCounts,
) -> u8 {
    let open = stretch::within(stretches, stretch::bounds(zone, values));
    let count = open.count_ones().into();
    counts.stretches.note(Share::Some, count);
    counts.stretches.note(Share::None, stretches.len() as u64 - count);
    open
}
