//! Sort keys, and the values of documents by them.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use docvalues_column::{Column, DocAddress, DocId, DocRange, LogicalType, Pruning, SortKey, TermOrd, Value};
use docvalues_format::file::kind::{to_f64, to_u64};
use smallvec::SmallVec;

use super::sort_value::{SortValue, number_at};
use crate::engine::{
    Cells, Columns, Elements, NO_ORD, PartColumns, Request, Slot, Window, filter_numbers, is_constant,
};
use crate::error::{Error, Result};

/// The sort keys of a request.
#[derive(Clone)]
pub(crate) struct Keys {
    keys: SmallVec<[Key; INLINE]>,
}

/// One sort key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) slot: Slot,
    logical: LogicalType,
    pub(super) descending: bool,
    pub(super) missing_first: bool,
    /// Whether documents are compared by the terms of ords: ords of several parts have nothing to do with each other.
    pub(super) by_term: bool,
}

impl Keys {
    pub(crate) fn open(request: &mut Request<'_>, asked: &[SortKey]) -> Result<Keys> {
        super::check(asked)?;
        let open = |key: &SortKey| {
            let slot = request.slot(&key.column)?;
            let column = request.columns().get(slot);
            let (logical, descending) = (column.info().field.logical, key.descending);
            let by_term = request.parts() > 1 && column.elements() == Elements::Ords;
            Ok(Key { slot, logical, descending, missing_first: key.missing_first, by_term })
        };
        Ok(Keys { keys: asked.iter().map(open).collect::<Result<_>>()? })
    }

    /// The keys by which documents may differ.
    pub(super) fn different(&self, columns: &Columns) -> Keys {
        let is_different = |key: &&Key| !is_constant(columns.get(key.slot));
        Keys { keys: self.keys.iter().filter(is_different).copied().collect() }
    }

    /// The approximate size of an [`Entry`] in bytes, without its byte strings.
    pub(crate) fn bytes(&self) -> usize {
        const ALLOCATION: usize = 16;
        match self.keys.len() {
            0..=INLINE => size_of::<Entry>(),
            keys => size_of::<Entry>() + ALLOCATION + keys * size_of::<SortValue>(),
        }
    }

    /// The keys, some of which compare documents by the terms of ords.
    pub(super) fn by_terms(&self, by_term: impl Fn(&Key) -> bool) -> Keys {
        Keys { keys: self.keys.iter().map(|key| Key { by_term: by_term(key), ..*key }).collect() }
    }

    pub(crate) fn as_slice(&self) -> &[Key] {
        &self.keys
    }

    /// Whether document `at` of the window comes before `last`. Copies no byte strings but terms of several parts.
    ///
    /// # Errors
    ///
    /// If bytes of a dictionary are damaged.
    #[inline]
    pub(crate) fn comes_before(&self, window: &Window<'_>, at: usize, last: &Entry) -> Result<bool> {
        for (key, last) in self.keys.iter().zip(&last.values) {
            let order = if key.by_term {
                key.owned_value(window, at)?.cmp(last)
            } else {
                key.value(window, at).order(last)
            };
            if order.is_ne() {
                return Ok(order.is_lt());
            }
        }
        Ok(window.address(at) < last.address)
    }

    /// The entry for document `at` of the window.
    ///
    /// # Errors
    ///
    /// If bytes of a dictionary are damaged.
    #[inline]
    pub(crate) fn entry(&self, window: &Window<'_>, at: usize) -> Result<Entry> {
        let mut values = SmallVec::new();
        for key in &self.keys {
            values.push(key.owned_value(window, at)?);
        }
        Ok(Entry { values, address: window.address(at) })
    }

    /// An entry after those of all documents whose first key is `number`; `None` for NaN.
    pub(super) fn entry_after(&self, number: i64) -> Option<Entry> {
        let (key, others) = self.keys.split_first().filter(|(key, _)| !key.is_nan(number))?;
        let first: SortValue = key.of_number(number);
        let values = std::iter::once(first).chain(others.iter().map(|_| SortValue::Last)).collect();
        Some(Entry { values, address: DocAddress { part: u32::MAX, doc: DocId::new(u32::MAX) } })
    }
}

impl Key {
    /// The value of document `at` of the window. The column must have been read.
    pub(crate) fn value<'w>(&self, window: &'w Window<'_>, at: usize) -> SortValue<&'w [u8]> {
        let number = match window.stored_cells(self.slot) {
            Cells::Numbers(numbers) => numbers.get(at),
            Cells::Ords(ords) => (ords[at] != NO_ORD).then(|| ords[at].get().into()),
            Cells::NumberLists(lists) => self.extreme(lists.get(at)),
            Cells::OrdLists(lists) => self.extreme_ord(lists.get(at)),
            Cells::Bytes(strings) => {
                return strings.get(at).map_or_else(|| self.missing(), |bytes| self.of_bytes(bytes));
            }
        };
        number.map_or_else(|| self.missing(), |number| self.of_number(number))
    }

    /// The value of document `at` of the window, with the term of an ord if parts are compared.
    pub(super) fn owned_value(&self, window: &Window<'_>, at: usize) -> Result<SortValue> {
        let value = self.value(window, at).map(<[u8]>::to_vec);
        match value {
            SortValue::Number(rank) if self.by_term => self.term_at(window, rank),
            value => Ok(value),
        }
    }

    /// The value of the term whose ord has this rank.
    #[cold]
    fn term_at(&self, window: &Window<'_>, rank: u64) -> Result<SortValue> {
        let Some(terms) = window.column(self.slot).values().terms() else {
            return Ok(SortValue::Number(rank));
        };
        let mut term = Vec::new();
        let ord = u32::try_from(number_at(rank, self.descending)).unwrap_or(u32::MAX);
        terms.term(TermOrd::new(ord), &mut term)?;
        Ok(self.of_bytes(term))
    }

    /// The value by which a document with several ascending values is compared: NaN only if it has no other.
    pub(super) fn extreme(&self, values: &[i64]) -> Option<i64> {
        let nan = values.first().copied();
        let mut values = values.iter().copied().filter(|value| !self.is_nan(*value));
        let extreme = if self.descending { values.next_back() } else { values.next() };
        extreme.or(nan)
    }

    /// As [`extreme`](Self::extreme), for ords.
    pub(super) fn extreme_ord(&self, ords: &[TermOrd]) -> Option<i64> {
        let ord = if self.descending { ords.last() } else { ords.first() };
        ord.map(|ord| ord.get().into())
    }

    fn missing<B>(&self) -> SortValue<B> {
        if self.missing_first { SortValue::First } else { SortValue::Last }
    }

    #[inline]
    fn of_bytes<B>(&self, bytes: B) -> SortValue<B> {
        if self.descending { SortValue::BytesDown(bytes) } else { SortValue::Bytes(bytes) }
    }

    pub(super) fn of_number<B>(&self, number: i64) -> SortValue<B> {
        if self.is_nan(number) {
            return SortValue::NoNumber;
        }
        let ascending = to_u64(self.canonical(number));
        SortValue::Number(if self.descending { !ascending } else { ascending })
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

    /// As [`before`](Self::before), for the ords of a part whose terms come before `place`.
    ///
    /// # Errors
    ///
    /// If bytes of the dictionary are damaged.
    pub(super) fn ords_before(
        &self,
        column: &dyn Column,
        place: &SortValue,
        ties: bool,
    ) -> Result<Option<RangeInclusive<i64>>> {
        let (SortValue::Bytes(term) | SortValue::BytesDown(term)) = place else { return Ok(None) };
        let Some(terms) = column.values().terms().filter(|_| self.by_term) else { return Ok(None) };
        let ceil = i64::from(terms.seek_ceil(term)?.get());
        let is_exact = terms.seek_exact(term)?.is_some();
        Ok(Some(if self.descending {
            ceil + i64::from(is_exact && !ties)..=i64::MAX
        } else {
            i64::MIN..=ceil - 1 + i64::from(is_exact && ties)
        }))
    }

    /// The numbers that come before `place`, or are equal to it if `ties`. They may include NaNs.
    pub(super) fn before(&self, place: &SortValue, ties: bool) -> Option<RangeInclusive<i64>> {
        self.numbers(place, ties, self.descending)
    }

    /// The numbers that come after `place`, or are equal to it if `ties`, but NaNs.
    pub(super) fn since(&self, place: &SortValue, ties: bool) -> Option<RangeInclusive<i64>> {
        self.numbers(place, ties, !self.descending)
    }

    /// The numbers above `place` if `above`, or else those below it, and those that are equal to it if `ties`.
    fn numbers(&self, place: &SortValue, ties: bool, above: bool) -> Option<RangeInclusive<i64>> {
        let SortValue::Number(rank) = *place else { return None };
        let number = number_at(rank, self.descending);
        let is_zero = self.is_of_doubles() && number == 0;
        let none = RangeInclusive::new(i64::MAX, i64::MIN);
        Some(match (above, ties) {
            (false, true) => i64::MIN..=number,
            (false, false) if is_zero => i64::MIN..=-2,
            (false, false) => number.checked_sub(1).map_or(none, |last| i64::MIN..=last),
            (true, true) if is_zero => -1..=i64::MAX,
            (true, true) => number..=i64::MAX,
            (true, false) => number.checked_add(1).map_or(none, |first| first..=i64::MAX),
        })
    }

    /// As [`since`](Self::since), for the ords of a part whose terms come after `place`.
    ///
    /// # Errors
    ///
    /// If bytes of the dictionary are damaged.
    pub(super) fn ords_since(
        &self,
        column: &dyn Column,
        place: &SortValue,
        ties: bool,
    ) -> Result<Option<RangeInclusive<i64>>> {
        let before = self.ords_before(column, place, !ties)?;
        Ok(before.map(|before| match self.descending {
            true => i64::MIN..=*before.start() - 1,
            false => *before.end() + 1..=i64::MAX,
        }))
    }

    /// The place of a value, and whether it is that of the value itself: of a term that `column` does not have, it is
    /// the next one's.
    ///
    /// # Errors
    ///
    /// If the column has another type, or bytes of the dictionary are damaged.
    pub(super) fn place(&self, column: &dyn Column, value: Option<&Value>) -> Result<(SortValue, bool)> {
        let Some(value) = value else { return Ok((self.missing(), true)) };
        match (value.as_bytes(), value.stored()) {
            (None, Some(number)) if value.logical() == self.logical => Ok((self.of_number(number), true)),
            (Some(term), _) if self.logical.is_bytes() => {
                let Some(terms) = column.values().terms().filter(|_| !self.by_term) else {
                    return Ok((self.of_bytes(term.to_vec()), true));
                };
                let ceil = i64::from(terms.seek_ceil(term)?.get());
                let is_exact = terms.seek_exact(term)?.is_some();
                let ord = ceil - i64::from(self.descending && !is_exact);
                Ok((self.of_number(ord), is_exact))
            }
            _ => {
                let [expected, found] = [self.logical, value.logical()].map(|logical| logical.name());
                let name = &column.info().field.name;
                Err(Error::Request(format!(
                    "position in column \"{name}\": expected type {expected}, found {found}"
                )))
            }
        }
    }

    /// Sets the bits of the documents that come before `place`, or are equal to it if `ties`, and possibly of some
    /// more: those with one of `numbers`, if `place` is a number or a term. Returns false if the column cannot tell without visiting each document. Adds to the pruning statistics
    /// `pruned`.
    pub(super) fn add_before(
        &self,
        columns: PartColumns<'_>,
        docs: DocRange,
        (place, ties, numbers): (&SortValue, bool, Option<RangeInclusive<i64>>),
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<bool> {
        let column = columns.get(self.slot);
        match place {
            // Only other documents without a value are as good.
            SortValue::First if !ties => return Ok(true),
            SortValue::First => {}
            SortValue::NoNumber | SortValue::Last if !ties => column.exists(docs, bits)?,
            _ => match numbers {
                Some(numbers) => filter_numbers(column, docs, &numbers, bits, pruned)?,
                None => return Ok(false),
            },
        }
        if self.missing_first {
            let mut with = vec![0; bits.len()];
            column.exists(docs, &mut with)?;
            bits.iter_mut().zip(with).for_each(|(bits, with)| *bits |= !with);
        }
        Ok(true)
    }

    /// The place of the best number in a range, for the order of parts: lesser ones come first.
    pub(super) fn best(&self, numbers: &RangeInclusive<i64>) -> (bool, i64) {
        let best = if self.descending { !numbers.end() } else { *numbers.start() };
        (numbers.is_empty(), best)
    }

    /// Whether documents with a value come before those without one, or there are only the former.
    pub(super) fn values_decide(&self, column: &dyn Column) -> bool {
        !self.missing_first || column.info().all_present()
    }
}

/// The most keys that are stored inline, as are the values of an entry. Entries are made for every competitive document,
/// and freed all at once if a search is interrupted.
const INLINE: usize = 2;

/// A document and its value by each key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) values: SmallVec<[SortValue; INLINE]>,
    pub(crate) address: DocAddress,
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Entry) -> Ordering {
        let mut values = self.values.iter().zip(&other.values).map(|(a, b)| a.order_in_heap(b));
        values.find(|order| order.is_ne()).unwrap_or_else(|| self.address.cmp(&other.address))
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
