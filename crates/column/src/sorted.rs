//! Columns of terms: ords into a sorted dictionary.

use std::ops::{Bound, ControlFlow, Range};

use docvalues_format::id::{DocId, TermOrd};

use crate::filter::Filter;
use crate::{Batch, Column, FilterCounts, Lists, Result, Slices};

/// The dictionary of a column: distinct byte strings in ascending order, numbered from 0.
pub trait Terms {
    /// How many terms there are.
    fn term_count(&self) -> u32;

    /// Replaces `out` by the term of `ord`.
    ///
    /// # Errors
    ///
    /// [`NoSuchOrd`](crate::ErrorKind::NoSuchOrd) past the last term, or when bytes are damaged.
    fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> Result<()>;

    /// The ord of `term`, if it is one.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>>;

    /// The ord of the first term not below `term`; the number of terms if all are below.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd>;

    /// The ords of all terms that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn prefix(&self, prefix: &[u8]) -> Result<Range<u32>>;

    /// The ords of all terms between two bounds.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn term_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Range<u32>>;

    /// Replaces `out` by the terms of `ords`, in any order and with repeats. Cheaper than
    /// [`term`](Self::term) for many: they do not wait for each other.
    ///
    /// # Errors
    ///
    /// As [`term`](Self::term); what `out` then holds is unspecified.
    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
        let mut term = Vec::new();
        out.clear();
        for &ord in ords {
            self.term(ord, &mut term)?;
            out.push(&term);
        }
        Ok(())
    }

    /// Hands the terms of `ords` to `each` in order, until it breaks off. Cheaper than
    /// [`term`](Self::term) for many: a block is decoded once.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn each_term(
        &self,
        ords: Range<u32>,
        each: &mut dyn FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<()>;
}

/// At most one term a document.
pub trait SortedColumn: Column + Terms {
    /// The ord of `doc`'s term; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn ord(&self, doc: DocId) -> Result<Option<TermOrd>>;

    /// Reads the ords of `docs`, in any order and with repeats, into `out`; where a document has
    /// none, its bit in `present` is cleared and its ord is 0.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `docs`, or `present` has too few words for them.
    fn gather(&self, docs: &[DocId], out: &mut [TermOrd], present: &mut [u64]) -> Result<()>;

    /// Reads the ords of `docs`, in any order and with repeats, into `out`, and `fill` for those
    /// that have none.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `docs`.
    fn gather_or(&self, docs: &[DocId], out: &mut [TermOrd], fill: TermOrd) -> Result<()>;

    /// Hands the ords of all documents in `docs` to `each`, a batch at a time, in order, until it
    /// breaks off.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, &[TermOrd]>) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Adds to `bits` every document of `docs` whose ord lies in `ords`.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has too few words.
    fn filter(&self, docs: Range<u32>, ords: Range<u32>, bits: &mut [u64]) -> Result<()>;

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
        ords: Range<u32>,
        bits: &mut [u64],
        counts: &mut FilterCounts,
    ) -> Result<()> {
        let _ = counts;
        self.filter(docs, ords, bits)
    }

    /// The documents whose ord lies in `ords`, as a filter yet to be run.
    fn range(&self, ords: Range<u32>) -> Filter<'_>
    where
        Self: Sized,
    {
        Filter::new(0..self.docs(), move |docs, bits| self.filter(docs, ords.clone(), bits))
    }
}

/// A set of terms a document, as ascending ords.
pub trait SortedSetColumn: Column + Terms {
    /// Ords of all documents together.
    fn value_count(&self) -> u64;

    /// Replaces `out` by the ords of `doc`: none if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn ords(&self, doc: DocId, out: &mut Vec<TermOrd>) -> Result<()>;

    /// Replaces `out` by the ords of `docs`, a list each, in any order and with repeats.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn gather(&self, docs: &[DocId], out: &mut Lists<TermOrd>) -> Result<()>;

    /// Hands the ords of all documents in `docs` to `each`, a batch at a time, in order, until it
    /// breaks off.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, TermOrd>>) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Adds to `bits` every document of `docs` with at least one ord in `ords`.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has too few words.
    fn filter(&self, docs: Range<u32>, ords: Range<u32>, bits: &mut [u64]) -> Result<()>;

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
        ords: Range<u32>,
        bits: &mut [u64],
        counts: &mut FilterCounts,
    ) -> Result<()> {
        let _ = counts;
        self.filter(docs, ords, bits)
    }

    /// The documents with at least one ord in `ords`, as a filter yet to be run.
    fn range(&self, ords: Range<u32>) -> Filter<'_>
    where
        Self: Sized,
    {
        Filter::new(0..self.docs(), move |docs, bits| self.filter(docs, ords.clone(), bits))
    }
}
