//! A changing set of segments.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use docvalues_format::error::Error;

use super::generations::{Generations, Progress, Sizes};
use super::{Fingerprints, IdLookup, SegmentIds};

/// The most segments of a store: 2^15 − 1, half of the slots of a table, so that slots are left for new segments
/// while one table replaces another.
pub const MAX_SEGMENTS: usize = 32_767;

/// Ids that are moved for each id that is added.
const MOVED_PER_ADDED: usize = 4;

/// The name of a segment in its store. A name is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(u64);

impl SegmentId {
    pub(super) fn new(number: u64) -> SegmentId {
        SegmentId(number)
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "segment {}", self.0)
    }
}

/// The reason that a change of a store was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdStoreError {
    /// The ids of a segment could not be read.
    #[error(transparent)]
    Bytes(#[from] Error),
    /// The store already has [`MAX_SEGMENTS`].
    #[error("a store has at most {MAX_SEGMENTS} segments")]
    TooManySegments,
    /// The store has no such segment, or it is named twice.
    #[error("{0} is not in the store, or is named twice")]
    UnknownSegment(SegmentId),
    /// The merged segment has more ids than its parts together, so some of them are new.
    #[error("expected at most {parts} ids in the merged segment, found {merged}")]
    ForeignIds {
        /// The number of ids of the merged segment.
        merged: u64,
        /// The number of ids of its parts, together.
        parts: u64,
    },
}

/// The result of [`IdStore::maintain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Upkeep {
    /// No work is left.
    Done,
    /// Work is left.
    More,
}

/// A changing set of segments, with a fingerprint table over all their ids.
///
/// Writers wait for each other; readers never wait for them. A change is visible in the [`IdLookup`]s published
/// after it, and in none before.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use docvalues_format::id::DocId;
/// use docvalues_terms::lookup::{IdStore, Upkeep};
///
/// # use docvalues_format::error::Error;
/// # use docvalues_format::source::Owned;
/// # use docvalues_terms::build::{IdOptions, IdsBuilder};
/// # use docvalues_terms::read::IdsReader;
/// # fn segment(ids: &[&str]) -> Result<Arc<IdsReader<Owned>>, Box<dyn std::error::Error>> {
/// #     let ids: Vec<_> = ids.iter().zip((0..).map(DocId::new)).collect();
/// #     let built = IdsBuilder::new(IdOptions::default()).build(&ids[..], ids.len() as u32)?;
/// #     let opened = built.try_map::<_, Error>(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// #     Ok(Arc::new(IdsReader::open(opened)?))
/// # }
/// let store = IdStore::new();
/// let first = store.add(segment(&["a", "b"])?)?;
/// let second = store.add(segment(&["c"])?)?;
///
/// let before = store.snapshot(); // for a reader, as long as it needs
/// store.replace(&[first, second], segment(&["a", "b", "c"])?)?; // after a merge
/// let after = store.snapshot();
/// assert_eq!((before.len(), after.len()), (2, 1));
/// assert!(before.seeker().find(b"c")?.is_some() && after.seeker().find(b"c")?.is_some());
/// assert!(after.seeker().find(b"d")?.is_none());
///
/// while store.maintain(1_000)? == Upkeep::More {} // in an idle moment
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IdStore<S: SegmentIds> {
    writer: Mutex<Writer<S>>,
    /// The set after the last change. Locked only to clone the pointer.
    published: RwLock<Arc<IdLookup<S>>>,
}

pub(super) struct Writer<S> {
    /// From the newest to the oldest.
    segments: Vec<(SegmentId, Arc<S>)>,
    pub(super) generations: Generations,
    next: u64,
}

impl<S: SegmentIds> Default for IdStore<S> {
    fn default() -> Self {
        IdStore::new()
    }
}

impl<S: SegmentIds> IdStore<S> {
    /// An empty store with a random seed for the hash.
    pub fn new() -> IdStore<S> {
        IdStore::with_seed(RandomState::new().hash_one(0_u64))
    }

    /// An empty store with the given seed. Whoever knows the seed can choose ids that slow the look-up down.
    pub fn with_seed(seed: u64) -> IdStore<S> {
        let writer = Writer { segments: Vec::new(), generations: Generations::new(seed), next: 0 };
        let published = RwLock::new(Arc::new(writer.lookup()));
        IdStore { writer: Mutex::new(writer), published }
    }

    /// The segments after the last change. O(1).
    pub fn snapshot(&self) -> Arc<IdLookup<S>> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a segment, newer than all others.
    ///
    /// O(ids of the segment), plus O(segments) to publish. For each id, also does up to four steps of
    /// [`maintain`](Self::maintain) if the table has to grow; their errors are reported by `maintain` only.
    ///
    /// # Errors
    ///
    /// When its bytes are damaged, or there are too many segments. The segment is not added then.
    pub fn add(&self, segment: Arc<S>) -> Result<SegmentId, IdStoreError> {
        let ids = self.add_all(&[segment])?;
        ids.first().copied().ok_or(IdStoreError::TooManySegments)
    }

    /// Adds many segments, sorted from the newest to the oldest, all newer than the present ones. As
    /// [`add`](Self::add) for each, but the table is sized for all of them at once.
    ///
    /// # Errors
    ///
    /// As `add`. None of them is added then.
    pub fn add_all(&self, segments: &[Arc<S>]) -> Result<Vec<SegmentId>, IdStoreError> {
        self.change(|writer| writer.add_all(segments))
    }

    /// Replaces the segments `old` by `merged`, at the position of the newest of them. If other segments were in
    /// between, a document of theirs may become older than one of `merged`: it must be deleted by then, and merged
    /// away or not `live`.
    ///
    /// **All ids of `merged` must be ids of `old`.** It inherits their entries, so an id that none of them had
    /// would not be found. Ids of deleted documents may be missing. O(segments + slots): no entry is touched.
    ///
    /// # Errors
    ///
    /// When one of `old` is not in the store, or `merged` has more ids than they have together. Nothing changes
    /// then.
    pub fn replace(&self, old: &[SegmentId], merged: Arc<S>) -> Result<SegmentId, IdStoreError> {
        self.change(|writer| writer.replace(old, merged))
    }

    /// Removes segments. O(segments + slots).
    ///
    /// # Errors
    ///
    /// When one is not in the store. Nothing changes then.
    pub fn remove(&self, segments: &[SegmentId]) -> Result<(), IdStoreError> {
        self.change(|writer| {
            writer.places_of(segments)?;
            let removed: HashSet<&SegmentId> = segments.iter().collect();
            writer.segments.retain(|(id, _)| !removed.contains(id));
            writer.generations.inherit(segments, None);
            Ok(())
        })
    }

    /// Does up to `steps` steps of maintenance: each moves an id to a new table, or zeroes a bucket of it, in 10 to
    /// 100 ns. A store that only grows needs no call; after many merges or removals, calls in idle moments release
    /// memory.
    ///
    /// # Errors
    ///
    /// When bytes of a segment are damaged. Its ids stay in their table; the next call continues with other
    /// segments.
    pub fn maintain(&self, steps: usize) -> Result<Upkeep, IdStoreError> {
        let mut writer = self.writer();
        let done = writer.maintain(steps);
        if !matches!(done, Ok(Progress { moved: false, .. })) {
            self.publish(&writer);
        }
        Ok(if done?.more { Upkeep::More } else { Upkeep::Done })
    }

    /// After a panic in a segment's code, the writer is unchanged apart from entries without an owner.
    pub(super) fn writer(&self) -> MutexGuard<'_, Writer<S>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<R>(
        &self,
        f: impl FnOnce(&mut Writer<S>) -> Result<R, IdStoreError>,
    ) -> Result<R, IdStoreError> {
        let mut writer = self.writer();
        let done = f(&mut writer)?;
        self.publish(&writer);
        Ok(done)
    }

    fn publish(&self, writer: &Writer<S>) {
        let lookup = Arc::new(writer.lookup());
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *published, lookup);
        drop(published);
        // This may free a table, which takes time that no reader should wait for.
        drop(before);
    }
}

impl<S: SegmentIds> Writer<S> {
    fn add_all(&mut self, segments: &[Arc<S>]) -> Result<Vec<SegmentId>, IdStoreError> {
        if self.segments.len() + segments.len() > MAX_SEGMENTS {
            return Err(IdStoreError::TooManySegments);
        }
        let mut sizes = self.sizes();
        let added: usize = segments.iter().map(|segment| segment.ids().len() as usize).sum();
        sizes.ids += added;
        sizes.segments += segments.len();
        let mut ids = Vec::with_capacity(segments.len());
        for segment in segments {
            let id = SegmentId(self.next);
            self.next += 1;
            if let Err(error) = self.generations.add(id, segment.ids(), sizes) {
                self.generations.inherit(&ids, None);
                return Err(error.into());
            }
            ids.push(id);
        }
        let mut all: Vec<_> = ids.iter().copied().zip(segments.iter().cloned()).collect();
        all.append(&mut self.segments);
        self.segments = all;
        // A failed move is no reason to refuse the new segment.
        let _ = self.maintain(added.saturating_mul(MOVED_PER_ADDED) + segments.len());
        Ok(ids)
    }

    fn replace(&mut self, old: &[SegmentId], merged: Arc<S>) -> Result<SegmentId, IdStoreError> {
        let places = self.places_of(old)?;
        let len = |place: &usize| {
            self.segments.get(*place).map_or(0, |(_, segment)| u64::from(segment.ids().len()))
        };
        let parts = places.iter().map(len).sum();
        let len = u64::from(merged.ids().len());
        if len > parts {
            return Err(IdStoreError::ForeignIds { merged: len, parts });
        }
        let id = SegmentId(self.next);
        self.next += 1;
        // Segments newer than the newest of `old` stay newer. If `old` is empty, `merged` has no ids and goes to
        // the front.
        let place = places.iter().min().copied().unwrap_or(0);
        self.segments.insert(place, (id, merged));
        let replaced: HashSet<&SegmentId> = old.iter().collect();
        self.segments.retain(|(id, _)| !replaced.contains(id));
        self.generations.inherit(old, Some(id));
        Ok(id)
    }

    /// The positions of these segments, which must be distinct.
    fn places_of(&self, ids: &[SegmentId]) -> Result<Vec<usize>, IdStoreError> {
        let places: HashMap<SegmentId, usize> = self.segments.iter().map(|(id, _)| *id).zip(0..).collect();
        let mut seen = HashSet::new();
        let mut place = |id: &SegmentId| places.get(id).copied().filter(|_| seen.insert(*id));
        ids.iter().map(|id| place(id).ok_or(IdStoreError::UnknownSegment(*id))).collect()
    }

    fn maintain(&mut self, steps: usize) -> Result<Progress, IdStoreError> {
        let sizes = self.sizes();
        let ids: HashMap<SegmentId, _> = self.segments.iter().map(|(id, s)| (*id, s.ids())).collect();
        Ok(self.generations.maintain(steps, sizes, |id| ids.get(&id).copied())?)
    }

    fn sizes(&self) -> Sizes {
        let ids = self.segments.iter().map(|(_, segment)| segment.ids().len() as usize).sum();
        Sizes { ids, segments: self.segments.len() }
    }

    fn lookup(&self) -> IdLookup<S> {
        let places = self.segments.iter().map(|(id, _)| *id).zip(0..).collect();
        let tables = self.generations.views(&places);
        IdLookup::of(self.segments.clone(), Some(Fingerprints { seed: self.generations.seed(), tables }))
    }
}
