//! Looks ids up by the filters of all segments.

use docvalues_format::id::DocId;

use super::{SeekError, Seeker};
use crate::bloom::Probe;
use crate::hash::hash;
use crate::lookup::bounds::GROUP;
use crate::lookup::{Hit, SegmentIds};

/// From this many dictionaries on, they are searched side by side before the document is looked up.
const MANY: u32 = 3;

/// From this many filters on, all of a group are tested at once.
const MANY_FILTERS: u32 = 8;

impl<S: SegmentIds> Seeker<'_, S> {
    /// Id by id: testing the filters for one id prefetches their lines for the next.
    ///
    /// The other order, segment by segment with all ids of a bulk of 20, took as long for 400 filters of 5 KB, and
    /// four times as long for 400 of 50 KB, where each line is a cache miss.
    pub(super) fn many_by_filters(
        &mut self,
        ids: &[&[u8]],
        out: &mut Vec<Option<Hit>>,
        mut live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<(), SeekError> {
        let schemes = &self.lookup.schemes;
        let probe = |id: &[u8]| schemes.first().map(|scheme| Probe::new(hash(id, scheme.seed)));
        let mut first = ids.first().and_then(|id| probe(id));
        let following = ids.iter().skip(1).map(Some).chain([None]);
        for (id, next) in ids.iter().zip(following) {
            let next = next.and_then(|id| probe(id));
            out.push(self.by_filters(id, [first.as_ref(), next.as_ref()], &mut live)?);
            first = next;
        }
        Ok(())
    }

    /// Group by group of segments, newest first. `probes` are those of this id and of the next one for the first
    /// scheme, if known.
    #[inline(never)]
    pub(super) fn by_filters(
        &mut self,
        id: &[u8],
        probes: [Option<&Probe>; 2],
        mut live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<Option<Hit>, SeekError> {
        let lookup = self.lookup;
        let [probe, next] = probes;
        self.encoded.next_id();
        self.encoded.set_probe(probe);
        if lookup.bounds.are_useful() {
            self.encoded.keys(lookup, id);
        }
        for first in (0..lookup.len()).step_by(GROUP) {
            let around = lookup.bounds.around(first, |scheme| self.encoded.key(scheme));
            let filtered = self.cache.filters_cached(first);
            let bits = self.may_hold(first, id, next, around & filtered) | around & !filtered;
            let mut bits = self.narrow(first, id, bits);
            while bits != 0 {
                let place = first + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.asks(place, id, filtered)?
                    && let Some(hit) = self.confirm(place, id, &mut live)?
                {
                    return Ok(Some(hit));
                }
            }
        }
        Ok(None)
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
        let Some((segment, scheme)) = lookup.at(place) else { return Ok(false) };
        let may = match self.encoded.probe(&lookup.schemes, scheme, id) {
            Some(probe) => segment.ids().may_hold(probe).map_err(SeekError::of(place))?,
            None => true,
        };
        // All of a mapped filter may be verified by now.
        self.cache.insert_filter(place, segment.ids());
        Ok(may)
    }
}
