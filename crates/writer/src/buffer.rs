//! What a segment holds before it is written: a buffer for each field.
//!
//! Values are kept as a column stores them (numbers after their order-preserving transform, byte
//! strings once each), so that encoding a column starts from slices. A value is either added whole or
//! refused with nothing changed; [`FieldBuffer::truncate`] takes back all that documents from a number
//! on were given.

use docvalues_format::file::kind::LogicalType;
use docvalues_storage::Spill;

use crate::batch_rows::{BatchRows, Counted, Refused};
use crate::error::ErrorKind;
use crate::input_column::InputColumn;
use crate::intern::{Interner, index};
use crate::schema::{BytesKind, FieldSpec};

pub(crate) use byte_strings::{ByteStrings, ByteStringsBuilder};
pub(crate) use items::{Items, ascending, distinct};
pub(crate) use memory_budget::{MemoryBudget, SpillBudget};
pub(crate) use payload::{Payload, payloads};
pub(crate) use presence::PresenceBuffer;
pub(crate) use scratch::{CHUNK_LEN, Scratch, ScratchWriter};
pub(crate) use spill_vec::{FixedWidth, SpillVec, SpillVecReader};
pub(crate) use string_buffer::StringBuffer;

mod byte_strings;
mod items;
mod memory_budget;
mod payload;
mod presence;
mod remove_deleted;
mod scratch;
mod spill_vec;
mod string_buffer;

/// The values of one field.
#[derive(Debug)]
pub(crate) struct FieldBuffer {
    pub(crate) presence: PresenceBuffer,
    pub(crate) values: Values,
}

/// Values in document order.
#[derive(Debug)]
pub(crate) enum Values {
    /// Numbers.
    Numbers(Items<i64>),
    /// At most one byte string a document, each kept.
    Strings(StringBuffer),
    /// Byte strings: at most one a document, or sets of them.
    Terms {
        /// Their numbers in the interner.
        ids: Items<u32>,
        /// What they stand for.
        terms: Interner,
    },
}

impl FieldBuffer {
    pub(crate) fn new(spec: &FieldSpec) -> FieldBuffer {
        let multi_valued = spec.is_multi_valued();
        let values = match (spec.logical().is_bytes(), spec.bytes_kind()) {
            (false, _) if multi_valued => Values::Numbers(Items::lists(ascending)),
            (false, _) => Values::Numbers(Items::singles()),
            (true, _) if multi_valued => {
                Values::Terms { ids: Items::lists(distinct), terms: Interner::default() }
            }
            (true, BytesKind::Binary) => Values::Strings(StringBuffer::default()),
            // To see whether a dictionary pays.
            (true, BytesKind::Auto) => Values::Terms { ids: Items::singles(), terms: Interner::unsorted() },
            (true, BytesKind::Sorted) => Values::Terms { ids: Items::singles(), terms: Interner::default() },
        };
        FieldBuffer { presence: PresenceBuffer::default(), values }
    }

    /// Lowers the number of distinct byte strings: to reach it, a test would need gigabytes.
    #[cfg(test)]
    pub(crate) fn limit_terms(&mut self, limit: u32) {
        if let Values::Terms { terms, .. } = &mut self.values {
            terms.limit(limit);
        }
    }

    /// How many distinct byte strings there are, where they are counted.
    pub(crate) fn terms(&self) -> u32 {
        match &self.values {
            Values::Terms { terms, .. } => terms.len(),
            Values::Numbers(_) | Values::Strings(_) => 0,
        }
    }

    /// Makes room for the numbers of `docs` documents, or for the numbers in the interner.
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

    /// Appends a number for which there is room. Fields of byte strings ignore it.
    pub(crate) fn push_number(&mut self, stored: i64) {
        match &mut self.values {
            Values::Numbers(numbers) => numbers.values.in_memory.push(stored),
            Values::Strings(_) | Values::Terms { .. } => {
                debug_assert!(false, "a number for a field of byte strings");
            }
        }
    }

    /// Appends a byte string, for whose number there is room. Fields of numbers ignore it.
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

    /// About how much work encoding it is, beside that of others.
    pub(crate) fn weight(&self) -> usize {
        self.heap().saturating_add(index(self.presence.count()).saturating_mul(size_of::<i64>()))
    }

    /// Bytes of memory that can be had by [`spill`](Self::spill).
    pub(crate) fn heap(&self) -> usize {
        match &self.values {
            Values::Numbers(numbers) => numbers.heap(),
            Values::Strings(strings) => strings.heap(),
            Values::Terms { ids, terms } => ids.heap() + terms.heap(),
        }
    }

    /// Moves what it holds to `spill`: values of documents that all are committed.
    pub(crate) fn spill(&mut self, spill: &Spill, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        match &mut self.values {
            Values::Numbers(numbers) => {
                numbers.normalize()?;
                numbers.spill(spill, memory)
            }
            Values::Strings(strings) => strings.spill(spill, memory),
            Values::Terms { ids, terms } => {
                // Where the run's numbers end depends on how many are kept.
                ids.normalize()?;
                terms.spill(ids.values.len(), spill, memory)?;
                ids.spill(spill, memory)
            }
        }
    }

    /// Ends the values of a document, in a field that can have several.
    pub(crate) fn end_document(&mut self) {
        match &mut self.values {
            Values::Numbers(numbers) => numbers.end_last(),
            Values::Terms { ids, .. } => ids.end_last(),
            Values::Strings(_) => {}
        }
    }

    /// Checks that a field of type `logical` can hold those values of `column` that `rows` deals out to the documents
    /// from `first` on, and appends them. After a refusal, some are there.
    pub(crate) fn append_column(
        &mut self,
        first: u32,
        rows: &BatchRows<'_>,
        column: &impl InputColumn,
        logical: LogicalType,
        memory: &mut MemoryBudget,
    ) -> Result<(), Refused> {
        let Counted { docs, values } = rows.count()?;
        let room = self.reserve(index(docs), values, memory);
        let room = room.and_then(|()| self.presence.reserve(first..first + rows.docs, docs, memory));
        room.map_err(|kind| (0, kind))?;
        if !self.has_lists() {
            self.presence.extend(first, rows);
            return column.append_single(rows, logical, &mut self.values, memory);
        }
        rows.runs(|docs| {
            column.check(rows, &docs, logical)?;
            let refuse = |(place, kind)| (rows.doc(&docs, place), kind);
            column.append(rows.places(&docs), &mut self.values, memory).map_err(refuse)?;
            let len = |doc| rows.places(&(doc..doc + 1)).len();
            let with_values = docs.filter(|&doc| len(doc) > 0);
            with_values.clone().for_each(|doc| self.presence.insert(first + doc));
            match &mut self.values {
                Values::Numbers(numbers) => numbers.end(with_values.map(len)),
                Values::Terms { ids, .. } => ids.end(with_values.map(len)),
                Values::Strings(_) => {}
            }
            Ok(())
        })
    }

    /// Takes back the values of document `doc` and of all behind it, before which the field had `terms`
    /// distinct byte strings.
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

    /// Whether a document can have several values.
    fn has_lists(&self) -> bool {
        match &self.values {
            Values::Numbers(numbers) => numbers.are_lists(),
            Values::Strings(_) => false,
            Values::Terms { ids, .. } => ids.are_lists(),
        }
    }
}
