//! Chunks of CSV: whole records, to be converted side by side.
//!
//! A quote may hide a line end, so the reader follows the quoted cells to find where records end. Where quotes are wrong,
//! the rest of the file is read record by record, which finds the place of the mistake.

use std::io::{self, Read as _};

use memchr::{memchr, memrchr};

use super::rows::CsvRows;
use super::tokens::{Token, Tokenizer};
use crate::import::chunk_reader::{ChunkReader, RecordEnd};
use crate::import::error::{InputError, Result};

/// The rest of a CSV file, in chunks.
pub(crate) struct CsvChunks {
    /// The reader of the rest of the file. Its next line stays that of the first chunk.
    pub(crate) rows: CsvRows,
    chunks: ChunkReader,
}

impl CsvChunks {
    /// The records that `rows` has not read, in chunks of `size` bytes.
    pub(crate) fn after(rows: CsvRows, size: usize) -> CsvChunks {
        let rest = rows.lines.get(rows.record.end..).unwrap_or_default().to_vec();
        CsvChunks { rows, chunks: ChunkReader::new(rest, size) }
    }

    /// Reads the next chunk into `buffer`. Returns `None` at the end of the file, and before a record that does not end as
    /// it should or is too large for a chunk.
    pub(crate) fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Vec<u8>>> {
        let tokenizer = self.rows.dialect.tokenizer();
        let end = |text: &[u8], is_at_end| record_end(text, tokenizer, is_at_end);
        let chunk = self.chunks.next(&mut *self.rows.reader, buffer, end);
        chunk.map_err(|e| InputError::unreadable(&self.rows.file, e))
    }

    /// Reads the records of a chunk one by one. The first is on `line`.
    pub(crate) fn rows_of(&self, chunk: Vec<u8>, line: u64) -> CsvRows {
        let CsvRows { file, dialect, columns, .. } = &self.rows;
        let reader = Box::new(io::Cursor::new(chunk));
        CsvRows::new(file.clone(), reader, dialect.clone(), columns.clone(), line)
    }

    /// Reads the rest one by one. The first record is on `line`.
    pub(crate) fn into_rows(self, line: u64) -> CsvRows {
        let CsvRows { file, reader, dialect, columns, .. } = self.rows;
        let reader = Box::new(io::Cursor::new(self.chunks.into_rest()).chain(reader));
        CsvRows::new(file, reader, dialect, columns, line)
    }
}

/// The end of the last whole record; wrong is one with a quote in a wrong place.
fn record_end(text: &[u8], tokenizer: Tokenizer, is_at_end: bool) -> RecordEnd {
    let line_end = |text: &[u8]| memrchr(b'\n', text).map(|at| at + 1);
    let (mut at, mut end) = (0, 0);
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let quote = if tokenizer.quotes { memchr(b'"', rest) } else { None };
        let before = rest.get(..quote.unwrap_or(rest.len())).unwrap_or_default();
        end = line_end(before).map_or(end, |of| at + of);
        let Some(quote) = quote.map(|quote| at + quote) else {
            return RecordEnd::At(if is_at_end { text.len() } else { end });
        };
        let before = quote.checked_sub(1).and_then(|before| text.get(before));
        let begins_cell = before.is_none_or(|b| *b == tokenizer.delimiter || matches!(b, b'\n' | b'\r'));
        if !begins_cell {
            at = quote + 1;
            continue;
        }
        match tokenizer.cell_at(text, quote) {
            // The next byte may double the quote.
            Token::Cell(cell) if cell.text.end + 1 == text.len() && !is_at_end => return RecordEnd::At(end),
            Token::Cell(cell) => at = cell.text.end + 1,
            Token::Open(_) if !is_at_end => return RecordEnd::At(end),
            Token::Open(_) | Token::AfterQuote(_) => return RecordEnd::Wrong(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMA: Tokenizer = Tokenizer { delimiter: b',', quotes: true, escape: None };

    #[test]
    fn records_end_outside_of_quotes() {
        let end = |text: &str| record_end(text.as_bytes(), COMMA, false);
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
        let end = |text: &str| record_end(text.as_bytes(), COMMA, true);
        assert_eq!(end("a\nb"), RecordEnd::At(3));
        assert_eq!(end("a\n\"b\""), RecordEnd::At(5));
        assert_eq!(end("a\n\"b"), RecordEnd::Wrong(2));
        assert_eq!(record_end(b"a\n\"b", Tokenizer { quotes: false, ..COMMA }, true), RecordEnd::At(4));
    }
}
