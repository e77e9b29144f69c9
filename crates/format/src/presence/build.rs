//! Documents in, blocks out.

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
    let mut encoder = Encoder::default();
    let mut words = [0; BLOCK_WORDS];
    let mut left = docs;
    let mut chunks = present.chunks(BLOCK_WORDS);
    while left > 0 {
        let chunk = chunks.next().unwrap_or_default();
        words[..chunk.len()].copy_from_slice(chunk);
        words[chunk.len()..].fill(0);
        let size = left.min(BLOCK_DOCS);
        cut(&mut words, size);
        encoder.push(&words, size);
        left -= size;
    }
    encoder.finish(docs, jump_tables)
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
    let mut encoder = Encoder::default();
    let mut present = present.into_iter().peekable();
    let mut start = 0;
    while start < docs {
        let mut words = [0; BLOCK_WORDS];
        let size = (docs - start).min(BLOCK_DOCS);
        while let Some(doc) = present.next_if(|&doc| doc < start + size) {
            if let Some(low) = doc.checked_sub(start) {
                words[(low / 64) as usize] |= 1 << (low % 64);
            }
        }
        encoder.push(&words, size);
        start += size;
    }
    encoder.finish(docs, jump_tables)
}

/// Clears the bits from `docs` on.
fn cut(words: &mut Words, docs: u32) {
    let (word, bit) = ((docs / 64) as usize, docs % 64);
    if let Some(word) = words.get_mut(word) {
        *word &= (1 << bit) - 1;
    }
    words.iter_mut().skip(word + 1).for_each(|word| *word = 0);
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
