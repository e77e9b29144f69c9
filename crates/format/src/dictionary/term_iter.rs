//! Iteration over terms in order, each built from the one before.

use std::ops::Range;

use super::DictionaryReader;
use super::block::{BLOCK_TERMS, BlockHeader};
use crate::error::{ErrorKind, Result};
use crate::id::TermOrd;
use crate::source::SectionBytes;

/// An iterator over the terms of a range of ords, for merges, which read several dictionaries side by side.
/// [`DictionaryReader::for_each`] is simpler for a single dictionary.
///
/// It is not an [`Iterator`], because each term borrows the memory in which the next one is built.
///
/// ```
/// # use docvalues_format::{dictionary::{self, DictionaryReader}, jump::JumpTables, source::Owned};
/// # let made = dictionary::encode([b"wren".as_slice(), b"yew"], true)?;
/// # let opened = made.try_map(&mut |s, bytes| Ok::<_, std::convert::Infallible>(Owned::new(s, bytes)))?;
/// # let dictionary = DictionaryReader::open(opened, JumpTables::Baked)?;
/// let mut terms = dictionary.terms(0..dictionary.len())?;
/// while let Some((ord, term)) = terms.next()? {
///     println!("{ord}: {}", String::from_utf8_lossy(term));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TermIter<'a, B: SectionBytes> {
    dictionary: &'a DictionaryReader<B>,
    /// The remaining ords.
    ords: Range<u32>,
    block: Option<OpenBlock<'a>>,
    /// The last term.
    term: Vec<u8>,
}

/// The block of the last term.
#[derive(Debug)]
struct OpenBlock<'a> {
    header: BlockHeader<'a>,
    /// All of its bytes.
    bytes: &'a [u8],
    /// Start of the next term's own bytes.
    start: usize,
    /// Number of bytes that the last term shares with the head.
    kept: usize,
}

impl<B: SectionBytes> DictionaryReader<B> {
    /// The terms of `ords`, in order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] if `ords` ends past the last term.
    pub fn terms(&self, ords: Range<u32>) -> Result<TermIter<'_, B>> {
        if ords.end > self.len() {
            return Err(self.no_such_ord("end of a range of ords", ords.end, self.len()));
        }
        Ok(TermIter { dictionary: self, ords, block: None, term: Vec::new() })
    }
}

impl<'a, B: SectionBytes> TermIter<'a, B> {
    /// The next term and its ord; `None` after the last.
    ///
    /// # Errors
    ///
    /// When bytes cannot be read or are damaged. The iterator then ends.
    ///
    /// # Complexity
    ///
    /// O(bytes that the term does not share with its block's first).
    #[expect(clippy::should_implement_trait, reason = "an Iterator cannot lend what it owns")]
    pub fn next(&mut self) -> Result<Option<(TermOrd, &[u8])>> {
        let Some(ord) = self.ords.next() else {
            return Ok(None);
        };
        if let Err(error) = self.step(ord) {
            self.ords.start = self.ords.end;
            return Err(error);
        }
        Ok(Some((TermOrd::new(ord), &self.term)))
    }

    /// Turns the last term into that of `ord`.
    fn step(&mut self, ord: u32) -> Result<()> {
        let i = (ord % BLOCK_TERMS) as usize;
        let block = match &mut self.block {
            Some(block) if i > 0 => block,
            block => {
                let opened = OpenBlock::open(self.dictionary, ord, &mut self.term)?;
                block.insert(opened)
            }
        };
        block.step(self.dictionary, i, &mut self.term)
    }
}

impl<'a> OpenBlock<'a> {
    /// Opens the block of `ord`, and sets `term` to the head from which that term is built.
    fn open<B: SectionBytes>(
        dictionary: &'a DictionaryReader<B>,
        ord: u32,
        term: &mut Vec<u8>,
    ) -> Result<OpenBlock<'a>> {
        let (section, header) = dictionary.header(ord / BLOCK_TERMS)?;
        let bytes = section.slice(header.block())?;
        let (_, head) = dictionary.parts(section, &header, 0)?;
        let i = (ord % BLOCK_TERMS) as usize;
        term.clear();
        if i > 0 {
            term.extend_from_slice(head);
        }
        Ok(OpenBlock { start: header.start(i), kept: head.len(), header, bytes })
    }

    /// Turns `term`, which shares `kept` bytes with the head, into term `i` of the block.
    fn step<B: SectionBytes>(
        &mut self,
        dictionary: &DictionaryReader<B>,
        i: usize,
        term: &mut Vec<u8>,
    ) -> Result<()> {
        let (shared, end) = (self.header.shared(i), self.header.end(i, self.start)?);
        if shared > self.kept {
            let rule = "a term shares more bytes with its block's first term than the term before it";
            return Err(self.header.refuse(ErrorKind::Broken(rule)));
        }
        let own = &self.bytes[self.start..end];
        dictionary.check_len(&self.header, shared + own.len())?;
        term.truncate(shared);
        term.extend_from_slice(own);
        self.start = end;
        // The head's `shared` is 0, but all of its bytes may be shared.
        if i > 0 {
            self.kept = shared;
        }
        Ok(())
    }
}
