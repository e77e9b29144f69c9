//! The count of every number, for percentiles that are merged with others.

use std::sync::Arc;

use docvalues_column::LogicalType;
use docvalues_format::file::kind::to_f64;

use crate::engine::hash_tables::{NumberTable, ValuePart};
use crate::engine::{Cells, Collector, Interrupt, MemoryBudget, Request, Slot, Window};
use crate::error::{Error, Result};

/// Counts each number other than NaN. A document with several values counts for each.
pub(crate) struct NumberCounts {
    slot: Slot,
    is_double: bool,
    table: NumberTable,
    budget: Arc<MemoryBudget>,
    is_known: bool,
}

impl NumberCounts {
    /// A collector within the memory limit of a request.
    pub(crate) fn new(slot: Slot, request: &Request<'_>) -> NumberCounts {
        let is_double = request.columns().get(slot).info().field.logical == LogicalType::F64;
        let budget = Arc::new(MemoryBudget::new(request.memory(), request.stop()));
        let table = NumberTable::new(ValuePart::whole());
        let known = request.constant(slot);
        let mut counts = NumberCounts { slot, is_double, table, budget, is_known: known.is_some() };
        if let Some((number, times)) = known.and_then(|known| Some((known.value?, known.values))) {
            counts.count(number, times);
        }
        counts
    }

    fn count(&mut self, number: i64, times: u64) {
        if !(self.is_double && to_f64(number).is_nan()) {
            self.table.count(number, times, &self.budget);
        }
    }

    /// The numbers and their counts, ascending.
    ///
    /// # Errors
    ///
    /// If they exceed the memory limit.
    pub(crate) fn finish(self) -> Result<Vec<(i64, u64)>> {
        if self.budget.is_over() {
            return Err(Error::Memory { bytes: (self.budget.bytes() as u64).saturating_mul(2) });
        }
        let mut counts: Vec<(i64, u64)> = self.table.iter().collect();
        counts.sort_unstable();
        Ok(counts)
    }
}

impl Collector for NumberCounts {
    fn fork(&self) -> NumberCounts {
        let (table, budget) = (self.table.fork(), Arc::clone(&self.budget));
        NumberCounts { table, budget, ..*self }
    }

    fn is_idle(&self) -> bool {
        self.is_known
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        if self.budget.is_over() {
            return Ok(());
        }
        window.read_stored(self.slot)?;
        match window.stored_cells(self.slot) {
            Cells::Numbers(numbers) => numbers.each(|_, number| self.count(number, 1)),
            Cells::NumberLists(lists) => lists.items().iter().for_each(|number| self.count(*number, 1)),
            Cells::Ords(_) | Cells::OrdLists(_) | Cells::Bytes(_) => {}
        }
        Ok(())
    }

    fn merge(&mut self, other: NumberCounts, stop: &Interrupt) -> Result<()> {
        let mut pace = stop.pace();
        for (number, count) in other.table.iter() {
            pace.step()?;
            self.table.count(number, count, &self.budget);
        }
        self.budget.give(other.table.bytes());
        Ok(())
    }
}
