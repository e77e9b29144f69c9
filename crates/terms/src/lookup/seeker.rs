//! Looks ids up for one thread.

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

/// Looks ids up in an [`IdLookup`]. Owns the buffers, so that a look-up allocates nothing.
pub struct Seeker<'a, S: SegmentIds> {
    lookup: &'a IdLookup<S>,
    encoded: EncodedId,
    /// Empty with a fingerprint table, until as many ids were looked up as there are segments.
    cache: VerifiedCache<'a>,
    asked: usize,
    /// The result of the bit-sliced filters for the current id, for each [`GROUP`] of segments; empty until they
    /// are tested.
    found: Vec<u64>,
    /// Candidates from the fingerprint tables: the index of an id in the bulk, and the position of a segment.
    candidates: Vec<(u32, u32)>,
    /// The candidates that are prefetched.
    in_flight: Vec<InFlight>,
    /// Their keys, end to end.
    keys: Vec<u8>,
    hashes: Vec<u64>,
}

/// A candidate whose block is being located.
struct InFlight {
    place: usize,
    /// Its range in `keys`; `None` if the segment cannot have the id.
    key: Option<Range<usize>>,
    /// Its progress in the index of blocks.
    descent: Option<Descent>,
    block: Option<u32>,
}

/// From this many dictionaries on, they are searched side by side before the document is looked up.
const MANY: u32 = 3;

/// From this many filters on, all of a group are tested at once.
const MANY_FILTERS: u32 = 8;

/// Candidates that are prefetched together. More would evict each other from the L1 cache before they are used.
const IN_FLIGHT: usize = 32;

/// Bytes of a segment are damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("segment {segment} of those looked in, the newest is 0: {source}")]
pub struct SeekError {
    /// The position of the segment, counted from the newest one: see [`IdLookup::segment`].
    pub segment: usize,
    /// The damage.
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

    /// The set of segments.
    pub fn lookup(&self) -> &'a IdLookup<S> {
        self.lookup
    }

    /// The newest segment that has `id`, and the document there.
    ///
    /// With a fingerprint table, O(1) for an absent id, plus one dictionary look-up for a present one. Without,
    /// O(segments).
    ///
    /// # Errors
    ///
    /// When bytes that the look-up reads are damaged. The error names the segment. Segments older than the one that
    /// has the id are not read.
    #[inline]
    pub fn find(&mut self, id: &[u8]) -> Result<Option<Hit>, SeekError> {
        self.find_live(id, |_, _| true)
    }

    /// The newest document with this id for which `live` returns true. `live` takes the position of the segment and
    /// the document.
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
                // The common case. The fewer instructions it takes, the more look-ups overlap their cache misses.
                if fingerprints.tables.iter().all(|view| view.table.has_none(hash)) {
                    return Ok(None);
                }
                self.by_fingerprints(fingerprints, hash, id, live)
            }
            None => self.by_filters(id, [None; 2], live),
        }
    }

    /// Looks up each of `ids`; clears `out` first.
    ///
    /// With a fingerprint table, the cache misses of all ids overlap, which is up to three times as fast as one by
    /// one. Allocates nothing once its buffers are as large as the largest bulk.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find); `out` is then partly filled.
    pub fn find_many(&mut self, ids: &[&[u8]], out: &mut Vec<Option<Hit>>) -> Result<(), SeekError> {
        self.find_many_live(ids, out, |_, _| true)
    }

    /// [`find_live`](Self::find_live) for each of `ids`; clears `out` first.
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

    /// Id by id: testing the filters for one id prefetches their lines for the next.
    ///
    /// The other order, segment by segment with all ids of a bulk of 20, took as long for 400 filters of 5 KB, and
    /// four times as long for 400 of 50 KB, where each line is a cache miss.
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

    /// Group by group of segments, newest first. `probes` are those of this id and of the next one for the first
    /// scheme, if known.
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

    /// The segments in `asked`, of the group from `first` on, that have a bit-sliced filter, and those of them that
    /// may hold the id. Both are 0 if testing the bit-sliced filters does not pay. `next` is the probe to prefetch
    /// for.
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

    /// The segments in `asked`, of the group from `first` on, that may hold the id by their cached filters. `next`
    /// is the probe to prefetch for.
    #[inline]
    fn may_hold(&mut self, first: usize, id: &[u8], next: Option<&Probe>, asked: u64) -> u64 {
        let schemes = &self.lookup.schemes;
        if asked.count_ones() < MANY_FILTERS || schemes.len() > 1 {
            return self.may_hold_some(first, id, asked);
        }
        let Some(probe) = self.encoded.probe(schemes, 0, id) else { return 0 };
        asked & self.cache.ask_filters(first, probe, next)
    }

    /// As `may_hold`, one by one, each with the probe of its scheme.
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

    /// The segments in `asked`, of the group from `first` on, without those whose cached dictionaries lack the id.
    /// Only if these are many, as without filters.
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

    /// Tests the filter of the segment at `place`, unless it is in `filtered`, whose filters were tested already.
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
        // All of a mapped filter may be verified by now.
        self.cache.take_filter(place, &**segment);
        Ok(may)
    }

    /// Looks the id up in the segment at `place`.
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
