//! Evaluation of a bound query over a window of documents.
//!
//! Every node has two operations. *Fill* sets the bits of all matching documents of the window; *narrow* clears the
//! bits of candidates that do not match. A conjunction fills by its first child and narrows by the others. To narrow
//! by a condition, the values of the candidates are read if these are few; else the condition fills a second window,
//! and the two are intersected.

use docvalues_column::{DocRange, Pruning, bits};

use super::column_comparison::CompareBuffers;
use super::condition_filter::Buffers;
use super::explain::Profile;
use super::node::{Node, NodeKind};
use crate::Result;
use crate::engine::Stopwatch;

/// Documents in a window: 8 KiB of bits, as many as a block of presence covers.
pub(super) const WINDOW: u32 = 1 << 16;

/// Sums the statistics of all threads: of pruning, and the profile of each node, if requested.
pub(super) fn sum(runs: Vec<Run>) -> (Pruning, Option<Vec<Profile>>) {
    let mut pruned = Pruning::default();
    let mut profiles: Option<Vec<Profile>> = None;
    for run in runs {
        pruned += run.pruned;
        match (&mut profiles, run.counters) {
            (Some(all), Some(counters)) => all.iter_mut().zip(counters).for_each(|(all, one)| *all += one),
            (all, counters) => *all = counters,
        }
    }
    (pruned, profiles)
}

/// The buffers and the profile of one thread. A new one allocates no memory.
#[derive(Default)]
pub(super) struct Run {
    spare: Vec<Vec<u64>>,
    buffers: Option<Buffers>,
    compare_buffers: Option<CompareBuffers>,
    /// The pruning statistics of all conditions.
    pub(super) pruned: Pruning,
    /// A profile for each node, if requested.
    pub(super) counters: Option<Vec<Profile>>,
}

impl Run {
    /// A run that records a profile of each node.
    pub(super) fn counting(nodes: usize) -> Run {
        Run { counters: Some(vec![Profile::default(); nodes]), ..Run::default() }
    }

    /// Returns cleared words.
    fn words(&mut self, words: usize) -> Vec<u64> {
        let mut spare = self.spare.pop().unwrap_or_default();
        spare.clear();
        spare.resize(words, 0);
        spare
    }

    /// Returns a copy of words.
    fn copy(&mut self, words: &[u64]) -> Vec<u64> {
        let mut spare = self.spare.pop().unwrap_or_default();
        spare.clear();
        spare.extend_from_slice(words);
        spare
    }

    fn counter(&mut self, node: &Node) -> Option<&mut Profile> {
        self.counters.as_mut()?.get_mut(node.id)
    }
}

impl Node {
    /// Sets the bits of the documents of the window `docs` that match.
    pub(super) fn fill(&self, docs: DocRange, bits: &mut [u64], run: &mut Run) -> Result<()> {
        if run.counters.is_none() {
            return self.fill_unseen(docs, bits, run);
        }
        let time = Stopwatch::start();
        let mut found = run.words(bits.len());
        self.fill_unseen(docs, &mut found, run)?;
        if let Some(counter) = run.counter(self) {
            counter.windows += 1;
            counter.candidates += docs.len() as u64;
            counter.matched += bits::count(&found) as u64;
            counter.time += time.elapsed();
        }
        zip(bits, &found, |bits, found| bits | found);
        run.spare.push(found);
        Ok(())
    }

    /// A range within `docs` outside of which no document matches, as far as is known. Adds the zones outside to `pruned`,
    /// but for those of a disjunction that leaves some documents.
    pub(super) fn candidates(&self, docs: DocRange, pruned: &mut Pruning) -> Result<DocRange> {
        match &self.kind {
            NodeKind::All | NodeKind::Not | NodeKind::Docs(_) | NodeKind::Compare(_) => Ok(docs),
            NodeKind::None => Ok(docs.clip(docs.start)),
            NodeKind::Filter(leaf) => leaf.candidates(docs, pruned),
            NodeKind::DocRanges(ranges) => {
                let all = ranges.first().zip(ranges.last());
                let (start, end) = all.map_or((0, 0), |(first, last)| (first.start, last.end));
                let found = DocRange::new(docs.start.max(start), docs.end.min(end));
                Ok(if found.is_empty() { docs.clip(docs.start) } else { found })
            }
            NodeKind::And => self.parts.iter().try_fold(docs, |docs, part| part.candidates(docs, pruned)),
            NodeKind::Or => {
                let (mut all, mut by_parts) = (DocRange::new(docs.end, docs.start), Pruning::default());
                for part in &self.parts {
                    let some = part.candidates(docs, &mut by_parts)?;
                    if !some.is_empty() {
                        all = DocRange::new(all.start.min(some.start), all.end.max(some.end));
                    }
                }
                if all.is_empty() {
                    *pruned += by_parts;
                }
                Ok(all)
            }
        }
    }

    fn fill_unseen(&self, docs: DocRange, bits: &mut [u64], run: &mut Run) -> Result<()> {
        match &self.kind {
            NodeKind::All => bits::set_range(bits, 0..docs.len()),
            NodeKind::None => {}
            NodeKind::Filter(leaf) => {
                let mut pruned = Pruning::default();
                leaf.fill(docs, bits, &mut pruned)?;
                run.pruned += pruned;
                if let Some(counter) = run.counter(self) {
                    counter.filter += pruned;
                }
            }
            NodeKind::Docs(set) => set.add_to(docs, bits),
            NodeKind::DocRanges(ranges) => add_ranges(ranges, docs, bits),
            NodeKind::Compare(_) => {
                let mut found = run.words(bits.len());
                bits::set_range(&mut found, 0..docs.len());
                self.narrow_unseen(docs, &mut found, run)?;
                zip(bits, &found, |bits, found| bits | found);
                run.spare.push(found);
            }
            NodeKind::Or => self.parts.iter().try_for_each(|part| part.fill(docs, bits, run))?,
            NodeKind::And => {
                let Some((first, others)) = self.parts.split_first() else { return Ok(()) };
                let mut found = run.words(bits.len());
                first.fill(docs, &mut found, run)?;
                narrow_by_all(others, docs, &mut found, run)?;
                zip(bits, &found, |bits, found| bits | found);
                run.spare.push(found);
            }
            NodeKind::Not => {
                let (mut found, mut all) = (run.words(bits.len()), run.words(bits.len()));
                bits::set_range(&mut all, 0..docs.len());
                self.parts.iter().try_for_each(|part| part.fill(docs, &mut found, run))?;
                zip(&mut all, &found, |all, found| all & !found);
                zip(bits, &all, |bits, others| bits | others);
                run.spare.extend([found, all]);
            }
        }
        Ok(())
    }

    /// Clears the bits of the candidates in the window `docs` that do not match.
    pub(super) fn narrow(&self, docs: DocRange, candidates: &mut [u64], run: &mut Run) -> Result<()> {
        if run.counters.is_none() {
            return self.narrow_unseen(docs, candidates, run);
        }
        let (time, before) = (Stopwatch::start(), bits::count(candidates) as u64);
        self.narrow_unseen(docs, candidates, run)?;
        if let Some(counter) = run.counter(self) {
            counter.windows += 1;
            counter.candidates += before;
            counter.matched += bits::count(candidates) as u64;
            counter.time += time.elapsed();
        }
        Ok(())
    }

    fn narrow_unseen(&self, docs: DocRange, candidates: &mut [u64], run: &mut Run) -> Result<()> {
        match &self.kind {
            NodeKind::All => {}
            NodeKind::None => candidates.fill(0),
            NodeKind::Filter(leaf) if bits::count(candidates).saturating_mul(leaf.few()) < docs.len() => {
                let read = leaf.check(docs.start, candidates, run.buffers.get_or_insert_default())?;
                if let Some(counter) = run.counter(self) {
                    counter.gathered += 1;
                    counter.filter.read += read;
                }
            }
            NodeKind::Filter(_) | NodeKind::Docs(_) | NodeKind::DocRanges(_) => {
                let mut found = run.words(candidates.len());
                self.fill_unseen(docs, &mut found, run)?;
                zip(candidates, &found, |candidates, found| candidates & found);
                run.spare.push(found);
            }
            NodeKind::Compare(pair) => {
                let read = pair.check(docs.start, candidates, run.compare_buffers.get_or_insert_default())?;
                if let Some(counter) = run.counter(self) {
                    counter.filter.read += read;
                }
            }
            NodeKind::And => narrow_by_all(&self.parts, docs, candidates, run)?,
            NodeKind::Or => {
                // Candidates that one child found are not checked by the next.
                let mut left = run.copy(candidates);
                for part in &self.parts {
                    if is_empty(&left) {
                        break;
                    }
                    let mut found = run.copy(&left);
                    part.narrow(docs, &mut found, run)?;
                    zip(&mut left, &found, |left, found| left & !found);
                    run.spare.push(found);
                }
                zip(candidates, &left, |candidates, left| candidates & !left);
                run.spare.push(left);
            }
            NodeKind::Not => {
                let mut found = run.copy(candidates);
                self.parts.iter().try_for_each(|part| part.narrow(docs, &mut found, run))?;
                zip(candidates, &found, |candidates, found| candidates & !found);
                run.spare.push(found);
            }
        }
        Ok(())
    }
}

/// Narrows by each of `parts` until no candidates are left.
fn narrow_by_all(parts: &[Node], docs: DocRange, candidates: &mut [u64], run: &mut Run) -> Result<()> {
    for part in parts {
        if is_empty(candidates) {
            break;
        }
        part.narrow(docs, candidates, run)?;
    }
    Ok(())
}

pub(super) fn is_empty(bits: &[u64]) -> bool {
    bits.iter().all(|&word| word == 0)
}

/// Combines each word of `bits` with that of `others`.
fn zip(bits: &mut [u64], others: &[u64], change: impl Fn(u64, u64) -> u64) {
    bits.iter_mut().zip(others).for_each(|(bits, &others)| *bits = change(*bits, others));
}

/// Sets the bits of the documents of ascending ranges that lie in `docs`.
fn add_ranges(ranges: &[DocRange], docs: DocRange, bits: &mut [u64]) {
    let first = ranges.partition_point(|range| range.end <= docs.start);
    for range in ranges[first..].iter().take_while(|range| range.start < docs.end) {
        let some = DocRange::new(range.start.max(docs.start), range.end.min(docs.end));
        let place = |doc: u32| (doc - docs.start) as usize;
        bits::set_range(bits, place(some.start)..place(some.end));
    }
}
