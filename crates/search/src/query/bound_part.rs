//! A query bound to the columns of one part, and its evaluation by threads.

use std::sync::Arc;

use docvalues_column::{DocRange, Pruning, bits};

use super::Query;
use super::bind::Binder;
use super::evaluate::{self, Run, WINDOW, is_empty};
use super::explain::{Explain, Profile, explain};
use super::node::{Node, NodeKind};
use super::pattern::CompiledPatterns;
use crate::engine::threads::each;
use crate::engine::{Docs, Interrupt, PartSet, Search, len_u32};
use crate::{Bitset, Result};

/// The documents of a chunk, the unit of work of a thread: several whole windows.
const CHUNK_DOCS: u32 = 8 * WINDOW;

/// The words of bits for a chunk.
const CHUNK_WORDS: usize = CHUNK_DOCS as usize / 64;

/// A query that is bound to the columns of one part.
#[derive(Debug)]
pub(super) struct BoundPart {
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

/// Statistics of an evaluation.
#[derive(Default)]
pub(super) struct Evaluated {
    /// The pruning statistics of all conditions.
    pub(super) pruned: Pruning,
    windows: u64,
    /// A profile for each node, if requested.
    profiles: Option<Vec<Profile>>,
}

impl BoundPart {
    /// Opens the query's columns, looks up its terms, and decides what can match at all. `patterns` are shared by all
    /// parts.
    pub(super) fn new(
        search: &Search<'_>,
        part: usize,
        query: &Query,
        patterns: &CompiledPatterns,
    ) -> Result<BoundPart> {
        let (root, nodes) = Binder::new(search, part, patterns).bind(query)?;
        Ok(BoundPart {
            docs: search.parts[part].source.docs(),
            live: search.parts[part].live().cloned(),
            root,
            nodes,
            threads: search.threads,
            stop: search.stop.clone(),
            memory: search.docs_memory(),
        })
    }

    /// The number of documents that are not deleted.
    fn live_docs(&self) -> u32 {
        self.live.as_ref().map_or(self.docs, |live| live.count())
    }

    /// Whether it is known that no document matches, without reading values.
    pub(super) fn is_none(&self) -> bool {
        matches!(self.root.kind, NodeKind::None) || self.live.as_ref().is_some_and(|live| live.is_empty())
    }

    /// Whether it is known that every document matches, without reading values.
    pub(super) fn is_all(&self) -> bool {
        matches!(self.root.kind, NodeKind::All) && self.live.is_none()
    }

    /// Writes a bit for each document of `docs`, set if it matches, on the calling thread.
    pub(super) fn matching(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        let docs = docs.clip(self.docs);
        if docs.is_empty() { Ok(()) } else { self.fill(docs, bits, &mut Run::default()) }
    }

    /// Returns the documents of `docs` that match. A profile of each node, if `is_profiled`, makes this slower.
    pub(super) fn collect(&self, docs: Docs<'_>, is_profiled: bool) -> Result<(PartSet, Evaluated)> {
        if self.is_none() || self.is_all() && matches!(docs, Docs::All) {
            return Ok(self.known(docs, is_profiled));
        }
        if let (NodeKind::Docs(set), None, Docs::All, false) =
            (&self.decisive().kind, &self.live, docs, is_profiled)
        {
            self.stop.check()?;
            return Ok((PartSet::Some(set.clone()), Evaluated::default()));
        }
        let run = || if is_profiled { Run::counting(self.nodes) } else { Run::default() };
        let whole = self.whole_words(docs);
        let (range, ignored) = whole.unwrap_or((DocRange::new(0, self.docs), 0));
        // No candidates, or those of a list or a bitset.
        let candidates = if whole.is_some() { Docs::Range(0, 0) } else { docs };
        let mut words = candidates.try_words(self.docs, self.memory)?;
        if let (None, Some(live)) = (whole, &self.live) {
            words.iter_mut().zip(live.words()).for_each(|(word, live)| *word &= live);
        }
        let here = &mut words[(range.start / 64) as usize..];
        let chunks = range.chunks(CHUNK_DOCS as usize).zip(here.chunks_mut(CHUNK_WORDS));
        let mut runs = self.workers(&chunks, run);
        each(chunks, &mut runs, |run, (docs, bits)| match whole {
            Some(_) => self.fill(docs, bits, run),
            None => windows(docs, bits).try_for_each(|(window, bits)| {
                self.stop.check()?;
                if is_empty(bits) { Ok(()) } else { self.root.narrow(window, bits, run) }
            }),
        })?;
        clear(here, ignored);
        let (pruned, profiles) = evaluate::sum(runs);
        let windows = range.len().div_ceil(WINDOW as usize) as u64;
        let set = PartSet::Some(Bitset::from_words(words, self.docs).into());
        Ok((set, Evaluated { pruned, windows, profiles }))
    }

    /// As [`collect`](Self::collect), for a query that is known to match every document, or none.
    fn known(&self, docs: Docs<'_>, is_profiled: bool) -> (PartSet, Evaluated) {
        let candidates = match docs {
            Docs::All => u64::from(self.live_docs()),
            docs => u64::from(docs.count(self.docs)),
        };
        let windows = u64::from(self.docs.div_ceil(WINDOW));
        let (set, matched) =
            if self.is_all() { (PartSet::All(self.docs), candidates) } else { (PartSet::None, 0) };
        let profiles = is_profiled.then(|| {
            let mut profiles = vec![Profile::default(); self.nodes];
            profiles[self.root.id] = Profile { windows, candidates, matched, ..Profile::default() };
            profiles
        });
        (set, Evaluated { windows, profiles, ..Evaluated::default() })
    }

    /// Counts the documents of `docs` that match. Allocates no set if `docs` are a range or all documents.
    pub(super) fn count(&self, docs: Docs<'_>) -> Result<(u32, Pruning)> {
        let mut pruned = Pruning::default();
        if let Some(known) = self.known_count(&docs) {
            return Ok((known, pruned));
        }
        let Some((range, ignored)) = self.whole_words(docs) else {
            let (set, evaluated) = self.collect(docs, false)?;
            return Ok((set.count(), evaluated.pruned));
        };
        let found = self.root.candidates(DocRange::new(range.start + ignored, range.end), &mut pruned)?;
        if found.is_empty() {
            return Ok((0, pruned));
        }
        let first = range.start.max(found.start / WINDOW * WINDOW);
        let ignored = if first > range.start { 0 } else { ignored };
        let range = DocRange::new(first, found.end);
        let words = CHUNK_WORDS.min(range.words());
        let chunks = range.chunks(CHUNK_DOCS as usize);
        let mut workers = self.workers(&chunks, || (vec![0; words], 0, Run::default()));
        each(chunks, &mut workers, |(words, count, run), docs| {
            let words = &mut words[..docs.words()];
            words.fill(0);
            self.fill(docs, words, run)?;
            clear(words, if docs.start == first { ignored } else { 0 });
            *count += len_u32(bits::count(words));
            Ok(())
        })?;
        workers.iter().for_each(|(.., run)| pruned += run.pruned);
        Ok((workers.iter().map(|(_, count, _)| count).sum(), pruned))
    }

    /// The evaluation plan with expected costs; after an evaluation with its profile.
    pub(super) fn explain(&self, evaluated: Option<&Evaluated>) -> Explain {
        let windows = evaluated.map_or(0, |evaluated| evaluated.windows);
        let profiles = evaluated.and_then(|evaluated| evaluated.profiles.as_deref());
        explain(&self.root, self.live_docs(), windows, profiles)
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

    /// Sets the bits of the documents of `docs` that match. No bit is set before.
    fn fill(&self, docs: DocRange, bits: &mut [u64], run: &mut Run) -> Result<()> {
        // A profile has the candidates of each node.
        let is_profiled = run.counters.is_some();
        let node = if is_profiled { &self.root } else { self.decisive() };
        if let (NodeKind::Filter(leaf), None, false) =
            (&node.kind, &self.live, is_profiled || self.stop.is_possible())
        {
            return leaf.fill(docs, bits, &mut run.pruned);
        }
        for (window, bits) in windows(docs, bits) {
            self.stop.check()?;
            let Some(live) = &self.live else {
                node.fill(window, bits, run)?;
                continue;
            };
            let words = || &live.words()[window.start as usize / 64..][..window.words()];
            let is_whole = window.start.is_multiple_of(64) && !is_profiled;
            if is_whole && 2 * bits::count(words()) >= window.len() {
                // If most are live, those that match are found among all, and the deleted ones are left out.
                node.fill(window, bits, run)?;
                bits.iter_mut().zip(words()).for_each(|(bits, live)| *bits &= live);
            } else {
                live.add_to(window, bits);
                if !is_empty(bits) {
                    node.narrow(window, bits, run)?;
                }
            }
        }
        Ok(())
    }

    /// A range as whole words, with the number of leading documents that only align it to a word; `None` for lists
    /// and bits.
    fn whole_words(&self, docs: Docs<'_>) -> Option<(DocRange, u32)> {
        match docs {
            Docs::All => Some((DocRange::new(0, self.docs), 0)),
            Docs::Range(from, to) => {
                let to = to.min(self.docs);
                let from = from.min(to);
                Some((DocRange::new(from / 64 * 64, to), from % 64))
            }
            Docs::List(_) | Docs::Bits(_) => None,
        }
    }
}

/// Splits documents and their bits into windows; the first begins at the start of `docs`.
fn windows(docs: DocRange, bits: &mut [u64]) -> impl Iterator<Item = (DocRange, &mut [u64])> {
    docs.chunks(WINDOW as usize).zip(bits.chunks_mut(WINDOW as usize / 64))
}

/// Clears the first `count` bits of the first word.
fn clear(words: &mut [u64], count: u32) {
    if let Some(first) = words.first_mut() {
        *first &= u64::MAX << count;
    }
}
