//! Values in, sections out.

use super::block::{Block, Stride, line};
use super::plan::{Cut, Numbers, Stats, fit, plan};
use super::{BLOCK_SHIFTS, Numeric, Role, Transform, zone};
use crate::bits;
use crate::cursor::Put;

/// What to make of a column besides its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumericOptions {
    /// Which sections the column fills.
    pub role: Role,
    /// Whether to bake a jump table.
    pub jump_tables: bool,
    /// Whether to add a zone map. Only [`Role::Values`] has one, and only if there is more than one
    /// zone.
    pub zones: bool,
}

/// Encodes `values` in the fewest bytes.
///
/// O(values): three passes, and two more where there are few distinct ones. Holds the encoded bytes and
/// 128 KiB besides.
///
/// # Examples
///
/// ```
/// use docvalues_format::jump::JumpTables;
/// use docvalues_format::numeric::{self, NumericOptions, NumericReader, NumericWalk, Role};
/// use docvalues_format::source::Owned;
///
/// let values: Vec<i64> = (0..10_000).map(|i| 1_700_000_000_000 + i * 60_000).collect();
/// let options = NumericOptions { role: Role::Values, jump_tables: true, zones: true };
/// let column = numeric::encode(&values, &options);
///
/// // In a file, a section gets a place; here it stays in memory.
/// let column = column.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// let reader = NumericReader::open(column, JumpTables::Baked)?;
/// assert_eq!(reader.get(9_999, &mut NumericWalk::default())?, 1_700_599_940_000);
/// assert_eq!(reader.encodings()?.to_string(), "affine(gcd 60000) linear(0)");
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
pub fn encode(values: &[i64], options: &NumericOptions) -> Numeric<Vec<u8>> {
    let NumericOptions { role, jump_tables, .. } = *options;
    let stats = Stats::of(values);
    let (min, max) = stats.as_ref().map_or((0, 0), |stats| (stats.min, stats.max));
    let mut column = Numeric {
        role,
        count: values.len() as u64,
        min,
        max,
        transform: Transform::Constant(min),
        block_shift: *BLOCK_SHIFTS.start(),
        stride: Stride::Short,
        blocks: None,
        jump: None,
        zones: None,
    };
    let Some(mut stats) = stats.filter(|stats| stats.min != stats.max) else { return column };
    // Offsets and the like have no section for a table.
    stats.distinct = stats.distinct.filter(|_| role.is_values());

    let plan = plan(values, &stats, jump_tables);
    column.block_shift = plan.cut.shift();
    column.stride = plan.cut.stride();
    let table = stats.distinct.as_deref().filter(|_| plan.table);
    let numbers = match table {
        Some(table) => Numbers::Table { values, table },
        None => Numbers::Affine { values, base: min, gcd: stats.gcd },
    };
    column.transform = match table {
        Some(table) => Transform::Table(encode_table(table)),
        None => Transform::Affine { base: min, gcd: stats.gcd },
    };
    let (blocks, jump) = match plan.cut {
        Cut::Blocks { shift, stride } => encode_blocks(numbers, shift, stride),
        Cut::One(block) => encode_one(numbers, &block, plan.cut.stride()),
    };
    column.blocks = Some(blocks);
    column.jump = (jump_tables && column.block_count() > 1).then_some(jump);
    column.zones = (options.zones && role.is_values()).then(|| zone::encode(values)).flatten();
    column
}

/// The blocks end to end, and their headers once more.
pub(super) fn encode_blocks(numbers: Numbers<'_>, shift: u8, stride: Stride) -> (Vec<u8>, Vec<u8>) {
    let (mut blocks, mut jump) = (Vec::new(), Vec::new());
    numbers.each(shift, |numbers| {
        let payload = (blocks.len() + stride.bytes()) as u64;
        let block = Block { payload, ..fit(numbers, stride) };
        block.encode(stride, &mut blocks);
        block.encode(stride, &mut jump);
        pack(&block, 0, numbers, &mut blocks);
        true
    });
    (blocks, jump)
}

/// One block of all `numbers`, and its header once more.
pub(super) fn encode_one(numbers: Numbers<'_>, block: &Block, stride: Stride) -> (Vec<u8>, Vec<u8>) {
    let (mut blocks, mut header, mut at) = (Vec::new(), Vec::new(), 0);
    let block = Block { payload: stride.bytes() as u64, ..*block };
    block.encode(stride, &mut header);
    blocks.extend_from_slice(&header);
    // A stretch at a time: those of 2^14 numbers end with a byte, whatever their width.
    numbers.each(*BLOCK_SHIFTS.end(), |numbers| {
        pack(&block, at, numbers, &mut blocks);
        at += numbers.len();
        true
    });
    (blocks, header)
}

/// Appends the residuals of `numbers`, of which the first is number `at` of the block.
fn pack(block: &Block, at: usize, numbers: &[u64], out: &mut Vec<u8>) {
    let residuals = numbers.iter().enumerate().map(|(i, q)| {
        // A slope of zero makes no line, so this is right for every encoding.
        q.wrapping_sub(block.base).wrapping_sub(line(block.slope, at + i))
    });
    bits::pack(residuals, block.width, out);
}

/// Eight bytes a value, in ascending order: value *i* is the one that number *i* stands for.
fn encode_table(table: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(table));
    table.iter().for_each(|&value| bytes.put_i64(value));
    bytes
}
