//! Handles to columns of ords, and their dictionaries.

use std::ops::ControlFlow;
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, DocId, DocRange, Filter, GatherRows, Gathered, Kind, Lists, OrdRange, Result, Rows, Slices,
    TermOrd, Terms,
};

use super::{filter, presence_marker};
use crate::dictionary::Dictionary;
use crate::element::Stored;
use crate::numeric_column::NumericColumn;
use crate::segment::{OpenColumn, Segment};

/// A column with at most one term of a dictionary a document; [`Segment::sorted`] opens it.
///
/// # Complexity
///
/// `ord`: O(1) with jump tables. A term: O(1), one block of terms. `seek_exact`: O(log terms).
#[derive(Clone, Debug)]
pub struct Sorted {
    pub(crate) column: Arc<NumericColumn>,
    terms: Arc<Dictionary>,
}

/// A column with a set of terms a document, as ascending ords; [`Segment::sorted_set`] opens it.
///
/// # Complexity
///
/// `ords`: O(ords of the document) with jump tables. A term: O(1), one block of terms. `seek_exact`: O(log terms).
#[derive(Clone, Debug)]
pub struct SortedSet {
    pub(crate) column: Arc<NumericColumn>,
    terms: Arc<Dictionary>,
}

impl Segment {
    /// The sorted column `name`.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), but for the type.
    pub fn sorted(&self, name: &str) -> Result<Sorted> {
        match self.of_kind(name, Kind::Sorted)? {
            OpenColumn::Numeric(column) if let Some(terms) = column.terms.clone() => {
                Ok(Sorted { column, terms })
            }
            other => self.wrong_kind(name, &other, Kind::Sorted),
        }
    }

    /// The sorted-set column `name`.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), but for the type.
    pub fn sorted_set(&self, name: &str) -> Result<SortedSet> {
        match self.of_kind(name, Kind::SortedSet)? {
            OpenColumn::Numeric(column) if let Some(terms) = column.terms.clone() => {
                Ok(SortedSet { column, terms })
            }
            other => self.wrong_kind(name, &other, Kind::SortedSet),
        }
    }
}

impl Sorted {
    /// The dictionary.
    pub fn terms(&self) -> &dyn Terms {
        &*self.terms
    }

    /// The ord of `doc`'s term; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    // Always: a call costs as much as a quarter of a look-up.
    #[inline(always)]
    pub fn ord(&self, doc: DocId) -> Result<Option<TermOrd>> {
        let value = self.column.core.named(self.column.read(doc))?;
        Ok(value.map(TermOrd::of))
    }

    /// Reads the ords of `docs`, in any order and with repeats, into `out`. If a document has none, its bit in `present` is
    /// cleared and its ord is 0.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `docs`, or `present` has too few words for them.
    pub fn gather(&self, docs: &[DocId], out: &mut [TermOrd], present: &mut [u64]) -> Result<()> {
        self.column.gather_list(docs, out, TermOrd::new(0), presence_marker(docs, present))
    }

    /// Reads the ords of `docs`, in any order and with repeats, into `out`, and `fill` for those that have none.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `docs`.
    pub fn gather_or(&self, docs: &[DocId], out: &mut [TermOrd], fill: TermOrd) -> Result<()> {
        self.column.gather_list(docs, out, fill, |_, _| {})
    }

    /// Hands the ords of all documents in `docs` to `each`, a batch at a time, in order, until it breaks off.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn scan(
        &self,
        docs: impl Into<DocRange>,
        mut each: impl FnMut(BatchDocs<'_>, &[TermOrd]) -> ControlFlow<()>,
    ) -> Result<()> {
        let scanned = self.column.scan_one::<TermOrd>(docs.into(), |batch| {
            each(batch.docs, batch.values.one().unwrap_or_default())
        });
        self.column.core.named(scanned)
    }

    /// The documents whose ord lies in `ords`, as a filter yet to be run.
    pub fn range(&self, ords: impl Into<OrdRange>) -> Filter<'_> {
        filter::<TermOrd>(&*self.column, self.info().docs, ords.into())
    }

    /// The documents whose ord lies in `ords`, all consecutive, if the segment is [sorted](Segment::sort) by this column
    /// first; else `None`.
    ///
    /// O(log documents): two binary searches.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn doc_range(&self, ords: impl Into<OrdRange>) -> Result<Option<DocRange>> {
        self.column.doc_range(&TermOrd::wanted(&ords.into()))
    }
}

impl SortedSet {
    /// The dictionary.
    pub fn terms(&self) -> &dyn Terms {
        &*self.terms
    }

    /// Replaces `out` by the ords of `doc`: none if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn ords(&self, doc: DocId, out: &mut Vec<TermOrd>) -> Result<()> {
        Rows::get(&*self.column, doc, out).map(drop)
    }

    /// Replaces `out` by the ords of `docs`, a list each, in any order and with repeats.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn gather(&self, docs: &[DocId], out: &mut Lists<TermOrd>) -> Result<()> {
        self.column.gather_lists(docs, out)
    }

    /// Hands the ords of all documents in `docs` to `each`, a batch at a time, in order, until it breaks off.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn scan(
        &self,
        docs: impl Into<DocRange>,
        mut each: impl FnMut(BatchDocs<'_>, Slices<'_, TermOrd>) -> ControlFlow<()>,
    ) -> Result<()> {
        Rows::<TermOrd>::scan(&*self.column, docs.into(), &mut |batch| {
            each(batch.docs, batch.values.many().unwrap_or(Slices::none()))
        })
    }

    /// The documents with at least one ord in `ords`, as a filter yet to be run.
    pub fn range(&self, ords: impl Into<OrdRange>) -> Filter<'_> {
        filter::<TermOrd>(&*self.column, self.info().docs, ords.into())
    }
}

impl GatherRows for Sorted {
    type Rows = Gathered<TermOrd>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Gathered<TermOrd>) -> Result<()> {
        Rows::gather(&*self.column, BatchDocs::List(docs), rows)
    }
}

impl GatherRows for SortedSet {
    type Rows = Lists<TermOrd>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Lists<TermOrd>) -> Result<()> {
        self.gather(docs, rows)
    }
}
