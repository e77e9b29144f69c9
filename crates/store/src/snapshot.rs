//! [`Snapshot`]: what a reader sees of a store.

use std::fmt;
use std::sync::{Arc, OnceLock};

use docvalues_column::{DocAddress, LiveDocs, Part};
use docvalues_reader::{IdReader, Segment};
use docvalues_search::{PartChange, Parts, Search};
use docvalues_terms::lookup::IdLookup;

use crate::error::{Error, Result};
use crate::schema::StoreSchema;
use crate::segment::StoreSegment;
use crate::state::SegmentState;

/// The documents of a store at a moment.
///
/// A snapshot never changes, and stays valid whatever happens to the store: its files are open, and kept by the
/// operating system until the last snapshot that has them is dropped. Cloning is cheap.
///
/// # Examples
///
/// See [`Store`](crate::Store).
#[derive(Clone)]
pub struct Snapshot(Arc<Inner>);

struct Inner {
    sequence: u64,
    commit: u64,
    schema: Arc<StoreSchema>,
    segments: Vec<Arc<StoreSegment>>,
    live: Vec<LiveDocs>,
    parts: Parts,
    /// The index of ids over all segments, made when it is first needed, shared while the segments are the same.
    ids: Arc<OnceLock<IdLookup<IdReader>>>,
}

/// A segment of a [`Snapshot`].
#[derive(Clone, Copy, Debug)]
pub struct SnapshotSegment<'s> {
    /// The number in the name of its file.
    pub number: u64,
    /// The segment, with all documents.
    pub segment: &'s Segment,
    /// The documents that are not deleted.
    pub live: &'s LiveDocs,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { sequence, commit, segments, .. } = &*self.0;
        f.debug_struct("Snapshot")
            .field("sequence", sequence)
            .field("commit", commit)
            .field("segments", &segments.len())
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// The snapshot of some segments. What it has in common with `before` is shared.
    pub(crate) fn of(
        (sequence, commit): (u64, u64),
        schema: Arc<StoreSchema>,
        states: &[SegmentState],
        before: Option<&Snapshot>,
    ) -> Snapshot {
        let segments: Vec<Arc<StoreSegment>> = states.iter().map(|state| state.segment.clone()).collect();
        let live = states.iter().map(|state| state.live.clone()).collect();
        let are_same = |before: &&Snapshot| {
            let before = &before.0.segments;
            before.len() == segments.len() && before.iter().zip(&segments).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        let ids = before.filter(are_same).map(|before| before.0.ids.clone()).unwrap_or_default();
        let parts = match before {
            Some(before) => before.changed_parts(states),
            None => Parts::new(states.iter().map(part)),
        };
        Snapshot(Arc::new(Inner { sequence, commit, schema, segments, live, parts, ids }))
    }

    fn changed_parts(&self, states: &[SegmentState]) -> Parts {
        let before = &self.0;
        let mut at = 0;
        let change = |state: &SegmentState| {
            // Both are in the same order, apart from merged segments, so that the search ends at once.
            let places = (at..before.segments.len()).chain(0..at);
            let known =
                places.into_iter().find(|place| Arc::ptr_eq(&before.segments[*place], &state.segment));
            let Some(place) = known else { return PartChange::Added(part(state)) };
            at = place + 1;
            match before.live[place].count() == state.live.count() {
                true => PartChange::Kept(place),
                false => PartChange::Live(place, state.live.clone()),
            }
        };
        before.parts.changed(states.iter().map(change))
    }

    /// The number of the last batch of changes that it contains.
    pub fn sequence(&self) -> u64 {
        self.0.sequence
    }

    /// The number of the last commit when it was taken.
    pub fn commit(&self) -> u64 {
        self.0.commit
    }

    /// The fields of the store.
    pub fn schema(&self) -> &StoreSchema {
        &self.0.schema
    }

    /// The number of documents that are not deleted.
    pub fn docs(&self) -> u64 {
        self.0.live.iter().map(|live| u64::from(live.count())).sum()
    }

    /// The segments, in the order of the parts of addresses.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = SnapshotSegment<'_>> {
        self.0.segments.iter().zip(&self.0.live).map(|(opened, live)| SnapshotSegment {
            number: opened.number,
            segment: &opened.segment,
            live,
        })
    }

    /// The segments with their live documents as parts of a search.
    pub fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// A search over the documents that are not deleted.
    pub fn search(&self) -> Search<'static> {
        Search::over(&self.0.parts)
    }

    /// The document with this id, if it is not deleted. O(segments), mostly a filter of each.
    ///
    /// # Errors
    ///
    /// If the store has no id field, or a segment is damaged.
    pub fn find(&self, id: &[u8]) -> Result<Option<DocAddress>> {
        let mut seeker = self.ids()?.seeker();
        self.find_with(&mut seeker, id)
    }

    /// As [`find`](Self::find), for many ids.
    pub(crate) fn find_with(
        &self,
        seeker: &mut docvalues_terms::lookup::Seeker<'_, IdReader>,
        id: &[u8],
    ) -> Result<Option<DocAddress>> {
        // The newest segment comes first in the look-up and last in the snapshot.
        let part = |place: usize| self.0.segments.len() - 1 - place;
        let found = seeker.find_live(id, |place, doc| self.0.live[part(place)].contains(doc));
        let found = found.map_err(|error| {
            let file = self.0.segments[part(error.segment)].segment.file().to_owned();
            Error::Damaged { file, what: error.source.to_string() }
        })?;
        let address = |part| u32::try_from(part).unwrap_or(u32::MAX);
        Ok(found.map(|hit| DocAddress { part: address(part(hit.segment)), doc: hit.doc }))
    }

    /// The index of the ids of all segments.
    pub(crate) fn ids(&self) -> Result<&IdLookup<IdReader>> {
        if self.0.schema.id_field().is_none() {
            return Err(Error::Request("expected a store with an id field, found one without".to_owned()));
        }
        if let Some(ids) = self.0.ids.get() {
            return Ok(ids);
        }
        let readers = self.0.segments.iter().rev().map(|segment| {
            let file = || segment.segment.file().to_owned();
            let lacking =
                || Error::Damaged { file: file(), what: "expected an index of ids, found none".to_owned() };
            segment.ids()?.ok_or_else(lacking)
        });
        let readers = readers.collect::<Result<Vec<_>>>()?;
        Ok(self.0.ids.get_or_init(|| IdLookup::new(readers)))
    }

    /// The opened segments.
    pub(crate) fn opened(&self) -> &[Arc<StoreSegment>] {
        &self.0.segments
    }

    /// The part of an address, as the number of its segment.
    pub(crate) fn segment_of(&self, address: DocAddress) -> Option<u64> {
        let part = address.part as usize;
        let is_there = self.0.live.get(part).is_some_and(|live| address.doc.get() < live.docs());
        is_there.then(|| self.0.segments[part].number)
    }
}

fn part(state: &SegmentState) -> Part {
    let part = Part::new(state.segment.segment.clone());
    if state.live.are_all() { part } else { part.live(Arc::new(state.live.clone())) }
}
