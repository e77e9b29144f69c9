//! Queries bound to columns, ready for evaluation.

use std::sync::Arc;

use docvalues_column::{ColumnSource, DocRange, Pruning, bits};

use super::Query;
use super::bind::{Binder, Node, NodeKind};
use super::evaluate::{self, Run, WINDOW, is_empty, set_all};
use super::explain::{Explain, Profile, explain};
use super::pattern::CompiledPatterns;
use crate::engine::threads::each;
use crate::engine::{Docs, Interrupt, len_u32};
use crate::{Bitset, Result};

/// The documents of a chunk, the unit of work of a thread: several whole windows.
const CHUNK_DOCS: u32 = 8 * WINDOW;

/// The words of bits for a chunk.
const CHUNK_WORDS: usize = CHUNK_DOCS as usize / 64;

/// A query that is bound to the columns of a source, made by [`Query::bind`].
///
/// It owns its columns, which outlive the source. Evaluation does not change it, so several threads can evaluate it
/// at once.
///
/// # Complexity
///
/// A single condition costs as much as its column's filter. Conjunctions are evaluated in windows of 65,536
/// documents, beginning with the clause that excludes most for its cost. A window ends when no document is left; when
/// few are left, only their values are read.
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_search::{Docs, Query};
///
/// # let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let source = MemSource::new(3, [(field, ModelColumn::Numeric(vec![Some(512), Some(9), Some(70)]))]);
/// let query = Query::parse("size > 50")?.bind(&source)?;
/// assert_eq!(query.count(Docs::All)?, 2);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[doc(alias = "Weight")]
#[derive(Debug)]
pub struct BoundQuery {
    docs: u32,
    /// The live documents; `None` if none is deleted. No others match.
    live: Option<Arc<Bitset>>,
    root: Node,
    nodes: usize,
    threads: usize,
    stop: Interrupt,
    /// The memory limit for sets of documents.
    memory: usize,
}

// Documented above.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<BoundQuery>();
};

impl Query {
    /// Opens the query's columns in `source`, looks up its terms, and decides what can match at all.
    ///
    /// Each column is opened once and each term is looked up once. No values are read, but a pattern reads the whole
    /// dictionary.
    ///
    /// # Errors
    ///
    /// If there is no such column; if a literal does not fit its column's type
    /// ([`Error::Query`](crate::Error::Query), with a position if the query was parsed); if the query is nested too
    /// deeply; if the source is damaged.
    pub fn bind(&self, source: &dyn ColumnSource) -> Result<BoundQuery> {
        self.bind_with(source, &CompiledPatterns::default(), &Interrupt::default())
    }

    /// As [`bind`](Self::bind), with patterns that several parts share, and an interrupt flag for the binding.
    pub(super) fn bind_with(
        &self,
        source: &dyn ColumnSource,
        patterns: &CompiledPatterns,
        stop: &Interrupt,
    ) -> Result<BoundQuery> {
        let (root, nodes) = Binder::new(source, patterns, stop).bind(self)?;
        let (stop, memory) = (Interrupt::default(), usize::MAX);
        Ok(BoundQuery { docs: source.docs(), live: None, root, nodes, threads: 1, stop, memory })
    }
}

impl BoundQuery {
    /// The query over these live documents.
    pub(super) fn live(self, live: Option<Arc<Bitset>>) -> BoundQuery {
        BoundQuery { live, ..self }
    }

    /// The query with an interrupt flag, and a memory limit for sets of documents.
    pub(super) fn limited(self, stop: &Interrupt, memory: usize) -> BoundQuery {
        BoundQuery { stop: stop.clone(), memory, ..self }
    }

    /// The number of documents that are not deleted.
    fn live_docs(&self) -> u32 {
        self.live.as_ref().map_or(self.docs, |live| live.count())
    }

    /// The number of documents in the source.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// Sets the number of threads, at least 1. Each works on chunks of 524,288 documents. Results do not depend on
    /// it. Without the feature `rayon` there is one thread.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> BoundQuery {
        self.threads = threads.max(1);
        self
    }

    /// Whether it is known that no document matches, without reading values.
    pub fn is_none(&self) -> bool {
        matches!(self.root.kind, NodeKind::None) || self.live.as_ref().is_some_and(|live| live.is_empty())
    }

    /// Whether it is known that every document matches, without reading values.
    pub fn is_all(&self) -> bool {
        matches!(self.root.kind, NodeKind::All) && self.live.is_none()
    }

    /// Sets the bits of the documents of `docs` that match, on the calling thread. Bit `i % 64` of word `i / 64`
    /// stands for document `docs.start + i`.
    ///
    /// Documents beyond the end of the source do not match. Ranges that begin at multiples of 65,536 are fastest.
    ///
    /// # Errors
    ///
    /// If a column is damaged; `bits` is then unspecified.
    ///
    /// # Panics
    ///
    /// If `bits` is too short for `docs`.
    pub fn matching(&self, docs: impl Into<DocRange>, bits: &mut [u64]) -> Result<()> {
        let docs = docs.into();
        bits::check(docs, bits);
        self.fill(docs, bits, &mut Pruning::default())
    }

    /// As [`matching`](Self::matching). Adds to the pruning statistics `pruned`.
    fn fill(&self, docs: DocRange, bits: &mut [u64], pruned: &mut Pruning) -> Result<()> {
        let docs = docs.clip(self.docs);
        match &self.decisive().kind {
            _ if docs.is_empty() => Ok(()),
            NodeKind::None => Ok(()),
            NodeKind::All => {
                self.stop.check()?;
                set_all(docs.len(), bits);
                Ok(())
            }
            NodeKind::Filter(leaf) if !self.stop.is_possible() => leaf.fill(docs, bits, pruned),
            _ => {
                let mut run = Run::default();
                let filled = self.fill_windows(docs, bits, &mut run);
                *pruned += run.pruned;
                filled
            }
        }
    }

    /// Returns the documents of `docs` that match, with a bit for each document of the source.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn collect<'d>(&self, docs: impl Into<Docs<'d>>) -> Result<Bitset> {
        self.collect_pruning(docs.into(), &mut Pruning::default())
    }

    /// As [`collect`](Self::collect). Adds to the pruning statistics `pruned`.
    pub(super) fn collect_pruning(&self, docs: Docs<'_>, pruned: &mut Pruning) -> Result<Bitset> {
        let fill = |docs, bits: &mut [u64], run: &mut Run| self.fill(docs, bits, &mut run.pruned);
        let (found, _, runs) = self.evaluate(docs, Run::default, fill)?;
        runs.iter().for_each(|run| *pruned += run.pruned);
        Ok(found)
    }

    /// Counts the documents of `docs` that match. Allocates no set if `docs` are a range or all documents.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn count<'d>(&self, docs: impl Into<Docs<'d>>) -> Result<u32> {
        self.count_pruning(docs.into(), &mut Pruning::default())
    }

    /// As [`count`](Self::count). Adds to the pruning statistics `pruned`.
    pub(super) fn count_pruning(&self, docs: Docs<'_>, pruned: &mut Pruning) -> Result<u32> {
        if let Some(known) = self.known_count(&docs) {
            return Ok(known);
        }
        let WholeWords::Range(range, ignored) = self.whole_words(docs)? else {
            return Ok(self.collect_pruning(docs, pruned)?.count());
        };
        let found = self.root.candidates(DocRange::new(range.start + ignored, range.end), pruned)?;
        if found.is_empty() {
            return Ok(0);
        }
        let first = range.start.max(found.start / WINDOW * WINDOW);
        let ignored = if first > range.start { 0 } else { ignored };
        let range = DocRange::new(first, found.end);
        let words = CHUNK_WORDS.min(range.words());
        let chunks = chunks(range);
        let mut workers = self.workers(&chunks, || (vec![0; words], 0, Pruning::default()));
        each(chunks, &mut workers, |(words, count, pruned), part| {
            let words = &mut words[..part.words()];
            words.fill(0);
            match &self.live {
                // Without a run, which allocates memory.
                None => self.fill(part, words, pruned)?,
                Some(live) => {
                    live.add_to(part, words);
                    let mut run = Run::default();
                    self.narrow_windows(part, words, &mut run)?;
                    *pruned += run.pruned;
                }
            }
            clear(words, if part.start == first { ignored } else { 0 });
            *count += len_u32(bits::count(words));
            Ok(())
        })?;
        workers.iter().for_each(|(.., of_worker)| *pruned += *of_worker);
        Ok(workers.iter().map(|(_, count, _)| count).sum())
    }

    /// The evaluation plan with expected costs. Reads no values.
    pub fn explain(&self) -> Explain {
        explain(&self.root, self.live_docs(), 0, None)
    }

    /// As [`collect`](Self::collect), with a profile of each clause. It is slower, because every clause is evaluated
    /// in windows, counted and timed. All but the times is independent of the number of threads.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn collect_explained<'d>(&self, docs: impl Into<Docs<'d>>) -> Result<(Bitset, Explain)> {
        let counting = || Run::counting(self.nodes);
        let fill = |docs, bits: &mut [u64], run: &mut Run| self.fill_windows(docs, bits, run);
        let (found, windows, runs) = self.evaluate(docs.into(), counting, fill)?;
        let counters = evaluate::counters(runs);
        Ok((found, explain(&self.root, self.live_docs(), windows as u64, Some(&counters))))
    }

    /// Returns the documents of `docs` that match, the number of windows, and the state of each thread. Uses `fill`
    /// if `docs` is a range.
    fn evaluate(
        &self,
        docs: Docs<'_>,
        run: impl Fn() -> Run,
        fill: impl Fn(DocRange, &mut [u64], &mut Run) -> Result<()> + Sync,
    ) -> Result<(Bitset, usize, Vec<Run>)> {
        let (range, words, runs) = match self.whole_words(docs)? {
            WholeWords::Range(range, ignored) => {
                let mut words = self.no_words()?;
                let from = (range.start / 64) as usize;
                let chunks = chunks(range).zip(words[from..].chunks_mut(CHUNK_WORDS));
                let mut runs = self.workers(&chunks, run);
                each(chunks, &mut runs, |run, (docs, bits)| self.fill_live(docs, bits, run, &fill))?;
                clear(&mut words[from..], ignored);
                (range, words, runs)
            }
            WholeWords::Some(mut words) => {
                if let Some(live) = &self.live {
                    words.iter_mut().zip(live.words()).for_each(|(word, live)| *word &= live);
                }
                let all = DocRange::new(0, self.docs);
                let chunks = chunks(all).zip(words.chunks_mut(CHUNK_WORDS));
                let mut runs = self.workers(&chunks, run);
                each(chunks, &mut runs, |run, (docs, bits)| self.narrow_windows(docs, bits, run))?;
                (all, words, runs)
            }
        };
        Ok((Bitset::from_words(words, self.docs), range.len().div_ceil(WINDOW as usize), runs))
    }

    /// The state of each thread that works on these chunks, at least one.
    fn workers<S>(&self, chunks: &impl ExactSizeIterator, new: impl Fn() -> S) -> Vec<S> {
        (0..self.threads.min(chunks.len()).max(1)).map(|_| new()).collect()
    }

    /// The only child that decides, if all others match every document, or none.
    fn decisive(&self) -> &Node {
        let mut node = &self.root;
        while let NodeKind::And | NodeKind::Or = node.kind {
            let is_and = matches!(node.kind, NodeKind::And);
            let mut open = node.parts.iter().filter(|part| match part.kind {
                NodeKind::All => !is_and,
                NodeKind::None => is_and,
                _ => true,
            });
            match (open.next(), open.next()) {
                (Some(only), None) => node = only,
                _ => break,
            }
        }
        node
    }

    /// The number of matching documents, if the directory has it.
    fn known_count(&self, docs: &Docs<'_>) -> Option<u32> {
        match (&self.decisive().kind, &self.live) {
            (NodeKind::None, _) => Some(0),
            (NodeKind::All, _) if matches!(docs, Docs::All) => Some(self.live_docs()),
            (_, Some(_)) => None,
            (NodeKind::All, None) => Some(docs.count(self.docs)),
            (NodeKind::Docs(set), None) if docs.is_all(self.docs) => Some(set.count()),
            (NodeKind::Filter(leaf), None) if docs.is_all(self.docs) => {
                u32::try_from(leaf.known_count()?).ok()
            }
            _ => None,
        }
    }

    /// The number of matching documents, if it is known, or zones decide all but `most` documents.
    pub(super) fn quick_count(&self, most: &mut usize) -> Result<Option<u64>> {
        if let Some(known) = self.known_count(&Docs::All) {
            return Ok(Some(known.into()));
        }
        match (&self.decisive().kind, &self.live) {
            (NodeKind::Filter(leaf), None) => leaf.count_by_zones(most),
            _ => Ok(None),
        }
    }

    /// Sets the bits of the live documents of `docs` that match: by `fill` if none is deleted. No bit is set before.
    fn fill_live(
        &self,
        docs: DocRange,
        bits: &mut [u64],
        run: &mut Run,
        fill: impl Fn(DocRange, &mut [u64], &mut Run) -> Result<()>,
    ) -> Result<()> {
        let Some(live) = &self.live else { return fill(docs, bits, run) };
        live.add_to(docs, bits);
        self.narrow_windows(docs, bits, run)
    }

    fn fill_windows(&self, docs: DocRange, bits: &mut [u64], run: &mut Run) -> Result<()> {
        let mut start = docs.start;
        for bits in bits.chunks_mut(WINDOW as usize / 64) {
            let window = DocRange::new(start, docs.end.min(start.saturating_add(WINDOW)));
            if window.is_empty() {
                break;
            }
            start = window.end;
            self.stop.check()?;
            self.root.fill(window, bits, run)?;
        }
        Ok(())
    }

    fn narrow_windows(&self, docs: DocRange, words: &mut [u64], run: &mut Run) -> Result<()> {
        let mut start = docs.start;
        for words in words.chunks_mut(WINDOW as usize / 64) {
            let window = DocRange::new(start, docs.end.min(start.saturating_add(WINDOW)));
            start = window.end;
            self.stop.check()?;
            if !is_empty(words) {
                self.root.narrow(window, words, run)?;
            }
        }
        Ok(())
    }

    /// Documents in whole words.
    fn whole_words(&self, docs: Docs<'_>) -> Result<WholeWords> {
        Ok(match docs {
            Docs::All => WholeWords::Range(DocRange::new(0, self.docs), 0),
            Docs::Range(from, to) => {
                let to = to.min(self.docs);
                let from = from.min(to);
                WholeWords::Range(DocRange::new(from / 64 * 64, to), from % 64)
            }
            Docs::List(_) | Docs::Bits(_) => WholeWords::Some(docs.try_words(self.docs, self.memory)?),
        })
    }

    /// Cleared bits for all documents.
    fn no_words(&self) -> Result<Vec<u64>> {
        Docs::Range(0, 0).try_words(self.docs, self.memory)
    }

    /// As [`explain`](Self::explain) after a run, for a query that is known to match every document, or none.
    pub(crate) fn explain_known(&self) -> Explain {
        let windows = u64::from(self.docs.div_ceil(WINDOW));
        let candidates = u64::from(self.live_docs());
        let mut profile = vec![Profile::default(); self.nodes];
        if let Some(root) = profile.get_mut(self.root.id) {
            *root = Profile {
                windows,
                candidates,
                matched: if self.is_all() { candidates } else { 0 },
                ..Profile::default()
            };
        }
        explain(&self.root, self.live_docs(), windows, Some(&profile))
    }
}

/// Splits documents into the chunks that threads take; the first begins at the start of `docs`.
fn chunks(docs: DocRange) -> impl ExactSizeIterator<Item = DocRange> + Send {
    docs.chunks(CHUNK_DOCS as usize)
}

/// A set of documents in whole words.
enum WholeWords {
    /// A range. The given number of leading documents only align it to a word, and are not in the set.
    Range(DocRange, u32),
    /// The documents whose bits are set.
    Some(Vec<u64>),
}

/// Clears the first `count` bits of the first word.
fn clear(words: &mut [u64], count: u32) {
    if let Some(first) = words.first_mut() {
        *first &= u64::MAX << count;
    }
}
