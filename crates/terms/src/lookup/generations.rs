//! The fingerprint tables of a changing set of segments, and the migration from one table to the next.
//!
//! ```text
//! table n      slots 1 …   │ A │ B │ C │ D │ - │       is drained: segments move to the next table one by one
//! table n + 1  slots 1 …   │ E │ C │ F │               takes new segments
//! ```
//!
//! A slot is *owned* by a segment or by none. After each change this invariant holds, which makes the look-up
//! exact:
//!
//! > **Every id of every segment is in some table, under a slot that this segment owns.**
//!
//! | change | why the invariant holds |
//! | --- | --- |
//! | add a segment | its ids are inserted under a new slot, which it owns once all of them are |
//! | merge segments | the merged segment inherits their slots; its ids are among theirs, so no entry changes |
//! | remove a segment | its slots have no owner any more |
//! | move a segment | its ids are inserted under a new slot of the newest table; then it owns that slot and no other |
//! | drop a table | none of its slots has an owner |
//!
//! A table issues each slot once. An entry that became stale, because a document was deleted or a slot lost its
//! owner, stays until its table is dropped. It costs a look-up in a dictionary at worst.
//!
//! # Growth
//!
//! When a table is nearly full, the memory of the next one is zeroed, some buckets at a time. When the table is
//! full, the next one takes over, and segments move to it, some ids at a time. The next table has room for 3/2 of
//! all ids, and four ids are moved for each that is added. So all have moved long before it is full in its turn,
//! and there are at most two tables, unless merges outrun the moves; the limit is then [`MOST_TABLES`]. In the long
//! run, two ids are moved for each that is added. A table that is short of slots, or has become far too large, is
//! replaced in the same way.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docvalues_format::error::Result;
use docvalues_format::source::SectionBytes;

use super::{NOWHERE, SegmentId, TableView};
use crate::fingerprints::{MAX_SLOTS, TableBuilder, TableWriter};
use crate::hash::hash;
use crate::read::IdsReader;

/// With more tables than this, all segments move to the newest one at once.
const MOST_TABLES: usize = 3;

/// The least capacity of a table, in entries: 11 KiB. Tests use small sets and let tables grow.
const LEAST: usize = if cfg!(test) { 16 } else { 2_048 };

/// Slots reserved for new segments while an older table is drained into this one.
const SPARE_SLOTS: usize = 16_384;

/// Ids that are hashed before they are inserted.
const BATCH: u32 = 512;

/// The tables of an [`IdStore`](super::IdStore), with their writer's bookkeeping.
pub(super) struct Generations {
    seed: u64,
    /// From the oldest to the newest, which takes new segments.
    tables: Vec<Generation>,
    next_table: Option<TableBuilder>,
    moving: Option<Move>,
    /// Segments that could not be moved because reading them failed. They stay in their table.
    stuck: HashSet<SegmentId>,
    hashes: Vec<u64>,
}

struct Generation {
    writer: TableWriter,
    /// The owner of each slot. Slot 0 is never issued.
    owners: Vec<Option<SegmentId>>,
}

/// A move in progress: the ids up to `rank` are in the newest table under `slot`, which the segment does not own
/// yet.
struct Move {
    segment: SegmentId,
    slot: u16,
    rank: u32,
}

/// The result of [`Generations::maintain`].
#[derive(Clone, Copy)]
pub(super) struct Progress {
    /// Whether a new [`IdLookup`](super::IdLookup) should be published.
    pub(super) moved: bool,
    /// Whether work is left.
    pub(super) more: bool,
}

/// The size of a set of segments.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) ids: usize,
    pub(super) segments: usize,
}

impl Generations {
    pub(super) fn new(seed: u64) -> Generations {
        let (tables, hashes) = (Vec::new(), Vec::new());
        Generations { seed, tables, next_table: None, moving: None, stuck: HashSet::new(), hashes }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// The number of ids that fit the newest table.
    #[cfg(test)]
    pub(super) fn remaining(&self) -> usize {
        self.tables.last().map_or(0, |newest| newest.writer.remaining())
    }

    /// Inserts all ids of a segment, which then owns them. `sizes` includes the segment.
    ///
    /// O(ids). After an error nothing changed, apart from entries without an owner.
    pub(super) fn add(
        &mut self,
        id: SegmentId,
        ids: &IdsReader<impl SectionBytes>,
        sizes: Sizes,
    ) -> Result<()> {
        let slot = self.slot_for(ids.len() as usize, sizes);
        let mut rank = 0;
        while rank < ids.len() {
            rank = self.insert(ids, rank, BATCH, slot)?;
        }
        self.own(id, slot);
        Ok(())
    }

    /// Transfers the slots of `old` to `new`, or leaves them without an owner.
    pub(super) fn inherit(&mut self, old: &[SegmentId], new: Option<SegmentId>) {
        let all: HashSet<SegmentId> = old.iter().copied().collect();
        let is_old = |segment: &SegmentId| match old {
            // Of a segment that moved: no hash for each slot.
            [only] => segment == only,
            _ => all.contains(segment),
        };
        self.moving.take_if(|moving| is_old(&moving.segment));
        self.stuck.retain(|segment| !is_old(segment));
        for owner in self.tables.iter_mut().flat_map(|table| &mut table.owners) {
            if owner.is_some_and(|owner| is_old(&owner)) {
                *owner = new;
            }
        }
        self.drop_empty();
    }

    /// The tables for readers; `places` maps each segment to its position.
    pub(super) fn views(&self, places: &HashMap<SegmentId, u32>) -> Vec<TableView> {
        let place =
            |owner: &Option<SegmentId>| owner.and_then(|id| places.get(&id).copied()).unwrap_or(NOWHERE);
        let map = |table: &Generation| TableView {
            table: Arc::clone(table.writer.table()),
            places: table.owners.iter().map(place).collect(),
        };
        self.tables.iter().map(map).collect()
    }

    /// Does up to `budget` steps of maintenance. A step zeroes a bucket or moves an id.
    pub(super) fn maintain<'a, B: SectionBytes + 'a>(
        &mut self,
        mut budget: usize,
        sizes: Sizes,
        ids_of: impl Fn(SegmentId) -> Option<&'a IdsReader<B>>,
    ) -> Result<Progress> {
        let mut moved = false;
        if self.tables.len() > MOST_TABLES {
            budget = usize::MAX;
        }
        loop {
            if budget == 0 {
                return Ok(Progress { moved, more: true });
            }
            if let Some((id, ids)) = self.next_move(&ids_of) {
                moved |= self.move_some(id, ids, &mut budget, sizes)?;
            } else if let Some(next_table) = &mut self.next_table {
                match next_table.clear_buckets(budget) {
                    0 if self.is_unfit(sizes) => self.open_table(sizes),
                    // The zeroed table waits until the newest one is full.
                    0 => return Ok(Progress { moved, more: false }),
                    cleared => budget -= cleared,
                }
            } else if self.is_unfit(sizes) || self.is_nearly_full() {
                self.next_table = Some(TableBuilder::new(goal(sizes)));
            } else {
                return Ok(Progress { moved, more: false });
            }
        }
    }

    /// Moves up to `budget` ids of a segment. Returns whether they were the last.
    fn move_some(
        &mut self,
        id: SegmentId,
        ids: &IdsReader<impl SectionBytes>,
        budget: &mut usize,
        sizes: Sizes,
    ) -> Result<bool> {
        let len = ids.len();
        let left = |moving: &Move| (len - moving.rank.min(len)) as usize;
        let remaining = self.tables.last().map_or(0, |newest| newest.writer.remaining());
        // If new segments took the room in the meantime, the move starts over in another table.
        let under_way = self.moving.take().filter(|moving| moving.segment == id && left(moving) <= remaining);
        let mut moving = under_way.unwrap_or_else(|| {
            let slot = self.slot_for(len as usize, sizes);
            Move { segment: id, slot, rank: 0 }
        });
        while moving.rank < len && *budget > 0 {
            let most = u32::try_from(*budget).unwrap_or(BATCH).min(BATCH);
            let before = moving.rank;
            moving.rank = self.insert(ids, before, most, moving.slot).inspect_err(|_| {
                // A retry would fail again, and would block all other moves.
                self.stuck.insert(id);
            })?;
            *budget -= (moving.rank - before) as usize;
        }
        if moving.rank < len {
            self.moving = Some(moving);
            return Ok(false);
        }
        // One step for the segment itself, so that segments without ids come to an end, too.
        *budget = budget.saturating_sub(1);
        self.inherit(&[id], None);
        self.own(id, moving.slot);
        Ok(true)
    }

    /// Hashes up to `most` ids from place `rank` on, in any order, and inserts them into the newest table. Returns the
    /// place after the last.
    fn insert(&mut self, ids: &IdsReader<impl SectionBytes>, rank: u32, most: u32, slot: u16) -> Result<u32> {
        let end = rank.saturating_add(most).min(ids.len());
        let (seed, hashes) = (self.seed, &mut self.hashes);
        hashes.clear();
        ids.each_unordered(rank..end, |id| hashes.push(hash(id, seed)))?;
        if let Some(newest) = self.tables.last_mut() {
            newest.writer.insert(hashes, slot);
        }
        Ok(end)
    }

    /// A new slot in the newest table, if that has room for `ids` ids; otherwise in a new table.
    fn slot_for(&mut self, ids: usize, sizes: Sizes) -> u16 {
        let fits = |table: &&mut Generation| table.writer.remaining() >= ids;
        if let Some(slot) = self.tables.last_mut().filter(fits).and_then(|table| table.writer.new_slot()) {
            return slot;
        }
        self.open_table(sizes);
        // A new table has room for all ids, and has all slots.
        self.tables.last_mut().and_then(|table| table.writer.new_slot()).unwrap_or_default()
    }

    /// Starts a new table: the one that was being zeroed, if it is still large enough.
    fn open_table(&mut self, sizes: Sizes) {
        // The ids moved so far are in a table that is no longer the newest.
        self.moving = None;
        let enough = |next_table: &TableBuilder| {
            next_table.capacity() >= sizes.ids + sizes.ids / 4 && next_table.capacity() <= 8 * goal(sizes)
        };
        let next_table =
            self.next_table.take().filter(enough).unwrap_or_else(|| TableBuilder::new(goal(sizes)));
        self.tables.push(Generation { writer: next_table.finish(), owners: vec![None] });
        self.drop_empty();
    }

    /// Makes `id` the owner of `slot` in the newest table.
    fn own(&mut self, id: SegmentId, slot: u16) {
        if let Some(newest) = self.tables.last_mut() {
            let slot = usize::from(slot);
            newest.owners.resize(newest.owners.len().max(slot + 1), None);
            if let Some(owner) = newest.owners.get_mut(slot) {
                *owner = Some(id);
            }
        }
    }

    /// Drops the tables without an owned slot, except the newest.
    fn drop_empty(&mut self) {
        let newest = self.tables.len().saturating_sub(1);
        let mut at = 0..;
        self.tables.retain(|table| at.next() == Some(newest) || table.owners.iter().any(Option::is_some));
    }

    /// The segment that is being moved, or else the next one of the oldest table.
    fn next_move<'a, R: 'a>(
        &self,
        ids_of: impl Fn(SegmentId) -> Option<&'a R>,
    ) -> Option<(SegmentId, &'a R)> {
        let (_, older) = self.tables.split_last()?;
        let owners = older.iter().flat_map(|table| table.owners.iter().flatten());
        let owners = owners.copied().filter(|id| !self.stuck.contains(id));
        let id = self.moving.as_ref().map(|moving| moving.segment).or_else(|| owners.into_iter().next())?;
        Some((id, ids_of(id)?))
    }

    /// Whether the newest table will soon be full.
    fn is_nearly_full(&self) -> bool {
        self.tables
            .last()
            .is_some_and(|newest| newest.writer.remaining() < newest.writer.table().capacity() / 16)
    }

    /// Whether the newest table should be replaced although it has room.
    fn is_unfit(&self, sizes: Sizes) -> bool {
        let Some(Generation { writer, .. }) = self.tables.last() else { return false };
        // This many slots are issued again after a replacement, so each segment moves once for several new
        // segments.
        let slots = (4 * sizes.segments + 1_024).min(MAX_SLOTS - SPARE_SLOTS);
        writer.slots() > slots || writer.table().capacity() > 8 * goal(sizes)
    }
}

/// The capacity of a new table: 3/2 of all ids.
fn goal(sizes: Sizes) -> usize {
    (sizes.ids + sizes.ids / 2).max(LEAST)
}
