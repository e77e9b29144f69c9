//! [`ExternalSorter`]: sorts records of a sort code and a document, in memory or by merging runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::buffer::{CHUNK_LEN, Scratch, ScratchReader, ScratchWriter, SpillBudget};
use crate::error::ErrorKind;

/// The size of a record on disk, in bytes.
const LEN: usize = size_of::<u128>();

/// The minimum size of a read from a run, in bytes, however many runs share the budget.
const FEWEST: usize = 1 << 12;

/// Sorts distinct records of 128 bits: the sort code above, the document below.
#[derive(Debug)]
pub(crate) struct ExternalSorter {
    records: Vec<u128>,
    /// The number of records of a run.
    most: usize,
    runs: Vec<Scratch>,
    spill_budget: SpillBudget,
}

impl ExternalSorter {
    pub(crate) fn new(spill_budget: SpillBudget) -> ExternalSorter {
        // A stable sort takes half as much memory again.
        let most = (spill_budget.bytes / (LEN + LEN / 2)).max(1);
        ExternalSorter { records: Vec::new(), most, runs: Vec::new(), spill_budget }
    }

    pub(crate) fn push(&mut self, record: u128) -> Result<(), ErrorKind> {
        if self.records.len() == self.most {
            self.end_run()?;
        }
        if self.records.len() == self.records.capacity() {
            let more = self.records.len().max(FEWEST);
            self.records.try_reserve(more).map_err(|_| ErrorKind::memory(more.saturating_mul(LEN)))?;
        }
        self.records.push(record);
        Ok(())
    }

    fn end_run(&mut self) -> Result<(), ErrorKind> {
        let Some(spill) = self.spill_budget.spill.as_ref() else { return Ok(()) };
        let mut run = ScratchWriter::new(Scratch::new(spill.clone()));
        sort(&mut self.records);
        for record in self.records.drain(..) {
            run.push(|bytes| bytes.extend_from_slice(&record.to_le_bytes()))?;
        }
        self.runs.push(run.finish()?);
        Ok(())
    }

    /// Calls `each` with all records, ascending.
    pub(crate) fn finish(
        mut self,
        mut each: impl FnMut(u128) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        if self.runs.is_empty() {
            sort(&mut self.records);
            return self.records.into_iter().try_for_each(each);
        }
        self.end_run()?;
        drop(self.records);
        // The runs share the budget.
        let together = (self.spill_budget.bytes / self.runs.len()).clamp(FEWEST, CHUNK_LEN);
        let mut runs: Vec<_> = self.runs.into_iter().map(|run| ScratchReader::new(run, together)).collect();
        let mut heads = BinaryHeap::new();
        for (i, run) in runs.iter_mut().enumerate() {
            heads.extend(next(run)?.map(|record| Reverse((record, i))));
        }
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((record, run)) = &mut *head;
            each(*record)?;
            match next(&mut runs[*run])? {
                Some(next) => *record = next,
                None => drop(PeekMut::pop(head)),
            }
        }
        Ok(())
    }
}

/// Stable, because the standard library's stable sort is fast on input that consists of sorted runs, such as the
/// documents of several sorted segments.
fn sort(records: &mut [u128]) {
    records.sort();
}

/// The next record of a run.
fn next(run: &mut ScratchReader) -> Result<Option<u128>, ErrorKind> {
    let record = run.peek(LEN)?.first_chunk().map(|bytes| u128::from_le_bytes(*bytes));
    if record.is_some() {
        run.skip(LEN);
    }
    Ok(record)
}
