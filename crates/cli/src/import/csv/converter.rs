//! Converts the rows of a chunk of CSV, column by column.

use super::rows::CsvRows;
use super::tokens::{Token, Tokenizer, line_end};
use crate::import::column::{Column, MissingTokens};
use crate::import::row::Form;
use crate::import::row_batch::{BatchColumn, RowBatch};

/// The conversion of the chunks of a file.
pub(crate) struct CsvConverter {
    /// The index of each column of the file.
    indexes: Vec<usize>,
    tokenizer: Tokenizer,
    missing: MissingTokens,
}

impl CsvConverter {
    pub(crate) fn new(rows: &CsvRows, missing: &MissingTokens) -> CsvConverter {
        let indexes = rows.columns.iter().map(|field| field.index()).collect();
        CsvConverter { indexes, tokenizer: rows.dialect.tokenizer(), missing: missing.clone() }
    }

    /// Converts all rows; `None` if one of them has a mistake.
    pub(crate) fn rows(&self, text: &str, columns: &mut [Column], batch: &mut RowBatch) -> Option<()> {
        let (bytes, mut at) = (text.as_bytes(), 0);
        while at < bytes.len() {
            // With one column, a blank line is a row with an empty cell.
            let blank = if self.indexes.len() > 1 { line_end(bytes, at) } else { 0 };
            if blank > 0 {
                at += blank;
                continue;
            }
            let mut indexes = self.indexes.iter();
            loop {
                let Token::Cell(cell) = self.tokenizer.cell_at(bytes, at) else { return None };
                at = cell.end;
                let index = *indexes.next()?;
                let column = columns.get_mut(index)?;
                if !column.excluded {
                    let text = self.tokenizer.text(text.get(cell.text.clone())?, &cell);
                    self.cell(cell.form, &text, column, batch.docs, batch.columns.get_mut(index)?)?;
                }
                if cell.ends_record {
                    break;
                }
            }
            if indexes.next().is_some() {
                return None;
            }
            batch.docs += 1;
        }
        Some(())
    }

    /// Converts a cell; `None` if it is no value of its column.
    #[inline]
    fn cell(
        &self,
        form: Form,
        text: &str,
        column: &mut Column,
        row: u32,
        values: &mut BatchColumn,
    ) -> Option<()> {
        let ty = column.ty?;
        let value = match column.missing(form, text, &self.missing) {
            Some(missing) => {
                column.observe_missing(missing);
                None
            }
            None => {
                column.documents += 1;
                Some(values.convert(column, ty, form, text)?)
            }
        };
        values.push(row, value, ty.logical.is_bytes());
        Some(())
    }
}
