//! Converts the lines of a chunk of NDJSON, column by column.
//!
//! They are read as [`NdjsonRows`] reads lines one by one. All of their fields must be known and have types.

use std::io;
use std::sync::Arc;

use super::NdjsonRows;
use crate::import::chunk_reader::CHUNK;
use crate::import::column::{Column, MissingTokens};
use crate::import::exclude::Exclude;
use crate::import::row::{Fields, Row};
use crate::import::row_batch::RowBatch;

/// The most rows without a value to add to columns for each of the first [`CHUNK`] bytes of a chunk, so that columns with
/// few values take little memory.
const MAX_GAPS: usize = 2;

/// The conversion of the chunks of a file.
pub(crate) struct NdjsonConverter {
    file: Arc<str>,
    exclude: Exclude,
    /// The fields that rows may have.
    fields: Fields,
}

impl NdjsonConverter {
    /// The conversion of rows as those of `rows` that have these fields.
    pub(crate) fn new(rows: &NdjsonRows, fields: &Fields) -> NdjsonConverter {
        NdjsonConverter { file: rows.file.clone(), exclude: rows.exclude.clone(), fields: fields.clone() }
    }

    /// Converts all rows; `None` if one of them is unusual or has a mistake.
    pub(crate) fn rows(&self, text: &str, columns: &mut [Column], batch: &mut RowBatch) -> Option<()> {
        let reader = Box::new(io::Cursor::new(text.to_owned()));
        let mut rows = NdjsonRows::of_lines(&self.file, reader, &self.exclude, 1);
        let (mut fields, mut row) = (self.fields.clone(), Row::default());
        let mut gaps = MAX_GAPS * text.len().min(CHUNK);
        while rows.next(&mut fields, &mut row).ok()? {
            add(&row, columns, batch, &mut gaps)?;
        }
        // Up to the last row.
        for (values, column) in batch.columns.iter_mut().zip(&*columns) {
            if let Some(ty) = column.ty.filter(|_| values.has_values()) {
                gaps = gaps.checked_sub(values.fill(batch.docs, ty))?;
            }
        }
        (fields.sizes() == self.fields.sizes()).then_some(())
    }
}

/// Adds the values of a row; `None` if one is no value of its column, or there are too many `gaps`.
fn add(row: &Row, columns: &mut [Column], batch: &mut RowBatch, gaps: &mut usize) -> Option<()> {
    let (no_tokens, mut cells) = (MissingTokens::default(), row.cells.iter().peekable());
    while let Some(cell) = cells.next() {
        let (index, text) = (cell.field.index(), row.text(cell));
        let (column, values) = (columns.get_mut(index)?, batch.columns.get_mut(index)?);
        if let Some(missing) = column.missing(cell.form, text, &no_tokens) {
            column.observe_missing(missing);
            continue;
        }
        let ty = column.ty.filter(|ty| ty.multi || !cell.element)?;
        *gaps = gaps.checked_sub(values.fill(batch.docs, ty))?;
        let value = values.convert(column, ty, cell.form, text)?;
        if ty.multi {
            column.reordered |= !values.push_element(value);
            if cells.peek().is_some_and(|next| next.field == cell.field) {
                continue;
            }
            values.end_list();
        } else {
            values.push(batch.docs, Some(value), ty.logical.is_bytes());
        }
        column.documents += 1;
    }
    batch.docs += 1;
    Some(())
}

#[cfg(test)]
#[path = "converter/tests.rs"]
mod tests;
