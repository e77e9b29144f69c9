//! Which encoding, and how many bytes.
//!
//! Integers only, so that every machine comes to the same plan.

use std::ops::Range;

use super::block::{Block, Encoding, Stride};
use super::numbers::{Chunk, Numbers, fit_frame};
use super::{BLOCK_SHIFTS, ONE_BLOCK, Values, blocks, chunks};

/// Exponent of the largest block: what is looked at in one go.
const LARGEST: u8 = *BLOCK_SHIFTS.end();
/// The part of the fewest bytes by which a column may be longer for being one block.
const ONE_BLOCK_MARGIN: u64 = 64;
/// In columns of more than so many of the largest blocks, one in so many is looked at for lines.
const SAMPLE_STEP: usize = 8;

/// How a column is to be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// By a table of its distinct values, rather than by differences from the smallest.
    pub(super) table: bool,
    pub(super) cut: Cut,
    /// Bytes of the blocks, their jump table and the table of values; see [`choose_encoding`].
    pub(super) bytes: u64,
}

/// How a column is cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// All of a size, each with its own header.
    Blocks { shift: u8, stride: Stride },
    /// Not at all; with its payload's offset left at 0.
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

/// The cheapest plan for a column of more than one value, by differences (`affine`) or by a table, if
/// there is one; but one block for all of them, if that takes a [`ONE_BLOCK_MARGIN`]th more at most.
///
/// The bytes of every combination are counted: from the ends of every 512 values, so that only lines are
/// looked for among the values. What lines save is estimated where there are many values, from every
/// [eighth](SAMPLE_STEP) sample of 2^14. On a tie, differences go before a table, which takes
/// another load; large blocks before small, since more of their jump entries fit a cache; short headers
/// before long.
pub(super) fn choose_encoding<V: Values + ?Sized>(
    values: &V,
    affine: &Numbers<'_>,
    table: Option<&Numbers<'_>>,
    jump_tables: bool,
) -> Result<Plan, V::Error> {
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

/// The first of those plans that take the fewest bytes.
fn cheapest(plans: impl Iterator<Item = Plan>) -> Plan {
    let cut = Cut::Blocks { shift: LARGEST, stride: Stride::Short };
    let none = Plan { table: false, cut, bytes: u64::MAX };
    plans.fold(none, |best, plan| if plan.bytes < best.bytes { plan } else { best })
}

/// Not cut up: `block` is for all of `numbers`.
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
fn sizes<V: Values + ?Sized>(
    values: &V,
    numbers: &Numbers<'_>,
    jump_tables: bool,
) -> Result<Vec<Plan>, V::Error> {
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

/// How many bytes shorter the blocks are if they may follow lines, for every size, largest blocks first.
fn saved_by_lines<V: Values + ?Sized>(values: &V, numbers: &Numbers<'_>) -> Result<Vec<u64>, V::Error> {
    let sampled = numbers.len().div_ceil(1 << LARGEST);
    let step = if sampled > SAMPLE_STEP { SAMPLE_STEP } else { 1 };
    let mut saved = vec![0; BLOCK_SHIFTS.count()];
    let mut buf = Vec::new();
    // All sizes of a sample while it is in a cache.
    for sample in chunks(numbers.len()).step_by(step) {
        let chunk = Chunk::read(numbers, values, sample.clone(), &mut buf)?;
        for (shift, saved) in BLOCK_SHIFTS.rev().zip(&mut saved) {
            for range in blocks(sample.clone(), shift) {
                let payload_len = |stride| chunk.fit(&range, stride).payload_len(range.len());
                *saved += payload_len(Stride::Short) - payload_len(Stride::Long);
            }
        }
    }
    let all = |saved: u64| u128::from(saved) * sampled as u128 / sampled.div_ceil(step) as u128;
    Ok(saved.into_iter().map(|saved| u64::try_from(all(saved)).unwrap_or(u64::MAX)).collect())
}
