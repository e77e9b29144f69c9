//! A row as its file spells it: fields and raw cells, before any type.

use std::collections::HashMap;

/// The number of a field, in order of first appearance in all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FieldId(pub(crate) u32);

impl FieldId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of all fields of all inputs.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    names: Vec<String>,
    ids: HashMap<String, FieldId>,
    /// Where JSON objects gave a name with dots: the keys it was made of.
    paths: HashMap<FieldId, Vec<String>>,
}

impl Fields {
    /// The field of this name, which begins to exist if it did not.
    pub(crate) fn id(&mut self, name: &str) -> FieldId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        // 2^32 names do not fit in memory.
        let id = FieldId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// The field at which the keys of nested objects lead, or the other keys that gave the same name.
    pub(crate) fn id_of_path(&mut self, path: &[&str], name: &str) -> Result<FieldId, Vec<String>> {
        let id = self.id(name);
        if !name.contains('.') {
            return Ok(id);
        }
        let known = self.paths.entry(id).or_insert_with(|| path.iter().map(|&k| k.to_owned()).collect());
        if known.iter().eq(path.iter()) { Ok(id) } else { Err(known.clone()) }
    }

    #[cfg(test)]
    pub(crate) fn name(&self, id: FieldId) -> &str {
        self.names.get(id.index()).map_or("", String::as_str)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// What a cell was in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A CSV cell without quotes.
    Bare,
    /// A CSV cell in quotes.
    Quoted,
    /// A JSON string, unescaped.
    Str,
    /// A JSON number, as it was spelled.
    Number,
    /// `true` or `false` in JSON.
    Bool,
    /// `null` in JSON.
    Null,
    /// `[]` in JSON.
    EmptyArray,
}

impl Form {
    pub(crate) fn is_csv(self) -> bool {
        matches!(self, Form::Bare | Form::Quoted)
    }
}

/// One value of a field; the elements of a JSON array are so many cells, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) field: FieldId,
    pub(crate) form: Form,
    /// Whether the cell is an element of a JSON array.
    pub(crate) element: bool,
    start: u32,
    len: u32,
    /// Lines below the row's first.
    line: u32,
    /// In bytes, from 1.
    column: u32,
}

/// A row; kept and filled again, so that a row costs no allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    text: String,
    pub(crate) cells: Vec<Cell>,
    /// The line on which the row begins, from 1.
    pub(crate) line: u64,
}

impl Row {
    pub(crate) fn clear(&mut self, line: u64) {
        self.text.clear();
        self.cells.clear();
        self.line = line;
    }

    /// Appends a cell. `false` when the row has become too large (4 GiB of text).
    #[must_use]
    pub(crate) fn push(&mut self, field: FieldId, form: Form, text: &str, place: (u64, usize)) -> bool {
        let (Ok(start), Ok(len)) = (u32::try_from(self.text.len()), u32::try_from(text.len())) else {
            return false;
        };
        let line = u32::try_from(place.0.saturating_sub(self.line)).unwrap_or(u32::MAX);
        let column = u32::try_from(place.1).unwrap_or(u32::MAX);
        self.text.push_str(text);
        self.cells.push(Cell { field, form, element: false, start, len, line, column });
        true
    }

    /// Marks the cells from `first` on as elements of an array.
    pub(crate) fn mark_elements(&mut self, first: usize) {
        for cell in self.cells.iter_mut().skip(first) {
            cell.element = true;
        }
    }

    pub(crate) fn text(&self, cell: &Cell) -> &str {
        let start = cell.start as usize;
        self.text.get(start..start + cell.len as usize).unwrap_or("")
    }

    /// Line and column of a cell, from 1.
    pub(crate) fn place(&self, cell: &Cell) -> (u64, u64) {
        (self.line + u64::from(cell.line), u64::from(cell.column))
    }
}
