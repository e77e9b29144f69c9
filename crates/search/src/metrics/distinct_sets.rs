//! Exact counts of distinct values for each row of accumulators.
//!
//! One hash set of pairs of a row and a value id serves all rows. A new pair increments the count in its row. Value ids
//! are assigned in the order of first use, so that a pair fits 64 bits.

use crate::engine::hash_tables::{ByteStringTable, NumberTable, ValuePart, low};
use crate::engine::{Cells, ColumnView, Elements, Interrupt, MemoryBudget, NO_ORD, Slot, Window};
use crate::error::Result;

/// The distinct values of one column for each row.
#[derive(Debug)]
pub(crate) struct DistinctSet {
    slot: Slot,
    /// The index of the count in a row.
    at: usize,
    values: ValueNumbers,
    /// A row in the upper half, a value id in the lower.
    pairs: NumberTable,
}

/// The ids of the values of a column.
#[derive(Debug)]
enum ValueNumbers {
    /// Ords, which are ids already.
    Ords,
    Numbers(NumberTable),
    Bytes(ByteStringTable),
}

impl DistinctSet {
    pub(super) fn new(slot: Slot, at: usize, column: ColumnView<'_>) -> DistinctSet {
        let values = match column.elements() {
            Elements::Ords => ValueNumbers::Ords,
            Elements::Numbers => ValueNumbers::Numbers(NumberTable::new(ValuePart::whole())),
            Elements::Bytes => ValueNumbers::Bytes(ByteStringTable::new(ValuePart::whole())),
        };
        DistinctSet { slot, at, values, pairs: NumberTable::new(ValuePart::whole()) }
    }

    pub(crate) fn fork(&self) -> DistinctSet {
        let values = match &self.values {
            ValueNumbers::Ords => ValueNumbers::Ords,
            ValueNumbers::Numbers(numbers) => ValueNumbers::Numbers(numbers.fork()),
            ValueNumbers::Bytes(bytes) => ValueNumbers::Bytes(bytes.fork()),
        };
        DistinctSet { slot: self.slot, at: self.at, values, pairs: self.pairs.fork() }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        let values = match &self.values {
            ValueNumbers::Ords => 0,
            ValueNumbers::Numbers(numbers) => numbers.bytes(),
            ValueNumbers::Bytes(bytes) => bytes.bytes(),
        };
        values + self.pairs.bytes()
    }

    /// Adds the values of a window's documents, document `i` to row `places[i]`, except to row `other`. Ends when the
    /// budget is exhausted.
    pub(crate) fn add(
        &mut self,
        rows: &mut [u64],
        words: usize,
        (places, other): (&[u32], u32),
        window: &Window<'_>,
        budget: &MemoryBudget,
    ) {
        let DistinctSet { slot, at, values, pairs } = self;
        let mut add = |place: u32, number: Option<u32>| {
            let Some(number) = number else { return false };
            add_pair(pairs, place, number, &mut rows[place as usize * words + *at], budget)
        };
        let places = places.iter().copied();
        let is_one = |place: &u32| *place != other;
        // The budget records that it is exhausted.
        let _ = match (values, window.cells(*slot)) {
            (ValueNumbers::Ords, Cells::Ords(ords)) => {
                let mut some = places.zip(ords).filter(|(place, ord)| is_one(place) && **ord != NO_ORD);
                some.all(|(place, ord)| add(place, Some(ord.get())))
            }
            (ValueNumbers::Ords, Cells::OrdLists(lists)) => {
                let mut some = places.zip(lists.iter()).filter(|(place, _)| is_one(place));
                some.all(|(place, ords)| ords.iter().all(|ord| add(place, Some(ord.get()))))
            }
            (ValueNumbers::Numbers(table), Cells::Numbers(numbers)) => places
                .enumerate()
                .filter(|(_, place)| is_one(place))
                .filter_map(|(at, place)| Some((place, numbers.get(at)?)))
                .all(|(place, number)| add(place, table.row(number, budget))),
            (ValueNumbers::Numbers(table), Cells::NumberLists(lists)) => places
                .zip(lists.iter())
                .filter(|(place, _)| is_one(place))
                .all(|(place, list)| list.iter().all(|number| add(place, table.row(*number, budget)))),
            (ValueNumbers::Bytes(table), Cells::Bytes(strings)) => places
                .zip(strings.iter())
                .filter(|(place, _)| is_one(place))
                .filter_map(|(place, bytes)| Some((place, bytes?)))
                .all(|(place, bytes)| add(place, table.row(bytes, budget))),
            // The form of a column's cells is that of its elements.
            _ => true,
        };
    }

    /// Adds the pairs of `other`, whose row `i` is row `rows_of[i]` here. Ends when the budget is exhausted.
    ///
    /// # Errors
    ///
    /// If the search is interrupted.
    pub(crate) fn merge(
        &mut self,
        other: &DistinctSet,
        rows_of: &[u32],
        (rows, words): (&mut [u64], usize),
        budget: &MemoryBudget,
        stop: &Interrupt,
    ) -> Result<()> {
        let mut pace = stop.pace();
        let Some(ids) = self.ids_of(other, budget, stop)? else { return Ok(()) };
        for (pair, _) in other.pairs.iter() {
            pace.step()?;
            let (row, value) = halves(pair);
            let value = if let ValueNumbers::Ords = self.values { value } else { ids[value as usize] };
            let row = rows_of[row as usize];
            let Some(count) = rows.get_mut(row as usize * words + self.at) else { break };
            if !add_pair(&mut self.pairs, row, value, count, budget) {
                break;
            }
        }
        budget.give(ids.capacity() * size_of::<u32>());
        Ok(())
    }

    /// Maps the value ids of `other` to those of `self`; ords have no others. `None` if the budget is exhausted.
    fn ids_of(
        &mut self,
        other: &DistinctSet,
        budget: &MemoryBudget,
        stop: &Interrupt,
    ) -> Result<Option<Vec<u32>>> {
        let mut pace = stop.pace();
        let mut ids = Vec::new();
        let mut room = |len: usize| {
            let has_room = budget.grow(&mut ids, len + 1);
            if has_room {
                ids.resize(len + 1, 0);
            }
            has_room
        };
        match (&mut self.values, &other.values) {
            (ValueNumbers::Numbers(to), ValueNumbers::Numbers(from)) if room(from.len()) => {
                for (number, at) in from.iter() {
                    pace.step()?;
                    let Some(id) = to.row(number, budget) else { return Ok(None) };
                    ids[low(at) as usize] = id;
                }
            }
            (ValueNumbers::Bytes(to), ValueNumbers::Bytes(from)) if room(from.len()) => {
                for (at, id) in ids.iter_mut().enumerate().skip(1) {
                    pace.step()?;
                    let Some(found) = to.row(from.get(at), budget) else { return Ok(None) };
                    *id = found;
                }
            }
            (ValueNumbers::Ords, ValueNumbers::Ords) => {}
            // No room. A fork has the same kind of values.
            _ => return Ok(None),
        }
        Ok(Some(ids))
    }
}

/// Adds a pair, and one to the count of its row if the pair is new. Returns false if the budget is exhausted.
#[inline]
fn add_pair(pairs: &mut NumberTable, row: u32, value: u32, count: &mut u64, budget: &MemoryBudget) -> bool {
    let before = pairs.len();
    let pair = (u64::from(row) << 32 | u64::from(value)).cast_signed();
    let has_room = pairs.row(pair, budget).is_some();
    *count += u64::from(pairs.len() > before);
    has_room
}

/// The row and the value of a pair.
fn halves(pair: i64) -> (u32, u32) {
    let pair = pair.cast_unsigned();
    (low(pair >> 32), low(pair & u64::from(u32::MAX)))
}
