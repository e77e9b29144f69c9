//! Some columns of a few documents: what a page of results shows.

use docvalues_column::{DocId, Field};

use crate::Search;
use crate::error::Result;
use crate::export::{Chunk, ChunkReader};

/// Open columns, and memory that requests use again. Made by [`Search::retriever`].
///
/// Once requests have been as large as they get, only columns that decode into memory of their own allocate. Each thread
/// has one of its own.
///
/// ```
/// # use docvalues_column::{DocId, Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_search::Search;
/// use docvalues_search::export::Cell;
///
/// # let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let source = MemSource::new(3, [(field, ModelColumn::Numeric(vec![Some(512), None, Some(70)]))]);
/// let mut retriever = Search::new(&source).retriever(&["size"])?;
/// let page = retriever.retrieve(&[2, 1].map(DocId::new))?;
/// assert!(matches!(page.row(0).value(0), Cell::Number(70)));
/// assert!(matches!(page.row(1).value(0), Cell::Missing));
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Debug)]
pub struct Retriever {
    reader: ChunkReader,
    chunk: Chunk,
}

impl Search<'_> {
    /// What columns of a few documents are asked for again and again.
    ///
    /// # Errors
    ///
    /// When there is no such column, or the directory is damaged.
    pub fn retriever<S: AsRef<str>>(&self, columns: &[S]) -> Result<Retriever> {
        let reader = ChunkReader::open(self, columns)?;
        Ok(Retriever { chunk: reader.chunk(), reader })
    }
}

impl Retriever {
    /// The columns, in the order in which they were asked for.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &Field> {
        self.reader.fields()
    }

    /// What was retrieved last.
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// The values of `docs`, in any order and with repeats: a row for each. One that the source does not have has none.
    ///
    /// However many there are, their values are in memory together: [`Export`](crate::export::Export) is for many.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged. What [`chunk`](Self::chunk) then has is unspecified.
    pub fn retrieve(&mut self, docs: &[DocId]) -> Result<&Chunk> {
        self.chunk.ask(docs);
        self.reader.fill(&mut self.chunk, usize::MAX)?;
        Ok(&self.chunk)
    }
}
