//! CSV and TSV: splits text into rows and cells (RFC 4180, tokenized by `csv-core`), with the place of every cell.
//!
//! `csv-core` consumes the bytes of a cell. These bytes give the cell's place, whether it is quoted, and two mistakes
//! that `csv-core` accepts: text after a closing quote, and an unclosed quote, which would otherwise swallow the rest of
//! the file.

use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use super::csv_dialect::{Dialect, Extras};
use super::error::{BadRow, InputError, Result};
use super::header::{self, Header, NewName, unique_names};
use super::row::{FieldId, Fields, Form, LARGE, Row};

/// The most lines before a header for which a hint is given.
const MAX_TITLES: u64 = 20;

/// The rows of a file.
pub(crate) struct CsvRows {
    file: Arc<str>,
    reader: Box<dyn BufRead>,
    core: Box<Reader>,
    dialect: Dialect,
    columns: Vec<FieldId>,
    new_names: Vec<NewName>,
    doubts: Vec<String>,
    /// The lines read so far: those of the record, and after a bad quote some lines after it.
    lines: Vec<u8>,
    /// Whether the input paused within the last of them.
    is_cut: bool,
    /// The range of the record in `lines`; the next record begins at its end.
    record: Range<usize>,
    /// The lines on which the record and the next one begin, from 1.
    line: u64,
    next_line: u64,
    /// The concatenated texts of the record's cells, without quotes.
    text: Vec<u8>,
    cells: Vec<Span>,
}

/// The records of a file that were not read.
pub(crate) struct CsvRest {
    pub(crate) file: Arc<str>,
    pub(crate) reader: Box<dyn BufRead>,
    pub(crate) dialect: Dialect,
    pub(crate) columns: Vec<FieldId>,
    /// The bytes before those of `reader`.
    pub(crate) bytes: Vec<u8>,
    /// The line of the first record.
    pub(crate) line: u64,
}

/// A cell of a record.
#[derive(Clone, Debug)]
struct Span {
    text: Range<usize>,
    quoted: bool,
    line: u64,
    /// In bytes, from 1.
    column: usize,
}

/// The bytes of `lines` that `csv-core` consumed for a cell.
struct Taken {
    /// Without the delimiter or line end after it.
    raw: Range<usize>,
    /// The range of the cell's text in `text`.
    text: Range<usize>,
    /// The first byte after the delimiter or line end.
    end: usize,
    ends_record: bool,
}

impl CsvRows {
    /// Opens a file and reads its header, or its first row to count the columns.
    pub(crate) fn open(
        file: &Arc<str>,
        reader: Box<dyn BufRead>,
        dialect: Dialect,
        fields: &mut Fields,
    ) -> Result<CsvRows> {
        let mut rows = CsvRows::new(file.clone(), reader, dialect);
        for _ in 0..rows.dialect.extras.skip_lines {
            rows.read_line()?;
            rows.lines.clear();
            rows.next_line += 1;
        }
        let is_empty = !rows.read_record()?;
        match &rows.dialect.header {
            Header::FirstRow if is_empty => return Ok(rows),
            Header::FirstRow => {
                rows.read_header(fields)?;
                return Ok(rows);
            }
            Header::Numbered => {
                rows.columns = (1..=rows.cells.len()).map(|n| fields.id(&format!("c{n}"))).collect();
            }
            Header::Names(names) => {
                rows.columns = names.iter().map(|name| fields.id(name)).collect();
                if !is_empty && names.len() != rows.cells.len() {
                    return Err(rows.wrong_names(names.len()));
                }
            }
        }
        // The first row is data, so it is read again.
        rows.resume_at(rows.record.start, rows.line);
        Ok(rows)
    }

    fn new(file: Arc<str>, reader: Box<dyn BufRead>, dialect: Dialect) -> CsvRows {
        let mut core = ReaderBuilder::new();
        core.delimiter(dialect.delimiter).quoting(dialect.quotes).escape(dialect.extras.escape);
        let core = core.build();
        CsvRows {
            file,
            reader,
            core: Box::new(core),
            dialect,
            columns: Vec::new(),
            new_names: Vec::new(),
            doubts: Vec::new(),
            lines: Vec::new(),
            is_cut: false,
            record: 0..0,
            line: 1,
            next_line: 1,
            text: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// Continues in the middle of a file, whose next record is on `line`.
    pub(crate) fn resume(
        file: Arc<str>,
        reader: Box<dyn BufRead>,
        dialect: Dialect,
        columns: Vec<FieldId>,
        line: u64,
    ) -> CsvRows {
        let mut rows = CsvRows::new(file, reader, dialect);
        rows.columns = columns;
        rows.resume_at(0, line);
        rows
    }

    /// What was not read.
    pub(crate) fn into_rest(self) -> CsvRest {
        let bytes = self.lines.get(self.record.end..).unwrap_or_default().to_vec();
        let CsvRows { file, reader, dialect, columns, next_line: line, .. } = self;
        CsvRest { file, reader, dialect, columns, bytes, line }
    }

    /// Whether rows are separated by line ends, and cells by a character that is neither a quote nor a line end.
    pub(crate) fn is_plain(&self) -> bool {
        let Dialect { delimiter, extras, .. } = &self.dialect;
        let extras = Extras { skip_lines: 0, ..*extras };
        extras == Extras::default() && !matches!(delimiter, b'"' | b'\n' | b'\r')
    }

    /// Notes on a header that may be something else.
    pub(crate) fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// The columns of this file.
    pub(crate) fn columns(&self) -> &[FieldId] {
        &self.columns
    }

    /// The names that the header does not have as they are, for a note.
    pub(crate) fn new_names(&self) -> &[NewName] {
        &self.new_names
    }

    /// Adds the columns of the header. A column without a name, or with that of an earlier one, gets a new name.
    fn read_header(&mut self, fields: &mut Fields) -> Result<()> {
        let names = self.cells.iter().map(|span| self.text_of(span)).collect::<Result<Vec<_>>>()?;
        let (columns, new_names) = unique_names(&names);
        let doubts = header::doubts(&self.file, &names);
        self.columns = columns.iter().map(|name| fields.id(name)).collect();
        (self.new_names, self.doubts) = (new_names, doubts);
        Ok(())
    }

    /// Reads the next row. Returns `false` at the end of the file.
    ///
    /// # Errors
    ///
    /// After [`InputError::Bad`], the next call reads the row after the bad one; after a
    /// [pause](InputError::is_pause), the same row.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool> {
        if !self.read_record()? {
            return Ok(false);
        }
        row.clear(self.line);
        if self.cells.len() != self.columns.len() {
            return Err(self.wrong_count().into());
        }
        if self.text.len() > LARGE && self.record.end == self.lines.len() {
            self.cells.iter().try_for_each(|span| self.text_of(span).map(drop))?;
            // Only `text_of` needs them, for a message.
            (self.lines, self.record) = (Vec::new(), 0..0);
        }
        for (&field, span) in self.columns.iter().zip(&self.cells) {
            let form = if span.quoted { Form::Quoted } else { Form::Bare };
            if !row.push(field, form, self.text_of(span)?, (span.line, span.column)) {
                return Err(BadRow::new(&self.file, self.line, 1, "the row is larger than 4 GiB").into());
            }
        }
        if self.text.len() > LARGE {
            self.text = Vec::new();
        }
        Ok(true)
    }

    /// The error for a list of names that does not fit the first row.
    fn wrong_names(&self, names: usize) -> InputError {
        let cells = self.cells.len();
        InputError::refused(
            format!(
                "{}:{}: expected {}, as --header names, found {}",
                self.file,
                self.line,
                count(names, "column"),
                count(cells, "cell")
            ),
            "name each column of the file, or set --delimiter",
        )
    }

    fn wrong_count(&self) -> BadRow {
        let (found, expected) = (self.cells.len(), self.columns.len());
        let problem = format!("expected {}, found {found}", count(expected, "cell"));
        let column = self.cells.get(expected).or(self.cells.last()).map_or(1, |span| span.column);
        let text = self.line_from(self.record.start);
        let bad = BadRow::new(&self.file, self.line, column as u64, problem).text(text);
        bad.hint(match found < expected {
            true if text.starts_with(b"#") => {
                "if lines that begin with # are comments, use --comment '#'".to_owned()
            }
            true => "look for a missing delimiter or a broken line, or set --delimiter".to_owned(),
            // The rows before it have as many cells as the first.
            false if expected == 1 && self.dialect.header == Header::FirstRow && self.line <= MAX_TITLES => {
                format!(
                    "if lines before this one are no header, use --skip-lines {}; or set --delimiter",
                    self.line - 1
                )
            }
            false => "put a cell that contains the delimiter in quotes".to_owned(),
        })
    }

    /// The text of a cell of the record.
    fn text_of(&self, span: &Span) -> Result<&str> {
        let text = std::str::from_utf8(self.text.get(span.text.clone()).unwrap_or_default());
        let is_trimmed = self.dialect.extras.trim && !span.quoted;
        text.map(|text| if is_trimmed { text.trim_matches([' ', '\t']) } else { text }).map_err(|_| {
            // The first invalid byte of the record is the first one of its cells.
            let record = self.lines.get(self.record.clone()).unwrap_or_default();
            let valid = std::str::from_utf8(record).map_or_else(|e| e.valid_up_to(), str::len);
            self.bad_at(self.record.start + valid, "the text is not UTF-8")
                .hint("set --encoding, such as latin-1")
                .into()
        })
    }

    /// The bytes from `at` to the end of their line.
    fn line_from(&self, at: usize) -> &[u8] {
        let from = self.lines.get(at..).unwrap_or_default();
        from.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default()
    }

    /// An error at byte `at` of the lines.
    fn bad_at(&self, at: usize, problem: &str) -> BadRow {
        let before = self.lines.get(self.record.start..at).unwrap_or_default();
        let newlines = before.iter().filter(|b| **b == b'\n').count() as u64;
        let column = before.iter().rev().take_while(|b| **b != b'\n').count() as u64 + 1;
        BadRow::new(&self.file, self.line + newlines, column, problem).text(self.line_from(at))
    }

    /// Continues at byte `at` of the lines, on line `line`.
    fn resume_at(&mut self, at: usize, line: u64) {
        self.core.reset();
        self.record.end = at;
        self.next_line = line;
    }

    /// Moves the end of the record past a line end, if there is one.
    fn skip_line_end(&mut self) -> bool {
        let len = match self.lines.get(self.record.end..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([b'\r' | b'\n', ..]) => 1,
            _ => return false,
        };
        self.record.end += len;
        // As csv-core counts lines.
        self.next_line += u64::from(self.lines.get(self.record.end - 1) == Some(&b'\n'));
        true
    }

    /// Moves the end of the record past a comment, if there is one.
    fn skip_comment(&mut self) -> bool {
        let Some(comment) = self.dialect.extras.comment else { return false };
        let is_comment = self.lines.get(self.record.end) == Some(&comment);
        if is_comment {
            self.record.end += self.line_from(self.record.end).len();
            self.skip_line_end();
        }
        is_comment
    }

    /// Reads the next record and its cells; skips blank lines. Returns `false` at the end.
    fn read_record(&mut self) -> Result<bool> {
        self.cells.clear();
        loop {
            if (self.is_cut || self.record.end == self.lines.len()) && !self.read_first_line()? {
                return Ok(false);
            }
            self.record.start = self.record.end;
            self.line = self.next_line;
            if self.skip_comment() {
                continue;
            }
            if !self.skip_line_end() {
                break;
            }
            // With one column, a blank line is a row with an empty cell.
            if self.columns.len() == 1 {
                self.cells.push(Span { text: 0..0, quoted: false, line: self.line, column: 1 });
                return Ok(true);
            }
        }
        self.core.set_line(self.line);
        let (mut begin, mut line_start, mut filled) = (self.record.start, self.record.start, 0);
        loop {
            let (line, column) = (self.core.line(), begin - line_start + 1);
            let cell = self.take_cell(begin, filled)?;
            let quoted = self.dialect.quotes && self.lines.get(begin) == Some(&b'"');
            if quoted {
                self.check_quotes(&cell.raw)?;
            }
            (begin, filled) = (cell.end, cell.text.end);
            if self.core.line() > line {
                let newline = self.lines.get(..begin).and_then(|l| l.iter().rposition(|b| *b == b'\n'));
                line_start = newline.map_or(0, |newline| newline + 1);
            }
            self.cells.push(Span { text: cell.text, quoted, line, column });
            if cell.ends_record {
                break;
            }
        }
        self.record.end = begin;
        self.next_line = self.core.line();
        if self.lines.get(begin - 1..=begin) == Some(b"\r\n") {
            self.skip_line_end();
        }
        Ok(true)
    }

    /// Reads a line in place of those before, or on after a pause. Returns `false` at the end.
    fn read_first_line(&mut self) -> Result<bool> {
        if !std::mem::replace(&mut self.is_cut, true) {
            self.lines.clear();
            self.record = 0..0;
        }
        self.read_line()?;
        self.is_cut = false;
        Ok(!self.lines.is_empty())
    }

    fn read_line(&mut self) -> Result<()> {
        let read = self.reader.read_until(b'\n', &mut self.lines);
        read.map(drop).map_err(|e| InputError::unreadable(&self.file, e))
    }

    /// Reads another line of the record. After a pause, the record is read again from its first line.
    fn read_next_line(&mut self) -> Result<()> {
        let read = self.read_line();
        if read.is_err() {
            self.is_cut = true;
            self.resume_at(self.record.start, self.line);
        }
        read
    }

    /// Reads the cell at byte `begin` of the lines, and more lines if it spans several.
    fn take_cell(&mut self, begin: usize, filled: usize) -> Result<Taken> {
        let (mut end, mut text) = (begin, filled..filled);
        loop {
            // The text of a cell is never longer than its source.
            self.text.resize(self.text.len().max(self.lines.len()), 0);
            let input = self.lines.get(end..).unwrap_or_default();
            let output = self.text.get_mut(text.end..).unwrap_or_default();
            let (result, read, written) = self.core.read_field(input, output);
            end += read;
            text.end += written;
            let ends_record = match result {
                ReadFieldResult::Field { record_end } => record_end,
                ReadFieldResult::End => true,
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {
                    // At the end of the file, the next call gets no bytes and ends the cell.
                    self.read_next_line()?;
                    continue;
                }
            };
            let raw = begin..end - usize::from(read > 0);
            return Ok(Taken { raw, text, end, ends_record });
        }
    }

    /// Returns an error for a quoted cell that does not end with its closing quote. Only the first line of the record is
    /// lost.
    fn check_quotes(&mut self, raw: &Range<usize>) -> Result<()> {
        let bytes = self.lines.get(raw.clone()).unwrap_or_default();
        let bad = match closing_quote(bytes, self.dialect.extras.escape) {
            Some(at) if at + 1 == bytes.len() => return Ok(()),
            Some(at) if bytes.get(at - 1) == Some(&b'\\') => self
                .bad_at(raw.start + at + 1, "text after a closing quote")
                .hint(r"if a backslash stands before quotes within quotes, use --escape '\'"),
            Some(at) => self
                .bad_at(raw.start + at + 1, "text after a closing quote")
                .hint("write a quote within quotes twice (\"\"), or use --no-quotes to read quotes as text"),
            None => self
                .bad_at(raw.start, "unclosed quote")
                .hint("close it, or use --no-quotes to read quotes as text"),
        };
        self.resume_at(self.record.start + self.line_from(self.record.start).len(), self.line);
        self.skip_line_end();
        Err(bad.into())
    }
}

/// A number of things: `1 cell`, `2 cells`.
fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// The position of the closing quote of a cell: the first quote after the opening one that is not doubled.
fn closing_quote(raw: &[u8], escape: Option<u8>) -> Option<usize> {
    let mut at = 1;
    loop {
        at += raw.get(at..)?.iter().position(|b| *b == b'"' || Some(*b) == escape)?;
        if raw.get(at) == Some(&b'"') && raw.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
#[path = "csv_cells/tests.rs"]
mod tests;
