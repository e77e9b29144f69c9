//! Look-ups where nothing can go wrong but the bytes themselves.
//!
//! Once every byte of the blocks and of their jump table was checked, a look-up is a jump entry, then a
//! rank entry and a line, or a bucket. This is that and no more: few instructions, and no branch on
//! whether the document has a value. So the processor has the loads of many of them under way at once.
//! Whatever is not as it mostly is, [`Plain`] leaves to the careful way, which finds out whether that is
//! an error.

use super::chain::Blocks;
use super::header::{BlockEntry, Kind};
use super::simd::LINE;
use super::{NO_VALUE, dense, sparse};
use crate::id::{BLOCK_DOCS, DocId};
use crate::jump::Jump;
use crate::source::SectionBytes;

/// Documents that are looked at together. If the first and the last one lie in the same block, so do most
/// of the others, and the block is looked up once.
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

    /// Ranks of `docs` up to the first one that takes more care; returns how many those are.
    #[inline(always)]
    pub(super) fn ranks(
        self,
        docs: &[DocId],
        out: &mut [u32],
        count: impl Fn(&[u8; LINE], u32) -> u32,
        search: impl Fn(&[u8], usize, u8) -> (u32, bool),
    ) -> usize {
        let mut done = 0;
        for (docs, out) in docs.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)) {
            let [first, last] = [docs[0], docs[docs.len() - 1]];
            let shared = if first.split().0 == last.split().0 { self.find(first) } else { None };
            for (&doc, out) in docs.iter().zip(out) {
                let found = match shared {
                    Some(block) if doc.get().wrapping_sub(block.begin) < block.docs => Some(block),
                    _ => self.find(doc),
                };
                match found.and_then(|block| block.rank(doc, &count, &search)) {
                    Some(rank) => *out = rank,
                    None => return done,
                }
                done += 1;
            }
        }
        done
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
    /// The rank of `doc`, one of the block's.
    #[inline(always)]
    fn rank(
        self,
        doc: DocId,
        count: &impl Fn(&[u8; LINE], u32) -> u32,
        search: &impl Fn(&[u8], usize, u8) -> (u32, bool),
    ) -> Option<u32> {
        const DENSE: u32 = Kind::Dense as u32;
        const SPARSE: u32 = Kind::Sparse as u32;
        let low = doc.split().1;
        let (before, present) = match self.kind {
            DENSE => dense::place(self.payload, self.docs, low, count)?,
            SPARSE => sparse::place(self.payload, self.docs, low, search)?,
            _ => return None,
        };
        if before + u32::from(present) > self.values {
            return None;
        }
        Some(if present { self.before + before } else { NO_VALUE })
    }
}
