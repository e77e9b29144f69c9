//! The ranks of the keys of each bucket.
//!
//! # Layout
//!
//! A group for every 12 buckets, end to end; the last group has the remaining ones.
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 4 | `rank` | u32: keys of the groups before |
//! | 4 | 12 | `ends` | u8 each: keys of the group up to and including that of each bucket |
//!
//! `ends` of buckets that there are not equal the one before. A group has at most 255 keys: other keys are not evenly
//! distributed, and get another form.

use std::cmp::Ordering;
use std::ops::Range;

use docvalues_format::error::{ErrorKind, Result};
use docvalues_format::prefetch::prefetch;
use docvalues_format::source::SectionBytes;

use super::scale::{Scale, buckets};

/// Buckets of a group.
pub const GROUP_BUCKETS: usize = 12;

/// Bytes of a group.
pub(super) const GROUP: usize = size_of::<u32>() + GROUP_BUCKETS;

/// The number of groups of `count` keys.
pub(super) fn groups(count: u32) -> usize {
    (buckets(count) as usize).div_ceil(GROUP_BUCKETS)
}

/// Appends a group.
pub(super) fn encode(rank: u32, ends: &[u8; GROUP_BUCKETS], out: &mut Vec<u8>) {
    out.extend_from_slice(&rank.to_le_bytes());
    out.extend_from_slice(ends);
}

/// The rank and the ends of a group.
#[inline]
fn decode(&[a, b, c, d, ref ends @ ..]: &[u8; GROUP]) -> (u32, &[u8; GROUP_BUCKETS]) {
    (u32::from_le_bytes([a, b, c, d]), ends)
}

/// Maps keys to ranks, on the heap and verified.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Buckets {
    scale: Scale,
    groups: Box<[[u8; GROUP]]>,
}

impl Buckets {
    /// Copies and verifies the groups of `count` keys, at least one. O(groups): about a nanosecond each.
    ///
    /// # Errors
    ///
    /// When they do not tile the ranks.
    pub(super) fn open(section: &impl SectionBytes, scale: Scale, count: u32) -> Result<Buckets> {
        let (found, expected) = (section.len(), groups(count) * GROUP);
        let check = |checked| section.place().check(0, checked);
        check(ErrorKind::equal("length of the starts of ids", found as u64, expected as u64))?;
        let groups: Box<[[u8; GROUP]]> = section.slice(0..expected)?.as_chunks::<GROUP>().0.into();
        let mut next = Some(0_u32);
        for (rank, ends) in groups.iter().map(decode) {
            let tile = next == Some(rank) && ends.is_sorted();
            next = rank.checked_add(ends[GROUP_BUCKETS - 1].into()).filter(|_| tile);
        }
        check(ErrorKind::rule(next == Some(count), "buckets do not tile the ranks of the ids"))?;
        Ok(Buckets { scale, groups })
    }

    /// Bytes of each key.
    #[inline]
    pub(super) fn key_len(&self) -> usize {
        self.scale.len()
    }

    /// The ranks among which `key` is or would be, and its head. Fails with the order of `key` and all keys, if it is
    /// not between the least and the greatest one.
    #[inline]
    pub(super) fn locate(&self, key: &[u8]) -> Result<(Range<u32>, u8), Ordering> {
        let (bucket, head) = self.scale.place(key)?;
        let (group, place) = (bucket as usize / GROUP_BUCKETS, bucket as usize % GROUP_BUCKETS);
        let Some((rank, ends)) = self.groups.get(group).map(decode) else { return Err(Ordering::Greater) };
        // `open` checked that they ascend, and do not overflow.
        let before = place.checked_sub(1).map_or(0, |before| ends[before]);
        Ok((rank + u32::from(before)..rank + u32::from(ends[place]), head))
    }

    /// The ranks that may have `key`, and its head; `None` if it is of another length or not between the keys.
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Option<(Range<u32>, u8)> {
        if key.len() == self.key_len() { self.locate(key).ok() } else { None }
    }

    /// Prefetches the group of `key`.
    #[inline]
    pub(super) fn prefetch(&self, key: &[u8]) {
        if let Ok((bucket, _)) = self.scale.place(key) {
            prefetch(self.groups.as_ptr().wrapping_add(bucket as usize / GROUP_BUCKETS).cast());
        }
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.groups)
    }
}
