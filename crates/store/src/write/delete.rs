//! Deletes by query and by address.

use docvalues_column::DocAddress;
use docvalues_search::Query;

use crate::batch::Outcome;
use crate::error::Result;
use crate::read::Snapshot;
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
            Ok(delete(writer, found))
        })
    }

    /// Deletes documents by their addresses in a snapshot. Returns how many were not deleted before.
    ///
    /// The addresses must be those of this snapshot, such as of its searches. They keep their meaning while it lives, also when
    /// documents are updated, written to segments and committed.
    ///
    /// # Errors
    ///
    /// If there is no such document; [`Error::Merged`](crate::Error::Merged) if its segment was merged since;
    /// [`Error::OtherSnapshot`](crate::Error::OtherSnapshot) if the snapshot is of another store, or of an earlier opening and has
    /// documents that were lost. Nothing is deleted then.
    pub fn delete(&self, snapshot: &Snapshot, docs: &[DocAddress]) -> Result<u64> {
        self.change_and_commit(|writer| {
            let found = writer.require(snapshot, docs)?;
            Ok(delete(writer, found))
        })
    }

    /// The places of the documents that match a query.
    pub(crate) fn matches(&self, writer: &Writer, query: &Query) -> Result<Vec<Current>> {
        let now = self.snapshot();
        let found: Vec<DocAddress> = now.search().filter(query)?.iter().collect();
        writer.require(&now, &found)
    }
}

/// Deletes documents. Returns how many were not deleted before.
fn delete(writer: &mut Writer, documents: Vec<Current>) -> u64 {
    let deleted = documents.into_iter().filter(|document| writer.docs_mut().delete(*document)).count() as u64;
    if deleted > 0 {
        writer.changed();
    }
    deleted
}
