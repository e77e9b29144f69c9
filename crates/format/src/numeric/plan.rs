//! Which encoding, and exactly how many bytes.
//!
//! Integers only, so that every machine comes to the same plan.

use super::block::{Block, Encoding, Stride, line, slope};
use super::{BLOCK_SHIFTS, MAX_TABLE, ONE_BLOCK};
use crate::bits;

/// Exponent of the largest block: what is looked at in one go.
const LARGEST: u8 = *BLOCK_SHIFTS.end();
/// Exponent of the smallest block.
const SMALLEST: u8 = *BLOCK_SHIFTS.start();
/// The part of the fewest bytes by which a column may be longer for being one block.
const MARGIN: u64 = 64;

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
    /// Calls `f` with the numbers of each stretch of 2^`shift` values, while it wants to go on.
    pub(super) fn each(self, shift: u8, mut f: impl FnMut(&[u64]) -> bool) {
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
            if !f(&numbers) {
                break;
            }
        }
    }

    /// The number of one value.
    fn number(self, value: i64) -> u64 {
        match self {
            Numbers::Affine { base, gcd, .. } => value.abs_diff(base) / gcd,
            Numbers::Table { table, .. } => table.partition_point(|t| *t < value) as u64,
        }
    }

    /// Bytes of the table of values.
    fn table_len(self) -> u64 {
        match self {
            Numbers::Affine { .. } => 0,
            Numbers::Table { table, .. } => size_of_val(table) as u64,
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
fn fit_line(numbers: &[u64], width: u8) -> Option<Block> {
    let (&first, &last) = (numbers.first()?, numbers.last()?);
    let mut line = Spread::new(first, last, numbers.len())?;
    for (stretch, numbers) in numbers.chunks(64).enumerate() {
        line.add(stretch * 64, numbers);
        // Where there is no line to be found, this is known after a stretch or two.
        if line.width() >= width {
            return None;
        }
    }
    Some(line.fit())
}

/// How far numbers lie from the line between the first and the last of them.
///
/// Not the best line there is: one with the least spread can save another bit where the ends of a
/// block are outliers, and takes a hull to find.
struct Spread {
    first: u64,
    slope: i64,
    /// The most that a number is below the line, as a negative one.
    low: i64,
    /// The most that a number is above it.
    high: i64,
}

impl Spread {
    /// The line of `len` numbers; `None` if it is too steep.
    fn new(first: u64, last: u64, len: usize) -> Option<Spread> {
        Some(Spread { first, slope: slope(first, last, len.checked_sub(1)?)?, low: 0, high: 0 })
    }

    /// Looks at `numbers`, of which the first is number `at` of the line.
    fn add(&mut self, at: usize, numbers: &[u64]) {
        for (i, q) in numbers.iter().enumerate() {
            let above = q.wrapping_sub(self.first).wrapping_sub(line(self.slope, at + i)).cast_signed();
            (self.low, self.high) = (self.low.min(above), self.high.max(above));
        }
    }

    /// Bits of the residuals.
    fn width(&self) -> u8 {
        bits::width_of(self.high.abs_diff(self.low))
    }

    /// The block, with its payload's offset left at 0.
    fn fit(&self) -> Block {
        let base = self.first.wrapping_add(self.low.cast_unsigned());
        Block { base, slope: self.slope, payload: 0, encoding: Encoding::Linear, width: self.width() }
    }
}

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

/// The cheapest plan for a column of more than one value; but one block for all of them, if that takes
/// a [`MARGIN`]th more at most.
///
/// O(values), for each block size: the bytes of every combination are counted, none is estimated. On a
/// tie, differences go before a table, which takes another load; large blocks before small, since more
/// of their jump entries fit a cache; short headers before long.
pub(super) fn plan(values: &[i64], stats: &Stats, jump_tables: bool) -> Plan {
    let affine = Numbers::Affine { values, base: stats.min, gcd: stats.gcd };
    let largest = stats.max.abs_diff(stats.min) / stats.gcd.max(1);
    // If every number up to the largest occurs, a value's place in the table is its number.
    let table = stats.distinct.as_ref().filter(|table| table.len() as u64 <= largest);
    let table = table.map(|table| (Numbers::Table { values, table }, table.len() as u64 - 1));
    let transforms = || [Some((affine, largest)), table].into_iter().flatten();

    let blocks = cheapest(transforms().flat_map(|(numbers, _)| sizes(numbers, jump_tables)));
    let most = blocks.bytes + blocks.bytes / MARGIN;
    let one = cheapest(transforms().map(|(numbers, max)| one_block(numbers, fit_frame((0, max)))));
    match one.bytes <= most {
        true => one,
        false => one_line(affine, most).unwrap_or(blocks),
    }
}

/// The first of those plans that take the fewest bytes.
fn cheapest(plans: impl Iterator<Item = Plan>) -> Plan {
    let cut = Cut::Blocks { shift: LARGEST, stride: Stride::Short };
    let none = Plan { table: false, cut, bytes: u64::MAX };
    plans.fold(none, |best, plan| if plan.bytes < best.bytes { plan } else { best })
}

/// Not cut up: `block` is for all of `numbers`.
fn one_block(numbers: Numbers<'_>, block: Block) -> Plan {
    let cut = Cut::One(block);
    let bytes = cut.stride().bytes() as u64 + block.payload_len(numbers.values().len());
    Plan { table: numbers.table_len() > 0, cut, bytes: bytes + numbers.table_len() }
}

/// One line through all of `numbers`, if that takes `most` bytes at most.
fn one_line(numbers: Numbers<'_>, most: u64) -> Option<Plan> {
    let values = numbers.values();
    let [first, last] = [values.first()?, values.last()?].map(|value| numbers.number(*value));
    let mut line = Spread::new(first, last, values.len())?;
    let plan = |line: &Spread| Some(one_block(numbers, line.fit())).filter(|plan| plan.bytes <= most);
    let mut at = 0;
    numbers.each(SMALLEST, |numbers| {
        line.add(at, numbers);
        at += numbers.len();
        plan(&line).is_some()
    });
    plan(&line)
}

/// A plan for every block size and stride, largest blocks first.
fn sizes(numbers: Numbers<'_>, jump_tables: bool) -> Vec<Plan> {
    let (len, table) = (numbers.values().len(), numbers.table_len());
    let mut sizes: Vec<(u8, Stride, u64)> =
        BLOCK_SHIFTS.rev().flat_map(|shift| Stride::ALL.map(|stride| (shift, stride, table))).collect();
    numbers.each(LARGEST, |numbers| {
        let small: Vec<Ends> = numbers.chunks(1 << SMALLEST).map(ends).collect();
        for size in sizes.chunks_mut(Stride::ALL.len()) {
            let shift = size[0].0;
            let copies = if jump_tables && len > 1 << shift { 2 } else { 1 };
            for (numbers, small) in numbers.chunks(1 << shift).zip(small.chunks(1 << (shift - SMALLEST))) {
                let ends = small.iter().fold((u64::MAX, 0), |(min, max), e| (min.min(e.0), max.max(e.1)));
                let packed = fit_frame(ends);
                let best = fit_line(numbers, packed.width).unwrap_or(packed);
                for ((_, stride, bytes), block) in size.iter_mut().zip([packed, best]) {
                    *bytes += stride.bytes() as u64 * copies + block.payload_len(numbers.len());
                }
            }
        }
        true
    });
    let plan = |(shift, stride, bytes)| Plan { table: table > 0, cut: Cut::Blocks { shift, stride }, bytes };
    sizes.into_iter().map(plan).collect()
}
