//! [`Filter`]: a range filter that runs when its matches are collected.

use std::fmt;

use crate::{DocRange, Result, bits};

/// A lazy filter: the documents of a column whose values lie in a range. Typed columns make it, by `column.range(…)`.
///
/// ```
/// # use docvalues_column::{DocRange, Filter, Pruning, Result, Rows, bits};
/// # fn small(size: &dyn Rows<i64>, docs: DocRange) -> Result<usize> {
/// let small = Filter::new(docs, |docs, bits| size.filter(docs, &(1_000..=9_999), bits, &mut Pruning::default()));
/// let mut found = vec![0; docs.words()];
/// small.collect_into(&mut found)?;
/// # Ok(bits::count(&found)) }
/// ```
#[must_use = "a filter does nothing until it is collected"]
pub struct Filter<'c> {
    docs: DocRange,
    run: Box<Run<'c>>,
}

type Run<'c> = dyn Fn(DocRange, &mut [u64]) -> Result<()> + 'c;

impl fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter").field("docs", &self.docs).finish_non_exhaustive()
    }
}

impl<'c> Filter<'c> {
    /// A filter over `docs`. `run` sets the bits of the matching documents of a range.
    pub fn new(docs: DocRange, run: impl Fn(DocRange, &mut [u64]) -> Result<()> + 'c) -> Filter<'c> {
        Filter { docs, run: Box::new(run) }
    }

    /// Restricts the filter to the documents `docs`. Bit 0 of the result is then `docs.start`.
    pub fn within(mut self, docs: impl Into<DocRange>) -> Self {
        self.docs = docs.into();
        self
    }

    /// Sets the bits of the matching documents.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has fewer than [`DocRange::words`] words.
    pub fn collect_into(&self, bits: &mut [u64]) -> Result<()> {
        (self.run)(self.docs, bits)
    }

    /// Counts the matching documents.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    pub fn count(&self) -> Result<usize> {
        let mut matched = vec![0; self.docs.words()];
        self.collect_into(&mut matched)?;
        Ok(bits::count(&matched))
    }
}
