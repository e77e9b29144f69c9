//! Typed columns of single numbers: [`Numeric`].

use std::marker::PhantomData;
use std::ops::{ControlFlow, RangeBounds};
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Column, DocId, DocRange, Filter, GatherRows, Gathered, Kind, Number, Result,
};
use docvalues_format::presence::Indices;

use super::{filter, presence_marker};
use crate::column::{BATCH, presence_words};
use crate::numeric_column::NumericColumn;
use crate::segment::Segment;

/// A column with at most one number per document, opened by [`Segment::numeric`] or [`Segment::typed`].
///
/// It corresponds to Lucene's `NumericDocValues`, with random access: documents are read in any order.
///
/// | to read | use | cost |
/// | --- | --- | --- |
/// | one document | [`get`](Numeric::get) | O(1): at most three cache misses (presence, jump entry, value) |
/// | many documents, in any order | [`gather`](Numeric::gather) | a fraction of as many `get`s: the misses overlap |
/// | a range of documents | [`scan`](Numeric::scan) | sequential decoding, in batches |
/// | the documents of a range of values | [`range`](Numeric::range) | skips zones that hold none |
///
/// These costs hold with jump tables ([`JumpTables`](crate::JumpTables)). A column is an [`Arc`]: cheap to clone, and
/// usable by any number of threads.
///
/// # Examples
///
/// ```
/// use std::ops::ControlFlow;
///
/// use docvalues::prelude::*;
///
/// # let mut schema = Schema::new();
/// # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// # for value in [Some(512), None, Some(70)] {
/// #     let mut doc = writer.document();
/// #     if let Some(value) = value {
/// #         doc.i64(size, value)?;
/// #     }
/// #     doc.finish()?;
/// # }
/// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
/// let size = segment.numeric("size")?;
/// assert_eq!(size.get(DocId::new(0))?, Some(512));
/// assert_eq!(size.get(DocId::new(1))?, None); // without a value
///
/// let mut sizes = [0; 3];
/// size.gather_or(&[2, 1, 0].map(DocId::new), &mut sizes, -1)?;
/// assert_eq!(sizes, [70, -1, 512]);
///
/// let mut sum = 0;
/// size.scan(0..segment.docs(), |_docs, values| {
///     sum += values.iter().sum::<i64>();
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(sum, 582);
///
/// assert_eq!(size.range(..100).count()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "NumericDocValues")]
#[doc(alias = "fast field")]
#[derive(Clone, Debug)]
pub struct Numeric<T = i64> {
    pub(crate) column: Arc<NumericColumn>,
    of: PhantomData<fn() -> T>,
}

impl Segment {
    /// Opens the numeric column `name` of signed integers. [`typed`](Self::typed) opens columns of other types.
    ///
    /// # Errors
    ///
    /// [`NoSuchColumn`], [`WrongKind`], [`WrongType`], or if the directory or the column is damaged.
    ///
    /// [`NoSuchColumn`]: docvalues_column::ErrorKind::NoSuchColumn
    /// [`WrongKind`]: docvalues_column::ErrorKind::WrongKind
    /// [`WrongType`]: docvalues_column::ErrorKind::WrongType
    #[doc(alias = "getNumericDocValues")]
    pub fn numeric(&self, name: &str) -> Result<Numeric> {
        self.typed(name)
    }

    /// Opens the numeric column `name` in the type of its values: `segment.typed::<f64>("price")`.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric).
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::column::TimestampMillis;
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let at = schema.add(FieldSpec::new("at", LogicalType::TimestampMillis))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in [1_700_000_000_000] {
    /// #     let mut doc = writer.document();
    /// #     doc.timestamp(at, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let at = segment.typed::<TimestampMillis>("at")?;
    /// assert_eq!(at.get(DocId::new(0))?, Some(TimestampMillis(1_700_000_000_000)));
    /// assert!(segment.typed::<f64>("at").is_err()); // WrongType
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn typed<T: Number>(&self, name: &str) -> Result<Numeric<T>> {
        let Numeric { column, .. } = self.stored(name)?;
        T::check(self.file(), column.info())?;
        Ok(Numeric { column, of: PhantomData })
    }

    /// Opens the numeric column `name` of any type, as stored numbers: see
    /// [`LogicalType`](docvalues_column::LogicalType).
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), except for `WrongType`.
    pub fn stored(&self, name: &str) -> Result<Numeric> {
        Ok(Numeric { column: self.of_kind(name, Kind::Numeric)?, of: PhantomData })
    }
}

impl<T: Number> Numeric<T> {
    /// The value of `doc`; `None` if it has none or is past the last document.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    // Always inlined: a call costs a quarter of a look-up.
    #[inline(always)]
    #[doc(alias = "longValue")]
    #[doc(alias = "advanceExact")]
    #[doc(alias = "first")]
    pub fn get(&self, doc: DocId) -> Result<Option<T>> {
        let value = self.column.core.named(self.column.read(doc))?;
        Ok(value.map(T::from_stored))
    }

    /// Reads the values of `docs`, in any order and with repeats, into `out`.
    ///
    /// Bit `i` of `present` is set if `docs[i]` has a value. Otherwise the bit is cleared and `out[i]` is the type's
    /// default, 0. Bits of the last word after the last document are cleared, too.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` and `docs` differ in length, or `present` has fewer than `docs.len().div_ceil(64)` words.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in [Some(512), None, Some(70)] {
    /// #     let mut doc = writer.document();
    /// #     if let Some(value) = value { doc.i64(size, value)?; }
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let size = segment.numeric("size")?; // 512, none, 70
    /// let docs = [2, 1, 0, 2].map(DocId::new);
    /// let (mut sizes, mut present) = ([0; 4], [0]);
    /// size.gather(&docs, &mut sizes, &mut present)?;
    /// assert_eq!((sizes, present), ([70, 0, 512, 70], [0b1101]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "get_vals")]
    #[doc(alias = "first_vals")]
    pub fn gather(&self, docs: &[DocId], out: &mut [T], present: &mut [u64]) -> Result<()> {
        self.gather_each(docs, out, T::default(), presence_marker(docs, present))
    }

    /// Reads the values of `docs`, in any order and with repeats, into `out`, with `fill` for documents without a
    /// value.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` and `docs` differ in length.
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
        assert_eq!(docs.len(), out.len(), "expected one output value per document");
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

    /// Calls `each` with the values of the documents in `docs`, a batch at a time, in order, until it breaks.
    ///
    /// A batch has only documents with a value.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in [Some(512), None, Some(70)] {
    /// #     let mut doc = writer.document();
    /// #     if let Some(value) = value { doc.i64(size, value)?; }
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let size = segment.numeric("size")?;
    /// let mut first_above_100 = None;
    /// size.scan(0..segment.docs(), |docs, values| {
    ///     match docs.iter().zip(values).find(|(_, value)| **value > 100) {
    ///         Some((doc, _)) => {
    ///             first_above_100 = Some(doc);
    ///             ControlFlow::Break(())
    ///         }
    ///         None => ControlFlow::Continue(()),
    ///     }
    /// })?;
    /// assert_eq!(first_above_100, Some(DocId::new(0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

    /// A filter for the documents whose value is in `values`. It runs when a method of [`Filter`] is called.
    ///
    /// NaN is in no range, not even in `..`.
    ///
    /// O(zones), plus the values of the zones that overlap the range partly.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in [Some(512), None, Some(70)] {
    /// #     let mut doc = writer.document();
    /// #     if let Some(value) = value { doc.i64(size, value)?; }
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let size = segment.numeric("size")?;
    /// let small = size.range(..100);
    /// assert_eq!(small.count()?, 1);
    ///
    /// let mut bits = [0];
    /// small.collect_into(&mut bits)?; // bit i stands for document i
    /// assert_eq!(bits, [0b100]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn range(&self, values: impl RangeBounds<T>) -> Filter<'_> {
        let wanted = T::stored_range(&values);
        filter::<i64>(&*self.column, self.info().docs, wanted)
    }

    /// The range of documents whose value is in `values`, or `None` unless this column is the primary key of the
    /// [index sort](Segment::sort).
    ///
    /// Two binary searches: O(log documents).
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # writer.sort_by([SortKey::of("size")])?;
    /// # for value in [70, 512, 9_000, 512] {
    /// #     let mut doc = writer.document();
    /// #     doc.i64(size, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let size = segment.numeric("size")?; // sorted by size: 70, 512, 512, 9000
    /// assert_eq!(size.doc_range(100..1_000)?, Some(DocRange::new(1, 3)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "IndexSortSortedNumericDocValuesRangeQuery")]
    pub fn doc_range(&self, values: impl RangeBounds<T>) -> Result<Option<DocRange>> {
        self.column.doc_range(&T::stored_range(&values))
    }

    /// The same column, as stored numbers.
    pub fn stored(&self) -> Numeric {
        Numeric { column: self.column.clone(), of: PhantomData }
    }
}

impl<T: Number> GatherRows for Numeric<T> {
    type Rows = Gathered<T>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Gathered<T>) -> Result<()> {
        let fill = rows.fill();
        let (values, mut presence) = rows.begin_one(docs.len());
        self.gather_each(docs, values, fill, |at, indices| presence.mark_words(at, presence_words(indices)))
    }
}
