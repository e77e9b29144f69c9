//! The places in the columns of the documents of a segment of text.

use std::collections::HashMap;
use std::sync::Arc;

use docvalues::column::{Column, DocAddress};
use docvalues::store::{Move, PartId, Snapshot};
use docvalues::{DocId, column};
use tantivy::SegmentReader;

use crate::error::Result;
use crate::key::{KEY, id_of};

/// The place of each document of a segment of text: 8 bytes a document.
pub(crate) struct Places {
    /// The parts that `docs` number.
    parts: Vec<PartId>,
    docs: Vec<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    /// Its place among the parts.
    part: u32,
    doc: DocId,
}

/// The place of a document that was deleted.
const NOWHERE: Place = Place { part: u32::MAX, doc: DocId::new(0) };

impl Places {
    /// Looks up the keys of a segment's documents.
    pub(crate) fn of(segment: &SegmentReader, snapshot: &Snapshot) -> Result<Places> {
        let keys = segment.fast_fields().u64(KEY)?;
        let mut finder = Finder::new(snapshot);
        let mut docs = Vec::with_capacity(segment.max_doc() as usize);
        for doc in 0..segment.max_doc() {
            let key = keys.first(doc).filter(|_| !segment.is_deleted(doc));
            let found = key.map(|key| finder.find(key)).transpose()?.flatten();
            docs.push(found.map_or(NOWHERE, |found| Place { part: found.part, doc: found.doc }));
        }
        Ok(Places { parts: snapshot.part_ids().collect(), docs })
    }

    /// The parts of a snapshot that [`get`](Self::get) takes. O(parts).
    pub(crate) fn parts_in(&self, snapshot: &Snapshot) -> Vec<Option<u32>> {
        let parts: HashMap<PartId, u32> = snapshot.part_ids().zip(0..).collect();
        self.parts.iter().map(|part| parts.get(part).copied()).collect()
    }

    /// The place of a document among `parts`; `None` if it was deleted.
    pub(crate) fn get(&self, doc: u32, parts: &[Option<u32>]) -> Option<DocAddress> {
        let place = self.docs.get(doc as usize)?;
        let part = (*parts.get(place.part as usize)?)?;
        Some(DocAddress { part, doc: place.doc })
    }

    /// The places after `moves`. O(1) if none is of a part that the segment had; otherwise, O(documents).
    pub(crate) fn moved(self: &Arc<Places>, moves: &Moved) -> Arc<Places> {
        if !self.parts.iter().any(|part| moves.runs.contains_key(part)) {
            return self.clone();
        }
        let from = |part: &PartId| {
            let runs = moves.runs.get(part).map_or(&[][..], Vec::as_slice);
            (moves.parts.get(part).copied(), runs)
        };
        let from: Vec<(Option<u32>, &[Move])> = self.parts.iter().map(from).collect();
        let mut hint = 0;
        let mut moved = |place: &Place| {
            let (stays, runs) = from.get(place.part as usize)?;
            // Documents follow each other in both.
            if runs.get(hint).is_none_or(|run| !run.docs.contains(place.doc)) {
                hint = runs.partition_point(|run| run.docs.end <= place.doc.get());
            }
            let Some(run) = runs.get(hint).filter(|run| run.docs.contains(place.doc)) else {
                return stays.map(|part| Place { part, doc: place.doc });
            };
            let (part, first) = run.to?;
            let doc = DocId::new(first.get() + (place.doc.get() - run.docs.start));
            Some(Place { part: *moves.parts.get(&part)?, doc })
        };
        let docs = self.docs.iter().map(|place| moved(place).unwrap_or(NOWHERE)).collect();
        Arc::new(Places { parts: moves.ids.clone(), docs })
    }
}

/// The moves of documents since an older snapshot.
pub(crate) struct Moved {
    /// By the part in which they were, ascending.
    runs: HashMap<PartId, Vec<Move>>,
    /// The parts of the snapshot, and the place of each.
    ids: Vec<PartId>,
    parts: HashMap<PartId, u32>,
}

impl Moved {
    pub(crate) fn between(older: &Snapshot, now: &Snapshot) -> Result<Moved> {
        let mut runs = HashMap::<PartId, Vec<Move>>::new();
        for run in now.moves_since(older)? {
            runs.entry(run.from).or_default().push(run);
        }
        let ids: Vec<PartId> = now.part_ids().collect();
        Ok(Moved { runs, parts: ids.iter().copied().zip(0..).collect(), ids })
    }
}

/// The number of documents after the last one found that are compared before an id is looked up.
const NEXT_DOCS: u32 = 8;

/// Finds documents by their keys. Text and columns mostly have them in the same order, so that the next one is near the last.
struct Finder<'s> {
    snapshot: &'s Snapshot,
    last: Option<DocAddress>,
    /// The keys of the part with the last document.
    keys: Option<(u32, Arc<dyn Column>)>,
    key: Vec<u8>,
}

impl Finder<'_> {
    fn new(snapshot: &Snapshot) -> Finder<'_> {
        Finder { snapshot, last: None, keys: None, key: Vec::new() }
    }

    fn find(&mut self, key: u64) -> Result<Option<DocAddress>> {
        let id = id_of(key);
        let found = match self.find_near(&id)? {
            Some(found) => Some(found),
            None => self.snapshot.find(&id)?,
        };
        self.last = found.or(self.last);
        Ok(found)
    }

    /// The document if it is among the next ones.
    fn find_near(&mut self, id: &[u8]) -> column::Result<Option<DocAddress>> {
        let Some(DocAddress { part, doc: last }) = self.last else { return Ok(None) };
        if self.keys.as_ref().is_none_or(|(of, _)| *of != part) {
            self.keys = Some((part, self.snapshot.parts().source(part as usize).column(KEY)?));
        }
        let keys = self.keys.as_ref().and_then(|(_, keys)| keys.values().bytes());
        let (Some(keys), Some(live)) = (keys, self.snapshot.live(part as usize)) else { return Ok(None) };
        let first = last.get() + 1;
        for doc in (first..live.docs().min(first + NEXT_DOCS)).map(DocId::new) {
            if live.contains(doc) && keys.get(doc, &mut self.key)? && self.key == id {
                return Ok(Some(DocAddress { part, doc }));
            }
        }
        Ok(None)
    }
}
