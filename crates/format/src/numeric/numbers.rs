//! The values of a column as small numbers, and the block that holds some of them in the fewest bits.

use std::ops::Range;

use super::Number;
use super::block::{Block, Encoding, FRACTION, Stride, slope};
use super::decimal::Decimal;
use super::survey::{Distinct, Divisor, LANES, STRETCH, Survey};
use crate::bits::{self, wide};

/// The smallest and the largest of some numbers.
pub(super) type Ends = (u64, u64);

/// The values of a column, seen through a transform. All of them keep the order.
#[derive(Clone, Debug)]
pub(super) struct Numbers<'a, T> {
    values: &'a [T],
    transform: By<'a>,
    /// Of every [`STRETCH`].
    ends: Vec<Ends>,
}

/// What makes numbers of values.
#[derive(Clone, Copy, Debug)]
enum By<'a> {
    Affine { base: i64, divisor: Divisor },
    Decimal { decimal: Decimal, divisor: Divisor },
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

impl<'a, T: Number> Numbers<'a, T> {
    /// The differences from the smallest value, divided by what divides them all.
    pub(super) fn affine(values: &'a [T], survey: &Survey) -> Numbers<'a, T> {
        Numbers::new(values, survey, By::Affine { base: survey.min, divisor: survey.divisor })
    }

    /// The same of the integers of doubles, all of which are such decimals.
    pub(super) fn decimal(values: &'a [T], survey: &Survey, decimal: Decimal) -> Numbers<'a, T> {
        Numbers::new(values, survey, By::Decimal { decimal, divisor: Divisor::of(decimal.gcd) })
    }

    /// The places in `table`, which is sorted.
    pub(super) fn by_table(values: &'a [T], survey: &Survey, table: &'a Distinct) -> Numbers<'a, T> {
        Numbers::new(values, survey, By::Table(table))
    }

    fn new(values: &'a [T], survey: &Survey, transform: By<'a>) -> Numbers<'a, T> {
        let number = |value| transform.number(value);
        let ends = survey.ends.iter().map(|&(min, max)| (number(min), number(max))).collect();
        Numbers { values, transform, ends }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The table that numbers are places in.
    pub(super) fn table(&self) -> Option<&'a [i64]> {
        match self.transform {
            By::Affine { .. } | By::Decimal { .. } => None,
            By::Table(table) => Some(table.values()),
        }
    }

    /// The blocks of 2^`shift` in `range`, which begins with one.
    pub(super) fn blocks(&self, range: Range<usize>, shift: u8) -> impl Iterator<Item = Range<usize>> {
        range.clone().step_by(1 << shift).map(move |start| start..range.end.min(start + (1 << shift)))
    }

    /// The smallest and the largest of `range`, which begins with a [`STRETCH`] and ends with one, or with
    /// the column.
    pub(super) fn ends(&self, range: &Range<usize>) -> Ends {
        let ends = &self.ends[range.start / STRETCH..range.end.div_ceil(STRETCH)];
        ends.iter().fold((u64::MAX, 0), |(min, max), ends| (min.min(ends.0), max.max(ends.1)))
    }

    /// Number `i`.
    fn get(&self, i: usize) -> u64 {
        self.transform.number(self.values[i].into())
    }

    /// Fills `out` with the numbers from `start` on.
    fn read(&self, start: usize, out: &mut [u64]) {
        let values = &self.values[start..start + out.len()];
        match self.transform {
            // Most columns have no divisor.
            By::Affine { base, divisor } if divisor.get() == 1 => subtract(values, base, out),
            By::Affine { base, divisor } => divide(values, base, divisor, out),
            By::Decimal { decimal, divisor } => {
                let integers = &mut [0; STRETCH][..values.len()];
                decimal.integers(values, integers);
                divide(integers, decimal.base, divisor, out);
            }
            By::Table(table) => {
                values.iter().zip(out).for_each(|(&value, out)| *out = table.number(value.into()));
            }
        }
    }

    /// Fills `out` with the residuals of the numbers from `start` on, in `block`, of which the first is
    /// number `at`.
    pub(super) fn residuals(&self, start: usize, at: usize, block: &Block, out: &mut [u64]) {
        self.read(start, out);
        take_line(block.base, block.slope, at, out);
    }

    /// The best block for the numbers of `range`, which is as in [`ends`](Self::ends); with its payload's
    /// offset left at 0.
    pub(super) fn fit(&self, range: &Range<usize>, stride: Stride) -> Block {
        let packed = fit_frame(self.ends(range));
        match stride {
            Stride::Long if packed.width > self.least_width_of_line(range) => {
                let narrower = |line: &Block| line.width < packed.width;
                self.fit_line(range, narrower).unwrap_or(packed)
            }
            _ => packed,
        }
    }

    /// A width below which no line from the first to the last number of `range` has residuals: within a
    /// stretch it rises by so much, and the numbers spread by more.
    fn least_width_of_line(&self, range: &Range<usize>) -> u8 {
        let rise = u128::from(self.get(range.start).abs_diff(self.get(range.end - 1)));
        // One more for what is rounded along the line.
        let rise = rise * STRETCH as u128 / (range.len() as u128 - 1).max(1) + 1;
        let rise = u64::try_from(rise).unwrap_or(u64::MAX);
        let ends = &self.ends[range.start / STRETCH..range.end.div_ceil(STRETCH)];
        let spread = ends.iter().map(|(min, max)| (max - min).saturating_sub(rise)).max();
        bits::width_of(spread.unwrap_or(0))
    }

    /// The line from the first to the last number of `range`, if it is `good`, as lines of fewer bits then
    /// are, too.
    ///
    /// Not the best line there is: one with the least spread can save another bit where the ends of a
    /// block are outliers, and takes a hull to find.
    pub(super) fn fit_line(&self, range: &Range<usize>, good: impl Fn(&Block) -> bool) -> Option<Block> {
        /// Where there is no line to be found, so many numbers usually tell.
        const FIRST_LOOK: usize = 64;
        let first = self.get(range.start);
        let slope = slope(first, self.get(range.end - 1), range.len() - 1)?;
        let (mut low, mut high, mut numbers) = (0, 0, [0; STRETCH]);
        let mut at = 0;
        loop {
            let len = (range.len() - at).min(if at == 0 { FIRST_LOOK } else { STRETCH });
            let numbers = &mut numbers[..len];
            self.read(range.start + at, numbers);
            let ends = above_line(first, slope, at, numbers);
            (low, high) = (ends.0.min(low), ends.1.max(high));
            let block = Block {
                base: first.wrapping_add(low.cast_unsigned()),
                slope,
                payload: 0,
                encoding: Encoding::Linear,
                width: bits::width_of(high.abs_diff(low)),
            };
            at += len;
            match good(&block) {
                false => return None,
                true if at == range.len() => return Some(block),
                true => {}
            }
        }
    }
}

/// The block of numbers that lie between `min` and `max`, with its payload's offset left at 0.
pub(super) fn fit_frame((min, max): Ends) -> Block {
    let width = bits::width_of(max.saturating_sub(min));
    let encoding = if width == 0 { Encoding::Constant } else { Encoding::Packed };
    Block { base: min, slope: 0, payload: 0, encoding, width }
}

/// A line through numbers side by side: sums instead of products.
struct Steps {
    wholes: [u64; LANES],
    fractions: [u64; LANES],
    /// What each rises by when all go on.
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

    /// How far the next numbers lie above the line.
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

    /// The same for fewer numbers; what is behind them means nothing.
    #[inline(always)]
    fn above_few(&mut self, few: &[u64]) -> [u64; LANES] {
        let mut numbers = [0; LANES];
        numbers[..few.len()].copy_from_slice(few);
        self.above(&numbers)
    }
}

wide! {
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

    /// The least and the most that numbers lie above the line of this `base` and `slope`, of which the
    /// first is number `at`.
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

    /// Takes from each number what the line of this `base` and `slope` has there, of which the first is
    /// number `at`.
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
