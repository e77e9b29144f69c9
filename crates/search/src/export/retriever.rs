//! [`Retriever`]: the values of a few documents, as for a page of results.

use docvalues_column::{DocAddress, Field};

use super::chunk::Chunk;
use super::chunk_reader::ChunkReader;
use crate::engine::Search;
use crate::error::Result;

/// Open columns and reusable buffers for repeated retrieval. Made by [`Search::retriever`].
///
/// Once its buffers have grown to the largest request, only columns that decode into memory of their own allocate.
/// Give each thread its own retriever.
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

impl Retriever {
    pub(super) fn open<S: AsRef<str>>(search: &Search<'_>, columns: &[S]) -> Result<Retriever> {
        let reader = ChunkReader::open(search, columns)?;
        Ok(Retriever { chunk: reader.chunk(), reader })
    }

    /// The columns, in the order of the request.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &Field> {
        self.reader.fields()
    }

    /// The result of the last retrieval.
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// The rows of the last retrieval, without the buffers of others.
    pub fn into_chunk(self) -> Chunk {
        self.chunk
    }

    /// Retrieves the values of `docs`, in any order and with repeats: one row each. In a search over one source,
    /// [`DocId`](docvalues_column::DocId)s will do. A document that the source does
    /// not have gets a row without values.
    ///
    /// All values are in memory at once, whatever their number; use [`Export`](super::Export) for many
    /// documents.
    ///
    /// # Errors
    ///
    /// If a column is damaged; [`chunk`](Self::chunk) is then unspecified.
    pub fn retrieve<D: Copy + Into<DocAddress>>(&mut self, docs: &[D]) -> Result<&Chunk> {
        self.chunk.docs.clear();
        self.chunk.docs.extend(docs.iter().map(|doc| -> DocAddress { (*doc).into() }));
        self.reader.fill(&mut self.chunk, usize::MAX)?;
        Ok(&self.chunk)
    }
}
