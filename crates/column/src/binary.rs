//! Columns of byte strings.

use std::ops::{Bound, ControlFlow, Range};

use docvalues_format::id::DocId;

use crate::filter::Filter;
use crate::{Batch, Column, Lists, Result, Slices};

/// At most one byte string a document.
pub trait BinaryColumn: Column {
    /// The value of `doc`; `None` if it has none or lies past the last document.
    ///
    /// `buffer` is used where the value has to be decoded; the result borrows from it or from the
    /// column.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn get<'a>(&'a self, doc: DocId, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>>;

    /// Replaces `out` by the values of `docs`, in any order and with repeats; where a document has
    /// none, its bit in `present` is cleared and its value is empty.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `present` has too few words for `docs`.
    fn gather(&self, docs: &[DocId], out: &mut Lists<u8>, present: &mut [u64]) -> Result<()>;

    /// Replaces `out` by the values of `docs`, in any order and with repeats, and `fill` for those
    /// that have none.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn gather_or(&self, docs: &[DocId], out: &mut Lists<u8>, fill: &[u8]) -> Result<()>;

    /// Hands the values of all documents in `docs` to `each`, a batch at a time, in order, until it
    /// breaks off.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, u8>>) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Adds to `bits` every document of `docs` whose value lies between `low` and `high`, byte by
    /// byte. Reads every value of `docs`: a binary column has no skip index.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has too few words.
    fn filter(&self, docs: Range<u32>, low: Bound<&[u8]>, high: Bound<&[u8]>, bits: &mut [u64])
    -> Result<()>;

    /// The documents whose value lies between `low` and `high`, as a filter yet to be run.
    fn range<'v>(&'v self, low: Bound<&'v [u8]>, high: Bound<&'v [u8]>) -> Filter<'v>
    where
        Self: Sized,
    {
        Filter::new(0..self.docs(), move |docs, bits| self.filter(docs, low, high, bits))
    }
}
