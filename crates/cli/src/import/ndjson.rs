//! JSON rows: one object a line (NDJSON), the objects of an array, or objects one after the other over any lines.
//!
//! If the first value is an object that ends with its line, all others must be one a line, too. So a line that is cut is
//! one bad row, and not the start of a longer one. The first line is one bad row, too, if it is cut and the lines after it
//! are objects.
//!
//! Numbers are kept as text, so no digit is lost before a column's type is known.

pub(super) mod converter;
mod key_tree;
mod tokens;
mod values;

use std::io::{self, BufRead, Read as _};
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use self::values::{Layout, Next, ValueReader};
use super::error::{BadRow, InputError, Result};
use super::exclude::Exclude;
use super::row::{FieldId, Fields, Form, LARGE, Row};
use crate::text::fit::char_start;
use crate::text::json_entries::{Entries, Key};
use crate::text::quoting::{jq_path, option, shell_word};

/// The deepest nesting of objects.
const MAX_DEPTH: usize = 64;

/// The longest name of a field, in bytes.
const MAX_NAME: usize = 64 * 1024;

/// The rows of a file.
pub(crate) struct NdjsonRows {
    pub(super) file: Arc<str>,
    pub(super) reader: Box<dyn BufRead>,
    values: ValueReader,
    bytes: Vec<u8>,
    /// Whether the input paused within the line.
    is_cut: bool,
    /// The place of the row: its line from 1, and the bytes before it in this line.
    pub(super) line: u64,
    column: usize,
    /// The number of the row, from 1.
    number: u64,
    pub(super) exclude: Exclude,
    /// For each field, the number of the last row that had it.
    seen: Vec<u64>,
    /// The dotted name of the current field.
    name: String,
}

impl NdjsonRows {
    pub(crate) fn open(file: &Arc<str>, reader: Box<dyn BufRead>, exclude: &Exclude) -> NdjsonRows {
        let (file, exclude) = (file.clone(), exclude.clone());
        NdjsonRows {
            file,
            reader,
            values: ValueReader::new(),
            bytes: Vec::new(),
            is_cut: false,
            line: 0,
            column: 0,
            number: 0,
            exclude,
            seen: Vec::new(),
            name: String::new(),
        }
    }

    /// The lines of `reader`, of which the first is `line`.
    pub(super) fn of_lines(
        file: &Arc<str>,
        reader: Box<dyn BufRead>,
        exclude: &Exclude,
        line: u64,
    ) -> NdjsonRows {
        let mut rows = NdjsonRows::open(file, reader, exclude);
        rows.values.layout = Layout::Lines;
        rows.line = line.saturating_sub(1);
        rows
    }

    /// Whether the rest has one object a line, and begins with a line.
    pub(super) fn are_lines(&self) -> bool {
        self.values.layout == Layout::Lines && !self.is_cut
    }

    /// Reads the next row. Returns `false` at the end of the file.
    ///
    /// # Errors
    ///
    /// After [`InputError::Bad`], the next call reads the row after the bad one; after a
    /// [pause](InputError::is_pause), the same row.
    pub(crate) fn next(&mut self, fields: &mut Fields, row: &mut Row) -> Result<bool> {
        if !self.read()? {
            return Ok(false);
        }
        self.number += 1;
        row.clear(self.line);
        let (bytes, known) = (std::mem::take(&mut self.bytes), fields.len());
        let parsed = self.parse(&bytes, fields, row);
        if parsed.is_err() {
            // A row that is left out has no fields.
            fields.truncate(known);
        }
        self.bytes = if bytes.len() > LARGE { Vec::new() } else { bytes };
        parsed.map(|()| true).map_err(InputError::from)
    }

    /// Reads the bytes of the next row. Returns `false` at the end of the file.
    fn read(&mut self) -> Result<bool> {
        if self.values.layout == Layout::Lines {
            if !self.is_cut {
                self.column = 0;
            }
            return self.read_line();
        }
        let next = self.values.next(&mut *self.reader, &mut self.bytes);
        let next = next.map_err(|e| InputError::unreadable(&self.file, e))?;
        (self.line, self.column) = self.values.place;
        match next {
            Next::Value => Ok(true),
            Next::CutLines => {
                self.split_lines();
                Ok(true)
            }
            Next::End => Ok(false),
            Next::Bad(problem) => {
                (self.line, self.column) = self.values.next_place();
                Err(BadRow::new(&self.file, self.line, self.column as u64 + 1, problem).into())
            }
            Next::Lines => {
                (self.line, self.column) = self.values.next_place();
                // The line begins with the next byte.
                self.line -= 1;
                self.read_line()
            }
        }
    }

    /// Returns all lines of the buffer but the first one to the reader, if each of them is an object.
    fn split_lines(&mut self) {
        let Some(first) = self.bytes.iter().position(|byte| *byte == b'\n') else { return };
        let rest = self.bytes.get(first + 1..).unwrap_or_default();
        let is_object =
            |line: &[u8]| line.first() == Some(&b'{') && serde_json::from_slice::<IgnoredAny>(line).is_ok();
        if rest.is_empty() || !rest.trim_ascii_end().split(|byte| *byte == b'\n').all(is_object) {
            return;
        }
        let rest = self.bytes.split_off(first + 1);
        let reader = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(io::Cursor::new(rest).chain(reader));
        self.values.layout = Layout::Lines;
        self.values.line_ends.clear();
    }

    /// Reads the next line that is not blank.
    fn read_line(&mut self) -> Result<bool> {
        loop {
            if !std::mem::replace(&mut self.is_cut, true) {
                self.bytes.clear();
            }
            self.reader
                .read_until(b'\n', &mut self.bytes)
                .map_err(|e| InputError::unreadable(&self.file, e))?;
            self.is_cut = false;
            if self.bytes.is_empty() {
                return Ok(false);
            }
            self.line += 1;
            if !self.bytes.trim_ascii().is_empty() {
                return Ok(true);
            }
            self.column = 0;
        }
    }

    fn parse(&mut self, bytes: &[u8], fields: &mut Fields, row: &mut Row) -> Result<(), BadRow> {
        let line = std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let rest = bytes.get(at..).unwrap_or_default();
            let bad = self.bad(at, "the text is not UTF-8").text(rest.trim_ascii_end());
            bad.hint("set --encoding, such as latin-1")
        })?;
        let start = line.len() - line.trim_ascii_start().len();
        let text = line.trim_ascii_start();
        match text.as_bytes().first() {
            Some(b'{') => {}
            Some(b'[') => {
                let bad = self.bad(start, "expected a JSON object, found an array");
                let bad = bad.text(text.trim_end().as_bytes());
                return Err(bad.hint("write one object a line: jq -c '.[]'"));
            }
            _ => {
                let bad = self.bad(start, "expected a JSON object").text(text.trim_end().as_bytes());
                return Err(bad.hint("write one object a line; for CSV, use --input-format csv"));
            }
        }
        self.name.clear();
        self.object(text, &[], line, fields, row)
    }

    /// Appends the cells of the object at `path`.
    fn object(
        &mut self,
        raw: &str,
        path: &[&str],
        line: &str,
        fields: &mut Fields,
        row: &mut Row,
    ) -> Result<(), BadRow> {
        let start = offset(line, raw);
        if path.len() > MAX_DEPTH {
            return Err(self.bad(start, "objects are nested deeper than 64").text(raw.as_bytes()));
        }
        let entries: Entries<'_> = serde_json::from_str(raw).map_err(|e| self.syntax(&e, line, start))?;
        let repeated = entries.repeated_beside_object().map(|raw| offset(line, raw.get()));
        let mut path = path.to_vec();
        for (Key(key), raw) in &entries.0 {
            let raw = raw.get();
            let at = offset(line, raw);
            let name_len = self.name.len();
            if key.is_empty() {
                let bad = self.bad(at, "a key is empty").text(raw.as_bytes());
                return Err(bad.hint("give it a name"));
            }
            if !path.is_empty() {
                self.name.push('.');
            }
            self.name.push_str(key);
            if self.name.len() > MAX_NAME {
                return Err(self.bad(at, "a field's name is longer than 64 KiB").text(key.as_bytes()));
            }
            if repeated == Some(at) {
                return Err(self.duplicate(at));
            }
            path.push(key);
            if raw.starts_with('{') {
                self.object(raw, &path, line, fields, row)?;
            } else {
                let field = self.field(&path, at, fields)?;
                // Values of an excluded field need not fit a column.
                if !self.exclude.has(&self.name) {
                    self.value(field, raw, at, line, row)?;
                }
            }
            path.pop();
            self.name.truncate(name_len);
        }
        Ok(())
    }

    /// The field at `path`, named `self.name`. Fails if the row already has it.
    fn field(&mut self, path: &[&str], at: usize, fields: &mut Fields) -> Result<FieldId, BadRow> {
        let field = fields.id_of_path(path, &self.name).map_err(|other| {
            let keys =
                |path: &[String]| path.iter().map(|k| format!("{k:?}")).collect::<Vec<_>>().join(" → ");
            let path: Vec<String> = path.iter().map(|&k| k.to_owned()).collect();
            let problem =
                format!("the keys {} and {} both give the column {:?}", keys(&other), keys(&path), self.name);
            self.bad(at, problem).hint("rename one of them")
        })?;
        if self.seen.len() <= field.index() {
            self.seen.resize(field.index() + 1, 0);
        }
        if std::mem::replace(&mut self.seen[field.index()], self.number) == self.number {
            return Err(self.duplicate(at));
        }
        Ok(field)
    }

    fn duplicate(&self, at: usize) -> BadRow {
        let bad = self.bad(at, format!("duplicate key {:?} in one object", self.name));
        bad.hint("keep one of them; write several values as an array")
    }

    /// Appends the cells of a scalar or an array.
    fn value(&self, field: FieldId, raw: &str, at: usize, line: &str, row: &mut Row) -> Result<(), BadRow> {
        if !raw.starts_with('[') {
            return self.scalar(field, raw, at, row);
        }
        let elements: Vec<&RawValue> = serde_json::from_str(raw).map_err(|e| self.syntax(&e, line, at))?;
        let first = row.cells.len();
        if elements.is_empty() {
            return self.push(field, Form::EmptyArray, "[]", at, row);
        }
        for element in elements {
            let text = element.get();
            let at = offset(line, text);
            let refused = match text.as_bytes().first() {
                Some(b'{') => Some("no column stores an array of objects"),
                Some(b'[') => Some("no column stores an array of arrays"),
                Some(b'n') => Some("an array holds null, which no column stores"),
                _ => None,
            };
            if let Some(problem) = refused {
                let problem = format!("column {:?}: {problem}", self.name);
                let program = format!("{} |= map(tojson)", jq_path(&self.name));
                return Err(self.bad(at, problem).text(text.as_bytes()).hint(format!(
                    "store the elements as text: jq -c {}; or leave it out: {}",
                    shell_word(&program),
                    option("--exclude", &self.name)
                )));
            }
            self.scalar(field, text, at, row)?;
        }
        row.mark_elements(first);
        Ok(())
    }

    fn scalar(&self, field: FieldId, raw: &str, at: usize, row: &mut Row) -> Result<(), BadRow> {
        match raw.as_bytes().first() {
            Some(b'"') => match raw.get(1..raw.len() - 1) {
                Some(text) if !text.contains('\\') => self.push(field, Form::Str, text, at, row),
                _ => {
                    let text: String = serde_json::from_str(raw).map_err(|e| {
                        // Such as half of a surrogate pair.
                        self.bad(at, format!("column {:?}: {}", self.name, reason(&e))).text(raw.as_bytes())
                    })?;
                    self.push(field, Form::Str, &text, at, row)
                }
            },
            Some(b't' | b'f') => self.push(field, Form::Bool, raw, at, row),
            Some(b'n') => self.push(field, Form::Null, raw, at, row),
            _ => self.push(field, Form::Number, raw, at, row),
        }
    }

    fn push(&self, field: FieldId, form: Form, text: &str, at: usize, row: &mut Row) -> Result<(), BadRow> {
        if row.push(field, form, text, self.place(at)) {
            Ok(())
        } else {
            Err(self.bad(at, "the row is larger than 4 GiB"))
        }
    }

    fn bad(&self, at: usize, problem: impl Into<String>) -> BadRow {
        let (line, column) = self.place(at);
        BadRow::new(&self.file, line, column as u64, problem)
    }

    /// The line and column of a byte of the row, from 1.
    fn place(&self, at: usize) -> (u64, usize) {
        let line_ends = &self.values.line_ends;
        if line_ends.is_empty() {
            return (self.line, self.column + at + 1);
        }
        let lines = line_ends.partition_point(|end| (*end as usize) < at);
        match lines.checked_sub(1).and_then(|last| line_ends.get(last)) {
            Some(end) => (self.line + lines as u64, at - *end as usize),
            None => (self.line, self.column + at + 1),
        }
    }

    /// A syntax error in the text that begins `start` bytes into the row.
    fn syntax(&self, error: &serde_json::Error, row: &str, start: usize) -> BadRow {
        let end = row.trim_end().len();
        // serde_json counts lines and columns from 1 and reports the byte at which it stopped.
        let line_ends = row.bytes().enumerate().skip(start).filter(|(_, byte)| *byte == b'\n');
        let line_start = match error.line().checked_sub(2) {
            Some(before) => line_ends.map(|(at, _)| at + 1).nth(before).unwrap_or(start),
            None => start,
        };
        let stopped = if error.is_eof() { end } else { line_start + error.column().saturating_sub(1) };
        let at = stopped.min(end);
        let line = row.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let from = char_start(row, at.saturating_sub(10)).max(line);
        let around = row.get(from..).unwrap_or_default().lines().next().unwrap_or_default().trim_end();
        let bad = self.bad(at, format!("invalid JSON: {}", reason(error)));
        let bad = if around.is_empty() { bad } else { bad.text(around.as_bytes()) };
        let is_line = self.values.layout == Layout::Lines;
        let is_no_line = is_line && (error.is_eof() || reason(error).starts_with("trailing"));
        if is_no_line { bad.hint("write one object a line: jq -c .") } else { bad }
    }
}

/// The message without its place, which is relative to a part of the line.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => match &text[..at] {
            "unexpected end of hex escape" => {
                "expected the second half of a surrogate pair, found none".to_owned()
            }
            reason => reason.to_owned(),
        },
        None => text,
    }
}

/// The offset of `part` in `line`.
fn offset(line: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(line.as_ptr().addr())
}

#[cfg(test)]
#[path = "ndjson/tests.rs"]
mod tests;
