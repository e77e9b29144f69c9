//! Merges the counts of several parts, and those of several threads.

use super::{Counts, FacetCounter, count_bytes};
use crate::engine::{Interrupt, PassPart};
use crate::error::Result;
use crate::facet::counter_array::CounterArray;

/// The most terms of a part for each of its documents that are counted by its own ords: clearing a counter and adding
/// it up costs about as much as a look-up of an id.
const MAX_OWN_TERMS_PER_DOC: u64 = 1;

impl FacetCounter {
    /// Begins a part. If it has many documents for its terms, its own ords are counted.
    pub(super) fn begin_part(&mut self, part: &PassPart<'_>) -> Result<()> {
        self.own = match (part.columns.ids(self.slot), &self.counts) {
            (Some(ids), Counts::Ords(_)) => {
                let hits = part.docs.count(part.total);
                let are_many = ids.len() as u64 <= u64::from(hits) * MAX_OWN_TERMS_PER_DOC;
                are_many.then(|| CounterArray::new(ids.len() + 1, hits as usize)).transpose()?
            }
            _ => None,
        };
        Ok(())
    }

    /// Ends a part. Counts of its own ords are added to those of ids, which all parts share.
    pub(super) fn add_part(&mut self, part: &PassPart<'_>) {
        let own = self.own.take().map(CounterArray::finish);
        if let (Some(own), Some(ids), Counts::Ords(counts)) =
            (own, part.columns.ids(self.slot), &mut self.counts)
        {
            self.missing += own.last().copied().map_or(0, u64::from);
            ids.iter().zip(own).for_each(|(id, count)| counts.add(id.get() as usize, count));
        }
    }

    /// Adds the counts of another thread.
    pub(super) fn add_thread(&mut self, other: FacetCounter, stop: &Interrupt) -> Result<()> {
        self.docs += other.docs;
        self.missing += other.missing;
        if self.budget.is_over() {
            return Ok(());
        }
        let (budget, mut pace) = (&*self.budget, stop.pace());
        match (&mut self.counts, other.counts) {
            (Counts::Ords(to), Counts::Ords(from)) | (Counts::Dense(_, to), Counts::Dense(_, from)) => {
                to.merge(&from, stop)?;
            }
            (Counts::Sparse(to), Counts::Sparse(from)) => {
                for (number, count) in from.iter() {
                    pace.step()?;
                    to.count(number, count, budget);
                }
                budget.give(from.bytes());
            }
            (Counts::Bytes(to, counts), Counts::Bytes(from, from_counts)) => {
                for (row, count) in (1..).zip(&from_counts) {
                    pace.step()?;
                    count_bytes(to, counts, from.get(row), *count, budget);
                }
                budget.give(from.bytes() + from_counts.capacity() * size_of::<u64>());
            }
            // A fork has the same kind of counters.
            _ => {}
        }
        Ok(())
    }
}
