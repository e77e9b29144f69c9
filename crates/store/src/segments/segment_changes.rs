//! [`SegmentChanges`]: the changes of a segment, whose file stays as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use docvalues_column::{
    Changes, Column, ColumnChanges, ColumnSource, DocId, Field, Kind, LiveDocs, NewTerms, OverlaySource,
};
use docvalues_reader::Segment;

use super::new_rows::{Dictionary, NewRows, column_or_absent};
use crate::error::{Error, Result};

/// The documents of a segment that are not deleted, and the new values of some. Cloning is cheap, and copies share what does
/// not change after.
#[derive(Clone, Debug)]
pub(crate) struct SegmentChanges {
    pub(crate) live: LiveDocs,
    /// By the place of their field.
    columns: Arc<BTreeMap<usize, ColumnChanges>>,
    /// Shared by copies.
    origin: Arc<()>,
    /// Whether the next values are the first ones since [`mark`](Self::mark).
    is_marked: bool,
}

impl SegmentChanges {
    /// Nothing changed in a segment of `docs` documents.
    pub(crate) fn none(docs: u32) -> SegmentChanges {
        SegmentChanges {
            live: LiveDocs::all(docs),
            columns: Arc::default(),
            origin: Arc::default(),
            is_marked: false,
        }
    }

    /// Whether no document has new values.
    pub(crate) fn has_old_values(&self) -> bool {
        self.columns.is_empty()
    }

    /// Whether the new values are the same, as far as can be told without looking at them.
    pub(crate) fn has_values_of(&self, other: &SegmentChanges) -> bool {
        Arc::ptr_eq(&self.columns, &other.columns) || self.has_old_values() && other.has_old_values()
    }

    /// Whether both were copies of each other once: then dictionaries of the one with more changes have all terms of the other's.
    pub(crate) fn has_origin_of(&self, other: &SegmentChanges) -> bool {
        Arc::ptr_eq(&self.origin, &other.origin)
    }

    /// Whether nothing has changed since `before`, a copy of then.
    pub(crate) fn is_unchanged_since(&self, before: &SegmentChanges) -> bool {
        self.has_origin_of(before) && self.has_values_of(before) && self.live.count() == before.live.count()
    }

    /// The places of the changed fields, ascending.
    pub(crate) fn fields(&self) -> impl Iterator<Item = usize> {
        self.columns.keys().copied()
    }

    /// The places of the fields whose new values may be others, ascending.
    pub(crate) fn fields_unlike(&self, other: &SegmentChanges) -> Vec<usize> {
        let are_same = |field: usize| match (self.columns.get(&field), other.columns.get(&field)) {
            (Some(ColumnChanges::Numbers(a)), Some(ColumnChanges::Numbers(b))) => a.is_clone_of(b),
            (Some(ColumnChanges::Bytes(a)), Some(ColumnChanges::Bytes(b))) => a.is_clone_of(b),
            (Some(ColumnChanges::Ords(a, _)), Some(ColumnChanges::Ords(b, _))) => a.is_clone_of(b),
            _ => false,
        };
        let fields: BTreeSet<usize> = self.fields().chain(other.fields()).collect();
        fields.into_iter().filter(|field| !are_same(*field)).collect()
    }

    /// The most documents of which one field was updated.
    pub(crate) fn updated(&self) -> u32 {
        let len = |changes: &ColumnChanges| match changes {
            ColumnChanges::Numbers(changes) => changes.len(),
            ColumnChanges::Bytes(changes) => changes.len(),
            ColumnChanges::Ords(changes, _) => changes.len(),
        };
        self.columns.values().map(len).max().unwrap_or(0)
    }

    /// The memory of the new values, in bytes.
    pub(crate) fn heap(&self) -> usize {
        self.columns.values().map(ColumnChanges::heap).sum()
    }

    /// The new number of a document in a field, if it has changed.
    pub(crate) fn number(&self, field: usize, doc: DocId) -> Option<Option<i64>> {
        match self.columns.get(&field)? {
            ColumnChanges::Numbers(changes) => {
                changes.get(doc).map(|row| row.and_then(|row| row.first().copied()))
            }
            _ => None,
        }
    }

    /// A column of a segment, with the new values; without values if it has none.
    ///
    /// # Errors
    ///
    /// If the column is damaged, or of another kind than the field.
    pub(crate) fn column(
        &self,
        segment: &Segment,
        (place, field): (usize, &Field),
    ) -> Result<Arc<dyn Column>> {
        let base = column_or_absent(segment, field)?;
        Ok(self.columns.get(&place).map_or_else(|| base.clone(), |changes| changes.over(base.clone())))
    }

    /// Whether the values of a document in a field are those that it had in `other`, as far as changes tell.
    pub(crate) fn has_row_of(&self, other: &SegmentChanges, field: usize, doc: DocId) -> bool {
        match (self.columns.get(&field), other.columns.get(&field)) {
            (Some(ColumnChanges::Numbers(a)), Some(ColumnChanges::Numbers(b))) => a.get(doc) == b.get(doc),
            (Some(ColumnChanges::Bytes(a)), Some(ColumnChanges::Bytes(b))) => a.get(doc) == b.get(doc),
            (Some(ColumnChanges::Ords(a, _)), Some(ColumnChanges::Ords(b, _))) => a.get(doc) == b.get(doc),
            (None, None) => true,
            _ => false,
        }
    }

    /// A segment with the new values. `fields` are those of the store.
    pub(crate) fn over(
        &self,
        segment: &Segment,
        fields: &Arc<[Field]>,
    ) -> Arc<dyn ColumnSource + Send + Sync> {
        let base = Arc::new(segment.clone());
        if self.has_old_values() {
            return base;
        }
        Arc::new(OverlaySource::shared(base, fields.clone(), self.columns.clone()))
    }

    /// Makes [`updated_since`](Self::updated_since) fast for a copy of now.
    pub(crate) fn mark(&mut self) {
        self.is_marked = true;
    }

    /// The documents whose values of a field changed since `before`, ascending.
    pub(crate) fn updated_since(&self, before: &SegmentChanges, field: usize) -> Vec<DocId> {
        let before = before.columns.get(&field);
        self.columns.get(&field).map_or_else(Vec::new, |now| now.docs_since(before))
    }

    /// The documents of which a value changed since `before`, ascending; `None` if that is no copy of then.
    pub(crate) fn docs_updated_since(&self, before: &SegmentChanges) -> Option<Vec<DocId>> {
        if !self.has_origin_of(before) {
            return None;
        }
        if self.has_values_of(before) {
            return Some(Vec::new());
        }
        let fields = self.fields_unlike(before).into_iter();
        let mut docs: Vec<DocId> = fields.flat_map(|field| self.updated_since(before, field)).collect();
        docs.sort_unstable();
        docs.dedup();
        Some(docs)
    }

    /// Whether [`set`](Self::set) can take all terms that were looked up in a dictionary of a field.
    pub(crate) fn has_room(&self, field: usize, dictionary: &Dictionary) -> bool {
        let new = match self.columns.get(&field) {
            Some(ColumnChanges::Ords(_, new)) => new.len(),
            _ => 0,
        };
        let all = u64::from(dictionary.term_count()) + (new + dictionary.places.len()) as u64;
        all < u64::from(u32::MAX)
    }

    /// Sets the values of documents. A field with ords needs the dictionary of the segment's column, in which all terms were
    /// looked up.
    ///
    /// # Errors
    ///
    /// If there would be too many terms.
    pub(crate) fn set(
        &mut self,
        (place, field): (usize, &Field),
        rows: &NewRows,
        dictionary: Option<&Dictionary>,
    ) -> Result<()> {
        let (docs, is_many) = (self.live.docs(), field.kind.is_multi_valued());
        let NewRows { docs: changed, values, terms } = rows;
        let rows = || changed.iter().copied().zip(0..values.docs());
        let new = || match field.kind {
            Kind::Numeric | Kind::SortedNumeric => ColumnChanges::Numbers(Changes::new(docs, is_many)),
            Kind::Binary => ColumnChanges::Bytes(Changes::new(docs, true)),
            Kind::Sorted | Kind::SortedSet => {
                ColumnChanges::Ords(Changes::new(docs, is_many), NewTerms::default())
            }
        };
        let columns = Arc::make_mut(&mut self.columns);
        if std::mem::take(&mut self.is_marked) {
            columns.values_mut().for_each(ColumnChanges::mark);
        }
        match (columns.entry(place).or_insert_with(new), dictionary) {
            (ColumnChanges::Numbers(all), _) => {
                all.set(rows().map(|(doc, row)| (doc, Some(values.numbers(row)))));
            }
            (ColumnChanges::Bytes(all), _) => {
                all.set(rows().map(|(doc, row)| (doc, values.string(row))));
            }
            (ColumnChanges::Ords(all, new), dictionary) => {
                let terms: Vec<&[u8]> = terms.slices().iter().collect();
                let ords = match dictionary {
                    // Values are only removed.
                    _ if terms.is_empty() => Vec::new(),
                    Some(dictionary) => {
                        let places: Vec<_> = terms.iter().map(|term| dictionary.place(term)).collect();
                        new.add_at(dictionary.term_count(), &terms, &places)?
                    }
                    None => {
                        let why = "expected the dictionary of its terms".to_owned();
                        return Err(Error::Schema { field: field.name.clone(), why });
                    }
                };
                let sets = NewRows::ords(values, &ords);
                all.set(rows().map(|(doc, row)| (doc, Some(sets.get(row as usize)))));
            }
        }
        Ok(())
    }
}
