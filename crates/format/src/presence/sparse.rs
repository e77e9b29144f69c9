//! The *sparse* block: a byte for each document with a value, in buckets of 256 documents.
//!
//! The high byte of a document's number in the block selects the bucket; only the low byte is stored. That takes half
//! the bytes of a list of `u16`, and a look-up searches one bucket instead of the whole block.
//!
//! With *n* = documents in the block / 256, rounded up (256 in all blocks but the last):
//!
//! | offset | bytes | field | meaning |
//! | -----: | ----: | --- | --- |
//! | 0 | 2 × (*n* + 1) | `starts[b]`, u16 | values before document 256 × b; the last: all values |
//! | | 0, 2, 4 or 6 | zero | up to a multiple of 8; `starts` end at byte 520 of a whole block |
//! | | `values` | `lows[i]`, u8 | the low bytes of the documents, ascending within each bucket |
//! | | 0 ..= 7 | zero | up to a multiple of 8 |
//!
//! `rank` loads two neighbouring starts and searches one bucket. A bucket has at most 256 bytes, and 31 on average in
//! the fullest block that is smaller than a bitmap. Every mode uses the starts, unlike the rank table of a dense block.
//!
//! # Drawing
//!
//! Documents 0, 97, 194, 291, 388, ... of a block, every 97th:
//!
//! ```text
//! bucket        0             1             2             ...   255           end
//! documents     0 ..= 255     256 ..= 511   512 ..= 767
//! starts, u16   0             3             6             ...   673           676
//! lows, u8      00 61 c2      23 84 e5      46 a7         ...
//!
//! rank(388): 388 = 256 * 1 + 0x84, so lows[3..6] = 23 84 e5 are searched: index 1, rank 3 + 1 = 4
//! ```
//!
//! Dividing by 256 is what Roaring bitmaps (Chambi et al., 2016) do one level higher: the high half of a number selects
//! a container, and only the low half is stored.

use std::ops::Range;

use super::bitmap::{Words, cut, ones, short, u16s};
use super::block::{Block, Probe};
use super::kernel::{BUCKET_HEAD, Kernel};
use super::rank_verified::VerifiedBytes;
use super::visitor::Visitor;
use super::write_docs::BUCKET;
use crate::cursor::Put;
use crate::error::Result;
use crate::id::BLOCK_DOCS;
use crate::source::{SectionBytes, TAIL};

/// The most documents with a value: the last start must fit its field.
pub(super) const MOST: u32 = u16::MAX as u32;

const START: usize = size_of::<u16>();

const fn buckets(docs: u32) -> usize {
    docs.div_ceil(BUCKET) as usize
}

/// Bytes of the starts, with padding.
pub(super) const fn starts_len(docs: u32) -> usize {
    ((buckets(docs) + 1) * START).next_multiple_of(8)
}

const _: () = assert!(starts_len(BLOCK_DOCS) == 520);

/// Bytes of payload, without padding at its end.
pub(super) const fn len(values: u32, docs: u32) -> usize {
    starts_len(docs) + values as usize
}

pub(super) fn encode(words: &Words, docs: u32, out: &mut Vec<u8>) {
    let (begin, mut before) = (out.len(), 0);
    for bucket in words.chunks((BUCKET / 64) as usize).take(buckets(docs)) {
        out.put_u16(short(before));
        before += bucket.iter().map(|word| word.count_ones()).sum::<u32>();
    }
    out.put_u16(short(before));
    out.resize(begin + starts_len(docs), 0);
    out.extend(ones(words).map(|low| short(low).to_le_bytes()[0]));
}

#[inline]
pub(super) fn probe<B: SectionBytes>(block: &Block<'_, B>, low: u32) -> Result<Probe> {
    let [low, high, ..] = low.to_le_bytes();
    let at = usize::from(high) * START;
    let [s0, s1, e0, e1] = *block.array(at)?;
    let (start, end) = (u16::from_le_bytes([s0, s1]), u16::from_le_bytes([e0, e1]));
    if start > end || u32::from(end) > block.header.values {
        return Err(disordered(block, at));
    }
    let lows = starts_len(block.docs);
    let bucket = block.slice(lows + usize::from(start)..lows + usize::from(end))?;
    let (below, present) = search(bucket, low);
    Ok(Probe { before: u32::from(start) + below, present })
}

/// Offsets in the payload of a whole block to prefetch for a look-up of document `low`: the starts of its bucket, and
/// an estimate of the bucket's position, as if the documents with a value were evenly spread.
#[inline(always)]
pub(super) fn prefetch_offsets(low: u16, values: u32) -> [usize; 2] {
    let bucket = usize::from(low.to_le_bytes()[1]);
    // A header is not checked yet: with 32 bits, its number of values may be too large.
    [bucket * START, starts_len(BLOCK_DOCS) + ((values as usize).wrapping_mul(bucket) >> 8)]
}

/// Returns the number of values before document `low` of a block, and whether the document has one.
///
/// The payload begins at byte `at` of `bytes`, with `starts` bytes of starts. `None` if the bytes end too early, or the
/// starts descend.
#[inline(always)]
pub(super) fn probe_verified<'a>(
    bytes: impl VerifiedBytes<'a>,
    at: usize,
    starts: usize,
    low: u16,
    kernel: impl Kernel,
) -> Option<(u32, bool)> {
    let [low, high] = low.to_le_bytes();
    let &[s0, s1, e0, e1] = bytes.array(at.wrapping_add(usize::from(high) * START))?;
    let (start, end) = (u16::from_le_bytes([s0, s1]), u16::from_le_bytes([e0, e1]));
    let (bucket, len) = (at.wrapping_add(starts + usize::from(start)), usize::from(end.checked_sub(start)?));
    let (below, present) = match len <= BUCKET_HEAD {
        true => kernel.search(bytes.array(bucket)?, len, low),
        false => search(bytes.part(bucket..bucket.wrapping_add(len))?, low),
    };
    Some((u32::from(start) + below, present))
}

/// The number of bytes of a bucket below `low`, and whether one is equal to it.
fn search(bucket: &[u8], low: u8) -> (u32, bool) {
    let place = bucket.binary_search(&low);
    let (Ok(at) | Err(at)) = place;
    #[expect(clippy::cast_possible_truncation, reason = "a bucket lies between two u16")]
    (at as u32, place.is_ok())
}

pub(super) fn visit<B: SectionBytes>(
    block: &Block<'_, B>,
    lows: Range<u32>,
    first: u32,
    visitor: &mut impl Visitor,
) -> Result<()> {
    if lows.is_empty() {
        return Ok(());
    }
    // Includes the section's tail, so that kernels can load whole vectors.
    let payload = block.slice(0..len(block.header.values, block.docs) + TAIL)?;
    let (starts, bytes) = payload.split_at(starts_len(block.docs));
    let starts = u16s(starts);
    let values = &bytes[..block.header.values as usize];
    let [before, whole, after] = cut(&lows, BUCKET);
    let visit = || {
        for bucket in before {
            part(bucket, &lows, first, starts, values, visitor)?;
        }
        if !whole.is_empty() {
            let starts = &starts[whole.start as usize..=whole.end as usize];
            visitor.buckets(first + whole.start * BUCKET, starts, bytes)?;
        }
        for bucket in after {
            part(bucket, &lows, first, starts, values, visitor)?;
        }
        Some(())
    };
    visit().ok_or_else(|| disordered(block, 0))
}

/// Passes the documents of `bucket` that are in `lows` to `visitor`.
fn part(
    bucket: u32,
    lows: &Range<u32>,
    first: u32,
    starts: &[[u8; START]],
    bytes: &[u8],
    visitor: &mut impl Visitor,
) -> Option<()> {
    let &[start, end] = starts.get(bucket as usize..)?.first_chunk()?;
    let places = u16::from_le_bytes(start).into()..u16::from_le_bytes(end).into();
    let mut least = lows.start;
    for low in bytes.get(places)?.iter().map(|&byte| bucket * BUCKET + u32::from(byte)) {
        if low >= lows.start && low < lows.end {
            if low < least {
                return None;
            }
            visitor.one(first + low);
            least = low + 1;
        }
    }
    Some(())
}

#[cold]
fn disordered<B: SectionBytes>(block: &Block<'_, B>, at: usize) -> crate::error::Error {
    block.broken(at, "the bucket starts of a sparse presence block do not ascend to its value count")
}
