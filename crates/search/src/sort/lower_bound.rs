//! What the documents that are sought do not come behind: by a first look where the best value is, or by a guess.
//!
//! Documents are looked at in the order of their numbers, and what is skipped is skipped by the last of those that are
//! kept. Where values ascend with these numbers, as times of a log do, and the latest are sought, each document is better
//! than all before: nothing would be skipped. But the zone that has the column's greatest value is known at once, and of a
//! set with enough documents in it, or near it, the last of the best ones there is about as good as the last one of all.
//!
//! Elsewhere it costs little: a few thousand documents.
//!
//! Where values come in any order, the ends of all zones tell about how many values are how good. Of that, a guess is made how good
//! a document of the set has to be to come in: it is all that is looked for, and if there are not enough so good, the search
//! begins anew, with what the first look found. The best zones of a column of ten million, each with one good value in 4,096, are
//! more than half of all; of their stretches, those with one are an eighth.
//!
//! Where nearly every zone has a document that good, zones cannot tell how good it is. So a guess takes about 2,700 hits for each
//! document that is sought; fewer are soon looked at.

use docvalues_column::{DocId, DocRange};

use super::key::{Entry, Keys, SortValue};
use super::top_k::{TopDocs, TopKCollector, TopKQueue as _};
use crate::docs::{DocList, Docs};
use crate::error::Result;
use crate::pass::{BLOCK, Pass};
use crate::search::Request;
use crate::skip;

/// Documents that are near each other: those of a zone.
const NEAR: u32 = 4_096;

/// Of a set with fewer documents, all are looked at.
const FEW: u32 = 1_024;

/// A document of `docs` that the first `top` of them do not come behind, if one is found; and how many were looked at.
pub(super) fn from_best_zone(request: &Request<'_>, keys: &Keys, top: usize) -> Result<(Option<Entry>, u64)> {
    let (docs, total, hits) = (request.docs(), request.total(), request.hits());
    if hits < FEW || (hits / 4) as usize <= top {
        return Ok((None, 0));
    }
    let Some(mut near) = best(request, keys)? else { return Ok((None, 0)) };
    let mut list = docs.within(near);
    while list.len() < top && near.len() < BLOCK as usize {
        let more = near.end - near.start;
        near = DocRange::new(near.start.saturating_sub(more), near.end.saturating_add(more).min(total));
        list = docs.within(near);
    }
    let pass = Pass {
        columns: request.columns(),
        total,
        docs: Docs::List(DocList(&list)),
        threads: 1,
        stop: request.stop(),
    };
    let (found, profile) = pass.run(TopKCollector::new(keys.clone(), TopDocs::new(top)))?.finish();
    Ok((found.last().cloned(), profile.visited))
}

/// Documents of which one has the value that comes first by the first key.
fn best(request: &Request<'_>, keys: &Keys) -> Result<Option<DocRange>> {
    let Some(key) = keys.as_slice().first() else { return Ok(None) };
    let column = request.columns().get(key.slot);
    let Some(bounds) = column.skip_index().and_then(|_| column.info().bounds.exact()) else {
        return Ok(None);
    };
    let best = if key.descending { *bounds.end() } else { *bounds.start() };
    let found = skip::first(column, DocRange::new(0, request.total()), &(best..=best))?;
    Ok(found.map(|zone| zone.clip(zone.start.saturating_add(NEAR))))
}

/// So many times as many documents as are sought should not come behind what is guessed, or the guess was for nothing.
const MARGIN: u64 = 2;

/// What the first `top` of `docs` likely do not come behind: if there are not so many that do not, it was wrong.
///
/// The zones of the first key's column tell about how good so many values are as have enough documents of `docs` among them.
pub(super) fn estimate(request: &Request<'_>, keys: &Keys, top: usize) -> Result<Option<Entry>> {
    let (total, hits) = (request.total(), request.hits());
    if hits < FEW || (hits / 4) as usize <= top {
        return Ok(None);
    }
    let Some((key, others)) = keys.as_slice().split_first() else { return Ok(None) };
    let Some(index) = request.columns().get(key.slot).skip_index() else { return Ok(None) };
    let wanted = (top as u64).saturating_mul(MARGIN * u64::from(total)) / u64::from(hits);
    let Some(number) = index.guess_nth(wanted, key.descending)? else { return Ok(None) };
    let first = Some(key.of_number(number)).filter(|first| *first != SortValue::NoNumber);
    let values = |first| std::iter::once(first).chain(others.iter().map(|_| SortValue::Last)).collect();
    Ok(first.map(|first| Entry { values: values(first), doc: DocId::new(u32::MAX) }))
}
