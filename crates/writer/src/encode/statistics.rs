//! Statistics of a column, from the first pass of its encoder.

use std::cell::RefCell;
use std::ops::Range;

use docvalues_format::dictionary::Dictionary;
use docvalues_format::file::column::Statistics;
use docvalues_format::numeric::{Numeric, NumericOptions, Transform, Values};

use super::numbers::encode_values;
use crate::buffer::{FixedWidth, Payload, SpillVec};
use crate::error::ErrorKind;

/// Numbers that are encoded, and their statistics, taken while the encoder first reads them.
pub(crate) struct Observed<'a, T> {
    numbers: &'a SpillVec<T>,
    seen: RefCell<Seen<T>>,
}

/// The statistics of the first numbers.
struct Seen<T> {
    len: usize,
    /// The sum, if it is wanted.
    sum: Option<i128>,
    /// Whether numbers ascend or descend. Neither is recorded for multi-valued columns.
    ascending: bool,
    descending: bool,
    /// The number of adjacent pairs that differ, while numbers ascend or descend.
    changes: u64,
    last: Option<T>,
}

impl<'a, T: FixedWidth + Ord> Observed<'a, T> {
    /// The `numbers` of a column; `single` if it is single-valued. They are summed if `summed`.
    pub(crate) fn new(numbers: &'a SpillVec<T>, single: bool, summed: bool) -> Observed<'a, T> {
        let (ascending, descending, sum) = (single, single, summed.then_some(0));
        let seen = Seen { len: 0, sum, ascending, descending, changes: 0, last: None };
        Observed { numbers, seen: RefCell::new(seen) }
    }

    /// Encodes the numbers; on disk, if they are.
    pub(crate) fn encode(&self, options: &NumericOptions) -> Result<Numeric<Payload>, ErrorKind> {
        encode_values(self, self.numbers.sibling_scratch(), options)
    }

    /// The statistics of all numbers, which were `encoded`.
    pub(crate) fn number_statistics(self, encoded: &Numeric<Payload>) -> Statistics {
        let Seen { sum, ascending, descending, changes, .. } = self.seen.into_inner();
        let distinct = match &encoded.transform {
            Transform::Constant(_) => Some(encoded.count.min(1)),
            Transform::Table(table) => Some(table.len() / size_of::<i64>() as u64),
            // Equal values are adjacent in a sorted column.
            Transform::Affine { .. } | Transform::Decimal(_) if ascending || descending => Some(1 + changes),
            Transform::Affine { .. } | Transform::Decimal(_) => None,
        };
        Statistics { sum, distinct, ascending, descending }
    }

    /// The statistics of all numbers, which were encoded and are ords into `terms`.
    pub(crate) fn ord_statistics(self, terms: &Dictionary<Payload>) -> Statistics {
        let Seen { ascending, descending, .. } = self.seen.into_inner();
        Statistics { sum: None, distinct: Some(terms.count.into()), ascending, descending }
    }
}

impl<T: FixedWidth + Ord> Values for Observed<'_, T> {
    type Number = T;
    type Error = ErrorKind;

    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn read<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<T>) -> Result<&'a [T], ErrorKind> {
        let numbers = self.numbers.read(range.clone(), buffer)?;
        let seen = &mut *self.seen.borrow_mut();
        // The encoder reads all numbers in order before it reads any again.
        if range.start == seen.len {
            seen.len = range.end;
            seen.add(numbers);
        }
        Ok(numbers)
    }
}

impl<T: FixedWidth + Ord> Seen<T> {
    fn add(&mut self, numbers: &[T]) {
        let Some(&first) = numbers.first() else { return };
        let last = self.last.unwrap_or(first);
        self.ascending &= last <= first && numbers.is_sorted();
        self.descending &= last >= first && numbers.is_sorted_by(|a, b| a >= b);
        if self.ascending || self.descending {
            let within = numbers.windows(2).filter(|pair| pair[0] != pair[1]).count();
            self.changes += within as u64 + u64::from(last != first);
        }
        self.last = numbers.last().copied();
        if let Some(sum) = &mut self.sum {
            *sum += sum_of(numbers);
        }
    }
}

/// The sum of numbers. Even 2<sup>64</sup> of them would not overflow.
fn sum_of<T: Copy + Into<i64>>(numbers: &[T]) -> i128 {
    /// The 32-bit halves of this many numbers can be summed in 64 bits, which the compiler vectorizes.
    const MANY: usize = 1 << 12;
    let of_halves = |numbers: &[T]| {
        let low: i64 = numbers.iter().map(|&number| number.into() & 0xFFFF_FFFF).sum();
        let high: i64 = numbers.iter().map(|&number| number.into() >> 32).sum();
        i128::from(low) + (i128::from(high) << 32)
    };
    numbers.chunks(MANY).map(of_halves).sum()
}
