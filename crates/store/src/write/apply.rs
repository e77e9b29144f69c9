//! [`Store::apply`]: batches of documents that are written, updated and deleted.
//!
//! ```text
//! outside of the lock   make room: write a segment, if the buffer is full
//!                       check the batch; hash its ids; look them up in the segments of the last snapshot
//! in the lock           look the ids up in the buffer; compare versions; append the documents; note where they are;
//!                       then set the new values of documents in segments
//! outside again         wait until the log is durable, if there is one
//! ```
//!
//! What a look-up found in a segment still holds in the lock if the store has the same segments: documents of a segment
//! may have been deleted since, which is tested, and none appears. If the segments are others, the ids are looked up
//! again.

use std::time::Instant;

use docvalues_column::{DocId, bits};

use super::apply_operation::{operate, withdraw};
use super::fill_store_ids::fill_table;
use super::prepare::Prepared;
use super::updates::{Pending, set_rows};
use crate::batch::body::Decided;
use crate::batch::{Applied, Operation, Outcome, What};
use crate::error::{Error, Result};
use crate::segments::{Id, Place};
use crate::store::{Docs, Store, Writer};

/// Applies a batch, also one that is read from a log.
pub(super) fn apply_prepared(store: &Store, mut prepared: Prepared) -> Result<Applied> {
    if prepared.docs.docs() > 0 {
        // Before they are in the log: no flush could write them.
        store.require_observer()?;
    }
    let now = store.snapshot();
    prepared.look_up(&now)?;
    fill_table(store, &now, prepared.found.len())?;
    let asked = Instant::now();
    store.change_quietly(|writer| {
        store.counters.waited.add(asked);
        if prepared.replayed.is_none() {
            writer.require_leader(&*store.directory)?;
        }
        writer.docs.schema.require_fields_of(&prepared.schema)?;
        if writer.generation != prepared.generation {
            // All changes of the set of segments are published.
            prepared.look_up(&store.snapshot())?;
        }
        // So that nothing fails any more.
        prepared.resolved.read_again(&writer.docs.segments, &prepared.schema)?;
        if let Some(log) = &store.log {
            log.check()?;
        }
        check_versions(&writer.docs, &prepared)?;
        let next = (store.clock)().max(writer.docs.highest_version.saturating_add(1));
        let applied = apply(writer, prepared, next)?;
        store.note_room(writer);
        Ok(applied)
    })
}

/// Refuses versions after which a store could not assign any.
fn check_versions(docs: &Docs, batch: &Prepared) -> Result<()> {
    let Some(field) = batch.version_field.filter(|_| batch.replayed.is_none()) else { return Ok(()) };
    let limit = field.limit();
    let refused = |at: usize, what: String| {
        Err(Error::Request(format!("operation {at} of the batch: expected {what}")))
    };
    match batch.without_version {
        // Versions that it assigned itself may be above.
        Some(at) if !docs.assigns_versions && docs.highest_version >= limit => {
            let highest = docs.highest_version;
            let what = "a version, found none: the store has versions up to";
            return refused(at, format!("{what} {highest}, above which it assigns none"));
        }
        None if !docs.assigns_versions => return Ok(()),
        _ => {}
    }
    let versions = batch.versions.iter().enumerate();
    match versions.filter_map(|(at, version)| Some((at, (*version)?))).find(|(_, found)| *found >= limit) {
        Some((at, found)) => {
            let why = "the store also assigns versions to documents without one";
            refused(at, format!("a version below {limit}, found {found}: {why}"))
        }
        None => Ok(()),
    }
}

/// Applies a batch, whose first version without one is `next`. Fails only if the log does, and poisons the store.
fn apply(writer: &mut Writer, mut batch: Prepared, next: u64) -> Result<Applied> {
    let next = batch.replayed.as_ref().map_or(next, |decided| decided.first_version.unwrap_or_default());
    let first_version = batch.assign_versions(next);
    let (sequence, docs) = (writer.sequence + 1, &mut writer.docs);
    if first_version.is_some() {
        docs.assigns_versions = true;
    }
    let written = std::mem::take(&mut batch.docs);
    let first = (written.docs() > 0).then(|| docs.buffer.append(written));
    let mut outcomes = Vec::with_capacity(batch.operations.len());
    let (mut pending, mut id) = (Pending::default(), Vec::new());
    for (at, operation) in batch.operations.iter().enumerate() {
        // The place in the buffer of a document that is written.
        let place = match (operation.what, first) {
            (What::Write(doc), Some(first)) => {
                Some(Place { doc: DocId::new(first.doc.get() + doc), ..first })
            }
            _ => None,
        };
        let Some(field) = batch.id_field else {
            outcomes.push(Outcome::Added);
            continue;
        };
        if operation.is_refused {
            withdraw(docs, place);
            outcomes.push(Outcome::Refused { current: None });
            continue;
        }
        // The buffer, of which this is a part, changes meanwhile.
        id.clear();
        let of_place = place.map_or_else(|| batch.id(at), |place| docs.buffer.id(place, field));
        id.extend_from_slice(of_place.unwrap_or_default());
        let id = Id { id: &id, hash: batch.hashes[at], field };
        outcomes.push(operate(docs, id, (at, place), (&batch, &mut pending), sequence));
    }
    set_rows(docs, &batch.resolved, pending, &batch.schema)?;
    let requested = batch.operations.iter().zip(&batch.versions);
    let is_changed = requested
        .zip(&outcomes)
        .any(|((operation, version), outcome)| is_change(operation, *version, *outcome));
    if is_changed || batch.replayed.is_some() {
        let mut body = std::mem::take(&mut batch.body);
        if writer.log.is_some() && batch.replayed.is_none() {
            body.decide(&decided(first_version, &batch.operations, &outcomes));
        }
        writer.applied(body)?;
    }
    Ok(Applied { sequence: writer.sequence, outcomes, first_version })
}

/// Whether an operation left something that a commit must have.
fn is_change(operation: &Operation, version: Option<u64>, outcome: Outcome) -> bool {
    took_place(operation, outcome) && (outcome != Outcome::NotFound || version.is_some())
}

/// Whether an operation took place. A deletion does so, though it finds nothing: its version is remembered.
fn took_place(operation: &Operation, outcome: Outcome) -> bool {
    match outcome {
        Outcome::Stale { .. } | Outcome::Refused { .. } | Outcome::Overflow { .. } => false,
        Outcome::NotFound => !matches!(operation.what, What::Update(_)),
        _ => true,
    }
}

/// What the log says of a batch.
fn decided(first_version: Option<u64>, operations: &[Operation], outcomes: &[Outcome]) -> Decided {
    let is_done = |(operation, outcome): (&Operation, &Outcome)| took_place(operation, *outcome);
    let mut done = Vec::new();
    if !operations.iter().zip(outcomes).all(is_done) {
        done.resize(outcomes.len().div_ceil(64), 0);
        let pairs = operations.iter().zip(outcomes).enumerate().filter(|(_, pair)| is_done(*pair));
        pairs.for_each(|(at, _)| bits::set(&mut done, at));
    }
    Decided { first_version, took_place: done }
}
