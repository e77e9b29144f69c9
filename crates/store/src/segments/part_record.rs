//! [`PartRecord`]: the identity of a part, and where its documents went.
//!
//! ```text
//! update          a document of the buffer is copied after the last one    the place of the copy
//! flush, merge    a block or segment is written to a segment               the number of each document there
//! commit          a segment without live documents is dropped              nothing
//! ```
//!
//! A part of a snapshot and the same part of the store share a record. It lives as long as one of them has the part, and leads
//! only to records of later parts: so new numbers are in memory only as long as a snapshot has the old ones.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use docvalues_column::{DocId, LiveDocs};

use super::new_numbers::NewNumbers;
use super::part_id::PartId;
use crate::error::{Error, Result};
use crate::files::FileEntry;

/// The fate of a block of the buffer, or of a segment.
#[derive(Debug)]
pub(crate) struct PartRecord {
    pub(crate) id: PartId,
    /// The file of a segment: a copy of the store may have another one with the same number.
    pub(crate) file: Option<FileEntry>,
    /// The places of copies that updates made: in this part if there is no other. Locked for a look-up or an insertion.
    copies: Mutex<HashMap<DocId, Copy>>,
    went: OnceLock<Went>,
}

/// A part, and the number of a document in it.
type Copy = (Option<Arc<PartRecord>>, DocId);

/// The place to which all documents of a part went.
#[derive(Debug)]
pub(crate) enum Went {
    /// To a segment, in which those that were live have numbers; that of the part's first one is at `first`.
    Segment { record: Arc<PartRecord>, numbers: Arc<NewNumbers>, first: u32 },
    /// Nowhere: none of them was live.
    Dropped,
}

impl PartRecord {
    pub(crate) fn of_segment(file: FileEntry) -> PartRecord {
        PartRecord::new(PartId::of_segment(file.number), Some(file))
    }

    pub(crate) fn of_block(number: u64) -> PartRecord {
        PartRecord::new(PartId::of_block(number), None)
    }

    fn new(id: PartId, file: Option<FileEntry>) -> PartRecord {
        PartRecord { id, file, copies: Mutex::default(), went: OnceLock::new() }
    }

    /// Whether both are records of one part, perhaps in different openings.
    pub(crate) fn is_same(&self, other: &PartRecord) -> bool {
        self.id == other.id && self.file == other.file
    }

    /// Notes that a document has a copy now, which takes its place.
    pub(crate) fn note_copy(self: &Arc<Self>, doc: DocId, (part, copy): (&Arc<PartRecord>, DocId)) {
        // A record that has itself would live for ever.
        let other = (!Arc::ptr_eq(self, part)).then(|| part.clone());
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).insert(doc, (other, copy));
    }

    /// The place of a document's copy, if it has one.
    pub(crate) fn copy(self: &Arc<Self>, doc: DocId) -> Option<(Arc<PartRecord>, DocId)> {
        if self.file.is_some() {
            return None;
        }
        let copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let (other, copy) = copies.get(&doc)?;
        Some((other.as_ref().unwrap_or(self).clone(), *copy))
    }

    /// The documents that were live and have copies now, ascending.
    pub(crate) fn copied(&self, live: &LiveDocs) -> Vec<DocId> {
        let copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let mut docs: Vec<DocId> = copies.keys().copied().filter(|doc| live.contains(*doc)).collect();
        drop(copies);
        docs.sort_unstable();
        docs
    }

    /// The place of a document without a copy after the part was written to a segment; `None` if it was not live then.
    ///
    /// # Errors
    ///
    /// If the part did not go anywhere yet.
    pub(crate) fn next(&self, doc: DocId) -> Result<Option<(Arc<PartRecord>, DocId)>> {
        match self.went.get() {
            Some(Went::Segment { record, numbers, first }) => {
                let new = numbers.get(DocId::new(first + doc.get()));
                Ok(new.map(|new| (record.clone(), new)))
            }
            Some(Went::Dropped) => Ok(None),
            None => Err(Error::OtherSnapshot),
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

/// Records that only this one has are dropped one after the other: they may be as many as merges were made while a snapshot
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
        let first = Arc::new(PartRecord::of_block(0));
        let mut numbers = NewNumbers::none(8);
        numbers.push(DocId::new(7), DocId::new(7));
        let (doc, numbers, mut last) = (DocId::new(7), Arc::new(numbers), first.clone());
        for number in 1..1_000_000 {
            let next = Arc::new(PartRecord::of_block(number));
            match number % 2 {
                0 => last.note_copy(doc, (&next, doc)),
                _ => last.note(Went::Segment { record: next.clone(), numbers: numbers.clone(), first: 0 }),
            }
            last = next;
        }
        let mut record = first.clone();
        loop {
            record = match (record.copy(doc), record.next(doc)) {
                (Some((next, _)), _) | (None, Ok(Some((next, _)))) => next,
                _ => break,
            };
        }
        assert!(Arc::ptr_eq(&record, &last));
        drop((first, record));
        assert_eq!(Arc::strong_count(&numbers), 1, "no part has them any more");
    }
}
