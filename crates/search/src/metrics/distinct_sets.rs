//! Exact counts of distinct values for each row of accumulators.
//!
//! One hash set of pairs of a row and a value id serves all rows. A new pair increments the count in its row. Value ids
//! are assigned in the order of first use, so that a pair fits 64 bits.

use super::measure_state::{Kept, MeasureState};
use crate::engine::hash_tables::{ByteStringTable, NumberTable, ValuePart, low};
use crate::engine::{
    Cells, ColumnView, Elements, Interrupt, MemoryBudget, Request, RowTable, Slot, Stored, TermSpace, Window,
};
use crate::error::Result;

/// The distinct values of one column for each row.
#[derive(Debug)]
pub(crate) struct DistinctSet {
    slot: Slot,
    /// The index of the count in a row.
    at: usize,
    /// The ids of values are their rows here. Those of terms are their ords.
    values: RowTable,
    /// A row in the upper half, a value id in the lower.
    pairs: NumberTable,
}

impl DistinctSet {
    pub(super) fn new(slot: Slot, at: usize, column: ColumnView<'_>) -> DistinctSet {
        let values = match column.elements() {
            Elements::Ords => RowTable::Dense { first: 0, len: column.terms().map_or(0, TermSpace::len) },
            Elements::Numbers => RowTable::Numbers(NumberTable::new(ValuePart::whole())),
            Elements::Bytes => RowTable::Bytes(ByteStringTable::new(ValuePart::whole())),
        };
        DistinctSet { slot, at, values, pairs: NumberTable::new(ValuePart::whole()) }
    }

    pub(crate) fn fork(&self) -> DistinctSet {
        let (values, pairs) = (self.values.fork(), self.pairs.fork());
        DistinctSet { slot: self.slot, at: self.at, values, pairs }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.values.bytes() + self.pairs.bytes()
    }

    /// Adds the values of a window's documents, document `i` to row `places[i]`, except to row `other`. Once
    /// the budget is exhausted, some are left out.
    pub(crate) fn add(
        &mut self,
        rows: &mut [u64],
        words: usize,
        (places, other): (&[u32], u32),
        window: &Window<'_>,
        budget: &MemoryBudget,
    ) {
        let DistinctSet { slot, at, values, pairs } = self;
        let mut add = |doc: usize, id: Option<u32>| {
            if let Some(id) = id {
                let place = places[doc];
                // The budget records that it is exhausted.
                add_pair(pairs, place, id, &mut rows[place as usize * words + *at], budget);
            }
        };
        let cells = window.cells(*slot);
        if let (RowTable::Bytes(table), Cells::Bytes(strings)) = (&mut *values, &cells) {
            let some = strings.iter().enumerate().filter(|(doc, _)| places[*doc] != other);
            some.for_each(|(doc, bytes)| add(doc, bytes.and_then(|bytes| table.row(bytes, budget))));
        }
        cells.each_different(|doc, number| {
            let Some(number) = number.filter(|_| places[doc] != other) else { return };
            match &mut *values {
                RowTable::Numbers(table) => add(doc, table.row(number, budget)),
                // The id of a term is its ord.
                _ => add(doc, Some(low(number.cast_unsigned()))),
            }
        });
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
        let are_ords = matches!(self.values, RowTable::Dense { .. });
        let mut ids: Vec<u32> = Vec::new();
        if !are_ords {
            if !budget.grow(&mut ids, other.values.rows()) {
                return Ok(());
            }
            ids.resize(other.values.rows(), 0);
            self.values.rows_of(&other.values, budget, stop, |from, to| {
                ids[from] = to;
                true
            })?;
            if budget.is_over() {
                return Ok(());
            }
        }
        let mut pace = stop.pace();
        for (pair, _) in other.pairs.iter() {
            pace.step()?;
            let (row, value) = halves(pair);
            let value = if are_ords { value } else { ids[value as usize] };
            let row = rows_of[row as usize];
            let Some(count) = rows.get_mut(row as usize * words + self.at) else { break };
            if !add_pair(&mut self.pairs, row, value, count, budget) {
                break;
            }
        }
        budget.give(ids.capacity() * size_of::<u32>());
        Ok(())
    }

    /// Appends the values of each row to `kept`, with ords for terms, and writes their place there, counted from 1, to the
    /// row. Ends when the budget is exhausted.
    ///
    /// # Errors
    ///
    /// If the search is interrupted.
    pub(crate) fn keep(
        &self,
        (rows, words): (&mut [u64], usize),
        (request, budget): (&Request<'_>, &MemoryBudget),
        kept: &mut Kept,
    ) -> Result<()> {
        let (all_rows, values) = (rows.len() / words, self.pairs.len() * 2);
        if !budget.take(self.bytes() + all_rows * size_of::<Vec<u8>>() + values * size_of::<Stored>()) {
            return Ok(());
        }
        let mut numbers = Vec::new();
        if let RowTable::Numbers(table) = &self.values {
            numbers.resize(self.values.rows(), 0);
            table.iter().for_each(|(number, id)| numbers[low(id) as usize] = number);
        }
        let (mut lists, mut pace) = (vec![Vec::new(); all_rows], request.stop().pace());
        for (pair, _) in self.pairs.iter() {
            pace.step()?;
            let (row, id) = halves(pair);
            lists[row as usize].push(match &self.values {
                RowTable::Dense { .. } => Stored::Number(id.into()),
                RowTable::Numbers(_) => Stored::Number(numbers[id as usize]),
                RowTable::Bytes(table) => Stored::Bytes(table.get(id as usize).to_vec()),
            });
        }
        for (row, mut values) in lists.into_iter().enumerate().filter(|(_, values)| !values.is_empty()) {
            pace.step()?;
            values.sort_unstable();
            values.shrink_to_fit();
            kept.push(MeasureState::Values(values));
            rows[row * words + self.at] = kept.len() as u64;
        }
        Ok(())
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
