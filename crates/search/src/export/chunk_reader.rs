//! Reading of documents into chunks.

use std::sync::Arc;

use docvalues_column::{Column, ColumnInfo, ColumnSource, DocId, Field, Kind};

use super::chunk::Chunk;
use super::chunk_buffer::{Allowance, ChunkBuffer};
use super::dedup::{Dedup, NOWHERE};
use crate::Search;
use crate::error::Result;
use crate::interrupt::Interrupt;

/// Open columns, and the buffers to read chunks.
pub(crate) struct ChunkReader {
    columns: Vec<Arc<dyn Column>>,
    /// The number of documents in the source.
    total: u32,
    stop: Interrupt,
    /// The documents of a chunk in file order, for columns that are read in that order.
    distinct: Dedup<DocId>,
}

impl std::fmt::Debug for ChunkReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.fields().map(|field| &field.name)).finish()
    }
}

impl ChunkReader {
    pub(crate) fn open<S: AsRef<str>>(search: &Search<'_>, names: &[S]) -> Result<ChunkReader> {
        let columns = names.iter().map(|name| search.column(name.as_ref()));
        Ok(ChunkReader {
            columns: columns.collect::<Result<_, _>>()?,
            total: search.docs(),
            stop: search.stop.clone(),
            distinct: Dedup::default(),
        })
    }

    pub(crate) fn columns(&self) -> impl ExactSizeIterator<Item = &ColumnInfo> {
        self.columns.iter().map(|column| column.info())
    }

    /// The fields of the columns.
    pub(crate) fn fields(&self) -> impl ExactSizeIterator<Item = &Field> {
        self.columns().map(|info| &info.field)
    }

    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// An empty chunk.
    pub(crate) fn chunk(&self) -> Chunk {
        Chunk {
            docs: Vec::new(),
            columns: self.columns.iter().map(|column| ChunkBuffer::new(column.info().kind())).collect(),
        }
    }

    /// Reads the values of the chunk's documents. Returns the bytes of its strings and lists, or `None` if these
    /// exceed `most`; the chunk is then invalid.
    pub(crate) fn fill(&mut self, chunk: &mut Chunk, most: usize) -> Result<Option<usize>> {
        let Chunk { docs, columns } = chunk;
        if self.columns.iter().any(|column| !matches!(column.info().kind(), Kind::Numeric | Kind::Sorted)) {
            let known = |doc: &DocId| if doc.get() < self.total { doc.get() } else { NOWHERE };
            self.distinct.find(docs.iter().map(known), DocId::new);
        }
        let mut memory = Allowance(most);
        for (filled, column) in columns.iter_mut().zip(&self.columns) {
            self.stop.check()?;
            if !filled.fill(&**column, docs, &self.distinct, &mut memory)? {
                return Ok(None);
            }
        }
        Ok(Some(most - memory.0))
    }
}
