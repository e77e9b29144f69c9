//! Which granules were checked.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use docvalues_format::granule::GRANULE;

/// A set of granules that only grows, shared by all threads that read a section.
///
/// **Ordering.** What a thread did before [`insert`](GranuleSet::insert)ing a granule is seen by every
/// thread that finds it in the set: `insert` releases, [`contains`](GranuleSet::contains) and
/// [`all`](GranuleSet::all) acquire. For `all` this holds of *every* granule's thread, not of the last
/// one's alone: each takes one off `left` by a releasing read-modify-write, and those continue one
/// another's release sequence, so that the load which reads 0 synchronizes with all of them.
pub(crate) struct GranuleSet {
    words: Box<[AtomicU64]>,
    left: AtomicUsize,
}

impl GranuleSet {
    /// The set of `granules` granules that has none of them yet. A bit each.
    pub(crate) fn none(granules: usize) -> GranuleSet {
        let words = (0..granules.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        GranuleSet { words, left: AtomicUsize::new(granules) }
    }

    /// A set that is full from the beginning, and keeps no bits.
    pub(crate) fn everything() -> GranuleSet {
        GranuleSet { words: Box::default(), left: AtomicUsize::new(0) }
    }

    /// Whether every granule is in the set: one load.
    #[inline]
    pub(crate) fn all(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// How many granules are not in the set.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// A bit for each granule. None, of a set that was full from the beginning.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        &self.words
    }

    /// Whether `granule` is in the set.
    #[inline]
    pub(crate) fn contains(&self, granule: usize) -> bool {
        match self.words.get(granule / 64) {
            Some(word) => word.load(Ordering::Acquire) >> (granule % 64) & 1 == 1,
            None => self.all(),
        }
    }

    /// Whether two granules, which are the same one or neighbours, are in the set.
    // Apart: whoever finds the set full has less code then, and need not keep registers for this.
    #[inline(never)]
    pub(crate) fn contains_both(&self, first: usize, last: usize) -> bool {
        self.contains(first) && (first == last || self.contains(last))
    }

    /// Whether every granule that holds a byte of `range` is in the set.
    #[inline]
    pub(crate) fn contains_all(&self, range: &Range<usize>) -> bool {
        let granules = granules_of(range);
        // Most ranges lie in one.
        granules.is_empty()
            || self.contains(granules.start) && (granules.start + 1..granules.end).all(|g| self.contains(g))
    }

    /// Adds `granule`; whether it was not in the set before. Of several threads that add the same
    /// granule at once, one is told so.
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

/// The granules that hold the bytes of `range`; none for an empty one.
#[inline]
pub(crate) fn granules_of(range: &Range<usize>) -> Range<usize> {
    match range.is_empty() {
        true => 0..0,
        false => range.start / GRANULE..range.end.div_ceil(GRANULE),
    }
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
