//! Sort of all documents, key by key: each key sorts the runs of documents that are equal by the keys before it.
//!
//! ```text
//! long run of documents    32-bit ranks of its values, radix sort
//!   same rank, inexact     again by this key at a finer scale: as a long or a short run
//!   same rank, exact       a run for the next key
//! short runs               many at once: values are read and compared
//! byte strings             read by several threads and compared
//! ```

use std::ops::Range;

use docvalues_column::{DocId, Values};

use super::key::{Key, Keys, SortValue};
use super::radix;
use super::rank_scale::RankScale;
use super::short_runs::{BySortValue, add_equal, groups, packed, read_values};
use crate::engine::{
    Interrupt, Request, SHORT_WINDOW, Window, WindowBuffers, as_run_if_whole, len_u32, max_window_docs,
    memory, threads,
};
use crate::error::Result;

/// The length from which a run is long: a short one fits any window.
const LONG_FROM: usize = SHORT_WINDOW;

/// A range of positions whose documents are equal by the keys so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Run {
    /// The `len` positions from `start` on.
    pub(super) fn new(start: u32, len: usize) -> Run {
        Run { start, end: start + len_u32(len) }
    }

    pub(super) fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    pub(super) fn indices(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Returns all documents of the request in a part, in order. Takes 16 more bytes a document.
pub(super) fn sort(request: &Request<'_>, part: usize, keys: &Keys) -> Result<Vec<DocId>> {
    let mut docs = request.docs_of(part).try_to_vec(request.total_of(part), request.stop())?;
    let mut equal = vec![Run::new(0, docs.len())];
    for (key, left) in keys.as_slice().iter().zip((0..keys.as_slice().len()).rev()) {
        let (short, wanted) = (Vec::new(), (left > 0).then(Vec::new));
        let mut sort = Sort { request, part, key: *key, docs: &mut docs, short, equal: wanted };
        sort.runs(equal)?;
        sort.short_runs()?;
        equal = sort.equal.unwrap_or_default();
        threads::sort(&mut equal, 1, request.stop())?;
    }
    Ok(docs)
}

/// A sort by one key.
struct Sort<'r> {
    request: &'r Request<'r>,
    part: usize,
    key: Key,
    docs: &'r mut [DocId],
    /// Short runs, ascending. They are sorted at the end.
    short: Vec<Run>,
    /// Runs of documents that are equal by this key, if there is a next key.
    equal: Option<Vec<Run>>,
}

/// Runs of equal rank.
#[derive(Default)]
struct Ties {
    /// Short runs that may still differ by this key.
    short: Vec<Run>,
    long: Vec<(Run, RankScale)>,
    equal: Vec<Run>,
}

impl Ties {
    /// The runs of equal rank in a slice of sorted documents that begins at position `start`.
    fn of(
        items: &[u64],
        mut start: u32,
        scale: &RankScale,
        equal_too: bool,
        stop: &Interrupt,
    ) -> Result<Ties> {
        let (mut ties, mut pace) = (Ties::default(), stop.pace());
        for equal in items.chunk_by(|a, b| radix::rank(*a) == radix::rank(*b)) {
            pace.step()?;
            let run = Run::new(start, equal.len());
            start = run.end;
            match scale.finer(radix::rank(equal[0])) {
                _ if run.len() == 1 => {}
                Some(_) if run.len() < LONG_FROM => ties.short.push(run),
                Some(finer) => ties.long.push((run, finer)),
                None if equal_too => ties.equal.push(run),
                None => {}
            }
        }
        Ok(ties)
    }
}

impl Sort<'_> {
    fn runs(&mut self, runs: Vec<Run>) -> Result<()> {
        let scale = RankScale::of(self.key, self.request.column_of(self.part, self.key.slot));
        for run in runs {
            match &scale {
                _ if run.len() < LONG_FROM => self.short.push(run),
                Some(scale) => self.by_ranks(run, scale)?,
                None => self.by_bytes(run)?,
            }
        }
        Ok(())
    }

    /// Sorts a long run by 32-bit ranks.
    fn by_ranks(&mut self, run: Run, scale: &RankScale) -> Result<()> {
        let (threads, bits) = (self.request.threads(), scale.bits());
        let (docs, stop) = (&mut self.docs[run.indices()], self.request.stop());
        let items = read((self.request, self.part), self.key, docs, scale)?;
        let wanted = scale.is_coarse() || self.equal.is_some();
        let Some(sorted) = radix::sort(docs, items, bits, threads, wanted, stop)? else { return Ok(()) };
        let (equal_too, mut long) = (self.equal.is_some(), Vec::new());
        let slices = radix::slices(&sorted, threads);
        let ties =
            threads::map(slices, |(at, items)| Ties::of(items, run.start + at, scale, equal_too, stop));
        for ties in ties {
            let ties = ties?;
            self.short.extend(ties.short);
            self.equal.iter_mut().for_each(|equal| equal.extend_from_slice(&ties.equal));
            long.extend(ties.long);
        }
        drop(sorted);
        long.into_iter().try_for_each(|(run, finer)| self.by_ranks(run, &finer))
    }

    /// Sorts a long run by byte strings.
    fn by_bytes(&mut self, run: Run) -> Result<()> {
        let (request, part, key) = (self.request, self.part, self.key);
        let threads = request.threads();
        let (docs, stop) = (&mut self.docs[run.indices()], request.stop());
        let parts = docs.chunks(docs.len().div_ceil(threads)).collect();
        let parts = threads::map(parts, |docs| Strings::read((request, part), key, docs));
        let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
        let (mut items, mut pace) = (memory::with_capacity(docs.len())?, stop.pace());
        for (place, doc) in parts.iter().flat_map(Strings::values).zip(&*docs) {
            pace.step()?;
            items.push((place, *doc));
        }
        threads::sort(&mut items, threads, stop)?;
        threads::copy(docs, &items, threads, stop, BySortValue::doc)?;
        if let Some(equal) = &mut self.equal {
            add_equal(&items, run.start, equal);
        }
        Ok(())
    }

    /// Sorts all short runs, as many at a time as a window takes.
    fn short_runs(&mut self) -> Result<()> {
        threads::sort(&mut self.short, 1, self.request.stop())?;
        let (columns, key) = (self.request.columns_of(self.part), self.key);
        let is_binary = matches!(columns.get(key.slot).values(), Values::Bytes(_));
        let equal_too = self.equal.is_some();
        let mut groups = groups(self.docs, &self.short, max_window_docs(columns), self.request.stop())?;
        let mut buffers = buffers(self.request, groups.len());
        threads::each(groups.iter_mut(), &mut buffers, |buffers, group| {
            self.request.stop().check()?;
            if is_binary {
                let new = |place: SortValue<&[u8]>, doc| (place.map(<[u8]>::to_vec), doc);
                group.sort(columns, key, buffers, equal_too, new)
            } else {
                group.sort(columns, key, buffers, equal_too, |place, doc| packed(&place, doc))
            }
        })?;
        if let Some(equal) = &mut self.equal {
            groups.into_iter().for_each(|group| equal.extend(group.equal));
        }
        Ok(())
    }
}

/// The byte strings of documents in one buffer: freeing them one by one would delay an interrupt.
struct Strings {
    bytes: Vec<u8>,
    /// For each document its value, with the end of its byte string in place of the bytes.
    ends: Vec<SortValue<usize>>,
}

impl Strings {
    fn read((request, part): (&Request<'_>, usize), key: Key, docs: &[DocId]) -> Result<Strings> {
        let (columns, mut buffers) = (request.columns_of(part), WindowBuffers::default());
        let mut strings = Strings { bytes: Vec::new(), ends: memory::with_capacity(docs.len())? };
        for docs in docs.chunks(max_window_docs(columns)) {
            request.stop().check()?;
            let Strings { bytes, ends } = &mut strings;
            read_values(columns, key, as_run_if_whole(docs), &mut buffers, ends, |place, _| {
                place.map(|string| {
                    bytes.extend_from_slice(string);
                    bytes.len()
                })
            })?;
        }
        Ok(strings)
    }

    fn values(&self) -> impl Iterator<Item = SortValue<&[u8]>> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |end| end.clone().map(|end| &self.bytes[std::mem::replace(&mut start, end)..end]))
    }
}

/// Reads the ranks of documents, packed as [`radix::item`]s.
fn read(
    (request, part): (&Request<'_>, usize),
    key: Key,
    docs: &[DocId],
    scale: &RankScale,
) -> Result<Vec<u64>> {
    let (columns, mut items) = (request.columns_of(part), memory::zeroed(docs.len())?);
    let len = max_window_docs(columns);
    let windows = docs.chunks(len).zip(items.chunks_mut(len));
    let mut buffers = buffers(request, windows.len());
    threads::each(windows, &mut buffers, |buffers, (docs, items)| {
        request.stop().check()?;
        let mut window = Window::new(as_run_if_whole(docs), columns, buffers);
        window.read_stored(key.slot)?;
        scale.put(&window, docs, items)
    })?;
    Ok(items)
}

/// Buffers for each thread that has something to read, at least one.
fn buffers(request: &Request<'_>, works: usize) -> Vec<WindowBuffers> {
    (0..request.threads().min(works).max(1)).map(|_| WindowBuffers::default()).collect()
}
