//! [`Docs`]: the documents of a store now, the ids by which they are looked up, and the places where they are.
//!
//! Knows nothing of logs, and of commits only what they say of documents.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docvalues_column::{DocAddress, DocId, PlainColumns};

use crate::batch::Updates;
use crate::error::{Error, Result};
use crate::files::{CommitFile, random_id};
use crate::read::{Found, Snapshot};
use crate::schema::StoreSchema;
use crate::segments::{
    Block, Buffer, FrozenBuffer, Id, NewNumbers, PartRecord, Place, Sealed, SegmentState, Went,
    places_by_number,
};
use crate::versions::{Tombstones, VersionField};

/// The documents of a store, and its fields.
#[derive(Debug)]
pub(crate) struct Docs {
    /// The id of the store.
    store: u64,
    pub(crate) schema: Arc<StoreSchema>,
    /// From the oldest to the newest.
    pub(crate) segments: Vec<SegmentState>,
    /// The documents that were applied and are in no segment yet.
    pub(crate) buffer: Buffer,
    /// Those that are being written to a segment.
    sealed: Option<Sealed>,
    /// The deletions that are remembered.
    pub(crate) tombstones: Tombstones,
    /// The highest version of any document ever.
    pub(crate) highest_version: u64,
    /// Whether a document was given a version by the store.
    pub(crate) assigns_versions: bool,
}

/// The place of a document now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Current {
    Buffer(Place),
    /// In the part of the buffer that is being written.
    Sealed(Place),
    Segment(usize, DocId),
    /// Its segment was dropped, as no document in it was live.
    Gone,
}

/// The place of each segment, by its number, if a document had to be sought.
type SegmentPlaces = OnceCell<HashMap<u64, usize>>;

impl Docs {
    /// The documents of a commit.
    pub(crate) fn new(commit: &CommitFile, segments: Vec<SegmentState>, tombstones: Tombstones) -> Docs {
        Docs {
            store: commit.id,
            schema: Arc::new(commit.schema.clone()),
            segments,
            buffer: Buffer::new(random_id(commit.id)),
            sealed: None,
            tombstones,
            highest_version: commit.highest_version,
            assigns_versions: commit.assigns_versions,
        }
    }

    /// The blocks of documents that are in no segment, in the order of the parts of a snapshot.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Block> {
        let sealed = self.sealed.as_ref().map_or(&[][..], |sealed| &sealed.buffer.blocks);
        sealed.iter().chain(&self.buffer.blocks)
    }

    /// The memory of what is being written to a segment, in bytes.
    pub(crate) fn sealed_bytes(&self) -> usize {
        self.sealed.as_ref().map_or(0, |sealed| sealed.buffer.bytes())
    }

    /// What is being written to a segment.
    pub(crate) fn sealed(&self) -> Option<Arc<FrozenBuffer>> {
        self.sealed.as_ref().map(|sealed| sealed.then.clone())
    }

    /// The live document with an id, of which there is at most one. `found` is that of the segments.
    pub(crate) fn current(&self, id: Id<'_>, found: Option<Found>) -> Option<Current> {
        if let Some(place) = self.buffer.find_live(id) {
            return Some(Current::Buffer(place));
        }
        if let Some(place) = self.sealed.as_ref().and_then(|sealed| sealed.buffer.find_live(id)) {
            return Some(Current::Sealed(place));
        }
        let Found { segment, doc, .. } = found?;
        self.segments[segment].now.live.contains(doc).then_some(Current::Segment(segment, doc))
    }

    /// The version of a document. `found` is what its segment has.
    pub(crate) fn version_of(
        &self,
        current: Current,
        found: Option<Found>,
        field: Option<VersionField>,
    ) -> Option<u64> {
        let field = field?;
        let stored = match (current, self.in_buffer(current)) {
            (_, Some((buffer, place))) => buffer.number(place, field.place),
            (Current::Segment(segment, doc), None) => {
                match self.segments[segment].now.number(field.place, doc) {
                    Some(stored) => stored,
                    None => return found.and_then(|found| found.version),
                }
            }
            _ => None,
        };
        field.version(stored?)
    }

    pub(crate) fn is_live(&self, document: Current) -> bool {
        match document {
            Current::Segment(segment, doc) => self.segments[segment].now.live.contains(doc),
            _ => self.in_buffer(document).is_some_and(|(buffer, place)| buffer.is_live(place)),
        }
    }

    /// The place of a document that is in no segment.
    pub(crate) fn in_buffer(&self, document: Current) -> Option<(&Buffer, Place)> {
        match document {
            Current::Buffer(place) => Some((&self.buffer, place)),
            Current::Sealed(place) => Some((&self.sealed.as_ref()?.buffer, place)),
            Current::Segment(..) | Current::Gone => None,
        }
    }

    /// A copy of a document that is in no segment.
    pub(crate) fn copy(&self, document: Current) -> Option<PlainColumns> {
        let (block, doc) = self.block_of(document)?;
        let unchanged = Updates { of_rows: vec![0], kinds: vec![Vec::new()], ..Updates::default() };
        Some(unchanged.updated(0, (&block.docs, doc.get()), self.schema.fields()))
    }

    /// The place of a document now, which an update may have moved in the buffer.
    pub(crate) fn now(&self, document: Current) -> Current {
        let block = self.block_of(document);
        let now = block.and_then(|(block, doc)| self.follow(&block.record, doc, &SegmentPlaces::new()).ok());
        now.unwrap_or(document)
    }

    /// The block of a document that is in no segment, and its number there.
    fn block_of(&self, document: Current) -> Option<(&Block, DocId)> {
        let (buffer, place) = self.in_buffer(document)?;
        Some((buffer.blocks.get(place.block as usize)?, place.doc))
    }

    /// The present places of documents of a snapshot, deleted or not.
    ///
    /// # Errors
    ///
    /// If the snapshot has no such document; [`Error::OtherSnapshot`].
    pub(crate) fn require(&self, snapshot: &Snapshot, docs: &[DocAddress]) -> Result<Vec<Current>> {
        let places = SegmentPlaces::new();
        docs.iter().map(|address| self.locate(snapshot, *address, &places)).collect()
    }

    fn locate(&self, snapshot: &Snapshot, address: DocAddress, places: &SegmentPlaces) -> Result<Current> {
        let record = snapshot.require_record(address)?;
        // A segment is the same in all openings of its store, but not in another store.
        if snapshot.store() != self.store {
            return Err(Error::OtherSnapshot);
        }
        // Unless segments were merged, it is where the snapshot has it.
        let place = address.part as usize;
        match self.segments.get(place) {
            Some(state) if Arc::ptr_eq(&state.segment.record, record) => {
                Ok(Current::Segment(place, address.doc))
            }
            _ => self.follow(record, address.doc, places),
        }
    }

    /// Returns the place of a document of a part now, wherever updates, flushes and merges moved it.
    fn follow(&self, record: &Arc<PartRecord>, doc: DocId, places: &SegmentPlaces) -> Result<Current> {
        let (mut record, mut doc) = (record.clone(), doc);
        loop {
            (record, doc) = if let Some(copy) = record.copy(doc) {
                copy
            } else if let Some(place) = self.place_in(&record, doc, places) {
                return Ok(place);
            } else if let Some(next) = record.next(doc)? {
                next
            } else {
                return Ok(Current::Gone);
            };
        }
    }

    /// The place of a document in the part with a record, if that is here.
    fn place_in(&self, record: &PartRecord, doc: DocId, places: &SegmentPlaces) -> Option<Current> {
        if let Some(file) = record.file {
            // No search among all segments for each document.
            let at = *places.get_or_init(|| places_by_number(&self.segments)).get(&file.number)?;
            return (self.segments[at].segment.file == file).then_some(Current::Segment(at, doc));
        }
        let sealed = self.sealed.as_ref().and_then(|sealed| sealed.buffer.place_in(record, doc));
        sealed.map(Current::Sealed).or_else(|| self.buffer.place_in(record, doc).map(Current::Buffer))
    }

    /// Deletes a document. Returns whether it was live.
    pub(crate) fn delete(&mut self, document: Current) -> bool {
        match document {
            Current::Buffer(place) => self.buffer.delete(place),
            Current::Sealed(place) => self.sealed.as_mut().is_some_and(|sealed| sealed.buffer.delete(place)),
            Current::Segment(segment, doc) => self.segments[segment].now.live.delete(doc),
            Current::Gone => false,
        }
    }

    /// Appends a document of the buffer again, changed by a row, and deletes it where it was. Returns where it is.
    pub(crate) fn copy_updated(&mut self, current: Current, row: u32, updates: &Updates) -> Option<Place> {
        let (block, doc) = self.block_of(current)?;
        let record = block.record.clone();
        let updated = updates.updated(row, (&block.docs, doc.get()), self.schema.fields());
        self.delete(current);
        let new = self.buffer.append(updated);
        self.buffer.note_copy((&record, doc), new);
        Some(new)
    }

    /// Notes a version of a document or deletion.
    pub(crate) fn note_version(&mut self, version: u64) {
        self.highest_version = self.highest_version.max(version);
    }

    /// Replaces segments by the merged one, which has what changed in them, in the place of the first.
    pub(super) fn replace(
        &mut self,
        old: &[SegmentState],
        merged: SegmentState,
        new_numbers: &[Arc<NewNumbers>],
    ) {
        for (before, new_numbers) in old.iter().zip(new_numbers) {
            before.segment.note_written(&merged.segment, new_numbers);
        }
        let numbers: HashSet<u64> = old.iter().map(SegmentState::number).collect();
        let is_old = |state: &SegmentState| numbers.contains(&state.number());
        let place = self.segments.iter().position(is_old).unwrap_or(self.segments.len());
        self.segments.insert(place, merged);
        self.segments.retain(|state| !is_old(state));
    }

    /// Sets the blocks of the buffer aside, unless some are already.
    pub(super) fn seal(&mut self) {
        if self.sealed.is_none() {
            let next = self.buffer.next();
            let buffer = std::mem::replace(&mut self.buffer, next);
            self.sealed = Some(Sealed::of(buffer, self.schema.clone()));
        }
    }

    /// Puts a segment in the place of the sealed blocks, or nothing if none of their documents were live. Returns them.
    pub(super) fn unseal(&mut self, segment: Option<(SegmentState, Arc<NewNumbers>)>) -> Option<Sealed> {
        let sealed = self.sealed.take()?;
        if let Some((mut segment, numbers)) = segment {
            let mut first = 0;
            for (now, then) in sealed.buffer.blocks.iter().zip(&sealed.then.blocks) {
                let deleted = now.live.deleted_since(&then.live);
                for new in deleted.filter_map(|doc| numbers.get(DocId::new(first + doc.get()))) {
                    segment.now.live.delete(new);
                }
                let record = segment.segment.record.clone();
                now.record.note(Went::Segment { record, numbers: numbers.clone(), first });
                first += then.docs.docs();
            }
            self.segments.push(segment);
        } else {
            sealed.buffer.blocks.iter().for_each(|block| block.record.note(Went::Dropped));
        }
        Some(sealed)
    }

    /// Makes it fast to find the values that change from now on.
    pub(super) fn mark(&mut self) {
        self.segments.iter_mut().for_each(|state| state.now.mark());
    }

    /// Takes over what a commit has written of segments that are still there.
    pub(super) fn adopt(&mut self, written: &[SegmentState]) {
        let places = places_by_number(written);
        for state in &mut self.segments {
            if let Some(place) = places.get(&state.number()) {
                let SegmentState { fold, folded, committed, .. } = &written[*place];
                (state.fold, state.folded, state.committed) = (*fold, folded.clone(), committed.clone());
            }
        }
    }

    /// Drops segments without live documents. Returns their numbers.
    pub(super) fn drop_empty(&mut self) -> Vec<u64> {
        let empty = self.segments.extract_if(.., |state| state.now.live.count() == 0);
        let drop = |state: SegmentState| {
            state.segment.record.note(Went::Dropped);
            state.number()
        };
        empty.map(drop).collect()
    }
}
