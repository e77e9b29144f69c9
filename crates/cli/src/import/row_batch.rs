//! Converted rows of a text file, column by column.

use super::batch_strings::BatchStrings;
use super::column::Column;
use super::column_type::ColumnType;
use super::parse_cell::{Stored, ValueStyle};
use super::row::Form;
use crate::api::writer::{self, ColumnBatch, FieldId};
use crate::api::{LogicalType, from_f64};
use crate::text::number::{parse_decimal, parse_short_integer};
use crate::text::time::{is_timestamp, to_units};

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
    /// The byte strings, in the same way.
    pub(super) strings: BatchStrings,
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
            let BatchColumn { numbers, strings, lists, validity, rows } = column;
            let BatchStrings { ids, offsets, bytes, .. } = strings;
            let validity = (*rows < self.docs).then_some(&validity[..]);
            // Values are in one of three forms.
            match (lists.is_empty(), numbers.is_empty(), ids.is_empty()) {
                (true, false, _) => target.stored(*field, numbers, validity)?,
                (true, _, false) => target.terms(*field, ids, offsets, bytes, validity)?,
                (true, _, _) => target.bytes(*field, offsets, bytes, validity)?,
                (false, false, _) => target.stored_lists(*field, lists, numbers, None)?,
                (false, _, false) => target.terms_lists(*field, lists, ids, offsets, bytes, None)?,
                (false, _, _) => target.bytes_lists(*field, lists, offsets, bytes, None)?,
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
            column.strings.clear();
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
        if let Some(stored) = self.convert_usual(column, ty, form, text) {
            return Some(stored);
        }
        let (stored, mark) = column.cell_parser(ty).read(form, text, &mut self.strings.bytes).ok()?;
        column.observe(mark);
        if let Stored::Number(stored) = stored {
            column.observe_spelling(stored, mark, text);
        }
        Some(stored)
    }

    /// Converts a usual cell as [`CellParser::read`](super::parse_cell::CellParser::read) does; `None` for any other. `read`
    /// returns its result in memory, which takes longer than most conversions.
    #[inline(always)]
    fn convert_usual(
        &mut self,
        column: &mut Column,
        ty: ColumnType,
        form: Form,
        text: &str,
    ) -> Option<Stored> {
        match (ty.logical, form) {
            (LogicalType::Utf8, Form::Str | Form::Bare | Form::Quoted) => {
                self.strings.bytes.extend_from_slice(text.as_bytes());
                column.observe(ValueStyle::Canonical);
                Some(Stored::Bytes)
            }
            (LogicalType::I64, Form::Number | Form::Bare) => {
                let number = parse_short_integer(text)?;
                column.observe(ValueStyle::Canonical);
                Some(Stored::Number(number))
            }
            // Numbers of JSON have no leading zeros, which columns of inferred types refuse.
            (LogicalType::F64, Form::Number) => {
                let (value, styles) = parse_decimal(text)?;
                column.observe(ValueStyle::Float { styles, json: true });
                Some(Stored::Number(from_f64(value)))
            }
            (logical, Form::Str | Form::Bare) if is_timestamp(logical) && column.time.is_none() => {
                let (moment, mark) = column.cell_parser(ty).rfc3339(text)?;
                let units = to_units(moment, logical)?;
                column.observe(mark);
                Some(Stored::Number(units))
            }
            _ => None,
        }
    }

    /// Whether a row has a value.
    pub(super) fn has_values(&self) -> bool {
        self.rows > 0
    }

    /// Adds rows without a value until there are `rows`. Returns how many.
    #[inline]
    pub(super) fn fill(&mut self, rows: u32, ty: ColumnType) -> usize {
        let rows = rows as usize;
        let filled = match (ty.multi, ty.logical.is_bytes()) {
            (true, _) => self.lists.len().saturating_sub(1),
            (false, true) => self.strings.len(),
            (false, false) => self.numbers.len(),
        };
        let gap = rows.saturating_sub(filled);
        if gap > 0 {
            self.fill_gap(rows, ty);
        }
        gap
    }

    /// Adds rows without a value until there are `rows`.
    #[inline(never)]
    fn fill_gap(&mut self, rows: usize, ty: ColumnType) {
        match (ty.multi, ty.logical.is_bytes()) {
            (true, _) => self.lists.resize(rows + 1, self.lists.last().copied().unwrap_or(0)),
            (false, true) => self.strings.fill(rows),
            (false, false) => self.numbers.resize(rows, 0),
        }
        self.validity.resize(rows.div_ceil(64), 0);
    }

    /// Adds a value to the list of the current row, whose bytes are in `bytes` already if it is a byte string. Returns whether
    /// it is after the value before it.
    pub(super) fn push_element(&mut self, value: Stored) -> bool {
        let first = self.lists.last().copied().unwrap_or(0);
        // The index of the value before it, in the same list.
        let before = self.values().checked_sub(1).filter(|before| *before as u64 >= first);
        match value {
            Stored::Number(number) => {
                let before = before.and_then(|before| self.numbers.get(before));
                let is_after = before.is_none_or(|before| *before <= number);
                self.numbers.push(number);
                is_after
            }
            Stored::Bytes => {
                let before = before.map(|before| self.strings.get(before));
                let is_after = before.is_none_or(|before| before < self.strings.appended());
                self.strings.push(None);
                is_after
            }
        }
    }

    /// The number of values, of which a column has those of one of the two.
    fn values(&self) -> usize {
        self.numbers.len() + self.strings.len()
    }

    /// Ends the list of the current row, which has a value.
    pub(super) fn end_list(&mut self) {
        if self.lists.is_empty() {
            self.lists.push(0);
        }
        self.lists.push(self.values() as u64);
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
        match value {
            Some(Stored::Number(number)) => self.numbers.push(number),
            Some(Stored::Bytes) => self.strings.push(Some(&self.validity)),
            None if holds_bytes => self.strings.fill(self.strings.len() + 1),
            None => self.numbers.push(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_cells_are_converted_as_they_are_read() {
        let texts = "|0|-0|-12|1.50|-0.25|-0.0|0.00001|1e3|123456789012345678|1234567890123456789\
                     |12345678901234567.5|true|é|2026-01-01T00:00:00Z|2026-01-01t00:00:00.345Z\
                     |2026-01-01 00:00:00.50+02:00|2026-01-01T00:00:00.000001\
                     |2026-01-01T00:00:00.000000001Z|9999-12-31T00:00:00Z"
            .split('|');
        let forms = [Form::Bare, Form::Quoted, Form::Str, Form::Number, Form::Bool];
        let mut usual_types = Vec::new();
        for logical in LogicalType::ALL {
            let ty = ColumnType::single(logical);
            for (explicit, has_no_offsets) in [(false, false), (false, true), (true, false)] {
                let mut column = Column::new("c", None);
                (column.ty, column.explicit, column.has_no_offsets) = (Some(ty), explicit, has_no_offsets);
                for (form, text) in forms.iter().flat_map(|form| texts.clone().map(move |text| (*form, text)))
                {
                    let (mut found, mut values) = (column.clone(), BatchColumn::default());
                    let Some(stored) = values.convert_usual(&mut found, ty, form, text) else { continue };
                    usual_types.push(logical);
                    let (mut expected, mut bytes) = (column.clone(), Vec::new());
                    let (read, mark) = expected.cell_parser(ty).read(form, text, &mut bytes).unwrap();
                    expected.observe(mark);
                    assert_eq!((stored, values.strings.bytes), (read, bytes), "{logical:?} {form:?} {text}");
                    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{logical:?} {form:?} {text}");
                }
            }
        }
        usual_types.dedup();
        assert_eq!(usual_types.len(), 6, "{usual_types:?}");
    }
}
