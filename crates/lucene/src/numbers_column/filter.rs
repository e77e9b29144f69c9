//! Filters of numbers: by zones, by blocks, and one by one.

use std::ops::{Range, RangeInclusive};

use docvalues_column::{DocRange, Pruning, bits};
use docvalues_format::bits::{or_at, within};
use docvalues_format::id::BLOCK_DOCS;

use super::NumbersColumn;
use crate::error::Result;
use crate::skip_index::Zones;
use crate::windows::expand;

/// Numbers that a filter decodes at once.
const FILTER_BATCH: u64 = 4096;

impl NumbersColumn {
    /// Sets the bits of the documents of `docs` whose number is in `wanted`, in a single-valued column.
    pub(super) fn filter_one(
        &self,
        docs: DocRange,
        wanted: &RangeInclusive<i64>,
        out: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        if self.presence.is_all() {
            return self.filter_values(docs.start.into()..docs.end.into(), wanted, out, pruned);
        }
        let mut found = Vec::new();
        // Windows begin with a whole word of the result.
        for (docs, out) in docs.chunks(BLOCK_DOCS as usize).zip(out.chunks_mut(BLOCK_DOCS as usize / 64)) {
            let values = self.presence.values_in(docs)?;
            pruned.missing += docs.len().saturating_sub(values.len()) as u64;
            found.clear();
            found.resize(values.len().div_ceil(64), 0);
            self.filter_values(values.start.into()..values.end.into(), wanted, &mut found, pruned)?;
            if found.iter().any(|word| *word != 0) {
                expand(&self.presence, docs, &found, out)?;
            }
        }
        Ok(())
    }

    /// Sets the bits of the numbers of a range that are in `wanted`.
    fn filter_values(
        &self,
        values: Range<u64>,
        wanted: &RangeInclusive<i64>,
        out: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        let (mut at, mut buffer) = (values.start, Vec::new());
        let block = self.numbers.block_len();
        while at < values.end {
            // Numbers of one block, which has bounds of its own.
            let end = block.map_or(values.end, |len| (at / len + 1).saturating_mul(len).min(values.end));
            let place = usize::try_from(at - values.start).unwrap_or(usize::MAX);
            let count = usize::try_from(end - at).unwrap_or(usize::MAX);
            let bounds =
                if block.is_some() { self.numbers.bounds_at(at)?.range() } else { i64::MIN..=i64::MAX };
            if *bounds.end() < *wanted.start() || *wanted.end() < *bounds.start() {
                pruned.blocks.none += 1;
            } else if wanted.start() <= bounds.start() && bounds.end() <= wanted.end() {
                pruned.blocks.all += u64::from(block.is_some());
                bits::set_range(out, place..place + count);
            } else {
                pruned.blocks.open += u64::from(block.is_some());
                self.compare(at..end, wanted, (place, &mut *out), &mut buffer)?;
                pruned.read += count as u64;
            }
            at = end;
        }
        Ok(())
    }

    /// Compares the numbers of a range, which are in one block. The bit of the first is at `place`.
    fn compare(
        &self,
        values: Range<u64>,
        wanted: &RangeInclusive<i64>,
        (mut place, out): (usize, &mut [u64]),
        buffer: &mut Vec<i64>,
    ) -> Result<()> {
        let mut at = values.start;
        // Mostly, as windows and blocks begin with whole words.
        let words = (values.end - values.start) / 64;
        let words = out.get_mut(place / 64..).zip(usize::try_from(words).ok());
        if let Some(whole) = words.and_then(|(out, words)| out.get_mut(..words))
            && place.is_multiple_of(64)
        {
            let done = self.numbers.compare(at, wanted, whole)?;
            (at, place) = (at + done as u64, place + done);
        }
        while at < values.end {
            let end = at.saturating_add(FILTER_BATCH).min(values.end);
            buffer.resize(usize::try_from(end - at).unwrap_or(usize::MAX), 0);
            self.numbers.decode(at..end, buffer)?;
            for numbers in buffer.chunks(64) {
                or_at(out, place, within(numbers, *wanted.start(), *wanted.end()));
                place += numbers.len();
            }
            at = end;
        }
        Ok(())
    }

    /// Calls `filter` with the parts of `docs` in zones that may have a number in `wanted`, and with their bits.
    pub(super) fn each_open_zone(
        &self,
        (zones, docs): (&Zones, DocRange),
        wanted: &RangeInclusive<i64>,
        out: &mut [u64],
        pruned: &mut Pruning,
        mut filter: impl FnMut(DocRange, &mut [u64], &mut Pruning) -> docvalues_column::Result<()>,
    ) -> docvalues_column::Result<()> {
        let all = self.named(zones.all(&self.numbers))?;
        let mut bits_of_zone = Vec::new();
        let mut start = docs.start;
        while start < docs.end {
            let zone = all.get((start / zones.len()) as usize);
            let end = (start / zones.len() + 1).saturating_mul(zones.len()).min(docs.end);
            let here = DocRange::new(start, end);
            if zone.is_none_or(|zone| zone.may_hold(wanted)) {
                pruned.zones.open += 1;
                bits_of_zone.clear();
                bits_of_zone.resize(here.words(), 0);
                filter(here, &mut bits_of_zone, pruned)?;
                let places = ((start - docs.start) as usize..).step_by(64);
                bits_of_zone.iter().zip(places).for_each(|(word, place)| or_at(out, place, *word));
            } else {
                pruned.zones.none += 1;
            }
            start = end;
        }
        Ok(())
    }
}
