//! The *dense* block: a bitmap, after a rank table.
//!
//! With *n* = documents in the block / 512, rounded up (128 in all blocks but the last):
//!
//! | offset | bytes | field | meaning |
//! | -----: | ----: | --- | --- |
//! | 0 | 2 × *n* | `ranks[i]`, u16 | values before document 512 × i |
//! | | 0, 2, 4 or 6 | zero | up to a multiple of 8; `ranks` end at byte 256 of a whole block |
//! | | 64 × *n* | `words[w]`, u64 | bit b: whether document 64 × w + b has a value |
//!
//! A whole block takes 8,448 bytes, whatever it holds. `rank` loads one entry of the [`rank_table`] and at most eight
//! words: three cache lines.
//!
//! # Drawing
//!
//! A last block of 1,000 documents, of which many have a value:
//!
//! ```text
//! ranks    00 00   6e 01   00 00 00 00        0, 366, and zeros up to a multiple of 8
//! words    db ed 76 bb dd 6e b7 db ...        documents   0 ..=  511: one cache line
//!          ...                                documents 512 ..= 1023: one cache line
//!
//! rank(600) = 366 + the set bits before bit 88 of the second line
//! ```
//!
//! A stride of 512 documents is a line of 64 bytes: a finer table would save no memory access, and a coarser one would
//! add some. It is the rank directory of Jacobson (1989) with one level, as in Lucene's `IndexedDISI` (LUCENE-8585).

use std::ops::Range;

use super::bitmap::{Words, cut};
use super::block::{Block, Probe};
use super::kernel::{LINE, count};
use super::rank_table;
use super::rank_table::{STRIDE, STRIDE_WORDS, entries};
use super::rank_verified::VerifiedBytes;
use super::visitor::Visitor;
use crate::cursor::Put;
use crate::error::Result;
use crate::id::BLOCK_DOCS;
use crate::source::SectionBytes;

const WORD: usize = size_of::<u64>();
const STRIDE_LEN: usize = STRIDE_WORDS * WORD;

/// Bytes of payload.
pub(super) const fn len(docs: u32) -> usize {
    rank_table::len(docs) + entries(docs) * STRIDE_LEN
}

const _: () = assert!(len(BLOCK_DOCS) == 8_448);

pub(super) fn encode(words: &Words, docs: u32, out: &mut Vec<u8>) {
    rank_table::encode(words, docs, out);
    for &word in &words[..entries(docs) * STRIDE_WORDS] {
        out.put_u64(word);
    }
}

#[inline]
pub(super) fn probe<B: SectionBytes>(block: &Block<'_, B>, low: u32) -> Result<Probe> {
    let stride = (low / STRIDE) as usize;
    let before = rank_table::before(block, stride)?;
    let line = block.array(rank_table::len(block.docs) + stride * LINE)?;
    let (here, present) = count(line, low % STRIDE);
    Ok(Probe { before: before + here, present })
}

pub(super) fn visit<B: SectionBytes>(
    block: &Block<'_, B>,
    lows: Range<u32>,
    first: u32,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let bitmap = rank_table::len(block.docs);
    let words = words(block.slice(bitmap..bitmap + lows.end.div_ceil(64) as usize * WORD)?);
    let [before, whole, after] = cut(&lows, 64);
    let part = |number: u32, visitor: &mut _| {
        let start = lows.start.max(number * 64);
        let inside = !0 >> (number * 64 + 64).saturating_sub(lows.end);
        match (u64::from_le_bytes(words[number as usize]) & inside) >> (start - number * 64) {
            0 => {}
            word => Visitor::word(visitor, first + start, word),
        }
    };
    before.for_each(|number| part(number, visitor));
    if !whole.is_empty() {
        visitor.words(first + whole.start * 64, &words[whole.start as usize..whole.end as usize]);
    }
    after.for_each(|number| part(number, visitor));
    Ok(())
}

/// Offsets in the payload of a whole block to prefetch for a look-up of document `low`: its rank entry, and its line
/// of bitmap.
#[inline(always)]
pub(super) fn prefetch_offsets(low: u16) -> [usize; 2] {
    let stride = usize::from(low) / STRIDE as usize;
    [rank_table::offset(stride), rank_table::len(BLOCK_DOCS) + stride * LINE]
}

/// Returns the number of values before document `low` of a block, and whether the document has one.
///
/// The payload begins at byte `at` of `bytes`, with `ranks` bytes of rank table. `None` if the bytes end too early.
#[inline(always)]
pub(super) fn probe_verified<'a>(
    bytes: impl VerifiedBytes<'a>,
    at: usize,
    ranks: usize,
    low: u16,
) -> Option<(u32, bool)> {
    let (stride, bit) = (usize::from(low) / STRIDE as usize, u32::from(low) % STRIDE);
    let line = bytes.array(at.wrapping_add(ranks + stride * LINE))?;
    let rank = rank_table::before_verified(bytes, at, stride)?;
    let (before, present) = count(line, bit);
    Some((rank + before, present))
}

/// The rank of document `low`, as [`probe_verified`] returns it; `Some(None)` if the document has no value.
///
/// Tests the document's bit first, and counts nothing for a document without a value.
#[inline(always)]
#[expect(clippy::option_option, reason = "whether that is known, and whether there is one")]
pub(super) fn rank_verified<'a>(
    bytes: impl VerifiedBytes<'a>,
    at: usize,
    ranks: usize,
    low: u16,
) -> Option<Option<u32>> {
    let (stride, bit) = (usize::from(low) / STRIDE as usize, u32::from(low) % STRIDE);
    let line: &[u8; LINE] = bytes.array(at.wrapping_add(ranks + stride * LINE))?;
    if u64::from_le_bytes(words(line)[bit as usize / 64]) >> (bit % 64) & 1 == 0 {
        return Some(None);
    }
    let rank = rank_table::before_verified(bytes, at, stride)?;
    Some(Some(rank + count(line, bit).0))
}

#[inline]
fn words(bytes: &[u8]) -> &[[u8; WORD]] {
    bytes.as_chunks().0
}
