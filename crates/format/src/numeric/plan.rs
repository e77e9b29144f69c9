//! Which encoding, and exactly how many bytes.
//!
//! Integers only, so that every machine comes to the same plan.

use super::block::{Block, Encoding, Stride};
use super::numbers::{Numbers, fit_frame};
use super::{BLOCK_SHIFTS, Number, ONE_BLOCK};

/// Exponent of the largest block: what is looked at in one go.
const LARGEST: u8 = *BLOCK_SHIFTS.end();
/// The part of the fewest bytes by which a column may be longer for being one block.
const MARGIN: u64 = 64;

/// How a column is to be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// By a table of its distinct values, rather than by differences from the smallest.
    pub(super) table: bool,
    pub(super) cut: Cut,
    /// Bytes of the blocks, their jump table and the table of values.
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
/// there is one; but one block for all of them, if that takes a [`MARGIN`]th more at most.
///
/// The bytes of every combination are counted, none is estimated: from the ends of every 512 values, so
/// that only lines are looked for among the values. On a tie, differences go before a table, which takes
/// another load; large blocks before small, since more of their jump entries fit a cache; short headers
/// before long.
pub(super) fn plan<T: Number>(
    affine: &Numbers<'_, T>,
    table: Option<&Numbers<'_, T>>,
    jump_tables: bool,
) -> Plan {
    let transforms = || [Some(affine), table].into_iter().flatten();
    let blocks = cheapest(transforms().flat_map(|numbers| sizes(numbers, jump_tables)));
    let most = blocks.bytes + blocks.bytes / MARGIN;
    let one = transforms().map(|numbers| one_block(numbers, fit_frame(numbers.ends(&(0..numbers.len())))));
    let one = cheapest(one);
    if one.bytes <= most {
        return one;
    }
    let line = affine.fit_line(&(0..affine.len()), |line| one_block(affine, *line).bytes <= most);
    line.map_or(blocks, |line| one_block(affine, line))
}

/// The first of those plans that take the fewest bytes.
fn cheapest(plans: impl Iterator<Item = Plan>) -> Plan {
    let cut = Cut::Blocks { shift: LARGEST, stride: Stride::Short };
    let none = Plan { table: false, cut, bytes: u64::MAX };
    plans.fold(none, |best, plan| if plan.bytes < best.bytes { plan } else { best })
}

/// Not cut up: `block` is for all of `numbers`.
fn one_block<T: Number>(numbers: &Numbers<'_, T>, block: Block) -> Plan {
    let cut = Cut::One(block);
    let bytes = cut.stride().bytes() as u64 + block.payload_len(numbers.len());
    Plan { table: numbers.table().is_some(), cut, bytes: bytes + table_len(numbers) }
}

/// Bytes of the table of values.
fn table_len<T: Number>(numbers: &Numbers<'_, T>) -> u64 {
    numbers.table().map_or(0, size_of_val) as u64
}

/// A plan for every block size and stride, largest blocks first.
fn sizes<T: Number>(numbers: &Numbers<'_, T>, jump_tables: bool) -> Vec<Plan> {
    let mut plans: Vec<(u8, Stride, u64)> =
        BLOCK_SHIFTS.rev().flat_map(|shift| Stride::ALL.map(|stride| (shift, stride, 0))).collect();
    // One stretch after the other, for all sizes while it is in a cache.
    for stretch in numbers.blocks(LARGEST) {
        for (shift, stride, bytes) in &mut plans {
            let copies = if jump_tables && numbers.len() > 1 << *shift { 2 } else { 1 };
            for start in stretch.clone().step_by(1 << *shift) {
                let range = start..stretch.end.min(start + (1 << *shift));
                let block = numbers.fit(&range, *stride);
                *bytes += stride.bytes() as u64 * copies + block.payload_len(range.len());
            }
        }
    }
    let (table, len) = (numbers.table().is_some(), table_len(numbers));
    let plan =
        |(shift, stride, bytes)| Plan { table, cut: Cut::Blocks { shift, stride }, bytes: bytes + len };
    plans.into_iter().map(plan).collect()
}
