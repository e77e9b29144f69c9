//! A row of an input: its cells as text, before types are known.

use hashbrown::HashMap;

/// The index of a field, in order of first appearance over all inputs.
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
    /// For names with dots that come from nested JSON objects: the keys of the path.
    paths: HashMap<FieldId, Vec<String>>,
}

impl Fields {
    /// The field of this name; adds it if necessary.
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

    /// The field of a path of keys. Fails with the other path if two paths have the same dotted name.
    pub(crate) fn id_of_path(&mut self, path: &[&str], name: &str) -> Result<FieldId, Vec<String>> {
        let id = self.id(name);
        if !name.contains('.') {
            return Ok(id);
        }
        let known = self.paths.entry(id).or_insert_with(|| path.iter().map(|&k| k.to_owned()).collect());
        if known.iter().eq(path.iter()) { Ok(id) } else { Err(known.clone()) }
    }

    /// The fields that JSON may have, with the keys of their paths.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (FieldId, &[String])> {
        self.names.iter().zip(0..).filter_map(|(name, id)| {
            let path: &[String] = match name.contains('.') {
                true => self.paths.get(&FieldId(id))?,
                false => std::slice::from_ref(name),
            };
            Some((FieldId(id), path))
        })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Forgets all but the first `len` fields.
    pub(crate) fn truncate(&mut self, len: usize) {
        for name in self.names.drain(len.min(self.names.len())..) {
            if let Some(id) = self.ids.remove(&name) {
                self.paths.remove(&id);
            }
        }
    }
}

/// The syntax of a cell in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A CSV cell without quotes.
    Bare,
    /// A CSV cell in quotes.
    Quoted,
    /// A JSON string, unescaped.
    Str,
    /// A JSON number, as text.
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

/// One value of a field. Each element of a JSON array is a cell of its own, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) field: FieldId,
    pub(crate) form: Form,
    /// Whether the cell is an element of a JSON array.
    pub(crate) element: bool,
    start: u32,
    len: u32,
    /// The line, relative to the first line of the row.
    line: u32,
    /// The column in bytes, from 1.
    column: u32,
}

/// A row. Callers reuse it, so reading a row does not allocate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    text: String,
    pub(crate) cells: Vec<Cell>,
    /// The line on which the row begins, from 1.
    pub(crate) line: u64,
}

/// Buffers of more bytes are freed after a row, so that they are not kept while a large value is stored.
pub(crate) const LARGE: usize = 1 << 20;

impl Row {
    /// Frees the text, if it is large, after the row was converted.
    pub(crate) fn free_large(&mut self) {
        if self.text.len() > LARGE {
            (self.text, self.cells) = Default::default();
        }
    }

    pub(crate) fn clear(&mut self, line: u64) {
        self.text.clear();
        self.cells.clear();
        self.line = line;
    }

    /// Appends a cell. Returns `false` if the row would exceed 4 GiB of text.
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
