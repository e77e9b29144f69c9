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

use docvalues_column::{BatchDocs, DocId, DocRange};
use docvalues_format::bits::retain::{DOCS_PER_GROUP, GROUPS};

use super::candidates::{BLOCK, CandidateBuffers, Candidates, is_sparse};
use super::collector::{Collector, PassPart};
use super::columns::PartColumns;
use super::docs::{DocList, Docs, docs_before};
use super::interrupt::Interrupt;
use super::threads;
use super::window::{Window, WindowBuffers, as_run_if_whole, max_window_docs};
use crate::error::{Error, Result};

/// Documents in a chunk: enough that threads seldom contend.
const CHUNK_DOCS: u32 = 8 * BLOCK;

const _: () =
    assert!(CHUNK_DOCS as usize == DOCS_PER_GROUP as usize * GROUPS, "a bit for each group of a chunk");

/// The input of a pass: documents and columns of some parts, threads.
pub(crate) struct Pass<'a> {
    /// The parts, in the order in which they are visited.
    pub(crate) parts: &'a [PassPart<'a>],
    /// The documents of each part that are visited, if they are in the set. It begins and ends at multiples of 64, or at
    /// the end of a part.
    pub(crate) within: DocRange,
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

    /// The documents of a chunk, in the set or not.
    fn chunk(&self, number: u32) -> DocRange {
        let start = number * CHUNK_DOCS;
        DocRange::new(start, start.saturating_add(CHUNK_DOCS).min(self.total))
    }

    /// The error as that of this part.
    fn error_in(&self, error: Error) -> Error {
        error.in_part(self.columns.part(), self.columns.parts())
    }
}

impl Pass<'_> {
    /// The documents that are visited if none is left out.
    pub(crate) const EVERYWHERE: DocRange = DocRange::new(0, u32::MAX);

    /// Runs `collector` over all documents of the pass. Threads take the next free chunk, each with its own collector;
    /// these are merged at the end.
    pub(crate) fn run<C: Collector>(&self, mut first: C) -> Result<C> {
        if first.is_idle() {
            return Ok(first);
        }
        let threads = self.chunks().take(self.threads.min(first.max_threads())).count();
        let mut others: Vec<C> = (1..threads).map(|_| first.fork()).collect();
        let mut workers: Vec<(&mut dyn Collector, Visitor)> = vec![(&mut first, Visitor::default())];
        workers.extend(others.iter_mut().map(|other| (other as &mut dyn Collector, Visitor::default())));
        self.run_workers(workers)?;
        for other in others {
            first.merge(other, self.stop)?;
        }
        Ok(first)
    }

    fn run_workers(&self, mut workers: Vec<(&mut dyn Collector, Visitor)>) -> Result<()> {
        threads::each(self.chunks(), &mut workers, |(collector, visitor), chunk| {
            visitor.visit_chunk(self, chunk, *collector)
        })?;
        workers.into_iter().try_for_each(|(collector, mut visitor)| visitor.leave(self, collector))
    }

    /// The chunks of all parts.
    fn chunks(&self) -> impl Iterator<Item = Chunk> + Send + '_ {
        let within = self.within;
        let in_parts = self.parts.iter().enumerate().flat_map(move |(at, part)| {
            let is_visited = move |chunk: &u32| !part.chunk(*chunk).intersection(within).is_empty();
            part.chunks().filter(is_visited).map(move |chunk| (at, chunk))
        });
        (0..).zip(in_parts).map(|(number, (part, chunk))| Chunk { part, chunk, number })
    }
}

/// Visits chunks on one thread, in ascending order.
#[derive(Default)]
struct Visitor {
    candidates: CandidateBuffers,
    windows: WindowBuffers,
    /// The position of the part of the last chunk, and whether the collector takes part in it.
    part: Option<(usize, bool)>,
    /// The number of leading documents of the part's list that lie before every remaining chunk.
    passed: usize,
}

impl Visitor {
    /// Visits a chunk. Enters its part first, unless the last chunk was of the same part.
    fn visit_chunk(&mut self, pass: &Pass<'_>, chunk: Chunk, collector: &mut dyn Collector) -> Result<()> {
        let part = &pass.parts[chunk.part];
        if self.part.is_none_or(|(last, _)| last != chunk.part) {
            self.leave(pass, collector)?;
            self.passed = 0;
            let takes_part = collector.enter(part).map_err(|error| part.error_in(error))?;
            self.part = Some((chunk.part, takes_part));
        }
        if self.part.is_some_and(|(_, takes_part)| takes_part) {
            let docs = part.chunk(chunk.chunk).intersection(pass.within);
            let visited = self.visit(part, docs, pass.stop, collector);
            visited.map_err(|error| part.error_in(error))?;
        }
        collector.chunk_ends(chunk.number);
        Ok(())
    }

    /// Leaves the part of the last chunk, if any. Call it after all chunks, too.
    fn leave(&mut self, pass: &Pass<'_>, collector: &mut dyn Collector) -> Result<()> {
        match self.part.take() {
            Some((part, true)) => {
                let part = &pass.parts[part];
                collector.leave(part).map_err(|error| part.error_in(error))
            }
            _ => Ok(()),
        }
    }

    /// Visits the documents of the set in a chunk of a part.
    fn visit(
        &mut self,
        part: &PassPart<'_>,
        chunk: DocRange,
        stop: &Interrupt,
        collector: &mut dyn Collector,
    ) -> Result<()> {
        let PassPart { columns, docs: set, .. } = *part;
        let docs = match set {
            Docs::Range(from, to) => chunk.intersection(DocRange::new(from, to)),
            _ => chunk,
        };
        let mut listed: &[DocId] = match set {
            Docs::List(DocList(list)) => self.listed_in(list, chunk),
            _ => &[],
        };
        // A list that is not filtered is not cut at blocks, so that its windows are full.
        let at_once =
            matches!(set, Docs::List(_)) && (!collector.may_skip() || is_sparse(listed.len(), chunk));
        for block in cut(docs, if at_once { CHUNK_DOCS } else { BLOCK }) {
            stop.check()?;
            let candidates = match set {
                Docs::All | Docs::Range(..) => self.candidates.of_range(columns, block, collector)?,
                Docs::List(_) if at_once => {
                    self.candidates.of_list_in_chunk(columns, block, listed, collector)?
                }
                Docs::List(_) => {
                    let (here, others) = listed.split_at(docs_before(listed, block.end));
                    listed = others;
                    self.candidates.of_list_in_block(columns, block, here, collector)?
                }
                Docs::Bits(set) => {
                    let words = &set.words()[block.start as usize / 64..(block.end as usize).div_ceil(64)];
                    self.candidates.of_bits(columns, block, words, collector)?
                }
            };
            collect(candidates, columns, &mut self.windows, stop, collector)?;
        }
        Ok(())
    }

    /// The documents of `list` in a chunk. Chunks ascend, and usually begin where the last one ended.
    fn listed_in<'l>(&mut self, list: &'l [DocId], chunk: DocRange) -> &'l [DocId] {
        let left = &list[self.passed..];
        let left = &left[docs_before(left, chunk.start)..];
        let (here, others) = left.split_at(docs_before(left, chunk.end));
        self.passed = list.len() - others.len();
        here
    }
}

/// Cuts documents at the multiples of `len`.
fn cut(docs: DocRange, len: u32) -> impl Iterator<Item = DocRange> {
    let from_multiple = DocRange::new(docs.start / len * len, docs.end);
    from_multiple.chunks(len as usize).map(move |part| part.intersection(docs))
}

/// Collects candidates window by window.
fn collect(
    candidates: Candidates<'_>,
    columns: PartColumns<'_>,
    buffers: &mut WindowBuffers,
    stop: &Interrupt,
    collector: &mut dyn Collector,
) -> Result<()> {
    let len = max_window_docs(columns);
    let mut visit = |window: &mut Window<'_>| -> Result<()> {
        stop.check()?;
        collector.collect(window)
    };
    match candidates {
        Candidates::Run(docs) => docs
            .chunks(len)
            .try_for_each(|docs| visit(&mut Window::new(BatchDocs::Run(docs), columns, buffers))),
        Candidates::List(docs) => docs
            .chunks(len)
            .try_for_each(|docs| visit(&mut Window::new(as_run_if_whole(docs), columns, buffers))),
        Candidates::MostOf(docs, bits) => docs
            .chunks(len)
            .zip(bits.chunks(len / 64))
            .try_for_each(|(docs, bits)| visit(&mut Window::of_bits(docs, bits, columns, buffers))),
    }
}
