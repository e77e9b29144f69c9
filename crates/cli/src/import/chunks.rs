//! Chunks of CSV, converted to batches on several threads, and added in order.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rayon::ThreadPoolBuilder;

use super::column::{Column, MissingTokens};
use super::csv::chunks::CsvChunks;
use super::csv::rows::CsvRows;
use super::csv::tokens::{Token, Tokenizer, line_end};
use super::error::InputError;
use super::open_input::Rows;
use super::parse_cell::Stored;
use super::row::{FieldId, Form};
use super::row_batch::{BatchColumn, RowBatch};
use super::source::Source;
use super::{Import, Imported};

/// The size of a chunk, in bytes, unless memory is scarce.
const CHUNK: usize = 512 << 10;

impl Import {
    /// The size of the chunks in which `rows` are converted; `None` if they are converted one by one.
    pub(super) fn chunk_size(&self, rows: &CsvRows) -> Option<usize> {
        self.options.chunk_threads?;
        let is_simple = |field: &FieldId| {
            let column = self.columns.get(field.index());
            column.is_some_and(|column| column.excluded || column.ty.is_some_and(|ty| !ty.multi))
        };
        (rows.is_plain() && rows.columns.iter().all(is_simple))
            .then(|| CHUNK.min(self.options.batch_bytes).max(1))
    }

    /// Converts the rest of a file in chunks.
    pub(super) fn add_chunks<E: From<InputError>>(
        &mut self,
        source: &Source,
        mut chunks: CsvChunks,
        sink: &mut impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (tokenizer, missing) = (chunks.rows.dialect.tokenizer(), self.options.missing.clone());
        let indexes = chunks.rows.columns.iter().map(|field| field.index()).collect();
        let converter = &Converter { indexes, tokenizer, missing: &missing };
        let convert = move |mut chunk: Chunk, done: SyncSender<Chunk>| {
            converter.convert(&mut chunk);
            // After an error, nobody waits for it.
            let _ = done.send(chunk);
        };
        let threads = self.options.chunk_threads.unwrap_or(1);
        // If threads cannot be started, this one converts.
        let pool =
            if threads > 1 { ThreadPoolBuilder::new().num_threads(threads).build().ok() } else { None };
        let line = match pool {
            Some(pool) => pool.in_place_scope(|scope| {
                let spawn = |chunk, done| scope.spawn(move |_| convert(chunk, done));
                self.convert_chunks(source, &mut chunks, (2 * threads, spawn), sink)
            }),
            None => self.convert_chunks(source, &mut chunks, (2, convert), sink),
        }?;
        self.add_text_rows(source, &mut Rows::Csv(chunks.into_rows(line)), sink)
    }

    /// Converts chunks by `convert`, up to `most` at a time, and adds them in order. Returns the line after them.
    fn convert_chunks<E: From<InputError>>(
        &mut self,
        source: &Source,
        chunks: &mut CsvChunks,
        (most, convert): (usize, impl Fn(Chunk, SyncSender<Chunk>)),
        sink: &mut impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut line = chunks.rows.next_line;
        let (mut waiting, mut spare) = (VecDeque::<Receiver<Chunk>>::new(), Vec::new());
        loop {
            while waiting.len() < most {
                let mut chunk = spare.pop().unwrap_or_else(|| Chunk::new(&self.columns));
                let Some(text) = chunks.next(std::mem::take(&mut chunk.text))? else { break };
                let (done, converted) = sync_channel(1);
                waiting.push_back(converted);
                convert(Chunk { text, ..chunk }, done);
            }
            // Nothing comes from a thread that panicked, which the scope propagates.
            let next = waiting.pop_front().and_then(|converted| converted.recv().ok());
            let Some(mut chunk) = next else { return Ok(line) };
            let next_line = line + chunk.lines;
            if chunk.is_converted {
                self.add_chunk(&mut chunk, sink)?;
                spare.push(chunk);
            } else {
                // Finds the place of the mistake.
                let rows = chunks.rows_of(chunk.text, line);
                self.add_text_rows(source, &mut Rows::Csv(rows), sink)?;
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
}

/// A chunk with its converted rows. It is used again for a later one.
struct Chunk {
    text: Vec<u8>,
    /// The columns, with the formats of the chunk's values.
    columns: Vec<Column>,
    batch: RowBatch,
    /// The number of lines.
    lines: u64,
    /// Whether all rows were converted.
    is_converted: bool,
}

impl Chunk {
    fn new(columns: &[Column]) -> Chunk {
        let columns = columns.iter().map(Column::unobserved).collect();
        Chunk { text: Vec::new(), columns, batch: RowBatch::default(), lines: 0, is_converted: false }
    }
}

/// The conversion of the chunks of a file.
struct Converter<'c> {
    /// The index of each column of the file.
    indexes: Vec<usize>,
    tokenizer: Tokenizer,
    missing: &'c MissingTokens,
}

impl Converter<'_> {
    fn convert(&self, chunk: &mut Chunk) {
        let Chunk { text, columns, batch, lines, is_converted } = chunk;
        *lines = memchr::memchr_iter(b'\n', text).count() as u64;
        batch.clear(columns.len());
        let converted = std::str::from_utf8(text).ok().and_then(|text| self.rows(text, columns, batch));
        *is_converted = converted.is_some();
    }

    /// Converts all rows; `None` if one of them has a mistake.
    fn rows(&self, text: &str, columns: &mut [Column], batch: &mut RowBatch) -> Option<()> {
        let (bytes, mut at) = (text.as_bytes(), 0);
        while at < bytes.len() {
            // With one column, a blank line is a row with an empty cell.
            let blank = if self.indexes.len() > 1 { line_end(bytes, at) } else { 0 };
            if blank > 0 {
                at += blank;
                continue;
            }
            let mut indexes = self.indexes.iter();
            loop {
                let Token::Cell(cell) = self.tokenizer.cell_at(bytes, at) else { return None };
                at = cell.end;
                let index = *indexes.next()?;
                let column = columns.get_mut(index)?;
                if !column.excluded {
                    let text = self.tokenizer.text(text.get(cell.text.clone())?, &cell);
                    self.cell(cell.form, &text, column, batch.docs, batch.columns.get_mut(index)?)?;
                }
                if cell.ends_record {
                    break;
                }
            }
            if indexes.next().is_some() {
                return None;
            }
            batch.docs += 1;
        }
        Some(())
    }

    /// Converts a cell; `None` if it is no value of its column.
    #[inline]
    fn cell(
        &self,
        form: Form,
        text: &str,
        column: &mut Column,
        row: u32,
        values: &mut BatchColumn,
    ) -> Option<()> {
        let ty = column.ty?;
        let value = match column.missing(form, text, self.missing) {
            Some(missing) => {
                column.observe_missing(missing);
                None
            }
            None => {
                let (stored, mark) = column.cell_parser(ty).read(form, text, &mut values.bytes).ok()?;
                column.observe(mark);
                if let Stored::Number(stored) = stored {
                    column.observe_spelling(stored, mark, text);
                }
                column.documents += 1;
                Some(stored)
            }
        };
        values.push(row, value, ty.logical.is_bytes());
        Some(())
    }
}
