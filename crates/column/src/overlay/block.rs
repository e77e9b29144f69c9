//! [`Block`]: the changed rows of 16,384 consecutive documents.

use std::ops::Range;

use docvalues_format::bits::{assign_all, ones_of};
use docvalues_format::id::DocId;
use docvalues_format::prefetch::prefetch;

use crate::batch::View;
use crate::rows::Element;
use crate::{Gathered, Lists, bits};
use bitmap::Bitmap;
use new_rows::NewRows;

mod bitmap;
mod new_rows;

/// Documents of a block. A smaller one makes a change after a clone cheaper, and the clone more expensive.
pub(super) const DOCS: usize = 1 << 14;

/// Documents of a group, and the groups of a block.
const GROUP: usize = 64;
const GROUPS: usize = DOCS / GROUP;

/// Ranks of a zone.
const ZONE: usize = 64;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Changes from which on a block has a bitmap. With fewer, most look-ups end at the group.
const MANY: usize = 32;

/// The changed rows of some of 16,384 documents.
///
/// ```text
/// groups    256 bits: whether any of 64 documents changed
/// docs      the documents that changed, ascending; the place of one is its rank
/// present   a bit for each rank, set if the new row has a value; words past the end are all ones
/// zones     for each 64 ranks, the least and the greatest element of the new rows, if any; none for byte strings
/// rows      the new rows, by rank
/// bitmap    if many documents changed: a bit for each document, and the rank of every 64th
/// ```
///
/// The changes of a range of documents are a range of ranks: reads are loops over slices, and filters skip zones.
#[derive(Clone, Debug)]
pub(super) struct Block<T> {
    groups: [u64; GROUPS / 64],
    docs: Vec<u16>,
    present: Vec<u64>,
    zones: Vec<(T, T)>,
    rows: NewRows<T>,
    bitmap: Option<Box<Bitmap>>,
}

/// The block of a document, and its number there.
#[inline(always)]
pub(super) fn split(doc: DocId) -> (usize, u16) {
    let doc = doc.get() as usize;
    #[expect(clippy::cast_possible_truncation, reason = "of 16,384 documents")]
    let at = (doc % DOCS) as u16;
    (doc / DOCS, at)
}

impl<T: Element> Block<T> {
    /// A block without changes.
    pub(super) fn new(is_many: bool) -> Block<T> {
        let rows = if is_many { NewRows::Many(Lists::new()) } else { NewRows::One(Vec::new()) };
        let (docs, present, zones) = (Vec::new(), Vec::new(), Vec::new());
        Block { groups: [0; GROUPS / 64], docs, present, zones, rows, bitmap: None }
    }

    /// The number of changed documents.
    pub(super) fn len(&self) -> usize {
        self.docs.len()
    }

    /// The number of new values; a byte string is one.
    pub(super) fn values(&self) -> usize {
        match &self.rows {
            NewRows::Many(lists) if !T::EMPTY_IS_VALUE => lists.slices().items().len(),
            _ => self.len(),
        }
    }

    /// The size in memory, in bytes.
    pub(super) fn heap(&self) -> usize {
        let by_rank = size_of_val(&self.docs[..]) + size_of_val(&self.present[..]) + self.rows.heap();
        let bitmap = self.bitmap.as_ref().map_or(0, |_| size_of::<Bitmap>());
        size_of::<Block<T>>() + by_rank + size_of_val(&self.zones[..]) + bitmap
    }

    /// Whether any group that overlaps `docs`, which must not be empty, has changes.
    #[inline]
    pub(super) fn may_have_changes(&self, docs: Range<usize>) -> bool {
        let (first, end) = (docs.start / GROUP, docs.end.div_ceil(GROUP));
        let mut spans = first / 64..end.div_ceil(64);
        spans.any(|span| {
            let start = span * 64;
            let within = first.max(start)..end.min(start + 64);
            self.groups[span] & mask(within.start - start, within.len()) != 0
        })
    }

    /// The number of changed documents before `doc`, which may be one past the last.
    #[inline]
    pub(super) fn rank(&self, doc: usize) -> usize {
        match &self.bitmap {
            _ if doc == 0 => 0,
            Some(bitmap) if doc < DOCS => bitmap.rank(doc),
            Some(_) => self.len(),
            None => self.docs.partition_point(|other| usize::from(*other) < doc),
        }
    }

    /// The ranks of the documents of a range that changed.
    #[inline]
    fn ranks(&self, docs: &Range<usize>) -> Range<usize> {
        self.rank(docs.start)..self.rank(docs.end)
    }

    /// The rank of a document, if it changed.
    #[inline(always)]
    pub(super) fn rank_of(&self, doc: u16) -> Option<usize> {
        match &self.bitmap {
            Some(bitmap) => bitmap.has(doc).then(|| bitmap.rank(doc.into())),
            None if bits::get(&self.groups, usize::from(doc) / GROUP) => self.docs.binary_search(&doc).ok(),
            None => None,
        }
    }

    /// Whether a document changed: without a branch that depends on it, if many did.
    #[inline(always)]
    pub(super) fn has(&self, doc: u16) -> bool {
        match &self.bitmap {
            Some(bitmap) => bitmap.has(doc),
            None => self.rank_of(doc).is_some(),
        }
    }

    /// The new row of a document, if it changed.
    #[inline(always)]
    pub(super) fn row(&self, doc: u16) -> Option<Option<&[T]>> {
        self.rank_of(doc).map(|rank| self.row_at(rank))
    }

    /// The new row of a rank.
    #[inline(always)]
    pub(super) fn row_at(&self, rank: usize) -> Option<&[T]> {
        let is_present = self.present.get(rank / 64).is_none_or(|word| word >> (rank % 64) & 1 == 1);
        is_present.then(|| self.rows.get(rank))
    }

    /// Sets the bits of the documents that changed, of those that the column has.
    pub(super) fn set_changed(&self, words: &mut [u64]) {
        match &self.bitmap {
            Some(bitmap) => words.iter_mut().zip(bitmap.groups(0..GROUPS)).for_each(|(to, from)| *to |= from),
            None => self.docs.iter().for_each(|doc| bits::set(words, usize::from(*doc))),
        }
    }

    /// The documents of a range that changed, ascending, and their new rows.
    #[inline]
    pub(super) fn rows(&self, docs: Range<usize>) -> impl Iterator<Item = (u16, Option<&[T]>)> {
        self.ranks(&docs).map(move |rank| (self.docs[rank], self.row_at(rank)))
    }

    /// The documents whose rows differ from those of another block, or that it lacks.
    pub(super) fn docs_unlike(&self, before: Option<&Block<T>>) -> impl Iterator<Item = u16> {
        let mut old = before.into_iter().flat_map(|before| before.rows(0..DOCS)).peekable();
        self.rows(0..DOCS).filter_map(move |(doc, row)| {
            while old.next_if(|(before, _)| *before < doc).is_some() {}
            (old.peek() != Some(&(doc, row))).then_some(doc)
        })
    }

    /// The parts of a range, of `len` documents each, that may have changes.
    pub(super) fn parts(&self, docs: Range<usize>, len: usize) -> impl Iterator<Item = Range<usize>> {
        let parts = docs.clone().step_by(len).map(move |start| start..docs.end.min(start + len));
        parts.filter(move |part| self.may_have_changes(part.clone()))
    }

    /// Prefetches the new row of a rank, if it is a single value.
    #[inline(always)]
    pub(super) fn prefetch_row(&self, rank: usize) {
        if let NewRows::One(new) = &self.rows {
            prefetch(new.as_ptr().wrapping_add(rank).cast());
        }
    }

    /// Prefetches the new rows of some ranks, if they are single values, and their documents.
    pub(super) fn prefetch_rows(&self, ranks: Range<usize>) {
        if let NewRows::One(new) = &self.rows {
            let ranks = ranks.start..ranks.end.min(self.len());
            prefetch_all(&self.docs[ranks.clone()]);
            prefetch_all(&new[ranks]);
        }
    }

    /// Puts the new rows of some documents, which are single values, into the rows of a gather, in which the first document has
    /// row `at`. Its rank is `first`; returns that of the end.
    pub(super) fn put(&self, first: usize, docs: Range<usize>, out: &mut Gathered<T>, at: usize) -> usize {
        let mut rank = first;
        match &self.rows {
            NewRows::One(new) if self.present.is_empty() && out.present().is_none() => {
                let values = &mut out.values_mut()[at..at + docs.len()];
                for (doc, value) in self.docs[first..].iter().zip(&new[first..]) {
                    let Some(place) = values.get_mut(usize::from(*doc) - docs.start) else { break };
                    *place = *value;
                    rank += 1;
                }
            }
            _ => {
                rank += self.docs[first..].partition_point(|doc| usize::from(*doc) < docs.end);
                let place = |rank: usize| at + usize::from(self.docs[rank]) - docs.start;
                out.replace((first..rank).map(|rank| (place(rank), self.row_at(rank))));
            }
        }
        rank
    }

    /// Whether any document of a range has a new row that is `wanted`: see [`replace`](Self::replace).
    pub(super) fn any(&self, docs: Range<usize>, wanted: &impl Fn(View<'_, T>, (T, T)) -> u64) -> bool {
        let ranks = self.ranks(&docs);
        !ranks.is_empty() && self.matches(&ranks, wanted).any(|found| found != 0)
    }

    /// Replaces the bits of the documents of a range that changed. That of its first document is bit `at`; bits from the
    /// end of the range up to a multiple of 64 may be set.
    ///
    /// `wanted` has a bit for each of the rows of a zone whose least and greatest elements it gets; other bits are
    /// arbitrary.
    pub(super) fn replace(
        &self,
        docs: Range<usize>,
        bits: &mut [u64],
        at: usize,
        wanted: &impl Fn(View<'_, T>, (T, T)) -> u64,
    ) {
        let ranks = self.ranks(&docs);
        if ranks.is_empty() {
            return;
        }
        let first = ranks.start / ZONE;
        let found: Vec<u64> = self.matches(&ranks, wanted).collect();
        // All get the bit of most, by words, and then the others theirs.
        let are_most = bits::count(&found) > ranks.len() / 2;
        let place = |doc: u16| at + usize::from(doc) - docs.start;
        match &self.bitmap {
            Some(bitmap) if (at | docs.start).is_multiple_of(GROUP) => {
                let changed = bitmap.groups(docs.start / GROUP..docs.end.div_ceil(GROUP));
                assign_all(&mut bits[at / GROUP..], changed, are_most);
            }
            _ => self.docs[ranks.clone()].iter().for_each(|doc| assign(bits, place(*doc), are_most)),
        }
        for (zone, found) in (first..).zip(found) {
            let others = if are_most { !found & in_zone(&ranks, zone) } else { found };
            ones_of(others)
                .for_each(|bit| assign(bits, place(self.docs[zone * ZONE + bit as usize]), !are_most));
        }
    }

    /// For each zone that overlaps `ranks`, which must not be empty, a bit for each of them whose row is wanted.
    fn matches(
        &self,
        ranks: &Range<usize>,
        wanted: &impl Fn(View<'_, T>, (T, T)) -> u64,
    ) -> impl Iterator<Item = u64> {
        (ranks.start / ZONE..ranks.end.div_ceil(ZONE)).map(move |zone| {
            let bounds = self.zones.get(zone).copied().unwrap_or_default();
            // A document without a value has an arbitrary one.
            wanted(self.rows.part(self.ranks_of(zone)), bounds) & self.present_in(zone) & in_zone(ranks, zone)
        })
    }

    /// The ranks of a zone.
    fn ranks_of(&self, zone: usize) -> Range<usize> {
        zone * ZONE..self.len().min((zone + 1) * ZONE)
    }

    /// A bit for each rank of a zone, set if the new row has a value; bits past the last rank are ones.
    fn present_in(&self, zone: usize) -> u64 {
        self.present.get(zone).copied().unwrap_or(u64::MAX)
    }

    /// The least and the greatest element of the new rows of each zone that has any.
    pub(super) fn zones(&self) -> impl Iterator<Item = (T, T)> {
        let all = 0..self.len();
        let zones = self.zones.iter().enumerate();
        zones
            .filter(move |(zone, _)| self.present_in(*zone) & in_zone(&all, *zone) != 0)
            .map(|(_, ends)| *ends)
    }

    /// The least and the greatest element of the new rows of a zone, computed.
    fn ends_of(&self, zone: usize) -> (T, T) {
        let ranks = self.ranks_of(zone);
        match self.present_in(zone) {
            // The loop over a slice is vectorized.
            u64::MAX => ends(self.rows.part(ranks).items().iter()),
            _ => ends(ranks.filter_map(|rank| self.row_at(rank)).flatten()),
        }
    }

    /// This block with more changes, ascending by document. Those of the same documents replace the ones before.
    pub(super) fn with(&self, changes: &[(u16, Option<&[T]>)]) -> Block<T> {
        let docs = changes.iter().map(|(doc, _)| *doc);
        let new: Vec<u16> = docs.filter(|doc| self.rank_of(*doc).is_none()).collect();
        let len = self.len() + new.len();
        let mut block = Block {
            groups: self.groups,
            docs: Vec::with_capacity(len),
            present: Vec::new(),
            zones: Vec::new(),
            rows: self.rows.with_capacity(new.len()),
            bitmap: self.bitmap.clone(),
        };
        let mut copied = 0;
        for (doc, row) in changes {
            let rank = self.rank((*doc).into());
            block.extend_from(self, copied..rank);
            block.mark(block.len(), row.is_some());
            block.docs.push(*doc);
            block.rows.push(*row);
            copied = rank + usize::from(self.docs.get(rank) == Some(doc));
        }
        block.extend_from(self, copied..self.len());
        new.iter().for_each(|doc| bits::set(&mut block.groups, usize::from(*doc) / GROUP));
        match &mut block.bitmap {
            Some(bitmap) => bitmap.insert(&new),
            None if len >= MANY => {
                let mut bitmap = Box::new(Bitmap::new());
                bitmap.insert(&block.docs);
                block.bitmap = Some(bitmap);
            }
            None => {}
        }
        if !T::EMPTY_IS_VALUE {
            let same = changes.first().map_or(len, |(doc, _)| self.rank((*doc).into())) / ZONE;
            let zones = (same..len.div_ceil(ZONE)).map(|zone| block.ends_of(zone));
            block.zones = self.zones[..same].iter().copied().chain(zones).collect();
        }
        block
    }

    /// Appends rows of another block.
    fn extend_from(&mut self, other: &Block<T>, ranks: Range<usize>) {
        if !other.present.is_empty() {
            let next = self.len();
            ranks.clone().zip(next..).for_each(|(old, new)| self.mark(new, other.row_at(old).is_some()));
        }
        self.docs.extend_from_slice(&other.docs[ranks.clone()]);
        self.rows.extend_from(&other.rows, ranks);
    }

    /// Notes whether a row has a value.
    fn mark(&mut self, rank: usize, is_present: bool) {
        if !is_present {
            let words = self.present.len().max(rank / 64 + 1);
            self.present.resize(words, u64::MAX);
            assign(&mut self.present, rank, false);
        }
    }
}

/// Prefetches the cache lines of a slice.
fn prefetch_all<E>(items: &[E]) {
    let lines = items.iter().step_by(LINE / size_of::<E>()).chain(items.last());
    lines.for_each(|item| prefetch(std::ptr::from_ref(item).cast()));
}

/// The least and the greatest of some elements; the default if there are none.
fn ends<'a, T: Element>(mut items: impl Iterator<Item = &'a T>) -> (T, T) {
    let first = items.next().copied().unwrap_or_default();
    items.fold((first, first), |(low, high), item| (low.min(*item), high.max(*item)))
}

/// A bit for each rank of a zone that is one of `ranks`, with which it overlaps.
#[inline]
fn in_zone(ranks: &Range<usize>, zone: usize) -> u64 {
    let (start, end) = (ranks.start.max(zone * ZONE), ranks.end.min((zone + 1) * ZONE));
    mask(start - zone * ZONE, end - start)
}

/// `len` bits from `first` on, of 64.
#[inline]
fn mask(first: usize, len: usize) -> u64 {
    match len {
        0 => 0,
        len => u64::MAX >> (64 - len) << first,
    }
}

/// Sets or clears bit `at`.
#[inline]
fn assign(bits: &mut [u64], at: usize, is_set: bool) {
    bits[at / 64] = bits[at / 64] & !(1 << (at % 64)) | u64::from(is_set) << (at % 64);
}
