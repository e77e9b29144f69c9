//! One pass over a set of documents, by as many threads as there are.
//!
//! ```text
//! documents     chunk 0 (524,288)              | chunk 1        | ...        a thread takes the next chunk that is left
//!               block (65,536) | block | ...                              a collector may say which documents matter
//!               window (32,768 of the set)| window | ...                  columns are read, collectors look
//! ```
//!
//! Windows are of 4,096 if a column has byte strings or lists of values, which may be of any length.
//!
//! Chunks are the same for any number of threads, and a thread goes through its chunks in order. So a collector gives the
//! same answer always, if what it keeps does not depend on the order of chunks, or is kept by chunk.

use std::ops::Range;

use docvalues_column::{BatchDocs, DocId, DocRange, bits};
use docvalues_format::bits::keep::{self, DOCS_PER_BIT, keep};

use crate::collector::{Collector, Competitive};
use crate::columns::Columns;
use crate::docs::Docs;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::threads;
use crate::window::{Window, WindowBuffers};

/// Documents of a chunk: enough that threads seldom meet.
pub(crate) const CHUNK_DOCS: u32 = 8 * BLOCK;

/// Documents that a collector is asked about at once.
pub(crate) const BLOCK: u32 = 1 << 16;

/// Of so many documents one must be in the set for a collector to be asked which it wants.
const FEW: usize = 16;

/// One in so many documents must be in the set for a collector to be asked at all.
const VERY_FEW: usize = 4_096;

const _: () =
    assert!(CHUNK_DOCS as usize == DOCS_PER_BIT as usize * keep::BITS, "a bit for each group of a chunk");

/// A pass: what is read, of which documents.
pub(crate) struct Pass<'a> {
    pub(crate) columns: &'a Columns,
    /// Documents in the source.
    pub(crate) total: u32,
    pub(crate) docs: Docs<'a>,
    pub(crate) threads: usize,
    pub(crate) stop: &'a Interrupt,
}

impl Pass<'_> {
    /// Shows all documents to `collector`.
    pub(crate) fn run<C: Collector>(&self, mut collector: C) -> Result<C> {
        let chunks = self.chunks();
        if collector.is_idle() {
            return Ok(collector);
        }
        let threads = self.threads.min(collector.most_threads());
        if threads > 1 && chunks.len() > 1 {
            return threads::run(self, chunks, threads, collector);
        }
        let mut worker = Worker::default();
        for chunk in chunks {
            worker.chunk(self, chunk, &mut collector)?;
        }
        Ok(collector)
    }

    /// The chunks that have documents of the set.
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

/// What a thread needs to go through chunks.
#[derive(Default)]
pub(crate) struct Worker {
    buffers: WindowBuffers,
    wanted: Vec<u64>,
    list: Vec<DocId>,
    others: Vec<DocId>,
    /// Documents at the front of the pass's list that no chunk is about which is still to come.
    passed: usize,
}

impl Worker {
    /// Shows the documents of a chunk to `collector`; chunks ascend.
    pub(crate) fn chunk<C: Collector>(
        &mut self,
        pass: &Pass<'_>,
        chunk: u32,
        collector: &mut C,
    ) -> Result<()> {
        let docs = DocRange::new(
            chunk * CHUNK_DOCS,
            (chunk * CHUNK_DOCS).saturating_add(CHUNK_DOCS).min(pass.total),
        );
        match pass.docs {
            Docs::All => self.range(pass, docs, collector)?,
            Docs::Range(from, to) => {
                self.range(pass, docs.intersection(DocRange::new(from, to)), collector)?
            }
            Docs::List(list) => {
                // Chunks ascend, and mostly begin where the last one ended.
                let mut left = &list[self.passed..];
                if left.first().is_some_and(|first| first.get() < docs.start) {
                    left = &left[below(left, docs.start)..];
                }
                let (here, others) = left.split_at(below(left, docs.end));
                self.passed = list.len() - others.len();
                self.list(pass, docs, here, collector)?;
            }
            Docs::Bits(bits) => self.bits(pass, docs, bits.words(), collector)?,
        }
        collector.chunk_ends(chunk);
        Ok(())
    }

    fn range<C: Collector>(&mut self, pass: &Pass<'_>, docs: DocRange, collector: &mut C) -> Result<()> {
        let mut start = docs.start;
        while start < docs.end {
            let block = DocRange::new(start, (start / BLOCK + 1).saturating_mul(BLOCK).min(docs.end));
            start = block.end;
            match self.ask(pass, block, collector)? {
                Competitive::All => {
                    for docs in block.chunks(pass.columns.window()) {
                        self.window(pass, BatchDocs::Run(docs), collector)?;
                    }
                }
                Competitive::Bits => self.wanted(pass, block.start, collector)?,
            }
        }
        Ok(())
    }

    fn list<C: Collector>(
        &mut self,
        pass: &Pass<'_>,
        docs: DocRange,
        list: &[DocId],
        collector: &mut C,
    ) -> Result<()> {
        if !collector.may_skip() || list.len() < docs.len() / VERY_FEW {
            return self.windows(pass, list, collector);
        }
        if list.len() < docs.len() / FEW {
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

    /// Shows the documents of `list`, which are few of `docs`.
    fn few<C: Collector>(
        &mut self,
        pass: &Pass<'_>,
        docs: DocRange,
        list: &[DocId],
        collector: &mut C,
    ) -> Result<()> {
        let mut wanted = std::mem::take(&mut self.list);
        wanted.clear();
        let mut open = keep::Open::default();
        let finely = list.len() > docs.len() / DOCS_PER_BIT as usize;
        collector.competitive_groups(pass.columns, docs, finely, &mut open)?;
        if open.iter().any(|word| *word != 0) {
            keep(list, &open, &mut wanted);
        }
        self.windows(pass, &wanted, collector)?;
        self.list = wanted;
        Ok(())
    }

    /// Adds the documents of `list` that are wanted, bits being counted from `start`.
    fn both(&mut self, list: &[DocId], start: u32, out: &mut Vec<DocId>) {
        if bits::count(&self.wanted) < list.len() / FEW {
            self.others.clear();
            bits::docs(&self.wanted, start, &mut self.others);
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

    fn windows<C: Collector>(&mut self, pass: &Pass<'_>, list: &[DocId], collector: &mut C) -> Result<()> {
        list.chunks(pass.columns.window())
            .try_for_each(|docs| self.window(pass, BatchDocs::List(docs), collector))
    }

    fn bits<C: Collector>(
        &mut self,
        pass: &Pass<'_>,
        docs: DocRange,
        words: &[u64],
        collector: &mut C,
    ) -> Result<()> {
        for block in docs.chunks(BLOCK as usize) {
            let words = &words[block.start as usize / 64..(block.end as usize).div_ceil(64)];
            if words.iter().all(|word| *word == 0) {
                continue;
            }
            let count = bits::count(words);
            // A filter looks at all documents: of few, it is cheaper to look at each.
            if count < block.len() / FEW {
                self.hint(pass, block, words, count, collector)?;
            } else {
                match self.ask(pass, block, collector)? {
                    Competitive::All => self.wanted.copy_from_slice(words),
                    Competitive::Bits => {
                        self.wanted.iter_mut().zip(words).for_each(|(wanted, word)| *wanted &= word)
                    }
                }
            }
            self.wanted(pass, block.start, collector)?;
        }
        Ok(())
    }

    fn ask<C: Collector>(
        &mut self,
        pass: &Pass<'_>,
        block: DocRange,
        collector: &mut C,
    ) -> Result<Competitive> {
        pass.stop.check()?;
        self.wanted.clear();
        self.wanted.resize(block.words(), 0);
        let wants = collector.competitive_docs(pass.columns, block, &mut self.wanted)?;
        // Who adds all documents without a value, adds some that are not there.
        if let Some(last) = self.wanted.last_mut()
            && !block.len().is_multiple_of(64)
        {
            *last &= (1 << (block.len() % 64)) - 1;
        }
        Ok(wants)
    }

    /// Wants those `count` documents whose bits in `words` are set, but for those that are known at once not to matter.
    fn hint<C: Collector>(
        &mut self,
        pass: &Pass<'_>,
        block: DocRange,
        words: &[u64],
        count: usize,
        collector: &mut C,
    ) -> Result<()> {
        const WORDS: usize = DOCS_PER_BIT as usize / 64;
        let finely = count > block.len() / DOCS_PER_BIT as usize;
        let mut open = [0; (BLOCK / DOCS_PER_BIT) as usize / 64];
        collector.competitive_groups(pass.columns, block, finely, &mut open)?;
        self.wanted.clear();
        self.wanted.resize(words.len(), 0);
        for group in bits::ones(&open) {
            // The last block may have fewer.
            let here = group * WORDS..words.len().min((group + 1) * WORDS);
            if let Some((wanted, words)) = self.wanted.get_mut(here.clone()).zip(words.get(here)) {
                wanted.copy_from_slice(words);
            }
        }
        Ok(())
    }

    /// Shows the documents whose bits are wanted, counted from `start`.
    fn wanted<C: Collector>(&mut self, pass: &Pass<'_>, start: u32, collector: &mut C) -> Result<()> {
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        bits::docs(&self.wanted, start, &mut list);
        for docs in list.chunks(pass.columns.window()) {
            self.window(pass, compact(docs), collector)?;
        }
        self.list = list;
        Ok(())
    }

    fn window<C: Collector>(
        &mut self,
        pass: &Pass<'_>,
        docs: BatchDocs<'_>,
        collector: &mut C,
    ) -> Result<()> {
        pass.stop.check()?;
        collector.collect(&mut Window::new(docs, pass.columns, &mut self.buffers))
    }
}

/// How many documents of an ascending list come before `end`: O(log of that), for who looks for one end after the other.
fn below(list: &[DocId], end: u32) -> usize {
    let is_below = |doc: &DocId| doc.get() < end;
    let mut step = 16;
    while list.get(step).is_some_and(is_below) {
        step *= 2;
    }
    // Those before the last step that was looked at are below, too.
    let (from, to) = (step / 2, list.len().min(step));
    let from = if list.get(from).is_some_and(is_below) { from } else { 0 };
    from + list[from..to].partition_point(is_below)
}

/// Documents without a gap are a run.
pub(crate) fn compact(docs: &[DocId]) -> BatchDocs<'_> {
    match docs {
        [first, .., last] if (last.get() - first.get()) as usize + 1 == docs.len() => {
            BatchDocs::Run(DocRange::new(first.get(), last.get() + 1))
        }
        _ => BatchDocs::List(docs),
    }
}
