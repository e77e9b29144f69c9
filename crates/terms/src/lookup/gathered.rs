//! What look-ups read of all segments, side by side.
//!
//! A mapped section is reached through its segment, what is known of its granules, and what keeps the mapping: four
//! lines of memory before the first of its bytes, in each segment. Once all of a section was checked, none of that is
//! asked any more; so where its bytes are is copied to arrays, which a look-up goes through from the beginning to the end.
//!
//! Sections of which parts were never read are asked through their segments, and taken up when that was the last part.

use super::bounds::GROUP;
use super::{IdLookup, SegmentIds};
use crate::dictionary::{self, Checked};
use crate::filter::{self, Ahead, Lines, Probe};

/// Filters and dictionaries of an [`IdLookup`], as far as all of each was checked.
#[derive(Default)]
pub(super) struct Gathered<'a> {
    filters: Vec<Lines<'a>>,
    /// For each [`GROUP`] of segments, which of them are in `filters`.
    filtered: Vec<u64>,
    dictionaries: Vec<Checked<'a>>,
    /// The same of `dictionaries`.
    known: Vec<u64>,
}

impl<'a> Gathered<'a> {
    /// The filters. Dictionaries are taken up as they are asked: with filters, few are.
    pub(super) fn filters_of<S: SegmentIds>(lookup: &'a IdLookup<S>) -> Gathered<'a> {
        let (mut filters, mut filtered) = (Vec::with_capacity(lookup.len()), Vec::new());
        for group in lookup.segments.chunks(GROUP) {
            let lines = group.iter().map(|(_, segment)| segment.lines());
            filtered.push(
                lines.clone().zip(0..).fold(0, |bits, (lines, i)| bits | u64::from(lines.is_some()) << i),
            );
            filters.extend(lines.map(Option::unwrap_or_default));
        }
        let (dictionaries, known) = (vec![Checked::default(); filters.len()], vec![0; filtered.len()]);
        Gathered { filters, filtered, dictionaries, known }
    }

    /// Which of the [`GROUP`] of segments from `first` on have their filters here.
    #[inline]
    pub(super) fn filtered(&self, first: usize) -> u64 {
        self.filtered.get(first / GROUP).copied().unwrap_or(0)
    }

    /// Takes up the filter of the segment at `place`, if all of it was checked by now.
    pub(super) fn take_filter(&mut self, place: usize, segment: &'a impl SegmentIds) {
        if let (Some(lines), Some(filter), Some(filtered)) =
            (segment.lines(), self.filters.get_mut(place), self.filtered.get_mut(place / GROUP))
        {
            *filter = lines;
            *filtered |= 1 << (place % GROUP);
        }
    }

    /// Asks all filters of the group from `first` on, whoever is wanted: no load waits for a branch. `next` is what will
    /// be asked then.
    #[inline]
    pub(super) fn ask_filters(&self, first: usize, probe: &Probe, next: Option<&Probe>) -> u64 {
        let ahead = next.map_or(Ahead::within(probe), Ahead::next);
        filter::ask(self.filters.get(first..).unwrap_or_default(), probe, ahead)
    }

    /// Asks the filter of one segment, if it is here.
    #[inline]
    pub(super) fn ask_filter(&self, place: usize, probe: &Probe) -> bool {
        self.filters.get(place).is_some_and(|filter| filter.may_hold(probe))
    }

    /// Which of the [`GROUP`] of segments from `first` on have their dictionaries here.
    #[inline]
    pub(super) fn known(&self, first: usize) -> u64 {
        self.known.get(first / GROUP).copied().unwrap_or(0)
    }

    /// The dictionary of the segment at `place`, if it is here.
    #[inline]
    pub(super) fn dictionary(&self, place: usize) -> Option<&Checked<'a>> {
        let is_here = self.known(place) >> (place % GROUP) & 1 == 1;
        self.dictionaries.get(place).filter(|_| is_here)
    }

    /// Takes up the dictionary of the segment at `place`, if all of it was checked by now.
    pub(super) fn take_dictionary(&mut self, place: usize, segment: &'a impl SegmentIds) {
        if let (Some(checked), Some(dictionary), Some(known)) =
            (segment.dictionary(), self.dictionaries.get_mut(place), self.known.get_mut(place / GROUP))
        {
            *dictionary = checked;
            *known |= 1 << (place % GROUP);
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
        dictionary::ask(group(&self.dictionaries, first), asked, key)
    }
}

/// Those of the [`GROUP`] of segments from `first` on.
#[inline]
fn group<T>(all: &[T], first: usize) -> &[T] {
    let group = all.get(first..).unwrap_or_default();
    group.get(..GROUP).unwrap_or(group)
}
