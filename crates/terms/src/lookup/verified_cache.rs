//! A cache of pointers to verified sections, so that look-ups touch neither segments nor checksums.
//!
//! Reaching a mapped section takes four cache misses in each segment: the segment, the section, its set of verified
//! granules, and the mapping. Once all of a section is verified, none of that is needed any more. So the pointers
//! to its bytes are copied into arrays that a look-up scans.
//!
//! A look-up prefetches what it will read in sequence: the segment's entry of the array once the segment is known;
//! from there the whole index of its blocks, if it is small; then all of the block, and the documents of its ranks.
//! So a look-up of a present id waits for about five cache misses instead of fifteen.
//!
//! Sections that are not fully verified are reached through their segments, and enter the cache when their last
//! granule was read.

use std::cell::Cell;
use std::sync::Arc;

use docvalues_format::error::Result;
use docvalues_format::id::DocId;
use docvalues_format::prefetch::prefetch;
use docvalues_format::source::{SectionBytes, VerifiedSection};

use super::bounds::GROUP;
use super::{IdLookup, SegmentIds};
use crate::bloom::{self, Lines, PrefetchAhead, Probe};
use crate::dictionary::{self, VerifiedDictionary};
use crate::id_blocks::Index;
use crate::in_column::VerifiedInColumn;
use crate::read::{Docs, IdsReader};

/// The fully verified filters, dictionaries and documents of an [`IdLookup`].
#[derive(Default)]
pub(super) struct VerifiedCache<'a> {
    filters: Places<Lines<'a>>,
    dictionaries: Places<VerifiedDictionary<'a>>,
    /// Empty for segments whose documents are not cached.
    docs: Vec<Docs<'a>>,
}

/// A cached item for each segment, by position.
#[derive(Default)]
struct Places<T> {
    all: Vec<T>,
    /// For each [`GROUP`] of segments, those whose item is cached.
    here: Vec<u64>,
}

impl<T: Clone + Default> Places<T> {
    fn room_for(segments: usize) -> Places<T> {
        Places { all: vec![T::default(); segments], here: vec![0; segments.div_ceil(GROUP)] }
    }

    /// Which of the [`GROUP`] segments from `first` on are cached.
    #[inline]
    fn here(&self, first: usize) -> u64 {
        self.here.get(first / GROUP).copied().unwrap_or(0)
    }

    /// Caches `new` for the segment at `place`.
    fn insert(&mut self, place: usize, new: Option<T>) {
        if let (Some(new), Some(old), Some(here)) =
            (new, self.all.get_mut(place), self.here.get_mut(place / GROUP))
        {
            *old = new;
            *here |= 1 << (place % GROUP);
        }
    }
}

impl<'a> VerifiedCache<'a> {
    /// Caches the verified filters. Dictionaries are cached when they are first used: with filters, few are.
    pub(super) fn filters_of<S: SegmentIds>(lookup: &'a IdLookup<S>) -> VerifiedCache<'a> {
        let mut filters = Places::room_for(lookup.len());
        for (place, (_, segment)) in lookup.segments.iter().enumerate() {
            filters.insert(place, segment.ids().lines());
        }
        VerifiedCache { filters, ..VerifiedCache::room_for(lookup.len()) }
    }

    /// An empty cache of dictionaries for `segments` segments, for look-ups by fingerprint table.
    pub(super) fn room_for(segments: usize) -> VerifiedCache<'a> {
        let (filters, dictionaries) = (Places::default(), Places::room_for(segments));
        VerifiedCache { filters, dictionaries, docs: vec![Docs::default(); segments] }
    }

    /// Whether the cache has no room.
    pub(super) fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// Which of the [`GROUP`] segments from `first` on have a cached filter.
    #[inline]
    pub(super) fn filters_cached(&self, first: usize) -> u64 {
        self.filters.here(first)
    }

    /// Caches the filter of the segment at `place`, if all of it is verified by now.
    pub(super) fn insert_filter(&mut self, place: usize, ids: &'a IdsReader<impl SectionBytes>) {
        self.filters.insert(place, ids.lines());
    }

    /// Tests the filters of the [`GROUP`] segments from `first` on, and returns a bit for each that may hold the id. `next` is
    /// the probe to prefetch for.
    #[inline]
    pub(super) fn ask_filters(&self, first: usize, probe: &Probe, next: Option<&Probe>) -> u64 {
        let ahead = next.map_or(PrefetchAhead::within(probe), PrefetchAhead::next);
        bloom::ask(self.filters.all.get(first..).unwrap_or_default(), probe, ahead)
    }

    /// Asks the filter of one segment, if it is here.
    #[inline]
    pub(super) fn ask_filter(&self, place: usize, probe: &Probe) -> bool {
        self.filters.all.get(place).is_some_and(|filter| filter.may_hold(probe))
    }

    /// Which of the [`GROUP`] segments from `first` on have a cached dictionary.
    #[inline]
    pub(super) fn dictionaries_cached(&self, first: usize) -> u64 {
        self.dictionaries.here(first)
    }

    /// Whether the dictionary of the segment at `place` is cached.
    #[inline]
    fn has_dictionary(&self, place: usize) -> bool {
        self.dictionaries_cached(place) >> (place % GROUP) & 1 == 1
    }

    /// Prefetches the cache entries of the segment at `place`.
    #[inline]
    pub(super) fn prefetch(&self, place: usize) {
        if let (Some(dictionary), Some(docs)) = (self.dictionaries.all.get(place), self.docs.get(place)) {
            prefetch(std::ptr::from_ref(dictionary).cast());
            prefetch(std::ptr::from_ref(docs).cast());
        }
    }

    /// Prefetches the index of its dictionary.
    #[inline]
    pub(super) fn prefetch_index(&self, place: usize) {
        if let Some(dictionary) = self.dictionaries.all.get(place) {
            dictionary.prefetch();
        }
    }

    /// The blocks of the segment at `place`, their index, and its documents; `None` if they are not cached, or its
    /// form is another.
    #[inline]
    pub(super) fn blocks(&self, place: usize) -> Option<(&VerifiedSection<'_>, &Index, &Docs<'a>)> {
        let (dictionary, docs) = (self.dictionaries.all.get(place)?, self.docs.get(place)?);
        let (section, index) = dictionary.blocks().filter(|_| self.has_dictionary(place))?;
        Some((section, index, docs))
    }

    /// The ids of the segment at `place` that are values of a column, and its documents; `None` if they are not cached, or
    /// its form is another.
    #[inline]
    pub(super) fn in_column(&self, place: usize) -> Option<(&VerifiedInColumn<'_>, &Docs<'a>)> {
        Some((self.dictionaries.all.get(place)?.in_column()?, self.docs.get(place)?))
    }

    /// The document of `key` in `segment`, which is at `place`. `block` is the block to search, if known.
    #[inline]
    pub(super) fn find(
        &mut self,
        place: usize,
        segment: &'a Arc<impl SegmentIds>,
        key: &[u8],
        block: Option<u32>,
    ) -> Result<Option<DocId>> {
        if !self.has_dictionary(place) {
            return self.find_in(place, segment.ids(), key);
        }
        let (Some(dictionary), Some(docs)) = (self.dictionaries.all.get(place), self.docs.get(place)) else {
            return Ok(None);
        };
        if let Some(column) = dictionary.in_column() {
            // Overlaps the cache misses of the heads and of their documents.
            if let Some(ranks) = column.prefetch_heads(key) {
                docs.prefetch(ranks);
            }
            // Documents that are not cached are reached through the segment.
            let through_segment = Cell::new(false);
            let found = column.find(key, |rank| {
                docs.get(rank).or_else(|| {
                    through_segment.set(true);
                    segment.ids().doc(rank).ok()
                })
            });
            // The search through the segment reports damage.
            let Some(found) = found else { return self.find_in(place, segment.ids(), key) };
            if through_segment.get() {
                self.insert_docs(place, segment.ids());
            }
            return Ok(found);
        }
        let found = match block {
            Some(block) => match dictionary.blocks() {
                Some((section, index)) => index.find_in(section, block, key),
                None => Ok(None),
            },
            // Overlaps the cache misses of the block and of its documents.
            None => dictionary.find(key, |ranks| docs.prefetch(ranks)),
        };
        match found? {
            None => Ok(None),
            Some(rank) => match docs.get(rank) {
                Some(doc) => Ok(Some(doc)),
                None => self.doc_of(place, segment.ids(), rank).map(Some),
            },
        }
    }

    /// As [`find`](Self::find), through the segment. Caches its dictionary and documents if they are fully verified
    /// by now.
    #[inline(never)]
    fn find_in(
        &mut self,
        place: usize,
        ids: &'a IdsReader<impl SectionBytes>,
        key: &[u8],
    ) -> Result<Option<DocId>> {
        let found = ids.find_packed(key);
        if let Some(checked) = ids.dictionary() {
            self.dictionaries.insert(place, Some(checked));
            // The documents are only read after the dictionary is cached.
            self.insert_docs(place, ids);
        }
        found
    }

    /// The document of a rank, through the segment.
    #[inline(never)]
    fn doc_of(&mut self, place: usize, ids: &'a IdsReader<impl SectionBytes>, rank: u32) -> Result<DocId> {
        let doc = ids.doc(rank);
        self.insert_docs(place, ids);
        doc
    }

    /// Caches the documents of the segment at `place`, if all of them are verified by now.
    fn insert_docs(&mut self, place: usize, ids: &'a IdsReader<impl SectionBytes>) {
        if let Some(docs) = self.docs.get_mut(place)
            && let Some(checked) = ids.docs()
        {
            *docs = checked;
        }
    }

    /// Searches the cached dictionaries of the group from `first` on that are set in `asked`. Returns a bit for
    /// each that has the key or holds invalid bytes. `key` returns the key for a segment of the group.
    #[inline]
    pub(super) fn ask_dictionaries<'k>(
        &self,
        first: usize,
        asked: u64,
        key: impl Fn(usize) -> Option<&'k [u8]>,
    ) -> u64 {
        dictionary::ask(group(&self.dictionaries.all, first), asked, key)
    }
}

/// The [`GROUP`] items from `first` on.
#[inline]
fn group<T>(all: &[T], first: usize) -> &[T] {
    let group = all.get(first..).unwrap_or_default();
    group.get(..GROUP).unwrap_or(group)
}
