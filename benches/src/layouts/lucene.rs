//! Columns as Lucene 7 and 8 lay them out, with iterators that may use jump tables, rank tables, both or neither.
//!
//! A fair opponent for comparisons of jump tables: Lucene 7 walked blocks of 16,384 numbers and of 65,536 documents, not
//! the smaller ones of docvalues, and an iterator belonged to its caller. The same bytes with tables are Lucene 8's
//! (LUCENE-8585). What Lucene 7 found in O(1), such as ords in one packed array and the addresses of strings, is found in
//! O(1) here.
//!
//! | module | layout | of |
//! | --- | --- | --- |
//! | [`presence`] | documents with a value | `IndexedDISI` |
//! | [`numbers`] | numbers and ords | `Lucene70DocValuesConsumer`, `Lucene80DocValuesConsumer` |
//!
//! Differences that cost or save the same with and without tables: numbers are little-endian, the section is a slice of
//! memory, and a new iterator after a step back makes no objects.

pub mod numbers;
pub mod presence;

use docvalues::DocId;

use self::numbers::{NumberIterator, Numbers};
use self::presence::{Presence, PresenceIterator};
use super::{Tables, Values};

/// A column of at most one number or ord a document.
#[derive(Clone, Debug)]
pub struct Column {
    /// `None` if every document has a value.
    pub presence: Option<Presence>,
    /// The values, in the order of the documents that have one.
    pub numbers: Numbers,
}

impl Column {
    /// Encodes `values`, a slot for each document; `present` is a bitset of the documents with a value, or `None` if all
    /// have one. Numbers come in blocks of `block`, ords in one array.
    pub fn encode(values: &[i64], present: Option<&[u64]>, are_ords: bool, block: usize) -> Column {
        let numbers = |values: &[i64]| match are_ords {
            true => Numbers::encode_ords(values),
            false => Numbers::encode(values, block),
        };
        let Some(words) = present else {
            return Column { presence: None, numbers: numbers(values) };
        };
        let there = |doc: &usize| words[doc / 64] >> (doc % 64) & 1 == 1;
        let dense: Vec<i64> = (0..values.len()).filter(there).map(|doc| values[doc]).collect();
        Column { presence: Some(Presence::encode(words, values.len())), numbers: numbers(&dense) }
    }

    /// An iterator over the column.
    pub fn iterator(&self, tables: Tables) -> Iterator<'_> {
        let presence = self.presence.as_ref().map(|presence| presence.iterator(tables));
        Iterator { presence, numbers: self.numbers.iterator(tables.jumps) }
    }

    /// The blocks of presence and of numbers; 0 if there is nothing to walk.
    pub fn blocks(&self) -> [u64; 2] {
        [self.presence.as_ref().map_or(0, Presence::blocks), self.numbers.blocks() as u64]
    }

    /// The bytes of the column.
    pub fn len(&self) -> usize {
        self.presence.as_ref().map_or(0, |presence| presence.bytes.len()) + self.numbers.bytes.len()
    }

    /// Whether it has no bytes: all values are equal.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An iterator of `NumericDocValues` or `SortedDocValues`. A document before the last one begins a new iterator.
#[derive(Debug)]
pub struct Iterator<'c> {
    presence: Option<PresenceIterator<'c>>,
    numbers: NumberIterator<'c>,
}

impl Values for Iterator<'_> {
    /// `advanceExact` and `longValue`.
    #[inline]
    fn get(&mut self, doc: DocId) -> Option<i64> {
        let index = match &mut self.presence {
            Some(presence) => presence.advance_exact(doc.get())?,
            None => doc.get(),
        };
        Some(self.numbers.get(index as usize))
    }

    fn headers(&self) -> [u64; 2] {
        [self.presence.as_ref().map_or(0, PresenceIterator::headers), self.numbers.headers()]
    }
}

#[cfg(test)]
mod tests;
