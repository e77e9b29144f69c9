//! Pruning statistics of filters, for an explanation of a search.

use std::ops::{AddAssign, RangeInclusive};

/// Pruning statistics: the decisions of each index of a filter, and the number of values that were compared one by one.
///
/// Filters add to these counts while they run. A condition of two ranges counts each zone twice. A zone or a block is
/// counted with the part of the column where it begins, so the counts of parts add up to those of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruning {
    /// Documents that the column's bounds or its table of values decided. For lists, these may be values.
    pub directory: u64,
    /// Documents that the index sort decided.
    pub order: u64,
    /// Documents that were skipped because they have no value.
    pub missing: u64,
    /// Zones of the coarsest level.
    pub zones: PruneCounts,
    /// Fine zones (of all other levels) in zones that were left open. If every fine zone of a zone may match, none is
    /// tested for matching as a whole.
    pub fine_zones: PruneCounts,
    /// Blocks, or parts of them, that were left open by zones and tested by their headers.
    pub blocks: PruneCounts,
    /// Values that were read and compared one by one.
    pub read: u64,
}

/// Counts of zones or blocks, by what their bounds decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneCounts {
    /// Pruned: no value matches.
    pub none: u64,
    /// Accepted: all values match.
    pub all: u64,
    /// Undecided: some values may match.
    pub open: u64,
}

/// The share of some values that match a filter, as far as bounds tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    None,
    Some,
    All,
}

impl Share {
    /// The share of values bounded by `all` that lie in `wanted`.
    pub(super) fn of<T: Ord>(all: &RangeInclusive<T>, wanted: &RangeInclusive<T>) -> Share {
        if all.end() < wanted.start() || wanted.end() < all.start() {
            Share::None
        } else if wanted.contains(all.start()) && wanted.contains(all.end()) {
            Share::All
        } else {
            Share::Some
        }
    }
}

impl Pruning {
    /// Returns whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Pruning::default()
    }
}

impl AddAssign for Pruning {
    fn add_assign(&mut self, other: Pruning) {
        let Pruning { directory, order, missing, zones, fine_zones, blocks, read } = other;
        self.directory += directory;
        self.order += order;
        self.missing += missing;
        self.zones += zones;
        self.fine_zones += fine_zones;
        self.blocks += blocks;
        self.read += read;
    }
}

impl AddAssign for PruneCounts {
    fn add_assign(&mut self, other: PruneCounts) {
        self.none += other.none;
        self.all += other.all;
        self.open += other.open;
    }
}

impl PruneCounts {
    /// The number of zones or blocks.
    pub fn total(&self) -> u64 {
        self.none + self.all + self.open
    }

    /// Counts `count` zones or blocks with this share.
    #[inline]
    pub(super) fn note(&mut self, share: Share, count: u64) {
        match share {
            Share::None => self.none += count,
            Share::Some => self.open += count,
            Share::All => self.all += count,
        }
    }
}
