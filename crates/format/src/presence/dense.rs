//! The *dense* block: a bitmap with a rank entry for each 512 documents.
//!
//! With *n* = documents in the block / 512, rounded up (128 in all blocks but the last):
//!
//! | offset | bytes | field | meaning |
//! | -----: | ----: | --- | --- |
//! | 0 | 2 × *n* | `ranks[i]`, u16 | values before document 512 × i |
//! | | 0, 2, 4 or 6 | zero | up to a multiple of 8; `ranks` end at byte 256 of a whole block |
//! | | 64 × *n* | `words[w]`, u64 | bit b: whether document 64 × w + b has a value |
//!
//! A whole block takes 8,448 bytes whatever it holds; the rank entries are 3 % of them. `rank` loads
//! one entry and at most eight words: three cache lines. Where rank entries are ignored it counts
//! from the block's start, up to 8 KiB.

use std::ops::Range;

use super::NO_VALUE;
use super::bitmap::{Words, cut, short, u16s};
use super::block::{Block, Probe};
use super::kernel::{LINE, count};
use super::rank_verified::VerifiedBytes;
use super::visitor::Visitor;
use crate::cursor::Put;
use crate::error::Result;
use crate::id::{BLOCK_DOCS, DocId};
use crate::source::SectionBytes;

/// Documents between two rank entries.
const STRIDE: u32 = 512;

const RANK: usize = size_of::<u16>();
const WORD: usize = size_of::<u64>();
const STRIDE_WORDS: usize = STRIDE as usize / 64;
const STRIDE_LEN: usize = STRIDE_WORDS * WORD;

const fn strides(docs: u32) -> usize {
    docs.div_ceil(STRIDE) as usize
}

/// Bytes that the rank entries take, padding included.
pub(super) const fn ranks_len(docs: u32) -> usize {
    (strides(docs) * RANK).next_multiple_of(8)
}

/// Bytes of payload.
pub(super) const fn len(docs: u32) -> usize {
    ranks_len(docs) + strides(docs) * STRIDE_LEN
}

const _: () = assert!(len(BLOCK_DOCS) == 8_448);

pub(super) fn encode(words: &Words, docs: u32, out: &mut Vec<u8>) {
    let (begin, mut before) = (out.len(), 0);
    for stride in words.chunks(STRIDE_WORDS).take(strides(docs)) {
        out.put_u16(short(before));
        before += stride.iter().map(|word| word.count_ones()).sum::<u32>();
    }
    out.resize(begin + ranks_len(docs), 0);
    for &word in &words[..strides(docs) * STRIDE_WORDS] {
        out.put_u64(word);
    }
}

#[inline]
pub(super) fn probe<B: SectionBytes>(block: &Block<'_, B>, low: u32) -> Result<Probe> {
    let stride = (low / STRIDE) as usize;
    let before = before_stride(block, stride)?;
    let bitmap = ranks_len(block.docs);
    let words = words(block.array::<STRIDE_LEN>(bitmap + stride * STRIDE_LEN)?);
    let (word, bit) = ((low % STRIDE / 64) as usize, low % 64);
    let here = u64::from_le_bytes(words[word]);
    let below = here & ((1 << bit) - 1);
    let before = before + ones(&words[..word]) + below.count_ones();
    Ok(Probe { before, present: here >> bit & 1 == 1 })
}

pub(super) fn select<B: SectionBytes>(block: &Block<'_, B>, value: u32) -> Result<u32> {
    let strides = strides(block.docs);
    let begin = match block.ranked {
        true => {
            let ranks = u16s(block.slice(0..strides * RANK)?);
            let above = ranks.partition_point(|rank| u32::from(u16::from_le_bytes(*rank)) <= value);
            above.saturating_sub(1)
        }
        false => 0,
    };
    let mut left = value.checked_sub(before_stride(block, begin)?);
    // With ranks, the value lies in this stride; without, anywhere behind it.
    let end = if block.ranked { begin + 1 } else { strides };
    let bitmap = ranks_len(block.docs);
    let bytes = block.slice(bitmap + begin * STRIDE_LEN..bitmap + end * STRIDE_LEN)?;
    for (at, word) in (0..).step_by(64).zip(words(bytes)) {
        let word = u64::from_le_bytes(*word);
        let Some(rest) = left else { break };
        if rest < word.count_ones() {
            #[expect(clippy::cast_possible_truncation, reason = "a block has 128 strides")]
            return Ok(begin as u32 * STRIDE + at + select_in(word, rest));
        }
        left = rest.checked_sub(word.count_ones());
    }
    Err(block.broken(begin * RANK, "a rank entry of a dense presence block does not match its bitmap"))
}

pub(super) fn visit<B: SectionBytes>(
    block: &Block<'_, B>,
    lows: Range<u32>,
    first: u32,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let bitmap = ranks_len(block.docs);
    let words = words(block.slice(bitmap..bitmap + lows.end.div_ceil(64) as usize * WORD)?);
    let [before, whole, behind] = cut(&lows, 64);
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
    behind.for_each(|number| part(number, visitor));
    Ok(())
}

/// Where in the payload of a whole block the rank entry of a document lies, and its line.
#[inline(always)]
pub(super) fn prefetch_offsets(low: u16) -> [usize; 2] {
    let stride = usize::from(low) / STRIDE as usize;
    [stride * RANK, ranks_len(BLOCK_DOCS) + stride * LINE]
}

/// How many documents of a block have a value before document `low`, and whether that has one itself.
/// The payload begins at byte `at` of `bytes`, with `ranks` bytes of rank entries; `None` if it ends too
/// early.
#[inline(always)]
pub(super) fn probe_verified<'a>(
    bytes: impl VerifiedBytes<'a>,
    at: usize,
    ranks: usize,
    low: u16,
) -> Option<(u32, bool)> {
    let (stride, bit) = (usize::from(low) / STRIDE as usize, u32::from(low) % STRIDE);
    let line = bytes.array(at.wrapping_add(ranks + stride * LINE))?;
    let rank = u16::from_le_bytes(*bytes.array(at.wrapping_add(stride * RANK))?);
    let (before, present) = count(line, bit);
    Some((u32::from(rank) + before, present))
}

/// The same, but of a document without a value nothing is counted.
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
    let rank = u16::from_le_bytes(*bytes.array(at.wrapping_add(stride * RANK))?);
    Some(Some(u32::from(rank) + count(line, bit).0))
}

/// Ranks of `docs` where rank entries are ignored: counted from the block's first word on, or from that
/// of the document before.
pub(super) fn count_many<B: SectionBytes>(
    block: &Block<'_, B>,
    docs: &[DocId],
    first: u32,
    out: &mut [u32],
) -> Result<()> {
    let words = words(block.slice(ranks_len(block.docs)..len(block.docs))?);
    let (mut at, mut before) = (0, 0);
    for (doc, out) in docs.iter().zip(out) {
        let low = u32::from(doc.split().1);
        let (word, bit) = ((low / 64) as usize, low % 64);
        if word < at {
            (at, before) = (0, 0);
        }
        before += ones(&words[at..word]);
        at = word;
        let here = u64::from_le_bytes(words[word]);
        let rank = before + (here & ((1 << bit) - 1)).count_ones();
        let present = here >> bit & 1 == 1;
        if present && rank >= block.header.values {
            return Err(block.broken(0, "a rank in a presence block exceeds its value count"));
        }
        *out = if present { first + rank } else { NO_VALUE };
    }
    Ok(())
}

/// Values before document 512 × `stride`: looked up, or counted where rank entries are ignored.
#[inline]
fn before_stride<B: SectionBytes>(block: &Block<'_, B>, stride: usize) -> Result<u32> {
    if block.ranked {
        return Ok(u16::from_le_bytes(*block.array(stride * RANK)?).into());
    }
    let bitmap = ranks_len(block.docs);
    Ok(ones(words(block.slice(bitmap..bitmap + stride * STRIDE_LEN)?)))
}

#[inline]
fn words(bytes: &[u8]) -> &[[u8; WORD]] {
    bytes.as_chunks().0
}

#[inline]
fn ones(words: &[[u8; WORD]]) -> u32 {
    words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum()
}

/// Where the bit of `word` stands that has `rank` set bits below it: by halves, six steps. `word`
/// has more than `rank` set bits.
fn select_in(mut word: u64, mut rank: u32) -> u32 {
    let mut at = 0;
    for half in [32, 16, 8, 4, 2, 1] {
        let ones = (word & ((1 << half) - 1)).count_ones();
        if rank >= ones {
            rank -= ones;
            word >>= half;
            at += half;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn select_in_a_word_undoes_counting() {
        for word in [1, u64::MAX, 1 << 63, 0x8000_0000_0000_0001, 0x0123_4567_89AB_CDEF, 0xFFFF_0000] {
            let set: Vec<u32> = (0..64).filter(|bit| word >> bit & 1 == 1).collect();
            let found: Vec<u32> = (0..word.count_ones()).map(|rank| select_in(word, rank)).collect();
            assert_eq!(found, set, "{word:#x}");
        }
    }
}
