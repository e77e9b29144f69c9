//! [`StoreIds`]: one look-up of ids over all segments of a store.
//!
//! A look-up by the segments' filters reads a cache line of each segment; a table of fingerprints reads one for all of
//! them, and takes 5 to 8 bytes an id. A store that was opened begins with the filters, and fills the table once it was
//! asked for enough ids that the table will pay. Readers in other processes never do.

use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use docvalues_reader::IdReader;
use docvalues_terms::lookup::{IdLookup, IdStore, SegmentId, Upkeep};

use super::segment::StoreSegment;
use crate::error::Result;
use crate::locks::{Mutex, MutexGuard, lock};

/// A table is filled when one id was looked up for this many that it will have, or for a quarter of the segments if that is
/// more: filling takes 55 ns an id, and saves about as much of each look-up for each four segments.
const PAYS_AT: u64 = 8;

/// The ids after which no further segment is added to a table at once. Each addition also takes O(segments), and a flush may wait
/// for it.
const ADDED_AT_ONCE: u64 = if cfg!(test) { 1_000 } else { 1 << 18 };

/// A part that a snapshot does not have.
const NO_PART: usize = usize::MAX;

/// The table of a writer.
#[derive(Default)]
pub(crate) struct StoreIds {
    table: IdStore<IdReader>,
    /// The segments in the table, by their numbers.
    members: Mutex<HashMap<u64, SegmentId>>,
    /// Held while ids are added in a call that does not lock the writer.
    adding: Mutex<()>,
    /// How many ids were looked up without the table.
    asked: AtomicU64,
}

/// A look-up over the segments of a snapshot.
pub(crate) struct SnapshotIds {
    pub(crate) lookup: Arc<IdLookup<IdReader>>,
    /// The part of the snapshot at each place of the look-up.
    parts: Vec<usize>,
}

impl SnapshotIds {
    /// By the filters of the segments.
    pub(crate) fn by_filters(segments: &[Arc<StoreSegment>]) -> Result<SnapshotIds> {
        // The newest segment comes first in a look-up, and last in a snapshot.
        let readers = segments.iter().rev().map(|segment| segment.require_ids());
        let lookup = Arc::new(IdLookup::new(readers.collect::<Result<Vec<_>>>()?));
        Ok(SnapshotIds { lookup, parts: (0..segments.len()).rev().collect() })
    }

    /// The part at a place of the look-up, if the snapshot has it.
    #[inline]
    pub(crate) fn part(&self, place: usize) -> Option<usize> {
        self.parts.get(place).copied().filter(|part| *part != NO_PART)
    }
}

impl StoreIds {
    /// The look-up over `segments` by the table, if it has all of them.
    pub(crate) fn lookup(&self, segments: &[Arc<StoreSegment>]) -> Option<SnapshotIds> {
        let members = lock(&self.members);
        let part = |(at, segment): (usize, &Arc<StoreSegment>)| Some((*members.get(&segment.number)?, at));
        let parts = segments.iter().enumerate().map(part).collect::<Option<HashMap<_, _>>>()?;
        let lookup = self.table.snapshot();
        let parts = lookup.segments().map(|(id, _)| parts.get(&id).copied().unwrap_or(NO_PART)).collect();
        Some(SnapshotIds { lookup, parts })
    }

    /// Waits until no ids are added. Whoever changes the table in the lock of the writer calls this before: others would wait for
    /// all ids of a segment. While the result is held, no others are added.
    pub(crate) fn wait_for_added(&self) -> MutexGuard<'_, ()> {
        lock(&self.adding)
    }

    /// Adds a segment that no snapshot has yet. The caller [waits](Self::wait_for_added) before. O(its ids). If its ids are
    /// damaged, the look-up goes on by filters, and reports it.
    pub(crate) fn add(&self, segment: &StoreSegment) {
        if let Ok(Some(ids)) = segment.ids()
            && let Ok(id) = self.table.add(ids)
        {
            lock(&self.members).insert(segment.number, id);
        }
    }

    /// Puts a merged segment in the place of those that it was made of.
    pub(crate) fn replace(&self, old: &[u64], merged: &StoreSegment) {
        let mut members = lock(&self.members);
        let ids: Vec<SegmentId> = old.iter().filter_map(|number| members.remove(number)).collect();
        // If the table lacks one of them, it cannot have the merged one, either: the next time, it is filled again.
        if ids.len() == old.len()
            && let Ok(Some(reader)) = merged.ids()
            && let Ok(id) = self.table.replace(&ids, reader)
        {
            members.insert(merged.number, id);
        } else {
            let _ = self.table.remove(&ids);
        }
    }

    /// Removes segments.
    pub(crate) fn remove(&self, gone: &[u64]) {
        let ids: Vec<SegmentId> = {
            let mut members = lock(&self.members);
            gone.iter().filter_map(|number| members.remove(number)).collect()
        };
        if !ids.is_empty() {
            // They are members, so the table has them. This waits for segments that are being added.
            let _ = self.table.remove(&ids);
        }
    }

    /// Does up to `steps` steps of the table's upkeep, which frees memory after merges.
    pub(crate) fn maintain(&self, steps: usize) -> Upkeep {
        // A damaged segment is reported by the look-up.
        self.table.maintain(steps).unwrap_or(Upkeep::Done)
    }

    /// The memory of the table, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        self.table.snapshot().fingerprint_bytes()
    }

    /// Notes look-ups of `ids` ids by filters. Returns whether a table of all ids of `segments` would pay by now.
    pub(crate) fn would_pay(&self, ids: usize, segments: &[Arc<StoreSegment>]) -> bool {
        let asked = self.asked.fetch_add(ids as u64, Ordering::Relaxed) + ids as u64;
        let there = segments.iter().map(|segment| u64::from(segment.segment.docs())).sum::<u64>();
        asked.saturating_mul(PAYS_AT.max(segments.len() as u64 / 4)) >= there
    }

    /// Adds the segments that the table lacks, and removes others. O(ids), and O(segments) for each [`ADDED_AT_ONCE`] ids.
    pub(crate) fn fill(&self, segments: &[Arc<StoreSegment>]) {
        let now: HashSet<u64> = segments.iter().map(|segment| segment.number).collect();
        let gone: Vec<u64> =
            lock(&self.members).keys().copied().filter(|number| !now.contains(number)).collect();
        self.remove(&gone);
        let mut left = segments;
        while !left.is_empty() {
            let mut ids = 0;
            let has_room = |segment: &&Arc<StoreSegment>| {
                let before = ids;
                ids += u64::from(segment.segment.docs());
                before < ADDED_AT_ONCE
            };
            let (some, others) = left.split_at(left.iter().take_while(has_room).count());
            self.add_some(some);
            left = others;
        }
        self.asked.store(0, Ordering::Relaxed);
    }

    /// Adds segments, from the oldest to the newest, unless the table has them, outside of the lock of the writer.
    pub(crate) fn add_some<S: Deref<Target = StoreSegment>>(&self, segments: &[S]) {
        let _adding = self.wait_for_added();
        let lacking: Vec<&S> = {
            let members = lock(&self.members);
            segments.iter().filter(|segment| !members.contains_key(&segment.number)).collect()
        };
        if lacking.is_empty() {
            return;
        }
        // The table has the newest first.
        let readers =
            lacking.iter().rev().map(|segment| segment.ids().ok().flatten()).collect::<Option<Vec<_>>>();
        match readers.map(|readers| self.table.add_all(&readers)) {
            Some(Ok(ids)) => {
                let numbers = lacking.iter().rev().map(|segment| segment.number);
                lock(&self.members).extend(numbers.zip(ids));
            }
            // One is damaged: the others are added.
            _ => lacking.into_iter().for_each(|segment| self.add(segment)),
        }
    }
}

#[cfg(test)]
mod tests {
    use docvalues_column::{Field, Kind, LogicalType};

    use super::*;
    use crate::{Store, StoreOptions, StoreSchema};

    /// When it pays, and in three additions: of two segments, two, and one.
    #[test]
    fn a_table_is_filled_by_some_segments_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let id = Field::new("id", Kind::Binary, LogicalType::Utf8);
        let schema = StoreSchema::new().with_field(id).unwrap().with_id_field("id").unwrap();
        let store = Store::create(folder.path().join("ids"), schema, StoreOptions::default()).unwrap();
        for first in (0..3_000).step_by(600) {
            let mut batch = store.batch().unwrap();
            let id = batch.field("id").unwrap();
            for number in first..first + 600 {
                let mut doc = batch.upsert();
                doc.str(id, &number.to_string()).unwrap();
                doc.finish().unwrap();
            }
            store.apply(batch).unwrap();
            store.commit().unwrap();
        }
        let (now, ids) = (store.snapshot(), StoreIds::default());
        let few = &now.opened()[..1];
        assert!(!ids.would_pay(74, few) && ids.would_pay(1, few), "600 ids, of which 75 were looked up");
        let (many, ids) = (vec![few[0].clone(); 400], StoreIds::default());
        assert!(!ids.would_pay(2_399, &many) && ids.would_pay(1, &many), "240,000 ids in 400 segments");
        for _ in 0..2 {
            ids.fill(now.opened());
            let SnapshotIds { lookup, parts } = ids.lookup(now.opened()).unwrap();
            assert_eq!(parts, [4, 3, 2, 1, 0], "the newest first, and none twice");
            let mut seeker = lookup.seeker();
            for number in 0..3_000_usize {
                let hit = seeker.find(number.to_string().as_bytes()).unwrap().unwrap();
                assert_eq!(parts[hit.segment], number / 600);
            }
            assert!(seeker.find(b"3000").unwrap().is_none());
        }
    }
}
