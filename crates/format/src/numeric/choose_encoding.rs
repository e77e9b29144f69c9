//! Choosing the cheapest encoding of a column: transform, block size and header length.
//!
//! Sizes are computed in integers, so every machine chooses the same encoding.

use std::ops::Range;

use super::block::{Block, Encoding, Stride};
use super::numbers::{Chunk, Numbers, fit_frame};
use super::slice::{Source, Stopped};
use super::{BLOCK_SHIFTS, ONE_BLOCK, blocks, chunks};

/// The exponent of the largest block, which is the unit of reading.
const LARGEST: u8 = *BLOCK_SHIFTS.end();
/// A single block may take a 64th more bytes than the cheapest blocks, as its values are faster to read.
const ONE_BLOCK_MARGIN: u64 = 64;
/// The gain of lines is estimated from every 8th of the largest blocks, if a column has more than 8 of them.
const SAMPLE_STEP: usize = 8;

/// A chosen encoding of a column, with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Whether values are encoded by a table of the distinct values, and not by differences.
    pub(super) table: bool,
    pub(super) cut: Cut,
    /// Bytes of the blocks, their jump table and the table of values; see [`choose_encoding`].
    pub(super) bytes: u64,
}

/// The division of a column into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Blocks of equal size, each with its own header.
    Blocks { shift: u8, stride: Stride },
    /// One block for the whole column. The offset of its payload is 0.
    One(Block),
}

impl Cut {
    /// The logarithm of the values in a block.
    pub(super) fn shift(self) -> u8 {
        match self {
            Cut::Blocks { shift, .. } => shift,
            Cut::One(_) => ONE_BLOCK,
        }
    }

    /// Bytes of a header.
    pub(super) fn stride(self) -> Stride {
        match self {
            Cut::Blocks { stride, .. } => stride,
            Cut::One(Block { encoding: Encoding::Linear, .. }) => Stride::Long,
            Cut::One(_) => Stride::Short,
        }
    }
}

/// Chooses the cheapest plan for a column of several distinct values: by differences (`affine`) or by a `table`, if
/// there is one. A single block is preferred if it takes at most a [`ONE_BLOCK_MARGIN`]th more.
///
/// The size of every combination is computed from the smallest and the largest of every 512 values; only fitting
/// lines reads the values. In long columns the gain of lines is estimated from every [eighth](SAMPLE_STEP) chunk of
/// 2^14 values. On a tie, differences win over a table, which costs another load; large blocks over small ones, as
/// more of their jump entries fit a cache; short headers over long ones.
pub(super) fn choose_encoding(
    values: &mut dyn Source,
    affine: &Numbers<'_>,
    table: Option<&Numbers<'_>>,
    jump_tables: bool,
) -> Result<Plan, Stopped> {
    let transforms = || [Some(affine), table].into_iter().flatten();
    let mut all = Vec::new();
    for numbers in transforms() {
        all.extend(sizes(values, numbers, jump_tables)?);
    }
    let blocks = cheapest(all.into_iter());
    let most = blocks.bytes + blocks.bytes / ONE_BLOCK_MARGIN;
    let one = transforms().map(|numbers| one_block(numbers, fit_frame(numbers.ends(&(0..numbers.len())))));
    let one = cheapest(one);
    if one.bytes <= most {
        return Ok(one);
    }
    let line = affine.fit_one_line(values, |line| one_block(affine, *line).bytes <= most)?;
    Ok(line.map_or(blocks, |line| one_block(affine, line)))
}

/// The plan with the fewest bytes, the first one on a tie.
fn cheapest(plans: impl Iterator<Item = Plan>) -> Plan {
    let cut = Cut::Blocks { shift: LARGEST, stride: Stride::Short };
    let none = Plan { table: false, cut, bytes: u64::MAX };
    plans.fold(none, |best, plan| if plan.bytes < best.bytes { plan } else { best })
}

/// The plan that encodes all `numbers` in the one `block`.
fn one_block(numbers: &Numbers<'_>, block: Block) -> Plan {
    let cut = Cut::One(block);
    let bytes = cut.stride().bytes() as u64 + block.payload_len(numbers.len());
    Plan { table: numbers.table().is_some(), cut, bytes: bytes + table_len(numbers) }
}

/// Bytes of the table of values.
fn table_len(numbers: &Numbers<'_>) -> u64 {
    numbers.table().map_or(0, size_of_val) as u64
}

/// A plan for every block size and stride, largest blocks first.
fn sizes(values: &mut dyn Source, numbers: &Numbers<'_>, jump_tables: bool) -> Result<Vec<Plan>, Stopped> {
    let (table, len) = (numbers.table().is_some(), numbers.len());
    let mut plans = Vec::new();
    for (shift, saved) in BLOCK_SHIFTS.rev().zip(saved_by_lines(values, numbers)?) {
        let copies = if jump_tables && len > 1 << shift { 2 } else { 1 };
        let payload_len = |range: Range<usize>| fit_frame(numbers.ends(&range)).payload_len(range.len());
        let packed = table_len(numbers) + blocks(0..len, shift).map(payload_len).sum::<u64>();
        for (stride, payloads) in Stride::ALL.into_iter().zip([packed, packed.saturating_sub(saved)]) {
            let headers = len.div_ceil(1 << shift) as u64 * stride.bytes() as u64;
            plans.push(Plan {
                table,
                cut: Cut::Blocks { shift, stride },
                bytes: payloads + headers * copies,
            });
        }
    }
    Ok(plans)
}

/// The bytes that linear encoding saves for every block size, largest blocks first.
fn saved_by_lines(values: &mut dyn Source, numbers: &Numbers<'_>) -> Result<Vec<u64>, Stopped> {
    let sampled = numbers.len().div_ceil(1 << LARGEST);
    let step = if sampled > SAMPLE_STEP { SAMPLE_STEP } else { 1 };
    let mut saved = vec![0; BLOCK_SHIFTS.count()];
    // Tries all block sizes for a chunk while it is in the cache.
    for sample in chunks(numbers.len()).step_by(step) {
        let chunk = Chunk::read(numbers, values, sample.clone())?;
        let saved_by_line = |range: Range<usize>| {
            let payload_len = |stride| chunk.fit(&range, stride).payload_len(range.len());
            payload_len(Stride::Short) - payload_len(Stride::Long)
        };
        let mut by_one = None;
        for (shift, saved) in BLOCK_SHIFTS.rev().zip(&mut saved) {
            *saved += if sample.len() <= 1 << shift {
                // A short column is one block of any size.
                *by_one.get_or_insert_with(|| saved_by_line(sample.clone()))
            } else {
                blocks(sample.clone(), shift).map(saved_by_line).sum()
            };
        }
    }
    let all = |saved: u64| u128::from(saved) * sampled as u128 / sampled.div_ceil(step) as u128;
    Ok(saved.into_iter().map(|saved| u64::try_from(all(saved)).unwrap_or(u64::MAX)).collect())
}
