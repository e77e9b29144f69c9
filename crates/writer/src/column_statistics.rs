//! Statistics of a column, by one pass over its numbers.

use docvalues_format::dictionary::Dictionary;
use docvalues_format::file::column::Statistics;
use docvalues_format::file::kind::LogicalType;
use docvalues_format::numeric::{Numeric, Transform};

use crate::buffer::{Payload, SpillVec};
use crate::error::ErrorKind;

/// The statistics of a column of numbers; `single` if it is single-valued.
pub(crate) fn number_statistics(
    numbers: &SpillVec<i64>,
    encoded: &Numeric<Payload>,
    logical: LogicalType,
    single: bool,
) -> Result<Statistics, ErrorKind> {
    let (mut order, mut total) = (Monotonicity::new(single), 0);
    let summed = logical != LogicalType::F64;
    numbers.for_each(|numbers| {
        order.add(numbers);
        total += if summed { sum(numbers) } else { 0 };
    })?;
    let Monotonicity { ascending, descending, changes, .. } = order;
    let distinct = match &encoded.transform {
        Transform::Constant(_) => Some(encoded.count.min(1)),
        Transform::Table(table) => Some(table.len() / size_of::<i64>() as u64),
        // Equal values are adjacent in a sorted column.
        Transform::Affine { .. } | Transform::Decimal(_) if ascending || descending => Some(1 + changes),
        Transform::Affine { .. } | Transform::Decimal(_) => None,
    };
    Ok(Statistics { sum: summed.then_some(total), distinct, ascending, descending })
}

/// The statistics of a column of ords into `terms`.
pub(crate) fn ord_statistics(
    ords: &SpillVec<u32>,
    terms: &Dictionary<Payload>,
    single: bool,
) -> Result<Statistics, ErrorKind> {
    let mut order = Monotonicity::new(single);
    ords.for_each(|ords| order.add(ords))?;
    let Monotonicity { ascending, descending, .. } = order;
    Ok(Statistics { sum: None, distinct: Some(terms.count.into()), ascending, descending })
}

/// Whether numbers ascend or descend. Neither is recorded for multi-valued columns.
struct Monotonicity<T> {
    ascending: bool,
    descending: bool,
    /// The number of adjacent pairs that differ, while numbers ascend or descend.
    changes: u64,
    last: Option<T>,
}

impl<T: Copy + Ord> Monotonicity<T> {
    fn new(single: bool) -> Monotonicity<T> {
        Monotonicity { ascending: single, descending: single, changes: 0, last: None }
    }

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
    }
}

/// The sum of numbers. Even 2<sup>64</sup> of them would not overflow.
fn sum(numbers: &[i64]) -> i128 {
    /// The 32-bit halves of this many numbers can be summed in 64 bits, which the compiler vectorizes.
    const MANY: usize = 1 << 12;
    let of_halves = |numbers: &[i64]| {
        let low: i64 = numbers.iter().map(|&number| number & 0xFFFF_FFFF).sum();
        let high: i64 = numbers.iter().map(|&number| number >> 32).sum();
        i128::from(low) + (i128::from(high) << 32)
    };
    numbers.chunks(MANY).map(of_halves).sum()
}
