//! Pruning statistics of filters, for an explanation of a search.

use std::ops::{AddAssign, RangeInclusive};

/// Pruning statistics: the decisions of each index of a filter, and the number of values that were compared one by one.
///
/// Filters count while they run. Counts add up over all filters that they are given to: a condition of two ranges asks each
/// zone twice. A zone or a block is counted where it begins, so the parts of a column add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruning {
    /// Documents that the column's bounds or its table of values decided. Of rows that are lists, values may stand for
    /// documents here.
    pub directory: u64,
    /// Documents that the index sort decided.
    pub order: u64,
    /// Documents that were passed over as they have no value.
    pub missing: u64,
    /// Zones of the coarsest level.
    pub zones: PruneCounts,
    /// Fine zones, those of all other levels, of zones that did not decide. If each fine zone of a zone may hold a value, none
    /// is asked whether all of its values are wanted.
    pub fine_zones: PruneCounts,
    /// Blocks of values, or parts of them, that no zone decided, by their headers.
    pub blocks: PruneCounts,
    /// Values that were read and compared one by one.
    pub read: u64,
}

/// Numbers of zones or blocks that decided without a look at their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneCounts {
    /// None of their values is wanted.
    pub none: u64,
    /// All are.
    pub all: u64,
    /// That remains to be seen.
    pub open: u64,
}

/// How many of some values are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    None,
    Some,
    All,
}

impl Share {
    /// What is known of values that lie in `all`, if `wanted` are.
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
    /// Whether no filter ran, or none that counts.
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
    /// How many there are.
    pub fn total(&self) -> u64 {
        self.none + self.all + self.open
    }

    /// Notes what was found out about so many.
    #[inline]
    pub(super) fn note(&mut self, share: Share, count: u64) {
        match share {
            Share::None => self.none += count,
            Share::Some => self.open += count,
            Share::All => self.all += count,
        }
    }
}
