//! Columns in plain memory: the traits' second implementation, in the most obviously right way.
//!
//! Nothing here is fast and nothing is clever: a value is where its document's number says, a filter
//! asks every document, `docs_with_value` counts. What a segment answers is compared with this.
//!
//! | kind | held as | type |
//! | --- | --- | --- |
//! | numeric | `Vec<Option<i64>>` | [`MemNumeric`] |
//! | binary | `Vec<Option<Vec<u8>>>` | [`MemBinary`] |
//! | sorted | `Vec<Option<TermOrd>>` and its [`MemTerms`] | [`MemSorted`] |
//! | sorted-numeric | `Vec<Vec<i64>>` | [`MemSortedNumeric`] |
//! | sorted-set | `Vec<Vec<TermOrd>>` and its [`MemTerms`] | [`MemSortedSet`] |
//!
//! A vector may be shorter than the segment: documents past its end have no value.

mod binary;
mod feed;
mod mem;
mod numeric;
mod sorted;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use docvalues_column::{AnyColumn, ColumnSource, ErrorKind, Field, Kind, Result};

pub use binary::MemBinary;
pub(crate) use binary::lies_between;
pub use feed::{Cell, Flat};
pub use mem::{Mem, Slot};
pub use numeric::{MemNumeric, MemSortedNumeric};
pub use sorted::{MemSorted, MemSortedSet, MemTerms, WithTerms};

/// The values of one column as a test writes them down, a slot for each document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelColumn {
    /// At most one number a document.
    Numeric(Vec<Option<i64>>),
    /// At most one byte string a document.
    Binary(Vec<Option<Vec<u8>>>),
    /// At most one term a document.
    Sorted(Vec<Option<Vec<u8>>>),
    /// Any number of numbers a document, in any order here.
    SortedNumeric(Vec<Vec<i64>>),
    /// A set of terms a document.
    SortedSet(Vec<BTreeSet<Vec<u8>>>),
}

impl ModelColumn {
    /// The column's kind.
    pub fn kind(&self) -> Kind {
        match self {
            ModelColumn::Numeric(_) => Kind::Numeric,
            ModelColumn::Binary(_) => Kind::Binary,
            ModelColumn::Sorted(_) => Kind::Sorted,
            ModelColumn::SortedNumeric(_) => Kind::SortedNumeric,
            ModelColumn::SortedSet(_) => Kind::SortedSet,
        }
    }

    /// How many documents have a slot; documents past them have no value.
    pub fn len(&self) -> usize {
        match self {
            ModelColumn::Numeric(slots) => slots.len(),
            ModelColumn::Binary(slots) | ModelColumn::Sorted(slots) => slots.len(),
            ModelColumn::SortedNumeric(slots) => slots.len(),
            ModelColumn::SortedSet(slots) => slots.len(),
        }
    }

    /// Whether there is no slot at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The column that answers from these values in a segment of `docs` documents.
    pub fn open(&self, field: Field, docs: u32) -> AnyColumn {
        assert_eq!(field.kind, self.kind(), "field `{}`", field.name);
        match self.clone() {
            ModelColumn::Numeric(slots) => AnyColumn::Numeric(Arc::new(MemNumeric::new(field, docs, slots))),
            ModelColumn::Binary(slots) => AnyColumn::Binary(Arc::new(MemBinary::new(field, docs, slots))),
            ModelColumn::Sorted(slots) => {
                AnyColumn::Sorted(Arc::new(MemSorted::from_terms(field, docs, &slots)))
            }
            ModelColumn::SortedNumeric(mut slots) => {
                slots.iter_mut().for_each(|slot| slot.sort_unstable());
                AnyColumn::SortedNumeric(Arc::new(MemSortedNumeric::new(field, docs, slots)))
            }
            ModelColumn::SortedSet(slots) => {
                AnyColumn::SortedSet(Arc::new(MemSortedSet::from_terms(field, docs, &slots)))
            }
        }
    }
}

/// Columns by name: a whole segment in memory.
#[derive(Clone, Debug)]
pub struct MemSource {
    docs: u32,
    columns: BTreeMap<String, AnyColumn>,
}

impl MemSource {
    /// A segment of `docs` documents with these columns.
    ///
    /// # Panics
    ///
    /// If two columns have one name, a field is not of its column's kind, or a column has more
    /// slots than there are documents.
    pub fn new(docs: u32, columns: impl IntoIterator<Item = (Field, ModelColumn)>) -> MemSource {
        let mut source = MemSource { docs, columns: BTreeMap::new() };
        for (field, column) in columns {
            source.insert(column.open(field, docs));
        }
        source
    }

    /// Adds a column.
    ///
    /// # Panics
    ///
    /// If there is one of this name, or it is of another number of documents.
    pub fn insert(&mut self, column: AnyColumn) {
        let field = column.as_column().field().clone();
        assert_eq!(column.as_column().docs(), self.docs, "column `{}`", field.name);
        let old = self.columns.insert(field.name.clone(), column);
        assert!(old.is_none(), "two columns `{}`", field.name);
    }
}

impl ColumnSource for MemSource {
    fn docs(&self) -> u32 {
        self.docs
    }

    // A `String` is ordered by its bytes, so the map's order is the one that is promised.
    fn names(&self) -> Result<Vec<String>> {
        Ok(self.columns.keys().cloned().collect())
    }

    fn column(&self, name: &str) -> Result<AnyColumn> {
        let missing = || ErrorKind::NoSuchColumn { file: "memory".into(), field: name.into() }.into();
        self.columns.get(name).cloned().ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests;
