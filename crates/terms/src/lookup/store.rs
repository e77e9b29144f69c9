//! A set of segments that changes.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use docvalues_format::error::Error;

use super::generations::{Generations, Progress, Sizes};
use super::{Fingerprints, IdLookup, SegmentIds};

/// The most segments of a store: 2^15 − 1, half of the slots of a table, so that there are always some for those
/// that are added while a table follows another.
pub const MAX_SEGMENTS: usize = 32_767;

/// Ids that are moved for each one that is added.
const MOVED_PER_ADDED: usize = 4;

/// The name of a segment in its store: no other gets it, ever.
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

/// Why a set of segments did not change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The ids of a segment could not be read.
    #[error(transparent)]
    Bytes(#[from] Error),
    /// There are [`MAX_SEGMENTS`] already.
    #[error("a store has at most {MAX_SEGMENTS} segments")]
    TooManySegments,
    /// There is no such segment, or it is named twice.
    #[error("{0} is not in the store, or named twice")]
    UnknownSegment(SegmentId),
    /// What segments were merged into has more ids than they had together, so it has other ids.
    #[error("merged segments have {merged} ids, which had {parts}")]
    ForeignIds {
        /// The ids of what they were merged into.
        merged: u64,
        /// Their own, together.
        parts: u64,
    },
}

/// What [`IdStore::maintain`] left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// Nothing: the fingerprint table is as it should be.
    Done,
    /// More of the same.
    More,
}

/// A set of segments that changes, with a fingerprint table over all their ids.
///
/// Changes wait for each other; readers wait for none of them. What a change did is in the [`IdLookup`]s
/// given after it, and in none before.
pub struct IdStore<S: SegmentIds> {
    writer: Mutex<Writer<S>>,
    /// The last change. Locked for the time of a clone.
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
    /// No segments. The hash is seeded at random.
    pub fn new() -> IdStore<S> {
        IdStore::with_seed(RandomState::new().hash_one(0_u64))
    }

    /// No segments, and a seed of one's own. Who knows it can make ids that slow the look-up down.
    pub fn with_seed(seed: u64) -> IdStore<S> {
        let writer = Writer { segments: Vec::new(), generations: Generations::new(seed), next: 0 };
        let published = RwLock::new(Arc::new(writer.lookup()));
        IdStore { writer: Mutex::new(writer), published }
    }

    /// The segments as they are after the last change. O(1).
    pub fn snapshot(&self) -> Arc<IdLookup<S>> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a segment, newer than all others.
    ///
    /// O(its ids), and O(segments) for what readers hold. For each id also up to four steps of
    /// [`maintain`](Self::maintain) are done if the table has to grow; whether these succeed is for `maintain` to
    /// say.
    ///
    /// # Errors
    ///
    /// When its bytes are damaged, or there are too many segments. It is not added then.
    pub fn add(&self, segment: Arc<S>) -> Result<SegmentId, StoreError> {
        let ids = self.add_all(&[segment])?;
        ids.first().copied().ok_or(StoreError::TooManySegments)
    }

    /// Adds many segments, sorted from the newest to the oldest, all newer than those there are: as
    /// [`add`](Self::add) for each, but the table is laid for all of them at once.
    ///
    /// # Errors
    ///
    /// As `add`. Then none of them is added.
    pub fn add_all(&self, segments: &[Arc<S>]) -> Result<Vec<SegmentId>, StoreError> {
        self.change(|writer| writer.add_all(segments))
    }

    /// Puts what `old` segments were merged into in the place of the newest of them. Where others stood between them,
    /// a document of theirs that is older than one of those now comes first: it is to be deleted by then, and merged
    /// away or not `live`.
    ///
    /// **All ids of `merged` are ids of theirs**: it inherits their entries, and an id that none of them had would
    /// not be found. Some may be missing, as documents were deleted. O(segments, and slots of the tables): no entry
    /// is touched.
    ///
    /// # Errors
    ///
    /// When one of `old` is not there, or `merged` has more ids than they have. Nothing changed then.
    pub fn replace(&self, old: &[SegmentId], merged: Arc<S>) -> Result<SegmentId, StoreError> {
        self.change(|writer| writer.replace(old, merged))
    }

    /// Removes segments. O(segments, and slots of the tables).
    ///
    /// # Errors
    ///
    /// When one is not there. Nothing changed then.
    pub fn remove(&self, segments: &[SegmentId]) -> Result<(), StoreError> {
        self.change(|writer| {
            writer.places_of(segments)?;
            writer.segments.retain(|(id, _)| !segments.contains(id));
            writer.generations.inherit(segments, None);
            Ok(())
        })
    }

    /// Does a part of what the table needs to grow, or to shed what has gone: up to `steps` ids are moved or lines of
    /// memory cleared, of 10 to 100 ns each. A store that only grows needs no call; after many merges or removals,
    /// calls in idle moments give memory back.
    ///
    /// # Errors
    ///
    /// When bytes of a segment are damaged. Its ids stay where they were; the next call goes on with other segments.
    pub fn maintain(&self, steps: usize) -> Result<Upkeep, StoreError> {
        let mut writer = self.writer();
        let done = writer.maintain(steps);
        if !matches!(done, Ok(Progress { moved: false, .. })) {
            self.publish(&writer);
        }
        Ok(if done?.more { Upkeep::More } else { Upkeep::Done })
    }

    /// After a panic in a segment's code the writer is as it was before, but for entries nobody owns.
    pub(super) fn writer(&self) -> MutexGuard<'_, Writer<S>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<R>(&self, f: impl FnOnce(&mut Writer<S>) -> Result<R, StoreError>) -> Result<R, StoreError> {
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
        // A table may go with it, which takes time that no reader should wait for.
        drop(before);
    }
}

impl<S: SegmentIds> Writer<S> {
    fn add_all(&mut self, segments: &[Arc<S>]) -> Result<Vec<SegmentId>, StoreError> {
        if self.segments.len() + segments.len() > MAX_SEGMENTS {
            return Err(StoreError::TooManySegments);
        }
        let mut sizes = self.sizes();
        let added: usize = segments.iter().map(|segment| segment.len() as usize).sum();
        sizes.ids += added;
        sizes.segments += segments.len();
        let mut ids = Vec::with_capacity(segments.len());
        for segment in segments {
            let id = SegmentId(self.next);
            self.next += 1;
            if let Err(error) = self.generations.add(id, &**segment, sizes) {
                self.generations.inherit(&ids, None);
                return Err(error.into());
            }
            ids.push(id);
        }
        self.segments.splice(..0, ids.iter().copied().zip(segments.iter().cloned()));
        // A segment that cannot be moved is no reason to refuse another one.
        let _ = self.maintain(added.saturating_mul(MOVED_PER_ADDED) + segments.len());
        Ok(ids)
    }

    fn replace(&mut self, old: &[SegmentId], merged: Arc<S>) -> Result<SegmentId, StoreError> {
        let places = self.places_of(old)?;
        let len =
            |place: &usize| self.segments.get(*place).map_or(0, |(_, segment)| u64::from(segment.len()));
        let parts = places.iter().map(len).sum();
        if u64::from(merged.len()) > parts {
            return Err(StoreError::ForeignIds { merged: merged.len().into(), parts });
        }
        let id = SegmentId(self.next);
        self.next += 1;
        // Those before the newest of them stay before it; with none merged, it has no ids and goes to the front.
        let place = places.iter().min().copied().unwrap_or(0);
        self.segments.insert(place, (id, merged));
        self.segments.retain(|(id, _)| !old.contains(id));
        self.generations.inherit(old, Some(id));
        Ok(id)
    }

    /// Where these segments are, all of them different.
    fn places_of(&self, ids: &[SegmentId]) -> Result<Vec<usize>, StoreError> {
        let places: HashMap<SegmentId, usize> = self.segments.iter().map(|(id, _)| *id).zip(0..).collect();
        let mut seen = HashSet::new();
        let mut place = |id: &SegmentId| places.get(id).copied().filter(|_| seen.insert(*id));
        ids.iter().map(|id| place(id).ok_or(StoreError::UnknownSegment(*id))).collect()
    }

    fn maintain(&mut self, steps: usize) -> Result<Progress, StoreError> {
        let sizes = self.sizes();
        let segments: HashMap<SegmentId, &S> = self.segments.iter().map(|(id, s)| (*id, &**s)).collect();
        Ok(self.generations.maintain(steps, sizes, |id| segments.get(&id).copied())?)
    }

    fn sizes(&self) -> Sizes {
        let ids = self.segments.iter().map(|(_, segment)| segment.len() as usize).sum();
        Sizes { ids, segments: self.segments.len() }
    }

    fn lookup(&self) -> IdLookup<S> {
        let places = self.segments.iter().map(|(id, _)| *id).zip(0..).collect();
        let tables = self.generations.views(&places);
        IdLookup::of(self.segments.clone(), Some(Fingerprints { seed: self.generations.seed(), tables }))
    }
}
