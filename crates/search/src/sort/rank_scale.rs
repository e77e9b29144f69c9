//! Values as ranks of 32 bits, which ascend as their places do.

use docvalues_column::{Column, DocId, bits};

use super::key::{Key, SortValue};
use super::radix;
use crate::columns::bounds;
use crate::error::{Error, Result};
use crate::window::{Cells, NO_ORD, Window};

/// Ranks behind the last number: NaN, no value.
const BEHIND: u64 = 2;

/// Which ranks the values of a key have.
///
/// | rank | |
/// | --- | --- |
/// | 0 | no value, where these come first |
/// | 1 and more | numbers: how far from the first one, in units of `1 << shift` |
/// | behind these | NaN |
/// | and behind this | no value, where these come last |
///
/// Where a number lies outside of the column's bounds, there is no rank for it: the file lies, and [`put`](RankScale::put) says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankScale {
    key: Key,
    /// What turns the order around: all bits, or none.
    flip: u64,
    /// The first number, turned around.
    first: u64,
    /// From the first number to the last.
    span: u64,
    shift: u32,
}

impl RankScale {
    /// For the numbers or ords of a column; nothing for byte strings.
    pub(super) fn of(key: Key, column: &dyn Column) -> Option<RankScale> {
        let bounds = Some(bounds(column)?).filter(|bounds| !bounds.is_empty()).unwrap_or(0..=0);
        let [least, greatest] = [*bounds.start(), *bounds.end()].map(|end| key.canonical(end));
        let (flip, first) = if key.descending { (u64::MAX, !greatest) } else { (0, least) };
        let span = greatest.wrapping_sub(least).cast_unsigned();
        Some(RankScale::new(key, flip, first.cast_unsigned(), span))
    }

    fn new(key: Key, flip: u64, first: u64, span: u64) -> RankScale {
        let most = u64::from(u32::MAX) - 1 - BEHIND;
        let mut shift = 0;
        while span >> shift > most {
            shift += 1;
        }
        RankScale { key, flip, first, span, shift }
    }

    /// Whether numbers that differ may have the same rank.
    pub(super) fn is_coarse(&self) -> bool {
        self.shift > 0
    }

    /// How many bits ranks have.
    pub(super) fn bits(&self) -> u32 {
        u64::BITS - (self.top() + BEHIND).leading_zeros()
    }

    /// The greatest rank of a number.
    fn top(&self) -> u64 {
        (self.span >> self.shift) + 1
    }

    fn missing(&self) -> u64 {
        if self.key.missing_first { 0 } else { self.top() + BEHIND }
    }

    /// What tells numbers apart that have the same rank, if they may differ.
    pub(super) fn finer(&self, rank: u32) -> Option<RankScale> {
        let units =
            u64::from(rank).checked_sub(1).filter(|_| self.is_coarse() && u64::from(rank) <= self.top())?;
        let start = units << self.shift;
        let span = self.span.saturating_sub(start).min((1 << self.shift) - 1);
        Some(RankScale::new(self.key, self.flip, self.first.wrapping_add(start), span))
    }

    /// The items of a window's documents, which are `docs`; their column was read.
    ///
    /// # Errors
    ///
    /// When a number or ord is outside of what the column says of all.
    pub(super) fn put(&self, window: &Window<'_>, docs: &[DocId], items: &mut [u64]) -> Result<()> {
        let (slot, missing) = (self.key.slot, narrow(self.missing()));
        // The highest bit says whether any number is.
        let mut outside = 0;
        let mut rank_or =
            |number: Option<i64>| number.map_or(missing, |number| self.rank(number, &mut outside));
        match window.cells(slot) {
            Cells::Numbers(numbers) => match numbers.present {
                None if self.key.is_of_doubles() => {
                    put(items, docs, numbers.values, |&number| self.rank(number, &mut outside));
                }
                None => {
                    put(items, docs, numbers.values, |&number| self.rank_of_integer(number, &mut outside))
                }
                Some(present) => put(items, docs, (0..).zip(numbers.values), |(at, &number)| {
                    if bits::get(present, at) { self.rank(number, &mut outside) } else { missing }
                }),
            },
            Cells::Ords(ords) => put(items, docs, ords, |&ord| {
                if ord == NO_ORD { missing } else { self.rank_of_integer(ord.get().into(), &mut outside) }
            }),
            Cells::NumberLists(lists) => {
                put(items, docs, lists.iter(), |numbers| rank_or(self.key.extreme(numbers)));
            }
            Cells::OrdLists(lists) => {
                put(items, docs, lists.iter(), |ords| rank_or(self.key.extreme_ord(ords)))
            }
            Cells::Bytes(_) => {}
        }
        if outside >> 63 == 1 { Err(self.told_wrong(window)) } else { Ok(()) }
    }

    #[inline]
    fn rank(&self, number: i64, outside: &mut u64) -> u32 {
        if self.key.is_nan(number) {
            narrow(self.top() + 1)
        } else {
            self.rank_of_integer(self.key.canonical(number), outside)
        }
    }

    #[inline]
    fn rank_of_integer(&self, number: i64, outside: &mut u64) -> u32 {
        let distance = self.distance(number.cast_unsigned() ^ self.flip);
        // Not by comparing, for which there may be no vector instruction: the highest bit of a short span is not set, so it
        // is of a greater distance or of what is left to it.
        let left = self.span.wrapping_sub(distance);
        *outside |= if self.is_coarse() { u64::from(distance > self.span) << 63 } else { distance | left };
        narrow((distance >> self.shift).wrapping_add(1))
    }

    /// From the first number to one that is turned around.
    #[inline]
    fn distance(&self, number: u64) -> u64 {
        number.wrapping_sub(self.first)
    }

    /// What is wrong with the window.
    #[cold]
    fn told_wrong(&self, window: &Window<'_>) -> Error {
        let is_outside = |at: &usize| match self.key.value(window, *at) {
            // A place is turned around as well.
            SortValue::Number(place) => self.distance(place ^ 1 << 63) > self.span,
            _ => false,
        };
        let doc = (0..window.len()).find(is_outside).map_or(0, |at| window.doc(at).get());
        let field = window.column(self.key.slot).info().field.name.clone();
        Error::Value { field, doc, what: "has a value outside of the bounds that the column gives" }
    }
}

#[inline]
fn put<V>(
    items: &mut [u64],
    docs: &[DocId],
    values: impl IntoIterator<Item = V>,
    mut rank: impl FnMut(V) -> u32,
) {
    let docs = items.iter_mut().zip(docs);
    docs.zip(values).for_each(|((to, doc), value)| *to = radix::item(rank(value), *doc));
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "ranks have 32 bits, but for what lies outside of the bounds, and is refused"
)]
fn narrow(rank: u64) -> u32 {
    rank as u32
}
