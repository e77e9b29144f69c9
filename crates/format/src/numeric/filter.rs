//! Range filters: bounds of the column, then of zones, fine zones and blocks decide, and only the rest is compared
//! value by value.

use std::ops::{Range, RangeInclusive};

use super::block::{Block, Encoding};
use super::decode::{NUMBERS_PER_PASS, unpack};
use super::fine_zone;
use super::locate::Residuals;
use super::pruning_stats::{Pruning, Share};
use super::zone::{self, Level, ZONE};
use super::{BLOCK_SHIFTS, NumericReader, Transform};
use crate::bits::{self, in_range, mask};
use crate::error::Result;
use crate::source::SectionBytes;

/// The state of a running filter: the range and the output.
struct Filter<'a> {
    wanted: RangeInclusive<i64>,
    /// The same range in the numbers of the blocks.
    numbers: RangeInclusive<u64>,
    /// The position of the first bit.
    first: u64,
    bits: &'a mut [u64],
    pruned: &'a mut Pruning,
}

impl<B: SectionBytes> NumericReader<B> {
    /// Sets bit *i* of `bits` if value `positions.start + i` lies in `values`, and leaves the other bits as they are.
    /// Adds the decisions of zones, blocks and values to `pruned`.
    ///
    /// Reads values only in blocks that the bounds of zones, fine zones and blocks left undecided.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); what `bits` then holds is unspecified.
    ///
    /// # Panics
    ///
    /// If `bits` has fewer bits than there are `positions`.
    pub fn filter(
        &self,
        positions: Range<u64>,
        values: RangeInclusive<i64>,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        let wanted = positions.end.saturating_sub(positions.start);
        assert!(wanted.div_ceil(64) <= bits.len() as u64, "`bits` must have a bit for every position");
        self.in_range(&positions)?;
        if values.is_empty() || positions.is_empty() {
            return Ok(());
        }
        let share = Share::of(&(self.meta.min..=self.meta.max), &values);
        let first = positions.start;
        match (share, self.numbers_of(&values)) {
            // The second case: the range lies between two values of a table, or between two multiples of the divisor.
            (Share::None, _) | (Share::Some, None) => {
                pruned.directory += wanted;
                Ok(())
            }
            (Share::All, _) => {
                pruned.directory += wanted;
                fill(bits, 0..wanted);
                Ok(())
            }
            (Share::Some, Some(numbers)) => {
                let mut filter = Filter { wanted: values, numbers, first, bits, pruned };
                match &self.meta.zones {
                    Some(zones) => self.filter_zones(zones, positions, &mut filter),
                    None => self.filter_blocks(positions, &mut filter),
                }
            }
        }
    }

    /// The numbers that stand for `values`; `None` if there are none.
    fn numbers_of(&self, values: &RangeInclusive<i64>) -> Option<RangeInclusive<u64>> {
        let (start, end) = (*values.start().max(&self.meta.min), *values.end().min(&self.meta.max));
        let (first, last) = match self.meta.transform {
            // A constant column has no blocks.
            Transform::Constant(_) => return None,
            Transform::Affine { base, gcd } => {
                (start.abs_diff(base).div_ceil(gcd), end.abs_diff(base).checked_div(gcd)?)
            }
            Transform::Decimal(decimal) => {
                let first = decimal.partition_point(self.meta.max, |value| value < start);
                let end_index = decimal.partition_point(self.meta.max, |value| value <= end);
                (first, end_index.checked_sub(1)?)
            }
            Transform::Table(_) => {
                let first = self.table.values().partition_point(|&value| value < start);
                let end_index = self.table.values().partition_point(|&value| value <= end);
                (first as u64, end_index.checked_sub(1)? as u64)
            }
        };
        (start <= end && first <= last).then_some(first..=last)
    }

    /// Accepts or skips whole zones, those of the upper level first, and descends into the others.
    fn filter_zones(&self, zones: &B, positions: Range<u64>, filter: &mut Filter<'_>) -> Result<()> {
        for (upper, part) in zone::upper_zones(positions) {
            let share = Share::of(&zone::read(&self.meta, zones, Level::Upper, upper)?, &filter.wanted);
            match share {
                Share::None => {}
                Share::All => filter.fill(part.clone()),
                Share::Some => {
                    self.filter_lower_zones(zones, part, filter)?;
                    continue;
                }
            }
            filter.pruned.zones.note(share, zones_starting_in(&part, ZONE));
        }
        Ok(())
    }

    /// As [`filter_zones`](Self::filter_zones), for zones of the lower level.
    fn filter_lower_zones(&self, zones: &B, positions: Range<u64>, filter: &mut Filter<'_>) -> Result<()> {
        let lower = positions.start / ZONE..positions.end.div_ceil(ZONE);
        let mut fine_zones = fine_zone::read_zones(&self.meta, lower.clone())?.chunks(fine_zone::PER_ZONE);
        for (zone, ends) in lower.clone().zip(zone::read_all(&self.meta, zones, Level::Lower, lower)?) {
            let here = positions.start.max(zone * ZONE)..positions.end.min((zone + 1) * ZONE);
            let share = Share::of(&ends, &filter.wanted);
            filter.pruned.zones.note(share, zones_starting_in(&here, ZONE));
            match (share, fine_zones.next()) {
                (Share::None, _) => {}
                (Share::All, _) => filter.fill(here),
                (Share::Some, None) => self.filter_blocks(here, filter)?,
                (Share::Some, Some(fine_zones)) => {
                    self.filter_fine_zones(&ends, fine_zones, zone * ZONE, here, filter)?;
                }
            }
        }
        Ok(())
    }

    /// Accepts or skips whole fine zones of a zone with these bounds (`ends`), and filters the blocks of the others.
    /// The first fine zone begins at position `first`.
    fn filter_fine_zones(
        &self,
        ends: &RangeInclusive<i64>,
        fine_zones: &[fine_zone::Codes],
        first: u64,
        positions: Range<u64>,
        filter: &mut Filter<'_>,
    ) -> Result<()> {
        let may_hold = fine_zone::within(fine_zones, fine_zone::bounds(ends, &filter.wanted));
        if may_hold.count_ones() as usize == fine_zones.len() {
            // Common if values are in random order. Comparing them is cheaper than testing which fine zones match as
            // a whole.
            filter.pruned.fine_zones.note(Share::Some, zones_starting_in(&positions, fine_zone::FINE_ZONE));
            return self.filter_blocks(positions, filter);
        }
        let mut open = positions.start..positions.start;
        for (i, &codes) in (0..).zip(fine_zones) {
            let start = first + i * fine_zone::FINE_ZONE;
            let here = start.max(positions.start)..positions.end.min(start + fine_zone::FINE_ZONE);
            if here.is_empty() {
                continue;
            }
            let share = Share::of(&fine_zone::values(ends, codes), &filter.wanted);
            filter.pruned.fine_zones.note(share, zones_starting_in(&here, fine_zone::FINE_ZONE));
            if share == Share::All {
                filter.fill(here.clone());
            }
            if share != Share::Some {
                self.filter_blocks(open, filter)?;
                open = here.end..here.end;
            }
            open.end = here.end;
        }
        self.filter_blocks(open, filter)
    }

    /// Accepts or skips whole blocks or parts of them, and compares the values of the others.
    fn filter_blocks(&self, positions: Range<u64>, filter: &mut Filter<'_>) -> Result<()> {
        let mut at = positions.start;
        self.each_block(positions, |block, header, within| {
            let (all, step) = (self.meta.values_in(block), self.part(header));
            let mut place = within.start;
            while place < within.end {
                // Parts are aligned, wherever the filter begins and ends.
                let start = place - place % step;
                let part = start..all.min(start.saturating_add(step));
                let here = place..within.end.min(part.end);
                let positions = at..at + here.len() as u64;
                let ends = ends(header, &part);
                let share = ends.as_ref().map_or(Share::Some, |ends| Share::of(ends, &filter.numbers));
                // With fine zones, some of the part may have been decided already.
                let count = match self.meta.fine_zones {
                    Some(_) => zones_starting_in(&positions, fine_zone::FINE_ZONE),
                    None => (place == start).into(),
                };
                filter.pruned.blocks.note(share, count);
                (at, place) = (positions.end, here.end);
                match share {
                    Share::None => self.in_table(ends.map_or(header.base, |ends| *ends.start()))?,
                    Share::All => filter.fill(positions),
                    Share::Some => self.filter_values(block, header, here, positions.start, filter)?,
                }
            }
            Ok(())
        })
    }

    /// The number of values in a block that are decided together.
    fn part(&self, header: &Block) -> usize {
        match (header.encoding, &self.meta.zones) {
            // As many as in the shortest block: on a steep line, few hundred values have narrow bounds.
            (Encoding::Linear, _) => 1 << BLOCK_SHIFTS.start(),
            (_, Some(_)) => usize::try_from(ZONE).unwrap_or(usize::MAX),
            (_, None) => usize::MAX,
        }
    }

    /// Compares the values `within` a block, the first of which is at position `at`.
    fn filter_values(
        &self,
        block: u64,
        header: &Block,
        within: Range<usize>,
        at: u64,
        filter: &mut Filter<'_>,
    ) -> Result<()> {
        filter.pruned.read += within.len() as u64;
        let residuals = self.meta.residuals(block, header, within.clone())?;
        let (low, span) = (*filter.numbers.start(), filter.numbers.end() - filter.numbers.start());
        let mut start = within.start;
        if self.is_packed(header) {
            start += filter.packed(&residuals, within.clone(), low.wrapping_sub(header.base), span, at);
        }
        if start == within.end {
            return Ok(()); // Not even the buffer is cleared.
        }
        let mut numbers = [0; NUMBERS_PER_PASS];
        for first in (start..within.end).step_by(NUMBERS_PER_PASS) {
            let numbers = &mut numbers[..NUMBERS_PER_PASS.min(within.end - first)];
            unpack(header, &residuals, first, numbers)?;
            if matches!(self.meta.transform, Transform::Table(_)) {
                self.in_table(numbers.iter().copied().max().unwrap_or(0))?;
            }
            for (word, numbers) in numbers.chunks(64).enumerate() {
                filter.set(at + (first - within.start + word * 64) as u64, in_range(numbers, low, span));
            }
        }
        Ok(())
    }

    /// Returns whether the block's numbers are base plus residual, and each possible number has a value.
    fn is_packed(&self, header: &Block) -> bool {
        header.encoding == Encoding::Packed
            && match self.meta.transform {
                // Without a line the bounds are the same at all places.
                Transform::Table(_) => {
                    ends(header, &(0..1)).is_some_and(|ends| *ends.end() < self.table.len() as u64)
                }
                _ => true,
            }
    }

    /// Returns an error if the table of values, if there is one, has no entry for `number`.
    fn in_table(&self, number: u64) -> Result<()> {
        match self.meta.transform {
            Transform::Table(_) if number >= self.table.len() as u64 => Err(self.no_entry(number)),
            _ => Ok(()),
        }
    }
}

/// The number of zones of this many `values` that begin in `positions`.
pub(super) fn zones_starting_in(positions: &Range<u64>, values: u64) -> u64 {
    positions.end.div_ceil(values) - positions.start.div_ceil(values)
}

/// Bounds for the numbers of a `part` of a block, from its header: those of the line, widened by the range of
/// residuals.
fn ends(header: &Block, part: &Range<usize>) -> Option<RangeInclusive<u64>> {
    let (first, last) = (header.rise(part.start), header.rise(part.end.saturating_sub(1)));
    let (low, high) = (i128::from(header.base) + first.min(last), i128::from(header.base) + first.max(last));
    // `None` if numbers may wrap: if residuals in the first block begin below 0, or in a hostile file.
    Some(u64::try_from(low).ok()?..=u64::try_from(high + i128::from(mask(header.width))).ok()?)
}

/// Sets the bits of these positions.
pub(super) fn fill(bits: &mut [u64], positions: Range<u64>) {
    // The bits are in memory, so their number fits a `usize`.
    let place = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
    bits::set_range(bits, place(positions.start)..place(positions.end));
}

impl Filter<'_> {
    /// Accepts all `positions`.
    fn fill(&mut self, positions: Range<u64>) {
        fill(self.bits, positions.start - self.first..positions.end - self.first);
    }

    /// Compares the packed residuals `within` a block, the first of which is at position `at`. Returns the number
    /// that a kernel compared.
    fn packed(
        &mut self,
        residuals: &Residuals<'_>,
        within: Range<usize>,
        low: u64,
        span: u64,
        at: u64,
    ) -> usize {
        let (bit, whole) = (at - self.first, within.len() / 64);
        if bit.is_multiple_of(64) {
            // Kernels write whole words of the output. This is the usual case, as windows and blocks begin at words.
            let words =
                usize::try_from(bit / 64).ok().and_then(|word| self.bits.get_mut(word..)?.get_mut(..whole));
            return words.map_or(0, |words| residuals.within(within.start, low, span, words));
        }
        let mut done = 0;
        loop {
            let mut found = [0; NUMBERS_PER_PASS / 64];
            let count = found.len().min(whole - done / 64);
            let looked = residuals.within(within.start + done, low, span, &mut found[..count]);
            for (word, &found) in found[..looked / 64].iter().enumerate() {
                self.set(at + (done + word * 64) as u64, found);
            }
            done += looked;
            if looked < NUMBERS_PER_PASS {
                return done;
            }
        }
    }

    /// Sets the bits of 64 positions from `at` on. Bits past the last position must be zero.
    #[inline]
    fn set(&mut self, at: u64, word: u64) {
        let bit = at - self.first;
        // The bits are in memory, so their number fits a `usize`.
        bits::or_at(self.bits, usize::try_from(bit).unwrap_or(usize::MAX), word);
    }
}
