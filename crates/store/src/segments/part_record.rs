//! [`PartRecord`]: where the documents of a part went.
//!
//! ```text
//! update    a document of the buffer is copied behind the last one    noted for the document
//! flush     the buffer is written to a segment                        its number there, for each document
//! commit    a segment without live documents is dropped               noted for the segment
//! merge     segments are merged                                       noted for the segment
//! ```
//!
//! A part of a snapshot and the same part of the store share a record, and parts of other stores and openings have others: so
//! an address is never taken for that of another document. A record lives as long as a snapshot or the store has its part.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use docvalues_column::DocId;

use crate::files::FileEntry;

/// The number of a document that is not in the segment.
pub(crate) const GONE: u32 = u32::MAX;

/// The fate of a block of the buffer, or of a segment.
#[derive(Debug, Default)]
pub(crate) struct PartRecord {
    /// The places of copies that updates made: in this part if there is no other. Locked only while the writer is.
    copies: Mutex<HashMap<DocId, Copy>>,
    went: OnceLock<Went>,
}

/// A part, and the number of a document in it.
type Copy = (Option<Arc<PartRecord>>, DocId);

/// The place to which all documents of a part went.
#[derive(Debug)]
pub(crate) enum Went {
    /// To a segment, in which each has a number, or [`GONE`] if it was deleted before.
    Segment { file: FileEntry, record: Arc<PartRecord>, docs: Box<[u32]> },
    /// To a segment with those of others.
    Merged,
    /// Nowhere: none of them was live.
    Dropped,
}

impl PartRecord {
    /// Notes that a document has a copy now, which takes its place.
    pub(crate) fn note_copy(self: &Arc<Self>, doc: DocId, (part, copy): (&Arc<PartRecord>, DocId)) {
        // A record that has itself would live for ever.
        let other = (!Arc::ptr_eq(self, part)).then(|| part.clone());
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).insert(doc, (other, copy));
    }

    /// The part and the number of the last copy of a document; its own if there is none.
    pub(crate) fn last_copy(self: &Arc<Self>, mut doc: DocId) -> (Arc<PartRecord>, DocId) {
        let mut part = self.clone();
        loop {
            let copied = part.copies.lock().unwrap_or_else(PoisonError::into_inner).get(&doc).cloned();
            let Some((other, copy)) = copied else { return (part, doc) };
            doc = copy;
            part = other.unwrap_or(part);
        }
    }

    /// Notes where all documents went, which they do once.
    pub(crate) fn note(&self, went: Went) {
        let _ = self.went.set(went);
    }

    pub(crate) fn went(&self) -> Option<&Went> {
        self.went.get()
    }
}

/// Records that only this one has are dropped one after the other: they may be as many as commits were made while a snapshot
/// was kept, more than a stack takes.
impl Drop for PartRecord {
    fn drop(&mut self) {
        let mut records = self.take_records();
        while let Some(record) = records.pop() {
            if let Some(mut last) = Arc::into_inner(record) {
                records.extend(last.take_records());
            }
        }
    }
}

impl PartRecord {
    /// Takes all records out of it.
    fn take_records(&mut self) -> Vec<Arc<PartRecord>> {
        let copies = std::mem::take(self.copies.get_mut().unwrap_or_else(PoisonError::into_inner));
        let segment = match self.went.take() {
            Some(Went::Segment { record, .. }) => Some(record),
            _ => None,
        };
        copies.into_values().filter_map(|(record, _)| record).chain(segment).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_chain_is_followed_and_dropped() {
        let [first, mut last] = [(); 2].map(|()| Arc::<PartRecord>::default());
        let doc = DocId::new(7);
        first.note_copy(doc, (&last, doc));
        for _ in 0..1_000_000 {
            let next = Arc::default();
            last.note_copy(doc, (&next, doc));
            last = next;
        }
        assert!(Arc::ptr_eq(&first.last_copy(doc).0, &last));
    }
}
