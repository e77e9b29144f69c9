//! The values of a model in the forms that a writer takes: cells of documents, and flat batches.

use std::collections::BTreeSet;
use std::ops::Range;

use docvalues_column::bits;

use super::ModelColumn;

/// The value of one document in one column.
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

/// The values of consecutive documents in one column, end to end, in the layout of Arrow's arrays.
///
/// Bit `i` of `valid` is for the `i`-th of these documents. A document without a value has a garbage number or byte
/// string, which nothing may depend on. Offsets have one entry more than there are items, and do not begin at 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flat {
    /// A numeric column.
    Numbers {
        /// A number per document.
        values: Vec<i64>,
        /// The documents that have a value.
        valid: Vec<u64>,
    },
    /// A binary or sorted column.
    Bytes {
        /// The offset in `data` of each document's byte string, and the end of the last.
        offsets: Vec<u64>,
        /// The byte strings.
        data: Vec<u8>,
        /// The documents that have a value.
        valid: Vec<u64>,
    },
    /// A sorted-numeric column.
    NumberLists {
        /// The offset in `values` of each document's list, and the end of the last.
        lists: Vec<u64>,
        /// The numbers, those of a document in any order.
        values: Vec<i64>,
        /// The documents whose list is valid. A valid list can be empty.
        valid: Vec<u64>,
    },
    /// A sorted-set column.
    ByteLists {
        /// The offset in `offsets` of each document's list, and the end of the last.
        lists: Vec<u64>,
        /// The offset in `data` of each byte string, and the end of the last.
        offsets: Vec<u64>,
        /// The byte strings, those of a document in any order and with repeats.
        data: Vec<u8>,
        /// The documents whose list is valid. A valid list can be empty.
        valid: Vec<u64>,
    },
}

/// The garbage value of documents without a value.
const GARBAGE: i64 = i64::MIN + 12_345;

impl ModelColumn {
    /// The cell of `doc`; [`Missing`](Cell::Missing) past the last slot.
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

    /// A column in which each document has one of these cells.
    #[must_use]
    pub fn pick(&self, docs: impl IntoIterator<Item = Option<u32>>) -> ModelColumn {
        fn of<T: Clone + Default>(slots: &[T], docs: impl Iterator<Item = Option<u32>>) -> Vec<T> {
            docs.map(|doc| slots.get(doc? as usize).cloned()).map(Option::unwrap_or_default).collect()
        }
        let docs = docs.into_iter();
        match self {
            ModelColumn::Numeric(slots) => ModelColumn::Numeric(of(slots, docs)),
            ModelColumn::Binary(slots) => ModelColumn::Binary(of(slots, docs)),
            ModelColumn::Sorted(slots) => ModelColumn::Sorted(of(slots, docs)),
            ModelColumn::SortedNumeric(slots) => ModelColumn::SortedNumeric(of(slots, docs)),
            ModelColumn::SortedSet(slots) => ModelColumn::SortedSet(of(slots, docs)),
        }
    }

    /// The values of the documents `docs`, end to end.
    pub fn flat(&self, docs: Range<u32>) -> Flat {
        let mut valid = vec![0; bits::words(docs.clone())];
        for (i, _) in docs.clone().enumerate().filter(|(_, doc)| self.cell(*doc) != Cell::Missing) {
            bits::set(&mut valid, i);
        }
        let cells = docs.map(|doc| self.cell(doc));
        match self {
            ModelColumn::Numeric(_) => {
                let number = |cell| if let Cell::Number(number) = cell { number } else { GARBAGE };
                Flat::Numbers { values: cells.map(number).collect(), valid }
            }
            ModelColumn::Binary(_) | ModelColumn::Sorted(_) => {
                let bytes = |cell| if let Cell::Bytes(bytes) = cell { bytes } else { b"garbage" };
                let (offsets, data) = end_to_end(b"before", cells.map(bytes));
                Flat::Bytes { offsets, data, valid }
            }
            ModelColumn::SortedNumeric(_) => {
                let list = |cell| if let Cell::Numbers(list) = cell { list } else { &[GARBAGE] };
                let (lists, values) = end_to_end(&[GARBAGE], cells.map(list));
                Flat::NumberLists { lists, values, valid }
            }
            ModelColumn::SortedSet(_) => {
                let sets = cells.map(|cell| match cell {
                    // In descending order, with a duplicate: a writer must ignore order and duplicates.
                    Cell::Set(set) => set.iter().rev().chain(set.first()).map(Vec::as_slice).collect(),
                    _ => vec![&b"garbage"[..]],
                });
                let (lists, terms) = end_to_end(&[], sets.collect::<Vec<_>>().iter().map(Vec::as_slice));
                let (offsets, data) = end_to_end(b"before", terms.into_iter());
                Flat::ByteLists { lists, offsets, data, valid }
            }
        }
    }
}

/// The offsets and items of `lists`, after the garbage items `before`.
fn end_to_end<'a, T: Clone + 'a>(before: &[T], lists: impl Iterator<Item = &'a [T]>) -> (Vec<u64>, Vec<T>) {
    let mut items = before.to_vec();
    let mut offsets = vec![items.len() as u64];
    for list in lists {
        items.extend_from_slice(list);
        offsets.push(items.len() as u64);
    }
    (offsets, items)
}
