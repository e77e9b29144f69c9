//! Encoding a column of values to its sections.

use std::ops::Range;

use super::block::{Block, Stride};
use super::choose_encoding::{Cut, choose_encoding};
use super::decimal::Decimal;
use super::numbers::{By, Chunk, Numbers};
use super::slice::{AnyValues, Source, Stopped};
use super::value_stats::{Distinct, Divisor, FINE_ZONE, ValueStats};
use super::{BLOCK_SHIFTS, Number, Numeric, Role, Transform, Values, chunks, fine_zone, zone};
use crate::{bits, granule};

/// Options for encoding a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumericOptions {
    /// Which sections the column fills.
    pub role: Role,
    /// Whether the values are doubles, as [`from_f64`](crate::stored::from_f64) stores them.
    pub doubles: bool,
    /// Whether to store a jump table.
    pub jump_tables: bool,
    /// Whether to add a zone map and fine zones. They are stored only for [`Role::Values`], and only if there is more
    /// than one zone.
    pub zones: bool,
}

/// Encodes `values` in the fewest bytes.
///
/// O(values): one pass for statistics, one pass for packing, and up to six passes between them to fit lines. Memory:
/// the encoded bytes, and a hundredth of 64-bit values.
///
/// # Examples
///
/// ```
/// use docvalues_format::jump::JumpTables;
/// use docvalues_format::numeric::{self, NumericOptions, NumericReader, Role};
/// use docvalues_format::source::Owned;
///
/// let values: Vec<i64> = (0..10_000).map(|i| 1_700_000_000_000 + i * 60_000).collect();
/// let options = NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: true };
/// let column = numeric::encode(&values, &options);
///
/// // In a file, a section gets a place; here it stays in memory.
/// let column = column.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// let reader = NumericReader::open(column, JumpTables::Baked)?;
/// assert_eq!(reader.get(9_999)?, 1_700_599_940_000);
/// assert_eq!(reader.encodings()?.to_string(), "affine(gcd 60000) linear(0)");
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
pub fn encode<T: Number>(values: &[T], options: &NumericOptions) -> Numeric<Vec<u8>> {
    let Ok(column) = encode_from(values, options, |_| Ok(()));
    column
}

/// As [`encode`], for values and blocks that need not fit in memory.
///
/// After each chunk of blocks, `drain` is called with their bytes and may remove them. The section is all bytes that it
/// removed, followed by those that are returned. A hundredth of 64-bit values stays in memory.
///
/// # Errors
///
/// The first of `values` or `drain`.
pub fn encode_from<V: Values + ?Sized>(
    values: &V,
    options: &NumericOptions,
    mut drain: impl FnMut(&mut Vec<u8>) -> Result<(), V::Error>,
) -> Result<Numeric<Vec<u8>>, V::Error> {
    let (mut values, mut refused) = (AnyValues::new(values), None);
    let mut drain = |blocks: &mut Vec<u8>| {
        drain(blocks).map_err(|error| {
            refused = Some(error);
            Stopped
        })
    };
    let mut column = Numeric {
        role: options.role,
        count: values.len() as u64,
        min: 0,
        max: 0,
        transform: Transform::Constant(0),
        block_shift: *BLOCK_SHIFTS.start(),
        stride: Stride::Short,
        blocks: None,
        jump: None,
        zones: None,
        fine_zones: None,
    };
    let encoded = encode_any(&mut values, options, &mut drain, &mut column);
    match values.error.or(refused) {
        Some(error) => Err(error),
        None => {
            debug_assert_eq!(encoded, Ok(()));
            Ok(column)
        }
    }
}

/// Encodes `values` in `column`.
fn encode_any(
    values: &mut dyn Source,
    options: &NumericOptions,
    drain: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), Stopped>,
    column: &mut Numeric<Vec<u8>>,
) -> Result<(), Stopped> {
    let (NumericOptions { role, jump_tables, .. }, len) = (*options, values.len());
    let Some(mut stats) = ValueStats::of(values)? else { return Ok(()) };
    (column.min, column.max, column.transform) = (stats.min, stats.max, Transform::Constant(stats.min));
    if stats.min == stats.max {
        return Ok(());
    }
    // Only values have a section for a table.
    let distinct = stats.distinct.take().filter(|_| role.is_values()).map(Distinct::sorted);

    // Decimals are never wider than doubles: between two of them lie at least as many doubles.
    let decimal = if options.doubles && role.is_values() { Decimal::of(values, &stats)? } else { None };
    let by = match decimal {
        Some(decimal) => By::Decimal { decimal, divisor: Divisor::of(decimal.gcd) },
        None => By::Affine { base: stats.min, divisor: stats.divisor },
    };
    let affine = Numbers::new(len, &stats, by);
    // If every number up to the largest occurs, a table would not make the numbers smaller.
    let (_, largest) = affine.ends(&(0..len));
    let table = distinct.as_ref().filter(|table| table.values().len() as u64 <= largest);
    let table = table.map(|table| Numbers::new(len, &stats, By::Table(table)));
    let plan = choose_encoding(values, &affine, table.as_ref(), jump_tables)?;
    column.block_shift = plan.cut.shift();
    column.stride = plan.cut.stride();
    let numbers = table.as_ref().filter(|_| plan.table).unwrap_or(&affine);
    column.transform = match (numbers.table(), decimal) {
        (Some(table), _) => Transform::Table(table.iter().flat_map(|value| value.to_le_bytes()).collect()),
        (None, Some(decimal)) => Transform::Decimal(decimal),
        (None, None) => Transform::Affine { base: stats.min, gcd: stats.divisor.get() },
    };
    let (blocks, jump) = encode_blocks(values, numbers, plan.cut, plan.bytes, drain)?;
    column.blocks = Some(blocks);
    column.jump = (jump_tables && column.block_count() > 1).then_some(jump);
    column.zones = (options.zones && role.is_values()).then(|| zone::encode(&stats.ends)).flatten();
    column.fine_zones = column.zones.is_some().then(|| fine_zone::encode(&stats.ends));
    Ok(())
}

/// Encodes the blocks end to end, `bytes` in total. Returns the bytes that `drain` left, and a copy of the headers
/// for the jump table.
pub(super) fn encode_blocks(
    values: &mut dyn Source,
    numbers: &Numbers<'_>,
    cut: Cut,
    bytes: u64,
    drain: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), Stopped>,
) -> Result<(Vec<u8>, Vec<u8>), Stopped> {
    let (stride, mut jump) = (cut.stride(), Vec::new());
    let mut blocks = Vec::new();
    // Bytes that were drained.
    let mut before = 0;
    for range in chunks(values.len()) {
        let chunk = Chunk::read(numbers, values, range.clone())?;
        match cut {
            Cut::Blocks { shift, .. } => {
                for range in super::blocks(range.clone(), shift) {
                    let payload = before + (blocks.len() + stride.bytes()) as u64;
                    let block = Block { payload, ..chunk.fit(&range, stride) };
                    block.encode(stride, &mut blocks);
                    block.encode(stride, &mut jump);
                    let first = range.start;
                    pack(&chunk, range, first, &block, &mut blocks);
                }
            }
            Cut::One(block) => {
                if range.start == 0 {
                    let block = Block { payload: stride.bytes() as u64, ..block };
                    block.encode(stride, &mut blocks);
                    block.encode(stride, &mut jump);
                }
                pack(&chunk, range.clone(), 0, &block, &mut blocks);
            }
        }
        let there = blocks.len();
        drain(&mut blocks)?;
        before += (there - blocks.len()) as u64;
        if range.start == 0 && before == 0 {
            // Nothing was drained: reserve space for all blocks at once, and for the section's checksums.
            let len = granule::extent(bytes).and_then(|len| usize::try_from(len).ok());
            blocks.reserve_exact(len.unwrap_or(0).saturating_sub(there));
        }
    }
    Ok((blocks, jump))
}

/// Appends the residuals of the numbers of `range`. `block` begins with number `first`.
fn pack(chunk: &Chunk<'_>, range: Range<usize>, first: usize, block: &Block, out: &mut Vec<u8>) {
    let mut residuals = [0; FINE_ZONE];
    // A whole fine zone ends at a word boundary, whatever the width.
    for start in range.clone().step_by(FINE_ZONE) {
        let residuals = &mut residuals[..FINE_ZONE.min(range.end - start)];
        chunk.residuals(start, start - first, block, residuals);
        bits::pack(residuals, block.width, out);
    }
}
