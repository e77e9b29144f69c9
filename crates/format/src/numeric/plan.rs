//! Which encoding, and exactly how many bytes.
//!
//! Integers only, so that every machine comes to the same plan.

use super::block::{Block, Encoding, Stride, line, slope};
use super::{BLOCK_SHIFTS, MAX_TABLE};
use crate::bits;

/// Exponent of the largest block: what is looked at in one go.
const LARGEST: u8 = *BLOCK_SHIFTS.end();
/// Exponent of the smallest block.
const SMALLEST: u8 = *BLOCK_SHIFTS.start();

/// What one pass over all values learns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stats {
    pub(super) min: i64,
    pub(super) max: i64,
    /// Divides every difference between two values; 0 while all are equal.
    pub(super) gcd: u64,
    /// The distinct values in ascending order, unless there are more than a table holds.
    pub(super) distinct: Option<Vec<i64>>,
}

impl Stats {
    /// Looks at `values`; `None` if there is none.
    pub(super) fn of(values: &[i64]) -> Option<Stats> {
        let &first = values.first()?;
        let mut stats = Stats { min: first, max: first, gcd: 0, distinct: Some(vec![first]) };
        let mut before = first;
        for &value in values {
            stats.min = stats.min.min(value);
            stats.max = stats.max.max(value);
            if stats.gcd != 1 {
                stats.gcd = gcd(stats.gcd, value.abs_diff(first));
            }
            if value != before {
                stats.distinct = stats.distinct.and_then(|table| inserted(table, value));
            }
            before = value;
        }
        Some(stats)
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    // The usual case, and it ends at once: `b` is a multiple of what was found so far.
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

/// `table` with `value` in its place, if it still is a table then.
fn inserted(mut table: Vec<i64>, value: i64) -> Option<Vec<i64>> {
    let Err(place) = table.binary_search(&value) else { return Some(table) };
    table.insert(place, value);
    (table.len() <= MAX_TABLE).then_some(table)
}

/// The values of a column, seen through a transform.
#[derive(Clone, Copy, Debug)]
pub(super) enum Numbers<'a> {
    Affine { values: &'a [i64], base: i64, gcd: u64 },
    Table { values: &'a [i64], table: &'a [i64] },
}

impl<'a> Numbers<'a> {
    /// Calls `f` with the numbers of each stretch of 2^`shift` values.
    pub(super) fn each(self, shift: u8, mut f: impl FnMut(&[u64])) {
        let mut numbers = Vec::with_capacity(self.values().len().min(1 << shift));
        for values in self.values().chunks(1 << shift) {
            numbers.clear();
            match self {
                // Most columns have no divisor, and a division takes longer than all the rest.
                Numbers::Affine { base, gcd: 1, .. } => {
                    numbers.extend(values.iter().map(|v| v.abs_diff(base)))
                }
                Numbers::Affine { base, gcd, .. } => {
                    numbers.extend(values.iter().map(|v| v.abs_diff(base) / gcd));
                }
                Numbers::Table { table, .. } => {
                    numbers.extend(values.iter().map(|v| table.partition_point(|t| t < v) as u64));
                }
            }
            f(&numbers);
        }
    }

    fn values(self) -> &'a [i64] {
        match self {
            Numbers::Affine { values, .. } | Numbers::Table { values, .. } => values,
        }
    }
}

/// Smallest and largest number of a block.
type Ends = (u64, u64);

fn ends(numbers: &[u64]) -> Ends {
    numbers.iter().fold((u64::MAX, 0), |(min, max), &q| (min.min(q), max.max(q)))
}

/// The best block for `numbers`, with its payload's offset left at 0.
pub(super) fn fit(numbers: &[u64], stride: Stride) -> Block {
    let packed = fit_frame(ends(numbers));
    match stride {
        Stride::Short => packed,
        Stride::Long => fit_line(numbers, packed.width).unwrap_or(packed),
    }
}

fn fit_frame((min, max): Ends) -> Block {
    let width = bits::width_of(max.saturating_sub(min));
    let encoding = if width == 0 { Encoding::Constant } else { Encoding::Packed };
    Block { base: min, slope: 0, payload: 0, encoding, width }
}

/// The line from the first to the last number, if its residuals are narrower than `width`.
///
/// Not the best line there is: one with the least spread can save another bit where the ends of a
/// block are outliers, and takes a hull to find.
fn fit_line(numbers: &[u64], width: u8) -> Option<Block> {
    let (&first, &last) = (numbers.first()?, numbers.last()?);
    let slope = slope(first, last, numbers.len() - 1)?;
    let (mut low, mut high) = (0_i64, 0_i64);
    let stretches = numbers.chunks(64).enumerate();
    for (stretch, numbers) in stretches {
        for (i, q) in numbers.iter().enumerate() {
            let above = q.wrapping_sub(first).wrapping_sub(line(slope, stretch * 64 + i)).cast_signed();
            (low, high) = (low.min(above), high.max(above));
        }
        // Where there is no line to be found, this is known after a stretch or two.
        if bits::width_of(high.abs_diff(low)) >= width {
            return None;
        }
    }
    let base = first.wrapping_add(low.cast_unsigned());
    Some(Block {
        base,
        slope,
        payload: 0,
        encoding: Encoding::Linear,
        width: bits::width_of(high.abs_diff(low)),
    })
}

/// How a column is to be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// By a table of its distinct values, rather than by differences from the smallest.
    pub(super) table: bool,
    pub(super) shift: u8,
    pub(super) stride: Stride,
    /// Bytes of the blocks, their jump table and the table of values.
    pub(super) bytes: u64,
}

/// The cheapest plan for a column of more than one value.
///
/// O(values), for each block size: the bytes of every combination are counted, none is estimated. On a
/// tie, differences go before a table, which takes another load; large blocks before small, since more
/// of their jump entries fit a cache; short headers before long.
pub(super) fn plan(values: &[i64], stats: &Stats, jump_tables: bool) -> Plan {
    let affine = sizes(Numbers::Affine { values, base: stats.min, gcd: stats.gcd }, jump_tables);
    let affine = affine.into_iter().map(|(shift, stride, bytes)| Plan { table: false, shift, stride, bytes });
    // If every number up to the largest occurs, a value's place in the table is its number.
    let largest = stats.max.abs_diff(stats.min) / stats.gcd.max(1);
    let table = stats.distinct.as_ref().filter(|table| table.len() as u64 <= largest);
    let by_table = table.into_iter().flat_map(|table| {
        let own = size_of_val(table.as_slice()) as u64;
        let sizes = sizes(Numbers::Table { values, table }, jump_tables).into_iter();
        sizes.map(move |(shift, stride, bytes)| Plan { table: true, shift, stride, bytes: bytes + own })
    });
    let first = Plan { table: false, shift: LARGEST, stride: Stride::Short, bytes: u64::MAX };
    affine.chain(by_table).fold(first, |best, plan| if plan.bytes < best.bytes { plan } else { best })
}

/// The bytes of blocks and jump table, for every block size and stride, largest blocks first.
pub(super) fn sizes(numbers: Numbers<'_>, jump_tables: bool) -> Vec<(u8, Stride, u64)> {
    let mut sizes: Vec<(u8, Stride, u64)> =
        BLOCK_SHIFTS.rev().flat_map(|shift| Stride::ALL.map(|stride| (shift, stride, 0))).collect();
    let copies = if jump_tables { 2 } else { 1 };
    numbers.each(LARGEST, |numbers| {
        let small: Vec<Ends> = numbers.chunks(1 << SMALLEST).map(ends).collect();
        for size in sizes.chunks_mut(Stride::ALL.len()) {
            let shift = size[0].0;
            for (numbers, small) in numbers.chunks(1 << shift).zip(small.chunks(1 << (shift - SMALLEST))) {
                let ends = small.iter().fold((u64::MAX, 0), |(min, max), e| (min.min(e.0), max.max(e.1)));
                let packed = fit_frame(ends);
                let best = fit_line(numbers, packed.width).unwrap_or(packed);
                for ((_, stride, bytes), block) in size.iter_mut().zip([packed, best]) {
                    *bytes += stride.bytes() as u64 * copies + block.payload_len(numbers.len());
                }
            }
        }
    });
    sizes
}
