//! Looks ids up by the fingerprint table over all segments.

use std::ops::Range;

use docvalues_format::id::DocId;

use super::{SeekError, Seeker};
use crate::fingerprints::PREFETCH_BATCH;
use crate::hash::hash;
use crate::id_blocks::block_index::Descent;
use crate::lookup::verified_cache::VerifiedCache;
use crate::lookup::{Fingerprints, Hit, SegmentIds, TableView};

/// Candidates that are prefetched together. More would evict each other from the L1 cache before they are used.
const IN_FLIGHT: usize = 32;

/// A candidate whose block is being located.
pub(super) struct InFlight {
    place: usize,
    /// Its range in `keys`; `None` if the segment cannot have the id.
    key: Option<Range<usize>>,
    /// Its progress in the index of blocks.
    descent: Option<Descent>,
    block: Option<u32>,
}

impl<S: SegmentIds> Seeker<'_, S> {
    #[inline(never)]
    pub(super) fn by_fingerprints(
        &mut self,
        fingerprints: &Fingerprints,
        hash: u64,
        id: &[u8],
        mut live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<Option<Hit>, SeekError> {
        self.candidates.clear();
        for view in &fingerprints.tables {
            collect(view, hash, 0, &mut self.candidates);
        }
        if self.candidates.is_empty() {
            return Ok(None);
        }
        self.sort_candidates();
        self.start_cache_after(1);
        // The cache miss overlaps with packing the id.
        if let Some(&(_, place)) = self.candidates.first() {
            self.cache.prefetch(place as usize);
        }
        self.encoded.next_id();
        for i in 0..self.candidates.len() {
            if let Some(&(_, place)) = self.candidates.get(i)
                && let Some(hit) = self.confirm(place as usize, id, &mut live)?
            {
                return Ok(Some(hit));
            }
        }
        Ok(None)
    }

    pub(super) fn many_by_fingerprints(
        &mut self,
        fingerprints: &Fingerprints,
        ids: &[&[u8]],
        out: &mut Vec<Option<Hit>>,
        mut live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<(), SeekError> {
        let lookup = self.lookup;
        out.resize(ids.len(), None);
        self.candidates.clear();
        let mut numbered = 0..;
        for ids in ids.chunks(PREFETCH_BATCH) {
            // First all buckets, then all of their entries: no load waits for the one before.
            self.hashes.clear();
            for id in ids {
                let hash = hash(id, fingerprints.seed);
                fingerprints.tables.iter().for_each(|view| view.table.prefetch(hash));
                self.hashes.push(hash);
            }
            for (&hash, which) in self.hashes.iter().zip(&mut numbered) {
                for view in fingerprints.tables.iter().filter(|view| !view.table.has_none(hash)) {
                    collect(view, hash, which, &mut self.candidates);
                }
            }
        }
        self.sort_candidates();
        self.start_cache_after(self.candidates.len());
        for first in (0..self.candidates.len()).step_by(IN_FLIGHT) {
            self.prefetch_candidates(first, ids);
            for (in_flight, &(which, _)) in self.in_flight.iter().zip(self.candidates.iter().skip(first)) {
                let InFlight { place, key: Some(key), block, .. } = in_flight else { continue };
                let (place, key) = (*place, self.keys.get(key.clone()).unwrap_or_default());
                let (Some(hit), Some((_, segment))) =
                    (out.get_mut(which as usize), lookup.segments.get(place))
                else {
                    break;
                };
                if hit.is_none() {
                    let found = self.cache.find(place, segment, key, *block).map_err(SeekError::of(place))?;
                    *hit = found.filter(|&doc| live(place, doc)).map(|doc| Hit { segment: place, doc });
                }
            }
        }
        Ok(())
    }

    /// Starts the cache once `more` further candidates make it pay.
    #[inline]
    fn start_cache_after(&mut self, more: usize) {
        if self.cache.is_empty() {
            self.asked += more;
            if self.asked >= self.lookup.len() {
                self.cache = VerifiedCache::room_for(self.lookup.len());
            }
        }
    }

    /// Prefetches all that leads to the keys of the candidates from `first` on. Each step is done for all
    /// candidates before the next step: no load waits for that of another candidate.
    fn prefetch_candidates(&mut self, first: usize, ids: &[&[u8]]) {
        let lookup = self.lookup;
        let next = || self.candidates.iter().skip(first).take(IN_FLIGHT);
        next().for_each(|&(_, place)| self.cache.prefetch(place as usize));
        next().for_each(|&(_, place)| self.cache.prefetch_index(place as usize));
        self.in_flight.clear();
        self.keys.clear();
        let mut in_columns = false;
        for &(which, place) in self.candidates.iter().skip(first).take(IN_FLIGHT) {
            let place = place as usize;
            let (Some((segment, scheme)), Some(&id)) = (lookup.at(place), ids.get(which as usize)) else {
                break;
            };
            self.encoded.next_id();
            let mut in_flight = InFlight { place, key: None, descent: None, block: None };
            if let Some(packed) = self.encoded.packed(&lookup.schemes, scheme, id) {
                let start = self.keys.len();
                self.keys.extend_from_slice(packed);
                in_flight.key = Some(start..self.keys.len());
                match self.cache.blocks(place) {
                    Some((_, index, _)) => (in_flight.descent, in_flight.block) = index.descend(packed),
                    None => match self.cache.in_column(place) {
                        Some((column, _)) => {
                            column.prefetch_group(packed);
                            in_columns = true;
                        }
                        None => segment.ids().prefetch_packed(packed),
                    },
                }
            }
            self.in_flight.push(in_flight);
        }
        let mut under_way = true;
        while under_way {
            under_way = false;
            for in_flight in &mut self.in_flight {
                let (Some(descent), Some(key)) = (&mut in_flight.descent, &in_flight.key) else { continue };
                let Some((_, index, _)) = self.cache.blocks(in_flight.place) else { continue };
                in_flight.block = index.step(self.keys.get(key.clone()).unwrap_or_default(), descent);
                match in_flight.block {
                    Some(_) => in_flight.descent = None,
                    None => under_way = true,
                }
            }
        }
        for in_flight in &self.in_flight {
            if let (Some(block), Some((section, index, docs))) =
                (in_flight.block, self.cache.blocks(in_flight.place))
            {
                index.prefetch_block(section, block, |ranks| docs.prefetch(ranks));
            }
        }
        if in_columns {
            self.prefetch_in_columns();
        }
    }

    /// Prefetches heads and documents, and then the values, of the candidates whose ids are values of columns.
    fn prefetch_in_columns(&self) {
        let candidate = |in_flight: &InFlight| {
            let (column, docs) = self.cache.in_column(in_flight.place)?;
            Some((self.keys.get(in_flight.key.clone()?)?, column, docs))
        };
        let in_columns = || self.in_flight.iter().filter_map(candidate);
        for (key, column, docs) in in_columns() {
            column.prefetch_heads(key).into_iter().for_each(|ranks| docs.prefetch(ranks));
        }
        for (key, column, docs) in in_columns() {
            column.prefetch_values(key, |rank| docs.get(rank));
        }
    }

    /// Orders candidates by id, then newest segment first, without duplicates: a merged segment has several slots.
    fn sort_candidates(&mut self) {
        if self.candidates.len() < 2 {
            return;
        }
        self.candidates.sort_unstable();
        self.candidates.dedup();
    }
}

/// Appends the candidates for one id from one table.
#[inline]
fn collect(view: &TableView, hash: u64, which: u32, candidates: &mut Vec<(u32, u32)>) {
    view.table.candidates(hash, |slot| {
        if let Some(place) = view.place(slot) {
            candidates.push((which, place));
        }
    });
}
