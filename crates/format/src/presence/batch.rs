//! Operations on many documents: lists and ranges.
//!
//! A block is located, and its payload fetched, once for all of its documents. Bitmaps are processed by the word, and
//! runs as a whole.

use std::ops::Range;

use super::rank_verified::{BatchKernel, VerifiedBlocks};
use super::simd;
use super::visitor::{Collect, Exists, Expand, Visitor};
use super::write_docs::ROOM;
use super::{NO_VALUE, OpenBlocks, PresenceReader, locate};
use crate::bits;
use crate::error::{ErrorKind, Result};
use crate::id::{BLOCK_DOCS, DocId, ValueIndex};
use crate::source::SectionBytes;

/// The value indices of many documents, from [`PresenceReader::indices`].
#[derive(Clone, Copy, Debug)]
pub struct Indices<'a> {
    /// The value index of each document; [`NO_VALUE`] for documents without a value.
    pub each: &'a [u32],
    /// Whether all documents have a value.
    pub all: bool,
}

impl<B: SectionBytes> PresenceReader<B> {
    /// As [`rank_many`](Self::rank_many) into `buffer`. If every document of the column has a value, returns `docs`
    /// themselves, without a copy.
    ///
    /// # Errors
    ///
    /// As [`rank`](Self::rank).
    ///
    /// # Panics
    ///
    /// When `buffer` is shorter than `docs`.
    pub fn indices<'a>(&self, docs: &'a [DocId], buffer: &'a mut [u32]) -> Result<Indices<'a>> {
        if let Some(each) = self.own_indices(docs) {
            return Ok(Indices { each, all: true });
        }
        let each = &mut buffer[..docs.len()];
        self.rank_many(docs, each)?;
        // Without an early exit, so that the loop is vectorized.
        Ok(Indices { each, all: each.iter().fold(true, |all, &index| all & (index != NO_VALUE)) })
    }

    /// `docs` as value indices, if every document of the column has a value and all of `docs` exist.
    #[inline]
    pub fn own_indices<'a>(&self, docs: &'a [DocId]) -> Option<&'a [u32]> {
        (self.is_all() && bits::all_below(docs, self.docs)).then(|| simd::numbers(docs))
    }

    /// Writes the [`rank`](Self::rank) of each of `docs`, in any order, to the same position of `out`;
    /// [`NO_VALUE`] for documents without a value.
    ///
    /// Ascending order is fastest: neighbours in one block locate it only once.
    ///
    /// # Errors
    ///
    /// As [`rank`](Self::rank). The contents of `out` are then unspecified.
    ///
    /// # Panics
    ///
    /// When `docs` and `out` differ in length.
    pub fn rank_many(&self, docs: &[DocId], out: &mut [u32]) -> Result<()> {
        assert_eq!(docs.len(), out.len(), "`out` has a place for each of `docs`");
        if self.blocks.is_some() {
            return simd::ranks(self, docs, out);
        }
        let rank = |doc: &DocId| if doc.get() < self.values { doc.get() } else { NO_VALUE };
        out.iter_mut().zip(docs).for_each(|(out, doc)| *out = rank(doc));
        Ok(())
    }

    /// [`rank_many`](Self::rank_many) in blocks, with the loops of `kernel`.
    // Always inlined: the caller compiles it, with its loops, for one CPU.
    #[inline(always)]
    pub(super) fn ranks(&self, docs: &[DocId], out: &mut [u32], kernel: impl BatchKernel) -> Result<()> {
        let Some(OpenBlocks { chain, jump }) = &self.blocks else { return Ok(()) };
        let (mut docs, mut out) = (docs, out);
        let blocks = VerifiedBlocks::of(chain, jump);
        loop {
            if let Some(blocks) = blocks {
                let done = blocks.ranks(docs, out, kernel);
                (docs, out) = (&docs[done..], &mut out[done..]);
            }
            let Some(head) = docs.first() else { return Ok(()) };
            // The general code, block by block.
            let number = head.split().0;
            let (begin, size) = (number * BLOCK_DOCS, chain.docs_in(number));
            let len = docs.iter().take_while(|doc| doc.get().wrapping_sub(begin) < size).count();
            let (these, places);
            (these, docs) = docs.split_at(len.max(1));
            (places, out) = out.split_at_mut(len.max(1));
            if len == 0 {
                // Past the last document.
                places.fill(NO_VALUE);
                continue;
            }
            let (first, block) = locate(chain, jump, number)?;
            block.rank_many(these, first, places)?;
        }
    }

    /// Writes the documents of the range that have a value to `out` from `end` on, ascending, and moves `end` after them.
    /// Returns the value index of the first; the next ones have the indices after it. Documents past the end have no
    /// value.
    ///
    /// The length of `out` is its space, which only grows. It need not be cleared for each range.
    ///
    /// # Errors
    ///
    /// As [`rank`](Self::rank). What `out` has from `end` on is then unspecified.
    pub fn collect(&self, docs: Range<u32>, out: &mut Vec<DocId>, end: &mut usize) -> Result<ValueIndex> {
        let (values, docs) = (self.values_in(docs.clone())?, self.clip(docs));
        let space = *end + values.len() + ROOM;
        if out.len() < space {
            out.resize(space, DocId::new(0));
        }
        let mut visitor = Collect::new(&mut out[*end..space]);
        self.visit(docs, &mut visitor)?;
        self.count(visitor.found() == values.len())?;
        *end += values.len();
        Ok(ValueIndex::new(values.start))
    }

    /// The value indices of the documents in the range.
    ///
    /// Two look-ups, however long the range is. Never more values than documents.
    ///
    /// # Errors
    ///
    /// As [`rank`](Self::rank).
    pub fn values_in(&self, docs: Range<u32>) -> Result<Range<u32>> {
        let docs = self.clip(docs);
        let start = self.before(docs.start)?;
        let end = if docs.is_empty() { start } else { self.before(docs.end)? };
        self.count(start <= end && end - start <= docs.end - docs.start)?;
        Ok(start..end)
    }

    /// Sets bit *i* of `bits` if document `docs.start` + *i* has a value; keeps the other bits.
    ///
    /// # Errors
    ///
    /// As [`rank`](Self::rank). The bits that were set are then unspecified.
    ///
    /// # Panics
    ///
    /// When `bits` has fewer bits than the range has documents.
    pub fn exists(&self, docs: Range<u32>, bits: &mut [u64]) -> Result<()> {
        let start = self.bitset(&docs, bits);
        self.visit(docs, &mut Exists { start, bits })
    }

    /// Maps a bitset of values to one of documents: sets bit *i* of `bits` if document `docs.start` + *i* has a value
    /// and the bit of that value is set; keeps the other bits. Bit *j* of `value_bits` belongs to the *j*-th index of
    /// [`values_in`](Self::values_in); missing bits count as zero.
    ///
    /// # Errors
    ///
    /// As [`rank`](Self::rank). The bits that were set are then unspecified.
    ///
    /// # Panics
    ///
    /// When `bits` has fewer bits than the range has documents.
    pub fn expand(&self, docs: Range<u32>, value_bits: &[u64], bits: &mut [u64]) -> Result<()> {
        let start = self.bitset(&docs, bits);
        let values = self.values_in(docs.clone())?;
        let mut visitor = Expand { start, bits, values: value_bits, at: 0 };
        self.visit(docs, &mut visitor)?;
        self.count(visitor.at == values.len())
    }

    /// Asserts that `bits` has a bit for each of `docs`, and returns the document of bit 0.
    fn bitset(&self, docs: &Range<u32>, bits: &[u64]) -> u32 {
        assert!(docs.len().div_ceil(64) <= bits.len(), "`bits` has a bit for each of `docs`");
        docs.start
    }

    /// The part of the range that lies in the segment.
    fn clip(&self, docs: Range<u32>) -> Range<u32> {
        let start = docs.start.min(self.docs);
        start..docs.end.clamp(start, self.docs)
    }

    /// Values of all documents before `doc`.
    fn before(&self, doc: u32) -> Result<u32> {
        match &self.blocks {
            Some(OpenBlocks { chain, jump }) if doc < self.docs => {
                let (number, low) = DocId::new(doc).split();
                let (first, block) = locate(chain, jump, number)?;
                // Windows of sparse columns begin and end with blocks.
                if low == 0 { Ok(first) } else { Ok(first + block.probe(low.into())?.before) }
            }
            Some(_) => Ok(self.values),
            None => Ok(doc.min(self.values)),
        }
    }

    /// Passes the documents of the range that have a value to `visitor`.
    fn visit(&self, docs: Range<u32>, visitor: &mut impl Visitor) -> Result<()> {
        let docs = self.clip(docs);
        if docs.is_empty() {
            return Ok(());
        }
        let Some(OpenBlocks { chain, jump }) = &self.blocks else {
            if self.is_all() {
                visitor.run(docs);
            }
            return Ok(());
        };
        let (head, last) = (docs.start / BLOCK_DOCS, (docs.end - 1) / BLOCK_DOCS);
        for number in head..=last {
            let first = number * BLOCK_DOCS;
            let lows = docs.start.saturating_sub(first)..(docs.end - first).min(BLOCK_DOCS);
            let (_, block) = locate(chain, jump, number)?;
            block.visit(lows, first, visitor)?;
        }
        Ok(())
    }

    /// The error of a number of documents that does not `agree` with headers and ranks.
    fn count(&self, agree: bool) -> Result<()> {
        let why = "the number of documents in presence blocks does not match their headers and ranks";
        self.place().check(0, ErrorKind::rule(agree, why))
    }
}
