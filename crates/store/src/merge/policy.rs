//! [`MergePolicy`]: which segments are merged.

use crate::segments::places_by_key;

/// Merges segments of similar size, so that their number grows with the logarithm of the bytes, and each document is
/// merged as often. After Lucene's `TieredMergePolicy` (LUCENE-854).
///
/// Sizes are those of the live documents. Segments are ordered by size. As long as there are more than the tiers allow,
/// the best window of them is merged: the one with the most even sizes, the fewest bytes and the most deleted
/// documents.
///
/// # Examples
///
/// ```
/// use docvalues_store::{MergePolicy, SegmentSize};
///
/// let policy = MergePolicy::new().segments_per_tier(3).floor_bytes(1 << 10);
/// let sizes = [4_000, 3_000, 5_000, 4_000, 3_000, 4_000, 3_000];
/// let sizes = sizes.map(|bytes| SegmentSize::new(bytes, 10));
/// assert_eq!(policy.choose(&sizes), [1, 4, 6]); // the smallest of equal size
/// assert!(policy.choose(&sizes[..3]).is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
#[doc(alias = "TieredMergePolicy")]
#[non_exhaustive]
pub struct MergePolicy {
    /// The segments of each tier, and the most that are merged at once; at least 2.
    pub segments_per_tier: usize,
    /// Smaller segments count as this large.
    pub floor_bytes: u64,
    /// Larger segments are not made, and segments of more than half of this are not merged.
    pub max_bytes: u64,
    /// A segment of which a larger share was deleted or updated, in percent, is merged by itself if nothing else is.
    pub max_deleted_percent: u32,
    /// The memory for new values of updated documents, in bytes. If they take more, and nothing else is merged, the segment
    /// with most of them is, by itself: its new values are in its file then.
    pub max_updates_bytes: u64,
}

/// The size of a segment, for a [`MergePolicy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentSize {
    /// The length of its file.
    pub bytes: u64,
    /// The number of its documents.
    pub docs: u32,
    /// The number of those that are not deleted.
    pub live: u32,
    /// The number of those with new values, which are in memory until they are merged.
    pub updated: u32,
    /// The memory of these values.
    pub updates_bytes: u64,
}

impl Default for MergePolicy {
    /// As [`MergePolicy::new`].
    fn default() -> MergePolicy {
        MergePolicy::new()
    }
}

impl SegmentSize {
    /// A segment of `docs` documents in a file of `bytes`, none of them deleted or updated.
    pub const fn new(bytes: u64, docs: u32) -> SegmentSize {
        SegmentSize { bytes, docs, live: docs, updated: 0, updates_bytes: 0 }
    }

    /// The bytes of its live documents, about.
    fn live_bytes(&self) -> u64 {
        let bytes = u128::from(self.bytes) * u128::from(self.live) / u128::from(self.docs.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl MergePolicy {
    /// Ten segments a tier, from 2 MiB to 5 GiB; a fifth deleted; 256 MiB of new values.
    pub const fn new() -> MergePolicy {
        MergePolicy {
            segments_per_tier: 10,
            floor_bytes: 2 << 20,
            max_bytes: 5 << 30,
            max_deleted_percent: 20,
            max_updates_bytes: 256 << 20,
        }
    }

    /// Sets the segments of each tier, and the most that are merged at once.
    pub const fn segments_per_tier(self, segments_per_tier: usize) -> MergePolicy {
        MergePolicy { segments_per_tier, ..self }
    }

    /// Sets the size as which smaller segments count.
    pub const fn floor_bytes(self, floor_bytes: u64) -> MergePolicy {
        MergePolicy { floor_bytes, ..self }
    }

    /// Sets the size of the largest segments that are made.
    pub const fn max_bytes(self, max_bytes: u64) -> MergePolicy {
        MergePolicy { max_bytes, ..self }
    }

    /// Sets the share of deleted or updated documents above which a segment is merged by itself.
    pub const fn max_deleted_percent(self, max_deleted_percent: u32) -> MergePolicy {
        MergePolicy { max_deleted_percent, ..self }
    }

    /// Sets the memory for new values of updated documents.
    pub const fn max_updates_bytes(self, max_updates_bytes: u64) -> MergePolicy {
        MergePolicy { max_updates_bytes, ..self }
    }

    /// The indexes of the segments to merge next, ascending; empty if there is nothing to do.
    pub fn choose(&self, sizes: &[SegmentSize]) -> Vec<usize> {
        let live = sizes.iter().map(SegmentSize::live_bytes).zip(0..);
        // By how much smaller they are than the largest possible, so that the largest comes first.
        let small =
            live.filter(|(bytes, _)| *bytes <= self.max_bytes / 2).map(|(bytes, at)| (u64::MAX - bytes, at));
        let by_size = places_by_key(small.collect());
        let mut chosen = if by_size.len() > self.allowed(sizes, &by_size) {
            self.best_window(sizes, &by_size)
        } else {
            Vec::new()
        };
        if chosen.is_empty() {
            let changed = (0..sizes.len()).find(|at| self.has_many_changed(&sizes[*at]));
            chosen.extend(changed.or_else(|| self.with_most_updates(sizes)));
        }
        chosen.sort_unstable();
        chosen
    }

    fn has_many_changed(&self, size: &SegmentSize) -> bool {
        let changed = u64::from(size.docs - size.live.min(size.docs)) + u64::from(size.updated);
        changed * 100 > u64::from(size.docs) * u64::from(self.max_deleted_percent)
    }

    /// The segment whose new values take most memory, if those of all take too much.
    fn with_most_updates(&self, sizes: &[SegmentSize]) -> Option<usize> {
        let all = sizes.iter().map(|size| size.updates_bytes).fold(0, u64::saturating_add);
        let updated = (0..sizes.len()).filter(|at| sizes[*at].updated > 0 && all > self.max_updates_bytes);
        updated.max_by_key(|at| sizes[*at].updates_bytes)
    }

    /// The number of segments that the tiers allow.
    fn allowed(&self, sizes: &[SegmentSize], by_size: &[usize]) -> usize {
        let per_tier = self.segments_per_tier.max(2);
        let floored = |at: &usize| sizes[*at].live_bytes().max(self.floor_bytes).max(1);
        let mut left: u64 = by_size.iter().map(floored).fold(0, u64::saturating_add);
        let (mut level, mut allowed) = (by_size.last().map_or(1, floored), 0);
        loop {
            let here = left.div_ceil(level);
            if here < per_tier as u64 || level >= self.max_bytes {
                let here = usize::try_from(here).unwrap_or(usize::MAX);
                return here.saturating_add(allowed).max(per_tier);
            }
            allowed += per_tier;
            left -= (level.saturating_mul(per_tier as u64)).min(left);
            level = level.saturating_mul(per_tier as u64).min(self.max_bytes);
        }
    }

    /// The window of segments, ordered by size, that is best to merge.
    fn best_window(&self, sizes: &[SegmentSize], by_size: &[usize]) -> Vec<usize> {
        let mut best: (f64, &[usize]) = (f64::INFINITY, &[]);
        for start in 0..by_size.len() {
            let mut bytes = 0_u64;
            let fits = |at: &&usize| {
                bytes = bytes.saturating_add(sizes[**at].live_bytes());
                bytes <= self.max_bytes
            };
            let len = by_size[start..].iter().take(self.segments_per_tier.max(2)).take_while(fits).count();
            let window = &by_size[start..start + len];
            let score = self.score(sizes, window);
            if len > 1 && score < best.0 {
                best = (score, window);
            }
        }
        best.1.to_vec()
    }

    /// Lesser scores are better: Lucene's, of skew, bytes and the share of live documents.
    #[expect(clippy::cast_precision_loss, reason = "a score is no count")]
    fn score(&self, sizes: &[SegmentSize], window: &[usize]) -> f64 {
        let floored = |at: &usize| sizes[*at].live_bytes().max(self.floor_bytes) as f64;
        let total: f64 = window.iter().map(floored).sum();
        let largest = window.first().map_or(0.0, floored);
        let live: f64 = window.iter().map(|at| sizes[*at].live_bytes() as f64).sum();
        let all: f64 = window.iter().map(|at| sizes[*at].bytes as f64).sum();
        largest / total * live.powf(0.05) * (live / all.max(1.0)).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds segments of equal size, one at a time, and merges as the policy says. Returns the number of segments, and
    /// the bytes that were written for each byte that was added.
    fn simulate(policy: &MergePolicy, segments: u64) -> (usize, f64) {
        let (mut sizes, mut written) = (Vec::new(), 0);
        for _ in 0..segments {
            sizes.push(SegmentSize { bytes: 1 << 20, docs: 100, live: 100, updated: 0, updates_bytes: 0 });
            loop {
                let chosen = policy.choose(&sizes);
                if chosen.is_empty() {
                    break;
                }
                let bytes = chosen.iter().map(|at| sizes[*at].bytes).sum();
                let docs = chosen.iter().map(|at| sizes[*at].docs).sum();
                written += bytes;
                for at in chosen.into_iter().rev() {
                    sizes.remove(at);
                }
                sizes.push(SegmentSize { bytes, docs, live: docs, updated: 0, updates_bytes: 0 });
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        (sizes.len(), written as f64 / (segments << 20) as f64)
    }

    #[test]
    fn segments_and_writes_grow_logarithmically() {
        let policy = MergePolicy { floor_bytes: 1 << 20, ..MergePolicy::default() };
        for (segments, most, writes) in [(10, 10, 0.1), (100, 20, 1.5), (1_000, 30, 2.5), (5_000, 45, 3.5)] {
            let (left, written) = simulate(&policy, segments);
            assert!(
                left <= most && written <= writes,
                "{segments}: {left} segments, written {written} times"
            );
        }
    }

    #[test]
    fn large_segments_stay_and_deleted_documents_go() {
        let policy =
            MergePolicy { segments_per_tier: 2, floor_bytes: 1, max_bytes: 1_000, ..MergePolicy::default() };
        let size = |bytes, live| SegmentSize { bytes, docs: 100, live, updated: 0, updates_bytes: 0 };
        assert!(policy.choose(&[size(900, 100), size(800, 100), size(501, 100)]).is_empty());
        assert_eq!(policy.choose(&[size(900, 100), size(900, 79)]), [1]);
        assert!(policy.choose(&[size(900, 80)]).is_empty());
        assert!(policy.choose(&[]).is_empty());
    }

    #[test]
    fn new_values_are_merged_if_they_take_too_much_memory() {
        let policy = MergePolicy { max_updates_bytes: 1_000, ..MergePolicy::default() };
        let size = |updated, updates_bytes| SegmentSize {
            bytes: 5 << 30,
            docs: 100,
            live: 100,
            updated,
            updates_bytes,
        };
        assert!(policy.choose(&[size(1, 400), size(1, 600)]).is_empty());
        assert_eq!(policy.choose(&[size(1, 400), size(1, 601), size(1, 5)]), [1]);
        assert_eq!(policy.choose(&[size(0, 2_000), size(1, 5)]), [1]);
        assert_eq!(policy.choose(&[size(1, 3_000), size(21, 7)]), [1]);
    }
}
