//! A copy of a field's buffer without deleted documents.

use std::collections::VecDeque;

use docvalues_format::binary::Values as _;

use crate::buffer::string_runs::{NumberedString, RunReader};
use crate::buffer::{FieldBuffer, FixedWidth, Items, MemoryBudget, SpillBudget, Strings, TermRun, Values};
use crate::encode::sample;
use crate::error::ErrorKind;
use crate::index::index;
use crate::live_set::LiveSet;
use crate::schema::FieldSpec;

/// Rebuilds `buffer` with the `live` documents only: it is the same as if they had been added one by one. Values
/// beyond the budget go to the temporary file.
///
/// Takes memory for the retained values, in addition to that of the buffer.
pub(crate) fn retain(
    buffer: FieldBuffer,
    spec: &FieldSpec,
    live: &LiveSet,
    spill_budget: &SpillBudget,
) -> Result<FieldBuffer, ErrorKind> {
    let FieldBuffer { presence, values, .. } = buffer;
    let mut retained = LiveCopy {
        spec,
        docs: presence.docs(0..u32::MAX),
        live,
        buffer: FieldBuffer::new(spec),
        memory: MemoryBudget::new(usize::MAX),
        spill_budget,
    };
    match values {
        Values::Numbers(mut numbers) => {
            numbers.normalize()?;
            each_document(&numbers, |list| {
                retained.document(list.len(), |buffer, _| {
                    list.iter().for_each(|&number| buffer.push_number(number));
                    Ok(())
                })
            })?;
        }
        Values::Strings(kept) => kept
            .strings
            .for_each(|value| retained.document(1, |buffer, memory| buffer.push_bytes(value, memory)))?,
        Values::Terms { mut ids, mut terms } => {
            ids.normalize()?;
            terms.end_runs(ids.values.len())?;
            let (runs, strings, _) = terms.into_parts();
            let mut known = TermReader { runs: runs.into(), seen: 0, end: 0, strings, at: None };
            each_document(&ids, |list| {
                known.advance(list.len())?;
                retained.document(list.len(), |buffer, memory| {
                    list.iter().try_for_each(|&id| buffer.push_bytes(known.get(id), memory))
                })
            })?;
        }
    }
    Ok(retained.buffer)
}

/// Calls `f` with the numbers of each document that has a value.
fn each_document<T: FixedWidth + Ord>(
    items: &Items<T>,
    mut f: impl FnMut(&[T]) -> Result<(), ErrorKind>,
) -> Result<(), ErrorKind> {
    if items.are_lists() {
        return items.for_each(f);
    }
    let mut numbers = items.values.stream();
    (0..items.values.len()).try_for_each(|_| f(&[numbers.next()?]))
}

/// The new buffer, while it is filled.
struct LiveCopy<'a, D> {
    spec: &'a FieldSpec,
    /// The documents with a value, live or not.
    docs: D,
    live: &'a LiveSet,
    buffer: FieldBuffer,
    memory: MemoryBudget,
    spill_budget: &'a SpillBudget,
}

impl<D: Iterator<Item = u32>> LiveCopy<'_, D> {
    /// Adds the next document, if it is live. `push` appends its `values`.
    fn document(
        &mut self,
        values: usize,
        push: impl FnOnce(&mut FieldBuffer, &mut MemoryBudget) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        // `docs` has an entry for each call.
        let LiveCopy { spec, docs, live, buffer, memory, spill_budget } = self;
        let Some(doc) = docs.next().filter(|&doc| live.has(doc)).map(|doc| live.rank(doc)) else {
            return Ok(());
        };
        sample::sample(buffer, spec, memory)?;
        buffer.reserve(1, values, memory)?;
        buffer.presence.reserve(doc..doc + 1, 1, memory)?;
        push(buffer, memory)?;
        buffer.presence.insert(doc);
        buffer.end_document();
        match spill_budget.spill() {
            Some(spill) if buffer.heap() > spill_budget.bytes => buffer.spill(spill, memory),
            _ => Ok(()),
        }
    }
}

/// Looks up the terms of ids, run by run: each run has ids of its own, from 0.
struct TermReader {
    runs: VecDeque<TermRun>,
    /// The number of ids so far, and the end of the current run's ids.
    seen: usize,
    end: usize,
    strings: Strings,
    /// The index in `strings` of each id; the id itself without runs.
    at: Option<Vec<u32>>,
}

impl TermReader {
    fn get(&self, id: u32) -> &[u8] {
        let at = self.at.as_ref().map_or(id, |at| at[index(id)]);
        self.strings.get(index(at))
    }

    /// Moves on by `ids` ids, which are all of one run.
    fn advance(&mut self, ids: usize) -> Result<(), ErrorKind> {
        if self.seen == self.end
            && let Some(run) = self.runs.pop_front()
        {
            self.end = run.ids;
            self.read(run)?;
        }
        self.seen += ids;
        Ok(())
    }

    fn read(&mut self, run: TermRun) -> Result<(), ErrorKind> {
        let (mut cursor, mut next, mut memory) =
            (RunReader::new(run.terms), NumberedString::default(), MemoryBudget::new(usize::MAX));
        let mut at = vec![0; index(run.count)];
        self.strings.truncate(0);
        for place in 0..run.count {
            if cursor.advance(&mut next)? {
                self.strings.reserve(1, next.string.len(), &mut memory)?;
                self.strings.push(&next.string);
                at[index(next.number)] = place;
            }
        }
        self.at = Some(at);
        Ok(())
    }
}
