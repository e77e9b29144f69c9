//! [`NewRows`]: documents of a segment and their new values; and the terms of these in its dictionary.

use std::collections::HashMap;
use std::sync::Arc;

use docvalues_column::{
    AbsentColumn, BatchDocs, Column, ColumnSource, DocId, ErrorKind, Field, Gathered, Kind, Lists,
    PlainColumn, TermOrd, Terms, Values,
};

use docvalues_reader::Segment;

use crate::error::Result;

/// Documents, ascending, and the values of a field that each has from now on.
#[derive(Debug)]
pub(crate) struct NewRows {
    pub(crate) docs: Vec<DocId>,
    /// A row for each of them. Terms are numbers of `terms`.
    pub(crate) values: PlainColumn,
    /// In any order; a term may repeat.
    pub(crate) terms: Lists<u8>,
}

impl NewRows {
    /// Of documents, and a plain column of a field of this kind with a row for each.
    pub(crate) fn new(kind: Kind, docs: Vec<DocId>, plain: PlainColumn) -> NewRows {
        let mut terms = Lists::new();
        if !has_terms(kind) {
            return NewRows { docs, values: plain, terms };
        }
        let mut values = PlainColumn::of_kind(of_numbers(kind));
        for row in 0..plain.docs() {
            let first = terms.len();
            plain.strings(row).for_each(|term| terms.push(term));
            values.push_numbers(&(first..terms.len()).map(|at| at as i64).collect::<Vec<_>>());
        }
        NewRows { docs, values, terms }
    }

    /// The values that documents have in a column. `numbers` are those of the documents there.
    ///
    /// # Errors
    ///
    /// If the column is damaged.
    pub(crate) fn read(column: &dyn Column, numbers: &[DocId], docs: Vec<DocId>) -> Result<NewRows> {
        let kind = column.info().kind();
        let mut values = PlainColumn::of_kind(of_numbers(kind));
        let mut terms = Lists::new();
        match column.values() {
            Values::Numbers(rows) => {
                let mut found = Gathered::new();
                rows.gather(BatchDocs::List(numbers), &mut found)?;
                (0..found.len()).for_each(|at| values.push_numbers(found.row(at).unwrap_or_default()));
            }
            Values::Bytes(rows) => {
                let mut row = Vec::new();
                for doc in numbers {
                    let is_there = rows.get(*doc, &mut row)?;
                    values.push_strings(is_there.then_some(&row[..]));
                }
            }
            Values::Ords(rows, dictionary) => {
                let (mut row, mut ords, mut ends) = (Vec::new(), Vec::new(), Vec::with_capacity(docs.len()));
                for doc in numbers {
                    if rows.get(*doc, &mut row)? {
                        ords.extend_from_slice(&row);
                    }
                    ends.push(ords.len());
                }
                let mut distinct = ords.clone();
                distinct.sort_unstable();
                distinct.dedup();
                dictionary.gather_terms(&distinct, &mut terms)?;
                let (mut start, mut row) = (0, Vec::new());
                for end in ends {
                    row.clear();
                    let term = |ord: &TermOrd| distinct.partition_point(|other| other < ord) as i64;
                    row.extend(ords[start..end].iter().map(term));
                    values.push_numbers(&row);
                    start = end;
                }
            }
        }
        Ok(NewRows { docs, values, terms })
    }

    /// Appends a row to a plain column of the field.
    pub(crate) fn push_to(&self, row: u32, plain: &mut PlainColumn) {
        let term = |at: &i64| self.terms.get(usize::try_from(*at).unwrap_or(usize::MAX));
        match self.values.has_value(row) {
            false => plain.append_absent(1),
            true if self.terms.is_empty() => plain.push_row(&self.values, row),
            true => plain.push_strings(self.values.numbers(row).iter().map(term)),
        }
    }

    /// Rows of terms as rows of ords, of which each term has one: each sorted, without repetitions.
    pub(crate) fn ords(values: &PlainColumn, of_terms: &[TermOrd]) -> Lists<TermOrd> {
        let (mut rows, mut row) = (Lists::new(), Vec::new());
        for at in 0..values.docs() {
            row.clear();
            let ord = |term: &i64| of_terms[usize::try_from(*term).unwrap_or(usize::MAX)];
            row.extend(values.numbers(at).iter().map(ord));
            row.sort_unstable();
            row.dedup();
            rows.push(&row);
        }
        rows
    }
}

/// Whether a field of this kind has a dictionary.
pub(crate) fn has_terms(kind: Kind) -> bool {
    matches!(kind, Kind::Sorted | Kind::SortedSet)
}

/// The kind of the rows: terms are numbers.
fn of_numbers(kind: Kind) -> Kind {
    match kind {
        Kind::Sorted => Kind::Numeric,
        Kind::SortedSet => Kind::SortedNumeric,
        kind => kind,
    }
}

/// The dictionary of a segment's column, and the places of terms that were looked up.
pub(crate) struct Dictionary {
    column: Arc<dyn Column>,
    pub(super) places: HashMap<Box<[u8]>, Result<TermOrd, TermOrd>>,
}

impl Dictionary {
    /// That of a column of a segment, or of an empty one that takes the place of a column that it lacks.
    pub(crate) fn open(segment: &Segment, field: &Field) -> Result<Dictionary> {
        Ok(Dictionary { column: column_or_absent(segment, field)?, places: HashMap::new() })
    }

    /// That of a column of a segment for new rows, if the field has one: all of their terms are looked up.
    pub(crate) fn for_rows(segment: &Segment, field: &Field, rows: &NewRows) -> Result<Option<Dictionary>> {
        if !has_terms(field.kind) || rows.terms.is_empty() {
            return Ok(None);
        }
        let mut dictionary = Dictionary::open(segment, field)?;
        rows.terms.slices().iter().try_for_each(|term| dictionary.look_up(term))?;
        Ok(Some(dictionary))
    }

    /// Looks up the place of a term, unless it is known.
    pub(crate) fn look_up(&mut self, term: &[u8]) -> Result<()> {
        if !self.places.contains_key(term)
            && let Some(terms) = self.column.values().terms()
        {
            self.places.insert(term.into(), terms.place(term)?);
        }
        Ok(())
    }

    pub(crate) fn term_count(&self) -> u32 {
        self.column.values().terms().map_or(0, Terms::term_count)
    }

    /// The place of a term, which was looked up.
    pub(crate) fn place(&self, term: &[u8]) -> Result<TermOrd, TermOrd> {
        debug_assert!(self.places.contains_key(term), "a term that was not looked up");
        self.places.get(term).copied().unwrap_or(Err(TermOrd::new(self.term_count())))
    }
}

/// The column of a field, without values if the segment lacks it.
///
/// # Errors
///
/// If the column is damaged, or of another kind than the field.
pub(crate) fn column_or_absent(segment: &Segment, field: &Field) -> Result<Arc<dyn Column>> {
    let column = match ColumnSource::column(segment, &field.name) {
        Err(error) if matches!(error.kind(), ErrorKind::NoSuchColumn { .. }) => {
            return Ok(Arc::new(AbsentColumn::of(field.clone(), segment.docs())));
        }
        column => column?,
    };
    let found = column.info().kind();
    if found != field.kind {
        let (file, field, asked) = (segment.file().to_owned(), field.name.clone(), field.kind);
        return Err(docvalues_column::Error::from(ErrorKind::WrongKind { file, field, found, asked }).into());
    }
    Ok(column)
}
