//! A lower bound for the k-th best key, so that most zones are skipped from the beginning.
//!
//! A top-k collector visits documents in id order, and skips by the last document it keeps. If values ascend with
//! ids, as the times of a log do, and the greatest are sought, every document is competitive and nothing would be
//! skipped. There are two remedies:
//!
//! - *Best zone.* The skip index tells which zone has the column's best value. The k-th best document of that zone
//!   and its neighbours is usually about as good as the final one. This costs a few thousand visits.
//! - *Estimate.* If values come in any order, the bounds of all zones give an estimate of the k-th best value. The
//!   search then collects only documents at least as good. If there are too few, it starts again with the bound from
//!   the best zone.
//!
//! Fine zones matter for the estimate: in a column of ten million documents with one good value in 4,096, more than
//! half of the zones contain one, but only an eighth of the fine zones do. If nearly every zone contains a good
//! document, zones do not help. The estimate is therefore effective from about 2,700 hits for each of the `top`
//! documents; fewer are visited quickly anyway.

use docvalues_column::{Bounds, DocRange};

use super::key::{Entry, Keys};
use super::top_docs::TopDocs;
use super::top_k::{TopKCollector, TopKQueue as _};
use crate::engine::{BLOCK, Pass, PassPart, Request, len_u32, skip};
use crate::error::Result;

/// The documents of a zone, which are visited around the best value.
const ZONE_DOCS: u32 = 4_096;

/// The least number of documents for which a bound is worth computing.
const MIN_HITS: u32 = 1_024;

/// The number of documents to search, if they are enough for a bound.
fn enough_hits(part: &PassPart<'_>, top: usize) -> Option<u32> {
    let hits = part.docs.count(part.total);
    (hits >= MIN_HITS && (hits / 4) as usize > top).then_some(hits)
}

/// Collects the first `top` documents around the column's best value. Returns the last of them, which bounds the
/// result, and the number of documents visited.
pub(super) fn from_best_zone(
    request: &Request<'_>,
    part: &PassPart<'_>,
    keys: &Keys,
    top: usize,
    after: Option<&Entry>,
) -> Result<(Option<Entry>, u64)> {
    let PassPart { docs, total, .. } = *part;
    if enough_hits(part, top).is_none() {
        return Ok((None, 0));
    }
    let Some(mut around) = best(part, keys, after)? else { return Ok((None, 0)) };
    let mut visited = 0;
    loop {
        // Whole words of a bitset.
        let within =
            DocRange::new(around.start / 64 * 64, around.end.div_ceil(64).saturating_mul(64).min(total));
        let is_widest = around.len() >= BLOCK.min(total) as usize;
        if is_widest || docs.count_within(within) >= top {
            let pass = Pass { parts: std::slice::from_ref(part), within, threads: 1, stop: request.stop() };
            let queue = TopDocs::new(top).after(after);
            let (found, profile) = pass.run(TopKCollector::new(keys.clone(), queue))?.finish();
            visited += profile.visited;
            // Too few of them may follow `after`.
            if is_widest || found.last().is_some() {
                return Ok((found.last().cloned(), visited));
            }
        }
        let more = around.end - around.start;
        around = DocRange::new(around.start.saturating_sub(more), around.end.saturating_add(more).min(total));
    }
}

/// The zone that contains the best value of the first key, or the value of `after`.
fn best(part: &PassPart<'_>, keys: &Keys, after: Option<&Entry>) -> Result<Option<DocRange>> {
    let Some(key) = keys.as_slice().first() else { return Ok(None) };
    let column = part.columns.get(key.slot);
    // The ends of bounds need not occur: then no zone is found.
    let bounds = match (column.skip_index(), &column.info().bounds) {
        (None, _) | (_, Bounds::Unknown) => return Ok(None),
        (Some(_), bounds) => bounds.range(),
    };
    let best = match after.map(|after| key.since(&after.values[0], true)) {
        None if key.descending => *bounds.end(),
        None => *bounds.start(),
        Some(Some(since)) if key.descending => *since.end(),
        Some(Some(since)) => *since.start(),
        Some(None) => return Ok(None),
    };
    // Of equal values, those of later documents follow, if there are any.
    let is_here = |after: &&Entry| after.address.part == len_u32(part.columns.part());
    let from = after.filter(is_here).map(|after| after.address.doc.get());
    let from = from.filter(|from| *from < part.total).unwrap_or(0);
    let first = |from| skip::first_zone(column, DocRange::new(from, part.total), &(best..=best));
    let (from, found) = match first(from)? {
        None if from > 0 => (0, first(0)?),
        found => (from, found),
    };
    Ok(found.map(|zone| {
        let start = zone.start.max(from);
        // The position may be near the end of its zone.
        let end = if after.is_some() { part.total } else { zone.end };
        DocRange::new(start, end).clip(start.saturating_add(ZONE_DOCS))
    }))
}

/// Safety factor of the estimate: it should hold for this many times `top` documents.
const MARGIN: u64 = 2;

/// Estimates a bound that at least `top` documents of the part reach, from the zones of the first key's column. If
/// fewer do, the estimate was wrong.
pub(super) fn estimate(part: &PassPart<'_>, keys: &Keys, top: usize) -> Result<Option<Entry>> {
    let Some((hits, key)) = enough_hits(part, top).zip(keys.as_slice().first()) else { return Ok(None) };
    let Some(index) = part.columns.get(key.slot).skip_index() else { return Ok(None) };
    let wanted = (top as u64).saturating_mul(MARGIN * u64::from(part.total)) / u64::from(hits);
    Ok(index.estimate_nth(wanted, key.descending)?.and_then(|number| keys.entry_after(number)))
}
