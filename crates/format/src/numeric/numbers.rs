//! The values of a column as small numbers, and fitting blocks (frames and lines) to them.

use std::ops::Range;

use super::block::{Block, Encoding, FRACTION, Stride, slope};
use super::decimal::Decimal;
use super::slice::{Slice, Source, Stopped, for_width};
use super::value_stats::{Distinct, Divisor, FINE_ZONE, LANES, ValueStats};
use super::{Number, chunks};
use crate::bits::{self, multiversion};

/// The smallest and the largest of some numbers.
pub(super) type Ends = (u64, u64);

/// The values of a column under a transform, with their bounds. All transforms preserve order.
#[derive(Clone, Debug)]
pub(super) struct Numbers<'a> {
    transform: By<'a>,
    len: usize,
    /// The first number, and the last.
    outer: (u64, u64),
    /// The bounds of every fine zone.
    ends: Vec<Ends>,
}

/// A range of a column's values, with their transform.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a> {
    numbers: &'a Numbers<'a>,
    values: Slice<'a>,
    /// The index in the column of the first value.
    start: usize,
}

/// The transform from values to numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum By<'a> {
    /// Differences from the smallest value, divided by their greatest common divisor.
    Affine { base: i64, divisor: Divisor },
    /// As `Affine` for doubles, all of which are decimals: differences of their integers.
    Decimal { decimal: Decimal, divisor: Divisor },
    /// Indices into a table, which is sorted.
    Table(&'a Distinct),
}

impl By<'_> {
    fn number(self, value: i64) -> u64 {
        match self {
            By::Affine { base, divisor } => divisor.quotient(value.abs_diff(base)),
            By::Decimal { decimal, divisor } => {
                let integer = decimal.integer(value).unwrap_or(decimal.base);
                divisor.quotient(integer.abs_diff(decimal.base))
            }
            By::Table(table) => table.number(value),
        }
    }
}

impl<'a> Numbers<'a> {
    /// The numbers of `len` values with these `stats`.
    pub(super) fn new(len: usize, stats: &ValueStats, transform: By<'a>) -> Numbers<'a> {
        let both = |(a, b)| (transform.number(a), transform.number(b));
        let ends = stats.ends.iter().map(|&ends| both(ends)).collect();
        Numbers { transform, len, outer: both(stats.outer), ends }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The table that numbers index, if any.
    pub(super) fn table(&self) -> Option<&'a [i64]> {
        match self.transform {
            By::Affine { .. } | By::Decimal { .. } => None,
            By::Table(table) => Some(table.values()),
        }
    }

    /// The smallest and the largest number of `range`. It begins at the start of a fine zone and ends at the end of
    /// one or of the column.
    pub(super) fn ends(&self, range: &Range<usize>) -> Ends {
        let ends = &self.ends[range.start / FINE_ZONE..range.end.div_ceil(FINE_ZONE)];
        ends.iter().fold((u64::MAX, 0), |(min, max), ends| (min.min(ends.0), max.max(ends.1)))
    }

    /// Fits a line from the first number to the last; `None` if the block is not `good`. A block of fewer bits must
    /// be `good`, too.
    pub(super) fn fit_one_line(
        &self,
        values: &mut dyn Source,
        good: impl Fn(&Block) -> bool,
    ) -> Result<Option<Block>, Stopped> {
        let Some(mut line) = Line::new(self.outer, self.len) else { return Ok(None) };
        for range in chunks(self.len) {
            if !line.extend(&Chunk::read(self, values, range.clone())?, &range, &good) {
                return Ok(None);
            }
        }
        Ok(Some(line.block()))
    }
}

impl<'a> Chunk<'a> {
    /// Reads the values of `range`.
    pub(super) fn read(
        numbers: &'a Numbers<'a>,
        values: &'a mut dyn Source,
        range: Range<usize>,
    ) -> Result<Chunk<'a>, Stopped> {
        Ok(Chunk { numbers, start: range.start, values: values.read(range)? })
    }

    /// Number `i`.
    fn get(&self, i: usize) -> u64 {
        self.numbers.transform.number(self.values.get(i - self.start))
    }

    /// Fills `out` with the numbers from `start` on.
    fn fill(&self, start: usize, out: &mut [u64]) {
        let first = start - self.start;
        let values = self.values.range(first..first + out.len());
        match self.numbers.transform {
            // Most columns have no divisor.
            By::Affine { base, divisor } if divisor.get() == 1 => {
                for_width!(values, values => subtract(values, base, out));
            }
            By::Affine { base, divisor } => {
                for_width!(values, values => divide(values, base, divisor, out));
            }
            By::Decimal { decimal, divisor } => {
                let integers = &mut [0; FINE_ZONE][..values.len()];
                decimal.integers(values, integers);
                divide(integers, decimal.base, divisor, out);
            }
            By::Table(table) => for_width!(values, values => look_up(values, table, out)),
        }
    }

    /// Fills `out` with the residuals of the numbers from `start` on. In `block`, the first of them has place `at`.
    pub(super) fn residuals(&self, start: usize, at: usize, block: &Block, out: &mut [u64]) {
        self.fill(start, out);
        take_line(block.base, block.slope, at, out);
    }

    /// The block of the fewest bits for the numbers of `range`, which is as in [`Numbers::ends`]. The offset of its
    /// payload is 0.
    pub(super) fn fit(&self, range: &Range<usize>, stride: Stride) -> Block {
        let packed = fit_frame(self.numbers.ends(range));
        match stride {
            Stride::Long if packed.width > self.least_width_of_line(range) => {
                let narrower = |line: &Block| line.width < packed.width;
                self.fit_line(range, narrower).unwrap_or(packed)
            }
            _ => packed,
        }
    }

    /// A lower bound for the width of residuals from the line through the first and the last number of `range`.
    /// Within a fine zone the line rises by a fixed amount; residuals must cover the rest of the zone's spread.
    fn least_width_of_line(&self, range: &Range<usize>) -> u8 {
        let rise = u128::from(self.get(range.start).abs_diff(self.get(range.end - 1)));
        // One more for rounding along the line.
        let rise = rise * FINE_ZONE as u128 / (range.len() as u128 - 1).max(1) + 1;
        let rise = u64::try_from(rise).unwrap_or(u64::MAX);
        let ends = &self.numbers.ends[range.start / FINE_ZONE..range.end.div_ceil(FINE_ZONE)];
        let spread = ends.iter().map(|(min, max)| (max - min).saturating_sub(rise)).max();
        bits::width_of(spread.unwrap_or(0))
    }

    /// Fits a line from the first number of `range` to the last; `None` if the block is not `good`. A block of fewer
    /// bits must be `good`, too.
    fn fit_line(&self, range: &Range<usize>, good: impl Fn(&Block) -> bool) -> Option<Block> {
        let outer = (self.get(range.start), self.get(range.end - 1));
        let mut line = Line::new(outer, range.len())?;
        line.extend(self, range, good).then(|| line.block())
    }
}

/// A line from the first to the last of some numbers, and the bounds of the residuals seen so far.
///
/// It is not the optimal line: one with the least spread can save a bit if the ends are outliers, but finding it
/// takes a convex hull.
struct Line {
    first: u64,
    slope: i64,
    low: i64,
    high: i64,
    seen: usize,
}

impl Line {
    fn new((first, last): (u64, u64), len: usize) -> Option<Line> {
        Some(Line { first, slope: slope(first, last, len - 1)?, low: 0, high: 0, seen: 0 })
    }

    /// Adds the numbers of `range`, which come next. Stops and returns `false` as soon as the block is not `good`.
    fn extend(&mut self, chunk: &Chunk<'_>, range: &Range<usize>, good: impl Fn(&Block) -> bool) -> bool {
        /// Numbers in the first step: enough to reject most columns that do not follow a line.
        const FIRST_LOOK: usize = 64;
        let (mut numbers, mut at) = ([0; FINE_ZONE], range.start);
        while at < range.end {
            let len = (range.end - at).min(if self.seen == 0 { FIRST_LOOK } else { FINE_ZONE });
            let numbers = &mut numbers[..len];
            chunk.fill(at, numbers);
            let ends = above_line(self.first, self.slope, self.seen, numbers);
            (self.low, self.high) = (ends.0.min(self.low), ends.1.max(self.high));
            (at, self.seen) = (at + len, self.seen + len);
            if !good(&self.block()) {
                return false;
            }
        }
        true
    }

    /// The block for the numbers seen so far. The offset of its payload is 0.
    fn block(&self) -> Block {
        Block {
            base: self.first.wrapping_add(self.low.cast_unsigned()),
            slope: self.slope,
            payload: 0,
            encoding: Encoding::Linear,
            width: bits::width_of(self.high.abs_diff(self.low)),
        }
    }
}

/// The block for numbers between `min` and `max`. The offset of its payload is 0.
pub(super) fn fit_frame((min, max): Ends) -> Block {
    let width = bits::width_of(max.saturating_sub(min));
    let encoding = if width == 0 { Encoding::Constant } else { Encoding::Packed };
    Block { base: min, slope: 0, payload: 0, encoding, width }
}

/// A line through numbers side by side: sums instead of products.
struct Steps {
    wholes: [u64; LANES],
    fractions: [u64; LANES],
    /// The increment of `wholes` and `fractions` from one step to the next.
    step: (u64, u64),
}

impl Steps {
    /// The line `base + floor(slope * i / 2^16)`, from number `at` on.
    #[inline(always)]
    fn new(base: u64, slope: i64, at: usize) -> Steps {
        let (whole, fraction) = ((slope >> FRACTION).cast_unsigned(), slope.cast_unsigned() & 0xFFFF);
        let at = |lane: usize| (at + lane) as u64;
        Steps {
            wholes: std::array::from_fn(|lane| base.wrapping_add(whole.wrapping_mul(at(lane)))),
            fractions: std::array::from_fn(|lane| fraction.wrapping_mul(at(lane))),
            step: (whole.wrapping_mul(LANES as u64), fraction.wrapping_mul(LANES as u64)),
        }
    }

    /// The residuals of the next numbers.
    #[inline(always)]
    fn above(&mut self, numbers: &[u64; LANES]) -> [u64; LANES] {
        let mut above = [0; LANES];
        for lane in 0..LANES {
            let line = self.wholes[lane].wrapping_add(self.fractions[lane] >> FRACTION);
            above[lane] = numbers[lane].wrapping_sub(line);
            self.wholes[lane] = self.wholes[lane].wrapping_add(self.step.0);
            self.fractions[lane] = self.fractions[lane].wrapping_add(self.step.1);
        }
        above
    }

    /// The residuals of fewer than [`LANES`] numbers; the lanes after them are meaningless.
    #[inline(always)]
    fn above_few(&mut self, few: &[u64]) -> [u64; LANES] {
        let mut numbers = [0; LANES];
        numbers[..few.len()].copy_from_slice(few);
        self.above(&numbers)
    }
}

fn look_up<T: Number>(values: &[T], table: &Distinct, out: &mut [u64]) {
    values.iter().zip(out).for_each(|(&value, out)| *out = table.number(value.into()));
}

multiversion! {
    fn subtract<T: Number>(values: &[T], base: i64, out: &mut [u64]) {
        values.iter().zip(out).for_each(|(&value, out)| {
            let value: i64 = value.into();
            *out = value.wrapping_sub(base).cast_unsigned();
        });
    }

    fn divide<T: Number>(values: &[T], base: i64, divisor: Divisor, out: &mut [u64]) {
        values.iter().zip(out).for_each(|(&value, out)| {
            let value: i64 = value.into();
            *out = divisor.quotient(value.wrapping_sub(base).cast_unsigned());
        });
    }

    /// The smallest and the largest residual of `numbers` from the line of this `base` and `slope`. The first of them
    /// has place `at`.
    fn above_line(base: u64, slope: i64, at: usize, numbers: &[u64]) -> (i64, i64) {
        let mut line = Steps::new(base, slope, at);
        let (mut low, mut high) = ([i64::MAX; LANES], [i64::MIN; LANES]);
        let (groups, rest) = numbers.as_chunks::<LANES>();
        for group in groups {
            let above = line.above(group);
            for lane in 0..LANES {
                low[lane] = low[lane].min(above[lane].cast_signed());
                high[lane] = high[lane].max(above[lane].cast_signed());
            }
        }
        for above in line.above_few(rest).into_iter().take(rest.len()) {
            (low[0], high[0]) = (low[0].min(above.cast_signed()), high[0].max(above.cast_signed()));
        }
        (low.into_iter().fold(i64::MAX, i64::min), high.into_iter().fold(i64::MIN, i64::max))
    }

    /// Subtracts the line of this `base` and `slope` from `numbers`. The first of them has place `at`.
    fn take_line(base: u64, slope: i64, at: usize, numbers: &mut [u64]) {
        let mut line = Steps::new(base, slope, at);
        let (groups, rest) = numbers.as_chunks_mut::<LANES>();
        for group in groups {
            *group = line.above(group);
        }
        let above = line.above_few(rest);
        rest.copy_from_slice(&above[..rest.len()]);
    }
}
