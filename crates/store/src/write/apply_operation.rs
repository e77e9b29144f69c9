//! Applies one operation of a batch to the document that has its id now.
//!
//! If an id comes twice in a batch, the later operation finds the document of the earlier one in the buffer.

use super::prepare::Prepared;
use super::updates::{Pending, overflow, update};
use crate::batch::{Condition, Operation, Outcome, What};
use crate::segments::{Id, Place};
use crate::store::{Current, Docs};

/// Does what an operation of a batch asks for, with the document that has the id. The one that it writes was appended at `place`.
/// `sequence` is the number of the batch.
pub(super) fn operate(
    docs: &mut Docs,
    id: Id<'_>,
    (at, place): (usize, Option<Place>),
    (batch, pending): (&Prepared, &mut Pending),
    sequence: u64,
) -> Outcome {
    let (Operation { what, condition, .. }, version) = (batch.operations[at], batch.versions[at]);
    let found = batch.found.get(at).copied().flatten();
    // A batch from the log is applied again as the log says, without a comparison of versions.
    let is_decided = batch.replayed.is_some();
    let current = docs.current(id, found);
    let version_of =
        |current| pending.version(current).or_else(|| docs.version_of(current, found, batch.version_field));
    let current_version = current.and_then(version_of);
    let refused = match condition {
        _ if is_decided => false,
        Condition::Always => false,
        Condition::Absent => current.is_some(),
        Condition::Version(expected) => current_version != Some(expected),
    };
    let highest = current_version.or_else(|| docs.tombstones.version(id.id));
    let stale = version.zip(highest).filter(|(version, highest)| version <= highest && !is_decided);
    if refused || stale.is_some() {
        withdraw(docs, place);
        return match stale {
            Some((_, current)) if !refused => Outcome::Stale { current },
            _ => Outcome::Refused { current: current_version },
        };
    }
    if let What::Update(row) = what {
        let Some(current) = current else { return Outcome::NotFound };
        if !is_decided
            && let Some(field) = overflow(docs, current, row, (&batch.resolved, &mut *pending), &batch.schema)
        {
            return Outcome::Overflow { field };
        }
        docs.note_version(version.unwrap_or(0));
        if let Some(place) = update(docs, current, row, (&batch.resolved.updates, pending), version) {
            docs.buffer.put(id, place);
        }
        return Outcome::Updated;
    }
    docs.note_version(version.unwrap_or(0));
    let was_there = current.is_some_and(|current| docs.delete(current));
    match place {
        Some(place) => {
            docs.buffer.put(id, place);
            if was_there { Outcome::Replaced } else { Outcome::Added }
        }
        None => {
            // A deletion without a version has that of the document.
            if let Some(version) = version.or(current_version) {
                docs.tombstones.insert(id.id, version, sequence);
            }
            if was_there { Outcome::Deleted } else { Outcome::NotFound }
        }
    }
}

/// Deletes the document that was appended for an operation that does not take place, if any was.
pub(super) fn withdraw(docs: &mut Docs, place: Option<Place>) {
    if let Some(place) = place {
        docs.delete(Current::Buffer(place));
    }
}
