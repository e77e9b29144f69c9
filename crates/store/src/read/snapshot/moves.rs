//! The identities of the parts of a [`Snapshot`], and the places in it of the documents of an older one.

use std::collections::HashMap;
use std::sync::Arc;

use docvalues_column::{DocAddress, DocId, LiveDocs};

use super::Snapshot;
use crate::error::{Error, Result};
use crate::segments::{Moves, PartId, PartMoves, PartRecord, Step, Went};

impl Snapshot {
    /// The identities of the [`parts`](Self::parts), in their order.
    pub fn part_ids(&self) -> impl Iterator<Item = PartId> {
        self.records().map(|(record, _)| record.id)
    }

    /// The identity of a part; `None` if there is no such part.
    pub fn part_id(&self, part: usize) -> Option<PartId> {
        Some(self.record(part)?.0.id)
    }

    /// The index of the part with an identity; `None` if the snapshot does not have it. O(parts).
    pub fn part_of(&self, id: PartId) -> Option<usize> {
        self.part_ids().position(|part| part == id)
    }

    /// The documents of a part that are not deleted; `None` if there is no such part. The others were deleted or replaced, or an
    /// update made a copy that took their place: the source of the part counts and has them still.
    pub fn live(&self, part: usize) -> Option<&LiveDocs> {
        Some(self.record(part)?.1)
    }

    /// The documents of an older snapshot that are at other places in this one, as runs: each document whose part was written to
    /// a segment, merged or dropped meanwhile, and those of the buffer of which an update made a copy. A document in no run has
    /// the place that it had, deleted or not. So what is kept beside a store, such as postings, follows it without reading a
    /// column: documents that are in no part of the older snapshot, and to which no run leads, are new.
    ///
    /// A run may lead to documents that were deleted meanwhile: ask [`live`](Self::live).
    ///
    /// O(parts, flushes and merges since, and documents that were copied), and O(1) for each run. A merge has a run for each
    /// segment, and two more for each document that was deleted before; with an index sort, up to one for each document. For
    /// this, 8 bytes a run are in memory as long as a snapshot has what was merged, or 4 a document if runs are short.
    ///
    /// # Errors
    ///
    /// If `older` was taken after this snapshot; [`Error::OtherSnapshot`] if it is of another store, or has a part that this one
    /// lacks, and was taken by a reader or in an earlier opening, which do not know of merges.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{DocRange, Field, Kind, LogicalType};
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("people");
    /// let name = Field::new("name", Kind::Binary, LogicalType::Utf8);
    /// let store = Store::create(&path, StoreSchema::new().with_field(name)?, StoreOptions::default())?;
    /// for names in [["Ada", "Bob"], ["Cy", "Dee"]] {
    ///     let mut batch = store.batch()?;
    ///     let name = batch.field("name")?;
    ///     for of in names {
    ///         let mut doc = batch.upsert();
    ///         doc.str(name, of)?;
    ///         doc.finish()?;
    ///     }
    ///     store.apply(batch)?;
    ///     store.commit()?;
    /// }
    /// let before = store.snapshot();
    /// store.merge_to(1)?;
    /// let now = store.snapshot();
    ///
    /// let runs: Vec<_> = now.moves_since(&before)?.collect();
    /// assert_eq!(runs.len(), 2);
    /// assert_eq!((Some(runs[1].from), runs[1].docs), (before.part_id(1), DocRange::new(0, 2)));
    /// let (part, first) = runs[1].to.unwrap();
    /// assert_eq!((now.part_of(part), first.get()), (Some(0), 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn moves_since(&self, older: &Snapshot) -> Result<Moves> {
        self.require_later_than(older)?;
        let ids: Vec<PartId> = self.part_ids().collect();
        let parts: HashMap<PartId, usize> = ids.iter().copied().zip(0..).collect();
        let part_of = |record: &PartRecord| {
            let part = *parts.get(&record.id)?;
            self.record(part).filter(|(known, _)| known.is_same(record)).map(|(_, live)| (part, live.docs()))
        };
        let mut moves = Vec::new();
        for (record, live) in older.records() {
            let (steps, to) = path(record, |record| part_of(record).is_some())?;
            let mut copies = Vec::new();
            for doc in record.copied(live) {
                let place = follow((record, doc), part_of)?;
                copies.push((doc, place.map(|(part, doc)| (ids[part], doc))));
            }
            if to != Some(record.id) || !copies.is_empty() {
                moves.push(PartMoves::new((record.id, live.docs()), steps, to, copies));
            }
        }
        Ok(Moves::of(moves))
    }

    /// The place of a document of an older snapshot in this one; `None` if it was deleted. O(parts), and for each update in the
    /// buffer, flush and merge that moved it.
    ///
    /// # Errors
    ///
    /// If the older snapshot has no such document; as [`moves_since`](Self::moves_since), but only if the document is in such a
    /// part.
    pub fn resolve(&self, older: &Snapshot, address: DocAddress) -> Result<Option<DocAddress>> {
        let record = older.require_record(address)?;
        self.require_later_than(older)?;
        let part_of = |record: &PartRecord| {
            let part = self.records().position(|(known, _)| known.is_same(record))?;
            Some((part, self.live(part)?.docs()))
        };
        let found = follow((record, address.doc), part_of)?;
        let is_live = |(part, doc): &(usize, DocId)| self.live(*part).is_some_and(|live| live.contains(*doc));
        let address = |(part, doc)| DocAddress { part: u32::try_from(part).unwrap_or(u32::MAX), doc };
        Ok(found.filter(is_live).map(address))
    }

    /// The record of an address's part.
    ///
    /// # Errors
    ///
    /// If there is no such document.
    pub(crate) fn require_record(&self, address: DocAddress) -> Result<&Arc<PartRecord>> {
        let found = self.record(address.part as usize).filter(|(_, live)| address.doc.get() < live.docs());
        let unknown = || Error::Request(format!("expected a document of the snapshot, found {address:?}"));
        found.map(|(record, _)| record).ok_or_else(unknown)
    }

    /// The records of all parts, and their live documents.
    fn records(&self) -> impl Iterator<Item = (&Arc<PartRecord>, &LiveDocs)> {
        let segments = self.0.segments.iter().zip(&*self.0.changes);
        let segments = segments.map(|(segment, changes)| (&segment.record, &changes.live));
        segments.chain(self.0.blocks.iter().map(|block| (&block.block.record, &block.block.live)))
    }

    fn record(&self, part: usize) -> Option<(&Arc<PartRecord>, &LiveDocs)> {
        match (self.0.segments.get(part), self.0.changes.get(part)) {
            (Some(segment), Some(changes)) => Some((&segment.record, &changes.live)),
            _ => {
                let block = &self.0.blocks.get(part - self.0.segments.len())?.block;
                Some((&block.record, &block.live))
            }
        }
    }

    fn require_later_than(&self, older: &Snapshot) -> Result<()> {
        if self.store() != older.store() {
            return Err(Error::OtherSnapshot);
        }
        if self.sequence() < older.sequence() {
            let (found, last) = (older.sequence(), self.sequence());
            let text = format!("expected an older snapshot, up to batch {last}, found one of batch {found}");
            return Err(Error::Request(text));
        }
        Ok(())
    }
}

/// The steps from a part to the one in which its documents are, of those that `is_here` knows. They are in none if it was dropped.
fn path(record: &PartRecord, is_here: impl Fn(&PartRecord) -> bool) -> Result<(Vec<Step>, Option<PartId>)> {
    let (mut record, mut steps) = (record, Vec::new());
    while !is_here(record) {
        match record.went() {
            Some(Went::Segment { record: next, numbers, first }) => {
                steps.push(Step::new(numbers.clone(), *first));
                record = next;
            }
            Some(Went::Dropped) => return Ok((Vec::new(), None)),
            None => return Err(Error::OtherSnapshot),
        }
    }
    Ok((steps, Some(record.id)))
}

/// The last place of a document among the parts that `part_of` knows, by their indexes and numbers of documents: places after it
/// are those of later snapshots.
fn follow(
    (record, doc): (&Arc<PartRecord>, DocId),
    part_of: impl Fn(&PartRecord) -> Option<(usize, u32)>,
) -> Result<Option<(usize, DocId)>> {
    let (mut record, mut doc, mut last) = (record.clone(), doc, None);
    loop {
        // A block gets copies after a snapshot was taken.
        let here = part_of(&record).filter(|(_, docs)| doc.get() < *docs);
        last = here.map(|(part, _)| (part, doc)).or(last);
        (record, doc) = match record.copy(doc) {
            Some(copy) => copy,
            None if last.is_some() => return Ok(last),
            None => match record.next(doc)? {
                Some(next) => next,
                None => return Ok(None),
            },
        };
    }
}
