//! [`Bitmap`]: the changed documents of a block, as bits with ranks.

use std::ops::Range;

use super::{GROUP, GROUPS};

/// A bit for each document of a block, and the rank of the first of each group: a look-up is a load, and a rank two more.
#[derive(Clone, Debug)]
pub(super) struct Bitmap {
    changed: [u64; GROUPS],
    ranks: [u16; GROUPS],
}

impl Bitmap {
    pub(super) fn new() -> Bitmap {
        Bitmap { changed: [0; GROUPS], ranks: [0; GROUPS] }
    }

    #[inline(always)]
    pub(super) fn has(&self, doc: u16) -> bool {
        let (group, bit) = (usize::from(doc) / GROUP, doc % 64);
        self.changed[group] >> bit & 1 == 1
    }

    /// The number of changed documents before one.
    #[inline(always)]
    pub(super) fn rank(&self, doc: usize) -> usize {
        let (group, bit) = (doc / GROUP, doc % GROUP);
        let before = self.changed[group] & !(u64::MAX << bit);
        usize::from(self.ranks[group]) + before.count_ones() as usize
    }

    /// The bits of some groups.
    pub(super) fn groups(&self, groups: Range<usize>) -> &[u64] {
        &self.changed[groups]
    }

    /// Adds documents, ascending, that are not there.
    pub(super) fn insert(&mut self, docs: &[u16]) {
        let (mut added, mut from) = (0, 0);
        for doc in docs {
            let group = usize::from(*doc) / GROUP;
            self.changed[group] |= 1 << (doc % 64);
            self.ranks[from..=group].iter_mut().for_each(|rank| *rank += added);
            // At most 16,320 documents lie before the last group.
            (added, from) = (added.saturating_add(1), group + 1);
        }
        self.ranks[from..].iter_mut().for_each(|rank| *rank += added);
    }
}
