//! Handles to columns of numbers.

use std::marker::PhantomData;
use std::ops::{ControlFlow, RangeBounds};
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Column, DocId, DocRange, Filter, GatherRows, Gathered, Kind, Lists, Number, Result, Rows,
    Slices,
};
use docvalues_format::presence::Indices;

use super::{filter, presence_marker};
use crate::column::{BATCH, present};
use crate::numeric_column::NumericColumn;
use crate::segment::{OpenColumn, Segment};

/// A column with at most one number a document; [`Segment::numeric`] opens it.
///
/// # Complexity
///
/// `get`: O(1) with jump tables; three cache misses at most: presence, jump entry, value.
#[derive(Debug)]
pub struct Numeric<T = i64> {
    pub(crate) column: Arc<NumericColumn>,
    of: PhantomData<fn() -> T>,
}

/// A column with any number of numbers a document, ascending, duplicates kept; [`Segment::sorted_numeric`] opens it.
///
/// # Complexity
///
/// `get`: O(values of the document) with jump tables.
#[derive(Debug)]
pub struct SortedNumeric<T = i64> {
    pub(crate) column: Arc<NumericColumn>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Numeric<T> {
    fn clone(&self) -> Numeric<T> {
        Numeric { column: self.column.clone(), of: PhantomData }
    }
}

impl<T> Clone for SortedNumeric<T> {
    fn clone(&self) -> SortedNumeric<T> {
        SortedNumeric { column: self.column.clone(), of: PhantomData }
    }
}

impl Segment {
    /// The numeric column `name` of signed integers. For other types: [`typed`](Self::typed).
    ///
    /// # Errors
    ///
    /// [`NoSuchColumn`], [`WrongKind`], [`WrongType`], or when the directory or the column is damaged.
    ///
    /// [`NoSuchColumn`]: docvalues_column::ErrorKind::NoSuchColumn
    /// [`WrongKind`]: docvalues_column::ErrorKind::WrongKind
    /// [`WrongType`]: docvalues_column::ErrorKind::WrongType
    pub fn numeric(&self, name: &str) -> Result<Numeric> {
        self.typed(name)
    }

    /// The numeric column `name`, in the type of its values: `segment.typed::<f64>("price")`.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric).
    pub fn typed<T: Number>(&self, name: &str) -> Result<Numeric<T>> {
        let Numeric { column, .. } = self.stored(name)?;
        T::check(self.file(), column.info())?;
        Ok(Numeric { column, of: PhantomData })
    }

    /// The numeric column `name` of any type, as it is stored: see [`LogicalType`](docvalues_column::LogicalType).
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), but for the type.
    pub fn stored(&self, name: &str) -> Result<Numeric> {
        match self.of_kind(name, Kind::Numeric)? {
            OpenColumn::Numeric(column) => Ok(Numeric { column, of: PhantomData }),
            other => self.wrong_kind(name, &other, Kind::Numeric),
        }
    }

    /// The sorted-numeric column `name` of signed integers. For other types: [`typed_lists`](Self::typed_lists).
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric).
    pub fn sorted_numeric(&self, name: &str) -> Result<SortedNumeric> {
        self.typed_lists(name)
    }

    /// The sorted-numeric column `name`, in the type of its values.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric).
    pub fn typed_lists<T: Number>(&self, name: &str) -> Result<SortedNumeric<T>> {
        let SortedNumeric { column, .. } = self.stored_lists(name)?;
        T::check(self.file(), column.info())?;
        Ok(SortedNumeric { column, of: PhantomData })
    }

    /// The sorted-numeric column `name` of any type, as it is stored.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), but for the type.
    pub fn stored_lists(&self, name: &str) -> Result<SortedNumeric> {
        match self.of_kind(name, Kind::SortedNumeric)? {
            OpenColumn::Numeric(column) => Ok(SortedNumeric { column, of: PhantomData }),
            other => self.wrong_kind(name, &other, Kind::SortedNumeric),
        }
    }
}

impl<T: Number> Numeric<T> {
    /// The value of `doc`; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    // Always: a call costs as much as a quarter of a look-up.
    #[inline(always)]
    pub fn get(&self, doc: DocId) -> Result<Option<T>> {
        let value = self.column.core.named(self.column.read(doc))?;
        Ok(value.map(T::from_stored))
    }

    /// Reads the values of `docs`, in any order and with repeats, into `out`. If a document has none, its bit in `present`
    /// is cleared and its value is the type's default: 0. So are bits after the last document's in its word.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `docs`, or `present` has too few words for them.
    pub fn gather(&self, docs: &[DocId], out: &mut [T], present: &mut [u64]) -> Result<()> {
        self.gather_each(docs, out, T::default(), presence_marker(docs, present))
    }

    /// Reads the values of `docs`, in any order and with repeats, into `out`, and `fill` for those that have none.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` is not as long as `docs`.
    pub fn gather_or(&self, docs: &[DocId], out: &mut [T], fill: T) -> Result<()> {
        self.gather_each(docs, out, fill, |_, _| {})
    }

    fn gather_each(
        &self,
        docs: &[DocId],
        out: &mut [T],
        fill: T,
        mut gaps: impl FnMut(usize, Indices<'_>),
    ) -> Result<()> {
        assert_eq!(docs.len(), out.len(), "a value for each document");
        let fill = fill.to_stored();
        if let Some(out) = T::as_stored(out) {
            return self.column.gather_list(docs, out, fill, gaps);
        }
        let mut stored = [0; BATCH];
        for (i, (docs, out)) in docs.chunks(BATCH).zip(out.chunks_mut(BATCH)).enumerate() {
            let stored = &mut stored[..docs.len()];
            self.column.gather_list(docs, stored, fill, |at, indices| gaps(i * BATCH + at, indices))?;
            out.iter_mut().zip(stored).for_each(|(out, stored)| *out = T::from_stored(*stored));
        }
        Ok(())
    }

    /// Hands the values of all documents in `docs` to `each`, a batch at a time, in order, until it breaks off. Only
    /// documents with a value are in a batch.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn scan(
        &self,
        docs: impl Into<DocRange>,
        mut each: impl FnMut(BatchDocs<'_>, &[T]) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut typed = Vec::new();
        let scanned = self.column.scan_one(docs.into(), |batch| {
            let stored = batch.values.one().unwrap_or_default();
            if let Some(values) = T::of_stored(stored) {
                return each(batch.docs, values);
            }
            typed.clear();
            typed.extend(stored.iter().map(|&stored| T::from_stored(stored)));
            each(batch.docs, &typed)
        });
        self.column.core.named(scanned)
    }

    /// The documents whose value lies in `values`, as a filter yet to be run. A NaN lies in no range, `..` included.
    pub fn range(&self, values: impl RangeBounds<T>) -> Filter<'_> {
        let wanted = T::stored_range(&values);
        filter::<i64>(&*self.column, self.info().docs, wanted)
    }

    /// The documents whose value lies in `values`, all consecutive, if the segment is [sorted](Segment::sort) by this
    /// column first; else `None`.
    ///
    /// O(log documents): two binary searches.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn doc_range(&self, values: impl RangeBounds<T>) -> Result<Option<DocRange>> {
        self.column.doc_range(&T::stored_range(&values))
    }

    /// The same column as it is stored.
    pub fn stored(&self) -> Numeric {
        Numeric { column: self.column.clone(), of: PhantomData }
    }
}

impl<T: Number> SortedNumeric<T> {
    /// Replaces `out` by the values of `doc`: none if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn get(&self, doc: DocId, out: &mut Vec<T>) -> Result<()> {
        let mut stored = Vec::<i64>::new();
        Rows::get(&*self.column, doc, &mut stored)?;
        out.clear();
        out.extend(stored.into_iter().map(T::from_stored));
        Ok(())
    }

    /// Replaces `out` by the values of `docs`, a list each, in any order and with repeats.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn gather(&self, docs: &[DocId], out: &mut Lists<T>) -> Result<()> {
        let mut stored = Lists::<i64>::new();
        self.column.gather_lists(docs, &mut stored)?;
        out.clear();
        stored.slices().iter().for_each(|list| {
            out.push_with(|items| items.extend(list.iter().map(|&stored| T::from_stored(stored))));
        });
        Ok(())
    }

    /// Hands the values of all documents in `docs` to `each`, a batch at a time, in order, until it breaks off. Only
    /// documents with a value are in a batch.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn scan(
        &self,
        docs: impl Into<DocRange>,
        mut each: impl FnMut(BatchDocs<'_>, Slices<'_, T>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut typed = Vec::new();
        Rows::<i64>::scan(&*self.column, docs.into(), &mut |batch| {
            let lists = batch.values.many().unwrap_or(Slices::none());
            typed.clear();
            typed.extend(lists.items().iter().map(|&stored| T::from_stored(stored)));
            each(batch.docs, lists.over(&typed))
        })
    }

    /// The documents with at least one value in `values`, as a filter yet to be run.
    pub fn range(&self, values: impl RangeBounds<T>) -> Filter<'_> {
        filter::<i64>(&*self.column, self.info().docs, T::stored_range(&values))
    }
}

impl<T: Number> GatherRows for Numeric<T> {
    type Rows = Gathered<T>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Gathered<T>) -> Result<()> {
        let fill = rows.fill();
        let (values, mut presence) = rows.begin_one(docs.len());
        self.gather_each(docs, values, fill, |at, indices| presence.mark_words(at, present(indices)))
    }
}

impl<T: Number> GatherRows for SortedNumeric<T> {
    type Rows = Lists<T>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Lists<T>) -> Result<()> {
        self.gather(docs, rows)
    }
}
