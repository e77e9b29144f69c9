//! [`Places`]: the places in the columns of the documents of a segment of text.

use std::collections::HashMap;
use std::sync::Arc;

use docvalues::column::{Column, DocAddress, bits};
use docvalues::store::{PartId, Snapshot};
use docvalues::{DocId, DocRange, column};
use tantivy::SegmentReader;

use crate::error::Result;
use crate::key::{KEY, id_of};

/// The place of each document of a segment of text.
///
/// Documents that follow each other in the columns as they do in the text are a run: 8 bytes for each, and 2 bits for each document.
pub(crate) struct Places {
    /// The parts that `runs` number.
    parts: Vec<PartId>,
    /// The number of documents.
    docs: u32,
    /// A bit for each document: those that begin a run, the first one among them.
    starts: Vec<u64>,
    /// For each word of `starts`, the number of runs that begin before it.
    before: Vec<usize>,
    runs: Vec<Run>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Run {
    /// Its place among the parts.
    part: u32,
    /// The number of a document in its part, minus that in the text, modulo 2^32.
    shift: u32,
}

/// The run of documents that were deleted.
const NOWHERE: Run = Run { part: u32::MAX, shift: 0 };

impl Places {
    /// No places, with memory for those of `docs` documents.
    fn new(parts: Vec<PartId>, docs: u32) -> Places {
        let words = docs.div_ceil(64) as usize;
        let (starts, before) = (Vec::with_capacity(words), Vec::with_capacity(words));
        Places { parts, docs: 0, starts, before, runs: Vec::new() }
    }

    /// Looks up the keys of a segment's documents.
    pub(crate) fn of(segment: &SegmentReader, snapshot: &Snapshot) -> Result<Places> {
        let keys = segment.fast_fields().u64(KEY)?;
        let mut finder = Finder::new(snapshot);
        let mut places = Places::new(snapshot.part_ids().collect(), segment.max_doc());
        for doc in 0..segment.max_doc() {
            let key = keys.first(doc).filter(|_| !segment.is_deleted(doc));
            places.push(key.map(|key| finder.find(key)).transpose()?.flatten(), 1);
        }
        places.runs.shrink_to_fit();
        Ok(places)
    }

    /// Appends the places of `len` documents, which follow each other from `first` on; `None` if they were deleted.
    fn push(&mut self, first: Option<DocAddress>, len: u32) {
        let run = first.map_or(NOWHERE, |first| Run {
            part: first.part,
            shift: first.doc.get().wrapping_sub(self.docs),
        });
        if self.runs.last() != Some(&run) {
            self.resize(self.docs + 1);
            bits::set(&mut self.starts, self.docs as usize);
            self.runs.push(run);
        }
        self.docs += len;
        self.resize(self.docs);
    }

    /// Adds words for documents up to `docs`, of which none begins a run yet.
    fn resize(&mut self, docs: u32) {
        let words = docs.div_ceil(64) as usize;
        self.starts.resize(words, 0);
        self.before.resize(words, self.runs.len());
    }

    /// The run of a document.
    #[inline]
    fn run_of(&self, doc: u32) -> Run {
        let (word, up_to) = (doc as usize / 64, u64::MAX >> (63 - doc % 64));
        // At least the first document begins one.
        self.runs[self.before[word] + (self.starts[word] & up_to).count_ones() as usize - 1]
    }

    /// The parts of a snapshot that [`get`](Self::get) takes. O(parts).
    pub(crate) fn parts_in(&self, snapshot: &Snapshot) -> Vec<Option<u32>> {
        let parts: HashMap<PartId, u32> = snapshot.part_ids().zip(0..).collect();
        self.parts.iter().map(|part| parts.get(part).copied()).collect()
    }

    /// The place of a document among `parts`; `None` if it was deleted.
    pub(crate) fn get(&self, doc: u32, parts: &[Option<u32>]) -> Option<DocAddress> {
        let run = (doc < self.docs).then(|| self.run_of(doc))?;
        let part = (*parts.get(run.part as usize)?)?;
        Some(DocAddress { part, doc: DocId::new(doc.wrapping_add(run.shift)) })
    }

    /// Sets the bits of the places of `hits` in `sets`, one for each part of a snapshot. `hits` are bits by words: the number of each
    /// word of 64 documents, and its bits. At most O(hits): those of a run in the same word are moved at once.
    pub(crate) fn add_to(&self, hits: &[(u32, u64)], parts: &[Option<u32>], sets: &mut [Vec<u64>]) {
        for &(word, hits) in hits {
            let Some(&starts) = self.starts.get(word as usize) else { continue };
            let mut left = hits;
            while left != 0 {
                let first = left.trailing_zeros();
                let later_starts = starts & (!1_u64 << first);
                // The bits below the next start; all bits if there is none.
                let of_run = later_starts.wrapping_sub(1) & !later_starts;
                let (doc, found) = (64 * word + first, (left & of_run) >> first);
                left &= !of_run;
                let run = self.run_of(doc);
                if let Some(Some(part)) = parts.get(run.part as usize) {
                    set_bits(&mut sets[*part as usize], doc.wrapping_add(run.shift) as usize, found);
                }
            }
        }
    }

    /// The places after `moves`. O(1) if none is of a part that the segment had; otherwise, O(runs in the text and of `moves`).
    pub(crate) fn moved(self: &Arc<Places>, moves: &Moved) -> Arc<Places> {
        if !self.parts.iter().any(|part| moves.runs.contains_key(part)) {
            return self.clone();
        }
        let from = |part: &PartId| {
            let runs = moves.runs.get(part).map_or(&[][..], Vec::as_slice);
            (moves.parts.get(part).copied(), runs)
        };
        let from: Vec<(Option<u32>, &[MovedRun])> = self.parts.iter().map(from).collect();
        let mut hint = 0;
        let mut places = Places::new(moves.ids.clone(), self.docs);
        let later_starts = bits::ones(&self.starts).skip(1).map(|doc| u32::try_from(doc).unwrap_or(u32::MAX));
        for (run, end) in self.runs.iter().zip(later_starts.chain([self.docs])) {
            // A run may go to several places.
            while places.docs < end {
                let (doc, left) = (places.docs.wrapping_add(run.shift), end - places.docs);
                let Some((stays, moved)) = from.get(run.part as usize) else {
                    places.push(None, left);
                    continue;
                };
                // Documents follow each other in both.
                if moved.get(hint).is_none_or(|run| !run.docs.contains(DocId::new(doc))) {
                    hint = moved.partition_point(|run| run.docs.end <= doc);
                }
                let (first, len) = match moved.get(hint) {
                    Some(run) if run.docs.start <= doc => (run.place_of(doc), run.docs.end - doc),
                    next => {
                        let first = stays.map(|part| DocAddress { part, doc: DocId::new(doc) });
                        (first, next.map_or(u32::MAX, |next| next.docs.start - doc))
                    }
                };
                places.push(first, len.min(left));
            }
        }
        places.runs.shrink_to_fit();
        Arc::new(places)
    }
}

/// Sets the bits of `set` from `at` on that are set in `found`.
#[inline]
fn set_bits(set: &mut [u64], at: usize, found: u64) {
    let (word, shift) = (at / 64, at % 64);
    set[word] |= found << shift;
    if let Some(next) = set.get_mut(word + 1) {
        *next |= (found >> 1) >> (63 - shift);
    }
}

/// The moves of documents since an older snapshot.
pub(crate) struct Moved {
    /// By the part in which they were, ascending.
    runs: HashMap<PartId, Vec<MovedRun>>,
    /// The parts of the snapshot, and the place of each.
    ids: Vec<PartId>,
    parts: HashMap<PartId, u32>,
}

/// Documents that follow each other at another place, too.
struct MovedRun {
    docs: DocRange,
    /// The place of the first one; `None` if they were deleted.
    to: Option<DocAddress>,
}

impl MovedRun {
    /// The place of a document of the run.
    fn place_of(&self, doc: u32) -> Option<DocAddress> {
        let first = self.to?;
        Some(DocAddress { doc: DocId::new(first.doc.get() + (doc - self.docs.start)), ..first })
    }
}

impl Moved {
    pub(crate) fn between(older: &Snapshot, now: &Snapshot) -> Result<Moved> {
        let ids: Vec<PartId> = now.part_ids().collect();
        let parts: HashMap<PartId, u32> = ids.iter().copied().zip(0..).collect();
        let mut runs = HashMap::<PartId, Vec<MovedRun>>::new();
        for run in now.moves_since(older)? {
            let to = run.to.and_then(|(part, doc)| Some(DocAddress { part: *parts.get(&part)?, doc }));
            runs.entry(run.from).or_default().push(MovedRun { docs: run.docs, to });
        }
        Ok(Moved { runs, ids, parts })
    }
}

/// The number of documents after the last one found that are compared before an id is looked up.
const NEXT_DOCS: u32 = 8;

/// Finds documents by their keys. Text and columns mostly have them in the same order, so that the next one is near the last.
struct Finder<'s> {
    snapshot: &'s Snapshot,
    last: Option<DocAddress>,
    /// The keys of the part with the last document.
    keys: Option<(u32, Arc<dyn Column>)>,
    key: Vec<u8>,
}

impl Finder<'_> {
    fn new(snapshot: &Snapshot) -> Finder<'_> {
        Finder { snapshot, last: None, keys: None, key: Vec::new() }
    }

    fn find(&mut self, key: u64) -> Result<Option<DocAddress>> {
        let id = id_of(key);
        let found = match self.find_near(&id)? {
            Some(found) => Some(found),
            None => self.snapshot.find(&id)?,
        };
        self.last = found.or(self.last);
        Ok(found)
    }

    /// The document if it is among the next ones.
    fn find_near(&mut self, id: &[u8]) -> column::Result<Option<DocAddress>> {
        let Some(DocAddress { part, doc: last }) = self.last else { return Ok(None) };
        if self.keys.as_ref().is_none_or(|(of, _)| *of != part) {
            self.keys = Some((part, self.snapshot.parts().source(part as usize).column(KEY)?));
        }
        let keys = self.keys.as_ref().and_then(|(_, keys)| keys.values().bytes());
        let (Some(keys), Some(live)) = (keys, self.snapshot.live(part as usize)) else { return Ok(None) };
        let first = last.get() + 1;
        for doc in (first..live.docs().min(first + NEXT_DOCS)).map(DocId::new) {
            if live.contains(doc) && keys.get(doc, &mut self.key)? && self.key == id {
                return Ok(Some(DocAddress { part, doc }));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use docvalues_testkit::rng::SplitMix64;

    use super::*;

    type Model = Vec<Option<DocAddress>>;

    const PARTS: u32 = 3;
    /// The documents of a part.
    const DOCS: u32 = 3_000;

    fn ids(first: u64) -> Vec<PartId> {
        (first..).take(PARTS as usize).map(PartId::of_segment).collect()
    }

    fn after(first: DocAddress, docs: u32) -> DocAddress {
        DocAddress { doc: DocId::new(first.doc.get() + docs), ..first }
    }

    /// Runs of one document, of some, and of several words, at any place or after the last one.
    fn random(rng: &mut SplitMix64) -> (Places, Model) {
        let (mut places, mut model) = (Places::new(ids(0), 0), Model::new());
        for _ in 0..rng.below(60) {
            let longest = *rng.pick(&[1, 3, 64, 300]);
            let len = 1 + rng.below_u32(longest);
            let doc = DocId::new(rng.below_u32(DOCS - len));
            let anywhere = DocAddress { part: rng.below_u32(PARTS), doc };
            let next = model.last().copied().flatten().map(|last| after(last, 1));
            let first = match rng.below(5) {
                0 => None,
                1 => next.filter(|next| next.doc.get() + len <= DOCS),
                _ => Some(anywhere),
            };
            places.push(first, len);
            model.extend((0..len).map(|docs| first.map(|first| after(first, docs))));
        }
        (places, model)
    }

    fn check(places: &Places, model: &[Option<DocAddress>], rng: &mut SplitMix64) {
        // The second time, one of the parts is not in the snapshot.
        for parts in [[Some(0), Some(1), Some(2)], [Some(1), None, Some(0)]] {
            let expected = |doc: usize| -> Option<DocAddress> {
                let place = model.get(doc).copied().flatten()?;
                Some(DocAddress { part: parts[place.part as usize]?, ..place })
            };
            for (number, doc) in (0..).zip(0..model.len() + 130) {
                assert_eq!(places.get(number, &parts), expected(doc), "document {doc}");
            }
            for one_in in [1, 2, 10, 500] {
                let mut hits = vec![0; model.len().div_ceil(64)];
                // Documents of the part may go to places past its end.
                let mut sets = vec![vec![0; 2 * DOCS.div_ceil(64) as usize]; PARTS as usize];
                let mut found = sets.clone();
                for doc in 0..model.len() {
                    if rng.chance(1, one_in) {
                        bits::set(&mut hits, doc);
                        if let Some(place) = expected(doc) {
                            bits::set(&mut sets[place.part as usize], place.doc.get() as usize);
                        }
                    }
                }
                let hits: Vec<(u32, u64)> = (0..).zip(hits).filter(|(_, hits)| *hits != 0).collect();
                places.add_to(&hits, &parts, &mut found);
                assert_eq!(found, sets, "one in {one_in}");
            }
        }
    }

    #[test]
    fn places_of_runs_are_those_of_their_documents() {
        for seed in 0..40 {
            let rng = &mut SplitMix64::new(seed);
            let (places, model) = random(rng);
            check(&places, &model, rng);
        }
    }

    #[test]
    fn documents_of_a_run_take_2_bits_each() {
        let mut places = Places::new(ids(0), 64_000);
        for doc in (0..64_000).map(DocId::new) {
            places.push(Some(DocAddress { part: 1, doc }), 1);
        }
        assert_eq!((size_of_val(&*places.starts), size_of_val(&*places.before)), (8_000, 8_000));
        assert_eq!(size_of_val(&*places.runs), 8);
    }

    /// Moves of the first part, which is gone, and of the second one, which stays; the last one stays as it is.
    fn moves(rng: &mut SplitMix64) -> Moved {
        let mut runs = HashMap::new();
        for id in &ids(0)[..2] {
            let (mut of_part, mut start) = (Vec::new(), rng.below_u32(100));
            while start < DOCS {
                let longest = *rng.pick(&[1, 5, 200]);
                let docs = DocRange::new(start, start + 1 + rng.below_u32(longest));
                let to = DocAddress { part: rng.below_u32(PARTS), doc: DocId::new(rng.below_u32(DOCS)) };
                of_part.push(MovedRun { docs, to: rng.chance(4, 5).then_some(to) });
                start = docs.end + rng.below_u32(2) * rng.below_u32(70);
            }
            runs.insert(*id, of_part);
        }
        Moved { runs, ids: ids(1), parts: ids(1).into_iter().zip(0..).collect() }
    }

    #[test]
    fn places_follow_moves() {
        for seed in 0..40 {
            let rng = &mut SplitMix64::new(seed);
            let ((places, model), moves) = (random(rng), moves(rng));
            let moved_to = |place: DocAddress| -> Option<DocAddress> {
                let part = ids(0)[place.part as usize];
                let mut runs = moves.runs.get(&part).into_iter().flatten();
                match runs.find(|run| run.docs.contains(place.doc)) {
                    Some(run) => run.to.map(|to| after(to, place.doc.get() - run.docs.start)),
                    None => Some(DocAddress { part: *moves.parts.get(&part)?, ..place }),
                }
            };
            let model: Model = model.into_iter().map(|place| moved_to(place?)).collect();
            check(&Arc::new(places).moved(&moves), &model, rng);
        }
    }
}
