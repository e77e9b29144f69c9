//! Deletes of documents that were found by a query or by addresses.

use crate::store::{Current, Writer};

/// Deletes documents. Returns how many were not deleted before.
pub(super) fn delete(writer: &mut Writer, documents: Vec<Current>) -> u64 {
    let deleted = documents.into_iter().filter(|document| writer.docs.delete(*document)).count() as u64;
    if deleted > 0 {
        writer.changed();
    }
    deleted
}
