//! A copy of a field's buffer without deleted documents.

use docvalues_format::binary::Values as _;

use crate::buffer::{FieldBuffer, MemoryBudget, SpillBudget, TermReader, Values};
use crate::encode::sample;
use crate::error::ErrorKind;
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
            numbers.for_each(|list| {
                retained.document(list.len(), |buffer, _| {
                    list.iter().for_each(|&number| buffer.push_number(number));
                    Ok(())
                })
            })?;
        }
        Values::Strings(kept) => kept
            .strings
            .for_each(|value| retained.document(1, |buffer, memory| buffer.push_bytes(value, memory)))?,
        Values::Terms { mut ids, terms } => {
            ids.normalize()?;
            let (runs, strings) = terms.into_parts();
            let mut terms = TermReader::new(&runs, &strings);
            ids.for_each(|list| {
                terms.advance(list.len())?;
                retained.document(list.len(), |buffer, memory| {
                    list.iter().try_for_each(|&id| buffer.push_bytes(terms.get(id), memory))
                })
            })?;
        }
    }
    Ok(retained.buffer)
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
        match spill_budget.spill.as_ref() {
            Some(spill) if buffer.heap() > spill_budget.bytes => buffer.spill(spill, memory),
            _ => Ok(()),
        }
    }
}
