//! Converted rows of a text file, column by column.

use super::parse_cell::Stored;
use crate::api::writer::{self, ColumnBatch, FieldId};
#[cfg(test)]
use crate::text::stored_ref::StoredRef;

/// Several documents, column by column.
#[derive(Debug, Default)]
pub(crate) struct RowBatch {
    pub(crate) docs: u32,
    pub(super) columns: Vec<BatchColumn>,
}

/// The values of a column.
#[derive(Debug, Default)]
pub(super) struct BatchColumn {
    /// A number for each row, unless the values are byte strings.
    numbers: Vec<i64>,
    /// The ends of the byte strings in `bytes`, after a 0.
    offsets: Vec<u64>,
    pub(super) bytes: Vec<u8>,
    /// A bit for each row with a value.
    validity: Vec<u64>,
    values: u32,
}

impl RowBatch {
    /// The indexes of the columns that have values.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.columns.iter().enumerate().filter(|(_, column)| column.values > 0).map(|(index, _)| index)
    }

    /// Adds the values to a batch of the writer, given the field of each column.
    pub(crate) fn add_to(
        &self,
        target: &mut ColumnBatch<'_>,
        fields: &[Option<FieldId>],
    ) -> writer::Result<()> {
        for index in self.columns() {
            let (Some(Some(field)), Some(column)) = (fields.get(index), self.columns.get(index)) else {
                continue;
            };
            let validity = (column.values < self.docs).then_some(&column.validity[..]);
            if column.offsets.is_empty() {
                target.stored(*field, &column.numbers, validity)?;
            } else {
                target.bytes(*field, &column.offsets, &column.bytes, validity)?;
            }
        }
        Ok(())
    }

    /// All values, with their column and row.
    #[cfg(test)]
    pub(super) fn values(&self) -> impl Iterator<Item = (usize, usize, StoredRef<'_>)> + '_ {
        let rows = 0..self.docs as usize;
        self.columns().flat_map(move |index| {
            let column = &self.columns[index];
            let has_value = |row: &usize| column.validity[row / 64] >> (row % 64) & 1 == 1;
            rows.clone().filter(has_value).map(move |row| {
                let at = |row: usize| usize::try_from(column.offsets[row]).unwrap();
                let value = match column.offsets.is_empty() {
                    true => StoredRef::Number(column.numbers[row]),
                    false => StoredRef::Bytes(&column.bytes[at(row)..at(row + 1)]),
                };
                (index, row, value)
            })
        })
    }

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
