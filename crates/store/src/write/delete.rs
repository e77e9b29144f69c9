//! Documents that are deleted, and the places now of the documents of a snapshot.

use std::sync::Arc;

use docvalues_column::{DocAddress, DocId};
use docvalues_search::Query;

use crate::batch::Outcome;
use crate::error::{Error, Result};
use crate::files::FileEntry;
use crate::read::{Home, Snapshot};
use crate::segments::{GONE, PartRecord, Went};
use crate::store::{Current, Store, Writer};

impl Store {
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
    /// # Errors
    ///
    /// As [`Search::filter`](docvalues_search::Search::filter). Nothing is deleted then.
    pub fn delete_where(&self, query: &Query) -> Result<u64> {
        self.change_and_commit(|writer| {
            let found = self.matches(writer, query)?;
            Ok(writer.delete(found))
        })
    }

    /// Deletes documents by their addresses in a snapshot. Returns how many were not deleted before.
    ///
    /// The addresses must be those of this snapshot, such as of its searches. They keep their meaning while it lives, also when
    /// documents are updated, written to segments and committed.
    ///
    /// # Errors
    ///
    /// If there is no such document; [`Error::Merged`] if its segment was merged since; [`Error::OtherSnapshot`] if the snapshot
    /// is of another store, or of an earlier opening and has documents that were lost. Nothing is deleted then.
    pub fn delete(&self, snapshot: &Snapshot, docs: &[DocAddress]) -> Result<u64> {
        self.change_and_commit(|writer| {
            let docs = writer.require(snapshot, docs)?;
            Ok(writer.delete(docs))
        })
    }

    /// The places of the documents that match a query.
    pub(crate) fn matches(&self, writer: &Writer, query: &Query) -> Result<Vec<Current>> {
        let now = self.snapshot();
        let found: Vec<DocAddress> = now.search().filter(query)?.iter().collect();
        writer.require(&now, &found)
    }
}

impl Writer {
    /// Deletes documents. Returns how many were not deleted before.
    fn delete(&mut self, docs: Vec<Current>) -> u64 {
        let deleted = docs.into_iter().filter(|doc| self.delete_current(*doc)).count() as u64;
        if deleted > 0 {
            self.changed();
        }
        deleted
    }

    /// The present places of documents of a snapshot.
    ///
    /// # Errors
    ///
    /// As [`locate`](Self::locate).
    pub(crate) fn require(&self, snapshot: &Snapshot, docs: &[DocAddress]) -> Result<Vec<Current>> {
        docs.iter().map(|address| self.locate(snapshot, *address)).collect()
    }

    /// Returns the place of a document of a snapshot now, deleted or not.
    ///
    /// # Errors
    ///
    /// If the snapshot has no such document; [`Error::Merged`]; [`Error::OtherSnapshot`].
    fn locate(&self, snapshot: &Snapshot, address: DocAddress) -> Result<Current> {
        let unknown = || Error::Request(format!("expected a document of the snapshot, found {address:?}"));
        match snapshot.home_of(address).ok_or_else(unknown)? {
            // A segment is the same in all openings of its store, but not in another store.
            _ if snapshot.store() != self.committed.id => Err(Error::OtherSnapshot),
            Home::Segment(segment) => self.locate_in_segment((segment.file, &segment.record), address.doc),
            Home::Block(record) => self.locate_in_buffer(record, address.doc),
        }
    }

    /// Returns the place of a document of a segment now.
    fn locate_in_segment(&self, (file, record): (FileEntry, &PartRecord), doc: DocId) -> Result<Current> {
        if let Some(at) = self.docs.segments.iter().position(|state| state.segment.file == file) {
            return Ok(Current::Segment(at, doc));
        }
        match record.went() {
            Some(Went::Merged) => Err(Error::Merged),
            Some(Went::Dropped) => Ok(Current::Gone),
            _ => Err(Error::OtherSnapshot),
        }
    }

    /// Returns the place of a document of a block now, also if updates moved it or its block was written to a segment.
    pub(crate) fn locate_in_buffer(&self, record: &Arc<PartRecord>, doc: DocId) -> Result<Current> {
        let (record, doc) = record.last_copy(doc);
        let sealed = self.docs.sealed.as_ref().and_then(|sealed| sealed.buffer.place_in(&record, doc));
        if let Some(place) = sealed {
            return Ok(Current::Sealed(place));
        }
        if let Some(place) = self.docs.buffer.place_in(&record, doc) {
            return Ok(Current::Buffer(place));
        }
        match record.went() {
            Some(Went::Segment { file, record, docs }) => match docs.get(doc.get() as usize) {
                Some(&new) if new != GONE => self.locate_in_segment((*file, record), DocId::new(new)),
                _ => Ok(Current::Gone),
            },
            Some(Went::Dropped) => Ok(Current::Gone),
            _ => Err(Error::OtherSnapshot),
        }
    }
}
