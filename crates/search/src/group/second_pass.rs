//! Second pass: counts, metrics and best documents of the groups to return.

use std::sync::Arc;

use docvalues_column::{DocAddress, DocId};
use hashbrown::HashMap;

use crate::engine::{
    Cells, Collector, Interrupt, Request, Slot, Stored, Window, WindowBuffers, as_run_if_whole,
};
use crate::error::Result;
use crate::metrics::Layout;
use crate::sort::{Keys, TopDocs, TopKQueue};

/// The position of each value among the groups to return.
#[derive(Default)]
pub(super) struct GroupIndex {
    numbers: HashMap<i64, u32>,
    bytes: HashMap<Vec<u8>, u32>,
    /// A direct-mapped cache: for each hash, a number and its position. Most lookups end here. An empty entry has the
    /// position of all other values.
    first: Vec<(i64, u32)>,
    /// The position of all other values.
    none: u32,
}

/// The bits of a hash: enough for hundreds of groups, within the second-level cache.
const BITS: u32 = 12;

/// Knuth's multiplicative hash.
#[inline]
fn hash(number: i64) -> usize {
    (number.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - BITS)) as usize
}

impl GroupIndex {
    pub(super) fn new<'v>(values: impl Iterator<Item = &'v Stored>) -> GroupIndex {
        let mut places = GroupIndex::default();
        for value in values {
            match value {
                Stored::Number(number) => {
                    places.numbers.insert(*number, places.none);
                }
                Stored::Bytes(bytes) => {
                    places.bytes.insert(bytes.clone(), places.none);
                }
            }
            places.none += 1;
        }
        places.first = vec![(0, places.none); 1 << BITS];
        for (&number, &place) in &places.numbers {
            places.first[hash(number)] = (number, place);
        }
        places
    }

    #[inline]
    fn number(&self, number: i64) -> u32 {
        let (first, place) = self.first[hash(number)];
        if first == number || place == self.none {
            return place;
        }
        self.numbers.get(&number).copied().unwrap_or(self.none)
    }

    /// Finds the group of each document of a window.
    fn of(&self, window: &Window<'_>, by: Slot, places: &mut Vec<u32>) {
        places.clear();
        match window.cells(by) {
            // The ord of a missing term is no group's.
            Cells::Ords(ords) => places.extend(ords.iter().map(|ord| self.number(ord.get().into()))),
            Cells::Numbers(numbers) => {
                places.resize(window.len(), self.none);
                numbers.each(|at, number| places[at] = self.number(number));
            }
            Cells::Bytes(strings) => places.extend(strings.iter().map(|bytes| {
                let known = bytes.and_then(|bytes| self.bytes.get(bytes));
                known.copied().unwrap_or(self.none)
            })),
            // Columns with several values a document were rejected.
            Cells::NumberLists(_) | Cells::OrdLists(_) => places.resize(window.len(), self.none),
        }
    }
}

/// Collects the missing results of some groups.
pub(super) struct SecondPass {
    by: Slot,
    groups: Arc<GroupIndex>,
    /// The accumulators of each group, if the first pass has none.
    rows: Option<(Arc<Layout>, Vec<u64>)>,
    /// The best documents of each group, if requested.
    best: Option<(Keys, Vec<TopDocs>)>,
    /// The documents of a window that are in one of the groups, and their groups.
    found: Vec<DocId>,
    places: Vec<u32>,
    buffers: WindowBuffers,
    max_threads: usize,
    pub(super) docs: u64,
    pub(super) missing: u64,
}

impl SecondPass {
    pub(super) fn new(by: Slot, groups: GroupIndex) -> SecondPass {
        let groups = Arc::new(groups);
        let (found, places, buffers) = (Vec::new(), Vec::new(), WindowBuffers::default());
        let (rows, best, max_threads) = (None, None, usize::MAX);
        SecondPass { by, groups, rows, best, found, places, buffers, max_threads, docs: 0, missing: 0 }
    }

    /// Accumulates counts and metrics as well.
    pub(super) fn accumulate(mut self, layout: &Arc<Layout>) -> SecondPass {
        let rows = vec![0; self.groups.none as usize * layout.words()];
        self.rows = Some((Arc::clone(layout), rows));
        self
    }

    /// Collects the `docs` best documents by `keys` as well, on at most `max_threads` threads.
    pub(super) fn best(mut self, keys: Keys, docs: usize, max_threads: usize) -> SecondPass {
        self.max_threads = max_threads;
        let best = (0..self.groups.none).map(|_| TopDocs::new(docs)).collect();
        self.best = Some((keys, best));
        self
    }

    /// The rows and the best documents of all groups, as far as they were requested.
    pub(super) fn finish(self, request: &Request<'_>) -> Result<(Vec<u64>, Vec<Vec<DocAddress>>)> {
        let rows = self.rows.map(|(_, rows)| rows).unwrap_or_default();
        let best = self.best.into_iter().flat_map(|(_, best)| best);
        Ok((rows, best.map(|docs| docs.finish(request)).collect::<Result<_>>()?))
    }
}

impl Collector for SecondPass {
    fn fork(&self) -> SecondPass {
        let mut fork = SecondPass::new(self.by, GroupIndex::default());
        fork.groups = Arc::clone(&self.groups);
        fork.rows = self.rows.as_ref().map(|(layout, rows)| (Arc::clone(layout), vec![0; rows.len()]));
        fork.best =
            self.best.as_ref().map(|(keys, best)| (keys.clone(), best.iter().map(TopDocs::fork).collect()));
        fork
    }

    fn max_threads(&self) -> usize {
        let is_ordered = self.rows.as_ref().is_some_and(|(layout, _)| layout.depends_on_order());
        if is_ordered { 1 } else { self.max_threads }
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        window.read(self.by)?;
        self.docs += window.len() as u64;
        self.missing += window.missing(self.by);
        self.groups.of(window, self.by, &mut self.places);
        // Further columns are read only for documents in these groups.
        self.found.clear();
        self.found.resize(window.len(), DocId::default());
        let mut found = 0;
        for at in 0..window.len() {
            // Without a branch, which would be unpredictable.
            let place = self.places[at];
            self.found[found] = window.doc(at);
            self.places[found] = place;
            found += usize::from(place != self.groups.none);
        }
        if found == 0 {
            return Ok(());
        }
        self.found.truncate(found);
        self.places.truncate(found);
        let docs = as_run_if_whole(&self.found);
        let window = &mut Window::new(docs, window.columns(), &mut self.buffers);
        if let Some((layout, rows)) = &mut self.rows {
            layout.read(window)?;
            layout.add(rows, &self.places, window);
        }
        if let Some((keys, best)) = &mut self.best {
            keys.as_slice().iter().try_for_each(|key| window.read_stored(key.slot))?;
            for (at, &place) in self.places.iter().enumerate() {
                if let Some(best) = best.get_mut(place as usize) {
                    best.collect(keys, window, at)?;
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: SecondPass, stop: &Interrupt) -> Result<()> {
        self.docs += other.docs;
        self.missing += other.missing;
        if let (Some((layout, to)), Some((_, from))) = (&mut self.rows, other.rows) {
            let words = layout.words();
            let mut pace = stop.pace();
            for (to, from) in to.chunks_mut(words).zip(from.chunks(words)) {
                pace.step()?;
                layout.merge(to, from);
            }
        }
        if let (Some((_, to)), Some((_, from))) = (&mut self.best, other.best) {
            for (to, from) in to.iter_mut().zip(from) {
                to.merge(from, stop)?;
            }
        }
        Ok(())
    }
}
