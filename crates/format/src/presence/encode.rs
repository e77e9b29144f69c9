//! The encoder of presence, which picks the layout of each block.

use std::ops::Range;

use super::Presence;
use super::bitmap::{BLOCK_WORDS, Words};
use super::header::{BlockEntry, Header, Kind};
use super::runs;
use crate::id::BLOCK_DOCS;

/// The kinds, those with the fastest look-up first. Of kinds with equally short payloads, the encoder takes the first.
///
/// *Full* and *empty* read no payload, *dense* reads one rank entry and a cache line of bitmap, *runs* and *sparse*
/// search. *List* is last: of payloads of one length, its search is the longest.
const FASTEST_FIRST: [Kind; 6] = [Kind::Full, Kind::Empty, Kind::Dense, Kind::Runs, Kind::Sparse, Kind::List];

/// Encodes the set of documents whose bit is set in `present`, among `docs` documents. Document *d* is bit *d* % 64 of
/// word *d* / 64. Bits from `docs` on are ignored, and missing words count as zero.
///
/// The output is deterministic. O(`docs` / 64 + values).
pub fn encode(docs: u32, present: &[u64], jump_tables: bool) -> Presence<Vec<u8>> {
    encode_blocks(docs, jump_tables, |block, words| {
        let present = present.get((block.start / 64) as usize..).unwrap_or_default();
        let there = present.len().min(block.len().div_ceil(64));
        words[..there].copy_from_slice(&present[..there]);
        if let Some(last) = words.get_mut(block.len() / 64) {
            *last &= (1 << (block.len() % 64)) - 1;
        }
    })
}

/// As [`encode`], from document numbers, which must ascend and be below `docs`; the result for others is unspecified.
///
/// Allocates nothing for documents without a value, so it suits columns that few documents have.
pub fn encode_docs(
    docs: u32,
    present: impl IntoIterator<Item = u32>,
    jump_tables: bool,
) -> Presence<Vec<u8>> {
    let mut present = present.into_iter().peekable();
    encode_blocks(docs, jump_tables, |block, words| {
        while let Some(doc) = present.next_if(|&doc| doc < block.end) {
            if let Some(low) = doc.checked_sub(block.start) {
                words[(low / 64) as usize] |= 1 << (low % 64);
            }
        }
    })
}

/// Encodes the blocks of `docs` documents. `fill` sets the bits of one block.
fn encode_blocks(
    docs: u32,
    jump_tables: bool,
    mut fill: impl FnMut(Range<u32>, &mut Words),
) -> Presence<Vec<u8>> {
    let mut encoder = Encoder::default();
    for start in (0..docs).step_by(BLOCK_DOCS as usize) {
        let (mut words, size) = ([0; BLOCK_WORDS], (docs - start).min(BLOCK_DOCS));
        fill(start..start + size, &mut words);
        encoder.push(&words, size);
    }
    encoder.finish(docs, jump_tables)
}

/// The blocks so far, and their jump table.
#[derive(Default)]
pub(super) struct Encoder {
    blocks: Vec<u8>,
    jump: Vec<u8>,
    values: u32,
}

impl Encoder {
    /// Appends the next block, of `docs` documents.
    pub(super) fn push(&mut self, words: &Words, docs: u32) {
        let header = plan(words, docs);
        header.encode(&mut self.blocks);
        // Never `None`: the payloads of the most blocks that a segment can have are addressable.
        if let Some(entry) = BlockEntry::new(self.values, self.blocks.len(), header) {
            entry.encode(&mut self.jump);
        }
        header.encode_payload(words, docs, &mut self.blocks);
        self.values += header.values;
    }

    /// The presence of all `docs` documents of the blocks.
    pub(super) fn finish(self, docs: u32, jump_tables: bool) -> Presence<Vec<u8>> {
        let Encoder { blocks, jump, values } = self;
        match values {
            0 => Presence::None,
            all if all == docs => Presence::All,
            values => Presence::Blocks { values, blocks, jump: jump_tables.then_some(jump) },
        }
    }
}

/// The header of the shortest block for `words`.
pub(super) fn plan(words: &Words, docs: u32) -> Header {
    let values = words.iter().map(|word| word.count_ones()).sum();
    let runs = u16::try_from(runs::count(words)).unwrap_or(u16::MAX);
    let candidate = |kind| Header { kind, runs: if kind == Kind::Runs { runs } else { 0 }, values };
    let legal = FASTEST_FIRST.map(candidate).into_iter().filter(|header| header.check(docs).is_ok());
    legal.min_by_key(|header| header.payload_len(docs)).unwrap_or(candidate(Kind::Empty))
}
