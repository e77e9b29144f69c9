//! Accumulators: the words of a row that a metric is computed from.

use docvalues_column::{DocAddress, DocId, LogicalType};
use docvalues_format::file::kind::{from_u64, to_f64, to_u64};

use super::measure_state::MeasureState;
use super::sum::Compensated;
use crate::engine::hash_tables::low;
use crate::engine::value::one_zero;
use crate::engine::{Cells, NO_ORD, Numbers, Slot, Stored, Window};

/// An accumulator and its position in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accumulator {
    pub(super) slot: Slot,
    pub(super) logical: LogicalType,
    pub(super) kind: AccumulatorKind,
    pub(super) at: usize,
    /// The position of its count; 0, the number of documents, if each has a number.
    pub(super) count: usize,
}

/// The kind of an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccumulatorKind {
    /// A sum that fits an `i64`.
    Sum,
    /// A sum that fits an `i128`: two words, the lower one first.
    WideSum,
    /// A compensated sum of doubles.
    Doubles,
    /// The least number, as the complement of its [`to_u64`]; 0 for none.
    Least,
    /// The greatest number, as its [`to_u64`].
    Greatest,
    /// The number of distinct values, which a [`DistinctSet`](super::distinct_sets::DistinctSet) counts.
    Distinct,
    /// The percentile of these bits, which a [`NumberLog`](super::number_log::NumberLog) finds.
    Percentile(u64),
    /// The last document by a column, or the first if the flag is not set: the number of the accumulator's column, the
    /// key's [`to_u64`], and the document's place among all, from 1; their complements for the first.
    ByKey(Slot, bool),
}

impl AccumulatorKind {
    pub(super) fn words(self) -> usize {
        match self {
            AccumulatorKind::WideSum | AccumulatorKind::Doubles => 2,
            AccumulatorKind::ByKey(..) => 3,
            _ => 1,
        }
    }
}

/// Rows, and the row of each document of a window.
pub(super) struct Rows<'a> {
    pub(super) words: usize,
    pub(super) rows: &'a mut [u64],
    pub(super) places: &'a [u32],
}

impl Rows<'_> {
    /// Calls `each` with the row of every document that has a number.
    #[inline]
    fn each(&mut self, numbers: &Numbers<'_>, mut each: impl FnMut(&mut [u64], i64)) {
        numbers.each(|at, number| {
            let start = self.places[at] as usize * self.words;
            each(&mut self.rows[start..start + self.words], number);
        });
    }
}

impl Accumulator {
    pub(super) fn add(&self, rows: &mut Rows<'_>, numbers: &Numbers<'_>) {
        // Counts numbers if some documents have none; else position 0 counts documents already.
        let Accumulator { at, count, .. } = *self;
        let more = u64::from(count != 0);
        let is_double = self.logical == LogicalType::F64;
        let extreme = |row: &mut [u64], number: i64, rank: u64| {
            if !(is_double && to_f64(number).is_nan()) {
                row[count] += more;
                row[at] = row[at].max(rank);
            }
        };
        match self.kind {
            AccumulatorKind::Sum => rows.each(numbers, |row, number| {
                row[count] += more;
                row[at] = row[at].wrapping_add(number.cast_unsigned());
            }),
            AccumulatorKind::WideSum => rows.each(numbers, |row, number| {
                row[count] += more;
                add_wide(row, at, number.into());
            }),
            AccumulatorKind::Doubles => rows.each(numbers, |row, number| {
                let number = to_f64(number);
                if !number.is_nan() {
                    row[count] += more;
                    let mut sum = compensated(row, at);
                    sum.add(number);
                    (row[at], row[at + 1]) = (sum.sum.to_bits(), sum.lost.to_bits());
                }
            }),
            // These are added elsewhere.
            AccumulatorKind::Distinct | AccumulatorKind::Percentile(_) | AccumulatorKind::ByKey(..) => {}
            AccumulatorKind::Least => rows.each(numbers, |row, number| extreme(row, number, !to_u64(number))),
            AccumulatorKind::Greatest => {
                rows.each(numbers, |row, number| extreme(row, number, to_u64(number)))
            }
        }
    }

    /// Keeps the first or the last documents by the column `key`, of those with a value in both columns.
    pub(super) fn add_by_key(&self, rows: &mut Rows<'_>, (key, is_last): (Slot, bool), window: &Window<'_>) {
        let Accumulator { at, count, .. } = *self;
        let is_double = window.column(key).info().field.logical == LogicalType::F64;
        let cells = window.stored_cells(self.slot);
        let value = |at: usize| match &cells {
            Cells::Numbers(numbers) => numbers.get(at),
            // Strings are read by their documents, in the end.
            Cells::Ords(ords) => (ords[at] != NO_ORD).then_some(0),
            Cells::Bytes(strings) => strings.get(at).map(|_| 0),
            Cells::NumberLists(_) | Cells::OrdLists(_) => None,
        };
        window.numbers(key).each(|doc, number| {
            let Some(value) = value(doc).filter(|_| !(is_double && to_f64(number).is_nan())) else { return };
            let DocAddress { part, doc: of_part } = window.address(doc);
            let number = if is_double { one_zero(number) } else { number };
            let place = [to_u64(number), 1 + (u64::from(part) << 32 | u64::from(of_part.get()))];
            let place = if is_last { place } else { place.map(|word| !word) };
            let row = &mut rows.rows[rows.places[doc] as usize * rows.words..];
            // No place is 0.
            if place[..] > row[at + 1..at + 3] {
                row[at] = value.cast_unsigned();
                row[at + 1..at + 3].copy_from_slice(&place);
            }
            row[count] += 1;
        });
    }

    /// The position of the value of a first or last document, whether it is the last, its key, and its address; `None` for
    /// other kinds.
    pub(super) fn by_key(&self, row: &[u64]) -> Option<(usize, bool, i64, DocAddress)> {
        let AccumulatorKind::ByKey(_, is_last) = self.kind else { return None };
        let word = |at: usize| if is_last { row[self.at + at] } else { !row[self.at + at] };
        let place = word(2).wrapping_sub(1);
        let address = DocAddress { part: low(place >> 32), doc: DocId::new(low(place)) };
        Some((self.at, is_last, from_u64(word(1)), address))
    }

    /// Adds a number `times` times. O(log times).
    pub(super) fn add_known(&self, row: &mut [u64], number: i64, times: u64) {
        if times > 1 {
            let mut half = vec![0; row.len()];
            self.add_known(&mut half, number, times / 2);
            self.merge(row, &half);
            self.merge(row, &half);
        }
        if !times.is_multiple_of(2) {
            let mut rows = Rows { words: row.len(), rows: row, places: &[0] };
            self.add(&mut rows, &Numbers { values: &[number], present: None });
        }
        if self.kind == AccumulatorKind::Distinct {
            row[self.at] = 1;
        }
    }

    pub(super) fn merge(&self, to: &mut [u64], from: &[u64]) {
        let Accumulator { at, count, .. } = *self;
        if count != 0 {
            to[count] += from[count];
        }
        match self.kind {
            AccumulatorKind::Sum => to[at] = to[at].wrapping_add(from[at]),
            AccumulatorKind::WideSum => add_wide(to, at, wide(from, at)),
            AccumulatorKind::Doubles => {
                let sum = compensated(to, at).and(&compensated(from, at));
                (to[at], to[at + 1]) = (sum.sum.to_bits(), sum.lost.to_bits());
            }
            AccumulatorKind::Least | AccumulatorKind::Greatest => to[at] = to[at].max(from[at]),
            AccumulatorKind::Distinct | AccumulatorKind::Percentile(_) => {}
            AccumulatorKind::ByKey(..) => {
                if from[at + 1..at + 3] > to[at + 1..at + 3] {
                    to[at..at + 3].copy_from_slice(&from[at..at + 3]);
                }
            }
        }
    }

    /// The result of `count` numbers, at least one.
    pub(super) fn measure_state(&self, row: &[u64], count: u64) -> MeasureState {
        // Stored numbers are less by 2^63.
        let shift = if self.logical == LogicalType::U64 { i128::from(count) << 63 } else { 0 };
        let word = row[self.at];
        match self.kind {
            AccumulatorKind::Sum => MeasureState::Integers(count, i128::from(word.cast_signed()) + shift),
            AccumulatorKind::WideSum => MeasureState::Integers(count, wide(row, self.at) + shift),
            AccumulatorKind::Doubles => MeasureState::Doubles(count, compensated(row, self.at)),
            AccumulatorKind::Least => MeasureState::Least(from_u64(!word)),
            AccumulatorKind::Greatest => MeasureState::Greatest(from_u64(word)),
            AccumulatorKind::Distinct => MeasureState::Distinct(word),
            AccumulatorKind::Percentile(_) => MeasureState::Percentile(word.cast_signed()),
            AccumulatorKind::ByKey(_, is_last) => {
                let key = self.by_key(row).map_or(0, |(.., key, _)| key);
                MeasureState::ByKey(is_last, Box::new((key, Stored::Number(word.cast_signed()))))
            }
        }
    }
}

fn compensated(row: &[u64], at: usize) -> Compensated {
    Compensated { sum: f64::from_bits(row[at]), lost: f64::from_bits(row[at + 1]) }
}

/// The sum in two words.
fn wide(row: &[u64], at: usize) -> i128 {
    (u128::from(row[at]) | u128::from(row[at + 1]) << 64).cast_signed()
}

fn add_wide(row: &mut [u64], at: usize, number: i128) {
    (row[at], row[at + 1]) = wide_sum([row[at], row[at + 1]], number);
}

/// The two words of a sum, the lower one first, after `number` is added.
#[inline]
pub(super) fn wide_sum(words: [u64; 2], number: i128) -> (u64, u64) {
    let sum = wide(&words, 0).wrapping_add(number).cast_unsigned();
    #[expect(clippy::cast_possible_truncation, reason = "one half, then the other")]
    (sum as u64, (sum >> 64) as u64)
}
