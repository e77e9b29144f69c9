//! What look-ups read of all segments, side by side.
//!
//! A mapped section is reached through its segment, what is known of its granules, and what keeps the mapping: four
//! lines of memory before the first of its bytes, in each segment. Once all of a section was checked, none of that is
//! asked any more; so where its bytes are is copied to arrays, which a look-up goes through from the beginning to the end.
//!
//! What a look-up needs one after the other is asked for side by side: the array's line of a segment as soon as it is known
//! which one that is; from there the whole index of its blocks, if it is small; then all of the block, and the documents of
//! its ranks. So an id that is there takes the time of some five misses of a cache, and not of fifteen.
//!
//! Sections of which parts were never read are asked through their segments, and taken up when that was the last part.

use std::sync::Arc;

use docvalues_format::error::Result;
use docvalues_format::id::DocId;
use docvalues_format::prefetch::prefetch;

use super::bounds::GROUP;
use super::{Docs, IdLookup, SegmentIds};
use crate::bloom::{self, Lines, PrefetchAhead, Probe};
use crate::dictionary::{self, VerifiedDictionary};
use crate::id_blocks::Index;
use crate::verified_section::VerifiedSection;

/// Filters, dictionaries and documents of an [`IdLookup`], as far as all of each was checked.
#[derive(Default)]
pub(super) struct VerifiedCache<'a> {
    filters: Places<Lines<'a>>,
    dictionaries: Places<VerifiedDictionary<'a>>,
    /// Without documents where they are not known.
    docs: Vec<Docs<'a>>,
}

/// Something of each segment, by its place, as far as it is here.
#[derive(Default)]
struct Places<T> {
    all: Vec<T>,
    /// For each [`GROUP`] of segments, which of them are here.
    here: Vec<u64>,
}

impl<T: Clone + Default> Places<T> {
    fn room_for(segments: usize) -> Places<T> {
        Places { all: vec![T::default(); segments], here: vec![0; segments.div_ceil(GROUP)] }
    }

    /// Which of the [`GROUP`] of segments from `first` on are here.
    #[inline]
    fn here(&self, first: usize) -> u64 {
        self.here.get(first / GROUP).copied().unwrap_or(0)
    }

    /// Takes up what there is of the segment at `place`, if there is room.
    fn take(&mut self, place: usize, new: Option<T>) {
        if let (Some(new), Some(old), Some(here)) =
            (new, self.all.get_mut(place), self.here.get_mut(place / GROUP))
        {
            *old = new;
            *here |= 1 << (place % GROUP);
        }
    }
}

impl<'a> VerifiedCache<'a> {
    /// The filters. Dictionaries are taken up as they are asked: with filters, few are.
    pub(super) fn filters_of<S: SegmentIds>(lookup: &'a IdLookup<S>) -> VerifiedCache<'a> {
        let mut filters = Places::room_for(lookup.len());
        for (place, (_, segment)) in lookup.segments.iter().enumerate() {
            filters.take(place, segment.lines());
        }
        VerifiedCache { filters, ..VerifiedCache::room_for(lookup.len()) }
    }

    /// Room for the dictionaries of so many segments, where a table answers instead of filters.
    pub(super) fn room_for(segments: usize) -> VerifiedCache<'a> {
        let (filters, dictionaries) = (Places::default(), Places::room_for(segments));
        VerifiedCache { filters, dictionaries, docs: vec![Docs::default(); segments] }
    }

    /// Whether there is room for none.
    pub(super) fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// Which of the [`GROUP`] of segments from `first` on have their filters here.
    #[inline]
    pub(super) fn filters_cached(&self, first: usize) -> u64 {
        self.filters.here(first)
    }

    /// Takes up the filter of the segment at `place`, if all of it was checked by now.
    pub(super) fn take_filter(&mut self, place: usize, segment: &'a impl SegmentIds) {
        self.filters.take(place, segment.lines());
    }

    /// Asks all filters of the group from `first` on, whoever is wanted: no load waits for a branch. `next` is what will
    /// be asked then.
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

    /// Which of the [`GROUP`] of segments from `first` on have their dictionaries here.
    #[inline]
    pub(super) fn dictionaries_cached(&self, first: usize) -> u64 {
        self.dictionaries.here(first)
    }

    /// Whether the dictionary of the segment at `place` is here.
    #[inline]
    fn has_dictionary(&self, place: usize) -> bool {
        self.dictionaries_cached(place) >> (place % GROUP) & 1 == 1
    }

    /// Asks for what is here of the segment at `place`.
    #[inline]
    pub(super) fn prefetch(&self, place: usize) {
        if let (Some(dictionary), Some(docs)) = (self.dictionaries.all.get(place), self.docs.get(place)) {
            prefetch(std::ptr::from_ref(dictionary).cast());
            prefetch(std::ptr::from_ref(docs).cast());
        }
    }

    /// Asks for what leads to its keys.
    #[inline]
    pub(super) fn prefetch_index(&self, place: usize) {
        if let Some(dictionary) = self.dictionaries.all.get(place) {
            dictionary.prefetch();
        }
    }

    /// The blocks of the segment at `place`, what leads to them, and its documents; `None` if they are not known, or keys are
    /// not in blocks.
    #[inline]
    pub(super) fn blocks(&self, place: usize) -> Option<(&VerifiedSection<'_>, &Index, &Docs<'a>)> {
        let (dictionary, docs) = (self.dictionaries.all.get(place)?, self.docs.get(place)?);
        let (section, index) = dictionary.blocks().filter(|_| self.has_dictionary(place))?;
        Some((section, index, docs))
    }

    /// The document of `key` in the segment at `place`, which is `segment`; in a `block`, if it is known which one.
    #[inline]
    pub(super) fn find(
        &mut self,
        place: usize,
        segment: &'a Arc<impl SegmentIds>,
        key: &[u8],
        block: Option<u32>,
    ) -> Result<Option<DocId>> {
        if !self.has_dictionary(place) {
            return self.find_in(place, &**segment, key);
        }
        let (Some(dictionary), Some(docs)) = (self.dictionaries.all.get(place), self.docs.get(place)) else {
            return Ok(None);
        };
        let found = match block {
            Some(block) => match dictionary.blocks() {
                Some((section, index)) => index.find_in(section, block, key),
                None => Ok(None),
            },
            // While the block comes, the line or two in which one of its documents is.
            None => dictionary.find_reporting(key, |ranks| docs.prefetch(ranks)),
        };
        match found? {
            None => Ok(None),
            Some(rank) => match docs.get(rank) {
                Some(doc) => Ok(Some(doc)),
                None => self.doc_of(place, &**segment, rank).map(Some),
            },
        }
    }

    /// The same, asking the segment; takes up its dictionary and documents, if all of them were checked by now.
    #[inline(never)]
    fn find_in(&mut self, place: usize, segment: &'a impl SegmentIds, key: &[u8]) -> Result<Option<DocId>> {
        let found = segment.find_packed(key);
        if let Some(checked) = segment.dictionary() {
            self.dictionaries.take(place, Some(checked));
            // Before, they are not asked.
            self.take_docs(place, segment);
        }
        found
    }

    /// The document of a rank, asking the segment.
    #[inline(never)]
    fn doc_of(&mut self, place: usize, segment: &'a impl SegmentIds, rank: u32) -> Result<DocId> {
        let doc = segment.doc(rank);
        self.take_docs(place, segment);
        doc
    }

    /// Takes up the documents of the segment at `place`, if all of them were checked by now.
    fn take_docs(&mut self, place: usize, segment: &'a impl SegmentIds) {
        if let Some(docs) = self.docs.get_mut(place)
            && let Some(checked) = segment.docs()
        {
            *docs = checked;
        }
    }

    /// Asks those dictionaries of the group from `first` on that are in `asked`, and here: which of them have the key, or
    /// have bytes that are not what they should be. `key` is what is looked for in each of the group.
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

/// Those of the [`GROUP`] of segments from `first` on.
#[inline]
fn group<T>(all: &[T], first: usize) -> &[T] {
    let group = all.get(first..).unwrap_or_default();
    group.get(..GROUP).unwrap_or(group)
}
