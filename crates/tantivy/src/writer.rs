//! [`Writer`]: documents and values are written, and committed.

use std::collections::HashSet;
use std::sync::Arc;

use docvalues::FieldId;
use docvalues::store::{MergePolicy, Outcome, Update, WriteBatch};
use docvalues::writer::{Document, Result as WriteResult};
use tantivy::{Directory as _, IndexWriter, TantivyDocument, TantivyError, Term};

use crate::commits::user_data;
use crate::error::{Error, Result};
use crate::key::{KEY, id_of};
use crate::shared::Shared;
use crate::text_batch::TextBatch;

/// The writer of an [`Index`](crate::Index), of which there is one.
///
/// | change | is visible | is durable |
/// | --- | --- | --- |
/// | [`add`](Self::add), [`delete`](Self::delete) | after [`commit`](Self::commit) | then |
/// | [`update`](Self::update) of a committed document | after [`refresh`](Self::refresh) | after `commit` |
/// | `update` of a document that was added or deleted since the last commit | after `commit` | then |
///
/// # Examples
///
/// See the [crate](crate).
pub struct Writer {
    shared: Arc<Shared>,
    text: IndexWriter,
    /// Changes that tantivy does not have yet.
    batch: TextBatch,
    /// The key in the columns.
    key: FieldId,
    /// Documents of the columns for the next commit.
    pending: WriteBatch,
    /// Their keys.
    pending_keys: HashSet<u64>,
    /// Updates of committed documents for the next refresh.
    updates: WriteBatch,
    merge: Option<MergePolicy>,
    is_broken: bool,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>, text: IndexWriter, merge: Option<MergePolicy>) -> Result<Writer> {
        take_stamp(&text)?;
        let (pending, updates) = (shared.store.batch()?, shared.store.batch()?);
        let key = pending.field(KEY)?;
        let (batch, pending_keys) = (TextBatch::default(), HashSet::new());
        Ok(Writer { shared, text, batch, key, pending, pending_keys, updates, merge, is_broken: false })
    }

    /// The field `name` of the columns. It stays valid, also in later openings.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn field(&self, name: &str) -> Result<FieldId> {
        Ok(self.pending.field(name)?)
    }

    /// Adds a document in the place of the one with the same key: `text` to tantivy, and the values that `columns` sets to the
    /// columns. Neither sets the key.
    ///
    /// Values of the columns are in memory until [`commit`](Self::commit): see [`pending_bytes`](Self::pending_bytes).
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] if `text` has a key; if `columns` fails, or a value does not fit its field: nothing is added then. If
    /// tantivy fails, the writer is [broken](Error::Broken).
    pub fn add(
        &mut self,
        key: u64,
        mut text: TantivyDocument,
        columns: impl FnOnce(&mut Document<'_>) -> WriteResult<()>,
    ) -> Result<()> {
        self.require_whole()?;
        if text.get_first(self.shared.key).is_some() {
            return Err(Error::Schema { field: KEY.to_owned() });
        }
        let id = id_of(key);
        // A deletion in tantivy costs a look-up in each segment.
        let is_known = self.pending_keys.contains(&key) || self.shared.view().snapshot.find(&id)?.is_some();
        let mut doc = self.pending.upsert();
        doc.bytes(self.key, &id)?;
        columns(&mut doc)?;
        doc.finish()?;
        self.pending_keys.insert(key);
        if is_known {
            self.batch.delete(Term::from_field_u64(self.shared.key, key));
        }
        text.add_u64(self.shared.key, key);
        self.batch.add(text);
        self.send_if_full()
    }

    /// Deletes the document with a key, if there is one.
    ///
    /// # Errors
    ///
    /// If tantivy fails, the writer is [broken](Error::Broken).
    pub fn delete(&mut self, key: u64) -> Result<()> {
        self.require_whole()?;
        self.pending.delete(&id_of(key));
        self.pending_keys.insert(key);
        self.batch.delete(Term::from_field_u64(self.shared.key, key));
        self.send_if_full()
    }

    /// Sets the values that `columns` sets in the document with a key. Nothing is written to the text.
    ///
    /// # Errors
    ///
    /// If `columns` fails, or a value does not fit its field: nothing is changed then.
    pub fn update(
        &mut self,
        key: u64,
        columns: impl FnOnce(&mut Document<'_>) -> WriteResult<()>,
    ) -> Result<()> {
        self.update_with(key, &Update::new(), columns)
    }

    /// As [`update`](Self::update), with options: values are added, removed or computed.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub fn update_with(
        &mut self,
        key: u64,
        update: &Update,
        columns: impl FnOnce(&mut Document<'_>) -> WriteResult<()>,
    ) -> Result<()> {
        self.require_whole()?;
        let batch = match self.pending_keys.contains(&key) {
            true => &mut self.pending,
            false => &mut self.updates,
        };
        let mut doc = batch.update_with(update);
        doc.bytes(self.key, &id_of(key))?;
        columns(&mut doc)?;
        doc.finish()?;
        Ok(())
    }

    /// The approximate memory of what waits for a commit or a refresh, in bytes. Commit when it is too much.
    pub fn pending_bytes(&self) -> usize {
        /// A key, with its place in the list of deletions and in the table.
        const KEY_BYTES: usize = 64;
        self.pending.bytes() + self.updates.bytes() + self.pending_keys.len() * KEY_BYTES
    }

    /// Makes the updates of committed documents visible to the next searchers. Returns the outcome of each since the last refresh
    /// or commit, in their order: a document that is not there is [`Outcome::NotFound`].
    ///
    /// # Errors
    ///
    /// If an update cannot take place, such as one of a sort key: none of them does then, and they are dropped.
    pub fn refresh(&mut self) -> Result<Vec<Outcome>> {
        self.require_whole()?;
        let outcomes = self.apply_updates()?;
        self.shared.publish(self.shared.view().text.clone())?;
        Ok(outcomes)
    }

    /// Makes all changes durable, and visible to the next searchers: those of text and columns together, or neither. Returns
    /// the outcomes of updates of committed documents, as [`refresh`](Self::refresh); others have none.
    ///
    /// Waits for a merge of the columns that is running, unless [`Options::merge`](crate::Options::merge) is `None`.
    ///
    /// Without added and deleted documents, only the columns are written.
    ///
    /// # Errors
    ///
    /// As [`refresh`](Self::refresh): nothing is committed then. If an update of a document that was added since the last commit
    /// cannot take place, all documents that were added and deleted since are dropped, in text and columns, and the other updates
    /// are visible after the next refresh, without an outcome. If either commit fails, the writer is [broken](Error::Broken).
    pub fn commit(&mut self) -> Result<Vec<Outcome>> {
        self.require_whole()?;
        if let Some(policy) = &self.merge {
            self.shared.store.merge(policy)?;
        }
        let outcomes = self.apply_updates()?;
        match self.pending_keys.is_empty() {
            true => {
                // Its user data stays.
                self.shared.store.commit()?;
                self.shared.publish(self.shared.view().text.clone())?;
            }
            false => self.commit_both()?,
        }
        Ok(outcomes)
    }

    /// Commits columns and text. After a kill between them, opening finds that the columns' commit names another operation than
    /// the text's, and goes back to the one before.
    fn commit_both(&mut self) -> Result<()> {
        let Shared { store, reader, .. } = &*self.shared;
        let pending = std::mem::replace(&mut self.pending, store.batch()?);
        self.pending_keys.clear();
        self.is_broken = true;
        self.batch.send(&self.text)?;
        let prepared = self.text.prepare_commit()?;
        if let Err(error) = store.apply(pending) {
            prepared.abort()?;
            take_stamp(&self.text)?;
            self.is_broken = false;
            return Err(error.into());
        }
        store.commit_with(&user_data(prepared.opstamp()))?;
        prepared.commit()?;
        // Otherwise a loss of power could lose the name of the text's commit, and the next commit of the columns removes theirs
        // before.
        self.text.index().directory().sync_directory().map_err(TantivyError::from)?;
        reader.reload()?;
        self.shared.publish(reader.searcher())?;
        self.is_broken = false;
        Ok(())
    }

    /// Merges all segments of the text into one, and all of the columns. Takes as long as writing them. The next commit makes
    /// the merge of the columns durable; that of the text is at once, as it changes no document.
    ///
    /// # Errors
    ///
    /// If tantivy merges some of the segments at this moment, or a file is damaged or cannot be written.
    pub fn merge(&mut self) -> Result<()> {
        self.require_whole()?;
        self.shared.store.merge_to(1)?;
        let segments = self.text.index().searchable_segment_ids()?;
        if segments.len() > 1 {
            self.text.merge(&segments).wait()?;
            self.shared.reader.reload()?;
        }
        self.shared.publish(self.shared.reader.searcher())
    }

    /// Sends the changes of the text to tantivy if there are enough of them.
    fn send_if_full(&mut self) -> Result<()> {
        if self.batch.is_full() {
            self.is_broken = true;
            self.batch.send(&self.text)?;
            self.is_broken = false;
        }
        Ok(())
    }

    fn apply_updates(&mut self) -> Result<Vec<Outcome>> {
        if self.updates.is_empty() {
            return Ok(Vec::new());
        }
        let store = &self.shared.store;
        let updates = std::mem::replace(&mut self.updates, store.batch()?);
        let applied = store.apply(updates)?;
        store.refresh()?;
        Ok(applied.outcomes)
    }

    fn require_whole(&self) -> Result<()> {
        if self.is_broken { Err(Error::Broken) } else { Ok(()) }
    }
}

/// Takes the first stamp of a writer of text, which is that of the last commit: tantivy would not know a deletion with it from
/// those before the commit, and a merge would make it durable.
fn take_stamp(text: &IndexWriter) -> Result<()> {
    text.run(Vec::new())?;
    Ok(())
}
