//! [`Store::alter`]: fields get a wider kind or type.
//!
//! ```text
//! in the lock   the segments that have values of the fields are written again, with the new values of updates;
//!               the buffer is converted; a frame with the new schema says to the log that this happened here
//! outside       a commit, with one delta in the place of all others, whose values are of the old type
//! ```
//!
//! Batches wait meanwhile, and those that were begun before are refused. If the process ends before the commit is durable,
//! opening the store comes to the frame, and does the same again: so the frames after it have values of the new type.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use docvalues_column::{DocId, Field, LiveDocs, PlainColumn, PlainColumns, PlainValues, promotion};

use crate::commit::{flush_sealed, remove_unnamed, rotate_log, write_commit};
use crate::error::{Error, Result};
use crate::files::FileName;
use crate::schema::StoreSchema;
use crate::segments::{SegmentState, StoreSegment, Went, column_or_absent};
use crate::store::{Store, Writer};
use crate::sync::PoisonError;

impl Store {
    /// Gives fields a wider kind or type, and the [format](Field::format) of these: `i64` and `u64` become `f64`, `u64` becomes
    /// `i64`, and a field of one value a document becomes one of several (numeric to sorted-numeric, sorted to sorted-set). Every
    /// value stays the same. Commits.
    ///
    /// Older commits and snapshots stay as they are. Replicas get the files of the commit. Begin batches again: those of before
    /// are refused. Other writers wait meanwhile.
    ///
    /// O(values of the segments that have some of the fields).
    ///
    /// # Errors
    ///
    /// If there is no such field, it identifies documents or has their versions; if its kind or type would not be wider, or a
    /// key of the index sort would have several values; if a number is not exact in the new type, such as 2^53 + 1 as a double;
    /// or as [`commit`](Self::commit). Unless the commit failed, nothing is changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_search::Query;
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("prices");
    /// let price = Field::new("price", Kind::Numeric, LogicalType::I64);
    /// let store = Store::create(&path, StoreSchema::new().with_field(price)?, StoreOptions::default())?;
    /// let mut batch = store.batch()?;
    /// let price = batch.field("price")?;
    /// let mut doc = batch.upsert();
    /// doc.i64(price, 10)?;
    /// doc.finish()?;
    /// store.apply(batch)?;
    ///
    /// store.alter([Field::new("price", Kind::SortedNumeric, LogicalType::F64)])?;
    /// let mut batch = store.batch()?;
    /// let price = batch.field("price")?;
    /// let mut doc = batch.upsert();
    /// doc.f64(price, 9.99)?.f64(price, 8.5)?;
    /// doc.finish()?;
    /// store.apply(batch)?;
    /// store.refresh()?;
    /// assert_eq!(store.snapshot().search().count(&Query::range("price", 8.0..))?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn alter(&self, fields: impl IntoIterator<Item = Field>) -> Result<()> {
        let fields: Vec<Field> = fields.into_iter().collect();
        let _merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        let _flushing = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        // Of an attempt that failed: from here on, all documents are in segments and in the buffer.
        flush_sealed(self)?;
        loop {
            let needs_commit = self.change(|writer| {
                writer.require_lock()?;
                writer.require_leader(&*self.directory)?;
                let schema = writer.docs().schema().altered(&fields)?;
                let is_altered = schema != **writer.docs().schema();
                // Replay converts the values at the same place, so it must have them all.
                if is_altered && writer.has_unlogged() {
                    return Ok(None);
                }
                if is_altered {
                    self.widen(writer, schema)?;
                    writer.changed();
                }
                // Also after a call whose commit failed.
                Ok(Some(is_altered || writer.rewrites_deltas()))
            })?;
            if needs_commit == Some(false) {
                return Ok(());
            }
            rotate_log(self)?;
            write_commit(self, &|_| {})?;
            if needs_commit.is_some() {
                return remove_unnamed(self);
            }
        }
    }

    /// Converts all documents to the fields of a schema. Nothing is sealed.
    pub(crate) fn widen(&self, writer: &mut Writer, schema: StoreSchema) -> Result<()> {
        let before = writer.docs().schema().clone();
        let (mut segments, mut gone) = (Vec::with_capacity(writer.docs().segments().len()), Vec::new());
        for state in writer.docs().segments().to_vec() {
            if state.now.live.count() == 0 {
                gone.push(state.number());
                state.segment.record.note(Went::Dropped);
            } else if has_some(&state, &before, &schema)? {
                segments.push(self.widen_segment(writer, &state, [&before, &schema])?);
            } else {
                segments.push(state);
            }
        }
        let convert = |docs: &PlainColumns, live: &LiveDocs| widen_columns(docs, live, &before, &schema);
        writer.docs_mut().convert_buffer(convert)?;
        // From here on, nothing fails.
        let stayed = writer.docs().segments().iter().filter(|state| !gone.contains(&state.number()));
        for (old, new) in stayed.zip(&segments).filter(|(old, new)| old.number() != new.number()) {
            self.ids.replace(&[old.number()], &new.segment);
            old.segment.record.note(Went::Merged);
        }
        self.ids.remove(&gone);
        writer.put_widened(segments, schema);
        self.note_room(writer);
        Ok(())
    }

    /// Writes a segment again, with its new values.
    fn widen_segment(
        &self,
        writer: &mut Writer,
        state: &SegmentState,
        schemas: [&StoreSchema; 2],
    ) -> Result<SegmentState> {
        let number = writer.take_number();
        let states = std::slice::from_ref(state);
        let written = self.write_merged(states, number, schemas, |_, _, _| {}, &AtomicBool::new(false));
        let file = writer.synced(written)?;
        // From now on, a commit removes the file if it is not used.
        writer.add_file(FileName::Segment(number));
        let segment = StoreSegment::open(&*self.directory, file, self.options.open)?;
        Ok(SegmentState::new(Arc::new(segment)))
    }
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
