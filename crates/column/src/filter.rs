//! A filter that is written down before it is run.

use std::fmt;
use std::ops::{Bound, Range, RangeBounds, RangeInclusive};

use crate::{Result, bits};

/// The documents of a column whose values lie in a range; made by `column.range(…)`.
///
/// ```
/// # use docvalues_column::{NumericColumn, Result, bits};
/// # fn small(size: &impl NumericColumn) -> Result<usize> {
/// let mut found = vec![0; bits::words(0..size.docs())];
/// size.range(1_000..=9_999).collect_into(&mut found)?;
/// # Ok(bits::count(&found)) }
/// ```
#[must_use = "a filter does nothing until it is collected"]
pub struct Filter<'c> {
    docs: Range<u32>,
    run: Box<Run<'c>>,
}

type Run<'c> = dyn Fn(Range<u32>, &mut [u64]) -> Result<()> + 'c;

impl fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter").field("docs", &self.docs).finish_non_exhaustive()
    }
}

impl<'c> Filter<'c> {
    /// A filter over `docs` that `run` carries out: it adds bits for the documents it is given.
    pub fn new(docs: Range<u32>, run: impl Fn(Range<u32>, &mut [u64]) -> Result<()> + 'c) -> Filter<'c> {
        Filter { docs, run: Box::new(run) }
    }

    /// Looks only at the documents `docs`; bit 0 of the result is then `docs.start`.
    pub fn within(mut self, docs: Range<u32>) -> Self {
        self.docs = docs;
        self
    }

    /// Adds the matching documents to `bits`.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has too few words.
    pub fn collect_into(&self, bits: &mut [u64]) -> Result<()> {
        (self.run)(self.docs.clone(), bits)
    }

    /// How many documents match.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn count(&self) -> Result<usize> {
        let mut matched = vec![0; bits::words(self.docs.clone())];
        self.collect_into(&mut matched)?;
        Ok(bits::count(&matched))
    }
}

/// The numbers in `range`, both ends included. An empty range comes out as one.
pub(crate) fn inclusive(range: &impl RangeBounds<i64>) -> RangeInclusive<i64> {
    let none = RangeInclusive::new(i64::MAX, i64::MIN);
    let low = match range.start_bound() {
        Bound::Included(&low) => Some(low),
        Bound::Excluded(&below) => below.checked_add(1),
        Bound::Unbounded => Some(i64::MIN),
    };
    let high = match range.end_bound() {
        Bound::Included(&high) => Some(high),
        Bound::Excluded(&above) => above.checked_sub(1),
        Bound::Unbounded => Some(i64::MAX),
    };
    low.zip(high).map_or(none, |(low, high)| low..=high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_range_is_an_inclusive_one() {
        assert_eq!(inclusive(&(1..=9)), 1..=9);
        assert_eq!(inclusive(&(1..9)), 1..=8);
        assert_eq!(inclusive(&(..)), i64::MIN..=i64::MAX);
        assert_eq!(inclusive(&(i64::MAX..)), i64::MAX..=i64::MAX);
        assert!(inclusive(&(..i64::MIN)).is_empty());
        assert!(inclusive(&(Bound::Excluded(i64::MAX), Bound::Unbounded)).is_empty());
    }
}
