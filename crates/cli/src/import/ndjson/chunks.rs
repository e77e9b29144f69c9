//! Chunks of NDJSON: whole lines, to be converted side by side.

use std::io::{self, Read as _};

use memchr::memrchr;

use super::NdjsonRows;
use crate::import::chunk_reader::{ChunkReader, RecordEnd};
use crate::import::error::{InputError, Result};

/// The bytes of a chunk for each of the columns, which every chunk has.
const COLUMN: usize = 256;

/// The number of columns that even a small chunk may have.
const FEW_COLUMNS: usize = 16;

/// The rest of a file of lines, in chunks.
pub(crate) struct NdjsonChunks {
    /// The reader of the rest of the file.
    rows: NdjsonRows,
    chunks: ChunkReader,
}

impl NdjsonChunks {
    /// The lines that `rows` has not read, in chunks of `size` bytes.
    pub(crate) fn after(rows: NdjsonRows, size: usize) -> NdjsonChunks {
        NdjsonChunks { rows, chunks: ChunkReader::new(Vec::new(), size) }
    }

    /// Reads the next chunk into `buffer`. Returns `None` at the end of the file, and before a line that is too large for a
    /// chunk.
    pub(crate) fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Vec<u8>>> {
        let chunk = self.chunks.next(&mut *self.rows.reader, buffer, lines_end);
        chunk.map_err(|e| InputError::unreadable(&self.rows.file, e))
    }

    /// The most columns that chunks may have. With more, lines are read one by one, so that lines with a new key each cost
    /// no chunk of all columns.
    pub(crate) fn most_columns(&self) -> usize {
        FEW_COLUMNS.max(self.chunks.size / COLUMN)
    }

    /// The line on which the first chunk begins, from 1.
    pub(crate) fn next_line(&self) -> u64 {
        self.rows.line + 1
    }

    /// Reads the lines of a chunk one by one. The first is `line`.
    pub(crate) fn rows_of(&self, chunk: Vec<u8>, line: u64) -> NdjsonRows {
        let reader = Box::new(io::Cursor::new(chunk));
        NdjsonRows::of_lines(&self.rows.file, reader, &self.rows.exclude, line)
    }

    /// Reads the rest line by line. The first line is `line`.
    pub(crate) fn into_rows(self, line: u64) -> NdjsonRows {
        let NdjsonRows { file, reader, exclude, .. } = self.rows;
        let reader = Box::new(io::Cursor::new(self.chunks.into_rest()).chain(reader));
        NdjsonRows::of_lines(&file, reader, &exclude, line)
    }
}

/// The end of the last whole line.
fn lines_end(text: &[u8], is_at_end: bool) -> RecordEnd {
    let end = memrchr(b'\n', text).map_or(0, |at| at + 1);
    RecordEnd::At(if is_at_end { text.len() } else { end })
}
