//! A query whose columns are found: what can be run.

use docvalues_column::{ColumnSource, DocRange, Pruning, bits};

use super::Query;
use super::bind::{Binder, Node, NodeKind};
use super::evaluate::{self, Run, WINDOW, is_empty, set_all};
use super::explain::{Explain, Profile, explain};
use crate::docs::len_u32;
use crate::interrupt::Interrupt;
use crate::threads::each;
use crate::{Bitset, Docs, Result, Search};

/// Documents that a thread takes at once: whole windows.
const CHUNK_DOCS: u32 = 8 * WINDOW;

/// Words of bits for them.
const CHUNK_WORDS: usize = CHUNK_DOCS as usize / 64;

/// A query that is bound to the columns of a source: [`Query::bind`] makes it.
///
/// It holds the columns, which outlive their source, and nothing that a run changes: any number of threads may ask for
/// any parts at once.
///
/// # Complexity
///
/// A condition on its own costs what the filter of its column does. Conjunctions are worked on by windows of 65,536
/// documents, the part first that is expected to leave the least for its cost; a window of which nothing is left is done,
/// and where few documents are left, only their values are read.
#[derive(Debug)]
pub struct BoundQuery {
    docs: u32,
    root: Node,
    nodes: usize,
    threads: usize,
    stop: Interrupt,
    /// Bytes that bits may take.
    memory: usize,
}

// What its documentation promises.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<BoundQuery>();
};

impl Query {
    /// Finds the columns of the query in `source`, its terms in their dictionaries, and what of it can match at all.
    ///
    /// Each column is opened once and each term looked up once; no values are read.
    ///
    /// # Errors
    ///
    /// When there is no such column; when a literal is none of a column's type, with [`Error::Query`](crate::Error::Query),
    /// which points at it if the query was parsed; when the query is nested too deeply; when the source is damaged.
    pub fn bind(&self, source: &dyn ColumnSource) -> Result<BoundQuery> {
        let (root, nodes) = Binder::new(source).bind(self)?;
        Ok(BoundQuery {
            docs: source.docs(),
            root,
            nodes,
            threads: 1,
            stop: Interrupt::default(),
            memory: usize::MAX,
        })
    }
}

impl Search<'_> {
    /// A query, bound to the columns, that runs on as many threads.
    ///
    /// # Errors
    ///
    /// As [`Query::bind`].
    pub fn bind(&self, query: &Query) -> Result<BoundQuery> {
        let bound = match &self.live {
            Some(live) => Query::docs(live.clone()).and(query.clone()).bind(self),
            None => query.bind(self),
        };
        let (stop, memory) = (self.stop.clone(), self.most_memory());
        Ok(BoundQuery { stop, memory, ..bound?.threads(self.threads) })
    }

    /// The documents that match `query`. Of many, a set that holds all is better said by [`Docs::All`].
    ///
    /// # Errors
    ///
    /// When there is no such column, a literal is none of its type, or bytes are damaged; [`Error::Memory`] when there is
    /// no bit for each document, or [`Search::memory`] allows none.
    ///
    /// [`Error::Memory`]: crate::Error::Memory
    pub fn filter(&self, query: &Query) -> Result<Bitset> {
        self.bind(query)?.collect(Docs::All)
    }

    /// How many documents match `query`.
    ///
    /// # Errors
    ///
    /// As [`filter`](Self::filter).
    pub fn count(&self, query: &Query) -> Result<u32> {
        self.bind(query)?.count(Docs::All)
    }
}

impl BoundQuery {
    /// Documents of the source.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// The same, by so many threads, 1 at least, where there are documents enough: each works on 524,288 of them at a time.
    /// What is found is the same for any number. Without the feature `rayon` there is one.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> BoundQuery {
        self.threads = threads.max(1);
        self
    }

    /// Whether it is known, without a look at any value, that no document matches.
    pub fn is_none(&self) -> bool {
        matches!(self.root.what, NodeKind::None)
    }

    /// Whether it is known, without a look at any value, that every document matches.
    pub fn is_all(&self) -> bool {
        matches!(self.root.what, NodeKind::All)
    }

    /// Adds the documents of `docs` that match, on the caller's thread: bit `i % 64` of word `i / 64` is document `docs.start + i`.
    ///
    /// Documents past the last one do not match. Parts that begin with multiples of 65,536 are the fastest.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged; what `bits` then holds is unspecified.
    ///
    /// # Panics
    ///
    /// If `bits` has fewer words than `docs` take.
    pub fn matching(&self, docs: impl Into<DocRange>, bits: &mut [u64]) -> Result<()> {
        let docs = docs.into();
        bits::check(docs, bits);
        let docs = docs.clip(self.docs);
        match &self.decisive().what {
            _ if docs.is_empty() => Ok(()),
            NodeKind::None => Ok(()),
            NodeKind::All => {
                self.stop.check()?;
                set_all(docs.len(), bits);
                Ok(())
            }
            NodeKind::Filter(leaf) if !self.stop.is_possible() => {
                leaf.fill(docs, bits, &mut Pruning::default())
            }
            _ => self.fill_windows(docs, bits, &mut Run::default()),
        }
    }

    /// The documents of `docs` that match, in bits for all documents of the source.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn collect<'d>(&self, docs: impl Into<Docs<'d>>) -> Result<Bitset> {
        let (found, ..) =
            self.evaluate(docs.into(), Run::default, |docs, bits, _| self.matching(docs, bits))?;
        Ok(found)
    }

    /// How many of `docs` match. Takes no memory for all documents, if `docs` are all or a range of them.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn count<'d>(&self, docs: impl Into<Docs<'d>>) -> Result<u32> {
        let docs = docs.into();
        if let Some(known) = self.known_count(&docs) {
            return Ok(known);
        }
        let WholeWords::Range(range, ignored) = self.whole_words(docs)? else {
            return Ok(self.collect(docs)?.count());
        };
        let found = self.root.candidates(DocRange::new(range.start + ignored, range.end))?;
        if found.is_empty() {
            return Ok(0);
        }
        let first = range.start.max(found.start / WINDOW * WINDOW);
        let ignored = if first > range.start { 0 } else { ignored };
        let range = DocRange::new(first, found.end);
        let words = CHUNK_WORDS.min(range.words());
        let chunks = chunks(range);
        let mut workers = self.workers(&chunks, || (vec![0; words], 0));
        each(chunks, &mut workers, |(words, count), part| {
            let words = &mut words[..part.words()];
            words.fill(0);
            self.matching(part, words)?;
            clear(words, if part.start == first { ignored } else { 0 });
            *count += len_u32(bits::count(words));
            Ok(())
        })?;
        Ok(workers.iter().map(|(_, count)| count).sum())
    }

    /// How the query is evaluated, and what that is expected to cost; nothing is read for it.
    pub fn explain(&self) -> Explain {
        explain(&self.root, self.docs, 0, None)
    }

    /// As [`collect`](Self::collect), and what each part of the query did. Slower: everything is done by windows,
    /// counted, and measured. All but the times is the same for any number of threads.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn collect_explained<'d>(&self, docs: impl Into<Docs<'d>>) -> Result<(Bitset, Explain)> {
        let counting = || Run::counting(self.nodes);
        let fill = |docs, bits: &mut [u64], run: &mut Run| self.fill_windows(docs, bits, run);
        let (found, windows, runs) = self.evaluate(docs.into(), counting, fill)?;
        let counters = evaluate::counters(runs);
        Ok((found, explain(&self.root, self.docs, windows as u64, Some(&counters))))
    }

    /// The documents of `docs` that match, by `fill` if they are a range; the number of windows, and the runs of all threads.
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
                each(chunks, &mut runs, |run, (docs, bits)| fill(docs, bits, run))?;
                clear(&mut words[from..], ignored);
                (range, words, runs)
            }
            WholeWords::Some(mut words) => {
                let all = DocRange::new(0, self.docs);
                let chunks = chunks(all).zip(words.chunks_mut(CHUNK_WORDS));
                let mut runs = self.workers(&chunks, run);
                each(chunks, &mut runs, |run, (docs, bits)| self.narrow_windows(docs, bits, run))?;
                (all, words, runs)
            }
        };
        Ok((Bitset::from_words(words, self.docs), range.len().div_ceil(WINDOW as usize), runs))
    }

    /// What the threads have that work on these chunks, one at least.
    fn workers<S>(&self, chunks: &impl ExactSizeIterator, new: impl Fn() -> S) -> Vec<S> {
        (0..self.threads.min(chunks.len()).max(1)).map(|_| new()).collect()
    }

    /// The part that decides alone, as the others are known to be met by all documents, or by none.
    fn decisive(&self) -> &Node {
        let mut node = &self.root;
        while let NodeKind::And | NodeKind::Or = node.what {
            let is_and = matches!(node.what, NodeKind::And);
            let mut open = node.parts.iter().filter(|part| match part.what {
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

    /// The count that the directory knows.
    fn known_count(&self, docs: &Docs<'_>) -> Option<u32> {
        match &self.decisive().what {
            NodeKind::None => Some(0),
            NodeKind::All => Some(docs.count(self.docs)),
            NodeKind::Docs(set) if docs.is_all(self.docs) => Some(set.count()),
            NodeKind::Filter(leaf) if docs.is_all(self.docs) => u32::try_from(leaf.known_count()?).ok(),
            _ => None,
        }
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

    /// Documents as whole words.
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

    /// Words of bits for all documents.
    fn no_words(&self) -> Result<Vec<u64>> {
        Docs::Range(0, 0).try_words(self.docs, self.memory)
    }

    /// As [`explain`](Self::explain) after a run, of a query of which it is known that every document matches, or none.
    pub(crate) fn explain_known(&self) -> Explain {
        let windows = u64::from(self.docs.div_ceil(WINDOW));
        let asked = u64::from(self.docs);
        let mut profile = vec![Profile::default(); self.nodes];
        if let Some(root) = profile.get_mut(self.root.id) {
            *root = Profile {
                windows,
                asked,
                matched: if self.is_all() { asked } else { 0 },
                ..Profile::default()
            };
        }
        explain(&self.root, self.docs, windows, Some(&profile))
    }
}

/// Documents in the parts that threads take; the first begins where these do.
fn chunks(docs: DocRange) -> impl ExactSizeIterator<Item = DocRange> + Send {
    docs.chunks(CHUNK_DOCS as usize)
}

/// Documents that are asked about.
enum WholeWords {
    /// These, but for so many in front, which are there to begin with a whole word.
    Range(DocRange, u32),
    /// Those whose bits are set.
    Some(Vec<u64>),
}

/// Clears the first bits, which are fewer than a word's.
fn clear(words: &mut [u64], count: u32) {
    if let Some(first) = words.first_mut() {
        *first &= u64::MAX << count;
    }
}
