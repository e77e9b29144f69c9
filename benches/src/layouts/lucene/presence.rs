//! Documents with a value: `IndexedDISI` of Lucene 7 and 8.
//!
//! A block for each 65,536 documents of which one has a value, then a last header, then the jump table:
//!
//! | bytes | field | meaning |
//! | ---: | --- | --- |
//! | 2 | number | the document's upper 16 bits; 32,767 in the last header |
//! | 2 | values | the documents with a value, minus one |
//! | 2 × values | sparse, up to 4,095 values | the lower 16 bits of each document |
//! | 256 | dense: rank table | values of the block before each 512 documents; Lucene 7 has none, and it is skipped |
//! | 8,192 | dense: bitmap | |
//! | | full, 65,536 values | nothing |
//!
//! An entry of the jump table has the values before the block of that number, or the next one, and its offset.

use std::fmt;

use super::super::Tables;

const BLOCK: usize = 65_536;
const WORDS: usize = BLOCK / 64;
const MOST_SPARSE: usize = 4_095;
const RANKS: usize = 256;
const LAST: u16 = 0x7FFF;
const HEADER: usize = 4;
/// Documents of a rank entry, as a power of two (`DEFAULT_DENSE_RANK_POWER`).
const RANK_POWER: usize = 9;
const RANK_WORDS: usize = (1 << RANK_POWER) / 64;

/// The documents of a column with a value.
#[derive(Clone)]
pub struct Presence {
    pub(super) bytes: Vec<u8>,
    /// The offset of the jump table.
    table: usize,
}

impl fmt::Debug for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Presence").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl Presence {
    /// Encodes a bitset of `docs` documents.
    pub fn encode(words: &[u64], docs: usize) -> Presence {
        let (mut bytes, mut entries, mut before) = (Vec::new(), Vec::new(), 0_u32);
        for (number, words) in words[..docs.div_ceil(64)].chunks(WORDS).enumerate() {
            entries.push((before, bytes.len() as u32));
            let values = words.iter().map(|word| word.count_ones()).sum::<u32>();
            if values > 0 {
                bytes.extend((number as u16).to_le_bytes());
                bytes.extend(((values - 1) as u16).to_le_bytes());
                encode_block(words, values as usize, &mut bytes);
                before += values;
            }
        }
        bytes.extend([LAST.to_le_bytes(), 0_u16.to_le_bytes()].concat());
        let table = bytes.len();
        bytes.extend(
            entries.iter().flat_map(|(before, at)| [before.to_le_bytes(), at.to_le_bytes()].concat()),
        );
        Presence { bytes, table }
    }

    /// The number of blocks.
    pub fn blocks(&self) -> u64 {
        let entry = |at: usize| self.u32(self.table + 8 * at);
        let blocks = (self.bytes.len() - self.table) / 8;
        let with_values = (0..blocks).filter(|&at| at + 1 == blocks || entry(at) < entry(at + 1));
        with_values.count() as u64
    }

    /// An iterator before the first document.
    pub fn iterator(&self, tables: Tables) -> PresenceIterator<'_> {
        PresenceIterator { presence: self, tables, at: Position::default(), ranks: [0; RANKS], headers: 0 }
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(*self.bytes[at..].first_chunk().expect("inside"))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(*self.bytes[at..].first_chunk().expect("inside"))
    }
}

fn encode_block(words: &[u64], values: usize, bytes: &mut Vec<u8>) {
    if values == BLOCK {
        return;
    }
    if values <= MOST_SPARSE {
        let docs = (0..words.len() * 64).filter(|doc| words[doc / 64] >> (doc % 64) & 1 == 1);
        bytes.extend(docs.flat_map(|doc| (doc as u16).to_le_bytes()));
        return;
    }
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let mut before = 0_u16;
    for at in 0..WORDS {
        if at % RANK_WORDS == 0 {
            bytes.extend(before.to_le_bytes());
        }
        before = before.wrapping_add(word(at).count_ones() as u16);
    }
    bytes.extend((0..WORDS).flat_map(|at| word(at).to_le_bytes()));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Sparse,
    Dense,
    All,
}

/// The state of an iterator, of which a new one has zeros.
#[derive(Clone, Copy, Debug)]
struct Position {
    doc: Option<u32>,
    /// The number of the block, or -1.
    block: i64,
    method: Method,
    payload: usize,
    /// The offset of the next block.
    end: usize,
    /// Values before the block, and up to its end.
    first: u32,
    next: u32,
    /// Sparse: the entries that were passed.
    passed: usize,
    exists: bool,
    /// Dense: the number of the last word, or -1, and the values up to its end.
    word: isize,
    ones: u32,
}

impl Default for Position {
    fn default() -> Position {
        Position {
            doc: None,
            block: -1,
            method: Method::All,
            payload: 0,
            end: 0,
            first: 0,
            next: 0,
            passed: 0,
            exists: false,
            word: -1,
            ones: 0,
        }
    }
}

/// An iterator over documents with a value.
#[derive(Clone, Debug)]
pub struct PresenceIterator<'p> {
    presence: &'p Presence,
    tables: Tables,
    at: Position,
    /// The rank table of a dense block, which Lucene 8 copies with its header.
    ranks: [u8; RANKS],
    headers: u64,
}

impl PresenceIterator<'_> {
    /// Moves to `doc`, and returns the index of its value if it has one.
    #[inline]
    pub fn advance_exact(&mut self, doc: u32) -> Option<u32> {
        if self.at.doc.is_some_and(|last| doc < last) {
            self.at = Position::default();
        }
        let block = i64::from(doc / BLOCK as u32);
        if self.at.block < block {
            self.advance_block(block);
        }
        let again = self.at.doc == Some(doc);
        self.at.doc = Some(doc);
        if self.at.block != block {
            return None;
        }
        let low = doc as usize % BLOCK;
        match self.at.method {
            Method::All => Some(self.at.first + low as u32),
            Method::Sparse if again => self.at.exists.then(|| self.at.first + self.at.passed as u32),
            Method::Sparse => self.advance_sparse(low),
            Method::Dense => self.advance_dense(low),
        }
    }

    /// The block headers that were read so far.
    pub fn headers(&self) -> u64 {
        self.headers
    }

    fn advance_block(&mut self, block: i64) {
        // A jump over one block reads as much as its header.
        if self.tables.jumps && block >= self.at.block + 2 {
            let entry = self.presence.table + 8 * block as usize;
            self.at.next = self.presence.u32(entry);
            self.at.end = self.presence.u32(entry + 4) as usize;
        }
        while self.at.block < block {
            self.read_header();
        }
    }

    fn read_header(&mut self) {
        let at = &mut self.at;
        self.headers += 1;
        let number = self.presence.u16(at.end);
        let values = usize::from(self.presence.u16(at.end + 2)) + 1;
        at.payload = at.end + HEADER;
        (at.block, at.first, at.next) = (i64::from(number), at.next, at.next + values as u32);
        if number == LAST {
            at.block = i64::MAX;
            return;
        }
        let len;
        (at.method, len) = match values {
            BLOCK => (Method::All, 0),
            ..=MOST_SPARSE => (Method::Sparse, 2 * values),
            _ => (Method::Dense, RANKS + 8 * WORDS),
        };
        at.end = at.payload + len;
        if self.tables.ranks && at.method == Method::Dense {
            self.ranks.copy_from_slice(&self.presence.bytes[at.payload..][..RANKS]);
        }
        (at.passed, at.exists, at.word, at.ones) = (0, false, -1, at.first);
    }

    /// A linear search from the last document, as in Lucene.
    fn advance_sparse(&mut self, low: usize) -> Option<u32> {
        let at = &mut self.at;
        let values = (at.next - at.first) as usize;
        while at.passed < values {
            let doc = usize::from(self.presence.u16(at.payload + 2 * at.passed));
            if doc >= low {
                at.exists = doc == low;
                return at.exists.then(|| at.first + at.passed as u32);
            }
            at.passed += 1;
        }
        at.exists = false;
        None
    }

    /// Counts the values of the words from the last one, or from the rank entry.
    fn advance_dense(&mut self, low: usize) -> Option<u32> {
        let at = &mut self.at;
        let target = low / 64;
        let bitmap = at.payload + RANKS;
        let word = |at: usize| {
            u64::from_le_bytes(*self.presence.bytes[bitmap + 8 * at..].first_chunk().expect("inside"))
        };
        if self.tables.ranks && target as isize - at.word >= RANK_WORDS as isize {
            let entry = low >> RANK_POWER;
            at.ones =
                at.first + u32::from(u16::from_le_bytes([self.ranks[2 * entry], self.ranks[2 * entry + 1]]));
            at.word = (entry * RANK_WORDS) as isize - 1;
        }
        for passed in (at.word + 1) as usize..=target {
            at.ones += word(passed).count_ones();
        }
        at.word = target as isize;
        let left = word(target) >> (low % 64);
        (left & 1 == 1).then(|| at.ones - left.count_ones())
    }
}
