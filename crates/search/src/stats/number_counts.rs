//! The count of every number, for percentiles that are merged with others.

use std::sync::Arc;

use docvalues_column::LogicalType;
use docvalues_format::file::kind::to_f64;

use crate::engine::hash_tables::{NumberTable, ValuePart};
use crate::engine::{Interrupt, MemoryBudget, Request};
use crate::error::{Error, Result};

/// Counts of each number other than NaN. A document with several values counts for each.
pub(super) struct NumberCounts {
    is_double: bool,
    table: NumberTable,
    budget: Arc<MemoryBudget>,
}

impl NumberCounts {
    /// No counts, within the memory limit of a request.
    pub(super) fn new(logical: LogicalType, request: &Request<'_>) -> NumberCounts {
        let budget = Arc::new(MemoryBudget::new(request.memory(), request.stop()));
        let table = NumberTable::new(ValuePart::whole());
        NumberCounts { is_double: logical == LogicalType::F64, table, budget }
    }

    pub(super) fn fork(&self) -> NumberCounts {
        let (table, budget) = (self.table.fork(), Arc::clone(&self.budget));
        NumberCounts { is_double: self.is_double, table, budget }
    }

    /// Counts each number `times` times.
    pub(super) fn add(&mut self, numbers: &[i64], times: u64) {
        if self.budget.is_over() {
            return;
        }
        let NumberCounts { is_double, table, budget } = self;
        let is_nan = |number: i64| *is_double && to_f64(number).is_nan();
        for &number in numbers.iter().filter(|number| !is_nan(**number)) {
            table.count(number, times, budget);
        }
    }

    pub(super) fn merge(&mut self, other: &NumberCounts, stop: &Interrupt) -> Result<()> {
        self.table.add_counts(&other.table, &self.budget, stop)
    }

    /// The numbers and their counts, ascending.
    ///
    /// # Errors
    ///
    /// If they exceed the memory limit.
    pub(super) fn finish(self) -> Result<Vec<(i64, u64)>> {
        if self.budget.is_over() {
            return Err(Error::Memory { bytes: (self.budget.bytes() as u64).saturating_mul(2) });
        }
        let mut counts: Vec<(i64, u64)> = self.table.iter().collect();
        counts.sort_unstable();
        Ok(counts)
    }
}
