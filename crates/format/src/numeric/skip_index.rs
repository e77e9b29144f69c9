//! The skip index: zones and fine zones that may hold values of a range, found without reading values.

use std::ops::{Range, RangeInclusive};

use super::NumericReader;
use super::filter::fill;
use super::fine_zone;
use super::pruning_stats::{Pruning, Share};
use super::zone::{self, Level, ZONE};
use crate::error::Result;
use crate::source::SectionBytes;

/// Values in a zone of each level.
const LEVELS: [u32; 2] = [1 << 12, 1 << 9];

const _: () = assert!(LEVELS[0] as u64 == ZONE && LEVELS[1] as u64 == fine_zone::FINE_ZONE);

impl<B: SectionBytes> NumericReader<B> {
    /// Values in a zone of each level of the skip index, the coarse level first: 4,096 and 512, if the file has both.
    pub fn levels(&self) -> &'static [u32] {
        match (&self.meta.zones, &self.meta.fine_zones) {
            (None, _) => &[],
            (Some(_), None) => &LEVELS[..1],
            (Some(_), Some(_)) => &LEVELS,
        }
    }

    /// Calls `each` with the bounds of every zone of `positions`. Bounds of fine zones are rounded outwards.
    ///
    /// # Errors
    ///
    /// When `positions` exceeds the number of values, or zones cannot be read.
    ///
    /// # Panics
    ///
    /// If there is no such level, or `positions` do not begin with a zone of the coarse one.
    pub fn zones(
        &self,
        level: usize,
        positions: Range<u64>,
        each: impl FnMut(RangeInclusive<i64>),
    ) -> Result<()> {
        let size = u64::from(self.levels()[level]);
        assert!(positions.start.is_multiple_of(ZONE), "`positions` must begin with a zone");
        self.in_range(&positions)?;
        let Some(zones) = self.meta.zones.as_ref().filter(|_| !positions.is_empty()) else { return Ok(()) };
        let coarse = positions.start / ZONE..positions.end.div_ceil(ZONE);
        // There are no more zones than memory has.
        let wanted = usize::try_from((positions.end - positions.start).div_ceil(size)).unwrap_or(usize::MAX);
        let all = zone::read_all(&self.meta, zones, Level::Lower, coarse.clone())?;
        if level == 0 {
            all.take(wanted).for_each(each);
            return Ok(());
        }
        let fine = all.zip(fine_zone::read_zones(&self.meta, coarse)?.chunks(fine_zone::PER_ZONE));
        fine.flat_map(|(zone, codes)| codes.iter().map(move |codes| fine_zone::values(&zone, *codes)))
            .take(wanted)
            .for_each(each);
        Ok(())
    }

    /// Sets bit *i* if zone *i* of `positions` may hold some of `values`. Adds the decisions to `pruned`.
    ///
    /// O(zones): reads no block.
    ///
    /// # Errors
    ///
    /// When `positions` exceeds the number of values, or zones cannot be read.
    ///
    /// # Panics
    ///
    /// If there is no such level, `positions` do not begin with a zone of the coarse level, or there are too few bits.
    pub fn may_hold(
        &self,
        level: usize,
        positions: Range<u64>,
        values: &RangeInclusive<i64>,
        pruned: &mut Pruning,
        bits: &mut [u64],
    ) -> Result<()> {
        let size = u64::from(self.levels()[level]);
        assert!(positions.start.is_multiple_of(ZONE), "`positions` must begin with a zone");
        self.in_range(&positions)?;
        if positions.is_empty() {
            return Ok(());
        }
        let is_outside = |all: &RangeInclusive<i64>| Share::of(all, values) == Share::None;
        if values.is_empty() || is_outside(&(self.meta.min..=self.meta.max)) {
            pruned.directory += positions.end - positions.start;
            return Ok(());
        }
        let count = (positions.end - positions.start).div_ceil(size);
        let Some(zones) = &self.meta.zones else {
            fill(bits, 0..count);
            return Ok(());
        };
        for (upper, part) in zone::upper_zones(positions.clone()) {
            let lower = part.start / ZONE..part.end.div_ceil(ZONE);
            if is_outside(&zone::read(&self.meta, zones, Level::Upper, upper)?) {
                pruned.zones.note(Share::None, lower.end - lower.start);
                continue;
            }
            let fine_zones = if level > 0 { fine_zone::read_zones(&self.meta, lower.clone())? } else { &[] };
            // The last zone may have more fine zones than `positions` covers.
            let here = (part.end - lower.start * ZONE).div_ceil(fine_zone::FINE_ZONE);
            let here = usize::try_from(here).unwrap_or(usize::MAX);
            let mut fine_zones = fine_zones[..here.min(fine_zones.len())].chunks(fine_zone::PER_ZONE);
            let first = lower.start - positions.start / ZONE;
            for (zone, all) in (first..).zip(zone::read_all(&self.meta, zones, Level::Lower, lower)?) {
                let codes = fine_zones.next();
                if is_outside(&all) {
                    pruned.zones.note(Share::None, 1);
                    continue;
                }
                pruned.zones.note(Share::Some, 1);
                let (open, bit) = match codes {
                    Some(codes) => {
                        (open_of_zone(&all, codes, values, pruned), zone * fine_zone::PER_ZONE as u64)
                    }
                    None => (1, zone),
                };
                // The bits are in memory, so their number fits a `usize`.
                let word = usize::try_from(bit / 64).unwrap_or(usize::MAX);
                bits[word] |= u64::from(open) << (bit % 64);
            }
        }
        Ok(())
    }
}

/// A bit for each fine zone of a zone that may hold some of `values`.
fn open_of_zone(
    zone: &RangeInclusive<i64>,
    fine_zones: &[fine_zone::Codes],
    values: &RangeInclusive<i64>,
    pruned: &mut Pruning,
) -> u8 {
    let open = fine_zone::within(fine_zones, fine_zone::bounds(zone, values));
    let count = open.count_ones().into();
    pruned.fine_zones.note(Share::Some, count);
    pruned.fine_zones.note(Share::None, fine_zones.len() as u64 - count);
    open
}
