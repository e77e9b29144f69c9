//! Sources of columns.

use std::sync::Arc;

use docvalues_format::file::field::Field;
use docvalues_format::file::sort::SortKey;
use docvalues_format::id::DocId;

use crate::{Column, LiveDocs, Result};

/// A source of columns: a segment, memory, or an index of another engine.
///
/// Documents are numbered from 0 to [`docs`](Self::docs). A source never changes; deletes are kept beside it, in
/// [`LiveDocs`].
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// use docvalues_column::{AbsentColumn, Column, ColumnSource, ErrorKind, Field, Result};
///
/// struct Memory {
///     docs: u32,
///     columns: BTreeMap<String, Arc<dyn Column>>,
/// }
///
/// impl ColumnSource for Memory {
///     fn docs(&self) -> u32 {
///         self.docs
///     }
///
///     fn fields(&self) -> Result<Vec<Field>> {
///         Ok(self.columns.values().map(|column| column.info().field.clone()).collect())
///     }
///
///     fn column(&self, name: &str) -> Result<Arc<dyn Column>> {
///         let missing = || ErrorKind::NoSuchColumn { file: "memory".into(), field: name.into() };
///         Ok(self.columns.get(name).cloned().ok_or_else(missing)?)
///     }
/// }
///
/// let size: Arc<dyn Column> = Arc::new(AbsentColumn::new("size", 3));
/// let source = Memory { docs: 3, columns: BTreeMap::from([("size".to_owned(), size)]) };
/// assert_eq!(source.column("size")?.info().docs, 3);
/// assert!(source.column("host").is_err());
/// # Ok::<(), docvalues_column::Error>(())
/// ```
pub trait ColumnSource {
    /// The number of documents, live or not.
    fn docs(&self) -> u32;

    /// The names, kinds and types of all columns, sorted by the bytes of their names.
    ///
    /// # Errors
    ///
    /// If the source is damaged.
    fn fields(&self) -> Result<Vec<Field>>;

    /// Opens the column `name`.
    ///
    /// # Errors
    ///
    /// [`NoSuchColumn`](crate::ErrorKind::NoSuchColumn) if the source has none, or if it is damaged.
    fn column(&self, name: &str) -> Result<Arc<dyn Column>>;

    /// The index sort: the keys that documents are sorted by, most significant first. Empty, the default, if there is
    /// none or it is unknown.
    ///
    /// Searches rely on it: over a source that is not sorted this way, their answers are wrong.
    fn sort(&self) -> &[SortKey] {
        &[]
    }

    /// The bytes of its file that the source and its columns have read or verified so far: those of a section once while it is open. 0, the default, if it
    /// does not count them.
    fn bytes_touched(&self) -> u64 {
        0
    }
}

/// A source with its live documents: one of the several sources of a search.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use docvalues_column::{ColumnSource, DocId, LiveDocs, Part};
///
/// fn without_first(segment: impl ColumnSource + Send + Sync + 'static) -> Part {
///     let mut live = LiveDocs::all(segment.docs());
///     live.delete(DocId::new(0));
///     Part::new(segment).live(Arc::new(live))
/// }
/// ```
#[derive(Clone)]
pub struct Part {
    /// The columns. A source never changes; deletes are in `live`.
    pub source: Arc<dyn ColumnSource + Send + Sync>,
    /// The live documents; `None` if no document was deleted.
    pub live: Option<Arc<LiveDocs>>,
}

/// A document of a search over several [`Part`]s. Addresses are ordered by part, then by document.
///
/// ```
/// use docvalues_column::{DocAddress, DocId};
///
/// let mut top = [(1, 5), (0, 9), (1, 2)].map(|(part, doc)| DocAddress { part, doc: DocId::new(doc) });
/// top.sort();
/// assert_eq!(top[0], DocAddress { part: 0, doc: DocId::new(9) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocAddress {
    /// The index of the part, from 0.
    pub part: u32,
    /// The document within its part.
    pub doc: DocId,
}

/// The address of a document of the only part.
impl From<DocId> for DocAddress {
    fn from(doc: DocId) -> DocAddress {
        DocAddress { part: 0, doc }
    }
}

impl Part {
    /// A part with all documents of `source`.
    pub fn new(source: impl ColumnSource + Send + Sync + 'static) -> Part {
        Part { source: Arc::new(source), live: None }
    }

    /// Replaces the live documents.
    #[must_use]
    pub fn live(self, live: Arc<LiveDocs>) -> Part {
        Part { live: Some(live), ..self }
    }
}
