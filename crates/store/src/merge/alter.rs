//! [`Store::alter`]: fields get a wider kind or type.
//!
//! ```text
//! in the lock   the segments that have values of the fields are written again, with the new values of updates;
//!               the buffer is converted; a frame with the new schema says to the log that this happened here
//! outside       a commit, with one delta in the place of all others, whose values are of the old type
//! ```
//!
//! The observer is called in the lock, too: all segments are written for one moment, which is that of the frame.
//! Batches wait meanwhile, and those that were begun before are refused. If the process ends before the commit is durable,
//! opening the store comes to the frame, and does the same again: so the frames after it have values of the new type.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use docvalues_column::{DocId, Field, LiveDocs, PlainColumn, PlainColumns, PlainValues, promotion};

use super::run::write_merged;
use crate::commit::{flush_left, remove_unnamed, rotate_log, write_commit};
use crate::error::{Error, Result};
use crate::files::FileName;
use crate::locks::lock;
use crate::observer::Origin;
use crate::schema::StoreSchema;
use crate::segments::{NewNumbers, SegmentState, Went, column_or_absent};
use crate::store::{Store, Writer};

/// The work of [`Store::alter`].
pub(super) fn alter(store: &Store, fields: &[Field]) -> Result<()> {
    let _merging = lock(&store.merging);
    let _flushing = lock(&store.flushing);
    // Of an attempt that failed: from here on, all documents are in segments and in the buffer.
    flush_left(store)?;
    loop {
        let needs_commit = store.change(|writer| {
            writer.require_lock()?;
            writer.require_leader(&*store.directory)?;
            let schema = writer.docs.schema.altered(fields)?;
            let is_altered = schema != *writer.docs.schema;
            // Replay converts the values at the same place, so it must have them all.
            if is_altered && writer.has_unlogged() {
                return Ok(None);
            }
            if is_altered {
                widen(store, writer, schema)?;
                writer.changed();
            }
            // Also after a call whose commit failed.
            Ok(Some(is_altered || writer.rewrites_deltas))
        })?;
        if needs_commit == Some(false) {
            return Ok(());
        }
        rotate_log(store)?;
        write_commit(store, &|_| {})?;
        if needs_commit.is_some() {
            return remove_unnamed(store);
        }
    }
}

/// Converts all documents to the fields of a schema. Nothing is sealed.
pub(crate) fn widen(store: &Store, writer: &mut Writer, schema: StoreSchema) -> Result<()> {
    let before = writer.docs.schema.clone();
    let states = writer.docs.segments.to_vec();
    let (mut segments, mut gone) = (Vec::with_capacity(states.len()), Vec::new());
    for state in states {
        if state.now.live.count() == 0 {
            gone.push(state.number());
            state.segment.record.note(Went::Dropped);
        } else if has_some(&state, &before, &schema)? {
            segments.push(widen_segment(store, writer, &state, [&before, &schema])?);
        } else {
            segments.push((state, None));
        }
    }
    let convert = |docs: &PlainColumns, live: &LiveDocs| widen_columns(docs, live, &before, &schema);
    writer.docs.buffer.convert(convert)?;
    // From here on, nothing fails.
    let stayed = writer.docs.segments.iter().filter(|state| !gone.contains(&state.number()));
    for (old, (new, numbers)) in stayed.zip(&segments) {
        if let Some(numbers) = numbers {
            store.ids.replace(&[old.number()], &new.segment);
            old.segment.note_written(&new.segment, numbers);
        }
    }
    store.ids.remove(&gone);
    writer.put_widened(segments.into_iter().map(|(state, _)| state).collect(), schema);
    store.note_room(writer);
    Ok(())
}

/// Writes a segment again, with its new values. Returns it, and the numbers of the old one's documents in it.
fn widen_segment(
    store: &Store,
    writer: &mut Writer,
    state: &SegmentState,
    schemas: [&StoreSchema; 2],
) -> Result<(SegmentState, Option<Arc<NewNumbers>>)> {
    let number = store.take_segment_number()?;
    let states = std::slice::from_ref(state);
    let written = write_merged(store, states, number, schemas, &AtomicBool::new(false));
    let (file, mut numbers) = writer.synced(written)?;
    let mut created = vec![FileName::Segment(number)];
    let opened = store.open_observed(file, Origin::Segments(states, &numbers), &mut created);
    let opened = writer.synced(opened);
    writer.note_created(&*store.directory, created, opened.is_err());
    Ok((SegmentState::new(Arc::new(opened?)), numbers.pop()))
}

/// Whether a segment may have values of a field that becomes another.
fn has_some(state: &SegmentState, before: &StoreSchema, after: &StoreSchema) -> Result<bool> {
    for (place, _) in after.changed_fields(before) {
        let field = &before.fields()[place];
        let is_there = !column_or_absent(&state.segment.segment, field)?.is_absent();
        if is_there || state.now.fields().any(|changed| changed == place) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Documents of the buffer. The values of those that are not live are left out.
fn widen_columns(
    docs: &PlainColumns,
    live: &LiveDocs,
    before: &StoreSchema,
    after: &StoreSchema,
) -> Result<PlainColumns> {
    let mut columns = docs.columns().to_vec();
    for (place, field) in after.changed_fields(before) {
        let from = before.fields()[place].logical;
        let Some(column) = columns.get_mut(place) else { continue };
        let mut wider = PlainColumn::of_kind(field.kind);
        for doc in 0..column.docs() {
            if !live.contains(DocId::new(doc)) || !column.has_value(doc) {
                wider.append_absent(1);
                continue;
            }
            match column.values() {
                PlainValues::Strings(_) => wider.push_strings(column.strings(doc)),
                PlainValues::Numbers(_) => {
                    let numbers = column.numbers(doc).iter().map(|number| {
                        promotion::convert(*number, from, field.logical).ok_or_else(|| Error::Schema {
                            field: field.name.clone(),
                            why: format!(
                                "expected a number that is exact as {}, found {} of type {}",
                                field.logical.name(),
                                promotion::integer(*number, from),
                                from.name()
                            ),
                        })
                    });
                    wider.push_numbers(&numbers.collect::<Result<Vec<i64>>>()?);
                }
            }
        }
        *column = wider;
    }
    let contradictory = || Error::Request("expected as many documents as before".to_owned());
    PlainColumns::new(docs.docs(), columns).ok_or_else(contradictory)
}
