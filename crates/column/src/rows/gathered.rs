//! [`Gathered`]: the output of a gather.

mod fill_by_scan;
mod retain;

use std::mem;

use super::Element;
use crate::batch::{BatchDocs, View};
use crate::lists::{Lists, Slices};
use crate::{DocRange, Result, bits};

/// Bytes of a cache line; no line holds more values. Single values begin at one, because kernels write whole lines: otherwise
/// half of the stores of 32 bytes would cross a line.
const LINE: usize = 64;

/// The output of a gather: one row for each requested document, and which of them have a value.
///
/// Keep it for the next gather: its memory is reused, and is not cleared in between.
///
/// ```
/// use docvalues_column::{BatchDocs, DocId, Gathered, Result, Rows};
///
/// fn sum(sizes: &dyn Rows<i64>, docs: &[DocId]) -> Result<i64> {
///     let mut gathered = Gathered::filled(0);
///     sizes.gather(BatchDocs::List(docs), &mut gathered)?;
///     Ok(gathered.values().iter().sum())
/// }
/// ```
///
/// A source fills it, and any caller reads it by row, or as one slice:
///
/// ```
/// use docvalues_column::Gathered;
///
/// let mut tags = Gathered::<i64>::new();
/// let (lists, _) = tags.begin_many(2);
/// lists.push(&[3, 5]);
/// lists.push(&[]); // no value
/// assert_eq!((tags.row(0), tags.row(1)), (Some(&[3, 5][..]), None));
/// assert_eq!(tags.lists().items(), [3, 5]);
/// ```
#[derive(Clone, Debug)]
pub struct Gathered<T> {
    /// Replaces a missing value of a single-valued column.
    fill: T,
    /// Whether gathers record which rows have a value.
    tracks: bool,
    is_many: bool,
    values: Vec<T>,
    /// The place of row 0 in `values`, which begins a cache line.
    start: usize,
    lists: Lists<T>,
    /// Whether any row has no value. If not, `present` is stale.
    has_gaps: bool,
    present: Vec<u64>,
}

impl<T: Copy + Default> Default for Gathered<T> {
    fn default() -> Gathered<T> {
        Gathered::new()
    }
}

impl<T: Copy + Default> Gathered<T> {
    /// An empty output that records which documents have a value. A missing number or ord reads as 0.
    pub fn new() -> Gathered<T> {
        Gathered { tracks: true, ..Gathered::filled(T::default()) }
    }

    /// An empty output that writes `fill` for a missing number or ord of a single-valued column, and does not record
    /// [`present`](Self::present) for them. Faster than [`new`](Self::new), if `fill` is no possible value or is as
    /// good as one. Lists and byte strings are gathered as by [`new`](Self::new).
    pub fn filled(fill: T) -> Gathered<T> {
        Gathered {
            fill,
            tracks: false,
            is_many: false,
            values: Vec::new(),
            start: 0,
            lists: Lists::new(),
            has_gaps: false,
            present: Vec::new(),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether rows are lists.
    pub fn is_many(&self) -> bool {
        self.is_many
    }

    /// The rows.
    #[inline]
    pub fn view(&self) -> View<'_, T> {
        if self.is_many { View::Many(self.lists.slices()) } else { View::One(&self.values[self.start..]) }
    }

    /// The values of single-valued rows; empty if rows are lists.
    #[inline]
    pub fn values(&self) -> &[T] {
        if self.is_many { &[] } else { &self.values[self.start..] }
    }

    /// The values of single-valued rows, mutable; empty if rows are lists.
    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        if self.is_many { &mut [] } else { &mut self.values[self.start..] }
    }

    /// The lists; none if rows are single-valued.
    #[inline]
    pub fn lists(&self) -> Slices<'_, T> {
        if self.is_many { self.lists.slices() } else { Slices::none() }
    }

    /// A bit for each row, set if the document has a value; `None` only if all have one. The row of a missing byte string is
    /// empty. Always `None` for lists of numbers or ords: there, a document without a value has an empty list.
    #[inline]
    pub fn present(&self) -> Option<&[u64]> {
        self.has_gaps.then_some(&self.present)
    }

    /// The value of row `at` of a single-valued column; `None` if the document has no value. In an output made by
    /// [`filled`](Self::filled), it is `Some` of the fill instead.
    ///
    /// # Panics
    ///
    /// If there is no row `at`, or rows are lists.
    #[inline]
    pub fn value(&self, at: usize) -> Option<T> {
        let value = self.values()[at];
        self.present().is_none_or(|present| bits::get(present, at)).then_some(value)
    }

    /// For sources: begins `len` single-valued rows. The caller writes all values, which have arbitrary contents at
    /// first. All rows count as present until [`Presence`] says otherwise.
    pub fn begin_one(&mut self, len: usize) -> (&mut [T], Presence<'_>) {
        self.is_many = false;
        self.has_gaps = false;
        if self.start + len > self.values.capacity() {
            self.values.clear();
            self.values.reserve(LINE + len);
            self.start = self.values.as_ptr().align_offset(LINE).min(LINE);
        }
        self.values.resize(self.start + len, self.fill);
        let (has_gaps, bits, tracks) = (&mut self.has_gaps, &mut self.present, self.tracks);
        (&mut self.values[self.start..], Presence { len, tracks, has_gaps, bits })
    }

    /// The value that a source writes for a missing one.
    pub fn fill(&self) -> T {
        self.fill
    }
}

impl<T: Element> Gathered<T> {
    /// Row `at`; `None` if the document has no value. In a loop over many rows, [`view`](Self::view) is twice as fast.
    ///
    /// # Panics
    ///
    /// If there is no row `at`.
    pub fn row(&self, at: usize) -> Option<&[T]> {
        let row = self.view().row(at);
        // An empty byte string is a value; an empty list of numbers is not.
        let is_there = match self.present() {
            Some(present) => bits::get(present, at),
            None => !row.is_empty() || T::EMPTY_IS_VALUE,
        };
        is_there.then_some(row)
    }

    /// For sources: begins `len` rows that are lists. The caller appends each of them.
    pub fn begin_many(&mut self, len: usize) -> (&mut Lists<T>, Presence<'_>) {
        self.is_many = true;
        self.has_gaps = false;
        self.lists.clear();
        let (has_gaps, bits) = (&mut self.has_gaps, &mut self.present);
        (&mut self.lists, Presence { len, tracks: T::EMPTY_IS_VALUE, has_gaps, bits })
    }

    /// Replaces the value of row `at` of a single-valued column.
    ///
    /// # Panics
    ///
    /// If there is no row `at`, or rows are lists.
    #[inline]
    pub fn set(&mut self, at: usize, value: Option<T>) {
        let values = &mut self.values[self.start..];
        values[at] = value.unwrap_or(self.fill);
        let (has_gaps, bits) = (&mut self.has_gaps, &mut self.present);
        Presence { len: values.len(), tracks: self.tracks, has_gaps, bits }.mark(at, value.is_some());
    }

    /// Replaces the rows at ascending places; `None` is no value. O(places) for single values; O(all rows and items) for lists.
    ///
    /// # Panics
    ///
    /// If there is no row at a place, places of lists do not ascend, or rows are single-valued and a new one is empty.
    pub fn replace<'r>(&mut self, rows: impl IntoIterator<Item = (usize, Option<&'r [T]>)>) {
        let mut rows = rows.into_iter().peekable();
        if !self.is_many {
            return rows.for_each(|(at, row)| self.set(at, row.map(|row| row[0])));
        }
        if rows.peek().is_none() {
            return;
        }
        let len = self.lists.len();
        let before = mem::replace(&mut self.lists, Lists::with_capacity(len));
        let (has_gaps, bits) = (&mut self.has_gaps, &mut self.present);
        let mut presence = Presence { len, tracks: T::EMPTY_IS_VALUE, has_gaps, bits };
        let mut copied = 0;
        for (at, row) in rows {
            self.lists.extend_from(before.slices().part(copied..at));
            self.lists.push(row.unwrap_or_default());
            presence.mark(at, row.is_some());
            copied = at + 1;
        }
        self.lists.extend_from(before.slices().part(copied..len));
    }

    /// Gathers, and replaces each value by `map` of it. `absent` is no value that the source has.
    pub(crate) fn gather_as(
        &mut self,
        absent: T,
        map: impl Fn(T) -> T,
        gather: impl FnOnce(&mut Gathered<T>) -> Result<()>,
    ) -> Result<()> {
        let fill = mem::replace(&mut self.fill, absent);
        let outcome = gather(self);
        self.fill = fill;
        outcome?;
        if self.is_many {
            self.lists.items_mut().iter_mut().for_each(|value| *value = map(*value));
        } else {
            let map = |value: T| if value == absent { fill } else { map(value) };
            self.values_mut().iter_mut().for_each(|value| *value = map(*value));
        }
        Ok(())
    }

    /// Sorts each list.
    pub(crate) fn sort_lists(&mut self) {
        if self.is_many {
            self.lists.sort_from(0);
        }
    }
}

/// Records which rows of a gather have a value; made by [`Gathered::begin_one`] and [`Gathered::begin_many`].
///
/// Bits are written from the first missing value on: a gather without gaps writes none.
///
/// # Examples
///
/// The rows of four documents, the third of which has no value:
///
/// ```
/// use docvalues_column::Gathered;
///
/// let mut gathered = Gathered::<i64>::new();
/// let (values, mut presence) = gathered.begin_one(4);
/// values.copy_from_slice(&[7, 8, 0, 9]);
/// presence.mark(2, false);
/// assert_eq!((gathered.value(1), gathered.value(2)), (Some(8), None));
/// assert_eq!(gathered.present(), Some(&[0b1011][..]));
/// ```
#[derive(Debug)]
pub struct Presence<'a> {
    len: usize,
    tracks: bool,
    has_gaps: &'a mut bool,
    bits: &'a mut Vec<u64>,
}

impl Presence<'_> {
    /// The bits, with all rows present at first; `None` if presence is not recorded.
    fn words(&mut self) -> Option<&mut [u64]> {
        if !self.tracks {
            return None;
        }
        if !*self.has_gaps {
            *self.has_gaps = true;
            self.bits.clear();
            self.bits.resize(self.len.div_ceil(64), 0);
            bits::set_range(self.bits, 0..self.len);
        }
        Some(self.bits)
    }

    /// Records that no row has a value.
    pub fn none(&mut self) {
        if let Some(words) = self.words() {
            words.fill(0);
        }
    }

    /// Records whether row `at` has a value.
    #[inline]
    pub fn mark(&mut self, at: usize, is_present: bool) {
        if is_present && !*self.has_gaps {
            return;
        }
        if let Some(words) = self.words() {
            let bit = 1 << (at % 64);
            words[at / 64] = words[at / 64] & !bit | if is_present { bit } else { 0 };
        }
    }

    /// Records whether rows have a value, 64 of them for each of `words`, from row `at` on, which is a multiple of 64.
    pub fn mark_words(&mut self, at: usize, words: impl Iterator<Item = u64>) {
        debug_assert!(at.is_multiple_of(64), "rows begin with a word");
        if let Some(all) = self.words() {
            all[at / 64..].iter_mut().zip(words).for_each(|(to, from)| *to = from);
        }
    }

    /// Records that the documents `some` of `docs` have a value.
    fn add(&mut self, docs: DocRange, some: BatchDocs<'_>) {
        let Some(words) = self.words() else { return };
        match some {
            BatchDocs::Run(run) => {
                let start = (run.start - docs.start) as usize;
                bits::set_range(words, start..start + run.len());
            }
            BatchDocs::List(list) => list.iter().for_each(|doc| bits::set(words, docs.place(*doc))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presence_is_written_from_the_first_gap_on() {
        let mut gathered = Gathered::<i64>::new();
        let (values, mut presence) = gathered.begin_one(130);
        values.fill(7);
        presence.mark(3, true);
        assert!(!*presence.has_gaps);
        presence.mark_words(64, [0b101_u64].into_iter());
        presence.mark(129, false);
        assert_eq!(gathered.present(), Some(&[u64::MAX, 0b101, 0b01][..]));
        assert_eq!(
            (gathered.row(3), gathered.row(65), gathered.row(66)),
            (Some(&[7][..]), None, Some(&[7][..]))
        );
        gathered.set(65, Some(8));
        gathered.set(3, None);
        assert_eq!((gathered.row(3), gathered.row(65)), (None, Some(&[8][..])));
        gathered.begin_one(2);
        assert_eq!(gathered.present(), None);
    }

    #[test]
    fn values_begin_a_cache_line() {
        fn check<T: Element>() {
            let mut rows = Gathered::<T>::new();
            for len in [1, 100, 7, 4_096, 50_000] {
                let (values, _) = rows.begin_one(len);
                assert_eq!(values.len(), len);
                assert!(cfg!(miri) || values.as_ptr().addr().is_multiple_of(LINE), "{len} values");
                values.fill(T::default());
                assert_eq!(rows.clone().values(), rows.values());
            }
        }
        check::<i64>();
        check::<docvalues_format::id::TermOrd>();
    }

    #[test]
    fn a_fill_needs_no_presence() {
        let mut gathered = Gathered::filled(-1_i64);
        gathered.begin_one(2).0.fill(5);
        gathered.set(1, None);
        assert_eq!((gathered.values(), gathered.present()), (&[5, -1][..], None));
    }
}
