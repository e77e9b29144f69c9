//! One thread's way through a set of segments.

use std::ops::Range;

use docvalues_format::error::Error;
use docvalues_format::id::DocId;

use super::bounds::GROUP;
use super::forms::Forms;
use super::gathered::Gathered;
use super::{Hit, IdLookup, Mapped, SegmentIds, Tags};
use crate::filter::Probe;
use crate::hash::hash;
use crate::tags::AT_ONCE;
use crate::trie::Descent;

/// Looks ids up in an [`IdLookup`]; has the buffers for it, so that a look-up allocates nothing.
pub struct Seeker<'a, S: SegmentIds> {
    lookup: &'a IdLookup<S>,
    forms: Forms,
    /// Nothing where a tag table answers, until as many ids were asked for as there are segments.
    gathered: Gathered<'a>,
    asked: usize,
    /// Which filters in memory let the id through, for each [`GROUP`] of segments; nothing until they were asked.
    found: Vec<u64>,
    /// What the tag tables gave: the place of an id in the bulk, and that of a segment.
    candidates: Vec<(u32, u32)>,
    /// The next of them, on their way.
    ahead: Vec<Ahead>,
    /// Their keys, end to end.
    keys: Vec<u8>,
    hashes: Vec<u64>,
}

/// A candidate on its way to its block.
struct Ahead {
    place: usize,
    /// Its key among the keys; `None` if the segment cannot have the id.
    key: Option<Range<usize>>,
    /// As far as it went in the index of blocks.
    way: Option<Descent>,
    block: Option<u32>,
}

/// From so many dictionaries on, they are asked side by side before one of them is asked for the document.
const MANY: u32 = 3;

/// From so many filters on, all of a group are asked at once.
const MANY_FILTERS: u32 = 8;

/// So many candidates of a bulk are asked for ahead: what is asked for stays in the nearest cache until it is used.
const AHEAD: usize = 32;

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
        let gathered = match lookup.tags {
            Some(_) => Gathered::default(),
            None => Gathered::filters_of(lookup),
        };
        let forms = Forms::new(lookup.kinds.len());
        Seeker {
            lookup,
            forms,
            gathered,
            asked: 0,
            found: Vec::new(),
            candidates: Vec::new(),
            ahead: Vec::new(),
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
    /// With a tag table O(1) for an id that is nowhere, and one dictionary for one that is somewhere. Without,
    /// O(segments).
    ///
    /// # Errors
    ///
    /// When bytes on the way are damaged: in which segment. One behind the segment that has the id is not asked.
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
        match &self.lookup.tags {
            Some(tags) => {
                let hash = hash(id, tags.seed);
                // Most often that is all: the fewer instructions, the more look-ups wait for memory at once.
                if tags.tables.iter().all(|mapped| mapped.table.has_none(hash)) {
                    return Ok(None);
                }
                self.by_tags(tags, hash, id, live)
            }
            None => self.by_filters(id, [None; 2], live),
        }
    }

    /// The same for each of `ids`, in `out`, which is cleared first.
    ///
    /// With a tag table the lines of all ids come side by side, which is up to three times as fast as one by one. Allocates
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
        match &self.lookup.tags {
            Some(tags) => self.many_by_tags(tags, ids, out, live),
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
        let kinds = &self.lookup.kinds;
        let probe = |id: &[u8]| kinds.first().map(|kind| Probe::new(hash(id, kind.seed)));
        let mut first = ids.first().and_then(|id| probe(id));
        let behind = ids.iter().skip(1).map(Some).chain([None]);
        for (id, next) in ids.iter().zip(behind) {
            let next = next.and_then(|id| probe(id));
            out.push(self.by_filters(id, [first.as_ref(), next.as_ref()], &mut live)?);
            first = next;
        }
        Ok(())
    }

    /// Group by group of segments, newest first. `probes` are those of this id and of the next one for the first kind of
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
        self.forms.next_id();
        self.forms.take_probe(probe);
        if lookup.bounds.are_useful() {
            self.forms.keys(lookup, id);
        }
        for first in (0..lookup.len()).step_by(GROUP) {
            let around = lookup.bounds.around(first, |kind| self.forms.key(kind));
            let (sliced, found) = self.may_hold_sliced(first, id, next, around);
            let (filtered, others) = (self.gathered.filtered(first), around & !sliced);
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
            let Some(probe) = self.forms.probe(&self.lookup.kinds, 0, id) else { return (0, 0) };
            filters.ask(probe, next, &mut self.found);
        }
        (sliced, sliced & self.found.get(first / GROUP).copied().unwrap_or(0))
    }

    /// Which of the segments `asked` in the group from `first` on may hold the id, by their gathered filters; `next` is
    /// what the next id asks them.
    #[inline]
    fn may_hold(&mut self, first: usize, id: &[u8], next: Option<&Probe>, asked: u64) -> u64 {
        let kinds = &self.lookup.kinds;
        if asked.count_ones() < MANY_FILTERS || kinds.len() > 1 {
            return self.may_hold_some(first, id, asked);
        }
        let Some(probe) = self.forms.probe(kinds, 0, id) else { return 0 };
        asked & self.gathered.ask_filters(first, probe, next)
    }

    /// The same, one by one, each with the probe of its kind.
    fn may_hold_some(&mut self, first: usize, id: &[u8], mut asked: u64) -> u64 {
        let mut found = 0;
        while asked != 0 {
            let place = first + asked.trailing_zeros() as usize;
            let kind = self.lookup.kind_of.get(place).copied().unwrap_or_default();
            if let Some(probe) = self.forms.probe(&self.lookup.kinds, kind, id)
                && self.gathered.ask_filter(place, probe)
            {
                found |= 1 << (place - first);
            }
            asked &= asked - 1;
        }
        found
    }

    /// Which of the segments `asked` in the group from `first` on are left once those dictionaries were asked that
    /// were gathered, if they are many: as without filters.
    fn narrow(&mut self, first: usize, id: &[u8], asked: u64) -> u64 {
        let many = asked & self.gathered.filtered(first) & self.gathered.known(first);
        if many.count_ones() < MANY {
            return asked;
        }
        let lookup = self.lookup;
        let kind_of = lookup.kind_of.get(first..).unwrap_or_default();
        let group = kind_of.get(..GROUP).unwrap_or(kind_of);
        for &kind in group {
            self.forms.packed(&lookup.kinds, kind, id);
        }
        let forms = &self.forms;
        let key = |i| forms.made(&lookup.kinds, *group.get(i)?, id);
        asked & !many | self.gathered.ask_dictionaries(first, many, key)
    }

    /// Asks the filter of the segment at `place`, if it is not one of the `filtered` of its group, which were asked.
    #[inline]
    fn asks(&mut self, place: usize, id: &[u8], filtered: u64) -> Result<bool, SeekError> {
        if filtered >> (place % GROUP) & 1 == 1 {
            return Ok(true);
        }
        let lookup = self.lookup;
        let (Some((_, segment)), Some(&kind)) = (lookup.segments.get(place), lookup.kind_of.get(place))
        else {
            return Ok(false);
        };
        let may = match self.forms.probe(&lookup.kinds, kind, id) {
            Some(probe) => segment.may_hold(probe).map_err(SeekError::of(place))?,
            None => true,
        };
        // All of a mapped filter may have been checked by now.
        self.gathered.take_filter(place, &**segment);
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
        let (Some((_, segment)), Some(&kind)) = (lookup.segments.get(place), lookup.kind_of.get(place))
        else {
            return Ok(None);
        };
        let Some(packed) = self.forms.packed(&lookup.kinds, kind, id) else { return Ok(None) };
        let found = self.gathered.find(place, segment, packed, None).map_err(SeekError::of(place))?;
        Ok(found.filter(|&doc| live(place, doc)).map(|doc| Hit { segment: place, doc }))
    }

    #[inline(never)]
    fn by_tags(
        &mut self,
        tags: &Tags,
        hash: u64,
        id: &[u8],
        mut live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<Option<Hit>, SeekError> {
        self.candidates.clear();
        for mapped in &tags.tables {
            collect(mapped, hash, 0, &mut self.candidates);
        }
        if self.candidates.is_empty() {
            return Ok(None);
        }
        self.sort_candidates();
        self.gather_after(1);
        // It comes while the id is packed.
        if let Some(&(_, place)) = self.candidates.first() {
            self.gathered.prefetch(place as usize);
        }
        self.forms.next_id();
        for i in 0..self.candidates.len() {
            if let Some(&(_, place)) = self.candidates.get(i)
                && let Some(hit) = self.confirm(place as usize, id, &mut live)?
            {
                return Ok(Some(hit));
            }
        }
        Ok(None)
    }

    fn many_by_tags(
        &mut self,
        tags: &Tags,
        ids: &[&[u8]],
        out: &mut Vec<Option<Hit>>,
        mut live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<(), SeekError> {
        let lookup = self.lookup;
        out.resize(ids.len(), None);
        self.candidates.clear();
        let mut numbered = 0..;
        for ids in ids.chunks(AT_ONCE) {
            // First all lines, then all of what stands in them: no load waits for the one before.
            self.hashes.clear();
            for id in ids {
                let hash = hash(id, tags.seed);
                tags.tables.iter().for_each(|mapped| mapped.table.prefetch(hash));
                self.hashes.push(hash);
            }
            for (&hash, which) in self.hashes.iter().zip(&mut numbered) {
                for mapped in tags.tables.iter().filter(|mapped| !mapped.table.has_none(hash)) {
                    collect(mapped, hash, which, &mut self.candidates);
                }
            }
        }
        self.sort_candidates();
        self.gather_after(self.candidates.len());
        for first in (0..self.candidates.len()).step_by(AHEAD) {
            self.prefetch_candidates(first, ids);
            for (ahead, &(which, _)) in self.ahead.iter().zip(self.candidates.iter().skip(first)) {
                let Ahead { place, key: Some(key), block, .. } = ahead else { continue };
                let (place, key) = (*place, self.keys.get(key.clone()).unwrap_or_default());
                let (Some(hit), Some((_, segment))) =
                    (out.get_mut(which as usize), lookup.segments.get(place))
                else {
                    break;
                };
                if hit.is_none() {
                    let found =
                        self.gathered.find(place, segment, key, *block).map_err(SeekError::of(place))?;
                    *hit = found.filter(|&doc| live(place, doc)).map(|doc| Hit { segment: place, doc });
                }
            }
        }
        Ok(())
    }

    /// Begins to gather dictionaries, once so many more were asked that it pays.
    #[inline]
    fn gather_after(&mut self, more: usize) {
        if self.gathered.is_empty() {
            self.asked += more;
            if self.asked >= self.lookup.len() {
                self.gathered = Gathered::room_for(self.lookup.len());
            }
        }
    }

    /// Asks for what leads to the ids of the next candidates from `first` on, step by step, and each step for all of them: no
    /// load waits for the one of the candidate before.
    fn prefetch_candidates(&mut self, first: usize, ids: &[&[u8]]) {
        let lookup = self.lookup;
        let next = || self.candidates.iter().skip(first).take(AHEAD);
        next().for_each(|&(_, place)| self.gathered.prefetch(place as usize));
        next().for_each(|&(_, place)| self.gathered.prefetch_index(place as usize));
        self.ahead.clear();
        self.keys.clear();
        for &(which, place) in self.candidates.iter().skip(first).take(AHEAD) {
            let place = place as usize;
            let (Some((_, segment)), Some(&kind), Some(&id)) =
                (lookup.segments.get(place), lookup.kind_of.get(place), ids.get(which as usize))
            else {
                break;
            };
            self.forms.next_id();
            let mut ahead = Ahead { place, key: None, way: None, block: None };
            if let Some(packed) = self.forms.packed(&lookup.kinds, kind, id) {
                let start = self.keys.len();
                self.keys.extend_from_slice(packed);
                ahead.key = Some(start..self.keys.len());
                match self.gathered.blocks(place) {
                    Some((_, index, _)) => (ahead.way, ahead.block) = index.descend(packed),
                    None => segment.prefetch(packed),
                }
            }
            self.ahead.push(ahead);
        }
        let mut under_way = true;
        while under_way {
            under_way = false;
            for ahead in &mut self.ahead {
                let (Some(way), Some(key)) = (&mut ahead.way, &ahead.key) else { continue };
                let Some((_, index, _)) = self.gathered.blocks(ahead.place) else { continue };
                ahead.block = index.step(self.keys.get(key.clone()).unwrap_or_default(), way);
                match ahead.block {
                    Some(_) => ahead.way = None,
                    None => under_way = true,
                }
            }
        }
        for ahead in &self.ahead {
            if let (Some(block), Some((section, index, docs))) =
                (ahead.block, self.gathered.blocks(ahead.place))
            {
                index.approach(section, block, |ranks| docs.prefetch(ranks));
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
fn collect(mapped: &Mapped, hash: u64, which: u32, candidates: &mut Vec<(u32, u32)>) {
    mapped.table.candidates(hash, |slot| {
        if let Some(place) = mapped.place(slot) {
            candidates.push((which, place));
        }
    });
}
