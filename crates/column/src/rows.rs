//! The [`Rows`] trait: the values of a column by document, and [`Values`], the rows of any element type.
//!
//! Rows know neither the column that they belong to nor its source.

mod gathered;

use std::fmt;
use std::ops::{Bound, ControlFlow, RangeBounds, RangeInclusive};

use docvalues_format::bits::{Lane, within};
use docvalues_format::id::{DocId, TermOrd};

use crate::batch::{Batch, BatchDocs, View};
use crate::{Bounds, DocRange, OrdRange, Pruning, Result, Terms, bits};

pub use gathered::{Gathered, Presence};

/// An element of a row: a number, an ord, or a byte of a byte string.
pub trait Element: Lane + Default + Ord + fmt::Debug + Send + Sync + 'static {
    /// The range of values that a filter matches.
    type Range: Clone + fmt::Debug + Send + Sync;

    /// Whether an empty row is a value. An empty byte string is one; an empty list of numbers or ords is not.
    const EMPTY_IS_VALUE: bool = false;

    /// Whether `row` matches: whether `wanted` contains any of its numbers or ords, or its whole byte string.
    fn is_within(row: &[Self], wanted: &Self::Range) -> bool;

    /// A bit for each of up to 64 `rows`, set if it matches. The elements of single numbers and ords, and of lists of them, lie
    /// within `bounds`. Bits after those of the rows are arbitrary.
    fn matching(rows: View<'_, Self>, bounds: (Self, Self), wanted: &Self::Range) -> u64 {
        let _ = bounds;
        each_row(rows, |row| Self::is_within(row, wanted))
    }

    /// The bounds of a column, extended to include all elements from `low` to `high`. Only columns of numbers have bounds.
    fn widen(bounds: &Bounds, low: Self, high: Self) -> Bounds {
        let _ = (low, high);
        bounds.clone()
    }

    /// The rows of a column, if they have elements of this type.
    fn rows_of(values: Values<'_>) -> Option<&dyn Rows<Self>>;
}

impl Element for i64 {
    type Range = RangeInclusive<i64>;

    fn is_within(row: &[i64], wanted: &RangeInclusive<i64>) -> bool {
        row.iter().any(|number| wanted.contains(number))
    }

    fn matching(rows: View<'_, i64>, (low, high): (i64, i64), wanted: &RangeInclusive<i64>) -> u64 {
        match rows {
            _ if high < *wanted.start() || *wanted.end() < low => 0,
            View::One(values) => within(values, *wanted.start(), *wanted.end()),
            lists => each_row(lists, |row| i64::is_within(row, wanted)),
        }
    }

    fn widen(bounds: &Bounds, low: i64, high: i64) -> Bounds {
        let (first, last) = bounds.range().into_inner();
        match bounds {
            Bounds::Unknown => Bounds::Unknown,
            _ => Bounds::Within(first.min(low)..=last.max(high)),
        }
    }

    fn rows_of(values: Values<'_>) -> Option<&dyn Rows<i64>> {
        values.numbers()
    }
}

impl Element for TermOrd {
    type Range = OrdRange;

    fn is_within(row: &[TermOrd], wanted: &OrdRange) -> bool {
        row.iter().any(|ord| wanted.contains(*ord))
    }

    fn matching(rows: View<'_, TermOrd>, (low, high): (TermOrd, TermOrd), wanted: &OrdRange) -> u64 {
        let is_outside = high.get() < wanted.start || wanted.end <= low.get();
        if is_outside { 0 } else { each_row(rows, |row| TermOrd::is_within(row, wanted)) }
    }

    fn rows_of(values: Values<'_>) -> Option<&dyn Rows<TermOrd>> {
        values.ords()
    }
}

/// A bit for each of up to 64 rows, set if it is wanted.
#[inline]
pub(crate) fn each_row<T: Element>(rows: View<'_, T>, is_wanted: impl Fn(&[T]) -> bool) -> u64 {
    let bit = |at: usize, row: &[T]| u64::from(is_wanted(row)) << at;
    match rows {
        View::One(values) => {
            let rows = values.iter().map(std::slice::from_ref).enumerate();
            rows.fold(0, |bits, (at, row)| bits | bit(at, row))
        }
        View::Many(lists) => lists.iter().enumerate().fold(0, |bits, (at, row)| bits | bit(at, row)),
    }
}

/// A range of byte strings, in the order of their bytes.
pub type ByteRange = (Bound<Vec<u8>>, Bound<Vec<u8>>);

impl Element for u8 {
    type Range = ByteRange;

    const EMPTY_IS_VALUE: bool = true;

    fn is_within(row: &[u8], (low, high): &ByteRange) -> bool {
        (low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice)).contains(row)
    }

    fn rows_of(values: Values<'_>) -> Option<&dyn Rows<u8>> {
        values.bytes()
    }
}

/// The values of a column: one row for each document.
///
/// | [`Column::info`] | a row | as |
/// | --- | --- | --- |
/// | single-valued numbers or ords | at most one | [`View::One`] |
/// | multi-valued numbers or ords | any number, ascending | [`View::Many`] |
/// | bytes | at most one byte string | [`View::Many`] |
///
/// There is no iterator state: any number of threads may read any documents in any order.
///
/// # Examples
///
/// Numbers in memory, at most one a document:
///
/// ```
/// use docvalues_column::{BatchDocs, DocId, DocRange, Each, Gathered, Result, Rows, scan_by_gather};
///
/// struct Numbers(Vec<Option<i64>>);
///
/// impl Rows<i64> for Numbers {
///     fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<i64>) -> Result<()> {
///         let fill = out.fill();
///         let (values, mut presence) = out.begin_one(docs.len());
///         for (at, doc) in docs.iter().enumerate() {
///             let value = self.0.get(doc.get() as usize).copied().flatten();
///             values[at] = value.unwrap_or(fill);
///             presence.mark(at, value.is_some());
///         }
///         Ok(())
///     }
///
///     fn scan(&self, docs: DocRange, each: &mut Each<'_, i64>) -> Result<()> {
///         scan_by_gather(self, docs.clip(self.0.len() as u32), each)
///     }
/// }
///
/// let sizes = Numbers(vec![Some(7), None, Some(512)]);
/// let mut matches = [0];
/// sizes.filter(DocRange::new(0, 3), &(500..=600), &mut matches, &mut Default::default())?;
/// assert_eq!(matches, [0b100]);
///
/// let mut row = Vec::new();
/// assert!(!sizes.get(DocId::new(1), &mut row)?); // it has no value
/// # Ok::<(), docvalues_column::Error>(())
/// ```
///
/// [`Column::info`]: crate::Column::info
pub trait Rows<T: Element>: Send + Sync {
    /// Replaces `out` by the rows of `docs`: a range, or a list in any order and with repeats. Documents past the last
    /// one have no value. O(number of documents and values).
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged. The contents of `out` are then unspecified.
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<T>) -> Result<()>;

    /// Calls `each` with batches of the documents of `docs` that have a value, ascending, and their rows, until it
    /// breaks. Sources without a faster way can call [`scan_by_gather`].
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    fn scan(&self, docs: DocRange, each: &mut Each<'_, T>) -> Result<()>;

    /// Sets the bit of every document of `docs` whose row matches `wanted`, and adds to `pruned` how many zones were
    /// skipped and how many values were read. The default scans.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has fewer than [`DocRange::words`] words.
    fn filter(
        &self,
        docs: DocRange,
        wanted: &T::Range,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        filter_by_scan(self, docs, bits, pruned, |row| T::is_within(row, wanted))
    }

    /// Replaces `out` by the row of `doc`, and returns whether the document has a value. The default gathers one
    /// document and allocates; segments are about ten times as fast.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    fn get(&self, doc: DocId, out: &mut Vec<T>) -> Result<bool> {
        let mut gathered = Gathered::new();
        self.gather(BatchDocs::List(&[doc]), &mut gathered)?;
        out.clear();
        out.extend_from_slice(gathered.row(0).unwrap_or_default());
        Ok(gathered.row(0).is_some())
    }
}

/// The rows of a column, by element type.
///
/// A row holds at most one number or ord, or, if [`Kind::is_multi_valued`](crate::Kind::is_multi_valued), any number of
/// them. A row of bytes is one byte string.
///
/// # Examples
///
/// ```
/// use docvalues_column::{BatchDocs, Column, DocId, Gathered, Lists, Result, Values};
///
/// /// The value of one document as text.
/// fn show(column: &dyn Column, doc: DocId) -> Result<String> {
///     let docs = BatchDocs::List(std::slice::from_ref(&doc));
///     Ok(match column.values() {
///         Values::Numbers(rows) => {
///             let mut numbers = Gathered::new();
///             rows.gather(docs, &mut numbers)?;
///             format!("{:?}", numbers.row(0))
///         }
///         Values::Ords(rows, terms) => {
///             let (mut ords, mut found) = (Gathered::new(), Lists::new());
///             rows.gather(docs, &mut ords)?;
///             terms.gather_terms(ords.row(0).unwrap_or_default(), &mut found)?;
///             found.slices().iter().map(String::from_utf8_lossy).collect()
///         }
///         Values::Bytes(rows) => {
///             let mut bytes = Gathered::new();
///             rows.gather(docs, &mut bytes)?;
///             String::from_utf8_lossy(bytes.row(0).unwrap_or_default()).into_owned()
///         }
///     })
/// }
/// # let absent = docvalues_column::AbsentColumn::new("size", 3);
/// # assert_eq!(show(&absent, DocId::new(0))?, "None");
/// # Ok::<(), docvalues_column::Error>(())
/// ```
#[derive(Clone, Copy)]
pub enum Values<'c> {
    /// 64-bit numbers in their stored form, which [`LogicalType`](crate::LogicalType) defines.
    Numbers(&'c dyn Rows<i64>),
    /// Ords, and the dictionary that they index.
    Ords(&'c dyn Rows<TermOrd>, &'c dyn Terms),
    /// Byte strings.
    Bytes(&'c dyn Rows<u8>),
}

impl<'c> Values<'c> {
    /// The rows of numbers, if these are numbers.
    pub fn numbers(self) -> Option<&'c dyn Rows<i64>> {
        if let Values::Numbers(rows) = self { Some(rows) } else { None }
    }

    /// The rows of ords, if these are ords.
    pub fn ords(self) -> Option<&'c dyn Rows<TermOrd>> {
        if let Values::Ords(rows, _) = self { Some(rows) } else { None }
    }

    /// The rows of bytes, if these are byte strings.
    pub fn bytes(self) -> Option<&'c dyn Rows<u8>> {
        if let Values::Bytes(rows) = self { Some(rows) } else { None }
    }

    /// The dictionary, if there is one.
    pub fn terms(self) -> Option<&'c dyn Terms> {
        if let Values::Ords(_, terms) = self { Some(terms) } else { None }
    }
}

/// The callback of a scan: called with batches of ascending documents and their rows.
pub type Each<'e, T> = dyn FnMut(Batch<'_, T>) -> ControlFlow<()> + 'e;

/// [`Rows::scan`] by gathering 1,024 documents at a time. `docs` must lie in the source.
///
/// # Errors
///
/// As [`Rows::gather`].
pub fn scan_by_gather<T: Element>(
    rows: &(impl Rows<T> + ?Sized),
    docs: DocRange,
    each: &mut Each<'_, T>,
) -> Result<()> {
    const BATCH: usize = 1024;
    let (mut gathered, mut with_value) = (Gathered::new(), Vec::new());
    for run in docs.chunks(BATCH) {
        rows.gather(BatchDocs::Run(run), &mut gathered)?;
        if gathered.pass_on(run, &mut with_value, each).is_break() {
            break;
        }
    }
    Ok(())
}

/// [`Rows::filter`] by scanning: sets the bit of every document of `docs` whose row `wanted` accepts.
///
/// # Errors
///
/// As [`Rows::scan`].
///
/// # Panics
///
/// If `bits` has fewer than [`DocRange::words`] words.
pub fn filter_by_scan<T: Element>(
    rows: &(impl Rows<T> + ?Sized),
    docs: DocRange,
    bits: &mut [u64],
    pruned: &mut Pruning,
    wanted: impl Fn(&[T]) -> bool,
) -> Result<()> {
    bits::check(docs, bits);
    rows.scan(docs, &mut |batch| {
        let places = batch.docs.iter().map(|doc| docs.place(doc));
        match batch.values {
            View::One(values) => {
                pruned.read += values.len() as u64;
                for (place, value) in places.zip(values) {
                    bits[place / 64] |= u64::from(wanted(std::slice::from_ref(value))) << (place % 64);
                }
            }
            View::Many(lists) => {
                // A byte string is one value.
                pruned.read += if T::EMPTY_IS_VALUE { lists.len() } else { lists.items().len() } as u64;
                for (place, list) in places.zip(lists.iter()) {
                    bits[place / 64] |= u64::from(wanted(list)) << (place % 64);
                }
            }
        }
        ControlFlow::Continue(())
    })
}
