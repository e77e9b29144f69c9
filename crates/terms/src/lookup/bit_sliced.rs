//! Bit-sliced Bloom filters over many segments, in memory: one id tests all of them at once.

use super::bounds::GROUP;
use super::{IdLookup, SeekError, SegmentIds};
use crate::bloom::{BitSliced, Lines, Probe, bit_sliced_bytes};

/// The most filters in a class: a row of 64 bytes.
const MOST: usize = 512;

/// The fewest filters in a class. 13 are as fast tested one by one; with 20, slicing is a sixth faster.
const FEWEST: usize = 16;

/// Bit-sliced filters, in classes of similar sizes.
pub(super) struct BitSlicedFilters {
    classes: Vec<Class>,
    /// For each [`GROUP`] of segments, those whose filter is in a class.
    taken: Vec<u64>,
}

/// Bit-sliced filters of similar sizes.
struct Class {
    filters: BitSliced,
    /// The segment of each filter.
    places: Box<[u32]>,
}

impl BitSlicedFilters {
    /// Slices the filters that are present, given by the positions of their segments.
    ///
    /// Filters are left out if too few others have at least half as many lines; these are tested one by one. So the
    /// result takes at most twice the memory of its input.
    pub(super) fn of(filters: &[Option<Lines<'_>>]) -> BitSlicedFilters {
        let mut all: Vec<(u32, Lines<'_>)> =
            (0..).zip(filters).filter_map(|(place, lines)| Some((place, (*lines)?))).collect();
        all.sort_by_key(|(_, lines)| lines.count());
        let mut sliced =
            BitSlicedFilters { classes: Vec::new(), taken: vec![0; filters.len().div_ceil(GROUP)] };
        // From the largest to the smallest.
        while let Some((_, largest)) = all.last() {
            let similar = |(_, lines): &(u32, Lines<'_>)| lines.count() > largest.count() / 2;
            let first = all.partition_point(|one| !similar(one)).max(all.len().saturating_sub(MOST));
            let class = &all[first..];
            let own: usize = class.iter().map(|(_, lines)| lines.bytes()).sum();
            let fits = bit_sliced_bytes(class.len(), largest.count()).is_some_and(|bytes| bytes / 2 <= own);
            if class.len() < FEWEST || !fits {
                all.pop();
                continue;
            }
            let (places, lines): (Vec<u32>, Vec<Lines<'_>>) = class.iter().copied().unzip();
            if let Some(filters) = BitSliced::of(&lines) {
                for place in places.iter().map(|&place| place as usize) {
                    sliced.taken[place / GROUP] |= 1 << (place % GROUP);
                }
                sliced.classes.push(Class { filters, places: places.into() });
            }
            all.truncate(first);
        }
        sliced
    }

    /// Which of the [`GROUP`] segments from `first` on are in a class.
    #[inline]
    pub(super) fn taken(&self, first: usize) -> u64 {
        self.taken.get(first / GROUP).copied().unwrap_or(0)
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let class = |class: &Class| class.filters.bytes() + size_of_val(&*class.places);
        self.classes.iter().map(class).sum::<usize>() + size_of_val(&*self.taken)
    }

    /// Sets `found`, for each [`GROUP`] of segments, to those that may hold the id. `next` is the probe to prefetch
    /// for.
    pub(super) fn ask(&self, probe: &Probe, next: Option<&Probe>, found: &mut Vec<u64>) {
        found.clear();
        found.resize(self.taken.len(), 0);
        for class in &self.classes {
            class.filters.ask(probe, |filter| {
                let place = class.places.get(filter).map_or(0, |&place| place as usize);
                if let Some(found) = found.get_mut(place / GROUP) {
                    *found |= 1 << (place % GROUP);
                }
            });
            if let Some(next) = next {
                class.filters.prefetch(next);
            }
        }
    }
}

impl<S: SegmentIds> IdLookup<S> {
    /// Loads the filters of the segments into memory, bit-sliced: testing 400 filters of similar sizes reads eight
    /// rows of bits instead of 400 cache lines ([`bloom`](crate::bloom)).
    ///
    /// For a set that is read much and changes seldom. Reads and verifies all filters, about 4 ns an id. Takes 2
    /// bytes an id with 16 bits of filter, up to 4 if sizes differ. A filter stays where it is if fewer than 16 are
    /// of its size, or if its seed differs from the newest segment's. Does nothing with a fingerprint table,
    /// because look-ups then read no filter.
    ///
    /// # Errors
    ///
    /// When bytes of a filter are damaged. The error names the segment.
    pub fn with_filters_in_memory(self) -> Result<IdLookup<S>, SeekError> {
        if self.has_fingerprints() {
            return Ok(self);
        }
        let seed = self.schemes.first().map(|scheme| scheme.seed);
        let lines = self.segments.iter().enumerate().map(|(place, (_, segment))| {
            let lines = if seed == Some(segment.seed()) { segment.read_lines() } else { Ok(None) };
            lines.map_err(SeekError::of(place))
        });
        let sliced = BitSlicedFilters::of(&lines.collect::<Result<Vec<_>, _>>()?);
        Ok(IdLookup { sliced: Some(sliced), ..self })
    }

    /// Bytes of memory of the filters that [`with_filters_in_memory`](Self::with_filters_in_memory) built.
    pub fn filter_bytes(&self) -> usize {
        self.sliced.as_ref().map_or(0, BitSlicedFilters::bytes)
    }
}
