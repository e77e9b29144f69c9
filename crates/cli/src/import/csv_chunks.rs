//! Chunks of CSV: whole records, to be converted side by side.
//!
//! A quote may hide a line end, so the reader follows the quoted cells to find where records end. Where quotes are wrong,
//! the rest of the file is read record by record, which finds the place of the mistake.

use std::io::{self, BufRead, Read as _};
use std::sync::Arc;

use memchr::{memchr, memchr3, memrchr};

use super::csv_cells::{CsvRest, CsvRows};
use super::csv_dialect::Dialect;
use super::error::{InputError, Result};
use super::row::{FieldId, Form};

/// The most times the size of a chunk that a record may have.
const LARGEST: usize = 16;

/// The rest of a CSV file, in chunks.
pub(crate) struct CsvChunks {
    pub(crate) file: Arc<str>,
    reader: Box<dyn BufRead>,
    pub(crate) dialect: Dialect,
    pub(crate) columns: Vec<FieldId>,
    /// The size of a chunk, in bytes, unless a record is larger.
    size: usize,
    /// The bytes after the last chunk.
    rest: Vec<u8>,
    is_at_end: bool,
    /// Whether there are no more chunks.
    is_done: bool,
}

impl CsvChunks {
    /// The records that `rows` has not read, in chunks of `size` bytes, and the line of the first.
    pub(crate) fn after(rows: CsvRows, size: usize) -> (CsvChunks, u64) {
        let CsvRest { file, reader, dialect, columns, bytes: rest, line } = rows.into_rest();
        (CsvChunks { file, reader, dialect, columns, size, rest, is_at_end: false, is_done: false }, line)
    }

    /// Reads the next chunk into `buffer`, which is emptied first. Returns `None` at the end of the file, and before a
    /// record that does not end as it should or is too large for a chunk.
    pub(crate) fn next(&mut self, mut buffer: Vec<u8>) -> Result<Option<Vec<u8>>> {
        buffer.clear();
        buffer.append(&mut self.rest);
        for times in 1..=LARGEST {
            if self.is_done {
                break;
            }
            self.fill(&mut buffer, times * self.size).map_err(|e| InputError::unreadable(&self.file, e))?;
            let (end, is_wrong) = match record_end(&buffer, &self.dialect, self.is_at_end) {
                RecordEnd::At(end) => (end, false),
                RecordEnd::Wrong(end) => (end, true),
            };
            self.is_done = is_wrong || self.is_at_end || times == LARGEST;
            if end > 0 {
                self.rest.extend_from_slice(buffer.get(end..).unwrap_or_default());
                buffer.truncate(end);
                return Ok(Some(buffer));
            }
        }
        self.rest = buffer;
        Ok(None)
    }

    /// Reads on until there are `size` bytes, or the end.
    fn fill(&mut self, buffer: &mut Vec<u8>, size: usize) -> io::Result<()> {
        while !self.is_at_end && buffer.len() < size {
            let read = (&mut self.reader).take((size - buffer.len()) as u64).read_to_end(buffer)?;
            self.is_at_end = read == 0;
        }
        Ok(())
    }

    /// Reads the records of a chunk one by one. The first is on `line`.
    pub(crate) fn rows_of(&self, chunk: Vec<u8>, line: u64) -> CsvRows {
        let reader = Box::new(io::Cursor::new(chunk));
        CsvRows::resume(self.file.clone(), reader, self.dialect.clone(), self.columns.clone(), line)
    }

    /// Reads the rest one by one. The first record is on `line`.
    pub(crate) fn into_rows(self, line: u64) -> CsvRows {
        let reader = Box::new(io::Cursor::new(self.rest).chain(self.reader));
        CsvRows::resume(self.file, reader, self.dialect, self.columns, line)
    }
}

/// The end of the last whole record of a text that begins with a record.
#[derive(Debug, PartialEq, Eq)]
enum RecordEnd {
    At(usize),
    /// The record that begins here has a quote in a wrong place.
    Wrong(usize),
}

fn record_end(text: &[u8], dialect: &Dialect, is_at_end: bool) -> RecordEnd {
    let line_end = |text: &[u8]| memrchr(b'\n', text).map(|at| at + 1);
    let (mut at, mut end) = (0, 0);
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let quote = if dialect.quotes { memchr(b'"', rest) } else { None };
        let before = rest.get(..quote.unwrap_or(rest.len())).unwrap_or_default();
        end = line_end(before).map_or(end, |of| at + of);
        let Some(quote) = quote.map(|quote| at + quote) else {
            return RecordEnd::At(if is_at_end { text.len() } else { end });
        };
        let before = quote.checked_sub(1).and_then(|before| text.get(before));
        let begins_cell = before.is_none_or(|b| *b == dialect.delimiter || matches!(b, b'\n' | b'\r'));
        if !begins_cell {
            at = quote + 1;
            continue;
        }
        let closing = closing_quote(text, quote);
        match closing.and_then(|closing| text.get(closing + 1)) {
            Some(after) if *after == dialect.delimiter || matches!(after, b'\n' | b'\r') => {}
            Some(_) => return RecordEnd::Wrong(end),
            None if is_at_end && closing.is_some() => return RecordEnd::At(text.len()),
            None if is_at_end => return RecordEnd::Wrong(end),
            None => return RecordEnd::At(end),
        }
        at = closing.unwrap_or(quote) + 1;
    }
}

/// The place of the quote that ends the cell that begins with the quote at `open`: the first that is not doubled.
fn closing_quote(text: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        at += memchr(b'"', text.get(at..)?)?;
        if text.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// The cells of a chunk, record by record.
pub(crate) struct ChunkCells<'c> {
    text: &'c str,
    at: usize,
    dialect: &'c Dialect,
}

/// A cell of a chunk.
pub(crate) struct ChunkCell<'c> {
    /// The text between the quotes, if there are any; a doubled quote is still double.
    pub(crate) text: &'c str,
    pub(crate) form: Form,
    pub(crate) has_quotes: bool,
    pub(crate) ends_record: bool,
}

impl<'c> ChunkCells<'c> {
    pub(crate) fn new(text: &'c str, dialect: &'c Dialect) -> ChunkCells<'c> {
        ChunkCells { text, at: 0, dialect }
    }

    /// Skips a line end at the start of a record. Returns whether there was one.
    pub(crate) fn skip_blank_line(&mut self) -> bool {
        let len = match self.text.as_bytes().get(self.at..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([b'\r' | b'\n', ..]) => 1,
            _ => return false,
        };
        self.at += len;
        true
    }

    /// Whether all records were read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Reads the next cell of a record. `None` if its quotes are wrong.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<ChunkCell<'c>> {
        let bytes = self.text.as_bytes();
        if self.dialect.quotes && bytes.get(self.at) == Some(&b'"') {
            return self.quoted();
        }
        let start = self.at;
        let rest = bytes.get(start..)?;
        let end = memchr3(self.dialect.delimiter, b'\n', b'\r', rest).map_or(bytes.len(), |len| start + len);
        let ends_record = self.end_cell(end)?;
        Some(ChunkCell { text: self.text.get(start..end)?, form: Form::Bare, has_quotes: false, ends_record })
    }

    fn quoted(&mut self) -> Option<ChunkCell<'c>> {
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let end = closing_quote(bytes, start)?;
        let ends_record = self.end_cell(end + 1)?;
        let text = self.text.get(start + 1..end)?;
        let has_quotes = memchr(b'"', text.as_bytes()).is_some();
        Some(ChunkCell { text, form: Form::Quoted, has_quotes, ends_record })
    }

    /// Moves on after the delimiter or line end at `end`. Returns whether the record ends, or `None` if neither is there.
    #[inline]
    fn end_cell(&mut self, end: usize) -> Option<bool> {
        let (len, ends_record) = match self.text.as_bytes().get(end..).unwrap_or_default() {
            [] => (0, true),
            [b, ..] if *b == self.dialect.delimiter => (1, false),
            [b'\r', b'\n', ..] => (2, true),
            [b'\r' | b'\n', ..] => (1, true),
            _ => return None,
        };
        self.at = end + len;
        Some(ends_record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::csv_dialect::Extras;
    use crate::import::header::Header;

    fn dialect() -> Dialect {
        Dialect { delimiter: b',', quotes: true, header: Header::FirstRow, extras: Extras::default() }
    }

    #[test]
    fn records_end_outside_of_quotes() {
        let end = |text: &str| record_end(text.as_bytes(), &dialect(), false);
        assert_eq!(end("a,b\nc,d\ne"), RecordEnd::At(8));
        assert_eq!(end("a,\"b\nc\",d\ne"), RecordEnd::At(10));
        assert_eq!(end("x\na,\"b\nc"), RecordEnd::At(2));
        assert_eq!(end("x\na,\"b\"\"\nc\"\ny"), RecordEnd::At(12));
        // A quote within a cell is text.
        assert_eq!(end("5\",b\nc\"\n"), RecordEnd::At(8));
        // The next byte may double the quote.
        assert_eq!(end("x\n\"b\""), RecordEnd::At(2));
        assert_eq!(end("x\n\"b\"c\ny\n"), RecordEnd::Wrong(2));
        assert_eq!(end("no line end"), RecordEnd::At(0));
    }

    #[test]
    fn the_last_record_ends_with_the_file() {
        let end = |text: &str| record_end(text.as_bytes(), &dialect(), true);
        assert_eq!(end("a\nb"), RecordEnd::At(3));
        assert_eq!(end("a\n\"b\""), RecordEnd::At(5));
        assert_eq!(end("a\n\"b"), RecordEnd::Wrong(2));
        assert_eq!(record_end(b"a\n\"b", &Dialect { quotes: false, ..dialect() }, true), RecordEnd::At(4));
    }
}
