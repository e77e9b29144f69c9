//! The reference implementation of the read traits: columns in memory, obviously right and slow.
//!
//! The value of a document is in the slot of its number, and a filter compares every document. Tests compare segments
//! with this.
//!
//! | kind | slots of its [`Mem`] |
//! | --- | --- |
//! | numeric | `Option<i64>` |
//! | binary | `Option<Vec<u8>>` |
//! | sorted | `Option<TermOrd>`, with [`MemTerms`] |
//! | sorted-numeric | `Vec<i64>` |
//! | sorted-set | `Vec<TermOrd>`, with [`MemTerms`] |
//!
//! There may be fewer slots than documents: later documents have no value.

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

/// The values of one column as a test writes them, with a slot for each document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelColumn {
    /// At most one number per document.
    Numeric(Vec<Option<i64>>),
    /// At most one byte string per document.
    Binary(Vec<Option<Vec<u8>>>),
    /// At most one term per document.
    Sorted(Vec<Option<Vec<u8>>>),
    /// A list of numbers per document, in any order.
    SortedNumeric(Vec<Vec<i64>>),
    /// A set of terms per document.
    SortedSet(Vec<BTreeSet<Vec<u8>>>),
}

impl ModelColumn {
    /// The slots of the documents from `start` up to `end`.
    #[must_use]
    pub fn slice(&self, start: u32, end: u32) -> ModelColumn {
        fn some<S: Clone>(slots: &[S], start: u32, end: u32) -> Vec<S> {
            let place = |doc: u32| (doc as usize).min(slots.len());
            slots[place(start)..place(end)].to_vec()
        }
        match self {
            ModelColumn::Numeric(slots) => ModelColumn::Numeric(some(slots, start, end)),
            ModelColumn::Binary(slots) => ModelColumn::Binary(some(slots, start, end)),
            ModelColumn::Sorted(slots) => ModelColumn::Sorted(some(slots, start, end)),
            ModelColumn::SortedNumeric(slots) => ModelColumn::SortedNumeric(some(slots, start, end)),
            ModelColumn::SortedSet(slots) => ModelColumn::SortedSet(some(slots, start, end)),
        }
    }

    /// Whether any document has a value.
    pub fn has_values(&self) -> bool {
        match self {
            ModelColumn::Numeric(slots) => slots.iter().any(Option::is_some),
            ModelColumn::Binary(slots) | ModelColumn::Sorted(slots) => slots.iter().any(Option::is_some),
            ModelColumn::SortedNumeric(slots) => slots.iter().any(|slot| !slot.is_empty()),
            ModelColumn::SortedSet(slots) => slots.iter().any(|slot| !slot.is_empty()),
        }
    }

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

    /// The number of slots. Later documents have no value.
    pub fn len(&self) -> usize {
        match self {
            ModelColumn::Numeric(slots) => slots.len(),
            ModelColumn::Binary(slots) | ModelColumn::Sorted(slots) => slots.len(),
            ModelColumn::SortedNumeric(slots) => slots.len(),
            ModelColumn::SortedSet(slots) => slots.len(),
        }
    }

    /// Whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column of these values, in a source of `docs` documents.
    ///
    /// # Panics
    ///
    /// If the field does not fit, or there are more slots than documents.
    pub fn open(&self, field: Field, docs: u32) -> Arc<dyn Column> {
        self.open_with_terms(field, docs, &[])
    }

    /// As [`open`](Self::open). A dictionary also has `terms` that no document has.
    ///
    /// # Panics
    ///
    /// As [`open`](Self::open).
    pub fn open_with_terms(&self, field: Field, docs: u32, terms: &[Vec<u8>]) -> Arc<dyn Column> {
        match self.clone() {
            ModelColumn::Numeric(slots) => Arc::new(Mem::new(field, docs, slots)),
            ModelColumn::Binary(slots) => Arc::new(Mem::new(field, docs, slots)),
            ModelColumn::SortedNumeric(mut slots) => {
                slots.iter_mut().for_each(|slot| slot.sort_unstable());
                Arc::new(Mem::new(field, docs, slots))
            }
            ModelColumn::Sorted(slots) => {
                let terms = MemTerms::new(&field.name, slots.iter().flatten().chain(terms));
                let ord = |slot: &Option<Vec<u8>>| slot.as_ref().and_then(|term| terms.ord_of(term));
                let ords = slots.iter().map(ord).collect::<Vec<_>>();
                Arc::new(Mem::with_terms(field, docs, ords, terms))
            }
            ModelColumn::SortedSet(slots) => {
                let terms = MemTerms::new(&field.name, slots.iter().flatten().chain(terms));
                let ords =
                    |set: &BTreeSet<_>| set.iter().filter_map(|term: &Vec<u8>| terms.ord_of(term)).collect();
                let ords = slots.iter().map(ords).collect::<Vec<Vec<_>>>();
                Arc::new(Mem::with_terms(field, docs, ords, terms))
            }
        }
    }
}

/// A source in memory: columns by name.
#[derive(Clone, Debug)]
pub struct MemSource {
    docs: u32,
    columns: BTreeMap<String, Arc<dyn Column>>,
}

impl MemSource {
    /// A source of `docs` documents with these columns.
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
    /// If there is a column of this name, or it differs in its number of documents.
    pub fn insert(&mut self, column: Arc<dyn Column>) {
        let name = column.info().field.name.clone();
        assert_eq!(column.info().docs, self.docs, "column \"{name}\"");
        let old = self.columns.insert(name.clone(), column);
        assert!(old.is_none(), "two columns \"{name}\"");
    }
}

impl ColumnSource for MemSource {
    fn docs(&self) -> u32 {
        self.docs
    }

    // A `String` is ordered by its bytes, so the map has the order that the trait requires.
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
