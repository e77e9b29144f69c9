//! Converted rows of a text file, column by column.

use super::column::Column;
use super::column_type::ColumnType;
use super::parse_cell::Stored;
use super::row::Form;
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
    /// The numbers, unless the values are byte strings: one for each row, or those of the lists.
    pub(super) numbers: Vec<i64>,
    /// The ends of the byte strings in `bytes`, after a 0.
    pub(super) offsets: Vec<u64>,
    pub(super) bytes: Vec<u8>,
    /// The ends of the lists of a multi-valued column, after a 0: one for each row.
    pub(super) lists: Vec<u64>,
    /// A bit for each row with a value, unless there are lists.
    pub(super) validity: Vec<u64>,
    /// The number of rows with a value.
    rows: u32,
}

impl Batch for RowBatch {
    fn docs(&self) -> u32 {
        self.docs
    }

    fn columns(&self) -> Vec<usize> {
        let columns = self.columns.iter().enumerate().filter(|(_, column)| column.rows > 0);
        columns.map(|(index, _)| index).collect()
    }

    fn add_to(&self, target: &mut ColumnBatch<'_>, fields: &[Option<FieldId>]) -> writer::Result<()> {
        for (column, field) in self.columns.iter().zip(fields).filter(|(column, _)| column.rows > 0) {
            let Some(field) = field else { continue };
            let BatchColumn { numbers, offsets, bytes, lists, validity, rows } = column;
            let validity = (*rows < self.docs).then_some(&validity[..]);
            match (lists.is_empty(), offsets.is_empty()) {
                (true, true) => target.stored(*field, numbers, validity)?,
                (true, false) => target.bytes(*field, offsets, bytes, validity)?,
                (false, true) => target.stored_lists(*field, lists, numbers, None)?,
                (false, false) => target.bytes_lists(*field, lists, offsets, bytes, None)?,
            };
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
            column.lists.clear();
            column.validity.clear();
            column.rows = 0;
        }
    }
}

impl BatchColumn {
    /// Converts a cell, whose bytes are appended if it is a byte string; `None` if it is no value of its column. Observes its
    /// format.
    #[inline]
    pub(super) fn convert(
        &mut self,
        column: &mut Column,
        ty: ColumnType,
        form: Form,
        text: &str,
    ) -> Option<Stored> {
        let (stored, mark) = column.cell_parser(ty).read(form, text, &mut self.bytes).ok()?;
        column.observe(mark);
        if let Stored::Number(stored) = stored {
            column.observe_spelling(stored, mark, text);
        }
        Some(stored)
    }

    /// Whether a row has a value.
    pub(super) fn has_values(&self) -> bool {
        self.rows > 0
    }

    /// Adds rows without a value until there are `rows`. Returns how many.
    #[inline]
    pub(super) fn fill(&mut self, rows: u32, ty: ColumnType) -> usize {
        let rows = rows as usize;
        let ends = match (ty.multi, ty.logical.is_bytes()) {
            (true, _) => &mut self.lists,
            (false, true) => &mut self.offsets,
            (false, false) => {
                let gap = rows.saturating_sub(self.numbers.len());
                if gap > 0 {
                    self.numbers.resize(rows, 0);
                    self.validity.resize(rows.div_ceil(64), 0);
                }
                return gap;
            }
        };
        let gap = rows.saturating_sub(ends.len().saturating_sub(1));
        if gap > 0 {
            let last = ends.last().copied().unwrap_or(0);
            ends.resize(rows + 1, last);
            self.validity.resize(rows.div_ceil(64), 0);
        }
        gap
    }

    /// Adds a value to the list of the current row, whose bytes are in `bytes` already if it is a byte string. Returns whether
    /// it is after the value before it.
    pub(super) fn push_element(&mut self, value: Stored) -> bool {
        let at = |end: u64| usize::try_from(end).unwrap_or(usize::MAX);
        let first = self.lists.last().map_or(0, |end| at(*end));
        match value {
            Stored::Number(number) => {
                let before = self.numbers.last().filter(|_| self.numbers.len() > first);
                let is_after = before.is_none_or(|before| *before <= number);
                self.numbers.push(number);
                is_after
            }
            Stored::Bytes => {
                if self.offsets.is_empty() {
                    self.offsets.push(0);
                }
                let is_after = match self.offsets[..] {
                    [.., start, end] if self.offsets.len() > first + 1 => {
                        self.bytes.get(at(start)..at(end)) < self.bytes.get(at(end)..)
                    }
                    _ => true,
                };
                self.offsets.push(self.bytes.len() as u64);
                is_after
            }
        }
    }

    /// Ends the list of the current row, which has a value.
    pub(super) fn end_list(&mut self) {
        if self.lists.is_empty() {
            self.lists.push(0);
        }
        let values = if self.offsets.is_empty() { self.numbers.len() } else { self.offsets.len() - 1 };
        self.lists.push(values as u64);
        self.rows += 1;
    }

    /// Adds the value of a row, whose bytes are in `bytes` already if it is a byte string.
    #[inline]
    pub(super) fn push(&mut self, row: u32, value: Option<Stored>, holds_bytes: bool) {
        if row.is_multiple_of(64) {
            self.validity.push(0);
        }
        if let (Some(_), Some(word)) = (value, self.validity.last_mut()) {
            *word |= 1 << (row % 64);
            self.rows += 1;
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
