//! Typed columns of lists of numbers: [`SortedNumeric`].

use std::marker::PhantomData;
use std::ops::{ControlFlow, RangeBounds};
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Column, DocId, DocRange, Filter, GatherRows, Kind, Lists, Number, Result, Rows, Slices,
};

use super::filter;
use crate::numeric_column::NumericColumn;
use crate::segment::Segment;

/// A column with a list of numbers per document, opened by [`Segment::sorted_numeric`] or [`Segment::typed_lists`].
///
/// The numbers of a document ascend, and duplicates are kept. It corresponds to Lucene's `SortedNumericDocValues`.
///
/// # Complexity
///
/// `get` is O(values of the document) with jump tables.
///
/// # Examples
///
/// ```
/// use docvalues::prelude::*;
///
/// # let mut schema = Schema::new();
/// # let prices = schema.add(FieldSpec::new("prices", LogicalType::F64).multi_valued())?;
/// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// # for values in [&[9.5, 7.25][..], &[], &[3.0]] {
/// #     let mut doc = writer.document();
/// #     for &value in values {
/// #         doc.f64(prices, value)?;
/// #     }
/// #     doc.finish()?;
/// # }
/// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
/// let prices = segment.typed_lists::<f64>("prices")?;
/// let mut values = Vec::new();
/// prices.get(DocId::new(0), &mut values)?;
/// assert_eq!(values, [7.25, 9.5]);
///
/// // Documents with at least one price from 5 to 8.
/// assert_eq!(prices.range(5.0..8.0).count()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "SortedNumericDocValues")]
#[doc(alias = "fast field")]
#[derive(Clone, Debug)]
pub struct SortedNumeric<T = i64> {
    pub(crate) column: Arc<NumericColumn>,
    of: PhantomData<fn() -> T>,
}

impl Segment {
    /// Opens the sorted-numeric column `name` of signed integers. [`typed_lists`](Self::typed_lists) opens columns of
    /// other types.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric).
    #[doc(alias = "getSortedNumericDocValues")]
    pub fn sorted_numeric(&self, name: &str) -> Result<SortedNumeric> {
        self.typed_lists(name)
    }

    /// Opens the sorted-numeric column `name` in the type of its values.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric).
    pub fn typed_lists<T: Number>(&self, name: &str) -> Result<SortedNumeric<T>> {
        let SortedNumeric { column, .. } = self.stored_lists(name)?;
        T::check(self.file(), column.info())?;
        Ok(SortedNumeric { column, of: PhantomData })
    }

    /// Opens the sorted-numeric column `name` of any type, as stored numbers.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), except for `WrongType`.
    pub fn stored_lists(&self, name: &str) -> Result<SortedNumeric> {
        Ok(SortedNumeric { column: self.of_kind(name, Kind::SortedNumeric)?, of: PhantomData })
    }
}

impl<T: Number> SortedNumeric<T> {
    /// Replaces the contents of `out` by the values of `doc`: nothing if it has none or is past the last document.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    #[doc(alias = "nextValue")]
    #[doc(alias = "docValueCount")]
    #[doc(alias = "values_for_doc")]
    pub fn get(&self, doc: DocId, out: &mut Vec<T>) -> Result<()> {
        let mut stored = Vec::<i64>::new();
        self.column.read_row(doc, &mut stored)?;
        out.clear();
        out.extend(stored.into_iter().map(T::from_stored));
        Ok(())
    }

    /// Replaces the contents of `out` by one list of values for each of `docs`, in any order and with repeats.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::column::Lists;
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let sizes = schema.add(FieldSpec::new("sizes", LogicalType::I64).multi_valued())?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in [&[3, 1][..], &[], &[2]] {
    /// #     let mut doc = writer.document();
    /// #     for &one in value { doc.i64(sizes, one)?; }
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let sizes = segment.sorted_numeric("sizes")?; // [3, 1], none, [2]
    /// let mut lists = Lists::new();
    /// sizes.gather(&[2, 1, 0].map(DocId::new), &mut lists)?;
    /// assert_eq!((lists.get(0), lists.get(1), lists.get(2)), (&[2][..], &[][..], &[1, 3][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather(&self, docs: &[DocId], out: &mut Lists<T>) -> Result<()> {
        let mut stored = Lists::<i64>::new();
        self.column.gather_lists(docs, &mut stored)?;
        out.clear();
        stored.slices().iter().for_each(|list| {
            out.push_with(|items| items.extend(list.iter().map(|&stored| T::from_stored(stored))));
        });
        Ok(())
    }

    /// Calls `each` with the values of the documents in `docs`, a batch at a time, in order, until it breaks.
    ///
    /// A batch has only documents with a value.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
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

    /// A filter for the documents with at least one value in `values`. It runs when a method of [`Filter`] is called.
    pub fn range(&self, values: impl RangeBounds<T>) -> Filter<'_> {
        filter::<i64>(&*self.column, self.info().docs, T::stored_range(&values))
    }
}

impl<T: Number> GatherRows for SortedNumeric<T> {
    type Rows = Lists<T>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Lists<T>) -> Result<()> {
        self.gather(docs, rows)
    }
}
