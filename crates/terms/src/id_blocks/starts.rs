//! The offset of each block, and the number of keys before it.
//!
//! # Layout
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 1 | `offset_width` | bits of an offset |
//! | 1 | 1 | `rank_width` | bits of a rank |
//! | 2 | 6 | `zero` | 0 |
//! | 8 | … | `offsets` | the first byte of each block, and the end of the last, [packed](docvalues_format::bits) |
//! | … | … | `ranks` | the rank of the first key of each block, and the number of all keys, packed |

use std::convert::Infallible;

use docvalues_format::bits;
use docvalues_format::error::{ErrorKind, Result};
use docvalues_format::prefetch::prefetch;
use docvalues_format::source::SectionBytes;

use crate::id_block::MAX_KEYS;
use crate::search;

/// Bytes before the offsets.
const HEADER: usize = 8;

/// Encodes the starts of blocks. `offsets` and `ranks` have one more entry than there are blocks.
pub(crate) fn encode(offsets: &[u64], ranks: &[u64]) -> Vec<u8> {
    let width = |numbers: &[u64]| bits::width_of(numbers.last().copied().unwrap_or(0));
    let mut out = vec![width(offsets), width(ranks), 0, 0, 0, 0, 0, 0];
    bits::pack(offsets, out[0], &mut out);
    bits::pack(ranks, out[1], &mut out);
    out
}

/// The starts of blocks, on the heap and verified.
#[derive(Debug)]
pub(crate) struct Starts {
    bytes: Box<[u8]>,
    blocks: u32,
    offset_width: u8,
    rank_width: u8,
    ranks_at: usize,
}

impl Starts {
    /// Copies and verifies the starts of `blocks` blocks, at least one, that take `end` bytes and hold `keys` keys.
    ///
    /// O(blocks): about a nanosecond each.
    ///
    /// # Errors
    ///
    /// When they do not ascend, or their number is wrong.
    pub(crate) fn open<B: SectionBytes>(section: &B, blocks: u32, keys: u32, end: u64) -> Result<Starts> {
        let check = |checked| section.place().check(0, checked);
        let &[offset_width, rank_width, zeros @ ..] = section.array::<HEADER>(0)?;
        let are_widths = bits::is_width(offset_width) && bits::is_width(rank_width) && zeros == [0; 6];
        check(ErrorKind::rule(are_widths, "invalid bit widths in the id block starts"))?;
        let count = u64::from(blocks) + 1;
        let offsets_len = bits::packed_len(count, offset_width);
        let expected = HEADER as u64 + offsets_len + bits::packed_len(count, rank_width);
        check(ErrorKind::equal("length of the starts of id blocks", section.len() as u64, expected))?;
        // At most the section's length.
        let ranks_at = HEADER + usize::try_from(offsets_len).unwrap_or(usize::MAX);
        let bytes = section.slice(0..section.len() + bits::OVERREAD)?.into();
        let starts = Starts { bytes, blocks, offset_width, rank_width, ranks_at };
        let tile = starts.check(HEADER, offset_width, 1..=u64::MAX, end).is_some();
        check(ErrorKind::rule(tile, "id blocks do not tile their section"))?;
        let tile = starts.check(ranks_at, rank_width, 1..=MAX_KEYS as u64, keys.into()).is_some();
        check(ErrorKind::rule(tile, "ranks of id blocks do not tile those of the ids"))?;
        Ok(starts)
    }

    /// Whether the numbers ascend from 0 to `last`, each step within `steps`.
    fn check(&self, at: usize, width: u8, steps: std::ops::RangeInclusive<u64>, last: u64) -> Option<()> {
        const CHUNK: usize = 256;
        let (bytes, count) = (&self.bytes[at..], self.blocks as usize + 1);
        let mut buffer = [0; CHUNK];
        let mut before = bits::get(bytes, width, 0).filter(|&first| first == 0)?;
        for start in (1..count).step_by(CHUNK) {
            let numbers = &mut buffer[..CHUNK.min(count - start)];
            bits::unpack(bytes, width, start, numbers)?;
            let mut good = true;
            for &mut number in numbers {
                good &= steps.contains(&number.wrapping_sub(before));
                before = number;
            }
            good.then_some(())?;
        }
        (before == last).then_some(())
    }

    /// The number of blocks.
    pub(crate) fn len(&self) -> u32 {
        self.blocks
    }

    /// The offset of a block, or the end of the last.
    #[inline]
    pub(crate) fn offset(&self, block: u32) -> usize {
        // Checked at opening: an offset in the section.
        let offset = bits::get(&self.bytes[HEADER..], self.offset_width, block as usize);
        offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(usize::MAX)
    }

    /// The rank of the first key of a block, or the number of keys.
    #[inline]
    pub(crate) fn rank(&self, block: u32) -> u32 {
        let rank = bits::get(&self.bytes[self.ranks_at..], self.rank_width, block as usize);
        rank.and_then(|rank| u32::try_from(rank).ok()).unwrap_or(u32::MAX)
    }

    /// Prefetches the starts, if they are few.
    #[inline]
    pub(crate) fn prefetch(&self) {
        const MOST: usize = 320;
        for line in self.bytes.chunks(64).take(MOST / 64) {
            prefetch(line.as_ptr());
        }
    }

    /// Prefetches the start of one block.
    #[inline]
    pub(crate) fn prefetch_one(&self, block: u32) {
        for (at, width) in [(HEADER, self.offset_width), (self.ranks_at, self.rank_width)] {
            let byte = at + (u64::from(block) * u64::from(width) / 8) as usize;
            prefetch(self.bytes.as_ptr().wrapping_add(byte));
        }
    }

    /// The block that has `rank`, which must exist.
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer blocks than ids")]
    pub(crate) fn block_of(&self, rank: u32) -> u32 {
        let begins = |block: usize| Ok::<_, Infallible>(self.rank(block as u32) <= rank);
        let Ok(next) = search(1..self.blocks as usize, begins);
        next as u32 - 1
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.bytes.len()
    }
}
