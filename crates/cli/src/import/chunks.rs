//! Chunks of text files, converted to batches on several threads, and added in order.
//!
//! A converter gives up at the first row that is out of the ordinary, such as one with a mistake, an array where one value
//! is expected, or a field that is new. Then the rows of its chunk are converted one by one, which finds the place of
//! mistakes, and adds fields.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rayon::ThreadPoolBuilder;

use super::chunk_reader::{CHUNK, ChunkReader};
use super::column::Column;
use super::csv::converter::CsvConverter;
use super::csv::record_end::record_end;
use super::csv::rows::CsvRows;
use super::csv::tokens::Tokenizer;
use super::error::{InputError, Result};
use super::ndjson::converter::NdjsonConverter;
use super::open_input::Rows;
use super::row::FieldId;
use super::row_batch::RowBatch;
use super::source::Source;
use super::{Import, Imported};

/// The tokenizer of lines, which are the records of NDJSON.
const LINES: Tokenizer = Tokenizer { quotes: false, ..Tokenizer::COMMAS };

/// The bytes of a chunk of NDJSON for each of the columns, which every chunk has.
const COLUMN: usize = 256;

/// The number of columns that even a small chunk of NDJSON may have.
const FEW_COLUMNS: usize = 16;

impl Import {
    /// Converts the rows of a text file, in chunks if possible.
    pub(super) fn add_text_file<E: From<InputError>>(
        &mut self,
        source: &Source,
        mut rows: Rows,
        sink: &mut impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(threads) = self.options.chunk_threads else {
            return self.add_text_rows(source, &mut rows, |_| false, sink);
        };
        let are_lines = |rows: &Rows| matches!(rows, Rows::Ndjson(rows) if rows.are_lines());
        if let Rows::Ndjson(_) = &rows {
            // The first rows tell whether there is one a line.
            self.add_text_rows(source, &mut rows, are_lines, sink)?;
        }
        let size = CHUNK.min(self.options.batch_bytes).max(1);
        let have_chunks = match &rows {
            Rows::Csv(rows) => self.are_simple(rows),
            Rows::Ndjson(_) => are_lines(&rows),
        };
        match rows {
            rows if have_chunks => self.add_chunks(source, Chunks::after(rows, size), threads, sink),
            // It has been read.
            Rows::Ndjson(_) => Ok(()),
            Rows::Csv(_) => self.add_text_rows(source, &mut rows, |_| false, sink),
        }
    }

    /// Whether CSV has one value a cell, of a known type.
    fn are_simple(&self, rows: &CsvRows) -> bool {
        let is_simple = |field: &FieldId| {
            let column = self.columns.get(field.index());
            column.is_some_and(|column| column.excluded || column.ty.is_some_and(|ty| !ty.multi))
        };
        rows.is_plain() && rows.columns.iter().all(is_simple)
    }

    /// Converts the rest of a file in chunks.
    fn add_chunks<E: From<InputError>>(
        &mut self,
        source: &Source,
        mut chunks: Chunks,
        threads: usize,
        sink: &mut impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // If threads cannot be started, this one converts.
        let pool =
            if threads > 1 { ThreadPoolBuilder::new().num_threads(threads).build().ok() } else { None };
        let line = match pool {
            Some(pool) => pool.in_place_scope(|scope| {
                let spawn =
                    |chunk: Chunk, done: SyncSender<Chunk>| scope.spawn(move |_| convert(chunk, &done));
                // More than threads, so that these go on while the sink writes values to the disk.
                let most = (2 * threads).max(self.options.batch_bytes / CHUNK);
                self.convert_chunks(source, &mut chunks, (most, spawn), sink)
            }),
            None => {
                let here = |chunk: Chunk, done: SyncSender<Chunk>| convert(chunk, &done);
                self.convert_chunks(source, &mut chunks, (2, here), sink)
            }
        }?;
        self.add_text_rows(source, &mut chunks.into_rows(line), |_| false, sink)
    }

    /// Converts chunks by `convert`, up to `most` at a time, and adds them in order. Returns the line after them.
    fn convert_chunks<E: From<InputError>>(
        &mut self,
        source: &Source,
        chunks: &mut Chunks,
        (most, convert): (usize, impl Fn(Chunk, SyncSender<Chunk>)),
        sink: &mut impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut line = chunks.next_line();
        let mut converter = Arc::new(chunks.converter(self));
        let (mut waiting, mut spare) = (VecDeque::<Receiver<Chunk>>::new(), Vec::new());
        let mut read = Ok(());
        loop {
            while waiting.len() < most && read.is_ok() && self.columns.len() <= chunks.most_columns() {
                let mut chunk = spare.pop().unwrap_or_else(|| Chunk::new(&self.columns, &converter));
                let text = match chunks.next(std::mem::take(&mut chunk.text)) {
                    Ok(Some(text)) => text,
                    Ok(None) => break,
                    // Mistakes in the chunks before it come first, whatever the number of threads.
                    Err(error) => {
                        read = Err(error);
                        break;
                    }
                };
                let (done, converted) = sync_channel(1);
                waiting.push_back(converted);
                convert(Chunk { text, ..chunk }, done);
            }
            // Nothing comes from a thread that panicked, which the scope propagates.
            let next = waiting.pop_front().and_then(|converted| converted.recv().ok());
            let Some(mut chunk) = next else { return Ok(read.map(|()| line)?) };
            let next_line = line + chunk.lines;
            if chunk.is_converted {
                self.add_chunk(&mut chunk, sink)?;
                if Arc::ptr_eq(&chunk.converter, &converter) {
                    spare.push(chunk);
                }
            } else {
                let known = self.known();
                let mut rows = chunks.rows.again(Box::new(Cursor::new(chunk.text)), line);
                self.add_text_rows(source, &mut rows, |_| false, sink)?;
                if self.known() != known {
                    converter = Arc::new(chunks.converter(self));
                    spare.clear();
                }
            }
            line = next_line;
        }
    }

    /// Adds the rows of a converted chunk.
    fn add_chunk<E>(
        &mut self,
        chunk: &mut Chunk,
        sink: &mut impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.documents += u64::from(chunk.batch.docs);
        for (column, of_chunk) in self.columns.iter_mut().zip(&mut chunk.columns) {
            column.absorb(of_chunk);
        }
        if chunk.batch.docs == 0 { Ok(()) } else { sink(self, Imported::Batch(&chunk.batch)) }
    }

    /// The numbers of paths, columns and types, which grow with what a converter can convert.
    fn known(&self) -> [usize; 3] {
        let typed = self.columns.iter().filter(|column| column.ty.is_some());
        [self.fields.paths().count(), self.columns.len(), typed.count()]
    }
}

/// The rest of a text file, in chunks of whole rows.
pub(super) struct Chunks {
    /// The reader of the rest. Its next line stays that of the first chunk.
    rows: Rows,
    reader: ChunkReader,
}

impl Chunks {
    /// The rows that `rows` has not read, in chunks of `size` bytes.
    pub(super) fn after(rows: Rows, size: usize) -> Chunks {
        let unread = match &rows {
            Rows::Csv(rows) => rows.unread().to_vec(),
            Rows::Ndjson(_) => Vec::new(),
        };
        Chunks { rows, reader: ChunkReader::new(unread, size) }
    }

    /// Reads the next chunk into `buffer`. Returns `None` at the end of the file, and before a row that is too large for a
    /// chunk, or has a quote in a wrong place.
    fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Vec<u8>>> {
        let tokenizer = match &self.rows {
            Rows::Csv(rows) => rows.dialect.tokenizer(),
            Rows::Ndjson(_) => LINES,
        };
        let (file, reader) = self.rows.reader();
        let end = |text: &[u8], is_at_end| record_end(text, tokenizer, is_at_end);
        let chunk = self.reader.next(&mut **reader, buffer, end);
        chunk.map_err(|error| InputError::unreadable(file, error))
    }

    /// The most columns that chunks may have, as each has its own. With more, NDJSON is read row by row, so that lines with a
    /// new key each cost no chunk of all columns. A row of CSV names all columns.
    fn most_columns(&self) -> usize {
        match &self.rows {
            Rows::Csv(_) => usize::MAX,
            Rows::Ndjson(_) => FEW_COLUMNS.max(self.reader.size / COLUMN),
        }
    }

    /// The line on which the first chunk begins, from 1.
    fn next_line(&self) -> u64 {
        match &self.rows {
            Rows::Csv(rows) => rows.next_line,
            Rows::Ndjson(rows) => rows.line + 1,
        }
    }

    /// The conversion of rows with the fields and types that are known now.
    fn converter(&self, import: &Import) -> Converter {
        match &self.rows {
            Rows::Csv(rows) => Converter::Csv(CsvConverter::new(rows, &import.options.missing)),
            Rows::Ndjson(_) => Converter::Ndjson(NdjsonConverter::new(&import.fields)),
        }
    }

    /// Reads the rest row by row. The first row is on `line`.
    pub(super) fn into_rows(mut self, line: u64) -> Rows {
        let (_, reader) = self.rows.reader();
        let reader = std::mem::replace(reader, Box::new(io::empty()));
        self.rows.again(Box::new(Cursor::new(self.reader.into_rest()).chain(reader)), line)
    }
}

/// The conversion of the chunks of a file.
enum Converter {
    Csv(CsvConverter),
    Ndjson(NdjsonConverter),
}

/// A chunk with its converted rows. It is used again for a later one.
struct Chunk {
    text: Vec<u8>,
    converter: Arc<Converter>,
    /// The columns, with the formats of the chunk's values.
    columns: Vec<Column>,
    batch: RowBatch,
    /// The number of lines.
    lines: u64,
    /// Whether all rows were converted.
    is_converted: bool,
}

impl Chunk {
    fn new(columns: &[Column], converter: &Arc<Converter>) -> Chunk {
        Chunk {
            text: Vec::new(),
            converter: Arc::clone(converter),
            columns: columns.iter().map(Column::unobserved).collect(),
            batch: RowBatch::default(),
            lines: 0,
            is_converted: false,
        }
    }
}

/// Converts a chunk and returns it to whoever waits for it.
fn convert(mut chunk: Chunk, done: &SyncSender<Chunk>) {
    let Chunk { text, converter, columns, batch, lines, is_converted } = &mut chunk;
    batch.clear(columns.len());
    let converted = std::str::from_utf8(text).ok().and_then(|text| match &**converter {
        Converter::Csv(converter) => converter.rows(text, columns, batch).map(|()| None),
        Converter::Ndjson(converter) => converter.rows(text, columns, batch).map(Some),
    });
    *is_converted = converted.is_some();
    *lines = converted.flatten().unwrap_or_else(|| memchr::memchr_iter(b'\n', text).count() as u64);
    // After an error, nobody waits for it.
    let _ = done.send(chunk);
}
