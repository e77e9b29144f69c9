//! Reading of documents into chunks.

use std::sync::Arc;

use docvalues_column::{ColumnInfo, DocAddress, DocId, Field, Kind};

use super::chunk::Chunk;
use super::chunk_buffer::ChunkBuffer;
use crate::engine::dedup::{Dedup, NOWHERE};
use crate::engine::{ColumnSet, Interrupt, Search};
use crate::error::Result;

/// Open columns, and the buffers to read chunks.
pub(crate) struct ChunkReader {
    columns: Vec<Arc<ColumnSet>>,
    /// The number of documents in each part.
    totals: Vec<u32>,
    stop: Interrupt,
    /// The documents of one part.
    docs: Vec<DocId>,
    /// These in file order, for columns that are read in that order.
    distinct: Dedup<DocId>,
    /// The rows of a chunk by part, and buffers for the columns of one part; used if there are several.
    rows: Vec<(u32, u32)>,
    part: Vec<ChunkBuffer>,
}

impl std::fmt::Debug for ChunkReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.fields().map(|field| &field.name)).finish()
    }
}

impl ChunkReader {
    pub(crate) fn open<S: AsRef<str>>(search: &Search<'_>, names: &[S]) -> Result<ChunkReader> {
        let columns = names.iter().map(|name| search.column_set(name.as_ref()));
        Ok(ChunkReader {
            columns: columns.collect::<Result<_>>()?,
            totals: search.parts.iter().map(|part| part.source.docs()).collect(),
            stop: search.stop.clone(),
            docs: Vec::new(),
            distinct: Dedup::default(),
            rows: Vec::new(),
            part: Vec::new(),
        })
    }

    pub(crate) fn columns(&self) -> impl ExactSizeIterator<Item = &ColumnInfo> {
        self.columns.iter().map(|column| column.info())
    }

    /// The fields of the columns.
    pub(crate) fn fields(&self) -> impl ExactSizeIterator<Item = &Field> {
        self.columns().map(|info| &info.field)
    }

    /// The number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.totals.len()
    }

    /// The number of documents in a part; 0 if there is no such part.
    pub(crate) fn total(&self, part: usize) -> u32 {
        self.totals.get(part).copied().unwrap_or(0)
    }

    /// An empty chunk.
    pub(crate) fn chunk(&self) -> Chunk {
        Chunk { docs: Vec::new(), columns: self.buffers(), fields: self.fields().cloned().collect() }
    }

    fn buffers(&self) -> Vec<ChunkBuffer> {
        self.columns().map(|info| ChunkBuffer::new(info.kind())).collect()
    }

    /// Reads the values of the chunk's documents. Returns false if its strings and lists take more bytes than `memory`;
    /// the chunk is then invalid.
    pub(crate) fn fill(&mut self, chunk: &mut Chunk, mut memory: usize) -> Result<bool> {
        let Chunk { docs, columns, .. } = chunk;
        let part = docs.first().map_or(0, |doc| doc.part);
        if docs.iter().all(|doc| doc.part == part) && (part as usize) < self.parts() {
            self.docs.clear();
            self.docs.extend(docs.iter().map(|doc| doc.doc));
            let filled = self.fill_part(part as usize, columns, &mut memory);
            filled.map_err(|error| error.in_part(part as usize, self.parts()))
        } else {
            self.fill_parts(docs, columns, &mut memory)
        }
    }

    /// Reads documents of several parts, and of none, part by part.
    fn fill_parts(
        &mut self,
        docs: &[DocAddress],
        columns: &mut [ChunkBuffer],
        memory: &mut usize,
    ) -> Result<bool> {
        columns.iter_mut().for_each(|column| column.begin(docs.len()));
        let mut buffers = std::mem::take(&mut self.part);
        if buffers.len() != columns.len() {
            buffers = self.buffers();
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        rows.extend(docs.iter().zip(0..).map(|(doc, row)| (doc.part, row)));
        rows.sort_unstable();
        let mut fits = true;
        for of_part in rows.chunk_by(|a, b| a.0 == b.0) {
            let (part, places) =
                (of_part[0].0 as usize, of_part.iter().map(|(_, row)| *row).collect::<Vec<_>>());
            if part >= self.parts() {
                columns.iter_mut().for_each(|column| column.leave_out(&places));
                continue;
            }
            self.docs.clear();
            self.docs.extend(places.iter().map(|row| docs[*row as usize].doc));
            let filled = self.fill_part(part, &mut buffers, memory);
            fits = filled.map_err(|error| error.in_part(part, self.parts()))?;
            if !fits {
                break;
            }
            columns.iter_mut().zip(&buffers).for_each(|(column, from)| column.append(from, &places));
        }
        (self.part, self.rows) = (buffers, rows);
        Ok(fits)
    }

    /// Reads the documents of `self.docs`, which are of one part.
    fn fill_part(&mut self, part: usize, buffers: &mut [ChunkBuffer], memory: &mut usize) -> Result<bool> {
        if self.columns().any(|info| !matches!(info.kind(), Kind::Numeric | Kind::Sorted)) {
            let total = self.total(part);
            let known = |doc: &DocId| if doc.get() < total { doc.get() } else { NOWHERE };
            self.distinct.find(self.docs.iter().map(known), DocId::new);
        }
        for (buffer, column) in buffers.iter_mut().zip(&self.columns) {
            self.stop.check()?;
            if !buffer.fill(&*column.parts[part], &self.docs, &self.distinct, memory)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
