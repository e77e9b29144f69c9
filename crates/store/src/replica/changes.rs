//! [`Changes`]: the operations of a store's batches, read from the frames of its log.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use docvalues_column::{Field, PlainColumn, PlainColumns, PlainValues, Value, bits};
use docvalues_storage::{Directory, FsDirectory};

use super::frames::{Frame, Frames, within};
use crate::batch::body::{BatchBody, Body, Decided, FrameBody};
use crate::batch::{Change, What};
use crate::error::{Error, Result};
use crate::files::CommitFile;
use crate::log::decode_frame;
use crate::read::{HeldCommit, StoreReader};
use crate::schema::{SchemaEntry, StoreSchema};
#[cfg(doc)]
use crate::store::Store;
use crate::versions::VersionField;

/// The kind of a [`StoreChange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Changed {
    /// A document was written. It replaced the one with the same id.
    Upsert,
    /// Fields of the document with the id were changed.
    Update,
    /// The document with the id was deleted, if there was one.
    Delete,
}

/// An operation of a batch that took place: an item of [`Changes`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreChange {
    /// The sequence number of its batch. Operations of a batch follow each other, in their order.
    pub sequence: u64,
    /// The kind.
    pub changed: Changed,
    /// The id of the document; `None` in a store without ids.
    pub id: Option<Vec<u8>>,
    /// The version that a deletion was given, if any.
    pub version: Option<u64>,
    /// All fields of an upsert that have values, with the id and a version that was assigned; the fields that an update
    /// names, with its id; none of a deletion.
    pub fields: Vec<FieldChange>,
}

/// The values of a field in a [`StoreChange`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldChange {
    /// The field.
    pub field: Arc<Field>,
    /// The effect of the values; [`Change::Set`] in an upsert.
    pub change: Change,
    /// The values, in the type of the field; none if they were removed.
    pub values: Vec<Value>,
}

/// The changes of a store, in order: [`Store::changes`].
///
/// Ends after the last change that was written. Later calls return what was written since. After an error, it ends for good.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Field, Kind, LogicalType};
/// use docvalues_store::{Changed, Store, StoreOptions, StoreSchema};
///
/// # let folder = tempfile::tempdir()?;
/// let schema = StoreSchema::new()
///     .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
///     .with_id_field("id")?;
/// let options = StoreOptions::new().keep_frames(64 << 20);
/// let store = Store::create(folder.path().join("hits"), schema, options)?;
/// let snapshot = store.snapshot();
///
/// let mut batch = store.batch()?;
/// let id = batch.field("id")?;
/// let mut doc = batch.upsert();
/// doc.str(id, "a")?;
/// doc.finish()?;
/// batch.delete(b"b");
/// store.apply(batch)?;
///
/// let mut changes = store.changes(snapshot.sequence())?;
/// let first = changes.next().transpose()?.expect("an upsert");
/// assert_eq!((first.changed, first.id.as_deref()), (Changed::Upsert, Some(&b"a"[..])));
/// assert_eq!(changes.next().transpose()?.map(|change| change.changed), Some(Changed::Delete));
/// assert!(changes.next().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Changes {
    frames: Frames,
    /// Only the fields of batches up to this one are read.
    from: u64,
    schema: Arc<StoreSchema>,
    fields: Vec<Arc<Field>>,
    /// Those of the last batch that were not returned.
    queue: VecDeque<StoreChange>,
    is_failed: bool,
}

impl StoreReader {
    /// As [`Store::changes`], of a store that another process writes.
    ///
    /// # Errors
    ///
    /// As [`Store::changes`].
    pub fn changes(path: impl AsRef<Path>, from_sequence: u64) -> Result<Changes> {
        StoreReader::changes_in(Arc::new(FsDirectory::new(path)), from_sequence)
    }

    /// As [`changes`](Self::changes), in any directory.
    ///
    /// # Errors
    ///
    /// As [`changes`](Self::changes).
    pub fn changes_in(directory: Arc<dyn Directory>, from_sequence: u64) -> Result<Changes> {
        let newest = || -> Result<(Arc<StoreSchema>, u64)> {
            let commit = HeldCommit::of(directory.clone(), None)?;
            let CommitFile { schema, sequence, .. } = &commit.files().commit;
            Ok((Arc::new(schema.clone()), *sequence))
        };
        let mut known = newest()?;
        loop {
            let changes = Changes::open(&directory, known.clone(), from_sequence);
            let Err(Error::TooOld { .. }) = changes else { return changes };
            // The batches after the commit that was known may be gone since.
            let now = newest()?;
            if now.1 == known.1 {
                return changes;
            }
            known = now;
        }
    }
}

impl Changes {
    /// The changes after batch `from`, in a store whose schema after batch `known` is `schema`.
    pub(super) fn open(
        directory: &Arc<dyn Directory>,
        (schema, known): (Arc<StoreSchema>, u64),
        from: u64,
    ) -> Result<Changes> {
        let open = |after| {
            let commit = HeldCommit::of(directory.clone(), None)?;
            Frames::open_explained(directory.clone(), &commit, after)
        };
        // Values before a change that the log does not hold may be of other types than those of the schema.
        let (mut frames, mut last) = (open(from)?, None);
        loop {
            match frames.next_frame() {
                Ok(Some(frame)) if frame.needs_commit => last = Some(frame.sequence),
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => return Err(frames.explain(error)),
            }
        }
        if let Some(last) = last {
            return Err(frames.too_old(from, last + 1));
        }
        let (frames, fields) = (open(from.min(known))?, shared(&schema));
        Ok(Changes { frames, from, schema, fields, queue: VecDeque::new(), is_failed: false })
    }

    /// Waits for the next change, but not longer than `time`.
    ///
    /// # Errors
    ///
    /// As [`Store::changes`].
    pub fn wait(&mut self, time: Duration) -> Result<Option<StoreChange>> {
        within(time, || self.next().transpose())
    }

    fn next_change(&mut self) -> Result<Option<StoreChange>> {
        loop {
            if let Some(change) = self.queue.pop_front() {
                return Ok(Some(change));
            }
            let next = self.frames.next_frame().map_err(|error| self.frames.explain(error))?;
            let Some(frame) = next else { return self.frames.check_end().map(|()| None) };
            if frame.needs_commit && frame.sequence > self.from {
                return Err(self.frames.too_old(frame.sequence - 1, frame.sequence + 1));
            }
            self.read(&frame)?;
        }
    }

    /// Reads the changes of a frame.
    fn read(&mut self, frame: &Frame) -> Result<()> {
        let (_, queued) = decode_frame(&frame.bytes)?;
        let damaged = |what| self.frames.damaged(what);
        let (_, body, decided) = FrameBody::read(queued.body).map_err(damaged)?;
        match body {
            Body::Batch(batch) if frame.sequence > self.from => {
                self.queue = self.changes_of(frame.sequence, &batch, &decided).map_err(damaged)?;
            }
            Body::Fields(schema) | Body::Other(schema, _) => {
                let entry: SchemaEntry =
                    serde_json::from_slice(&schema).map_err(|error| damaged(error.to_string()))?;
                let schema = StoreSchema::try_from(entry).map_err(damaged)?;
                // Not one of those that led to the schema at the beginning.
                if frame.sequence <= self.from || schema.extends(&self.schema) {
                    self.fields = shared(&schema);
                    self.schema = Arc::new(schema);
                }
            }
            Body::Batch(_) | Body::UserData(_) => {}
        }
        Ok(())
    }

    /// The operations of a batch that took place. Fails with what is wrong.
    fn changes_of(
        &self,
        sequence: u64,
        batch: &BatchBody,
        Decided { first_version, took_place }: &Decided,
    ) -> Result<VecDeque<StoreChange>, String> {
        let BatchBody { docs, updates, operations, deleted } = batch;
        let has_bits = took_place.is_empty() || took_place.len() * 64 >= operations.len();
        let columns = docs.columns().len().max(updates.rows.columns().len());
        let has_fields = updates.kinds.iter().flatten().all(|(place, _)| *place < self.fields.len());
        if !batch.is_consistent() || !has_bits || !has_fields || columns > self.fields.len() {
            return Err("expected operations that fit each other, found others".to_owned());
        }
        let (id, version) = (self.schema.id_place(), VersionField::of(&self.schema));
        let mut next = *first_version;
        let mut changes = VecDeque::with_capacity(operations.len());
        for (at, operation) in operations.iter().enumerate() {
            let mut change = StoreChange {
                sequence,
                changed: Changed::Upsert,
                id: None,
                version: None,
                fields: Vec::new(),
            };
            match operation.what {
                What::Write(doc) => {
                    change.id = id_of(docs, doc, id);
                    let places = (0..docs.columns().len()).map(|place| (place, Change::Set));
                    change.fields = places.filter_map(|at| self.field(docs, doc, at)).collect();
                    let is_missing = |field: &VersionField| {
                        docs.column(field.place).is_none_or(|column| !column.has_value(doc))
                    };
                    // Operations that did not take place were given one, too.
                    if let Some((field, given)) = version.filter(is_missing).zip(next) {
                        next = Some(given.saturating_add(1));
                        let stored = field.stored(given);
                        let field = self.fields[field.place].clone();
                        let values = vec![Value::of(field.logical, stored)];
                        change.fields.push(FieldChange { field, change: Change::Set, values });
                    }
                }
                What::Update(row) => {
                    change.changed = Changed::Update;
                    change.id = id_of(&updates.rows, row, id);
                    for place in updates.fields(row) {
                        let effect = updates.change(row, place).unwrap_or(Change::Set);
                        let field = self.fields[place].clone();
                        let unset = FieldChange { field, change: effect, values: Vec::new() };
                        let set = self.field(&updates.rows, row, (place, effect));
                        change.fields.push(set.unwrap_or(unset));
                    }
                }
                What::Delete(place, version) => {
                    (change.changed, change.version) = (Changed::Delete, version);
                    change.id = Some(deleted.get(place).to_vec());
                }
            }
            if took_place.is_empty() || bits::get(took_place, at) {
                changes.push_back(change);
            }
        }
        Ok(changes)
    }

    /// The values of a document in a field, if it has some.
    fn field(&self, docs: &PlainColumns, doc: u32, (place, change): (usize, Change)) -> Option<FieldChange> {
        let column = docs.column(place).filter(|column| column.has_value(doc))?;
        let field = self.fields[place].clone();
        let values = values(column, doc, &field);
        Some(FieldChange { field, change, values })
    }
}

impl Iterator for Changes {
    type Item = Result<StoreChange>;

    fn next(&mut self) -> Option<Result<StoreChange>> {
        if self.is_failed {
            return None;
        }
        let next = self.next_change();
        self.is_failed = next.is_err();
        next.transpose()
    }
}

fn shared(schema: &StoreSchema) -> Vec<Arc<Field>> {
    schema.fields().iter().cloned().map(Arc::new).collect()
}

/// The id of a document, of which `field` is the place, if there are ids.
fn id_of(docs: &PlainColumns, doc: u32, field: Option<usize>) -> Option<Vec<u8>> {
    docs.column(field?)?.string(doc).map(<[u8]>::to_vec)
}

fn values(column: &PlainColumn, doc: u32, field: &Field) -> Vec<Value> {
    match column.values() {
        PlainValues::Numbers(_) => {
            column.numbers(doc).iter().map(|stored| Value::of(field.logical, *stored)).collect()
        }
        PlainValues::Strings(_) => column.strings(doc).map(|bytes| Value::Bytes(bytes.to_vec())).collect(),
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use docvalues_column::{Kind, Lists, LogicalType};
    use docvalues_testkit::faults::PowerLossDirectory;

    use super::*;
    use crate::batch::{Condition, Operation, Updates};
    use crate::options::StoreOptions;
    use crate::store::Store;

    #[test]
    fn updates_of_fields_that_the_store_never_had_are_damage() {
        let schema =
            StoreSchema::new().with_field(Field::new("id", Kind::Binary, LogicalType::Utf8)).unwrap();
        let disk = Arc::new(PowerLossDirectory::new("/disk"));
        let options = StoreOptions::new().keep_frames(1 << 20);
        let store = Store::create_in(disk, schema.with_id_field("id").unwrap(), options).unwrap();
        for place in [1, usize::MAX] {
            let rows = PlainColumns::new(1, Vec::new()).unwrap();
            let updates = Updates { rows, of_rows: vec![0], kinds: vec![vec![(place, Change::Unset)]] };
            let what = What::Update(0);
            let operations = vec![Operation { what, condition: Condition::Always, is_refused: false }];
            let docs = PlainColumns::default();
            let mut body =
                FrameBody::of(&Body::Batch(BatchBody { docs, updates, operations, deleted: Lists::new() }));
            body.decide(&Decided::default());
            let before = store.position().sequence;
            store.change_quietly(|writer| writer.applied(body)).unwrap();
            let mut changes = store.changes(before).unwrap();
            let error = changes.next().unwrap().unwrap_err().to_string();
            assert!(error.contains("expected operations that fit each other"), "{error}");
            assert!(changes.next().is_none());
        }
    }
}
