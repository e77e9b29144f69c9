//! The bitmap of a dense block, and its ranks: values before each stride of documents.

use std::ops::Range;

use super::{Block, Blocks, POWER, Probe, Tables, WORDS};
use crate::order::Order;

/// Words of the bits of a rank.
const RANK_WORDS: usize = 1 << (POWER - 6);

/// The bitmap of a dense block, found once for all documents of a batch that are in the block.
pub(super) struct Bitmap<'a> {
    words: &'a [[u8; 8]; WORDS],
    ranks: BlockRanks<'a>,
    /// Documents of a rank, as a power of two.
    power: u32,
    /// The values of the block.
    values: u32,
}

enum BlockRanks<'a> {
    /// In the file: the most significant byte first, in every release.
    Baked(&'a [[u8; 2]]),
    Built(&'a [u16]),
    None,
}

impl Blocks {
    /// The bitmap of a dense block; `None` only in damaged bytes.
    #[inline(always)]
    pub(super) fn bitmap<'a>(&'a self, bytes: &'a [u8], block: Block) -> Option<Bitmap<'a>> {
        let words = bytes.get(block.start..)?.as_chunks::<8>().0.first_chunk()?;
        let (ranks, power) = match (&self.tables, self.power) {
            (Tables::Baked(..), Some(power)) => {
                let start = block.start.checked_sub(self.rank_bytes())?;
                (BlockRanks::Baked(bytes.get(start..block.start)?.as_chunks().0), power)
            }
            (Tables::Built(table), _) => (BlockRanks::Built(table.get()?.ranks.get(block.ranks..)?), POWER),
            // One for all documents.
            _ => (BlockRanks::None, u16::BITS),
        };
        Some(Bitmap { words, ranks, power, values: block.values })
    }
}

impl Bitmap<'_> {
    /// Whether the block has its document `low`, and how many before it. `None` only in damaged bytes.
    #[inline(always)]
    pub(super) fn probe(&self, order: Order, low: u16) -> Option<Probe> {
        let (low, stride) = (u32::from(low), u32::from(low) >> self.power);
        let rank = match self.ranks {
            BlockRanks::Baked(ranks) => u16::from_be_bytes(*ranks.get(stride as usize)?),
            BlockRanks::Built(ranks) => *ranks.get(stride as usize)?,
            BlockRanks::None => 0,
        };
        let (first, at) = ((stride << self.power) as usize / 64, low as usize / 64);
        let word = order.u64(self.words.get(at)?, 0)?;
        let is_present = word >> (low % 64) & 1 == 1;
        let below = (word & ((1 << (low % 64)) - 1)).count_ones();
        let before = u32::from(rank) + ones(self.words, first..at)? + below;
        // A rank of damaged bytes may be too great.
        (before + u32::from(is_present) <= self.values).then_some(Probe { is_present, before })
    }
}

/// The bits that are set in a range of `words`, whatever their order of bytes is.
#[inline(always)]
fn ones(words: &[[u8; 8]], range: Range<usize>) -> Option<u32> {
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    Some(match words.get(range.start..)?.first_chunk::<RANK_WORDS>() {
        // Masks instead of a branch on the number of words, which CPUs cannot predict.
        Some(line) if range.len() < RANK_WORDS => {
            let masks = (range.start..).map(|at| u64::from(at < range.end).wrapping_neg());
            line.iter().zip(masks).map(|(bytes, mask)| (word(bytes) & mask).count_ones()).sum()
        }
        _ => words.get(range)?.iter().map(|bytes| word(bytes).count_ones()).sum(),
    })
}
