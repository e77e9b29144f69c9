//! Columns in plain memory: the read traits in the most obviously right way.
//!
//! Nothing here is fast and nothing is clever: a value is where its document's number says, and a filter looks at every
//! document. What a segment answers is compared with this.
//!
//! | kind | slots of its [`Mem`] |
//! | --- | --- |
//! | numeric | `Option<i64>` |
//! | binary | `Option<Vec<u8>>` |
//! | sorted | `Option<TermOrd>`, with [`MemTerms`] |
//! | sorted-numeric | `Vec<i64>` |
//! | sorted-set | `Vec<TermOrd>`, with [`MemTerms`] |
//!
//! There may be fewer slots than documents: the documents after them have no value.

mod feed;
mod mem;
mod skip_index;
mod terms;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use docvalues_column::{Column, ColumnSource, ErrorKind, Field, Kind, Result};

pub use feed::{Cell, Flat};
pub use mem::{Item, Mem, MemNumeric, Single, Slot};
pub use skip_index::MemSkipIndex;
pub use terms::MemTerms;

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

    /// The column that answers from these values in a source of `docs` documents.
    ///
    /// # Panics
    ///
    /// If the field does not fit, or there are more slots than documents.
    pub fn open(&self, field: Field, docs: u32) -> Arc<dyn Column> {
        match self.clone() {
            ModelColumn::Numeric(slots) => Arc::new(Mem::new(field, docs, slots)),
            ModelColumn::Binary(slots) => Arc::new(Mem::new(field, docs, slots)),
            ModelColumn::SortedNumeric(mut slots) => {
                slots.iter_mut().for_each(|slot| slot.sort_unstable());
                Arc::new(Mem::new(field, docs, slots))
            }
            ModelColumn::Sorted(slots) => {
                let terms = MemTerms::new(&field.name, slots.iter().flatten());
                let ord = |slot: &Option<Vec<u8>>| slot.as_ref().and_then(|term| terms.ord_of(term));
                let ords = slots.iter().map(ord).collect::<Vec<_>>();
                Arc::new(Mem::with_terms(field, docs, ords, terms))
            }
            ModelColumn::SortedSet(slots) => {
                let terms = MemTerms::new(&field.name, slots.iter().flatten());
                let ords =
                    |set: &BTreeSet<_>| set.iter().filter_map(|term: &Vec<u8>| terms.ord_of(term)).collect();
                let ords = slots.iter().map(ords).collect::<Vec<Vec<_>>>();
                Arc::new(Mem::with_terms(field, docs, ords, terms))
            }
        }
    }
}

/// Columns by name: a whole source in memory.
#[derive(Clone, Debug)]
pub struct MemSource {
    docs: u32,
    columns: BTreeMap<String, Arc<dyn Column>>,
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
    pub fn insert(&mut self, column: Arc<dyn Column>) {
        let name = column.info().field.name.clone();
        assert_eq!(column.info().docs, self.docs, "column `{name}`");
        let old = self.columns.insert(name.clone(), column);
        assert!(old.is_none(), "two columns `{name}`");
    }
}

impl ColumnSource for MemSource {
    fn docs(&self) -> u32 {
        self.docs
    }

    // A `String` is ordered by its bytes, so the map's order is the one that is promised.
    fn fields(&self) -> Result<Vec<Field>> {
        Ok(self.columns.values().map(|column| column.info().field.clone()).collect())
    }

    fn column(&self, name: &str) -> Result<Arc<dyn Column>> {
        let missing = || ErrorKind::NoSuchColumn { file: "memory".into(), field: name.into() }.into();
        self.columns.get(name).cloned().ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests;
