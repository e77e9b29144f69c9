//! Deletes of documents that were found by a query or by addresses.

use docvalues_column::DocAddress;
use docvalues_search::Query;

use crate::error::Result;
use crate::store::{Current, Store, Writer};

/// The places of the documents that match a query. This thread searches: all of rayon's pool may wait for the lock of the writer,
/// or this one, as one of them, may meanwhile do other work that locks it.
pub(super) fn matches(store: &Store, writer: &Writer, query: &Query) -> Result<Vec<Current>> {
    let now = store.snapshot();
    let found: Vec<DocAddress> = now.search().threads(1).filter(query)?.iter().collect();
    writer.docs.require(&now, &found)
}

/// Deletes documents. Returns how many were not deleted before.
pub(super) fn delete(writer: &mut Writer, documents: Vec<Current>) -> u64 {
    let deleted = documents.into_iter().filter(|document| writer.docs.delete(*document)).count() as u64;
    if deleted > 0 {
        writer.changed();
    }
    deleted
}
