//! One thread's descent through a set of segments.

use std::ops::Range;

use docvalues_format::error::Error;
use docvalues_format::id::DocId;

use super::bounds::GROUP;
use super::encoded_id::EncodedId;
use super::verified_cache::VerifiedCache;
use super::{Fingerprints, Hit, IdLookup, SegmentIds, TableView};
use crate::bloom::Probe;
use crate::fingerprints::PREFETCH_BATCH;
use crate::hash::hash;
use crate::id_blocks::block_index::Descent;

/// Looks ids up in an [`IdLookup`]; has the buffers for it, so that a look-up allocates nothing.
pub struct Seeker<'a, S: SegmentIds> {
    lookup: &'a IdLookup<S>,
    encoded: EncodedId,
    /// Nothing where a fingerprint table answers, until as many ids were asked for as there are segments.
    cache: VerifiedCache<'a>,
    asked: usize,
    /// Which filters in memory let the id through, for each [`GROUP`] of segments; nothing until they were asked.
    found: Vec<u64>,
    /// What the fingerprint tables gave: the place of an id in the bulk, and that of a segment.
    candidates: Vec<(u32, u32)>,
    /// The next of them, on their descent.
    in_flight: Vec<InFlight>,
    /// Their keys, end to end.
    keys: Vec<u8>,
    hashes: Vec<u64>,
}

/// A candidate on its descent to its block.
struct InFlight {
    place: usize,
    /// Its key among the keys; `None` if the segment cannot have the id.
    key: Option<Range<usize>>,
    /// As far as it went in the index of blocks.
    descent: Option<Descent>,
    block: Option<u32>,
}

/// From so many dictionaries on, they are asked side by side before one of them is asked for the document.
const MANY: u32 = 3;

/// From so many filters on, all of a group are asked at once.
const MANY_FILTERS: u32 = 8;

/// So many candidates of a bulk are asked for in_flight: what is asked for stays in the nearest cache until it is used.
const IN_FLIGHT: usize = 32;

/// Bytes of a segment are damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("segment {segment} of those looked in, the newest is 0: {source}")]
pub struct SeekError {
    /// The segment, counted from the newest one: see [`IdLookup::segment`]. Whoever has its file says which that is.
    pub segment: usize,
    /// What is wrong there.
    pub source: Error,
}

impl SeekError {
    pub(super) fn of(segment: usize) -> impl FnOnce(Error) -> SeekError {
        move |source| SeekError { segment, source }
    }
}

impl<'a, S: SegmentIds> Seeker<'a, S> {
    pub(super) fn new(lookup: &'a IdLookup<S>) -> Seeker<'a, S> {
        let cache = match lookup.fingerprints {
            Some(_) => VerifiedCache::default(),
            None => VerifiedCache::filters_of(lookup),
        };
        let encoded = EncodedId::new(lookup.schemes.len());
        Seeker {
            lookup,
            encoded,
            cache,
            asked: 0,
            found: Vec::new(),
            candidates: Vec::new(),
            in_flight: Vec::new(),
            keys: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// What it looks in.
    pub fn lookup(&self) -> &'a IdLookup<S> {
        self.lookup
    }

    /// The newest segment that has `id`, and the document there.
    ///
    /// With a fingerprint table O(1) for an id that is nowhere, and one dictionary for one that is somewhere. Without,
    /// O(segments).
    ///
    /// # Errors
    ///
    /// When bytes on the descent are damaged: in which segment. One behind the segment that has the id is not asked.
    #[inline]
    pub fn find(&mut self, id: &[u8]) -> Result<Option<Hit>, SeekError> {
        self.find_live(id, |_, _| true)
    }

    /// The newest document with this id that is `live`: asked with the place of the segment and the document.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    #[inline]
    pub fn find_live(
        &mut self,
        id: &[u8],
        live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<Option<Hit>, SeekError> {
        match &self.lookup.fingerprints {
            Some(fingerprints) => {
                let hash = hash(id, fingerprints.seed);
                // Most often that is all: the fewer instructions, the more look-ups wait for memory at once.
                if fingerprints.tables.iter().all(|view| view.table.has_none(hash)) {
                    return Ok(None);
                }
                self.by_fingerprints(fingerprints, hash, id, live)
            }
            None => self.by_filters(id, [None; 2], live),
        }
    }

    /// The same for each of `ids`, in `out`, which is cleared first.
    ///
    /// With a fingerprint table the lines of all ids come side by side, which is up to three times as fast as one by one. Allocates
    /// nothing once its buffers are as large as the largest bulk.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find); `out` is then filled in part.
    pub fn find_many(&mut self, ids: &[&[u8]], out: &mut Vec<Option<Hit>>) -> Result<(), SeekError> {
        self.find_many_live(ids, out, |_, _| true)
    }

    /// [`find_live`](Self::find_live) for each of `ids`, in `out`, which is cleared first.
    ///
    /// # Errors
    ///
    /// As [`find_many`](Self::find_many).
    pub fn find_many_live(
        &mut self,
        ids: &[&[u8]],
        out: &mut Vec<Option<Hit>>,
        live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<(), SeekError> {
        out.clear();
        match &self.lookup.fingerprints {
            Some(fingerprints) => self.many_by_fingerprints(fingerprints, ids, out, live),
            None => self.many_by_filters(ids, out, live),
        }
    }

    /// Id by id: while the filters are asked for one, the lines come that they are asked for next.
    ///
    /// Segment by segment instead, all ids of a bulk of 20 one after the other, took as long of 400 filters with 5 KB, and
    /// four times as long of 400 with 50 KB, where each line is a new one.
    fn many_by_filters(
        &mut self,
        ids: &[&[u8]],
        out: &mut Vec<Option<Hit>>,
        mut live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<(), SeekError> {
        let schemes = &self.lookup.schemes;
        let probe = |id: &[u8]| schemes.first().map(|scheme| Probe::new(hash(id, scheme.seed)));
        let mut first = ids.first().and_then(|id| probe(id));
        let behind = ids.iter().skip(1).map(Some).chain([None]);
        for (id, next) in ids.iter().zip(behind) {
            let next = next.and_then(|id| probe(id));
            out.push(self.by_filters(id, [first.as_ref(), next.as_ref()], &mut live)?);
            first = next;
        }
        Ok(())
    }

    /// Group by group of segments, newest first. `probes` are those of this id and of the next one for the first scheme of
    /// segments, as far as they are known.
    #[inline(never)]
    fn by_filters(
        &mut self,
        id: &[u8],
        probes: [Option<&Probe>; 2],
        mut live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<Option<Hit>, SeekError> {
        let lookup = self.lookup;
        let [probe, next] = probes;
        self.found.clear();
        self.encoded.next_id();
        self.encoded.set_probe(probe);
        if lookup.bounds.are_useful() {
            self.encoded.keys(lookup, id);
        }
        for first in (0..lookup.len()).step_by(GROUP) {
            let around = lookup.bounds.around(first, |scheme| self.encoded.key(scheme));
            let (sliced, found) = self.may_hold_sliced(first, id, next, around);
            let (filtered, others) = (self.cache.filters_cached(first), around & !sliced);
            let bits = found | self.may_hold(first, id, next, others & filtered) | others & !filtered;
            let mut bits = self.narrow(first, id, bits);
            while bits != 0 {
                let place = first + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.asks(place, id, filtered | sliced)?
                    && let Some(hit) = self.confirm(place, id, &mut live)?
                {
                    return Ok(Some(hit));
                }
            }
        }
        Ok(None)
    }

    /// Which of the segments `asked` in the group from `first` on have their filters in memory, if it pays to ask them, and
    /// which of these may hold the id; `next` is what the next id asks them.
    #[inline]
    fn may_hold_sliced(&mut self, first: usize, id: &[u8], next: Option<&Probe>, asked: u64) -> (u64, u64) {
        let Some(filters) = &self.lookup.sliced else { return (0, 0) };
        let sliced = asked & filters.taken(first);
        if self.found.is_empty() {
            if sliced.count_ones() < MANY_FILTERS {
                return (0, 0);
            }
            let Some(probe) = self.encoded.probe(&self.lookup.schemes, 0, id) else { return (0, 0) };
            filters.ask(probe, next, &mut self.found);
        }
        (sliced, sliced & self.found.get(first / GROUP).copied().unwrap_or(0))
    }

    /// Which of the segments `asked` in the group from `first` on may hold the id, by their cache filters; `next` is
    /// what the next id asks them.
    #[inline]
    fn may_hold(&mut self, first: usize, id: &[u8], next: Option<&Probe>, asked: u64) -> u64 {
        let schemes = &self.lookup.schemes;
        if asked.count_ones() < MANY_FILTERS || schemes.len() > 1 {
            return self.may_hold_some(first, id, asked);
        }
        let Some(probe) = self.encoded.probe(schemes, 0, id) else { return 0 };
        asked & self.cache.ask_filters(first, probe, next)
    }

    /// The same, one by one, each with the probe of its scheme.
    fn may_hold_some(&mut self, first: usize, id: &[u8], mut asked: u64) -> u64 {
        let mut found = 0;
        while asked != 0 {
            let place = first + asked.trailing_zeros() as usize;
            let scheme = self.lookup.scheme_of.get(place).copied().unwrap_or_default();
            if let Some(probe) = self.encoded.probe(&self.lookup.schemes, scheme, id)
                && self.cache.ask_filter(place, probe)
            {
                found |= 1 << (place - first);
            }
            asked &= asked - 1;
        }
        found
    }

    /// Which of the segments `asked` in the group from `first` on are left once those dictionaries were asked that
    /// were cache, if they are many: as without filters.
    fn narrow(&mut self, first: usize, id: &[u8], asked: u64) -> u64 {
        let many = asked & self.cache.filters_cached(first) & self.cache.dictionaries_cached(first);
        if many.count_ones() < MANY {
            return asked;
        }
        let lookup = self.lookup;
        let scheme_of = lookup.scheme_of.get(first..).unwrap_or_default();
        let group = scheme_of.get(..GROUP).unwrap_or(scheme_of);
        for &scheme in group {
            self.encoded.packed(&lookup.schemes, scheme, id);
        }
        let encoded = &self.encoded;
        let key = |i| encoded.already_packed(&lookup.schemes, *group.get(i)?, id);
        asked & !many | self.cache.ask_dictionaries(first, many, key)
    }

    /// Asks the filter of the segment at `place`, if it is not one of the `filtered` of its group, which were asked.
    #[inline]
    fn asks(&mut self, place: usize, id: &[u8], filtered: u64) -> Result<bool, SeekError> {
        if filtered >> (place % GROUP) & 1 == 1 {
            return Ok(true);
        }
        let lookup = self.lookup;
        let (Some((_, segment)), Some(&scheme)) = (lookup.segments.get(place), lookup.scheme_of.get(place))
        else {
            return Ok(false);
        };
        let may = match self.encoded.probe(&lookup.schemes, scheme, id) {
            Some(probe) => segment.may_hold(probe).map_err(SeekError::of(place))?,
            None => true,
        };
        // All of a mapped filter may have been checked by now.
        self.cache.take_filter(place, &**segment);
        Ok(may)
    }

    /// Asks the dictionary of the segment at `place`.
    #[inline]
    fn confirm(
        &mut self,
        place: usize,
        id: &[u8],
        live: &mut impl FnMut(usize, DocId) -> bool,
    ) -> Result<Option<Hit>, SeekError> {
        let lookup = self.lookup;
        let (Some((_, segment)), Some(&scheme)) = (lookup.segments.get(place), lookup.scheme_of.get(place))
        else {
            return Ok(None);
        };
        let Some(packed) = self.encoded.packed(&lookup.schemes, scheme, id) else { return Ok(None) };
        let found = self.cache.find(place, segment, packed, None).map_err(SeekError::of(place))?;
        Ok(found.filter(|&doc| live(place, doc)).map(|doc| Hit { segment: place, doc }))
    }

    #[inline(never)]
    fn by_fingerprints(
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
        // It comes while the id is packed.
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

    fn many_by_fingerprints(
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
            // First all lines, then all of what stands in them: no load waits for the one before.
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

    /// Begins to gather dictionaries, once so many more were asked that it pays.
    #[inline]
    fn start_cache_after(&mut self, more: usize) {
        if self.cache.is_empty() {
            self.asked += more;
            if self.asked >= self.lookup.len() {
                self.cache = VerifiedCache::room_for(self.lookup.len());
            }
        }
    }

    /// Asks for what leads to the ids of the next candidates from `first` on, step by step, and each step for all of them: no
    /// load waits for the one of the candidate before.
    fn prefetch_candidates(&mut self, first: usize, ids: &[&[u8]]) {
        let lookup = self.lookup;
        let next = || self.candidates.iter().skip(first).take(IN_FLIGHT);
        next().for_each(|&(_, place)| self.cache.prefetch(place as usize));
        next().for_each(|&(_, place)| self.cache.prefetch_index(place as usize));
        self.in_flight.clear();
        self.keys.clear();
        for &(which, place) in self.candidates.iter().skip(first).take(IN_FLIGHT) {
            let place = place as usize;
            let (Some((_, segment)), Some(&scheme), Some(&id)) =
                (lookup.segments.get(place), lookup.scheme_of.get(place), ids.get(which as usize))
            else {
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
                    None => segment.prefetch(packed),
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
    }

    /// Id by id, newest segment first, each once: segments that were merged have more than one slot.
    fn sort_candidates(&mut self) {
        if self.candidates.len() < 2 {
            return;
        }
        self.candidates.sort_unstable();
        self.candidates.dedup();
    }
}

/// The candidates for one id in one table.
#[inline]
fn collect(view: &TableView, hash: u64, which: u32, candidates: &mut Vec<(u32, u32)>) {
    view.table.candidates(hash, |slot| {
        if let Some(place) = view.place(slot) {
            candidates.push((which, place));
        }
    });
}
