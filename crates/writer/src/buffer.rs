//! The buffer of one field, from the first document until the segment is written.
//!
//! Values are kept in stored form: numbers after their order-preserving transform, byte strings interned. Encoding then
//! starts from slices. Adding a value either succeeds or changes nothing. [`FieldBuffer::truncate`] rolls back the
//! values of uncommitted documents.
//!
//! Buffers do not know where values come from, how documents are sorted, and how columns are encoded.
//!
//! | module | contents |
//! | --- | --- |
//! | `batch_rows` | which values of a batch are those of a document |
//! | `memory_budget` | memory accounting, and when to spill |
//! | `spill_vec` | numbers, with a prefix on disk if they spilled |
//! | `scratch` | byte ranges of the temporary file |
//! | `items` | one number a document, or lists, over `spill_vec` |
//! | `byte_strings`, `string_buffer` | byte strings with offsets; the same while they are added |
//! | `strings`, `intern` | byte strings in one buffer; distinct ones with ids |
//! | `string_runs`, `term_run` | sorted byte strings in the temporary file; the terms of an interner there, by id |
//! | `repeats` | whether the byte strings of a field repeat, as far as it is known |
//! | `presence` | the documents that have a value |
//! | `payload` | the bytes of an encoded section |

use docvalues_storage::Spill;

use crate::error::ErrorKind;
use crate::index::index;
use crate::schema::{BytesKind, FieldSpec};

pub(crate) use batch_rows::{BatchRows, Counted, Refused, Validity, span};
pub(crate) use byte_strings::ByteStrings;
pub(crate) use intern::{INTERN_BATCH, Interner};
pub(crate) use items::{Items, ascending, distinct};
pub(crate) use memory_budget::{MemoryBudget, SpillBudget};
pub(crate) use payload::{Payload, payloads};
pub(crate) use presence::PresenceBuffer;
pub(crate) use repeats::{Repeats, SAMPLE};
pub(crate) use scratch::{CHUNK_LEN, Scratch, ScratchReader, ScratchWriter};
pub(crate) use spill_vec::{FixedWidth, SpillVec, SpillVecReader};
pub(crate) use string_buffer::StringBuffer;
pub(crate) use strings::{Strings, sorted};
pub(crate) use term_run::{TermReader, TermRun};

mod batch_rows;
mod byte_strings;
mod intern;
mod items;
mod memory_budget;
mod payload;
mod presence;
mod repeats;
mod scratch;
mod spill_vec;
mod string_buffer;
pub(crate) mod string_runs;
mod strings;
mod term_run;

/// The values of one field.
#[derive(Debug)]
pub(crate) struct FieldBuffer {
    pub(crate) presence: PresenceBuffer,
    pub(crate) values: Values,
    /// Whether byte strings repeat, as far as it is known.
    pub(crate) repeats: Repeats,
}

/// Values in document order.
#[derive(Debug)]
pub(crate) enum Values {
    /// Numbers.
    Numbers(Items<i64>),
    /// At most one byte string a document, without a dictionary.
    Strings(StringBuffer),
    /// Interned byte strings: at most one a document, or sets.
    Terms {
        /// Their ids in the interner.
        ids: Items<u32>,
        /// The interner.
        terms: Interner,
    },
}

impl FieldBuffer {
    pub(crate) fn new(spec: &FieldSpec) -> FieldBuffer {
        let multi_valued = spec.is_multi_valued();
        let values = match (spec.logical().is_bytes(), spec.bytes_kind()) {
            (false, _) if multi_valued => Values::Numbers(Items::lists(ascending)),
            (false, _) => Values::Numbers(Items::singles()),
            (true, BytesKind::Binary) if !multi_valued => Values::Strings(StringBuffer::default()),
            // `Auto`, too, until a sample decides.
            (true, _) => {
                let ids = if multi_valued { Items::lists(distinct) } else { Items::singles() };
                Values::Terms { ids, terms: Interner::default() }
            }
        };
        FieldBuffer { presence: PresenceBuffer::default(), values, repeats: Repeats::of(spec) }
    }

    /// The number of distinct byte strings in the interner; 0 without one.
    pub(crate) fn terms(&self) -> u32 {
        match &self.values {
            Values::Terms { terms, .. } => terms.len(),
            Values::Numbers(_) | Values::Strings(_) => 0,
        }
    }

    /// Reserves memory for `values` numbers or ids of `docs` documents.
    #[inline]
    pub(crate) fn reserve(
        &mut self,
        docs: usize,
        values: usize,
        memory: &mut MemoryBudget,
    ) -> Result<(), ErrorKind> {
        match &mut self.values {
            Values::Numbers(numbers) => numbers.reserve(docs, values, memory),
            Values::Strings(_) => Ok(()),
            Values::Terms { ids, .. } => ids.reserve(docs, values, memory),
        }
    }

    /// Appends a number; memory must be reserved. A no-op for fields of byte strings.
    pub(crate) fn push_number(&mut self, stored: i64) {
        match &mut self.values {
            Values::Numbers(numbers) => numbers.values.in_memory.push(stored),
            Values::Strings(_) | Values::Terms { .. } => {
                debug_assert!(false, "a number for a field of byte strings");
            }
        }
    }

    /// Appends a byte string; memory for its id must be reserved. A no-op for fields of numbers.
    pub(crate) fn push_bytes(&mut self, value: &[u8], memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        match &mut self.values {
            Values::Strings(strings) => strings.push(value, memory)?,
            Values::Terms { ids, terms } => ids.values.in_memory.push(terms.intern(value, memory)?),
            Values::Numbers(_) => {
                debug_assert!(false, "a byte string for a field of numbers");
            }
        }
        Ok(())
    }

    /// An estimate of the cost of encoding, relative to other fields.
    pub(crate) fn weight(&self) -> usize {
        let bytes = match &self.values {
            // Spilled strings, too.
            Values::Strings(strings) => usize::try_from(strings.strings.bytes.len()).unwrap_or(usize::MAX),
            Values::Numbers(_) | Values::Terms { .. } => self.heap(),
        };
        bytes.saturating_add(index(self.presence.count()).saturating_mul(size_of::<i64>()))
    }

    /// The bytes of memory that [`spill`](Self::spill) would free.
    pub(crate) fn heap(&self) -> usize {
        match &self.values {
            Values::Numbers(numbers) => numbers.heap(),
            Values::Strings(strings) => strings.heap(),
            Values::Terms { ids, terms } => ids.heap() + terms.heap(),
        }
    }

    /// Moves all values to `spill`. All documents must be committed.
    pub(crate) fn spill(&mut self, spill: &Spill, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        if matches!(self.repeats, Repeats::Unknown | Repeats::Rarely) && self.terms() > 0 {
            // A run of terms would be in vain if the values are not interned in the end.
            let (before, mut unlimited) = (self.heap(), MemoryBudget::new(usize::MAX));
            self.keep_as_they_are(&mut unlimited)?;
            self.spill(spill, &mut unlimited)?;
            memory.release(before);
            return Ok(());
        }
        match &mut self.values {
            Values::Numbers(numbers) => {
                numbers.normalize()?;
                numbers.spill(spill, memory)
            }
            Values::Strings(strings) => strings.spill(spill, memory),
            Values::Terms { ids, terms } => {
                // Normalizing drops duplicates, and a run records how many ids precede its end.
                ids.normalize()?;
                terms.spill(ids.values.len(), spill, memory)?;
                ids.spill(spill, memory)
            }
        }
    }

    /// Replaces interned values, which are in memory, by byte strings. After an error, nothing has changed.
    pub(crate) fn keep_as_they_are(&mut self, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        let Values::Terms { ids, terms } = &self.values else { return Ok(()) };
        let (mut strings, mut used) = (StringBuffer::default(), MemoryBudget::new(memory.left()));
        ids.values.in_memory.iter().try_for_each(|&id| strings.push(terms.get(id), &mut used))?;
        memory.charge(used.used())?;
        memory.release(self.heap());
        self.values = Values::Strings(strings);
        Ok(())
    }

    /// Ends the list of the current document, in a multi-valued field.
    pub(crate) fn end_document(&mut self) {
        match &mut self.values {
            Values::Numbers(numbers) => numbers.end_last(),
            Values::Terms { ids, .. } => ids.end_last(),
            Values::Strings(_) => {}
        }
    }

    /// Removes the values of document `doc` and of all after it. The field had `terms` distinct byte strings before
    /// `doc`.
    pub(crate) fn truncate(&mut self, doc: u32, terms: u32) {
        self.presence.truncate(doc);
        let left = index(self.presence.count());
        match &mut self.values {
            Values::Numbers(numbers) => numbers.truncate(left),
            Values::Strings(strings) => strings.truncate(left),
            Values::Terms { ids, terms: interner } => {
                ids.truncate(left);
                interner.truncate(terms);
            }
        }
    }

    /// Whether the field has enough values to decide whether they repeat.
    pub(crate) fn is_sample_due(&self) -> bool {
        self.repeats == Repeats::Unknown && self.presence.count() >= SAMPLE
    }

    /// Whether the field is multi-valued.
    pub(crate) fn has_lists(&self) -> bool {
        match &self.values {
            Values::Numbers(numbers) => numbers.are_lists(),
            Values::Strings(_) => false,
            Values::Terms { ids, .. } => ids.are_lists(),
        }
    }
}
