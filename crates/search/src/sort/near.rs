//! A first look where the best value is, which finds a document that those that are sought do not come behind.
//!
//! Documents are looked at in the order of their numbers, and what is skipped is skipped by the last of those that are
//! kept. Where values ascend with these numbers, as times of a log do, and the latest are sought, each document is better
//! than all before: nothing would be skipped. But the zone that has the column's greatest value is known at once, and of a
//! set with enough documents in it, or near it, the last of the best ones there is about as good as the last one of all.
//!
//! Elsewhere it costs little: a few thousand documents.

use std::ops::{ControlFlow, Range};

use docvalues_column::{AnyColumn, FilterCounts};

use super::key::{Entry, Keys};
use super::top::{Competition, Kept as _, TopDocs};
use crate::Docs;
use crate::error::Result;
use crate::pass::{BLOCK, Pass};
use crate::search::Request;

/// Documents that are near each other: those of a zone.
const NEAR: u32 = 4_096;

/// Of a set with fewer documents, all are looked at.
const FEW: u32 = 1_024;

/// A document of `docs` that the first `top` of them do not come behind, if one is found; and how many were looked at.
pub(super) fn look(
    request: &Request<'_>,
    docs: Docs<'_>,
    keys: &Keys,
    top: usize,
) -> Result<(Option<Entry>, u64)> {
    let total = request.total();
    let hits = docs.count(total);
    if hits < FEW || (hits / 4) as usize <= top {
        return Ok((None, 0));
    }
    let Some(mut near) = best(request, keys)? else { return Ok((None, 0)) };
    let mut list = docs.within(near.clone());
    while list.len() < top && near.len() < BLOCK as usize {
        let more = near.end - near.start;
        near = near.start.saturating_sub(more)..near.end.saturating_add(more).min(total);
        list = docs.within(near.clone());
    }
    let pass = Pass { columns: request.columns(), total, docs: Docs::List(&list), threads: 1 };
    let (found, ran) = pass.run(Competition::new(keys.clone(), TopDocs::new(top)))?.finish();
    Ok((found.last().cloned(), ran.seen))
}

/// Documents of which one has the value that comes first by the first key.
fn best(request: &Request<'_>, keys: &Keys) -> Result<Option<Range<u32>>> {
    let Some(key) = keys.as_slice().first() else { return Ok(None) };
    let AnyColumn::Numeric(column) = request.columns().get(key.slot) else { return Ok(None) };
    let Some(bounds) = column.bounds() else { return Ok(None) };
    let best = if key.descending { *bounds.end() } else { *bounds.start() };
    let mut found: Option<Range<u32>> = None;
    column.candidates(0..request.total(), best..=best, &mut FilterCounts::default(), &mut |some| {
        found = Some(some);
        ControlFlow::Break(())
    })?;
    Ok(found.map(|some| some.start..some.end.min(some.start.saturating_add(NEAR))))
}
