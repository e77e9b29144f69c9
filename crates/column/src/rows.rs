//! Rows: the values of one kind, document by document.

use std::fmt;
use std::ops::{Bound, ControlFlow, RangeBounds, RangeInclusive};

use docvalues_format::id::{DocId, TermOrd};

use crate::batch::{Batch, BatchDocs, View};
use crate::{DocRange, Gathered, OrdRange, Pruning, Result, bits};

/// An element of a row: a number, an ord, or a byte of a byte string.
pub trait Element: Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The values that a filter looks for.
    type Range: Clone + fmt::Debug + Send + Sync;

    /// Whether an empty row is a value: an empty byte string is one, an empty list of numbers is none.
    const EMPTY_IS_VALUE: bool = false;

    /// Whether a filter for `wanted` finds a document with this row: of numbers and ords, whether one of them lies
    /// there; of bytes, whether the whole byte string does.
    fn is_within(row: &[Self], wanted: &Self::Range) -> bool;
}

impl Element for i64 {
    type Range = RangeInclusive<i64>;

    fn is_within(row: &[i64], wanted: &RangeInclusive<i64>) -> bool {
        row.iter().any(|number| wanted.contains(number))
    }
}

impl Element for TermOrd {
    type Range = OrdRange;

    fn is_within(row: &[TermOrd], wanted: &OrdRange) -> bool {
        row.iter().any(|ord| wanted.contains(*ord))
    }
}

/// A range of byte strings, compared byte by byte.
pub type ByteRange = (Bound<Vec<u8>>, Bound<Vec<u8>>);

impl Element for u8 {
    type Range = ByteRange;

    const EMPTY_IS_VALUE: bool = true;

    fn is_within(row: &[u8], (low, high): &ByteRange) -> bool {
        (low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice)).contains(row)
    }
}

/// The values of a column, a row for each document.
///
/// A row has at most one number or ord, or any number of them in ascending order, as [`Column::info`] says; a row of
/// bytes is one byte string. Rows with at most one number or ord are handed out as [`View::One`], all others as
/// [`View::Many`]. Rows have no state: any number of threads may read any documents in any order.
///
/// [`Column::info`]: crate::Column::info
pub trait Rows<T: Element>: Send + Sync {
    /// Replaces `out` by the rows of `docs`: a run, or a list in any order and with repeats. Documents past the last one
    /// have no value.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged; what `out` then holds is unspecified.
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<T>) -> Result<()>;

    /// Hands those documents of `docs` that have a value, and their rows, to `each`: ascending, one or more at a time,
    /// until it breaks off. [`scan_by_gather`] does it for a source without a faster way.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn scan(&self, docs: DocRange, each: &mut Each<'_, T>) -> Result<()>;

    /// Adds to `bits` every document of `docs` whose row lies in `wanted`, and to `pruned` how that was found out. By
    /// default it scans.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
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

    /// Replaces `out` by the row of `doc`, empty if it has no value, and returns whether it has one. By default it
    /// gathers; native sources are ten times as fast.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    fn get(&self, doc: DocId, out: &mut Vec<T>) -> Result<bool> {
        let mut gathered = Gathered::new();
        self.gather(BatchDocs::List(&[doc]), &mut gathered)?;
        out.clear();
        out.extend_from_slice(gathered.row(0).unwrap_or_default());
        Ok(gathered.row(0).is_some())
    }
}

/// The receiver of a scan: documents, ascending, and a row for each of them.
pub type Each<'e, T> = dyn FnMut(Batch<'_, T>) -> ControlFlow<()> + 'e;

/// [`Rows::scan`] of a source that only gathers. `docs` lie in the source.
///
/// # Errors
///
/// As [`Rows::gather`].
pub fn scan_by_gather<T: Element>(
    rows: &(impl Rows<T> + ?Sized),
    docs: DocRange,
    each: &mut Each<'_, T>,
) -> Result<()> {
    const TOGETHER: usize = 1024;
    let (mut gathered, mut with_value) = (Gathered::new(), Vec::new());
    for docs in docs.chunks(TOGETHER) {
        rows.gather(BatchDocs::Run(docs), &mut gathered)?;
        let flow = if gathered.present().is_none() && !gathered.is_many() {
            each(Batch { docs: BatchDocs::Run(docs), values: gathered.view() })
        } else {
            with_value.clear();
            with_value.extend((0..docs.len()).zip(docs.iter()).filter(|(at, _)| gathered.row(*at).is_some()));
            let list: Vec<DocId> = with_value.iter().map(|(_, doc)| *doc).collect();
            let kept = gathered.select(with_value.iter().map(|(at, _)| *at));
            if list.is_empty() {
                continue;
            }
            each(Batch { docs: BatchDocs::List(&list), values: kept.view() })
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

/// Adds to `bits` every document of `docs` whose row is `wanted`, by a look at each.
///
/// # Errors
///
/// As [`Rows::scan`].
///
/// # Panics
///
/// If `bits` has too few words.
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
