//! Look-ups without the jump table, the rank tables, or both, as an iterator of Lucene 7: what each of them saves.

use docvalues::DocId;
use docvalues::format::id::ValueIndex;
use docvalues::format::jump::{Chain, Step};
use docvalues::format::numeric::{Numeric, NumericReader, Transform};
use docvalues::format::presence::{Block, Blocks, PresenceReader};
use docvalues::format::source::Owned;

use super::super::Tables;

/// A position in a chain of blocks, moved by their headers.
///
/// A block after the position is reached by the headers between, one before it from the first block.
#[derive(Debug)]
struct Walk<'c, C: Chain> {
    chain: &'c C,
    block: usize,
    step: Option<Step<C::Entry>>,
    headers: u64,
}

impl<'c, C: Chain> Walk<'c, C> {
    /// A position before the first block.
    fn new(chain: &'c C) -> Walk<'c, C> {
        Walk { chain, block: 0, step: None, headers: 0 }
    }

    /// Moves to `block`, and returns its entry. O(blocks between).
    #[inline]
    fn seek(&mut self, block: usize) -> C::Entry {
        match self.step {
            Some(step) if self.block == block => step.entry,
            _ => self.advance(block),
        }
    }

    fn advance(&mut self, block: usize) -> C::Entry {
        let mut step = match self.step.take().filter(|_| self.block < block) {
            Some(step) => step,
            None => {
                self.block = 0;
                self.headers += 1;
                self.chain.step(0, 0, 0).expect("just encoded")
            }
        };
        while self.block < block {
            step = self.chain.step(self.block + 1, step.next, step.values).expect("just encoded");
            self.block += 1;
            self.headers += 1;
        }
        self.step = Some(step);
        step.entry
    }
}

/// A cursor over numbers without their jump table.
#[derive(Debug)]
pub struct NumberWalk<'c> {
    reader: &'c NumericReader<Owned>,
    headers: Walk<'c, Numeric<Owned>>,
}

impl<'c> NumberWalk<'c> {
    /// A cursor before the first block.
    pub fn new(reader: &'c NumericReader<Owned>) -> NumberWalk<'c> {
        NumberWalk { reader, headers: Walk::new(reader.meta()) }
    }

    /// Value `index`.
    #[inline]
    pub fn get(&mut self, index: u64) -> i64 {
        let meta = self.reader.meta();
        if let Transform::Constant(value) = meta.transform {
            return value;
        }
        let header = self.headers.seek((index >> meta.block_shift) as usize);
        let at = index & ((1 << meta.block_shift) - 1);
        self.reader.value_in(&header, at as usize).expect("just encoded")
    }

    /// The block headers that were read so far.
    pub fn headers(&self) -> u64 {
        self.headers.headers
    }
}

/// A cursor over the documents with a value that uses the jump table and the rank tables only if told so.
///
/// Without rank tables, values of a dense block are counted from the last look-up's word, or from the first one for a
/// step back. The bucket starts of a sparse block are used always.
#[derive(Debug)]
pub struct PresenceWalk<'c> {
    reader: &'c PresenceReader<Owned>,
    /// Without the jump table.
    headers: Option<Walk<'c, Blocks<Owned>>>,
    /// Without rank tables.
    counted: Option<Counted<'c>>,
    use_ranks: bool,
}

/// The block of the last look-up: its number, and the values before it.
#[derive(Debug)]
struct Counted<'c> {
    number: u32,
    first: u32,
    block: Block<'c, Owned>,
    /// Those of a dense block.
    words: Option<&'c [[u8; 8]]>,
    /// The document of the last look-up, and the values before its word.
    low: u32,
    before: u32,
}

impl<'c> PresenceWalk<'c> {
    /// A cursor before the first block.
    pub fn new(reader: &'c PresenceReader<Owned>, tables: Tables) -> PresenceWalk<'c> {
        let walked = reader.chain().filter(|_| !tables.jumps);
        let headers = walked.map(|(chain, _)| Walk::new(chain));
        PresenceWalk { reader, headers, counted: None, use_ranks: tables.ranks }
    }

    /// The index of the value of `doc`, if it has one. There must be such a document.
    #[inline]
    pub fn rank(&mut self, doc: DocId) -> Option<ValueIndex> {
        let Some((chain, jump)) = self.reader.chain() else {
            return self.reader.rank(doc).expect("without blocks, nothing is read");
        };
        let (number, low) = doc.split();
        let mut find = || {
            let entry = match &mut self.headers {
                Some(headers) => headers.seek(number as usize),
                None => jump.locate(chain, number as usize).expect("just encoded"),
            };
            (entry.before, chain.block(number, &entry))
        };
        if self.use_ranks {
            let (first, block) = find();
            let probe = block.probe(low.into()).expect("just encoded");
            return probe.present.then(|| ValueIndex::new(first + probe.before));
        }
        let same = self.counted.as_mut().filter(|counted| counted.number == number);
        let counted = match same {
            Some(counted) => counted,
            None => {
                let (first, block) = find();
                let words = block.bitmap().expect("just encoded").map(|bytes| bytes.as_chunks().0);
                self.counted.insert(Counted { number, first, block, words, low: 0, before: 0 })
            }
        };
        counted.rank(low.into())
    }

    /// The block headers that were read so far; 0 with the jump table.
    pub fn headers(&self) -> u64 {
        self.headers.as_ref().map_or(0, |walk| walk.headers)
    }
}

impl Counted<'_> {
    fn rank(&mut self, low: u32) -> Option<ValueIndex> {
        let Some(words) = self.words else {
            let probe = self.block.probe(low).expect("just encoded");
            return probe.present.then(|| ValueIndex::new(self.first + probe.before));
        };
        if low < self.low {
            (self.low, self.before) = (0, 0);
        }
        let (from, word, bit) = ((self.low / 64) as usize, (low / 64) as usize, low % 64);
        let between = words[from..word].iter().map(|word| u64::from_le_bytes(*word).count_ones());
        self.before += between.sum::<u32>();
        self.low = low;
        let here = u64::from_le_bytes(words[word]);
        let below = (here & ((1 << bit) - 1)).count_ones();
        (here >> bit & 1 == 1).then(|| ValueIndex::new(self.first + self.before + below))
    }
}
