//! Typed handles: columns of a segment as people read them.
//!
//! Each kind of column has one. They own what they need: a handle outlives the [`Segment`] it came from, is cheap to clone
//! and can be read by any number of threads.

use std::marker::PhantomData;
use std::ops::{Bound, ControlFlow, RangeBounds};
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Column, ColumnInfo, DocId, DocRange, ErrorKind, Filter, GatherRows, Gathered, Kind, Lists,
    Number, OrdRange, Pruning, Result, Rows, Slices, TermOrd, Terms,
};
use docvalues_format::binary::Scratch;
use docvalues_format::presence::Indices;

use crate::bytes::Bytes;
use crate::core::{BATCH, present};
use crate::dictionary::Dictionary;
use crate::numbers::Numbers;
use crate::segment::{Opened, Segment};
use crate::stored::Stored;

/// A column with at most one number a document; [`Segment::numeric`] opens it.
///
/// # Complexity
///
/// `get`: O(1) with jump tables; three cache misses at most: presence, jump entry, value.
#[derive(Debug)]
pub struct Numeric<T = i64> {
    pub(crate) column: Arc<Numbers>,
    of: PhantomData<fn() -> T>,
}

/// A column with any number of numbers a document, ascending, duplicates kept; [`Segment::sorted_numeric`] opens it.
///
/// # Complexity
///
/// `get`: O(values of the document) with jump tables.
#[derive(Debug)]
pub struct SortedNumeric<T = i64> {
    pub(crate) column: Arc<Numbers>,
    of: PhantomData<fn() -> T>,
}

/// A column with at most one term of a dictionary a document; [`Segment::sorted`] opens it.
///
/// # Complexity
///
/// `ord`: O(1) with jump tables. A term: O(1), one block of terms. `seek_exact`: O(log terms).
#[derive(Clone, Debug)]
pub struct Sorted {
    pub(crate) column: Arc<Numbers>,
    terms: Arc<Dictionary>,
}

/// A column with a set of terms a document, as ascending ords; [`Segment::sorted_set`] opens it.
///
/// # Complexity
///
/// `ords`: O(ords of the document) with jump tables. A term: O(1), one block of terms. `seek_exact`: O(log terms).
#[derive(Clone, Debug)]
pub struct SortedSet {
    pub(crate) column: Arc<Numbers>,
    terms: Arc<Dictionary>,
}

/// A column with at most one byte string a document; [`Segment::binary`] opens it.
///
/// # Complexity
///
/// `get`: O(1) with jump tables; without a copy where values are not compressed. Values compressed in blocks are read faster
/// by a [cursor](Binary::cursor) or [`gather`](Binary::gather), in order.
#[derive(Clone, Debug)]
pub struct Binary {
    pub(crate) column: Arc<Bytes>,
}

/// Reads documents of a [`Binary`] column, and keeps the block of compressed values that it decoded for the next one.
#[derive(Clone, Debug)]
pub struct Cursor<'c> {
    column: &'c Binary,
    scratch: Scratch,
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

// A macro, because the handles have nothing in common but these.
macro_rules! handle {
    ($($handle:ident $(<$t:ident>)?),*) => {$(
        impl $(<$t>)? $handle $(<$t>)? {
            /// The column's description. O(1).
            pub fn info(&self) -> &ColumnInfo {
                self.column.info()
            }

            /// The column as any other, for whatever takes the traits.
            pub fn column(&self) -> Arc<dyn Column> {
                self.column.clone()
            }
        }
    )*};
}

handle!(Numeric<T>, SortedNumeric<T>, Sorted, SortedSet, Binary);

impl Segment {
    /// The numeric column `name` of signed integers. For other types: [`typed`](Self::typed).
    ///
    /// # Errors
    ///
    /// [`NoSuchColumn`](ErrorKind::NoSuchColumn), [`WrongKind`](ErrorKind::WrongKind), [`WrongType`](ErrorKind::WrongType),
    /// or when the directory or the column is damaged.
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
            Opened::Numbers(column) => Ok(Numeric { column, of: PhantomData }),
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
            Opened::Numbers(column) => Ok(SortedNumeric { column, of: PhantomData }),
            other => self.wrong_kind(name, &other, Kind::SortedNumeric),
        }
    }

    /// The sorted column `name`.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), but for the type.
    pub fn sorted(&self, name: &str) -> Result<Sorted> {
        match self.of_kind(name, Kind::Sorted)? {
            Opened::Numbers(column) if let Some(terms) = column.terms.clone() => Ok(Sorted { column, terms }),
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
            Opened::Numbers(column) if let Some(terms) = column.terms.clone() => {
                Ok(SortedSet { column, terms })
            }
            other => self.wrong_kind(name, &other, Kind::SortedSet),
        }
    }

    /// The binary column `name`.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), but for the type.
    pub fn binary(&self, name: &str) -> Result<Binary> {
        match self.of_kind(name, Kind::Binary)? {
            Opened::Bytes(column) => Ok(Binary { column }),
            other => self.wrong_kind(name, &other, Kind::Binary),
        }
    }

    fn of_kind(&self, name: &str, asked: Kind) -> Result<Opened> {
        let column = self.opened(name)?;
        if column.kind() == asked { Ok(column) } else { self.wrong_kind(name, &column, asked) }
    }

    #[cold]
    fn wrong_kind<T>(&self, name: &str, found: &Opened, asked: Kind) -> Result<T> {
        let (file, field, found) = (self.file().to_owned(), name.to_owned(), found.kind());
        Err(ErrorKind::WrongKind { file, field, found, asked }.into())
    }
}

/// Sets the bits of all of `docs`, clears those after them in the last word, and returns what clears those of a batch whose documents lack values.
///
/// # Panics
///
/// If `present` has too few words for `docs`.
fn all_but<'a>(docs: &[DocId], bits: &'a mut [u64]) -> impl FnMut(usize, Indices<'_>) + use<'a> {
    let words = docs.len().div_ceil(64);
    assert!(bits.len() >= words, "{} words for {} documents", bits.len(), docs.len());
    bits[..words].fill(u64::MAX);
    if let Some(last) = bits[..words].last_mut() {
        *last >>= words * 64 - docs.len();
    }
    |at, indices| bits[at / 64..].iter_mut().zip(present(indices)).for_each(|(to, from)| *to = from)
}

impl<T: Number> Numeric<T> {
    /// The value of `doc`; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    #[inline]
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
        self.gather_each(docs, out, T::default(), all_but(docs, present))
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

/// A filter of all documents, yet to be run.
fn filter<'c, T: Stored>(rows: &'c dyn Rows<T>, docs: u32, wanted: T::Range) -> Filter<'c> {
    Filter::new(DocRange::new(0, docs), move |docs, bits| {
        rows.filter(docs, &wanted, bits, &mut Pruning::default())
    })
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
    #[inline]
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
        self.column.gather_list(docs, out, TermOrd::new(0), all_but(docs, present))
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

impl Binary {
    /// Reads documents one after the other: a block of compressed values is decoded once for all that follow in it.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { column: self, scratch: Scratch::default() }
    }

    /// The value of `doc`; `None` if it has none or lies past the last document.
    ///
    /// `buffer` is used where the value has to be decoded; the result borrows from it or from the column.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn get<'a>(&'a self, doc: DocId, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        self.column.read(doc, buffer)
    }

    /// Replaces `out` by the values of `docs`, in any order and with repeats. If a document has none, its bit in `present`
    /// is cleared and its value is empty. So are bits after the last document's in its word.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `present` has too few words for `docs`.
    pub fn gather(&self, docs: &[DocId], out: &mut Lists<u8>, present: &mut [u64]) -> Result<()> {
        out.clear();
        self.column.gather_list(docs, out, &[], all_but(docs, present))
    }

    /// Replaces `out` by the values of `docs`, in any order and with repeats, and `fill` for those that have none.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn gather_or(&self, docs: &[DocId], out: &mut Lists<u8>, fill: &[u8]) -> Result<()> {
        out.clear();
        self.column.gather_list(docs, out, fill, |_, _| {})
    }

    /// Hands the values of all documents in `docs` to `each`, a batch at a time, in order, until it breaks off.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn scan(
        &self,
        docs: impl Into<DocRange>,
        mut each: impl FnMut(BatchDocs<'_>, Slices<'_, u8>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.column
            .scan(docs.into(), &mut |batch| each(batch.docs, batch.values.many().unwrap_or(Slices::none())))
    }

    /// The documents whose value lies between `low` and `high`, byte by byte, as a filter yet to be run. It reads every
    /// value: a binary column has no skip index.
    pub fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Filter<'_> {
        let wanted = (low.map(<[u8]>::to_vec), high.map(<[u8]>::to_vec));
        Filter::new(DocRange::new(0, self.info().docs), move |docs, bits| {
            self.column.filter(docs, &wanted, bits, &mut Pruning::default())
        })
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

impl GatherRows for Sorted {
    type Rows = Gathered<TermOrd>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Gathered<TermOrd>) -> Result<()> {
        Rows::gather(&*self.column, BatchDocs::List(docs), rows)
    }
}

impl GatherRows for Binary {
    type Rows = Gathered<u8>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Gathered<u8>) -> Result<()> {
        Rows::gather(&*self.column, BatchDocs::List(docs), rows)
    }
}

impl<T: Number> GatherRows for SortedNumeric<T> {
    type Rows = Lists<T>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Lists<T>) -> Result<()> {
        self.gather(docs, rows)
    }
}

impl GatherRows for SortedSet {
    type Rows = Lists<TermOrd>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Lists<TermOrd>) -> Result<()> {
        self.gather(docs, rows)
    }
}

impl Cursor<'_> {
    /// The value of `doc`; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn get(&mut self, doc: DocId) -> Result<Option<&[u8]>> {
        let Cursor { column, scratch } = self;
        let Bytes { core, values } = &*column.column;
        match core.named(core.presence.rank(doc))? {
            Some(index) => {
                let value = values.get_next(index.get().into(), scratch);
                core.named(value).map(Some)
            }
            None => Ok(None),
        }
    }
}
