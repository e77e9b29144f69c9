//! Sort of all documents of a part, key by key: each key sorts the runs of documents that are equal by the keys before
//! it.
//!
//! ```text
//! runs                     one of all documents; then those that were equal
//!   groups of runs         a long run, or many short ones, whose values are read together
//!     numbers, ords        items of 32 bits of the rank of a value, and the document
//!     byte strings         items of the value and the document
//!   items, sorted          each run on its own: ranks of a long one by a radix sort, all others by comparison
//! runs of equal items      for the next bits of the ranks, if there are more, or for the next key
//! ```

use docvalues_column::DocId;

use super::items::{Item, Strings};
use super::key::{Key, Keys};
use super::radix;
use super::rank_scale::RankScale;
use super::runs::{Group, LONG_FROM, Run, groups};
use crate::engine::{
    PartColumns, PassPart, Request, Window, WindowBuffers, max_window_docs, memory, threads,
};
use crate::error::Result;

/// Returns all documents of the request in a part, in order. Takes 16 more bytes a document.
pub(super) fn sort(request: &Request<'_>, part: usize, keys: &Keys) -> Result<Vec<DocId>> {
    let PassPart { total, docs, .. } = request.pass_part(part);
    let mut docs = docs.try_to_vec(total, request.stop())?;
    let mut runs = vec![Run::new(0, docs.len())];
    for (key, left) in keys.as_slice().iter().zip((0..keys.as_slice().len()).rev()) {
        let mut scale = RankScale::of(*key, request.column_of(part, key.slot));
        let mut equal = Vec::new();
        loop {
            let step = Step { request, part, key: *key, scale, has_next: left > 0 };
            runs = step.sort(&mut docs, &runs, &mut equal)?;
            let Some(finer) = scale.and_then(|scale| scale.finer()) else { break };
            scale = Some(finer);
        }
        threads::sort(&mut equal, 1, request.stop())?;
        runs = equal;
    }
    Ok(docs)
}

/// A sort by 32 bits of the ranks of a key, or by its byte strings.
struct Step<'r> {
    request: &'r Request<'r>,
    part: usize,
    key: Key,
    /// `None` for byte strings.
    scale: Option<RankScale>,
    /// Whether there is a next key.
    has_next: bool,
}

impl Step<'_> {
    /// Sorts each run. Returns the runs that may still differ by the key, ascending; adds those that are equal by it to
    /// `equal`, if there is a next key.
    fn sort(&self, docs: &mut [DocId], runs: &[Run], equal: &mut Vec<Run>) -> Result<Vec<Run>> {
        let most = max_window_docs(self.columns());
        let mut groups = groups(docs, runs, most, self.request.stop())?;
        let mut buffers: Vec<_> = (0..self.request.threads()).map(|_| WindowBuffers::default()).collect();
        // All threads share a long run, and each takes short ones.
        let (long, short): (Vec<_>, Vec<_>) = groups.iter_mut().partition(|group| group.len > most);
        long.into_iter().try_for_each(|group| self.sort_group(group, &mut buffers))?;
        let some = buffers.len().min(short.len());
        threads::each(short.into_iter(), &mut buffers[..some], |buffers, group| {
            self.sort_group(group, std::slice::from_mut(buffers))
        })?;
        let mut differ = Vec::new();
        for group in groups {
            differ.extend(group.ties.differ);
            equal.extend(group.ties.equal);
        }
        Ok(differ)
    }

    fn columns(&self) -> PartColumns<'_> {
        self.request.columns_of(self.part)
    }

    /// Sorts the runs of a group, with a thread for each of `buffers`.
    fn sort_group(&self, group: &mut Group<'_>, buffers: &mut [WindowBuffers]) -> Result<()> {
        match &self.scale {
            Some(scale) => self.by_ranks(group, scale, buffers),
            None => self.by_bytes(group, buffers),
        }
    }

    fn by_ranks(
        &self,
        group: &mut Group<'_>,
        scale: &RankScale,
        buffers: &mut [WindowBuffers],
    ) -> Result<()> {
        let mut items = self.read_ranks(group, scale, buffers)?;
        let (threads, wanted) = (buffers.len(), self.has_next || scale.is_coarse());
        let may_differ = |item: &u64| scale.may_differ(radix::rank(*item));
        let Some(&run) = group.runs.first().filter(|run| run.len() >= LONG_FROM) else {
            return self.sort_runs(group, &mut items, threads, wanted, &may_differ);
        };
        let stop = self.request.stop();
        let Some(sorted) = radix::sort(group.docs, items, scale.bits(), threads, wanted, stop)? else {
            return Ok(());
        };
        group.ties.add(&sorted, run.start, &may_differ, self.has_next, stop)
    }

    fn by_bytes(&self, group: &mut Group<'_>, buffers: &mut [WindowBuffers]) -> Result<()> {
        let threads = buffers.len();
        let list = group.list();
        let works = list.chunks(list.len().div_ceil(threads).max(1)).zip(buffers).collect();
        let strings = threads::map(works, |(docs, buffers)| self.read_strings(group, docs, buffers));
        let strings = strings.into_iter().collect::<Result<Vec<_>>>()?;
        let (mut items, mut pace) = (memory::with_capacity(list.len())?, self.request.stop().pace());
        for (value, doc) in strings.iter().flat_map(Strings::values).zip(&*list) {
            pace.step()?;
            items.push((value, *doc));
        }
        drop(list);
        self.sort_runs(group, &mut items, threads, self.has_next, &|_| false)
    }

    /// Sorts the items of each run by comparison, and looks for ties if they are wanted.
    fn sort_runs<P: Item>(
        &self,
        group: &mut Group<'_>,
        items: &mut [P],
        threads: usize,
        wanted: bool,
        may_differ: &impl Fn(&P) -> bool,
    ) -> Result<()> {
        let (stop, mut left) = (self.request.stop(), items);
        for run in group.runs {
            let (items, others) = left.split_at_mut(run.len());
            left = others;
            threads::sort(items, threads, stop)?;
            let docs = group.indices(*run);
            threads::copy(&mut group.docs[docs], items, threads, stop, P::doc)?;
            if wanted {
                group.ties.add(items, run.start, may_differ, self.has_next, stop)?;
            }
        }
        Ok(())
    }

    /// Reads the ranks of the documents of a group, packed as [`radix::item`]s.
    fn read_ranks(
        &self,
        group: &Group<'_>,
        scale: &RankScale,
        buffers: &mut [WindowBuffers],
    ) -> Result<Vec<u64>> {
        let (list, len) = (group.list(), max_window_docs(self.columns()));
        let mut items = memory::zeroed(list.len())?;
        let windows = list.chunks(len).zip(items.chunks_mut(len));
        let some = buffers.len().min(windows.len());
        threads::each(windows, &mut buffers[..some], |buffers, (docs, items)| {
            self.request.stop().check()?;
            let mut window = Window::new(group.batch(docs), self.columns(), buffers);
            window.read_stored(self.key.slot)?;
            scale.put(&window, docs, items)
        })?;
        Ok(items)
    }

    /// Reads the byte strings of some documents of a group.
    fn read_strings(
        &self,
        group: &Group<'_>,
        docs: &[DocId],
        buffers: &mut WindowBuffers,
    ) -> Result<Strings> {
        let mut strings = Strings::with_capacity(docs.len())?;
        for docs in docs.chunks(max_window_docs(self.columns())) {
            self.request.stop().check()?;
            let mut window = Window::new(group.batch(docs), self.columns(), buffers);
            window.read_stored(self.key.slot)?;
            (0..docs.len()).for_each(|at| strings.push(self.key.value(&window, at)));
        }
        Ok(strings)
    }
}
