//! The values of a model in the forms in which a writer takes them.

use std::collections::BTreeSet;
use std::ops::Range;

use docvalues_column::{Lists, bits};

use super::ModelColumn;

/// What one document has in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// No value: of a multi-valued column, no values.
    Missing,
    /// A number.
    Number(i64),
    /// A byte string.
    Bytes(&'a [u8]),
    /// Some numbers, in any order.
    Numbers(&'a [i64]),
    /// A set of byte strings.
    Set(&'a BTreeSet<Vec<u8>>),
}

/// What some consecutive documents have in one column, end to end.
///
/// Bit `i` of `valid` is the `i`-th of these documents. Where a document has no value, there is a
/// number or byte string all the same, and it means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flat {
    /// Of a numeric column.
    Numbers {
        /// A number a document.
        values: Vec<i64>,
        /// The documents that have one.
        valid: Vec<u64>,
    },
    /// Of a binary or sorted column.
    Bytes {
        /// A byte string a document.
        values: Lists<u8>,
        /// The documents that have one.
        valid: Vec<u64>,
    },
    /// Of a sorted-numeric column: a list a document, empty where it has no value.
    NumberLists(Lists<i64>),
    /// Of a sorted-set column.
    ByteLists {
        /// How many terms each document has.
        counts: Vec<u32>,
        /// The terms of all documents.
        values: Lists<u8>,
    },
}

/// What stands where a document has no value: nothing may depend on it.
const GARBAGE: i64 = i64::MIN + 12_345;

impl ModelColumn {
    /// What `doc` has; [`Missing`](Cell::Missing) past the last slot.
    pub fn cell(&self, doc: u32) -> Cell<'_> {
        let at = doc as usize;
        let cell = match self {
            ModelColumn::Numeric(slots) => slots.get(at).copied().flatten().map(Cell::Number),
            ModelColumn::Binary(slots) | ModelColumn::Sorted(slots) => {
                slots.get(at).and_then(Option::as_deref).map(Cell::Bytes)
            }
            ModelColumn::SortedNumeric(slots) => {
                slots.get(at).filter(|list| !list.is_empty()).map(|list| Cell::Numbers(list))
            }
            ModelColumn::SortedSet(slots) => slots.get(at).filter(|set| !set.is_empty()).map(Cell::Set),
        };
        cell.unwrap_or(Cell::Missing)
    }

    /// What the documents `docs` have, end to end.
    pub fn flat(&self, docs: Range<u32>) -> Flat {
        let mut valid = vec![0; bits::words(docs.clone())];
        let (mut numbers, mut bytes) = (Vec::new(), Lists::new());
        let (mut number_lists, mut counts) = (Lists::new(), Vec::new());
        for (i, doc) in docs.enumerate() {
            let cell = self.cell(doc);
            if cell != Cell::Missing {
                bits::set(&mut valid, i);
            }
            match (self, cell) {
                (ModelColumn::Numeric(_), Cell::Number(number)) => numbers.push(number),
                (ModelColumn::Numeric(_), _) => numbers.push(GARBAGE),
                (ModelColumn::Binary(_) | ModelColumn::Sorted(_), Cell::Bytes(value)) => bytes.push(value),
                (ModelColumn::Binary(_) | ModelColumn::Sorted(_), _) => bytes.push(b"garbage"),
                (ModelColumn::SortedNumeric(_), Cell::Numbers(list)) => number_lists.push(list),
                (ModelColumn::SortedNumeric(_), _) => number_lists.push(&[]),
                (ModelColumn::SortedSet(_), Cell::Set(set)) => {
                    counts.push(set.len() as u32);
                    set.iter().for_each(|term| bytes.push(term));
                }
                (ModelColumn::SortedSet(_), _) => counts.push(0),
            }
        }
        match self {
            ModelColumn::Numeric(_) => Flat::Numbers { values: numbers, valid },
            ModelColumn::Binary(_) | ModelColumn::Sorted(_) => Flat::Bytes { values: bytes, valid },
            ModelColumn::SortedNumeric(_) => Flat::NumberLists(number_lists),
            ModelColumn::SortedSet(_) => Flat::ByteLists { counts, values: bytes },
        }
    }
}
