//! [`Block`]: the changed rows of 65,536 consecutive documents.

use std::iter;
use std::ops::Range;

use docvalues_format::prefetch::prefetch;

use crate::Lists;
use crate::rows::Element;
use new_rows::NewRows;

mod new_rows;

/// Documents of a block.
pub(super) const DOCS: usize = 1 << 16;

/// Documents of a group, and the groups of a block.
const GROUP: usize = 64;
const GROUPS: usize = DOCS / GROUP;

/// Documents of 64 groups.
const SPAN: usize = 64 * GROUP;

/// The changed rows of some of 65,536 documents.
///
/// ```text
/// groups    1,024 bits: whether any of 64 documents changed
/// starts    for each 64 of these bits, the groups before
/// changed   for each group with changes, a bit for each document
/// present   the same, set if the new row has a value; empty if every new row has one
/// ranks     for each group with changes, the changed documents before
/// rows      the new rows, by rank
/// ```
///
/// Most look-ups end at the first bit. The others take three counts of bits to find the rank.
#[derive(Clone, Debug)]
pub(super) struct Block<T> {
    index: Index,
    rows: NewRows<T>,
}

/// All of a block but the rows.
#[derive(Clone, Debug, Default)]
struct Index {
    groups: [u64; GROUPS / 64],
    starts: [u16; GROUPS / 64],
    changed: Vec<u64>,
    present: Vec<u64>,
    ranks: Vec<u16>,
}

impl<T: Element> Block<T> {
    /// A block without changes.
    pub(super) fn new(is_many: bool) -> Block<T> {
        let rows = if is_many { NewRows::Many(Lists::new()) } else { NewRows::One(Vec::new()) };
        Block { index: Index::default(), rows }
    }

    /// The number of changed documents.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The number of new values; a byte string is one.
    pub(super) fn values(&self) -> usize {
        match &self.rows {
            NewRows::Many(lists) if !T::EMPTY_IS_VALUE => lists.slices().items().len(),
            rows => rows.len(),
        }
    }

    /// The size in memory, in bytes.
    pub(super) fn heap(&self) -> usize {
        let of_groups = size_of_val(&self.index.changed[..]) + size_of_val(&self.index.present[..]);
        size_of::<Block<T>>() + of_groups + size_of_val(&self.index.ranks[..]) + self.rows.heap()
    }

    /// The new row of a document, if it changed.
    #[inline]
    pub(super) fn row(&self, doc: u16) -> Option<Option<&[T]>> {
        let (group, bit) = (usize::from(doc) / GROUP, usize::from(doc) % GROUP);
        if self.index.groups[group / 64] >> (group % 64) & 1 == 0 {
            return None;
        }
        let at = self.index.group(group);
        let changed = self.index.changed[at];
        if changed >> bit & 1 == 0 {
            return None;
        }
        let is_present = self.index.present.get(at).is_none_or(|present| present >> bit & 1 == 1);
        let rank = usize::from(self.index.ranks[at]) + below(changed, bit);
        Some(is_present.then(|| self.rows.get(rank)))
    }

    /// Whether any group that overlaps `docs`, which must not be empty, has changes.
    #[inline]
    pub(super) fn may_have_changes(&self, docs: Range<usize>) -> bool {
        let (first, end) = (docs.start / GROUP, docs.end.div_ceil(GROUP));
        let mut spans = first / 64..end.div_ceil(64);
        spans.any(|span| {
            let start = span * 64;
            let within = first.max(start)..end.min(start + 64);
            self.index.groups[span] & mask(within.start - start, within.len()) != 0
        })
    }

    /// The groups of some documents that have changes.
    #[inline]
    pub(super) fn groups_in(&self, docs: Range<usize>) -> Groups<'_, T> {
        let span = docs.start / SPAN;
        let mut groups = Groups { block: self, span, left: 0, at: 0, docs };
        if !groups.docs.is_empty() {
            groups.begin(span);
        }
        groups
    }

    /// Whether the same documents of a group changed, to the same rows.
    pub(super) fn has_group(&self, other: &Group<'_, T>) -> bool {
        let group = other.first / GROUP;
        if self.index.groups[group / 64] >> (group % 64) & 1 == 0 {
            return false;
        }
        let at = self.index.group(group);
        let present = self.index.present.get(at).copied().unwrap_or(u64::MAX);
        let (changed, rank) = (self.index.changed[at], usize::from(self.index.ranks[at]));
        let count = changed.count_ones() as usize;
        (changed, changed & present) == (other.changed, other.changed & other.present)
            && self.rows.are_same(rank..rank + count, (other.rows, other.rank))
    }

    /// The place of a document's group, without a branch; any place, perhaps past the last one, if the group has no changes.
    /// Then the first result is false.
    #[inline(always)]
    pub(super) fn place(&self, doc: u16) -> (bool, u16) {
        let group = usize::from(doc) / GROUP;
        let groups = self.index.groups[group / 64];
        let before = below(groups, group % 64);
        #[expect(clippy::cast_possible_truncation, reason = "of 1,024 groups")]
        let at = self.index.starts[group / 64] + before as u16;
        (groups >> (group % 64) & 1 == 1, at)
    }

    /// Prefetches what [`rank_at`](Self::rank_at) reads.
    #[inline(always)]
    pub(super) fn prefetch_place(&self, at: u16) {
        prefetch(self.index.changed.as_ptr().wrapping_add(usize::from(at)).cast());
        prefetch(self.index.ranks.as_ptr().wrapping_add(usize::from(at)).cast());
    }

    /// Whether a document changed, and its rank, by the place of its group, without a branch.
    #[inline(always)]
    pub(super) fn rank_at(&self, at: u16, doc: u16) -> (bool, usize) {
        let (at, bit) = (usize::from(at), usize::from(doc) % GROUP);
        let changed = self.index.changed[at];
        (changed >> bit & 1 == 1, usize::from(self.index.ranks[at]) + below(changed, bit))
    }

    /// Prefetches a single value.
    #[inline]
    pub(super) fn prefetch_row(&self, rank: usize) {
        if let NewRows::One(values) = &self.rows {
            prefetch(values.as_ptr().wrapping_add(rank).cast());
        }
    }

    /// The new row of a changed document, by the place of its group and its rank.
    #[inline]
    pub(super) fn row_at(&self, at: u16, doc: u16, rank: usize) -> Option<&[T]> {
        let present = self.index.present.get(usize::from(at));
        let is_present = present.is_none_or(|present| present >> (usize::from(doc) % GROUP) & 1 == 1);
        is_present.then(|| self.rows.get(rank))
    }

    /// This block with more changes, ascending by document. Those of the same documents replace the ones before.
    pub(super) fn with(&self, changes: &[(u16, Option<&[T]>)]) -> Block<T> {
        let mut changed = [0_u64; GROUPS];
        let mut present = [u64::MAX; GROUPS];
        for group in self.groups_in(0..DOCS) {
            changed[group.first / GROUP] = group.changed;
            present[group.first / GROUP] = group.present;
        }
        let place = |doc: u16| (usize::from(doc) / GROUP, usize::from(doc) % GROUP);
        let is_new = |(doc, _): &&(u16, _)| {
            let (group, bit) = place(*doc);
            changed[group] >> bit & 1 == 0
        };
        let mut rows = self.rows.with_capacity(changes.iter().filter(is_new).count());
        let mut copied = 0;
        for (doc, row) in changes {
            let (group, bit) = place(*doc);
            let (rank, is_old) = self.index.rank(group, bit, self.len());
            rows.extend_from(&self.rows, copied..rank);
            rows.push(*row);
            copied = rank + usize::from(is_old);
            changed[group] |= 1 << bit;
            present[group] = present[group] & !(1 << bit) | u64::from(row.is_some()) << bit;
        }
        rows.extend_from(&self.rows, copied..self.len());
        Block { index: Index::of(&changed, &present), rows }
    }
}

impl Index {
    /// The number of groups with changes before `group`.
    #[inline]
    fn group(&self, group: usize) -> usize {
        usize::from(self.starts[group / 64]) + below(self.groups[group / 64], group % 64)
    }

    /// The number of changed documents before one, of `len`, and whether it changed itself.
    fn rank(&self, group: usize, bit: usize, len: usize) -> (usize, bool) {
        let at = self.group(group);
        let before = self.ranks.get(at).map_or(len, |rank| usize::from(*rank));
        if self.groups[group / 64] >> (group % 64) & 1 == 0 {
            return (before, false);
        }
        (before + below(self.changed[at], bit), self.changed[at] >> bit & 1 == 1)
    }

    fn of(changed: &[u64; GROUPS], present: &[u64; GROUPS]) -> Index {
        let mut index = Index::default();
        let some = changed.iter().filter(|changed| **changed != 0).count();
        index.changed.reserve_exact(some);
        index.ranks.reserve_exact(some);
        let mut rank = 0;
        for (group, changed) in changed.iter().enumerate().filter(|(_, changed)| **changed != 0) {
            index.groups[group / 64] |= 1 << (group % 64);
            index.changed.push(*changed);
            // At most 65,472 documents lie before the last group.
            index.ranks.push(u16::try_from(rank).unwrap_or(u16::MAX));
            rank += changed.count_ones();
        }
        let mut start = 0;
        for (to, groups) in index.starts.iter_mut().zip(&index.groups) {
            *to = start;
            start += u16::try_from(groups.count_ones()).unwrap_or(u16::MAX);
        }
        let lacks = |(changed, present): (&u64, &u64)| changed & !present != 0;
        if changed.iter().zip(present).any(lacks) {
            index.present.reserve_exact(some);
            let some = changed.iter().zip(present).filter(|(changed, _)| **changed != 0);
            index.present.extend(some.map(|(_, present)| *present));
        }
        index
    }
}

/// The groups of some documents of a block that have changes.
pub(super) struct Groups<'a, T> {
    block: &'a Block<T>,
    docs: Range<usize>,
    /// The span of 64 groups, and those of them that are left.
    span: usize,
    left: u64,
    /// The place of the first of these.
    at: usize,
}

impl<T> Groups<'_, T> {
    fn begin(&mut self, span: usize) {
        let groups = self.block.index.groups[span];
        let before = self.docs.start.saturating_sub(span * SPAN) / GROUP;
        (self.span, self.left) = (span, groups & u64::MAX << before);
        self.at =
            usize::from(self.block.index.starts[span]) + if before > 0 { below(groups, before) } else { 0 };
    }
}

impl<'a, T> Iterator for Groups<'a, T> {
    type Item = Group<'a, T>;

    #[inline]
    fn next(&mut self) -> Option<Group<'a, T>> {
        loop {
            while self.left == 0 {
                let span = self.span + 1;
                if span * SPAN >= self.docs.end {
                    return None;
                }
                self.begin(span);
            }
            let (index, rows, at) = (&self.block.index, &self.block.rows, self.at);
            let first = (self.span * 64 + self.left.trailing_zeros() as usize) * GROUP;
            self.left &= self.left - 1;
            self.at += 1;
            if first >= self.docs.end {
                self.left = 0;
                continue;
            }
            let present = index.present.get(at).copied().unwrap_or(u64::MAX);
            let (all, rank) = (index.changed[at], usize::from(index.ranks[at]));
            if self.docs.start <= first && first + GROUP <= self.docs.end {
                return Some(Group { first, changed: all, present, rank, rows });
            }
            let start = self.docs.start.saturating_sub(first);
            let changed = all & mask(start, self.docs.end.min(first + GROUP) - first - start);
            let rank = rank + below(all, start);
            if changed != 0 {
                return Some(Group { first, changed, present, rank, rows });
            }
        }
    }
}

/// 64 documents of which some changed.
pub(super) struct Group<'a, T> {
    /// The first of them.
    pub(super) first: usize,
    /// A bit for each that changed, and for each of these that has a value; other bits of these are arbitrary.
    pub(super) changed: u64,
    pub(super) present: u64,
    /// The rank of the first that changed.
    rank: usize,
    rows: &'a NewRows<T>,
}

impl<'a, T: Element> Group<'a, T> {
    /// The documents that changed, as bits of the group, and their new rows.
    #[inline]
    pub(super) fn rows(self) -> impl Iterator<Item = (usize, Option<&'a [T]>)> {
        ones(self.changed)
            .zip(self.rank..)
            .map(move |(bit, rank)| (bit, (self.present >> bit & 1 == 1).then(|| self.rows.get(rank))))
    }

    /// A bit for each document that changed and whose new row is wanted.
    #[inline]
    pub(super) fn matches(&self, is_wanted: impl Fn(&[T]) -> bool) -> u64 {
        let wanted = match self.rows {
            NewRows::One(values) => {
                let values = &values[self.rank..];
                let wanted = |(bit, value)| u64::from(is_wanted(std::slice::from_ref(value))) << bit;
                ones(self.changed).zip(values).map(wanted).fold(0, |all, bit| all | bit)
            }
            NewRows::Many(lists) => {
                let wanted = |(bit, rank)| u64::from(is_wanted(lists.get(rank))) << bit;
                ones(self.changed).zip(self.rank..).map(wanted).fold(0, |all, bit| all | bit)
            }
        };
        // An empty list is no value.
        wanted & self.present
    }

    /// Puts single values into the places of the documents that changed; the group's first document has the place `first`,
    /// which may be below 0, and wraps.
    #[inline]
    pub(super) fn put(&self, values: &mut [T], first: usize) {
        if let NewRows::One(new) = self.rows {
            for (bit, value) in ones(self.changed).zip(&new[self.rank..]) {
                values[first.wrapping_add(bit)] = *value;
            }
        }
    }
}

/// The number of bits of `word` below `bit`.
#[inline(always)]
fn below(word: u64, bit: usize) -> usize {
    (word & !(u64::MAX << bit)).count_ones() as usize
}

/// `len` bits from `first` on, of 64.
fn mask(first: usize, len: usize) -> u64 {
    match len {
        0 => 0,
        len => u64::MAX >> (64 - len) << first,
    }
}

/// The positions of the bits of a word that are set.
#[inline]
fn ones(mut left: u64) -> impl Iterator<Item = usize> {
    iter::from_fn(move || {
        let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(bit)
    })
}
