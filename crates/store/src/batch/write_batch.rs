//! [`WriteBatch`]: documents to write, to update and to delete, applied together.

use std::sync::Arc;

use docvalues_column::Lists;
use docvalues_writer::{ColumnBatch, Document, FieldId, Schema, SegmentWriter, WriterOptions};

use super::body::BatchBody;
use super::operation::{Condition, Operation, What};
use super::update::{Update, Updates};
use crate::error::{Error, Result};
use crate::schema::StoreSchema;

/// Documents to write, to update and to delete, applied together by [`Store::apply`](crate::Store::apply).
///
/// Operations take effect in their order, so the last one of an id wins, unless versions say otherwise.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Field, Kind, LogicalType};
/// use docvalues_store::{Outcome, Store, StoreOptions, StoreSchema};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("shop");
/// let schema = StoreSchema::new()
///     .with_field(Field::new("sku", Kind::Binary, LogicalType::Utf8))?
///     .with_field(Field::new("price", Kind::Numeric, LogicalType::F64))?
///     .with_id_field("sku")?;
/// let store = Store::create(&path, schema, StoreOptions::default())?;
///
/// let mut batch = store.batch()?;
/// let (sku, price) = (batch.field("sku")?, batch.field("price")?);
/// let mut doc = batch.upsert();
/// doc.str(sku, "A-1")?.f64(price, 9.5)?;
/// doc.finish()?;
/// let mut row = batch.update(); // fields without a value here keep theirs
/// row.str(sku, "A-1")?.f64(price, 8.75)?;
/// row.finish()?;
/// batch.delete(b"B-1");
/// let outcomes = store.apply(batch)?.outcomes;
/// assert_eq!(outcomes, [Outcome::Added, Outcome::Updated, Outcome::NotFound]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Store::apply`](crate::Store::apply) has one with versions and a condition.
#[derive(Debug)]
pub struct WriteBatch {
    pub(crate) schema: Arc<StoreSchema>,
    pub(crate) docs: SegmentWriter<Vec<u8>>,
    /// The new values of updates, a row for each, with the fields to which something else happens than that they are set.
    pub(crate) rows: Option<SegmentWriter<Vec<u8>>>,
    pub(crate) updates: Updates,
    /// The operations, without those of the documents since `settled`, and of the rows that have no changes yet.
    pub(crate) operations: Vec<Operation>,
    settled: u32,
    /// The condition of the documents and rows since.
    condition: Condition,
    pub(crate) deleted: Lists<u8>,
}

impl WriteBatch {
    /// A batch of a store with this schema, which `fields` has [for batches](StoreSchema::for_batches).
    pub(crate) fn new(schema: Arc<StoreSchema>, fields: Schema) -> WriteBatch {
        WriteBatch {
            schema,
            docs: writer(fields),
            rows: None,
            updates: Updates::default(),
            operations: Vec::new(),
            settled: 0,
            condition: Condition::Always,
            deleted: Lists::new(),
        }
    }

    /// The field `name` of the store's schema.
    ///
    /// The id stays valid: it names the same field in every later batch, update and new segment of this store, also after
    /// fields were added and the store was opened again. A batch that was begun before the field was added refuses it. An id of another store may name
    /// another field here.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn field(&self, name: &str) -> Result<FieldId> {
        let unknown =
            || Error::Schema { field: name.to_owned(), why: "expected a field of the schema".to_owned() };
        self.docs.schema().field(name).ok_or_else(unknown)
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        let unsettled = self.docs.docs() - self.settled + (self.row_count() - self.updates.count());
        self.operations.len() + unsettled as usize
    }

    /// Whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory of the documents, in bytes.
    pub fn bytes(&self) -> usize {
        self.docs.buffered() + self.rows.as_ref().map_or(0, SegmentWriter::buffered)
    }

    /// Begins a document, which will replace the one with the same id. Without an id field, it is added.
    #[doc(alias = "updateDocument")]
    pub fn upsert(&mut self) -> Document<'_> {
        self.upsert_if(Condition::Always)
    }

    /// As [`upsert`](Self::upsert), under a condition.
    pub fn upsert_if(&mut self, condition: Condition) -> Document<'_> {
        self.settle(condition);
        self.docs.document()
    }

    /// Begins `docs` documents, column by column.
    ///
    /// # Errors
    ///
    /// If the batch would have too many documents.
    pub fn upsert_columns(&mut self, docs: u32) -> Result<ColumnBatch<'_>> {
        self.settle(Condition::Always);
        Ok(self.docs.batch(docs)?)
    }

    /// The documents of a record batch of Arrow: see [`SegmentWriter::append`].
    ///
    /// # Errors
    ///
    /// As [`SegmentWriter::append`]; no document is added then.
    #[cfg(feature = "arrow")]
    pub fn upsert_record_batch(&mut self, batch: &arrow_array::RecordBatch) -> Result<()> {
        self.settle(Condition::Always);
        self.docs.append(batch)?;
        Ok(())
    }

    /// Begins an update: the fields that are given values are set to them, in the document with the id that is given, too. Other
    /// fields stay as they are.
    ///
    /// In a store with versions, an update with a version takes place if it is above that of the document; one without
    /// leaves the version as it is.
    pub fn update(&mut self) -> Document<'_> {
        self.update_with(&Update::new())
    }

    /// As [`update`](Self::update), with options.
    pub fn update_with(&mut self, update: &Update) -> Document<'_> {
        self.update_rows(update).document()
    }

    /// Begins `rows` updates, column by column.
    ///
    /// # Errors
    ///
    /// If the batch would have too many updates.
    pub fn update_columns(&mut self, rows: u32, update: &Update) -> Result<ColumnBatch<'_>> {
        Ok(self.update_rows(update).batch(rows)?)
    }

    /// The updates of a record batch of Arrow, in which missing values are not changed: see [`SegmentWriter::append`].
    ///
    /// # Errors
    ///
    /// As [`SegmentWriter::append`]; there is no update then.
    #[cfg(feature = "arrow")]
    pub fn update_record_batch(&mut self, batch: &arrow_array::RecordBatch, update: &Update) -> Result<()> {
        self.update_rows(update).append(batch)?;
        Ok(())
    }

    /// The writer of rows, of which the next ones are of these updates.
    fn update_rows(&mut self, update: &Update) -> &mut SegmentWriter<Vec<u8>> {
        self.settle(update.condition);
        self.updates.begin(update);
        self.rows.get_or_insert_with(|| writer(self.docs.schema().clone()))
    }

    /// Deletes the document with this id. In a store with versions, the deletion has that of the document.
    pub fn delete(&mut self, id: &[u8]) {
        self.delete_if(id, Condition::Always);
    }

    /// As [`delete`](Self::delete), under a condition.
    pub fn delete_if(&mut self, id: &[u8], condition: Condition) {
        self.push_delete(id, None, condition);
    }

    /// Deletes the document with this id, unless it has a version at least as high. Documents that arrive later with a
    /// lower version are stale.
    pub fn delete_version(&mut self, id: &[u8], version: u64) {
        self.push_delete(id, Some(version), Condition::Always);
    }

    fn push_delete(&mut self, id: &[u8], version: Option<u64>, condition: Condition) {
        self.settle(Condition::Always);
        let what = What::Delete(self.deleted.len(), version);
        self.deleted.push(id);
        self.operations.push(Operation { what, condition, is_refused: false });
    }

    /// Takes the batch of a frame, which is consistent. This one is empty.
    ///
    /// # Errors
    ///
    /// If a value does not fit its field.
    pub(crate) fn fill(&mut self, body: BatchBody) -> Result<()> {
        let BatchBody { docs, updates, operations, deleted } = body;
        self.docs.append_plain(&docs)?;
        if updates.count() > 0 {
            self.update_rows(&Update::new()).append_plain(&updates.rows)?;
            self.updates = updates;
        }
        (self.operations, self.deleted, self.settled) = (operations, deleted, self.docs.docs());
        Ok(())
    }

    /// Makes operations of the documents and rows that were finished.
    pub(crate) fn settle(&mut self, next: Condition) {
        let condition = self.condition;
        let operation = |what| Operation { what, condition, is_refused: false };
        // Only one of them has grown.
        self.operations.extend((self.settled..self.docs.docs()).map(What::Write).map(operation));
        let rows = self.row_count();
        self.operations.extend((self.updates.count()..rows).map(What::Update).map(operation));
        self.updates.finish(rows);
        (self.settled, self.condition) = (self.docs.docs(), next);
    }

    fn row_count(&self) -> u32 {
        self.rows.as_ref().map_or(0, SegmentWriter::docs)
    }
}

/// A writer that keeps all values in memory.
fn writer(schema: Schema) -> SegmentWriter<Vec<u8>> {
    let options = WriterOptions::new().budget(usize::MAX);
    SegmentWriter::in_memory(schema, options)
}
