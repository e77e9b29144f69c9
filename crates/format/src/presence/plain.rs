//! Look-ups where nothing can go wrong but the bytes themselves.
//!
//! Once every byte of the blocks and of their jump table was checked, a look-up is a jump entry, then a
//! rank entry and a line, or a bucket. This is that and no more: few instructions, and no branch on
//! whether the document has a value. So the processor has the loads of many of them under way at once.
//! Whatever is not as it mostly is, [`Plain`] leaves to the careful way, which finds out whether that is
//! an error.

use super::chain::Blocks;
use super::header::{BlockEntry, Kind};
use super::simd::Kernel;
use super::{NO_VALUE, dense, sparse};
use crate::id::{BLOCK_DOCS, DocId};
use crate::jump::Jump;
use crate::source::SectionBytes;

/// Documents that are looked at together: if they lie in one block, it is looked up once.
const TOGETHER: usize = 32;

/// The blocks of a column and their jump table, all of their bytes good.
#[derive(Clone, Copy)]
pub(super) struct Plain<'a> {
    docs: u32,
    values: u32,
    table: &'a [[u8; BlockEntry::LEN]],
    bytes: &'a [u8],
}

/// A block, if its jump entry is right.
#[derive(Clone, Copy)]
struct Found<'a> {
    /// Its first document.
    begin: u32,
    docs: u32,
    /// Values before it.
    before: u32,
    values: u32,
    kind: u32,
    /// Its payload, and all that follows.
    payload: &'a [u8],
}

impl<'a> Plain<'a> {
    /// `None` unless the column is read by its baked table, and all of it was read before.
    #[inline]
    pub(super) fn of<B: SectionBytes>(
        chain: &'a Blocks<B>,
        jump: &'a Jump<B, BlockEntry>,
    ) -> Option<Plain<'a>> {
        let table = jump.in_use()?.verified()?.as_chunks().0;
        Some(Plain { docs: chain.docs, values: chain.values, table, bytes: chain.bytes.verified()? })
    }

    /// Ranks of `docs`, all of them or up to one that takes more care; returns how many are done.
    // No closures here and below: those would be compiled for any CPU, and not become part of the loop.
    #[inline(always)]
    pub(super) fn ranks(self, docs: &[DocId], out: &mut [u32], kernel: impl Kernel) -> usize {
        for (i, (docs, out)) in docs.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)).enumerate() {
            let good = match self.find(docs[0]) {
                Some(block) if block.has(docs) => block.ranks(docs, out, kernel),
                _ => self.scattered(docs, out, kernel),
            };
            if good.is_none() {
                return i * TOGETHER;
            }
        }
        docs.len()
    }

    #[inline(always)]
    fn scattered(self, docs: &[DocId], out: &mut [u32], kernel: impl Kernel) -> Option<()> {
        for (doc, out) in docs.iter().zip(out) {
            *out = self.find(*doc)?.rank(*doc, kernel)?;
        }
        Some(())
    }

    /// The block of `doc`.
    #[inline(always)]
    fn find(self, doc: DocId) -> Option<Found<'a>> {
        let number = doc.split().0;
        let begin = number * BLOCK_DOCS;
        if doc.get() >= self.docs {
            return None;
        }
        let (before, payload, values, kind) = BlockEntry::fields(self.table.get(number as usize)?);
        if u64::from(before) + u64::from(values) > self.values.into() {
            return None;
        }
        let docs = (self.docs - begin).min(BLOCK_DOCS);
        Some(Found { begin, docs, before, values, kind, payload: self.bytes.get(payload..)? })
    }
}

impl Found<'_> {
    /// Whether all of `docs` lie in the block.
    #[inline(always)]
    fn has(&self, docs: &[DocId]) -> bool {
        // A look at the last one mostly tells.
        if docs[docs.len() - 1].get().wrapping_sub(self.begin) >= self.docs {
            return false;
        }
        let mut all = true;
        for doc in docs {
            all &= doc.get().wrapping_sub(self.begin) < self.docs;
        }
        all
    }

    /// Ranks of `docs`, all of the block: one loop for each kind.
    #[inline(always)]
    fn ranks(&self, docs: &[DocId], out: &mut [u32], kernel: impl Kernel) -> Option<()> {
        match self.kind {
            DENSE => {
                for (doc, out) in docs.iter().zip(out) {
                    *out = self.index(dense::place(self.payload, self.docs, doc.split().1, kernel)?)?;
                }
            }
            SPARSE => {
                for (doc, out) in docs.iter().zip(out) {
                    *out = self.index(sparse::place(self.payload, self.docs, doc.split().1, kernel)?)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The rank of `doc`, one of the block's.
    #[inline(always)]
    fn rank(&self, doc: DocId, kernel: impl Kernel) -> Option<u32> {
        let low = doc.split().1;
        self.index(match self.kind {
            DENSE => dense::place(self.payload, self.docs, low, kernel)?,
            SPARSE => sparse::place(self.payload, self.docs, low, kernel)?,
            _ => return None,
        })
    }

    #[inline(always)]
    fn index(&self, (before, present): (u32, bool)) -> Option<u32> {
        if before + u32::from(present) > self.values {
            return None;
        }
        Some(if present { self.before + before } else { NO_VALUE })
    }
}

const DENSE: u32 = Kind::Dense as u32;
const SPARSE: u32 = Kind::Sparse as u32;
