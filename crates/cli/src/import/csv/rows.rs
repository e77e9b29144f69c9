//! CSV and TSV, row by row, with the place of every cell and of every mistake.
//!
//! The [tokenizer](super::tokens) gets whole lines, and more of them while a quoted cell is open. After wrong
//! quotes, only the first line of the record is lost: an unclosed quote would otherwise swallow the rest of the file.

use std::borrow::Cow;
use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr_iter, memrchr};

use super::dialect::{Dialect, Extras};
use super::header::{self, Header, NewName, unique_names};
use super::tokens::{CsvCell, Token, line_end};
use crate::import::error::{BadRow, InputError, Result};
use crate::import::row::{FieldId, Fields, Form, LARGE, Row};

/// The most lines before a header for which a hint is given.
const MAX_TITLES: u64 = 20;

/// The rows of a file.
pub(crate) struct CsvRows {
    pub(in crate::import) file: Arc<str>,
    pub(in crate::import) reader: Box<dyn BufRead>,
    pub(crate) dialect: Dialect,
    /// The columns of this file.
    pub(crate) columns: Vec<FieldId>,
    /// The names that the header does not have as they are, for a note.
    pub(crate) new_names: Vec<NewName>,
    /// Notes on a header that may be something else.
    pub(crate) doubts: Vec<String>,
    /// The lines read so far: those of the record, and after a bad quote some lines after it.
    lines: Vec<u8>,
    /// Whether the input paused within the last of them.
    is_cut: bool,
    /// The range of the record in `lines`; the next record begins at its end.
    record: Range<usize>,
    /// The lines on which the record and the next one begin, from 1.
    line: u64,
    pub(crate) next_line: u64,
    /// The cells of the record, each with its line, and its column in bytes from 1.
    cells: Vec<(CsvCell, (u64, usize))>,
}

impl CsvRows {
    /// Opens a file and reads its header, or its first row to count the columns.
    pub(crate) fn open(
        file: &Arc<str>,
        reader: Box<dyn BufRead>,
        dialect: Dialect,
        fields: &mut Fields,
    ) -> Result<CsvRows> {
        let mut rows = CsvRows::new(file.clone(), reader, dialect, Vec::new(), 1);
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
        (rows.record.end, rows.next_line) = (rows.record.start, rows.line);
        Ok(rows)
    }

    /// The records of `reader`, of which the first is on `line`.
    pub(crate) fn new(
        file: Arc<str>,
        reader: Box<dyn BufRead>,
        dialect: Dialect,
        columns: Vec<FieldId>,
        line: u64,
    ) -> CsvRows {
        CsvRows {
            file,
            reader,
            dialect,
            columns,
            new_names: Vec::new(),
            doubts: Vec::new(),
            lines: Vec::new(),
            is_cut: false,
            record: 0..0,
            line,
            next_line: line,
            cells: Vec::new(),
        }
    }

    /// The bytes after the last record that were read already.
    pub(crate) fn unread(&self) -> &[u8] {
        self.lines.get(self.record.end..).unwrap_or_default()
    }

    /// Whether rows are separated by line ends, and cells by a character that is neither a quote nor a line end.
    pub(crate) fn is_plain(&self) -> bool {
        let Dialect { delimiter, extras, .. } = &self.dialect;
        let extras = Extras { skip_lines: 0, ..*extras };
        extras == Extras::default() && !matches!(delimiter, b'"' | b'\n' | b'\r')
    }

    /// Adds the columns of the header. A column without a name, or with that of an earlier one, gets a new name.
    fn read_header(&mut self, fields: &mut Fields) -> Result<()> {
        let names = self.cells.iter().map(|(cell, _)| self.text_of(cell).map(Cow::into_owned));
        let names = names.collect::<Result<Vec<_>>>()?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
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
        for (&field, (cell, place)) in self.columns.iter().zip(&self.cells) {
            if !row.push(field, cell.form, &self.text_of(cell)?, *place) {
                return Err(BadRow::new(&self.file, self.line, 1, "the row is larger than 4 GiB").into());
            }
        }
        if self.lines.len() > LARGE && self.record.end == self.lines.len() {
            (self.lines, self.record) = (Vec::new(), 0..0);
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
        let column = self.cells.get(expected).or(self.cells.last()).map_or(1, |(_, (_, column))| *column);
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
    fn text_of(&self, cell: &CsvCell) -> Result<Cow<'_, str>> {
        let bytes = self.lines.get(cell.text.clone()).unwrap_or_default();
        let raw = std::str::from_utf8(bytes).map_err(|_| {
            // The first invalid byte of the record is the first one of its cells.
            let record = self.lines.get(self.record.clone()).unwrap_or_default();
            let valid = std::str::from_utf8(record).map_or_else(|e| e.valid_up_to(), str::len);
            self.bad_at(self.record.start + valid, "the text is not UTF-8")
                .hint("set --encoding, such as latin-1")
        })?;
        let is_trimmed = self.dialect.extras.trim && cell.form == Form::Bare;
        let raw = if is_trimmed { raw.trim_matches([' ', '\t']) } else { raw };
        Ok(self.dialect.tokenizer().text(raw, cell))
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

    /// Moves the end of the record past a line end, if there is one.
    fn skip_line_end(&mut self) -> bool {
        let len = line_end(&self.lines, self.record.end);
        self.record.end += len;
        // A carriage return alone counts no line.
        self.next_line += u64::from(len > 0 && self.lines.get(self.record.end - 1) == Some(&b'\n'));
        len > 0
    }

    /// Moves the end of the record to the next line.
    fn skip_line(&mut self) {
        self.record.end += self.line_from(self.record.end).len();
        self.skip_line_end();
    }

    /// Reads the next record and its cells; skips blank lines and comments. Returns `false` at the end.
    fn read_record(&mut self) -> Result<bool> {
        self.cells.clear();
        loop {
            if self.is_cut || self.record.end == self.lines.len() {
                if !self.is_cut {
                    self.lines.clear();
                    self.record = 0..0;
                }
                self.read_line()?;
                if self.lines.is_empty() {
                    return Ok(false);
                }
            }
            self.record.start = self.record.end;
            self.line = self.next_line;
            let comment = self.dialect.extras.comment;
            if self.lines.get(self.record.end).is_some_and(|first| comment == Some(*first)) {
                self.skip_line();
            } else if self.columns.len() == 1 || !self.skip_line_end() {
                // With one column, a blank line is a row with an empty cell.
                break;
            }
        }
        // Until the record is complete, it ends where it starts: after a pause, it is read again.
        let (mut at, mut line, mut line_start) = (self.record.start, self.line, self.record.start);
        loop {
            let cell = self.read_cell(at)?;
            let (place, ends_record) = ((line, at - line_start + 1), cell.ends_record);
            let read = self.lines.get(at..cell.end).unwrap_or_default();
            if let Some(newline) = memrchr(b'\n', read) {
                line += memchr_iter(b'\n', read).count() as u64;
                line_start = at + newline + 1;
            }
            at = cell.end;
            self.cells.push((cell, place));
            if ends_record {
                (self.record.end, self.next_line) = (at, line);
                return Ok(true);
            }
        }
    }

    /// Reads a line, or the rest of one after a pause. Returns `false` at the end.
    fn read_line(&mut self) -> Result<bool> {
        self.is_cut = true;
        let read = self.reader.read_until(b'\n', &mut self.lines);
        let read = read.map_err(|e| InputError::unreadable(&self.file, e))?;
        self.is_cut = false;
        Ok(read > 0)
    }

    /// Reads the cell at byte `at` of the lines, and more lines if it spans several.
    fn read_cell(&mut self, at: usize) -> Result<CsvCell> {
        let tokenizer = self.dialect.tokenizer();
        let mut token = tokenizer.cell_at(&self.lines, at);
        loop {
            token = match token {
                Token::Cell(cell) => return Ok(cell),
                Token::Open(open) => {
                    if !self.read_line()? {
                        let hint = "close it, or use --no-quotes to read quotes as text";
                        return Err(self.wrong_quotes(at, "unclosed quote", hint));
                    }
                    tokenizer.go_on(&self.lines, open)
                }
                Token::AfterQuote(quote) => {
                    let hint = if self.lines.get(quote - 1) == Some(&b'\\') {
                        r"if a backslash stands before quotes within quotes, use --escape '\'"
                    } else {
                        "write a quote within quotes twice (\"\"), or use --no-quotes to read quotes as text"
                    };
                    return Err(self.wrong_quotes(quote + 1, "text after a closing quote", hint));
                }
            };
        }
    }

    /// The error for wrong quotes at byte `at` of the lines. Only the first line of the record is lost.
    fn wrong_quotes(&mut self, at: usize, problem: &str, hint: &str) -> InputError {
        let bad = self.bad_at(at, problem).hint(hint);
        self.skip_line();
        bad.into()
    }
}

/// A number of things: `1 cell`, `2 cells`.
fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
#[path = "rows/tests.rs"]
mod tests;
