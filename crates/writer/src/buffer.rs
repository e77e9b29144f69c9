//! What a segment holds before it is written: a buffer for each field.
//!
//! Values are kept as a column stores them (numbers after their order-preserving transform, byte
//! strings once each), so that encoding a column starts from slices. A value is either added whole or
//! refused with nothing changed; [`FieldBuffer::truncate`] takes back all that documents from a number
//! on were given.

use docvalues_format::file::kind::LogicalType;
use docvalues_storage::Spill;

use crate::column::Column;
use crate::error::ErrorKind;
use crate::intern::{Interner, index};
use crate::rows::{Counted, Refused, Rows};
use crate::schema::{BytesKind, FieldSpec};

pub(crate) use lists::{Lists, ascending, distinct};
pub(crate) use memory::Memory;
pub(crate) use payload::{Laid, Payload};
pub(crate) use presence::PresenceBuffer;
pub(crate) use region::{Collected, Region, TOGETHER};
pub(crate) use strings::Kept;
pub(crate) use tape::{Fixed, Stream, Tape};

mod lists;
mod memory;
mod payload;
mod presence;
mod region;
mod strings;
mod tape;

/// The values of one field.
#[derive(Debug)]
pub(crate) struct FieldBuffer {
    pub(crate) presence: PresenceBuffer,
    pub(crate) values: Values,
}

/// Values in document order.
#[derive(Debug)]
pub(crate) enum Values {
    /// At most one number a document.
    Numbers(Tape<i64>),
    /// Lists of them.
    NumberLists(Lists<i64>),
    /// At most one byte string a document, each kept.
    Strings(Kept),
    /// At most one byte string a document: their numbers in the interner.
    Terms {
        /// The numbers.
        ids: Tape<u32>,
        /// What they stand for.
        terms: Interner,
    },
    /// Sets of byte strings.
    TermSets {
        /// Their numbers.
        ids: Lists<u32>,
        /// What they stand for.
        terms: Interner,
    },
}

impl FieldBuffer {
    pub(crate) fn new(spec: &FieldSpec) -> FieldBuffer {
        let values = match (spec.logical().is_bytes(), spec.is_multi_valued(), spec.bytes_kind()) {
            (false, false, _) => Values::Numbers(Tape::default()),
            (false, true, _) => Values::NumberLists(Lists::new(ascending)),
            (true, false, BytesKind::Binary) => Values::Strings(Kept::default()),
            // To see whether a dictionary pays.
            (true, false, BytesKind::Auto) => {
                Values::Terms { ids: Tape::default(), terms: Interner::unsorted() }
            }
            (true, false, BytesKind::Sorted) => {
                Values::Terms { ids: Tape::default(), terms: Interner::default() }
            }
            (true, true, _) => Values::TermSets { ids: Lists::new(distinct), terms: Interner::default() },
        };
        FieldBuffer { presence: PresenceBuffer::default(), values }
    }

    /// Lowers the number of distinct byte strings: to reach it, a test would need gigabytes.
    #[cfg(test)]
    pub(crate) fn limit_terms(&mut self, limit: u32) {
        if let Values::Terms { terms, .. } | Values::TermSets { terms, .. } = &mut self.values {
            terms.limit(limit);
        }
    }

    /// How many distinct byte strings there are, where they are counted.
    pub(crate) fn terms(&self) -> u32 {
        match &self.values {
            Values::Terms { terms, .. } | Values::TermSets { terms, .. } => terms.len(),
            Values::Numbers(_) | Values::NumberLists(_) | Values::Strings(_) => 0,
        }
    }

    /// Makes room for the numbers of `docs` documents, or for the numbers in the interner.
    #[inline]
    pub(crate) fn reserve(
        &mut self,
        docs: usize,
        values: usize,
        memory: &mut Memory,
    ) -> Result<(), ErrorKind> {
        match &mut self.values {
            Values::Numbers(numbers) => memory.reserve(&mut numbers.near, values),
            Values::NumberLists(lists) => lists.reserve(docs, values, memory),
            Values::Strings(_) => Ok(()),
            Values::Terms { ids, .. } => memory.reserve(&mut ids.near, values),
            Values::TermSets { ids, .. } => ids.reserve(docs, values, memory),
        }
    }

    /// Appends a number for which there is room. Fields of byte strings ignore it.
    pub(crate) fn push_number(&mut self, stored: i64) {
        match &mut self.values {
            Values::Numbers(numbers) => numbers.near.push(stored),
            Values::NumberLists(lists) => lists.values.near.push(stored),
            Values::Strings(_) | Values::Terms { .. } | Values::TermSets { .. } => {
                debug_assert!(false, "a number for a field of byte strings");
            }
        }
    }

    /// Appends a byte string, for whose number there is room. Fields of numbers ignore it.
    pub(crate) fn push_bytes(&mut self, value: &[u8], memory: &mut Memory) -> Result<(), ErrorKind> {
        match &mut self.values {
            Values::Strings(strings) => strings.push(value, memory)?,
            Values::Terms { ids, terms } => ids.near.push(terms.intern(value, memory)?),
            Values::TermSets { ids, terms } => ids.values.near.push(terms.intern(value, memory)?),
            Values::Numbers(_) | Values::NumberLists(_) => {
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
            Values::NumberLists(lists) => lists.heap(),
            Values::Strings(strings) => strings.heap(),
            Values::Terms { ids, terms } => ids.heap() + terms.heap(),
            Values::TermSets { ids, terms } => ids.heap() + terms.heap(),
        }
    }

    /// Moves what it holds to `spill`: values of documents that all are committed.
    pub(crate) fn spill(&mut self, spill: &Spill, memory: &mut Memory) -> Result<(), ErrorKind> {
        match &mut self.values {
            Values::Numbers(numbers) => numbers.spill(spill, memory),
            Values::NumberLists(lists) => {
                lists.tidy()?;
                lists.spill(spill, memory)
            }
            Values::Strings(strings) => strings.spill(spill, memory),
            Values::Terms { ids, terms } => {
                terms.spill(ids.len(), spill, memory)?;
                ids.spill(spill, memory)
            }
            Values::TermSets { ids, terms } => {
                // Where the run's numbers end depends on how many are kept.
                ids.tidy()?;
                terms.spill(ids.values.len(), spill, memory)?;
                ids.spill(spill, memory)
            }
        }
    }

    /// Ends the values of a document, in a field that can have several.
    pub(crate) fn end_document(&mut self) {
        match &mut self.values {
            Values::NumberLists(lists) => lists.end_last(),
            Values::TermSets { ids, .. } => ids.end_last(),
            Values::Numbers(_) | Values::Strings(_) | Values::Terms { .. } => {}
        }
    }

    /// Makes room for the values that `rows` deals out to the documents from `first` on, but for the
    /// bytes of byte strings.
    pub(crate) fn reserve_column(
        &mut self,
        first: u32,
        rows: &Rows<'_>,
        counted: Counted,
        memory: &mut Memory,
    ) -> Result<(), ErrorKind> {
        self.reserve(index(counted.docs), counted.values, memory)?;
        self.presence.reserve(first..first + rows.docs, counted.docs, memory)
    }

    /// Checks that a field of type `logical` can hold those values of `column`, and appends them. After a
    /// refusal, some are there.
    pub(crate) fn append_column(
        &mut self,
        first: u32,
        rows: &Rows<'_>,
        column: &impl Column,
        logical: LogicalType,
        memory: &mut Memory,
    ) -> Result<(), Refused> {
        if !matches!(self.values, Values::NumberLists(_) | Values::TermSets { .. }) {
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
                Values::NumberLists(lists) => lists.end(with_values.map(len)),
                Values::TermSets { ids, .. } => ids.end(with_values.map(len)),
                Values::Numbers(_) | Values::Strings(_) | Values::Terms { .. } => {}
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
            Values::NumberLists(lists) => lists.truncate(left),
            Values::Strings(strings) => strings.truncate(left),
            Values::Terms { ids, terms: interner } => {
                ids.truncate(left);
                interner.truncate(terms);
            }
            Values::TermSets { ids, terms: interner } => {
                ids.truncate(left);
                interner.truncate(terms);
            }
        }
    }
}
