//! One pass over the documents of some parts, on one or more threads.
//!
//! ```text
//! part          chunk 0 (524,288)             | chunk 1 | ...    a thread takes the next free chunk of any part
//!               block (65,536) | block | ...                     top-k collectors skip documents by block
//!               window (32,768 of the set) | window | ...        columns are read, collectors called
//! ```
//!
//! Windows have at most 4,096 documents if a column has byte strings or several values a document, which may be of
//! any length.
//!
//! Chunks do not depend on the number of threads, and each thread processes its chunks in ascending order, part by
//! part. A result is therefore deterministic if it does not depend on the order of chunks, or is kept per chunk.
//! A collector is told which part it enters and leaves: ords of different parts have nothing to do with each other.

use std::ops::Range;

use docvalues_column::{BatchDocs, DocId, DocRange, bits};
use docvalues_format::bits::retain::{self, DOCS_PER_GROUP, retain};

use super::collector::{Collector, Competitive, PassPart};
use super::docs::Docs;
use super::interrupt::Interrupt;
use super::threads;
use super::window::{Window, WindowBuffers, as_run_if_whole, max_window_docs};
use crate::error::Result;

/// Documents in a chunk: enough that threads seldom contend.
const CHUNK_DOCS: u32 = 8 * BLOCK;

/// Documents in a block, the unit in which collectors report competitive documents.
pub(crate) const BLOCK: u32 = 1 << 16;

/// At least one document in this many must be in the set before a collector computes competitive documents for a
/// whole block.
const FILTER_ONE_IN: usize = 16;

/// At least one document in this many must be in the set before a collector consults skip indexes at all.
const SKIP_INDEX_ONE_IN: usize = 4_096;

/// At least one document in this many must be in the set for its columns to be read as if all were.
const RUN_ONE_IN: usize = 2;

const _: () = assert!(
    CHUNK_DOCS as usize == DOCS_PER_GROUP as usize * retain::GROUPS,
    "a bit for each group of a chunk"
);

/// The input of a pass: documents and columns of some parts, threads.
pub(crate) struct Pass<'a> {
    /// The parts, in the order in which they are visited.
    pub(crate) parts: &'a [PassPart<'a>],
    pub(crate) threads: usize,
    pub(crate) stop: &'a Interrupt,
}

/// A chunk of a pass.
#[derive(Clone, Copy)]
struct Chunk {
    /// The position of its part in the pass.
    part: usize,
    /// Its number in the part.
    chunk: u32,
    /// Its number in the pass.
    number: u64,
}

impl PassPart<'_> {
    /// The chunks that contain documents of the set.
    fn chunks(&self) -> Range<u32> {
        let (from, to) = match self.docs {
            Docs::All | Docs::Bits(_) => (0, self.total),
            Docs::Range(from, to) => (from, to.min(self.total)),
            Docs::List(list) => {
                let end = list.last().map_or(0, |last| last.get().saturating_add(1).min(self.total));
                (list.first().map_or(0, |first| first.get()), end)
            }
        };
        if from < to { from / CHUNK_DOCS..to.div_ceil(CHUNK_DOCS) } else { 0..0 }
    }
}

impl Pass<'_> {
    /// Runs `collector` over all documents of the pass.
    pub(crate) fn run<C: Collector>(&self, mut collector: C) -> Result<C> {
        if collector.is_idle() {
            return Ok(collector);
        }
        let threads = self.threads.min(collector.max_threads());
        // Two chunks are enough to know that there are several.
        if threads > 1 && self.chunks().nth(1).is_some() {
            return self.run_on_threads(threads, collector);
        }
        let mut worker = Worker::default();
        self.chunks().try_for_each(|chunk| worker.chunk(self, chunk, &mut collector))?;
        worker.finish(self, &mut collector)?;
        Ok(collector)
    }

    /// Threads take the next free chunk, each with its own collector. The collectors are merged at the end.
    fn run_on_threads<C: Collector>(&self, threads: usize, mut first: C) -> Result<C> {
        let chunks = self.chunks().take(threads).count();
        let mut others: Vec<C> = (1..chunks).map(|_| first.fork()).collect();
        let mut workers: Vec<(&mut dyn Collector, Worker)> = vec![(&mut first, Worker::default())];
        workers.extend(others.iter_mut().map(|other| (other as &mut dyn Collector, Worker::default())));
        self.run_workers(workers)?;
        for other in others {
            first.merge(other, self.stop)?;
        }
        Ok(first)
    }

    fn run_workers(&self, mut workers: Vec<(&mut dyn Collector, Worker)>) -> Result<()> {
        threads::each(self.chunks(), &mut workers, |(collector, worker), chunk| {
            worker.chunk(self, chunk, *collector)
        })?;
        workers.into_iter().try_for_each(|(collector, mut worker)| worker.finish(self, collector))
    }

    /// The chunks of all parts.
    fn chunks(&self) -> impl Iterator<Item = Chunk> + Send + '_ {
        let in_parts =
            self.parts.iter().enumerate().flat_map(|(at, part)| part.chunks().map(move |chunk| (at, chunk)));
        (0..).zip(in_parts).map(|(number, (part, chunk))| Chunk { part, chunk, number })
    }
}

/// Buffers of one thread.
#[derive(Default)]
struct Worker {
    buffers: WindowBuffers,
    wanted: Vec<u64>,
    list: Vec<DocId>,
    others: Vec<DocId>,
    /// The position of the part of the last chunk, and whether the collector takes part in it.
    part: Option<(usize, bool)>,
    /// The number of leading documents of the part's list that lie before every remaining chunk.
    passed: usize,
}

/// One part of a pass.
struct PartPass<'a> {
    part: &'a PassPart<'a>,
    stop: &'a Interrupt,
}

impl Worker {
    /// Runs `collector` over the documents of a chunk. Chunks must come in ascending order.
    fn chunk(&mut self, pass: &Pass<'_>, chunk: Chunk, collector: &mut dyn Collector) -> Result<()> {
        let part = &pass.parts[chunk.part];
        let done = self.chunk_of(pass, chunk, collector);
        done.map_err(|error| error.in_part(part.columns.part(), part.columns.parts()))
    }

    fn chunk_of(&mut self, pass: &Pass<'_>, chunk: Chunk, collector: &mut dyn Collector) -> Result<()> {
        let at = PartPass { part: &pass.parts[chunk.part], stop: pass.stop };
        if self.part.is_none_or(|(part, _)| part != chunk.part) {
            self.finish(pass, collector)?;
            self.passed = 0;
            self.part = Some((chunk.part, collector.enter(at.part)?));
        }
        if self.part.is_some_and(|(_, takes_part)| takes_part) {
            self.chunk_of_part(&at, chunk.chunk, collector)?;
        }
        collector.chunk_ends(chunk.number);
        Ok(())
    }

    /// Called after the last chunk.
    fn finish(&mut self, pass: &Pass<'_>, collector: &mut dyn Collector) -> Result<()> {
        match self.part.take() {
            Some((part, true)) => {
                let part = &pass.parts[part];
                collector
                    .leave(part)
                    .map_err(|error| error.in_part(part.columns.part(), part.columns.parts()))
            }
            _ => Ok(()),
        }
    }

    fn chunk_of_part(
        &mut self,
        pass: &PartPass<'_>,
        chunk: u32,
        collector: &mut dyn Collector,
    ) -> Result<()> {
        let start = chunk * CHUNK_DOCS;
        let docs = DocRange::new(start, start.saturating_add(CHUNK_DOCS).min(pass.part.total));
        match pass.part.docs {
            Docs::All => self.range(pass, docs, collector),
            Docs::Range(from, to) => self.range(pass, docs.intersection(DocRange::new(from, to)), collector),
            Docs::List(list) => {
                // Chunks ascend, and usually begin where the last one ended.
                let mut left = &list[self.passed..];
                if left.first().is_some_and(|first| first.get() < docs.start) {
                    left = &left[below(left, docs.start)..];
                }
                let (here, others) = left.split_at(below(left, docs.end));
                self.passed = list.len() - others.len();
                self.list(pass, docs, here, collector)
            }
            Docs::Bits(bits) => self.bits(pass, docs, bits.words(), collector),
        }
    }

    fn range(&mut self, pass: &PartPass<'_>, docs: DocRange, collector: &mut dyn Collector) -> Result<()> {
        let mut start = docs.start;
        while start < docs.end {
            let block = DocRange::new(start, (start / BLOCK + 1).saturating_mul(BLOCK).min(docs.end));
            start = block.end;
            match self.ask(pass, block, collector)? {
                Competitive::All => {
                    for docs in block.chunks(max_window_docs(pass.part.columns)) {
                        self.window(pass, BatchDocs::Run(docs), collector)?;
                    }
                }
                Competitive::Bits => self.wanted(pass, block, collector)?,
            }
        }
        Ok(())
    }

    fn list(
        &mut self,
        pass: &PartPass<'_>,
        docs: DocRange,
        list: &[DocId],
        collector: &mut dyn Collector,
    ) -> Result<()> {
        if !collector.may_skip() || list.len() < docs.len() / SKIP_INDEX_ONE_IN {
            return self.windows(pass, list, collector);
        }
        if list.len() < docs.len() / FILTER_ONE_IN {
            return self.few(pass, docs, list, collector);
        }
        let mut left = list;
        for block in docs.chunks(BLOCK as usize) {
            let (here, others) = left.split_at(left.partition_point(|doc| doc.get() < block.end));
            left = others;
            let wants = self.ask(pass, block, collector)?;
            let mut wanted = std::mem::take(&mut self.list);
            wanted.clear();
            match wants {
                Competitive::All => wanted.extend_from_slice(here),
                Competitive::Bits => self.both(here, block.start, &mut wanted),
            }
            self.windows(pass, &wanted, collector)?;
            self.list = wanted;
        }
        Ok(())
    }

    /// Collects the documents of `list`, a small subset of `docs`, that skip indexes cannot exclude.
    fn few(
        &mut self,
        pass: &PartPass<'_>,
        docs: DocRange,
        list: &[DocId],
        collector: &mut dyn Collector,
    ) -> Result<()> {
        let mut wanted = std::mem::take(&mut self.list);
        wanted.clear();
        let mut open = retain::GroupBits::default();
        let finely = list.len() > docs.len() / DOCS_PER_GROUP as usize;
        collector.groups_to_visit(pass.part.columns, docs, finely, &mut open)?;
        if open.iter().any(|word| *word != 0) {
            retain(list, &open, &mut wanted);
        }
        self.windows(pass, &wanted, collector)?;
        self.list = wanted;
        Ok(())
    }

    /// Appends the documents of `list` that are competitive; bit 0 stands for `start`.
    fn both(&mut self, list: &[DocId], start: u32, out: &mut Vec<DocId>) {
        if bits::count(&self.wanted) < list.len() / FILTER_ONE_IN {
            self.others.clear();
            bits::push_docs(&self.wanted, start, &mut self.others);
            let mut left = list;
            for wanted in &self.others {
                left = &left[below(left, wanted.get())..];
                out.extend(left.first().filter(|doc| *doc == wanted));
            }
        } else {
            let is_wanted = |doc: &&DocId| bits::get(&self.wanted, doc.get().wrapping_sub(start) as usize);
            out.extend(list.iter().filter(is_wanted));
        }
    }

    fn windows(&mut self, pass: &PartPass<'_>, list: &[DocId], collector: &mut dyn Collector) -> Result<()> {
        list.chunks(max_window_docs(pass.part.columns))
            .try_for_each(|docs| self.window(pass, BatchDocs::List(docs), collector))
    }

    fn bits(
        &mut self,
        pass: &PartPass<'_>,
        docs: DocRange,
        words: &[u64],
        collector: &mut dyn Collector,
    ) -> Result<()> {
        for block in docs.chunks(BLOCK as usize) {
            let words = &words[block.start as usize / 64..(block.end as usize).div_ceil(64)];
            if words.iter().all(|word| *word == 0) {
                continue;
            }
            let count = bits::count(words);
            // A filter reads every document; for a few, checking each is cheaper.
            if count < block.len() / FILTER_ONE_IN {
                self.hint(pass, block, words, count, collector)?;
            } else {
                match self.ask(pass, block, collector)? {
                    Competitive::All => self.wanted.copy_from_slice(words),
                    Competitive::Bits => {
                        self.wanted.iter_mut().zip(words).for_each(|(wanted, word)| *wanted &= word)
                    }
                }
            }
            self.wanted(pass, block, collector)?;
        }
        Ok(())
    }

    fn ask(
        &mut self,
        pass: &PartPass<'_>,
        block: DocRange,
        collector: &mut dyn Collector,
    ) -> Result<Competitive> {
        pass.stop.check()?;
        self.wanted.clear();
        self.wanted.resize(block.words(), 0);
        let wants = collector.competitive_docs(pass.part.columns, block, &mut self.wanted)?;
        // Adding all documents without a value sets bits past the end of the block, too.
        if let Some(last) = self.wanted.last_mut()
            && !block.len().is_multiple_of(64)
        {
            *last &= (1 << (block.len() % 64)) - 1;
        }
        Ok(wants)
    }

    /// Restricts the `count` documents whose bits are set in `words` to those that skip indexes cannot exclude.
    fn hint(
        &mut self,
        pass: &PartPass<'_>,
        block: DocRange,
        words: &[u64],
        count: usize,
        collector: &mut dyn Collector,
    ) -> Result<()> {
        const WORDS: usize = DOCS_PER_GROUP as usize / 64;
        let finely = count > block.len() / DOCS_PER_GROUP as usize;
        let mut open = [0; (BLOCK / DOCS_PER_GROUP) as usize / 64];
        collector.groups_to_visit(pass.part.columns, block, finely, &mut open)?;
        self.wanted.clear();
        self.wanted.resize(words.len(), 0);
        for group in bits::ones(&open) {
            // The last block may be shorter.
            let here = group * WORDS..words.len().min((group + 1) * WORDS);
            if let Some((wanted, words)) = self.wanted.get_mut(here.clone()).zip(words.get(here)) {
                wanted.copy_from_slice(words);
            }
        }
        Ok(())
    }

    /// Collects the documents of `block` whose bits are set.
    fn wanted(&mut self, pass: &PartPass<'_>, block: DocRange, collector: &mut dyn Collector) -> Result<()> {
        if bits::count(&self.wanted) * RUN_ONE_IN >= block.len() {
            return self.most(pass, block, collector);
        }
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        bits::push_docs(&self.wanted, block.start, &mut list);
        for docs in list.chunks(max_window_docs(pass.part.columns)) {
            self.window(pass, as_run_if_whole(docs), collector)?;
        }
        self.list = list;
        Ok(())
    }

    /// As [`wanted`](Self::wanted), if these are most documents.
    fn most(&mut self, pass: &PartPass<'_>, block: DocRange, collector: &mut dyn Collector) -> Result<()> {
        let len = max_window_docs(pass.part.columns);
        for (docs, bits) in block.chunks(len).zip(self.wanted.chunks(len / 64)) {
            pass.stop.check()?;
            collector.collect(&mut Window::of_bits(docs, bits, pass.part.columns, &mut self.buffers))?;
        }
        Ok(())
    }

    fn window(
        &mut self,
        pass: &PartPass<'_>,
        docs: BatchDocs<'_>,
        collector: &mut dyn Collector,
    ) -> Result<()> {
        pass.stop.check()?;
        collector.collect(&mut Window::new(docs, pass.part.columns, &mut self.buffers))
    }
}

/// The number of documents of an ascending list that come before `end`, by exponential search: O(log of the result).
fn below(list: &[DocId], end: u32) -> usize {
    let is_below = |doc: &DocId| doc.get() < end;
    let mut step = 16;
    while list.get(step).is_some_and(is_below) {
        step *= 2;
    }
    // All documents before the previous step are below `end` as well.
    let (from, to) = (step / 2, list.len().min(step));
    let from = if list.get(from).is_some_and(is_below) { from } else { 0 };
    from + list[from..to].partition_point(is_below)
}
