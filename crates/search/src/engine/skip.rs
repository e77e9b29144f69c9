//! Excluding documents by the skip index of a column.

use std::ops::RangeInclusive;

use docvalues_column::{Column, DocRange, Pruning, bits};
use docvalues_format::bits::retain::DOCS_PER_GROUP;

use super::columns::filter_numbers;
use crate::error::Result;

/// Documents of the zones that a count reads at once.
const ZONES_AT_ONCE: usize = 1 << 19;

/// Looks up `numbers` in the coarsest level. Returns the documents of one zone, the documents of all zones that
/// overlap `docs`, and a bit for each zone that may hold a number in `numbers`.
fn zones_that_may_hold(
    column: &dyn Column,
    docs: DocRange,
    numbers: &RangeInclusive<i64>,
) -> Result<Option<(u32, DocRange, Vec<u64>)>> {
    let Some(index) = column.skip_index().filter(|_| !docs.is_empty()) else { return Ok(None) };
    let Some(&size) = index.levels().first() else { return Ok(None) };
    let docs = DocRange::new(docs.start / size * size, docs.end);
    let mut open = vec![0; docs.len().div_ceil(size as usize).div_ceil(64)];
    index.may_hold(0, docs, numbers, &mut open, &mut Pruning::default())?;
    Ok(Some((size, docs, open)))
}

/// The smallest range of whole zones within `docs` that holds every document with a number in `numbers`. Adds the zones
/// outside to `pruned`.
pub(crate) fn range_that_may_hold(
    column: &dyn Column,
    docs: DocRange,
    numbers: &RangeInclusive<i64>,
    pruned: &mut Pruning,
) -> Result<DocRange> {
    let Some((size, all, open)) = zones_that_may_hold(column, docs, numbers)? else { return Ok(docs) };
    let zone = |at: usize| all.chunks(size as usize).nth(at).unwrap_or_default();
    let (first, last) = (bits::ones(&open).next(), bits::ones(&open).last());
    let found = first.zip(last).map(|(first, last)| DocRange::new(zone(first).start, zone(last).end));
    let found = found.map_or(docs.clip(docs.start), |found| found.intersection(docs));
    let zones = |docs: DocRange| docs.len().div_ceil(size as usize) as u64;
    pruned.zones.none += zones(all).saturating_sub(zones(found));
    Ok(found)
}

/// The first zone that may hold a number in `numbers`; all of `docs` if the column has no zones.
pub(crate) fn first_zone(
    column: &dyn Column,
    docs: DocRange,
    numbers: &RangeInclusive<i64>,
) -> Result<Option<DocRange>> {
    let Some((size, all, open)) = zones_that_may_hold(column, docs, numbers)? else { return Ok(Some(docs)) };
    Ok(bits::ones(&open).next().and_then(|at| all.chunks(size as usize).nth(at)))
}

/// The number of documents with a number in `numbers`, if the bounds of zones decide all but `docs_to_read` documents;
/// `None` if they do not. Subtracts those that they leave open from `docs_to_read`, and reads their numbers. O(zones).
pub(crate) fn count_by_zones(
    column: &dyn Column,
    numbers: &RangeInclusive<i64>,
    docs_to_read: &mut usize,
) -> Result<Option<u64>> {
    let Some(index) = column.skip_index() else { return Ok(None) };
    let Some(size) = index.levels().first().map(|size| *size as usize) else { return Ok(None) };
    let (mut count, mut zones, mut bits) = (0, Vec::new(), vec![0; size.div_ceil(64)]);
    for docs in DocRange::new(0, column.info().docs).chunks(size.max(ZONES_AT_ONCE)) {
        index.zones(0, docs, &mut zones)?;
        for (docs, zone) in docs.chunks(size).zip(&zones).filter(|(_, zone)| zone.may_hold(numbers)) {
            if zone.all_present && numbers.contains(&zone.min) && numbers.contains(&zone.max) {
                count += docs.len() as u64;
                continue;
            }
            let Some(left) = docs_to_read.checked_sub(docs.len()) else { return Ok(None) };
            *docs_to_read = left;
            bits.fill(0);
            filter_numbers(column, docs, numbers, &mut bits, &mut Pruning::default())?;
            count += bits::count(&bits) as u64;
        }
    }
    Ok(Some(count))
}

/// Sets the bits of the groups of [`DOCS_PER_GROUP`] documents in `docs` that may have a number in `numbers`. Uses the
/// finest level if `finely`, else the coarsest.
pub(crate) fn groups_that_may_hold(
    column: &dyn Column,
    docs: DocRange,
    numbers: &RangeInclusive<i64>,
    finely: bool,
    bits: &mut [u64],
    pruned: &mut Pruning,
) -> Result<()> {
    let index = column.skip_index().filter(|index| !index.levels().is_empty());
    let Some(index) = index else {
        bits::set_range(bits, 0..docs.len().div_ceil(DOCS_PER_GROUP as usize));
        return Ok(());
    };
    let level = if finely { index.levels().len() - 1 } else { 0 };
    let (coarsest, size) = (index.levels()[0], index.levels()[level]);
    let whole = DocRange::new(docs.start / coarsest * coarsest, docs.end);
    if size == DOCS_PER_GROUP && whole == docs {
        return Ok(index.may_hold(level, docs, numbers, bits, pruned)?);
    }
    let mut zones = vec![0; whole.len().div_ceil(size as usize).div_ceil(64)];
    index.may_hold(level, whole, numbers, &mut zones, pruned)?;
    let group = |doc: u32| (doc.saturating_sub(docs.start) / DOCS_PER_GROUP) as usize;
    for zone in bits::ones(&zones).filter_map(|at| whole.chunks(size as usize).nth(at)) {
        let zone = zone.intersection(docs);
        if !zone.is_empty() {
            // A zone may cover part of a group, or several groups.
            bits::set_range(bits, group(zone.start)..group(zone.end - 1) + 1);
        }
    }
    Ok(())
}
