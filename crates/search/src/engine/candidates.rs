//! Candidates: the documents of a set that may still change the result of a collector.
//!
//! A collector that skips no documents is not asked for competitive ones. For any other, it depends on the share of the
//! documents that are in the set:
//!
//! | share | the collector |
//! | --- | --- |
//! | one document in 16 or more | computes the competitive documents of a block: a filter of its column |
//! | less | names the groups of 512 documents that its skip index cannot exclude |
//! | less than one document in 4,096, in a list | is not asked |
//!
//! This file knows one block, or one chunk of a list, at a time: no windows, threads or parts.

use docvalues_column::{DocId, DocRange, bits};
use docvalues_format::bits::retain::{DOCS_PER_GROUP, GroupBits, retain};

use super::collector::{Collector, Competitive};
use super::columns::PartColumns;
use super::docs::{docs_before, len_u32};
use crate::error::Result;

/// Documents in a block, the unit in which collectors report competitive documents.
pub(crate) const BLOCK: u32 = 1 << 16;

/// At least one document in this many must be in the set before a collector computes competitive documents for a
/// whole block.
const FILTER_ONE_IN: usize = 16;

/// At least one document in this many must be in a list before a collector consults skip indexes at all.
const SKIP_INDEX_ONE_IN: usize = 4_096;

/// At least one document in this many, from the first candidate to the last, must be one for columns to be read as if all
/// were.
const RUN_ONE_IN: usize = 2;

/// Words of a set that are counted at once, until it is known whether the set is sparse.
const COUNTED_WORDS: usize = 128;

/// The candidates of a block or a chunk.
pub(super) enum Candidates<'c> {
    /// All documents of a range.
    Run(DocRange),
    /// The documents of a list, ascending.
    List(&'c [DocId]),
    /// The documents of a range whose bits are set: at least half of it.
    MostOf(DocRange, &'c [u64]),
}

/// Buffers that candidates are written to, reused from block to block.
#[derive(Default)]
pub(super) struct CandidateBuffers {
    /// A bit for each document of a block: the competitive ones, then the candidates.
    block_bits: Vec<u64>,
    /// The candidates.
    listed: Vec<DocId>,
    /// The competitive documents of a block, in the set or not.
    competitive: Vec<DocId>,
}

impl CandidateBuffers {
    /// The candidates of a block whose documents are all in the set.
    pub(super) fn of_range(
        &mut self,
        columns: PartColumns<'_>,
        block: DocRange,
        collector: &mut dyn Collector,
    ) -> Result<Candidates<'_>> {
        Ok(match self.competitive_in(columns, block, collector)? {
            Competitive::All => Candidates::Run(block),
            Competitive::Bits => by_density(&mut self.listed, block, &self.block_bits),
        })
    }

    /// The candidates among the documents `set` of a block, a bit for each.
    pub(super) fn of_bits<'c>(
        &'c mut self,
        columns: PartColumns<'_>,
        block: DocRange,
        set: &'c [u64],
        collector: &mut dyn Collector,
    ) -> Result<Candidates<'c>> {
        // The first words tell of most sets that they are not sparse.
        let mut count = 0;
        for words in set.chunks(COUNTED_WORDS) {
            count += bits::count(words);
            if !is_sparse(count, block) {
                break;
            }
        }
        if count == 0 {
            return Ok(Candidates::List(&[]));
        }
        let candidates = if collector.may_skip() && is_sparse(count, block) {
            self.keep_groups_to_visit(columns, block, set, count, collector)?;
            self.block_bits.as_slice()
        } else {
            match self.competitive_in(columns, block, collector)? {
                Competitive::All => set,
                // Fewer than one in a word are looked up in the set.
                Competitive::Bits if bits::count(&self.block_bits) < set.len() => {
                    self.listed.clear();
                    bits::push_docs(&self.block_bits, block.start, &mut self.listed);
                    self.listed.retain(|doc| bits::get(set, block.place(*doc)));
                    return Ok(Candidates::List(&self.listed));
                }
                Competitive::Bits => {
                    self.block_bits.iter_mut().zip(set).for_each(|(bits, set)| *bits &= set);
                    self.block_bits.as_slice()
                }
            }
        };
        Ok(by_density(&mut self.listed, block, candidates))
    }

    /// The candidates among the documents `set` of a block.
    pub(super) fn of_list_in_block<'c>(
        &'c mut self,
        columns: PartColumns<'_>,
        block: DocRange,
        set: &'c [DocId],
        collector: &mut dyn Collector,
    ) -> Result<Candidates<'c>> {
        if self.competitive_in(columns, block, collector)? == Competitive::All {
            return Ok(Candidates::List(set));
        }
        self.keep_competitive(set, block.start);
        Ok(Candidates::List(&self.listed))
    }

    /// The candidates among the documents `set` of a chunk: those that skip indexes cannot exclude.
    pub(super) fn of_list_in_chunk<'c>(
        &'c mut self,
        columns: PartColumns<'_>,
        chunk: DocRange,
        set: &'c [DocId],
        collector: &mut dyn Collector,
    ) -> Result<Candidates<'c>> {
        if !collector.may_skip() || set.len() < chunk.len() / SKIP_INDEX_ONE_IN {
            return Ok(Candidates::List(set));
        }
        let mut groups = GroupBits::default();
        collector.groups_to_visit(columns, chunk, needs_fine_zones(set.len(), chunk), &mut groups)?;
        self.listed.clear();
        if groups.iter().any(|word| *word != 0) {
            retain(set, &groups, &mut self.listed);
        }
        Ok(Candidates::List(&self.listed))
    }

    /// Sets `block_bits` to the competitive documents of a block, unless all are.
    fn competitive_in(
        &mut self,
        columns: PartColumns<'_>,
        block: DocRange,
        collector: &mut dyn Collector,
    ) -> Result<Competitive> {
        if !collector.may_skip() {
            return Ok(Competitive::All);
        }
        self.block_bits.clear();
        self.block_bits.resize(block.words(), 0);
        let competitive = collector.competitive_docs(columns, block, &mut self.block_bits)?;
        // Adding all documents without a value sets bits past the end of the block, too.
        if let Some(last) = self.block_bits.last_mut()
            && !block.len().is_multiple_of(64)
        {
            *last &= (1 << (block.len() % 64)) - 1;
        }
        Ok(competitive)
    }

    /// Sets `block_bits` to those of the `count` documents `set` of a block that skip indexes cannot exclude.
    fn keep_groups_to_visit(
        &mut self,
        columns: PartColumns<'_>,
        block: DocRange,
        set: &[u64],
        count: usize,
        collector: &mut dyn Collector,
    ) -> Result<()> {
        const WORDS: usize = DOCS_PER_GROUP as usize / 64;
        let mut groups = [0; (BLOCK / DOCS_PER_GROUP) as usize / 64];
        collector.groups_to_visit(columns, block, needs_fine_zones(count, block), &mut groups)?;
        self.block_bits.clear();
        self.block_bits.resize(set.len(), 0);
        for group in bits::ones(&groups) {
            // The last block may be shorter.
            let here = group * WORDS..set.len().min((group + 1) * WORDS);
            if let Some((to, from)) = self.block_bits.get_mut(here.clone()).zip(set.get(here)) {
                to.copy_from_slice(from);
            }
        }
        Ok(())
    }

    /// Lists the documents of `set` whose bits are set in `block_bits`; bit 0 stands for `start`.
    fn keep_competitive(&mut self, set: &[DocId], start: u32) {
        self.listed.clear();
        if bits::count(&self.block_bits) < set.len() / FILTER_ONE_IN {
            self.competitive.clear();
            bits::push_docs(&self.block_bits, start, &mut self.competitive);
            let mut left = set;
            for doc in &self.competitive {
                left = &left[docs_before(left, doc.get())..];
                self.listed.extend(left.first().filter(|first| *first == doc));
            }
        } else {
            let is_competitive =
                |doc: &&DocId| bits::get(&self.block_bits, doc.get().wrapping_sub(start) as usize);
            self.listed.extend(set.iter().filter(is_competitive));
        }
    }
}

/// The documents of a block whose bits are set.
fn by_density<'c>(listed: &'c mut Vec<DocId>, block: DocRange, set: &'c [u64]) -> Candidates<'c> {
    let (count, is_set) = (bits::count(set), |word: &u64| *word != 0);
    // To list a few documents takes less time than to find the first and the last one.
    if !is_sparse(count, block)
        && let Some((first, last)) = set.iter().position(is_set).zip(set.iter().rposition(is_set))
    {
        let doc = |at: usize| block.start.saturating_add(len_u32(at)).min(block.end);
        let start = 64 * first + set[first].trailing_zeros() as usize;
        let end = 64 * (last + 1) - set[last].leading_zeros() as usize;
        if count == end - start {
            return Candidates::Run(DocRange::new(doc(start), doc(end)));
        }
        let words = DocRange::new(doc(64 * first), doc(64 * (last + 1)));
        if count * RUN_ONE_IN >= words.len() {
            return Candidates::MostOf(words, &set[first..=last]);
        }
    }
    listed.clear();
    bits::push_docs(set, block.start, listed);
    Candidates::List(listed)
}

/// Whether `count` of these documents are too few to filter all of them: collecting each of the few is cheaper.
pub(super) fn is_sparse(count: usize, docs: DocRange) -> bool {
    count < docs.len() / FILTER_ONE_IN
}

/// Whether a group has more than one of `count` of these documents on average, so that a look-up of fine zones pays.
fn needs_fine_zones(count: usize, docs: DocRange) -> bool {
    count > docs.len() / DOCS_PER_GROUP as usize
}
