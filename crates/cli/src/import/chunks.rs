//! Chunks of text files, converted to batches on several threads, and added in order.
//!
//! A converter gives up at the first row that is out of the ordinary, such as one with a mistake, an array where one value
//! is expected, or a field that is new. Then the rows of its chunk are converted one by one, which finds the place of
//! mistakes, and adds fields.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rayon::ThreadPoolBuilder;

use super::chunk_reader::CHUNK;
use super::column::Column;
use super::csv::chunks::CsvChunks;
use super::csv::converter::CsvConverter;
use super::csv::rows::CsvRows;
use super::error::{InputError, Result};
use super::ndjson::chunks::NdjsonChunks;
use super::ndjson::converter::NdjsonConverter;
use super::open_input::Rows;
use super::row::FieldId;
use super::row_batch::RowBatch;
use super::source::Source;
use super::{Import, Imported};

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
        if let Rows::Ndjson(_) = &rows {
            // The first rows tell whether there is one a line.
            self.add_text_rows(source, &mut rows, Rows::are_json_lines, sink)?;
        }
        let size = CHUNK.min(self.options.batch_bytes).max(1);
        match rows {
            Rows::Ndjson(rows) if rows.are_lines() => {
                self.add_chunks(source, Chunks::Ndjson(NdjsonChunks::after(rows, size)), threads, sink)
            }
            // It has been read.
            Rows::Ndjson(_) => Ok(()),
            Rows::Csv(rows) if self.are_simple(&rows) => {
                self.add_chunks(source, Chunks::Csv(CsvChunks::after(rows, size)), threads, sink)
            }
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
                self.add_text_rows(source, &mut chunks.rows_of(chunk.text, line), |_| false, sink)?;
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

/// The rest of a file, in chunks.
enum Chunks {
    Csv(CsvChunks),
    Ndjson(NdjsonChunks),
}

impl Chunks {
    /// Reads the next chunk into `buffer`. Returns `None` at the end of the file, and before rows that are to be read one by
    /// one.
    fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Vec<u8>>> {
        match self {
            Chunks::Csv(chunks) => chunks.next(buffer),
            Chunks::Ndjson(chunks) => chunks.next(buffer),
        }
    }

    /// The most columns that chunks may have, as each has its own. More than so many are read one by one.
    fn most_columns(&self) -> usize {
        match self {
            // A row names all columns.
            Chunks::Csv(_) => usize::MAX,
            Chunks::Ndjson(chunks) => chunks.most_columns(),
        }
    }

    /// The line on which the first chunk begins, from 1.
    fn next_line(&self) -> u64 {
        match self {
            Chunks::Csv(chunks) => chunks.rows.next_line,
            Chunks::Ndjson(chunks) => chunks.next_line(),
        }
    }

    /// The conversion of rows with the fields and types that are known now.
    fn converter(&self, import: &Import) -> Converter {
        match self {
            Chunks::Csv(chunks) => Converter::Csv(CsvConverter::new(chunks, &import.options.missing)),
            Chunks::Ndjson(_) => Converter::Ndjson(NdjsonConverter::new(&import.fields)),
        }
    }

    /// Reads the rows of a chunk one by one. The first is on `line`.
    fn rows_of(&self, chunk: Vec<u8>, line: u64) -> Rows {
        match self {
            Chunks::Csv(chunks) => Rows::Csv(chunks.rows_of(chunk, line)),
            Chunks::Ndjson(chunks) => Rows::Ndjson(chunks.rows_of(chunk, line)),
        }
    }

    /// Reads the rest one by one. The first row is on `line`.
    fn into_rows(self, line: u64) -> Rows {
        match self {
            Chunks::Csv(chunks) => Rows::Csv(chunks.into_rows(line)),
            Chunks::Ndjson(chunks) => Rows::Ndjson(chunks.into_rows(line)),
        }
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
    *lines = memchr::memchr_iter(b'\n', text).count() as u64;
    batch.clear(columns.len());
    let converted = std::str::from_utf8(text).ok().and_then(|text| match &**converter {
        Converter::Csv(converter) => converter.rows(text, columns, batch),
        Converter::Ndjson(converter) => converter.rows(text, columns, batch),
    });
    *is_converted = converted.is_some();
    // After an error, nobody waits for it.
    let _ = done.send(chunk);
}
