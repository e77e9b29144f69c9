//! Columns of 64-bit numbers.

use std::ops::{ControlFlow, Range, RangeBounds, RangeInclusive};

use docvalues_format::id::DocId;

use crate::filter::{Filter, inclusive};
use crate::{Batch, Column, FilterCounts, Lists, Result, Slices};

/// At most one 64-bit number a document.
///
/// Numbers are the stored ones: a column of another logical type than `i64` maps its values with the
/// transforms of `docvalues_format::file::kind`, which keep their order.
pub trait NumericColumn: Column {
    /// The smallest and the largest value, or `None` where there is no value.
    ///
    /// O(1): from the directory.
    fn bounds(&self) -> Option<RangeInclusive<i64>>;

    /// The sum of all stored numbers, if that is known without reading them. Of doubles it would mean nothing.
    fn sum(&self) -> Option<i128> {
        None
    }

    /// The value of `doc`; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn get(&self, doc: DocId) -> Result<Option<i64>>;

    /// Reads the values of `docs`, in any order and with repeats, into `out`; where a document has
    /// none, its bit in `present` is cleared and its number is 0.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `docs`, or `present` has too few words for them.
    fn gather(&self, docs: &[DocId], out: &mut [i64], present: &mut [u64]) -> Result<()>;

    /// Reads the values of `docs`, in any order and with repeats, into `out`, and `fill` for those
    /// that have none.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `docs`.
    fn gather_or(&self, docs: &[DocId], out: &mut [i64], fill: i64) -> Result<()>;

    /// Hands the values of all documents in `docs` to `each`, a batch at a time, in order, until it
    /// breaks off.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, &[i64]>) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Adds to `bits` every document of `docs` whose value lies in `values`.
    ///
    /// Typed callers write `column.range(low..=high).collect_into(bits)`.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has too few words.
    fn filter(&self, docs: Range<u32>, values: RangeInclusive<i64>, bits: &mut [u64]) -> Result<()>;

    /// Shows `each` the parts of `docs`, ascending, that may have a value in `values`, until it breaks off; no other
    /// document of `docs` has one, as is known without a look at any value. By default, it is shown all of them.
    ///
    /// It is what Lucene's `DocValuesSkipper` is for: a filter passes over the others quickly, too, but bits for them have to
    /// be cleared, and looked at, all the same. What indexes decided is added to `counts`.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn candidates(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        counts: &mut FilterCounts,
        each: &mut dyn FnMut(Range<u32>) -> ControlFlow<()>,
    ) -> Result<()> {
        let _ = (values, counts);
        if !docs.is_empty() {
            let _ = each(docs);
        }
        Ok(())
    }

    /// Sets the bit of each 512 documents of `docs` that may have a value in `values`; no other document of `docs` has one, as
    /// is known without a look at any value. Bit *i* is of documents `docs.start + 512 * i` and those behind it; `docs` begin
    /// with a multiple of 4,096. By default, all bits are set. What zones and stretches decided is added to `counts`. To find
    /// out `finely` takes longer, and pays where there are more documents to be passed over than stretches. Other bits stay as
    /// they are, but for those of the zone in which `docs` end.
    ///
    /// As [`candidates`](Self::candidates), for who has few documents everywhere.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If there are too few bits; and perhaps if `docs` begin elsewhere.
    fn open_stretches(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        finely: bool,
        counts: &mut FilterCounts,
        bits: &mut [u64],
    ) -> Result<()> {
        let _ = (values, finely, counts);
        docvalues_format::bits::fill(bits, 0..docs.len().div_ceil(docvalues_format::bits::STRETCH as usize));
        Ok(())
    }

    /// A number that about `n` values of the column reach, or surpass, if `greatest`; else one that about `n` are not above.
    /// `None` if the column cannot tell at once, as by default.
    ///
    /// It is a guess, for who looks for the first documents and wants to begin with good ones.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn guess_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        let _ = (n, greatest);
        Ok(None)
    }

    /// As [`filter`](Self::filter), and adds to `counts` how the documents were found, as far as the column can tell: by
    /// default nothing.
    ///
    /// # Errors
    ///
    /// As [`filter`](Self::filter).
    ///
    /// # Panics
    ///
    /// As [`filter`](Self::filter).
    fn filter_counting(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        bits: &mut [u64],
        counts: &mut FilterCounts,
    ) -> Result<()> {
        let _ = counts;
        self.filter(docs, values, bits)
    }

    /// The documents whose value lies in `values`, as a filter yet to be run.
    fn range(&self, values: impl RangeBounds<i64>) -> Filter<'_>
    where
        Self: Sized,
    {
        let values = inclusive(&values);
        Filter::new(0..self.docs(), move |docs, bits| self.filter(docs, values.clone(), bits))
    }
}

/// Any number of 64-bit numbers a document, in ascending order, duplicates kept.
pub trait SortedNumericColumn: Column {
    /// The smallest and the largest value, or `None` where there is no value.
    fn bounds(&self) -> Option<RangeInclusive<i64>>;

    /// Values of all documents together.
    fn value_count(&self) -> u64;

    /// The sum of all stored numbers, if that is known without reading them. Of doubles it would mean nothing.
    fn sum(&self) -> Option<i128> {
        None
    }

    /// Replaces `out` by the values of `doc`: none if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn get(&self, doc: DocId, out: &mut Vec<i64>) -> Result<()>;

    /// Replaces `out` by the values of `docs`, a list each, in any order and with repeats.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn gather(&self, docs: &[DocId], out: &mut Lists<i64>) -> Result<()>;

    /// Hands the values of all documents in `docs` to `each`, a batch at a time, in order, until it
    /// breaks off.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, i64>>) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Adds to `bits` every document of `docs` with at least one value in `values`.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has too few words.
    fn filter(&self, docs: Range<u32>, values: RangeInclusive<i64>, bits: &mut [u64]) -> Result<()>;

    /// As [`filter`](Self::filter), and adds to `counts` how the documents were found, as far as the column can tell: by
    /// default nothing.
    ///
    /// # Errors
    ///
    /// As [`filter`](Self::filter).
    ///
    /// # Panics
    ///
    /// As [`filter`](Self::filter).
    fn filter_counting(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        bits: &mut [u64],
        counts: &mut FilterCounts,
    ) -> Result<()> {
        let _ = counts;
        self.filter(docs, values, bits)
    }

    /// The documents with at least one value in `values`, as a filter yet to be run.
    fn range(&self, values: impl RangeBounds<i64>) -> Filter<'_>
    where
        Self: Sized,
    {
        let values = inclusive(&values);
        Filter::new(0..self.docs(), move |docs, bits| self.filter(docs, values.clone(), bits))
    }
}
