//! Sources of columns.

use std::sync::Arc;

use docvalues_format::file::field::Field;
use docvalues_format::file::sort::SortKey;
use docvalues_format::id::DocId;

use crate::{Column, LiveDocs, Result};

/// A source of columns: a segment, memory, an index of another engine.
pub trait ColumnSource {
    /// Documents in the source.
    fn docs(&self) -> u32;

    /// The names, kinds and types of all columns, ascending by the bytes of their names.
    ///
    /// # Errors
    ///
    /// When the source is damaged.
    fn fields(&self) -> Result<Vec<Field>>;

    /// The column `name`.
    ///
    /// # Errors
    ///
    /// [`NoSuchColumn`](crate::ErrorKind::NoSuchColumn), or when the source is damaged.
    fn column(&self, name: &str) -> Result<Arc<dyn Column>>;

    /// The index sort: the keys that the documents are sorted by, the most significant first; none if it is not known.
    ///
    /// Searches rely on it: they answer wrongly over a source that is not sorted like this.
    fn sort(&self) -> &[SortKey] {
        &[]
    }
}

/// A source and those of its documents that live.
#[derive(Clone)]
pub struct Part {
    /// The columns. Segments never change: deletes are in `live`.
    pub source: Arc<dyn ColumnSource + Send + Sync>,
    /// The live documents; `None` if all live.
    pub live: Option<Arc<LiveDocs>>,
}

/// A document of one of the parts that a search is over. Addresses are in the order of parts, then of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocAddress {
    /// The part, counted from 0; 0 in a search over one source.
    pub part: u32,
    /// The document in its part.
    pub doc: DocId,
}

impl Part {
    /// All documents of `source`.
    pub fn new(source: impl ColumnSource + Send + Sync + 'static) -> Part {
        Part { source: Arc::new(source), live: None }
    }

    /// The same source with these live documents.
    #[must_use]
    pub fn live(self, live: Arc<LiveDocs>) -> Part {
        Part { live: Some(live), ..self }
    }
}
