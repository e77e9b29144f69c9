//! Converted rows of a text file, column by column.

use super::parse_cell::Stored;
use crate::api::writer::{self, ColumnBatch, FieldId};

/// Several documents, column by column.
pub(crate) trait Batch {
    /// The number of documents.
    fn docs(&self) -> u32;

    /// The indexes of the columns that have values.
    fn columns(&self) -> Vec<usize>;

    /// Adds the values to a batch of the writer, given the field of each column.
    fn add_to(&self, target: &mut ColumnBatch<'_>, fields: &[Option<FieldId>]) -> writer::Result<()>;

    /// The rows of a text file.
    #[cfg(test)]
    fn rows(&self) -> &RowBatch;
}

/// Converted rows of a text file.
#[derive(Debug, Default)]
pub(crate) struct RowBatch {
    pub(super) docs: u32,
    pub(super) columns: Vec<BatchColumn>,
}

/// The values of a column.
#[derive(Debug, Default)]
pub(super) struct BatchColumn {
    /// A number for each row, unless the values are byte strings.
    pub(super) numbers: Vec<i64>,
    /// The ends of the byte strings in `bytes`, after a 0.
    pub(super) offsets: Vec<u64>,
    pub(super) bytes: Vec<u8>,
    /// A bit for each row with a value.
    pub(super) validity: Vec<u64>,
    values: u32,
}

impl Batch for RowBatch {
    fn docs(&self) -> u32 {
        self.docs
    }

    fn columns(&self) -> Vec<usize> {
        let columns = self.columns.iter().enumerate().filter(|(_, column)| column.values > 0);
        columns.map(|(index, _)| index).collect()
    }

    fn add_to(&self, target: &mut ColumnBatch<'_>, fields: &[Option<FieldId>]) -> writer::Result<()> {
        for (column, field) in self.columns.iter().zip(fields).filter(|(column, _)| column.values > 0) {
            let Some(field) = field else { continue };
            let validity = (column.values < self.docs).then_some(&column.validity[..]);
            if column.offsets.is_empty() {
                target.stored(*field, &column.numbers, validity)?;
            } else {
                target.bytes(*field, &column.offsets, &column.bytes, validity)?;
            }
        }
        Ok(())
    }

    #[cfg(test)]
    fn rows(&self) -> &RowBatch {
        self
    }
}

impl RowBatch {
    /// Removes all rows. There will be so many columns.
    pub(super) fn clear(&mut self, columns: usize) {
        self.docs = 0;
        self.columns.resize_with(columns, BatchColumn::default);
        for column in &mut self.columns {
            column.numbers.clear();
            column.offsets.clear();
            column.bytes.clear();
            column.validity.clear();
            column.values = 0;
        }
    }
}

impl BatchColumn {
    /// Adds the value of a row, whose bytes are in `bytes` already if it is a byte string.
    #[inline]
    pub(super) fn push(&mut self, row: u32, value: Option<Stored>, holds_bytes: bool) {
        if row.is_multiple_of(64) {
            self.validity.push(0);
        }
        if let (Some(_), Some(word)) = (value, self.validity.last_mut()) {
            *word |= 1 << (row % 64);
            self.values += 1;
        }
        if holds_bytes {
            if self.offsets.is_empty() {
                self.offsets.push(0);
            }
            self.offsets.push(self.bytes.len() as u64);
        } else {
            self.numbers.push(if let Some(Stored::Number(number)) = value { number } else { 0 });
        }
    }
}
