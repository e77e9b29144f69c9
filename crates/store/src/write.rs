//! Applies batches and other changes to the documents of a store.
//!
//! ```text
//! prepare   a batch is checked, and its ids are looked up in segments    outside of the lock
//! read      what its updates need is read from segments
//! apply     documents are appended, updated and deleted                  in the lock
//! ```
//!
//! | module | |
//! | --- | --- |
//! | `prepare`, `read_for_updates` | what a batch needs from segments |
//! | `apply` | a batch is applied, and put into the log |
//! | `apply_operation` | one operation, with the document that has its id now, also of the same batch |
//! | `make_room` | what is due before a batch |
//! | `fill_store_ids` | the table of all ids is filled |
//! | `updates`, `delete` | updates and deletes by query and by address |
//! | `matches` | the documents that match a query |
//! | `get` | a document as it is now |
//! | `add_segment` | segments that are built or copied |
//! | `wait_for_log` | the log is written or synced |
//! | `replay` | batches of a log, applied again |
//!
//! Knows nothing of replicas, and of threads only what they are asked for.

mod add_segment;
mod apply;
mod apply_operation;
mod delete;
mod fill_store_ids;
mod get;
mod make_room;
mod matches;
mod prepare;
mod read_for_updates;
mod replay;
mod updates;
mod wait_for_log;

use std::path::Path;
use std::time::Instant;

use docvalues_column::{DocAddress, Field};
use docvalues_search::Query;
use docvalues_search::export::Chunk;

pub use add_segment::{Added, NewSegment};
use apply::apply_prepared;
use delete::delete;
pub(crate) use fill_store_ids::fill_table_if_it_pays;
use get::get;
pub(crate) use make_room::make_room;
use matches::Matches;
use prepare::prepare;
pub(crate) use replay::{Wrong, decode_next, replay, replay_decoded, replay_frame};
use updates::{prepare_updates, update_found};
pub(crate) use wait_for_log::{sync_log, wait_for_log};

use crate::batch::{Applied, Outcome, WriteBatch};
use crate::error::{Error, Result};
use crate::read::Snapshot;
use crate::store::{Store, Writer};

impl Store {
    /// Begins a batch of documents of the store's fields.
    ///
    /// # Errors
    ///
    /// None, as long as the schema is one that a segment can have.
    pub fn batch(&self) -> Result<WriteBatch> {
        self.snapshot().batch()
    }

    /// Writes, updates and deletes documents, all together: an error leaves the store as it was.
    ///
    /// The documents are visible in the snapshots taken after the next [`refresh`](Self::refresh) or any other change,
    /// and durable as [`Durability`](crate::Durability) says. Any number of threads may call this at a time; they wait
    /// for each other only while a batch is put into the buffer. If the buffer takes half of
    /// [`buffer_bytes`](crate::StoreOptions::buffer_bytes), a thread writes it to a segment, and calls wait once the other half
    /// is full, too. Without a [`Background`](crate::Background), the store starts that thread, or the call writes the buffer: if
    /// it takes less than 1 MiB or more than `buffer_bytes`, if it could not be written before, or if the store has an
    /// [`Observer`](crate::Observer).
    ///
    /// O(operations), and for each id the look-up in the segments; and for updates, O(changed documents of the blocks of 16,384
    /// that they touch).
    ///
    /// # Versions
    ///
    /// If the schema has a [version field](crate::StoreSchema::with_version_field), the highest version of an id wins, in any
    /// order of arrival. The version is the value of that field. A document without one is given the next one: the
    /// microseconds since 1970, or one more than the highest that the store ever had, whichever is more. A store that has given
    /// one refuses versions of 2^63 and more (2^62 in a field of type `i64`), after which it could give none; and a store that
    /// has such a version refuses documents without one.
    ///
    /// # Errors
    ///
    /// If the batch has fields that the store has not, a document without an id in a store with ids, or a condition or
    /// version that the store cannot compare; if an update changes a key of the index sort, leaves a document without a
    /// version, or adds a value to a single-valued field; if a segment is damaged; or if a full buffer cannot be written.
    /// Nothing is changed then. If the log cannot be written, the batch may be there when the store is opened again, which it must
    /// be.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_store::{Condition, Outcome, Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let schema = StoreSchema::new()
    ///     .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
    ///     .with_field(Field::new("time", Kind::Numeric, LogicalType::I64))?
    ///     .with_id_field("id")?
    ///     .with_version_field("time")?;
    /// let store = Store::create(&path, schema, StoreOptions::default())?;
    ///
    /// let mut batch = store.batch()?;
    /// let (id, time) = (batch.field("id")?, batch.field("time")?);
    /// for (name, at) in [("a", 7), ("b", 7), ("a", 5), ("b", 8)] {
    ///     let mut doc = batch.upsert();
    ///     doc.str(id, name)?.i64(time, at)?;
    ///     doc.finish()?;
    /// }
    /// batch.delete_if(b"b", Condition::Version(8));
    /// let applied = store.apply(batch)?;
    /// let stale = Outcome::Stale { current: 7 };
    /// assert_eq!(applied.outcomes, [Outcome::Added, Outcome::Added, stale, Outcome::Replaced, Outcome::Deleted]);
    ///
    /// assert!(store.refresh()?);
    /// assert_eq!(store.snapshot().docs(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "addDocuments")]
    pub fn apply(&self, batch: WriteBatch) -> Result<Applied> {
        let began = Instant::now();
        make_room(self)?;
        let mut prepared = prepare(self, batch)?;
        if self.log.is_some() {
            prepared.encode_body()?;
        }
        let applied = apply_prepared(self, prepared)?;
        wait_for_log(self, applied.sequence)?;
        self.note_done(&self.counters.applied, "apply", began);
        Ok(applied)
    }

    /// The values that the document with this id has now in some columns, in one row: also those that were applied and that no
    /// [`refresh`](Self::refresh) has published. `None` if there is no document.
    ///
    /// O(segments), mostly a filter of each, and the columns; waits for the lock of the store, but reads columns outside of it.
    ///
    /// # Errors
    ///
    /// If the store has no id field or no such column, or cannot be written any more; if a segment is damaged.
    ///
    /// # Examples
    ///
    /// See [`Update::add`](crate::Update::add).
    pub fn get<S: AsRef<str>>(&self, id: &[u8], columns: &[S]) -> Result<Option<Chunk>> {
        get(self, id, columns)
    }

    /// Updates the documents that match a query, by the only update of a batch. Returns how many were updated: all that
    /// matched, but for those with a version that is at least that of the update.
    ///
    /// It searches as [`delete_where`](Self::delete_where) does; other changes wait while the documents are updated. In a store with
    /// a log, it is committed.
    ///
    /// # Errors
    ///
    /// If the batch has other operations, an update with an id, a condition, or more than one; if a field cannot be updated, as in
    /// [`apply`](Self::apply); and as [`Search::filter`](docvalues_search::Search::filter). Nothing is changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_search::Query;
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let schema = StoreSchema::new().with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?;
    /// let store = Store::create(&path, schema, StoreOptions::default())?;
    /// let mut batch = store.batch()?;
    /// let size = batch.field("size")?;
    /// for value in [7, 512, 70] {
    ///     let mut doc = batch.upsert();
    ///     doc.i64(size, value)?;
    ///     doc.finish()?;
    /// }
    /// store.apply(batch)?;
    /// store.commit()?;
    ///
    /// let mut batch = store.batch()?;
    /// let mut doc = batch.update();
    /// doc.i64(size, 50)?;
    /// doc.finish()?;
    /// assert_eq!(store.update_where(&Query::range("size", 50..), batch)?, 2);
    /// assert_eq!(store.snapshot().search().count(&Query::eq("size", 50))?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "updateDocValues")]
    pub fn update_where(&self, query: &Query, batch: WriteBatch) -> Result<u64> {
        let (resolved, schema) = prepare_updates(self, batch)?;
        if resolved.updates.count() != 1 {
            let found = resolved.updates.count();
            return Err(Error::Request(format!("expected a batch of one update, found {found}")));
        }
        let mut matches = Matches::search(self, query)?;
        update_found(self, (resolved, &schema), &mut |writer| matches.places(self, writer))
    }

    /// Updates documents by their addresses in a snapshot: each by the update with the same place in a batch, or all by its
    /// only one. Returns how many were updated: those that were not deleted, nor have a version that is at least that of
    /// their update.
    ///
    /// # Errors
    ///
    /// As [`update_where`](Self::update_where), and as [`delete`](Self::delete). Nothing is changed then.
    pub fn update(&self, snapshot: &Snapshot, docs: &[DocAddress], batch: WriteBatch) -> Result<u64> {
        let (resolved, schema) = prepare_updates(self, batch)?;
        let updates = resolved.updates.count();
        if updates != 1 && updates as usize != docs.len() {
            let expected = docs.len();
            return Err(Error::Request(format!(
                "expected a batch of one update, or {expected}, found {updates}"
            )));
        }
        update_found(self, (resolved, &schema), &mut |writer| writer.docs.require(snapshot, docs))
    }

    /// Deletes the documents with these ids. Returns how many there were. As [`apply`](Self::apply) and
    /// [`refresh`](Self::refresh).
    ///
    /// # Errors
    ///
    /// If the store has no id field, or a segment is damaged. Nothing is deleted then.
    pub fn delete_ids(&self, ids: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<u64> {
        let mut batch = self.batch()?;
        ids.into_iter().for_each(|id| batch.delete(id.as_ref()));
        let applied = self.apply(batch)?;
        self.refresh()?;
        Ok(applied.outcomes.iter().filter(|outcome| **outcome == Outcome::Deleted).count() as u64)
    }

    /// Deletes the documents that match a query. Returns how many there were.
    ///
    /// The calling thread searches, also documents that no [`refresh`](Self::refresh) has published. Other changes go on meanwhile,
    /// and wait only while it looks at the documents that changed since it began, and at segments that were merged. To search with
    /// several threads, filter a snapshot, and [`delete`](Self::delete) what was found.
    ///
    /// A query with a set of documents is searched while others wait, and the set names documents by their places at that moment.
    /// To delete a set that a snapshot returned, call [`delete`](Self::delete).
    ///
    /// # Errors
    ///
    /// As [`Search::filter`](docvalues_search::Search::filter). Nothing is deleted then.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_search::Query;
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let schema = StoreSchema::new().with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?;
    /// let store = Store::create(folder.path().join("hits"), schema, StoreOptions::default())?;
    /// let mut batch = store.batch()?;
    /// let size = batch.field("size")?;
    /// for value in [7, 512, 70] {
    ///     let mut doc = batch.upsert();
    ///     doc.i64(size, value)?;
    ///     doc.finish()?;
    /// }
    /// store.apply(batch)?;
    /// store.commit()?;
    /// assert_eq!(store.delete_where(&Query::range("size", ..100))?, 2);
    /// assert_eq!(store.snapshot().docs(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delete_where(&self, query: &Query) -> Result<u64> {
        let mut matches = Matches::search(self, query)?;
        change_and_commit(self, |writer| {
            let found = matches.places(self, writer)?;
            Ok(delete(writer, found))
        })
    }

    /// Deletes documents by their addresses in a snapshot. Returns how many were not deleted before.
    ///
    /// The addresses must be those of this snapshot, such as of its searches. They keep their meaning while it lives, also when
    /// documents are updated, written to segments, committed and merged.
    ///
    /// # Errors
    ///
    /// If there is no such document; [`Error::OtherSnapshot`](crate::Error::OtherSnapshot) if the snapshot is of another store, or
    /// if it is a reader's or of an earlier opening and the document was lost, or its segment merged. Nothing is deleted then.
    pub fn delete(&self, snapshot: &Snapshot, docs: &[DocAddress]) -> Result<u64> {
        change_and_commit(self, |writer| {
            let found = writer.docs.require(snapshot, docs)?;
            Ok(delete(writer, found))
        })
    }

    /// Begins a segment with the fields, ids and order of the store.
    ///
    /// # Errors
    ///
    /// If its file cannot be created, or the store has a version field.
    pub fn new_segment(&self) -> Result<NewSegment<'_>> {
        add_segment::begin(self)
    }

    /// Copies the segment in the file `path` into the store, and adds it. Fields that the store does not have are
    /// added to its schema.
    ///
    /// # Errors
    ///
    /// If the store has a version field; if the segment is damaged; if a field has another kind or type than in the
    /// store; if it lacks the store's index of ids or its order; or if it cannot be copied.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    /// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let [path, file] = ["hits", "hits.dv"].map(|name| folder.path().join(name));
    /// let mut schema = Schema::new();
    /// let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// let mut writer = SegmentWriter::create(&file, schema, WriterOptions::default())?;
    /// let mut doc = writer.document();
    /// doc.i64(size, 512)?;
    /// doc.finish()?;
    /// writer.finish()?;
    ///
    /// let store = Store::create(&path, StoreSchema::new(), StoreOptions::default())?;
    /// assert_eq!(store.add_segment(&file)?.docs, 1);
    /// store.commit()?;
    /// assert!(store.snapshot().schema().field("size").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_segment(&self, path: impl AsRef<Path>) -> Result<Added> {
        add_segment::add_copy(self, path.as_ref())
    }

    /// Adds a field, for segments that are written from now on.
    ///
    /// # Errors
    ///
    /// As [`StoreSchema::with_field`](crate::StoreSchema::with_field).
    pub fn add_field(&self, field: Field) -> Result<()> {
        change_and_commit(self, |writer| writer.change_schema(|schema| schema.with_field(field)))
    }

    /// Adds fields, and gives those that are there already the [format](docvalues_column::Field::format) of these, for
    /// segments that are written from now on. In a store with a log, this is as durable as the next batch.
    ///
    /// # Errors
    ///
    /// As [`StoreSchema::with_field`](crate::StoreSchema::with_field); nothing is changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let store = Store::create(&path, StoreSchema::new(), StoreOptions::default())?;
    /// let day = Field::new("day", Kind::Numeric, LogicalType::Date);
    /// store.set_fields([day.clone()])?;
    /// store.set_fields([Field { format: Some("%d.%m.%Y".to_owned()), ..day }])?;
    /// assert_eq!(store.snapshot().schema().fields()[0].format.as_deref(), Some("%d.%m.%Y"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_fields(&self, fields: impl IntoIterator<Item = Field>) -> Result<()> {
        let fields = fields.into_iter().collect();
        self.change(|writer| {
            writer.require_leader(&*self.directory)?;
            writer.change_schema(|schema| schema.with_formats(fields))
        })
    }
}

/// As [`Store::change`], for changes that the log does not hold.
fn change_and_commit<R>(store: &Store, change: impl FnOnce(&mut Writer) -> Result<R>) -> Result<R> {
    let changed = store.change(|writer| {
        writer.require_leader(&*store.directory)?;
        change(writer)
    })?;
    if store.log.is_some() {
        store.commit()?;
    }
    Ok(changed)
}
