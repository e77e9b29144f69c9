//! Look-ups in dense blocks, [`TOGETHER`] at a time.
//!
//! | step | for each document |
//! | --- | --- |
//! | *find*, first loop: its jump entry | a load |
//! | *find*, second loop: offsets of rank entry and line, and bounds | arithmetic, which the compiler vectorizes |
//! | *count*: rank entry and bits of the line | by a [`Kernel`], for eight documents |
//!
//! All documents go through one step before the next one, so that the lines of all are prefetched before the first is
//! counted. If one of them is unusual, [`VerifiedBlocks`] looks up all.

use super::header::BlockEntry;
use super::kernel::{GROUP, Kernel, Places};
use super::rank_table::STRIDE;
use super::rank_verified::{DENSE, TOGETHER, VerifiedBlocks};
use super::{dense, rank_table};
use crate::id::{BLOCK_DOCS, DocId};
use crate::prefetch::prefetch;

/// The state of a batch of look-ups.
pub(super) struct DenseBatch<'a> {
    blocks: VerifiedBlocks<'a>,
    /// The jump entries, all of which are verified.
    entries: &'a [[u8; BlockEntry::LEN]],
    /// The largest valid offset of a payload, in a whole block and in the last one.
    most: [u32; 2],
    /// The block whose bytes were last found to be verified.
    verified: Option<u32>,
    /// Of each document: the values before its block, and the offsets of the payload, of the rank entry and of the line.
    before: [u32; TOGETHER],
    payload: [u32; TOGETHER],
    rank: [u32; TOGETHER],
    line: [u32; TOGETHER],
}

impl<'a> DenseBatch<'a> {
    /// `None` if not all of the jump table is verified, or the section is shorter than a block or not below 4 GiB.
    #[inline(always)]
    pub(super) fn new(blocks: VerifiedBlocks<'a>) -> Option<DenseBatch<'a>> {
        let entries = blocks.table.verified_range(0..blocks.blocks.checked_mul(BlockEntry::LEN)?)?;
        let len = u32::try_from(blocks.bytes.bytes.len()).ok()?;
        let most = |docs| len.checked_sub(u32::try_from(dense::len(docs)).ok()?);
        let last = blocks.docs.checked_sub(blocks.last.number.checked_mul(BLOCK_DOCS)?)?;
        Some(DenseBatch {
            blocks,
            entries: entries.as_chunks().0,
            most: [most(BLOCK_DOCS)?, most(last)?],
            verified: None,
            before: [0; TOGETHER],
            payload: [0; TOGETHER],
            rank: [0; TOGETHER],
            line: [0; TOGETHER],
        })
    }

    /// Writes the value indices of `docs`, at most [`TOGETHER`], in groups of eight, and stops at the first group that
    /// needs the general code. Returns the number of indices written.
    #[inline(always)]
    pub(super) fn ranks(&mut self, docs: &[DocId], out: &mut [u32], kernel: impl Kernel) -> usize {
        let groups = docs.as_chunks::<GROUP>().0;
        if !self.find(groups.as_flattened()) {
            return 0;
        }
        let VerifiedBlocks { bytes, values, .. } = self.blocks;
        let (before, rank) = (self.before.as_chunks().0, self.rank.as_chunks().0);
        let places = before.iter().zip(rank).zip(self.line.as_chunks().0);
        let mut done = 0;
        // No closures: they would not be inlined.
        for ((docs, out), ((before, rank), line)) in groups.iter().zip(out.as_chunks_mut().0).zip(places) {
            let places = Places { before, rank, line };
            if kernel.dense_ranks(bytes.bytes, places, docs, values, out).is_none() {
                break;
            }
            done += GROUP;
        }
        done
    }

    /// Computes the places to read for `docs`, at most [`TOGETHER`]; `false` if one of them is not in a dense block, or
    /// needs the general code.
    #[inline(always)]
    fn find(&mut self, docs: &[DocId]) -> bool {
        let VerifiedBlocks { docs: end, bytes, last, .. } = self.blocks;
        let docs = &docs[..docs.len().min(TOGETHER)];
        // All of one length, so that the second loop has no bounds checks.
        let (before, payload) = (&mut self.before[..docs.len()], &mut self.payload[..docs.len()]);
        let (rank, line) = (&mut self.rank[..docs.len()], &mut self.line[..docs.len()]);
        let mut are_usual = true;
        for (at, doc) in docs.iter().enumerate() {
            let Some(entry) = self.entries.get(doc.split().0 as usize) else { return false };
            let (values, offset, _, kind) = BlockEntry::fields(entry);
            before[at] = values;
            payload[at] = u32::try_from(offset).unwrap_or(u32::MAX);
            are_usual &= kind == DENSE;
        }
        let ([most, most_in_last], table_of_last) = (self.most, table_len(last.ranks(last.number)));
        for at in 0..docs.len() {
            let doc = docs[at].get();
            let is_last = doc / BLOCK_DOCS == last.number;
            let most = if is_last { most_in_last } else { most };
            let table = if is_last { table_of_last } else { TABLE };
            are_usual &= (doc < end) & (payload[at] <= most);
            let stride = doc % BLOCK_DOCS / STRIDE;
            rank[at] = payload[at].wrapping_add(stride * ENTRY);
            line[at] = payload[at].wrapping_add(table + stride * LINE);
        }
        for &line in &*line {
            prefetch(bytes.bytes.as_ptr().wrapping_add(line as usize));
        }
        are_usual && (bytes.granules.is_none() || self.are_verified(docs))
    }

    /// Whether all bytes of the blocks of `docs`, whose payloads were found, are verified.
    fn are_verified(&mut self, docs: &[DocId]) -> bool {
        let VerifiedBlocks { docs: end, bytes, last, .. } = self.blocks;
        for (doc, &payload) in docs.iter().zip(&self.payload) {
            let (block, start) = (doc.split().0, payload as usize);
            if self.verified == Some(block) {
                continue;
            }
            let size = if block == last.number { end - block * BLOCK_DOCS } else { BLOCK_DOCS };
            if bytes.verified_range(start..start + dense::len(size)).is_none() {
                return false;
            }
            self.verified = Some(block);
        }
        true
    }
}

/// Bytes of a rank entry, of a line of bitmap, and of the rank table of a whole block.
const ENTRY: u32 = u16::BITS / 8;
const LINE: u32 = STRIDE / 8;
const TABLE: u32 = table_len(rank_table::len(BLOCK_DOCS));

#[expect(clippy::cast_possible_truncation, reason = "256 bytes at most")]
const fn table_len(len: usize) -> u32 {
    len as u32
}
