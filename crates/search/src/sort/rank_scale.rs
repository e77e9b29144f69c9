//! Mapping of values to 32-bit ranks in the order of a sort key.

use docvalues_column::{Column, DocId, bits};

use super::key::Key;
use super::radix;
use super::sort_value::SortValue;
use crate::engine::{Cells, NO_ORD, Window, value_bounds};
use crate::error::{Error, Result};

/// Ranks after the last number: NaN, and no value.
const EXTRA_RANKS: u64 = 2;

/// A monotonic mapping from the values of a key to ranks.
///
/// | rank | value |
/// | --- | --- |
/// | 0 | no value, if these come first |
/// | 1 and more | numbers: the distance from the first one, in units of `1 << shift` |
/// | the next one | NaN |
/// | the last one | no value, if these come last |
///
/// Different numbers have the same rank if their distances take more than 32 bits. For these, [`finer`](Self::finer)
/// takes the bits below.
///
/// A number outside of the column's bounds has no rank: the file is damaged, and [`put`](RankScale::put) returns an
/// error.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankScale {
    key: Key,
    /// XOR mask that reverses the order: all bits, or none.
    flip: u64,
    /// The first number in the order of the key.
    first: u64,
    /// The distance from the first number to the last.
    span: u64,
    /// The bits of distances that are left to finer scales.
    shift: u32,
    /// The bits of distances in units that are in ranks: those above were in the ranks of coarser scales.
    mask: u64,
}

impl RankScale {
    /// A scale for the numbers or ords of a column; `None` for byte strings.
    pub(super) fn of(key: Key, column: &dyn Column) -> Option<RankScale> {
        let bounds = Some(value_bounds(column)?).filter(|bounds| !bounds.is_empty()).unwrap_or(0..=0);
        let [least, greatest] = [*bounds.start(), *bounds.end()].map(|end| key.canonical(end));
        let (flip, first) = if key.descending { (u64::MAX, !greatest) } else { (0, least) };
        let span = greatest.wrapping_sub(least).cast_unsigned();
        let most = u64::from(u32::MAX) - 1 - EXTRA_RANKS;
        let mut shift = 0;
        while span >> shift > most {
            shift += 1;
        }
        Some(RankScale { key, flip, first: first.cast_unsigned(), span, shift, mask: u64::MAX })
    }

    /// Whether different numbers may have the same rank.
    pub(super) fn is_coarse(&self) -> bool {
        self.shift > 0
    }

    /// The number of bits in a rank.
    pub(super) fn bits(&self) -> u32 {
        u64::BITS - (self.top() + EXTRA_RANKS).leading_zeros()
    }

    /// The greatest rank of a number.
    fn top(&self) -> u64 {
        (self.span >> self.shift).min(self.mask) + 1
    }

    fn missing(&self) -> u64 {
        if self.key.missing_first { 0 } else { self.top() + EXTRA_RANKS }
    }

    /// Whether numbers with this rank may differ.
    pub(super) fn may_differ(&self, rank: u32) -> bool {
        self.is_coarse() && (1..=self.top()).contains(&u64::from(rank))
    }

    /// A scale that distinguishes numbers of equal rank, if they may differ.
    pub(super) fn finer(&self) -> Option<RankScale> {
        // One bit less than a rank has: there are other ranks, too.
        let bits = self.shift.min(u32::BITS - 1);
        let finer = RankScale { shift: self.shift - bits, mask: (1 << bits) - 1, ..*self };
        self.is_coarse().then_some(finer)
    }

    /// Writes the items of the window's documents `docs`. The column must have been read.
    ///
    /// # Errors
    ///
    /// If a number or ord lies outside of the column's bounds.
    pub(super) fn put(&self, window: &Window<'_>, docs: &[DocId], items: &mut [u64]) -> Result<()> {
        let (slot, missing) = (self.key.slot, narrow(self.missing()));
        // Accumulates the distances outside of the span in the highest bit.
        let mut outside = 0;
        let mut rank_or =
            |number: Option<i64>| number.map_or(missing, |number| self.rank(number, &mut outside));
        match window.stored_cells(slot) {
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
        // Without a comparison, which may have no vector instruction: a short span's highest bit is clear, so it is
        // set in a greater distance or in the difference.
        let (left, is_short) = (self.span.wrapping_sub(distance), self.span >> 63 == 0);
        *outside |= if is_short { distance | left } else { u64::from(distance > self.span) << 63 };
        narrow((distance >> self.shift & self.mask).wrapping_add(1))
    }

    /// The distance from the first number in the order of the key.
    #[inline]
    fn distance(&self, number: u64) -> u64 {
        number.wrapping_sub(self.first)
    }

    /// The error for a window with a value out of bounds.
    #[cold]
    fn told_wrong(&self, window: &Window<'_>) -> Error {
        let is_outside = |at: &usize| match self.key.value(window, *at) {
            // The value is reversed as well.
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
