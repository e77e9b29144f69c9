//! Look-ups without the jump table, the rank tables, or both: what each of them saves.

use super::block::{Block, Probe};
use super::chain::Blocks;
use super::dense::CountedWord;
use super::header::Kind;
use super::{OpenBlocks, PresenceReader, locate};
use crate::error::Result;
use crate::id::{DocId, ValueIndex};
use crate::jump;
use crate::source::SectionBytes;

/// A cursor over the blocks of a [`PresenceReader`] that ignores its tables, as an iterator of Lucene 7: for
/// comparisons. It answers as [`PresenceReader::rank`].
///
/// Without jump table, a block is reached by the headers from the last look-up's, or from the first one for a step
/// back. Without rank tables, values of a dense block are counted from the last look-up's word, or from the first one
/// for a step back. The bucket starts of a sparse block are used always.
///
/// # Examples
///
/// ```
/// use docvalues_format::error::Error;
/// use docvalues_format::id::{DocId, ValueIndex};
/// use docvalues_format::jump::JumpTables;
/// use docvalues_format::presence::{PresenceReader, encode};
/// use docvalues_format::source::Owned;
///
/// let encoded = encode(100, &[1 << 2 | 1 << 3, 1 << 0], true);
/// let opened = encoded.try_map(&mut |section, bytes| Ok::<_, Error>(Owned::new(section, bytes)))?;
/// let presence = PresenceReader::open(opened, 100, JumpTables::Baked)?;
/// let mut walk = presence.walk(false, false);
/// assert_eq!(walk.rank(DocId::new(64))?, Some(ValueIndex::new(2)));
/// assert_eq!(walk.headers(), 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Walk<'r, B: SectionBytes> {
    reader: &'r PresenceReader<B>,
    /// Without the jump table.
    headers: Option<jump::Walk<'r, Blocks<B>>>,
    /// Without rank tables.
    counted: Option<Counted<'r, B>>,
    use_ranks: bool,
}

/// The block of the last look-up.
#[derive(Debug)]
struct Counted<'r, B> {
    number: u32,
    first: u32,
    block: Block<'r, B>,
    low: u32,
    word: CountedWord,
}

impl<B: SectionBytes> PresenceReader<B> {
    /// A cursor that uses the jump table and the rank tables only if told so.
    pub fn walk(&self, use_jumps: bool, use_ranks: bool) -> Walk<'_, B> {
        let walked = self.blocks.as_ref().filter(|_| !use_jumps);
        let headers = walked.map(|blocks| jump::Walk::new(&blocks.chain));
        Walk { reader: self, headers, counted: None, use_ranks }
    }
}

impl<'r, B: SectionBytes> Walk<'r, B> {
    /// Returns the index of `doc`'s value, or `None` if the document has no value or is past the end.
    ///
    /// # Errors
    ///
    /// As [`PresenceReader::rank`].
    #[inline]
    pub fn rank(&mut self, doc: DocId) -> Result<Option<ValueIndex>> {
        let Some(OpenBlocks { chain, jump }) = &self.reader.blocks else { return self.reader.rank(doc) };
        if doc.get() >= self.reader.docs {
            return Ok(None);
        }
        let (number, low) = doc.split();
        let found = |first: u32, probe: Probe| probe.present.then(|| ValueIndex::new(first + probe.before));
        let mut find = || match &mut self.headers {
            Some(headers) => {
                let entry = headers.seek(number as usize)?;
                Ok((entry.before, chain.block(number, &entry)))
            }
            None => locate(chain, jump, number),
        };
        if self.use_ranks {
            let (first, block) = find()?;
            return Ok(found(first, block.probe(low.into())?));
        }
        let same = self.counted.as_mut().filter(|counted| counted.number == number);
        let counted = match same {
            Some(counted) => counted,
            None => {
                let (first, block) = find()?;
                self.counted.insert(Counted { number, first, block, low: 0, word: CountedWord::default() })
            }
        };
        let probe = counted.probe(low.into())?;
        Ok(found(counted.first, probe))
    }

    /// The block headers that were read so far; 0 with the jump table.
    pub fn headers(&self) -> u64 {
        self.headers.as_ref().map_or(0, jump::Walk::headers)
    }
}

impl<B: SectionBytes> Counted<'_, B> {
    fn probe(&mut self, low: u32) -> Result<Probe> {
        if self.block.header.kind != Kind::Dense {
            return self.block.probe(low);
        }
        if low < self.low {
            self.word = CountedWord::default();
        }
        self.low = low;
        let probe = self.word.probe(&self.block, low)?;
        self.block.within(probe)
    }
}
