//! What filters found out without a look at values, for who wants to explain a search.

use std::ops::{AddAssign, RangeInclusive};

/// How filters came to know which documents match: what each index decided, and how many values were left to be looked at.
///
/// The filters count while they run, so these are their own decisions. Counts add up over all filters that they are
/// given to: a condition of two ranges asks about each zone twice.
///
/// A zone, a stretch or a block is counted where it begins. So the sum of parts of a column is that of the whole, however it is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterCounts {
    /// Documents that the directory decided: the smallest and the largest value of the column lie outside of what is
    /// wanted, or inside, or what is wanted lies between two entries of its table of values. Where documents have several
    /// values, values may stand for documents here.
    pub directory: u64,
    /// Documents that the order of all documents decided, which are sorted by the column.
    pub order: u64,
    /// Documents that presence passed over, as they have no value.
    pub missing: u64,
    /// Zones of [`ZONE`](super::ZONE) values.
    pub zones: Decided,
    /// Stretches of [`STRETCH`](super::STRETCH) values of those zones that did not decide, if the file has them. Where each one
    /// of a zone may hold some, none is asked whether all of it is wanted.
    pub stretches: Decided,
    /// Each 512 values of those stretches that did not decide, by the header of their block. Without stretches, blocks of
    /// those zones that did not decide, or of a column without zones; of a block that is longer than a zone, each zone's part;
    /// of one along a line, each 512 values.
    pub blocks: Decided,
    /// Values that were read, and compared one by one.
    pub read: u64,
}

/// How many zones, stretches or blocks decided without a look at their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decided {
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

impl FilterCounts {
    /// No filter ran, or none that counts.
    pub fn is_empty(&self) -> bool {
        *self == FilterCounts::default()
    }
}

impl AddAssign for FilterCounts {
    fn add_assign(&mut self, other: FilterCounts) {
        let FilterCounts { directory, order, missing, zones, stretches, blocks, read } = other;
        self.directory += directory;
        self.order += order;
        self.missing += missing;
        self.zones += zones;
        self.stretches += stretches;
        self.blocks += blocks;
        self.read += read;
    }
}

impl AddAssign for Decided {
    fn add_assign(&mut self, other: Decided) {
        self.none += other.none;
        self.all += other.all;
        self.open += other.open;
    }
}

impl Decided {
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
