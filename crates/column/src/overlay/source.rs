//! [`OverlaySource`]: a source in which some columns changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use docvalues_format::file::field::Field;
use docvalues_format::file::kind::Kind;
use docvalues_format::file::sort::SortKey;
use docvalues_format::id::{DocId, TermOrd};

use super::{Changes, NewTerms, Overlay, TermOverlay};
use crate::absent::AbsentColumn;
use crate::error::ErrorKind;
use crate::{Column, ColumnSource, Result};

/// The changed rows of a column, by the type of its elements, for an [`OverlaySource`].
#[derive(Clone, Debug)]
pub enum ColumnChanges {
    /// Of a column of numbers.
    Numbers(Changes<i64>),
    /// Of a column of byte strings.
    Bytes(Changes<u8>),
    /// Of a column of ords: stable ords of its dictionary and of the new terms.
    Ords(Changes<TermOrd>, NewTerms),
}

impl ColumnChanges {
    /// The column `base` with these rows. O(1).
    ///
    /// # Panics
    ///
    /// If `base` has values of another type, the changes are for another number of documents, or they disagree on single
    /// values and lists.
    pub fn over(&self, base: Arc<dyn Column>) -> Arc<dyn Column> {
        match self.clone() {
            ColumnChanges::Numbers(changes) => Arc::new(Overlay::<i64>::new(base, changes)),
            ColumnChanges::Bytes(changes) => Arc::new(Overlay::<u8>::new(base, changes)),
            ColumnChanges::Ords(changes, new) => Arc::new(TermOverlay::new(base, changes, new)),
        }
    }

    /// The number of documents of the column, and whether these rows are of columns of a kind.
    fn shape(&self, kind: Kind) -> (u32, bool) {
        match self {
            ColumnChanges::Numbers(changes) => {
                let are_numbers = matches!(kind, Kind::Numeric | Kind::SortedNumeric);
                (changes.docs(), are_numbers && changes.is_many() == kind.is_multi_valued())
            }
            ColumnChanges::Bytes(changes) => (changes.docs(), kind == Kind::Binary && changes.is_many()),
            ColumnChanges::Ords(changes, _) => {
                let are_ords = matches!(kind, Kind::Sorted | Kind::SortedSet);
                (changes.docs(), are_ords && changes.is_many() == kind.is_multi_valued())
            }
        }
    }

    /// Lists the documents that are set from now on, as [`Changes::mark`] does.
    pub fn mark(&mut self) {
        match self {
            ColumnChanges::Numbers(changes) => changes.mark(),
            ColumnChanges::Bytes(changes) => changes.mark(),
            ColumnChanges::Ords(changes, _) => changes.mark(),
        }
    }

    /// The documents whose rows differ from `before`, an older clone, ascending: see [`Changes::since`]. Without it, or if it
    /// has elements of another type, all that changed.
    pub fn docs_since(&self, before: Option<&ColumnChanges>) -> Vec<DocId> {
        match (self, before) {
            (ColumnChanges::Numbers(now), Some(ColumnChanges::Numbers(before))) => now.docs_since(before),
            (ColumnChanges::Bytes(now), Some(ColumnChanges::Bytes(before))) => now.docs_since(before),
            (ColumnChanges::Ords(now, _), Some(ColumnChanges::Ords(before, _))) => now.docs_since(before),
            (ColumnChanges::Numbers(now), _) => now.changed_docs(),
            (ColumnChanges::Bytes(now), _) => now.changed_docs(),
            (ColumnChanges::Ords(now, _), _) => now.changed_docs(),
        }
    }

    /// The size in memory, in bytes.
    pub fn heap(&self) -> usize {
        match self {
            ColumnChanges::Numbers(changes) => changes.heap(),
            ColumnChanges::Bytes(changes) => changes.heap(),
            ColumnChanges::Ords(changes, new) => changes.heap() + new.heap(),
        }
    }
}

/// A source with changes to some of its columns. A changed column that the source below lacks is added. Its index sort ends
/// before the first key whose column changed.
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Kind, LogicalType, PlainColumn, PlainColumns, PlainSource, PlainValues};
/// use std::sync::Arc;
///
/// use docvalues_column::{Changes, ColumnChanges, ColumnSource, DocId, Field, OverlaySource};
///
/// # let size = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let column = PlainColumn::new(2, PlainValues::Numbers(vec![7, 512]), None, None).unwrap();
/// # let docs = PlainColumns::new(2, vec![column]).unwrap();
/// # let source = PlainSource::new(Arc::new(docs), Arc::from([size.clone()]));
/// let mut sizes = Changes::new(source.docs(), false);
/// sizes.set([(DocId::new(1), Some(&[9][..]))]);
/// let changed = OverlaySource::new(Arc::new(source), [(size, ColumnChanges::Numbers(sizes))]);
///
/// let mut row = Vec::new();
/// changed.column("size")?.values().numbers().unwrap().get(DocId::new(1), &mut row)?;
/// assert_eq!(row, [9]);
/// # Ok::<(), docvalues_column::Error>(())
/// ```
#[derive(Clone)]
pub struct OverlaySource {
    base: Arc<dyn ColumnSource + Send + Sync>,
    fields: Arc<[Field]>,
    /// By the place of their field.
    changed: Arc<BTreeMap<usize, ColumnChanges>>,
    /// The keys of the base's sort before the first whose column changed.
    sort: Vec<SortKey>,
}

impl OverlaySource {
    /// `base` with the changes of some fields. O(changed fields).
    ///
    /// # Panics
    ///
    /// If two changes are of one field, or changes do not fit the kind of their field or the number of documents.
    pub fn new(
        base: Arc<dyn ColumnSource + Send + Sync>,
        changes: impl IntoIterator<Item = (Field, ColumnChanges)>,
    ) -> OverlaySource {
        let (fields, changes): (Vec<Field>, Vec<ColumnChanges>) = changes.into_iter().unzip();
        for (at, Field { name, .. }) in fields.iter().enumerate() {
            assert!(fields[..at].iter().all(|other| other.name != *name), "two changes of \"{name}\"");
        }
        OverlaySource::shared(base, fields.into(), Arc::new((0..).zip(changes).collect()))
    }

    /// As [`new`](Self::new), with the changes by the place of their field. `fields`, whose names differ, may have others. Copies
    /// nothing, so that each moment of a source that changes often may have an overlay.
    ///
    /// # Panics
    ///
    /// If there is no field at a place, or changes do not fit the kind of their field or the number of documents.
    pub fn shared(
        base: Arc<dyn ColumnSource + Send + Sync>,
        fields: Arc<[Field]>,
        changed: Arc<BTreeMap<usize, ColumnChanges>>,
    ) -> OverlaySource {
        for (place, changes) in &*changed {
            let Field { name, kind, .. } = &fields[*place];
            assert_eq!(changes.shape(*kind), (base.docs(), true), "documents and kind of \"{name}\"");
        }
        let mut source = OverlaySource { base, fields, changed, sort: Vec::new() };
        let keys = source.base.sort().iter();
        source.sort = keys.take_while(|key| source.changes(&key.column).is_none()).cloned().collect();
        source
    }

    /// The changes of a field, if it has some.
    fn changes(&self, name: &str) -> Option<(&Field, &ColumnChanges)> {
        self.changed_fields().find(|(field, _)| field.name == name)
    }

    fn changed_fields(&self) -> impl Iterator<Item = (&Field, &ColumnChanges)> {
        self.changed.iter().map(|(place, changes)| (&self.fields[*place], changes))
    }
}

impl ColumnSource for OverlaySource {
    fn docs(&self) -> u32 {
        self.base.docs()
    }

    fn fields(&self) -> Result<Vec<Field>> {
        let mut fields = self.base.fields()?;
        for (field, _) in self.changed_fields() {
            if let Err(place) = fields.binary_search_by(|other| other.name.cmp(&field.name)) {
                fields.insert(place, field.clone());
            }
        }
        Ok(fields)
    }

    fn column(&self, name: &str) -> Result<Arc<dyn Column>> {
        let base = self.base.column(name);
        let Some((field, changes)) = self.changes(name) else { return base };
        let base = match base {
            Err(error) if matches!(error.kind(), ErrorKind::NoSuchColumn { .. }) => {
                Arc::new(AbsentColumn::of(field.clone(), self.docs()))
            }
            base => base?,
        };
        if base.info().kind() != field.kind {
            let (found, asked) = (base.info().kind(), field.kind);
            return Err(
                ErrorKind::WrongKind { file: "changes".into(), field: name.into(), found, asked }.into()
            );
        }
        Ok(changes.over(base))
    }

    fn sort(&self) -> &[SortKey] {
        &self.sort
    }

    fn bytes_touched(&self) -> u64 {
        self.base.bytes_touched()
    }
}
