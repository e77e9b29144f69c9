//! The second pass over rows of text: each becomes a document, or is skipped.

use super::assign_types::first_type;
use super::document::{CellError, Document, split_cell};
use super::error::{BadRow, InputError, Result};
use super::hints::describe;
use super::open_input::Rows;
use super::parse_cell::TypeMismatch;
use super::row::Row;
use super::source::Source;
use super::{Import, Imported};
use crate::text::quoting::named_columns;

impl Import {
    /// Converts rows one by one, up to the end or until `is_enough`.
    pub(super) fn add_text_rows<E: From<InputError>>(
        &mut self,
        source: &Source,
        rows: &mut Rows,
        is_enough: impl Fn(&Rows) -> bool,
        sink: &mut impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut document, mut row) = (Document::default(), Row::default());
        while !is_enough(&*rows) {
            let row = match rows.next(&mut self.fields, &mut row) {
                Ok(false) => return Ok(()),
                Ok(true) => Ok(&mut row),
                Err(InputError::Bad(bad)) => Err(bad),
                Err(error) if error.is_pause() => {
                    sink(self, Imported::Pause)?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            self.add(source, row, &mut document, sink)?;
        }
        Ok(())
    }

    /// Converts a row to a document, or skips it.
    pub(super) fn add<E: From<InputError>>(
        &mut self,
        source: &Source,
        row: Result<&mut Row, Box<BadRow>>,
        document: &mut Document,
        sink: &mut impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let converted = row.map_err(|bad| *bad).and_then(|row| {
            let converted = self.convert(source, row, document);
            row.free_large();
            converted
        });
        if let Err(bad) = converted {
            return Ok(self.skip(bad)?);
        }
        self.documents += 1;
        document.observe(&mut self.columns);
        sink(self, Imported::Document(document))
    }

    /// Counts a bad row, or returns it as an error unless bad rows are skipped.
    pub(super) fn skip(&mut self, bad: BadRow) -> Result<()> {
        if !self.options.skip_bad {
            self.has_misfit |= bad.is_misfit;
            return Err(bad.into());
        }
        self.skipped += 1;
        if self.first_skipped.len() < self.options.shown {
            self.first_skipped.push(bad);
        }
        Ok(())
    }

    /// Fills `document` with the values of a row.
    fn convert(&mut self, source: &Source, row: &Row, document: &mut Document) -> Result<(), BadRow> {
        document.clear();
        if self.fields.len() > self.columns.len() {
            self.add_columns();
            self.type_late_columns();
        }
        for cell in &row.cells {
            let index = cell.field.index();
            let Some(column) = self.columns.get_mut(index).filter(|column| !column.excluded) else {
                continue;
            };
            let text = row.text(cell);
            if let Some(missing) = column.missing(cell.form, text, &self.options.missing) {
                document.push_missing(index, missing);
                continue;
            }
            let ty = *column.ty.get_or_insert_with(|| first_type(cell, text));
            let fault = |(mismatch, element): CellError| {
                let (line, at) = row.place(cell);
                describe(
                    column,
                    ty,
                    &mismatch,
                    (BadRow::new(&source.name, line, at, ""), self.options.of_store.as_deref()),
                )
                .text(element.as_deref().unwrap_or(text).as_bytes())
            };
            if cell.element && !ty.multi {
                let problem = "expected one value a document, found an array".to_owned();
                return Err(fault((TypeMismatch { problem, wider: "[]" }, None)));
            }
            if ty.multi && cell.form.is_csv() {
                split_cell(column, index, ty, cell.form, text, &self.options.missing, document)
                    .map_err(fault)?;
            } else {
                document.push(column, index, ty, cell.form, text).map_err(|c| fault((c, None)))?;
            }
        }
        self.require_id(source, row, document)
    }

    /// Fails if the document must have an id and has none.
    fn require_id(&self, source: &Source, row: &Row, document: &Document) -> Result<(), BadRow> {
        let Some(name) = &self.options.ids else { return Ok(()) };
        if self.ids.is_some_and(|index| document.values().any(|(column, _)| column == index)) {
            return Ok(());
        }
        let cell = row.cells.iter().find(|cell| Some(cell.field.index()) == self.ids);
        let (line, at) = cell.map_or((row.line, 1), |cell| row.place(cell));
        let bad = without_id(name, BadRow::new(&source.name, line, at, ""));
        if self.ids.is_some() || self.columns.is_empty() {
            return Err(bad);
        }
        let there = named_columns(self.columns.iter().map(|column| &*column.name));
        Err(bad.hint(format!("the rows so far have no column {name:?}, but {there}")))
    }
}

/// The error for a row without an id.
pub(super) fn without_id(name: &str, bad: BadRow) -> BadRow {
    BadRow { problem: format!("column {name:?}: expected an id, found none"), ..bad }
        .hint("a store with ids has no documents without one")
}
