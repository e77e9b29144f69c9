//! What documents are compared by.

use std::cmp::Ordering;
use std::ops::{Range, RangeInclusive};

use docvalues_column::{AnyColumn, DocId, FilterCounts, LogicalType, SortKey, TermOrd};
use docvalues_format::file::kind::to_f64;

use crate::columns::{Columns, Slot};
use crate::error::Result;
use crate::search::Request;
use crate::window::{NO_ORD, Window};

/// The keys of a sort and their columns.
#[derive(Clone)]
pub(crate) struct Keys {
    asked: Vec<SortKey>,
    keys: Vec<Key>,
}

/// One column that documents are compared by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) slot: Slot,
    logical: LogicalType,
    pub(super) descending: bool,
    pub(super) missing_first: bool,
}

/// Where a value lies in the order of a key: what is less comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// No value, and these come first.
    First,
    Number(u64),
    Bytes(Vec<u8>),
    /// The same, and the greatest come first.
    BytesDown(Vec<u8>),
    /// NaN.
    NoNumber,
    /// No value, and these come last.
    Last,
}

impl Place {
    pub(super) fn class(&self) -> u8 {
        match self {
            Place::First => 0,
            Place::Number(_) | Place::Bytes(_) | Place::BytesDown(_) => 1,
            Place::NoNumber => 2,
            Place::Last => 3,
        }
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Place) -> Ordering {
        match (self, other) {
            (Place::Number(a), Place::Number(b)) => a.cmp(b),
            (Place::Bytes(a), Place::Bytes(b)) => a.cmp(b),
            (Place::BytesDown(a), Place::BytesDown(b)) => b.cmp(a),
            _ => self.class().cmp(&other.class()),
        }
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Place) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Keys {
    pub(crate) fn open(request: &mut Request<'_>, asked: &[SortKey]) -> Result<Keys> {
        super::check(asked)?;
        let open = |key: &SortKey| {
            let slot = request.slot(&key.column)?;
            let logical = request.columns().get(slot).as_column().field().logical;
            Ok(Key { slot, logical, descending: key.descending, missing_first: key.missing_first })
        };
        Ok(Keys { asked: asked.to_vec(), keys: asked.iter().map(open).collect::<Result<_>>()? })
    }

    pub(super) fn asked(&self) -> &[SortKey] {
        &self.asked
    }

    pub(super) fn types(&self) -> impl Iterator<Item = LogicalType> + '_ {
        self.keys.iter().map(|key| key.logical)
    }

    pub(crate) fn as_slice(&self) -> &[Key] {
        &self.keys
    }

    /// The window's document `at`, if it comes before `last`. Nothing is kept of one that is worse by its first key.
    pub(crate) fn entry_before(&self, window: &Window<'_>, at: usize, last: Option<&Entry>) -> Option<Entry> {
        let mut places = self.keys.iter().map(|key| key.place(window, at)).peekable();
        let bound = last.and_then(|last| last.places.first());
        if places.peek().zip(bound).is_some_and(|(place, bound)| place > bound) {
            return None;
        }
        let entry = Entry { places: places.collect(), doc: window.doc(at) };
        last.is_none_or(|last| entry < *last).then_some(entry)
    }
}

impl Key {
    /// Where the window's document `at` lies; its column was read.
    pub(crate) fn place(&self, window: &Window<'_>, at: usize) -> Place {
        let number = match window.column(self.slot) {
            AnyColumn::Numeric(_) => window.numbers(self.slot).get(at),
            AnyColumn::Sorted(_) => {
                let ord = window.ords(self.slot)[at];
                (ord != NO_ORD).then(|| ord.get().into())
            }
            AnyColumn::SortedNumeric(_) => self.extreme(window.number_lists(self.slot).get(at)),
            AnyColumn::SortedSet(_) => self.extreme_ord(window.ord_lists(self.slot).get(at)),
            AnyColumn::Binary(_) => {
                return match window.bytes(self.slot, at) {
                    Some(bytes) if self.descending => Place::BytesDown(bytes.to_vec()),
                    Some(bytes) => Place::Bytes(bytes.to_vec()),
                    None => self.missing(),
                };
            }
        };
        number.map_or_else(|| self.missing(), |number| self.of_number(number))
    }

    /// Of several ascending values that by which the document is compared: a NaN only if there is nothing else.
    pub(super) fn extreme(&self, values: &[i64]) -> Option<i64> {
        let nan = values.first().copied();
        let mut values = values.iter().copied().filter(|value| !self.is_nan(*value));
        let extreme = if self.descending { values.next_back() } else { values.next() };
        extreme.or(nan)
    }

    /// The same of ords.
    pub(super) fn extreme_ord(&self, ords: &[TermOrd]) -> Option<i64> {
        let ord = if self.descending { ords.last() } else { ords.first() };
        ord.map(|ord| ord.get().into())
    }

    fn missing(&self) -> Place {
        if self.missing_first { Place::First } else { Place::Last }
    }

    pub(super) fn of_number(&self, number: i64) -> Place {
        if self.is_nan(number) {
            return Place::NoNumber;
        }
        let ascending = self.canonical(number).cast_unsigned() ^ (1 << 63);
        Place::Number(if self.descending { !ascending } else { ascending })
    }

    pub(super) fn is_of_doubles(&self) -> bool {
        self.logical == LogicalType::F64
    }

    pub(super) fn is_nan(&self, number: i64) -> bool {
        self.is_of_doubles() && to_f64(number).is_nan()
    }

    /// −0.0 is stored as −1, and equals 0.0.
    pub(super) fn canonical(&self, number: i64) -> i64 {
        if self.is_of_doubles() && number == -1 { 0 } else { number }
    }

    /// The numbers that come before that at `place`, or are equal to it if `ties`. Of doubles, NaNs may be among them.
    pub(super) fn before(&self, place: &Place, ties: bool) -> Option<RangeInclusive<i64>> {
        let Place::Number(rank) = *place else { return None };
        let number = ((if self.descending { !rank } else { rank }) ^ (1 << 63)).cast_signed();
        let is_zero = self.is_of_doubles() && number == 0;
        let none = RangeInclusive::new(i64::MAX, i64::MIN);
        Some(match (self.descending, ties) {
            (false, true) => i64::MIN..=number,
            (false, false) if is_zero => i64::MIN..=-2,
            (false, false) => number.checked_sub(1).map_or(none, |last| i64::MIN..=last),
            (true, true) if is_zero => -1..=i64::MAX,
            (true, true) => number..=i64::MAX,
            (true, false) => number.checked_add(1).map_or(none, |first| first..=i64::MAX),
        })
    }

    /// Adds the documents that come before `place`, or are equal to it if `ties`; false if the column cannot tell without
    /// looking at each. Some more may be among them. What its indexes decided is added to `counts`.
    pub(super) fn add_before(
        &self,
        columns: &Columns,
        docs: Range<u32>,
        (place, ties): (&Place, bool),
        bits: &mut [u64],
        counts: &mut FilterCounts,
    ) -> Result<bool> {
        let column = columns.get(self.slot);
        match place {
            // Others without a value are all that is as good.
            Place::First if !ties => return Ok(true),
            Place::First => {}
            Place::Number(_) => {
                let numbers = self.before(place, ties).unwrap_or(i64::MIN..=i64::MAX);
                add_within(column, docs.clone(), numbers, bits, counts)?;
            }
            Place::NoNumber | Place::Last if !ties => column.as_column().exists(docs.clone(), bits)?,
            _ => return Ok(false),
        }
        if self.missing_first {
            let mut with = vec![0; bits.len()];
            column.as_column().exists(docs, &mut with)?;
            bits.iter_mut().zip(with).for_each(|(bits, with)| *bits |= !with);
        }
        Ok(true)
    }

    /// Sets the bits of the stretches of `docs` that may have a number in `open`, or none and so come first.
    pub(super) fn open_stretches(
        &self,
        columns: &Columns,
        docs: Range<u32>,
        open: RangeInclusive<i64>,
        finely: bool,
        counts: &mut FilterCounts,
        bits: &mut [u64],
    ) -> Result<()> {
        match columns.get(self.slot) {
            AnyColumn::Numeric(column)
                if !self.missing_first || column.docs_with_value() == column.docs() =>
            {
                column.open_stretches(docs, open, finely, counts, bits)?;
            }
            _ => bits.fill(u64::MAX),
        }
        Ok(())
    }

    /// Whether the numbers of the window tell all: where a document without one comes first, they do not.
    pub(super) fn is_told_by_numbers(&self, window: &Window<'_>) -> bool {
        let is_numeric = matches!(window.column(self.slot), AnyColumn::Numeric(_));
        is_numeric && (!self.missing_first || window.numbers(self.slot).present.is_none())
    }
}

/// Adds the documents that have a number or ord in `numbers`.
fn add_within(
    column: &AnyColumn,
    docs: Range<u32>,
    numbers: RangeInclusive<i64>,
    bits: &mut [u64],
    counts: &mut FilterCounts,
) -> Result<()> {
    match column {
        AnyColumn::Numeric(column) => column.filter_counting(docs, numbers, bits, counts)?,
        AnyColumn::SortedNumeric(column) => column.filter_counting(docs, numbers, bits, counts)?,
        AnyColumn::Sorted(column) => {
            column.filter_counting(docs, ords(&numbers, column.term_count()), bits, counts)?;
        }
        AnyColumn::SortedSet(column) => {
            column.filter_counting(docs, ords(&numbers, column.term_count()), bits, counts)?;
        }
        // Its places are no numbers.
        AnyColumn::Binary(_) => {}
    }
    Ok(())
}

/// The ords among these numbers.
fn ords(numbers: &RangeInclusive<i64>, terms: u32) -> Range<u32> {
    let clip = |number: i64| u32::try_from(number.clamp(0, terms.into())).unwrap_or(terms);
    let end = clip(numbers.end().saturating_add(1));
    clip(*numbers.start()).min(end)..end
}

/// A document and its place by each key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) places: Vec<Place>,
    pub(crate) doc: DocId,
}
