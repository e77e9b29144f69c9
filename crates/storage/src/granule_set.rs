//! The set of granules that were verified.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use docvalues_format::granule::GRANULE;

/// A set of granules that only grows, shared by all threads that read a section.
///
/// **Ordering.** Whatever a thread did before it [`insert`](GranuleSet::insert)ed a granule is visible to every
/// thread that finds the granule in the set: `insert` releases, [`contains`](GranuleSet::contains) and
/// [`all`](GranuleSet::all) acquire. For `all`, this holds for the threads of *all* granules, not only of the last
/// one: each decrements `left` by a releasing read-modify-write, and these continue one another's release sequence.
/// So the load that reads 0 synchronizes with all of them.
pub(crate) struct GranuleSet {
    words: Box<[AtomicU64]>,
    left: AtomicUsize,
}

impl GranuleSet {
    /// An empty set over `granules` granules, one bit each.
    pub(crate) fn none(granules: usize) -> GranuleSet {
        let words = (0..granules.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        GranuleSet { words, left: AtomicUsize::new(granules) }
    }

    /// A full set, which stores no bits.
    pub(crate) fn everything() -> GranuleSet {
        GranuleSet { words: Box::default(), left: AtomicUsize::new(0) }
    }

    /// Whether the set is full: one load.
    #[inline]
    pub(crate) fn all(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// The number of granules that are not in the set.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// A bit for each granule; empty for a set that was full from the beginning.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        &self.words
    }

    /// Whether `granule` is in the set.
    #[inline(always)]
    pub(crate) fn contains(&self, granule: usize) -> bool {
        match self.words.get(granule / 64) {
            Some(word) => word.load(Ordering::Acquire) >> (granule % 64) & 1 == 1,
            None => self.all(),
        }
    }

    /// Whether two granules, equal or adjacent, are in the set.
    // Always inlined: a call here would cost more than the bits, and its caller registers to save.
    #[inline(always)]
    pub(crate) fn contains_both(&self, first: usize, last: usize) -> bool {
        self.contains(first) && (first == last || self.contains(last))
    }

    /// Whether all granules that overlap `range` are in the set.
    #[inline]
    pub(crate) fn contains_all(&self, range: &Range<usize>) -> bool {
        let granules = granules_of(range);
        // Most ranges lie in one granule.
        granules.is_empty()
            || self.contains(granules.start) && (granules.start + 1..granules.end).all(|g| self.contains(g))
    }

    /// Adds `granule`, and returns whether it was new. If several threads add the same granule at once, the result
    /// is true for one of them.
    pub(crate) fn insert(&self, granule: usize) -> bool {
        let bit = 1 << (granule % 64);
        let Some(word) = self.words.get(granule / 64) else { return false };
        let new = word.fetch_or(bit, Ordering::Release) & bit == 0;
        if new {
            self.left.fetch_sub(1, Ordering::Release);
        }
        new
    }
}

impl fmt::Debug for GranuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} granules left", self.left.load(Ordering::Relaxed))
    }
}

/// The granules that overlap `range`; none for an empty one.
#[inline]
pub(crate) fn granules_of(range: &Range<usize>) -> Range<usize> {
    if range.is_empty() { 0..0 } else { range.start / GRANULE..range.end.div_ceil(GRANULE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_when_the_last_one_came() {
        for granules in [1, 2, 63, 64, 65, 200] {
            let set = GranuleSet::none(granules);
            for granule in (0..granules).rev() {
                assert!(!set.all() && !set.contains(granule), "{granule} of {granules}");
                assert!(set.insert(granule));
                assert!(!set.insert(granule), "the second time is not new");
                assert!(set.contains(granule));
            }
            assert!(set.all());
        }
        assert!(GranuleSet::none(0).all());
        assert!(GranuleSet::everything().all() && GranuleSet::everything().contains(7));
    }

    #[test]
    fn each_granule_is_new_to_one_thread() {
        let set = GranuleSet::none(1000);
        let new: usize = std::thread::scope(|scope| {
            let count = || (0..1000).filter(|&granule| set.insert(granule)).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(new, 1000);
        assert!(set.all());
    }
}
