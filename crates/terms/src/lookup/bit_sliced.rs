//! The filters of many segments in memory, turned, so that an id asks all of them at once.

use super::bounds::GROUP;
use super::{IdLookup, SeekError, SegmentIds};
use crate::bloom::{BitSliced, Lines, Probe, bit_sliced_bytes};

/// The most filters whose bits are side by side: those of 64 bytes.
const MOST: usize = 512;

/// The fewest: each of 13 is as soon asked on its own, of 20 all at once are a sixth faster.
const FEWEST: usize = 16;

/// Filters in classes of similar sizes.
pub(super) struct BitSlicedFilters {
    classes: Vec<Class>,
    /// For each [`GROUP`] of segments, which of them are in a class.
    taken: Vec<u64>,
}

struct Class {
    filters: BitSliced,
    /// The segment of each.
    places: Box<[u32]>,
}

impl BitSlicedFilters {
    /// Those of `filters` that are there, given by the places of their segments; but for those of which there are few with
    /// half as many lines: they are left to be asked one by one. So what is made takes twice the bytes of what it is made of at most.
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

    /// Which of the [`GROUP`] of segments from `first` on are here.
    #[inline]
    pub(super) fn taken(&self, first: usize) -> u64 {
        self.taken.get(first / GROUP).copied().unwrap_or(0)
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let class = |class: &Class| class.filters.bytes() + size_of_val(&*class.places);
        self.classes.iter().map(class).sum::<usize>() + size_of_val(&*self.taken)
    }

    /// For each [`GROUP`] of segments, which of those here may hold an id. `next` is what will be asked then.
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
    /// The same with the filters of segments in memory, turned: 400 of similar sizes are asked in eight rows of bits, and not
    /// each in a line of its own ([`bloom`](crate::bloom)).
    ///
    /// For a set that is asked much and seldom changes: reads and checks all filters, some 4 ns an id. Takes 2 bytes an id
    /// with 16 bits of filter, up to 4 where sizes differ. Filters of which fewer than 16 are of a size, or that have
    /// another seed than the newest, stay where they are; with a fingerprint table nothing changes, for no filter is asked.
    ///
    /// # Errors
    ///
    /// When bytes of a filter are damaged: in which segment.
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

    /// How much memory the filters take that [`with_filters_in_memory`](Self::with_filters_in_memory) made, in bytes.
    pub fn filter_bytes(&self) -> usize {
        self.sliced.as_ref().map_or(0, BitSlicedFilters::bytes)
    }
}
