//! The fingerprint tables of a changing set of segments, and how one table becomes the next.
//!
//! ```text
//! table n      slots 1 …   │ A │ B │ C │ D │ - │       being emptied: segments move to the next table one by one
//! table n + 1  slots 1 …   │ E │ C │ F │               takes what is added
//! ```
//!
//! The *owner* of a slot is a segment, or none any more. What holds after each change, and makes the look-up exact:
//!
//! > **Every id of every segment stands in some table, under a slot that this segment owns.**
//!
//! | change | why it still holds |
//! | --- | --- |
//! | a segment is added | its ids are inserted under a new slot, which it owns from when all are |
//! | segments are merged | their slots go to what they became, whose ids are among theirs: no entry changes |
//! | a segment is removed | its slots own nothing |
//! | a segment is moved | its ids are inserted under a new slot of the newest table; then it owns that and no other |
//! | a table goes | none of its slots has an owner |
//!
//! A table gives each slot once. So entries that became wrong, as documents were deleted or a slot lost its owner,
//! stay wrong until their table goes: they cost a dictionary's look-up at worst.
//!
//! # Growth
//!
//! When a table is nearly full, the next one is *cleared*: its memory is cleared some buckets at a time. When the table
//! is full, the next one takes over, and segments move to it, some ids at a time. It has room for 3/2 of the ids
//! there are, and four ids are moved for one that is added, so all have moved long before it is full in its turn:
//! there are two tables at most, unless merges outrun the moves. Then there is a limit, [`MOST_TABLES`]. In the long
//! run two ids are moved for one that is added. A table that has few slots left, or has become far too large, is
//! followed by another, too.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docvalues_format::error::Result;

use super::{NOWHERE, SegmentId, SegmentIds, TableView};
use crate::fingerprints::{MAX_SLOTS, TableBuilder, TableWriter};
use crate::hash::hash;

/// With more tables than this, all segments move to the newest one at once.
const MOST_TABLES: usize = 3;

/// The least a table is cleared for, in entries: 11 KiB. Tests have small sets, and tables that grow.
const LEAST: usize = if cfg!(test) { 16 } else { 2_048 };

/// Slots that are kept free for what is added while a table is emptied into this one.
const SPARE_SLOTS: usize = 16_384;

/// Ids that are hashed before they are inserted.
const BATCH: u32 = 512;

/// The tables of an [`IdStore`](super::IdStore), and what its writer knows of them.
pub(super) struct Generations {
    seed: u64,
    /// From the oldest to the newest, which takes what is added.
    tables: Vec<Generation>,
    next_table: Option<TableBuilder>,
    moving: Option<Move>,
    /// Segments that could not be moved, as reading them failed. They stay where they are.
    stuck: HashSet<SegmentId>,
    hashes: Vec<u64>,
}

struct Generation {
    writer: TableWriter,
    /// The owner of each slot, from slot 0, which is none.
    owners: Vec<Option<SegmentId>>,
}

/// A segment whose ids up to `rank` stand in the newest table under `slot`, which it does not own yet.
struct Move {
    segment: SegmentId,
    slot: u16,
    rank: u32,
}

/// What [`Generations::maintain`] did and left.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    /// Whether readers should be told.
    pub(super) moved: bool,
    pub(super) more: bool,
}

/// What a set of segments comes to.
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

    /// How many more ids the newest table takes.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.tables.last().map_or(0, |newest| newest.writer.room())
    }

    /// Inserts all ids of a segment, which then owns them. `sizes` are those with it.
    ///
    /// O(ids). After an error everything is as it was, but for entries nobody owns.
    pub(super) fn add<S: SegmentIds>(&mut self, id: SegmentId, segment: &S, sizes: Sizes) -> Result<()> {
        let slot = self.slot_for(segment.len() as usize, sizes);
        let mut rank = 0;
        while rank < segment.len() {
            rank = self.insert(segment, rank, BATCH, slot)?;
        }
        self.own(id, slot);
        Ok(())
    }

    /// The slots of `old` become those of `new`, or nobody's.
    pub(super) fn inherit(&mut self, old: &[SegmentId], new: Option<SegmentId>) {
        let old: HashSet<SegmentId> = old.iter().copied().collect();
        self.moving.take_if(|moving| old.contains(&moving.segment));
        self.stuck.retain(|segment| !old.contains(segment));
        for owner in self.tables.iter_mut().flat_map(|table| &mut table.owners) {
            if owner.is_some_and(|owner| old.contains(&owner)) {
                *owner = new;
            }
        }
        self.drop_empty();
    }

    /// The tables as readers of these segments see them, where `places` is where each segment stands.
    pub(super) fn views(&self, places: &HashMap<SegmentId, u32>) -> Vec<TableView> {
        let place =
            |owner: &Option<SegmentId>| owner.and_then(|id| places.get(&id).copied()).unwrap_or(NOWHERE);
        let map = |table: &Generation| TableView {
            table: Arc::clone(table.writer.table()),
            places: table.owners.iter().map(place).collect(),
        };
        self.tables.iter().map(map).collect()
    }

    /// Does up to `budget` steps of what growth needs, each of them a bucket that is cleared or an id that is moved.
    pub(super) fn maintain<'a, S: SegmentIds + 'a>(
        &mut self,
        mut budget: usize,
        sizes: Sizes,
        segment: impl Fn(SegmentId) -> Option<&'a S>,
    ) -> Result<Progress> {
        let mut moved = false;
        if self.tables.len() > MOST_TABLES {
            budget = usize::MAX;
        }
        loop {
            if budget == 0 {
                return Ok(Progress { moved, more: true });
            }
            if let Some((id, segment)) = self.next_move(&segment) {
                moved |= self.move_some(id, segment, &mut budget, sizes)?;
            } else if let Some(next_table) = &mut self.next_table {
                match next_table.clear_buckets(budget) {
                    0 if self.is_unfit(sizes) => self.open_table(sizes),
                    // It waits until the newest table is full.
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

    /// Moves ids of a segment, up to `budget`. Returns whether they were the last.
    fn move_some<S: SegmentIds>(
        &mut self,
        id: SegmentId,
        segment: &S,
        budget: &mut usize,
        sizes: Sizes,
    ) -> Result<bool> {
        let len = segment.len();
        let left = |moving: &Move| (len - moving.rank.min(len)) as usize;
        let room = self.tables.last().map_or(0, |newest| newest.writer.room());
        // What was added meanwhile may have taken the room: then it begins again, in another table.
        let under_way = self.moving.take().filter(|moving| moving.segment == id && left(moving) <= room);
        let mut moving = under_way.unwrap_or_else(|| {
            let slot = self.slot_for(len as usize, sizes);
            Move { segment: id, slot, rank: 0 }
        });
        while moving.rank < len && *budget > 0 {
            let most = u32::try_from(*budget).unwrap_or(BATCH).min(BATCH);
            let before = moving.rank;
            moving.rank = self.insert(segment, before, most, moving.slot).inspect_err(|_| {
                // Asking again would fail again, and nothing behind it would ever move.
                self.stuck.insert(id);
            })?;
            *budget -= (moving.rank - before) as usize;
        }
        if moving.rank < len {
            self.moving = Some(moving);
            return Ok(false);
        }
        // One step for the segment itself: those without ids come to an end, too.
        *budget = budget.saturating_sub(1);
        self.inherit(&[id], None);
        self.own(id, moving.slot);
        Ok(true)
    }

    /// Hashes ids from `rank` on, up to `most`, and inserts them into the newest table. Returns the rank behind the
    /// last.
    fn insert<S: SegmentIds>(&mut self, segment: &S, rank: u32, most: u32, slot: u16) -> Result<u32> {
        let end = rank.saturating_add(most).min(segment.len());
        let (seed, hashes) = (self.seed, &mut self.hashes);
        hashes.clear();
        segment.each(rank..end, &mut |id| hashes.push(hash(id, seed)))?;
        if let Some(newest) = self.tables.last_mut() {
            newest.writer.insert(hashes, slot);
        }
        Ok(end)
    }

    /// A new slot in the newest table, which has room for so many ids: another table, if it has not.
    fn slot_for(&mut self, ids: usize, sizes: Sizes) -> u16 {
        let fits = |table: &&mut Generation| table.writer.room() >= ids;
        if let Some(slot) = self.tables.last_mut().filter(fits).and_then(|table| table.writer.new_slot()) {
            return slot;
        }
        self.open_table(sizes);
        // A new table has room for all ids there are, and all slots.
        self.tables.last_mut().and_then(|table| table.writer.new_slot()).unwrap_or_default()
    }

    /// Begins with another table: the one that was being cleared, if it is still large enough.
    fn open_table(&mut self, sizes: Sizes) {
        // What was moved so far stands in a table that is not the newest any more.
        self.moving = None;
        let enough = |next_table: &TableBuilder| {
            next_table.capacity() >= sizes.ids + sizes.ids / 4 && next_table.capacity() <= 8 * goal(sizes)
        };
        let next_table =
            self.next_table.take().filter(enough).unwrap_or_else(|| TableBuilder::new(goal(sizes)));
        self.tables.push(Generation { writer: next_table.finish(), owners: vec![None] });
        self.drop_empty();
    }

    fn own(&mut self, id: SegmentId, slot: u16) {
        if let Some(newest) = self.tables.last_mut() {
            let slot = usize::from(slot);
            newest.owners.resize(newest.owners.len().max(slot + 1), None);
            if let Some(owner) = newest.owners.get_mut(slot) {
                *owner = Some(id);
            }
        }
    }

    /// Drops the tables that hold nothing of any segment, but for the newest.
    fn drop_empty(&mut self) {
        let newest = self.tables.len().saturating_sub(1);
        let mut at = 0..;
        self.tables.retain(|table| at.next() == Some(newest) || table.owners.iter().any(Option::is_some));
    }

    /// The segment that is being moved, or else the next one of the oldest table.
    fn next_move<'a, S: 'a>(
        &self,
        segment: impl Fn(SegmentId) -> Option<&'a S>,
    ) -> Option<(SegmentId, &'a S)> {
        let (_, older) = self.tables.split_last()?;
        let owners = older.iter().flat_map(|table| table.owners.iter().flatten());
        let owners = owners.copied().filter(|id| !self.stuck.contains(id));
        let id = self.moving.as_ref().map(|moving| moving.segment).or_else(|| owners.into_iter().next())?;
        Some((id, segment(id)?))
    }

    /// Whether the newest table will soon have no room.
    fn is_nearly_full(&self) -> bool {
        self.tables.last().is_some_and(|newest| newest.writer.room() < newest.writer.table().capacity() / 16)
    }

    /// Whether the newest table should be followed by another although it has room.
    fn is_unfit(&self, sizes: Sizes) -> bool {
        let Some(Generation { writer, .. }) = self.tables.last() else { return false };
        // So many slots would be given anew, so each is moved once for several segments that are added.
        let slots = (4 * sizes.segments + 1_024).min(MAX_SLOTS - SPARE_SLOTS);
        writer.slots() > slots || writer.table().capacity() > 8 * goal(sizes)
    }
}

/// What a table is cleared for: 3/2 of the ids there are.
fn goal(sizes: Sizes) -> usize {
    (sizes.ids + sizes.ids / 2).max(LEAST)
}
