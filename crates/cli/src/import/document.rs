//! A converted row, and CSV cells with several values.

use serde_json::value::RawValue;

use super::column::{Column, Missing, MissingTokens};
use super::column_type::ColumnType;
use super::parse_cell::{Stored, TypeMismatch, ValueStyle};
use super::row::{Form, LARGE};
use crate::text::StoredRef;
use crate::text::words::excerpt;

/// A converted row: its values, grouped by column.
#[derive(Debug, Default)]
pub(crate) struct Document {
    values: Vec<Value>,
    missing: Vec<(usize, Missing)>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Value {
    column: usize,
    stored: Stored,
    /// The range in [`Document::bytes`] of the bytes, or of the text of a double in CSV.
    range: std::ops::Range<usize>,
    mark: ValueStyle,
}

impl Document {
    /// The values with the index of their column; values of one column are adjacent.
    pub(crate) fn values(&self) -> impl Iterator<Item = (usize, StoredRef<'_>)> {
        self.values.iter().map(|value| {
            let stored = match value.stored {
                Stored::Number(number) => StoredRef::Number(number),
                Stored::Bytes => StoredRef::Bytes(self.bytes.get(value.range.clone()).unwrap_or_default()),
            };
            (value.column, stored)
        })
    }

    /// Frees the bytes, if they are many, after they were stored.
    pub(crate) fn free_large(&mut self) {
        if self.bytes.len() > LARGE {
            *self = Document::default();
        }
    }

    /// Records that a column has no value, and how the input wrote that.
    pub(super) fn push_missing(&mut self, column: usize, missing: Missing) {
        self.missing.push((column, missing));
    }

    /// Records the formats of the values in their columns.
    pub(super) fn observe(&self, columns: &mut [Column]) {
        let mut last: Option<&Value> = None;
        for value in &self.values {
            let Some(column) = columns.get_mut(value.column) else { continue };
            column.observe(value.mark);
            if let Stored::Number(stored) = value.stored {
                let text = self.bytes.get(value.range.clone()).unwrap_or_default();
                column.observe_spelling(stored, value.mark, std::str::from_utf8(text).unwrap_or_default());
            }
            match last.replace(value) {
                Some(last) if last.column == value.column => {
                    column.reordered |= !self.are_in_order(last, value);
                }
                _ => column.documents += 1,
            }
        }
        for (index, missing) in &self.missing {
            if let Some(column) = columns.get_mut(*index) {
                column.observe_missing(*missing);
            }
        }
    }

    /// Whether a column stores two values of a document as they are: in ascending order, and equal strings once.
    fn are_in_order(&self, a: &Value, b: &Value) -> bool {
        match (a.stored, b.stored) {
            (Stored::Number(a), Stored::Number(b)) => a <= b,
            _ => self.bytes.get(a.range.clone()) < self.bytes.get(b.range.clone()),
        }
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.missing.clear();
        self.bytes.clear();
    }

    /// Parses a cell as its column's type and adds the value.
    pub(super) fn push(
        &mut self,
        column: &Column,
        index: usize,
        ty: ColumnType,
        form: Form,
        text: &str,
    ) -> Result<(), TypeMismatch> {
        let start = self.bytes.len();
        let (stored, mark) = column.cell_parser(ty).read(form, text, &mut self.bytes)?;
        if let ValueStyle::Float { json: false, .. } = mark {
            self.bytes.extend_from_slice(text.as_bytes());
        }
        self.values.push(Value { column: index, stored, range: start..self.bytes.len(), mark });
        Ok(())
    }
}

/// A mismatch in a cell, and the text of the value in a cell with several values.
pub(super) type CellError = (TypeMismatch, Option<String>);

/// Adds the values of a CSV cell of a multi-valued column: a JSON array, or texts with a separator between
/// them.
pub(super) fn split_cell(
    column: &Column,
    index: usize,
    ty: ColumnType,
    form: Form,
    text: &str,
    missing: &MissingTokens,
    document: &mut Document,
) -> Result<(), CellError> {
    let element = |c: TypeMismatch, text: &str| (c, Some(text.to_owned()));
    if let Some(separator) = &column.separator {
        for part in text.split(separator.as_str()) {
            if missing.find(part).is_none() {
                document.push(column, index, ty, form, part).map_err(|c| element(c, part))?;
            }
        }
        return Ok(());
    }
    if !text.starts_with('[') {
        return document.push(column, index, ty, form, text).map_err(|c| (c, None));
    }
    let refuse = |problem: String| (TypeMismatch { problem, wider: "" }, None);
    let values: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
        refuse(format!("expected a JSON array of strings, numbers or booleans ({error})"))
    })?;
    if values.is_empty() {
        document.missing.push((index, Missing::EmptyArray));
    }
    for value in values {
        let raw = value.get();
        let text = match raw.as_bytes().first() {
            Some(b'{' | b'[' | b'n') => {
                return Err(refuse(format!("an array cannot hold {}", excerpt(raw.as_bytes()))));
            }
            Some(b'"') => serde_json::from_str(raw).map_err(|error| refuse(error.to_string()))?,
            _ => raw.to_owned(),
        };
        let form = if matches!(raw, "true" | "false") { Form::Bool } else { Form::Bare };
        document.push(column, index, ty, form, &text).map_err(|c| element(c, &text))?;
    }
    Ok(())
}
