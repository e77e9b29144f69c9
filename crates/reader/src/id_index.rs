//! [`IdIndex`]: primary-key lookup in one segment. It knows nothing of the segment, which opens it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use docvalues_column::{DocId, Error, Result};
use docvalues_storage::Section;
use docvalues_terms::ids::{Form, IdSizes};
use docvalues_terms::packing;
use docvalues_terms::read::IdsReader;

use crate::column::{FormatResult, corrupt};

/// The decoder of one segment's id index, for lookups over many segments: see `docvalues_terms::lookup`.
pub type IdReader = IdsReader<Section>;

/// The id index of a segment: primary-key lookup, from an id to its document. Opened by
/// [`Segment::ids`](crate::Segment::ids).
///
/// It is cheap to clone, and stays usable after the segment was dropped. To look up ids in many segments at once, pass
/// the [`reader`](IdIndex::reader) of each to an `IdLookup` or an `IdStore` of `docvalues_terms::lookup`.
///
/// # Examples
///
/// ```
/// use docvalues::prelude::*;
///
/// let mut schema = Schema::new();
/// let id = schema.add(FieldSpec::new("_id", LogicalType::Utf8))?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// writer.id_field(id, docvalues::writer::IdOptions::default())?;
/// for name in ["bee", "ant"] {
///     let mut doc = writer.document();
///     doc.str(id, name)?;
///     doc.finish()?;
/// }
/// let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
///
/// let ids = segment.ids()?.ok_or("no id index")?;
/// assert_eq!(ids.find(b"ant")?, Some(DocId::new(1)));
/// assert_eq!(ids.find(b"cow")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[doc(alias = "primary key")]
#[doc(alias = "PerThreadIDVersionAndSeqNoLookup")]
pub struct IdIndex(Arc<Inner>);

struct Inner {
    file: Arc<str>,
    field: String,
    reader: Arc<IdReader>,
}

impl fmt::Debug for IdIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdIndex")
            .field("file", &self.0.file)
            .field("field", &self.0.field)
            .field("ids", &self.len())
            .finish_non_exhaustive()
    }
}

impl IdIndex {
    /// The index of `field` in `file`, which `reader` reads.
    pub(crate) fn new(file: &str, field: String, reader: IdReader) -> IdIndex {
        IdIndex(Arc::new(Inner { file: file.into(), field, reader: Arc::new(reader) }))
    }

    /// The name of the id field, whose values are the ids.
    pub fn field(&self) -> &str {
        &self.0.field
    }

    /// The number of ids.
    pub fn len(&self) -> u32 {
        self.0.reader.len()
    }

    /// Whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The structure of the index: see [`IdForm`](crate::IdForm).
    pub fn form(&self) -> Form {
        self.0.reader.meta().form
    }

    /// The pattern by which ids are packed, such as UUIDs; [`packing::Kind::Raw`] if they are stored as they are.
    pub fn packed_as(&self) -> packing::Kind {
        self.0.reader.template().kind()
    }

    /// The filter's bits per id, or twice as many with [`IdForm::Column`](crate::IdForm::Column); 0 without a filter.
    pub fn filter_bits(&self) -> u8 {
        self.0.reader.meta().filter_bits
    }

    /// The seed of the filter's hash.
    pub fn seed(&self) -> u64 {
        self.0.reader.seed()
    }

    /// The bytes of each part, without checksums.
    pub fn sizes(&self) -> IdSizes {
        self.0.reader.sizes()
    }

    /// The index's reader, for a lookup over many segments.
    pub fn reader(&self) -> &Arc<IdReader> {
        &self.0.reader
    }

    /// The document with `id`, if there is one.
    ///
    /// # Errors
    ///
    /// If bytes on the way are damaged.
    ///
    /// O(length of the id). An unknown id usually costs one cache line of the filter; with a fitting template, ids of
    /// another shape cost no access at all.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let id = schema.add(FieldSpec::new("id", LogicalType::Utf8))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # writer.id_field(id, docvalues::writer::IdOptions::default())?;
    /// # for value in ["doc-7", "doc-12", "dog-1"] {
    /// #     let mut doc = writer.document();
    /// #     doc.str(id, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let ids = segment.ids()?.ok_or("no id index")?;
    /// assert_eq!(ids.find(b"doc-12")?, Some(DocId::new(1)));
    /// assert_eq!(ids.find(b"doc-13")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(&self, id: &[u8]) -> Result<Option<DocId>> {
        self.with_context(self.0.reader.find(id))
    }

    /// Calls `each` with the ids that begin with `prefix` and their documents, in the order of the ids, until it
    /// breaks.
    ///
    /// # Errors
    ///
    /// If bytes on the way are damaged.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let id = schema.add(FieldSpec::new("id", LogicalType::Utf8))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # writer.id_field(id, docvalues::writer::IdOptions::default())?;
    /// # for value in ["doc-7", "doc-12", "dog-1"] {
    /// #     let mut doc = writer.document();
    /// #     doc.str(id, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let ids = segment.ids()?.ok_or("no id index")?;
    /// let mut found = Vec::new();
    /// ids.prefix(b"doc-", |id, doc| {
    ///     found.push((id.to_vec(), doc.get()));
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(found, [(b"doc-12".to_vec(), 1), (b"doc-7".to_vec(), 0)]); // in the order of the ids
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prefix(&self, prefix: &[u8], each: impl FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<()> {
        self.with_context(self.0.reader.prefix(prefix, each))
    }

    /// Calls `each` with all ids and their documents, in the order of the ids, until it breaks.
    ///
    /// # Errors
    ///
    /// If bytes on the way are damaged.
    pub fn each(&self, each: impl FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<()> {
        self.with_context(self.0.reader.each(each))
    }

    /// Adds the names of the file and the field to the error of a result, such as one of [`reader`](Self::reader).
    ///
    /// # Errors
    ///
    /// The error of `result`.
    pub fn with_context<T>(&self, result: FormatResult<T>) -> Result<T, Error> {
        result.map_err(|e| corrupt(&self.0.file, Some(&self.0.field), e))
    }
}
