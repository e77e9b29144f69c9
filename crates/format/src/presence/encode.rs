//! Documents in, blocks out.

use std::ops::Range;

use super::Presence;
use super::bitmap::{BLOCK_WORDS, Words};
use super::header::{BlockEntry, Header, Kind};
use super::runs;
use crate::id::BLOCK_DOCS;

/// The kinds, the fastest to look something up in first: of those that take equally many bytes, the
/// first one is taken.
///
/// *Full* and *empty* touch no payload, *dense* one rank entry and a cache line of bitmap, *runs*
/// and *sparse* search; a list is last because its search is the longest for its bytes.
const FASTEST_FIRST: [Kind; 6] = [Kind::Full, Kind::Empty, Kind::Dense, Kind::Runs, Kind::Sparse, Kind::List];

/// Encodes which of `docs` documents have a value: those whose bit is set in `present`, where bit
/// *d* % 64 of word *d* / 64 is document *d*. Bits from `docs` on are ignored, words that are not
/// there are taken as zero.
///
/// The same documents give the same bytes, always. O(`docs` / 64 + values).
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

/// As [`encode`], from the documents themselves, which ascend; of a number that does not, or is not
/// below `docs`, nothing is said.
///
/// Takes no memory for documents without a value: for columns that few documents have.
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

/// Encodes the blocks of `docs` documents, of which `fill` sets the bits.
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

/// Blocks so far, and their jump table.
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
        // The payloads of all blocks that there can be end long before that is `None`.
        if let Some(entry) = BlockEntry::new(self.values, self.blocks.len(), header) {
            entry.encode(&mut self.jump);
        }
        header.encode_payload(words, docs, &mut self.blocks);
        self.values += header.values;
    }

    /// The presence of `docs` documents, those of all blocks.
    pub(super) fn finish(self, docs: u32, jump_tables: bool) -> Presence<Vec<u8>> {
        let Encoder { blocks, jump, values } = self;
        match values {
            0 => Presence::None,
            all if all == docs => Presence::All,
            values => Presence::Blocks { values, blocks, jump: jump_tables.then_some(jump) },
        }
    }
}

/// The cheapest header for `words`.
pub(super) fn plan(words: &Words, docs: u32) -> Header {
    let values = words.iter().map(|word| word.count_ones()).sum();
    let runs = u16::try_from(runs::count(words)).unwrap_or(u16::MAX);
    let candidate = |kind| Header { kind, runs: if kind == Kind::Runs { runs } else { 0 }, values };
    let legal = FASTEST_FIRST.map(candidate).into_iter().filter(|header| header.check(docs).is_ok());
    legal.min_by_key(|header| header.payload_len(docs)).unwrap_or(candidate(Kind::Empty))
}
