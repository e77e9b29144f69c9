//! [`SegmentWriter`]: documents and batches in, one file out.

use std::io;
use std::path::Path;

use docvalues_column::LiveDocs;
use docvalues_format::file::sort::SortKey;
use docvalues_format::id::DocId;
use docvalues_storage::{AtomicFile, NewFile, Spill};
use docvalues_terms::build::IdOptions;

use crate::error::{Error, ErrorKind, Result};
use crate::input::{ColumnBatch, Document, FieldBuffers};
use crate::live_set::LiveSet;
use crate::options::WriterOptions;
use crate::schema::{FieldId, FieldSpec, Schema};
use crate::sort::check_keys;
use crate::target::Stream;

/// Writes a segment: to a file, in memory (`SegmentWriter<Vec<u8>>`), or to a stream (`SegmentWriter<Stream<W>>`).
///
/// Values are buffered until [`finish`](SegmentWriter::finish), which encodes and writes the columns, and then renames
/// the file to its name. Until then, and after any error, a file that already had that name is unchanged.
///
/// # Examples
///
/// ```
/// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hits.dv");
/// let mut schema = Schema::new();
/// let size = schema.add(FieldSpec::new("size", LogicalType::U64))?;
/// let host = schema.add(FieldSpec::new("host", LogicalType::Utf8))?;
/// let tags = schema.add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued())?;
///
/// let mut writer = SegmentWriter::create(&path, schema, WriterOptions::default())?;
/// let mut doc = writer.document();
/// doc.u64(size, 7)?.str(host, "a.example")?.str(tags, "y")?.str(tags, "x")?;
/// doc.finish()?;
/// let mut doc = writer.document();
/// doc.str(host, "b.example")?; // no size, no tags
/// doc.finish()?;
/// let summary = writer.finish()?;
///
/// assert_eq!(summary.docs, 2);
/// assert_eq!(summary.bytes, std::fs::metadata(&path)?.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
///
/// Until the segment is written, a number takes eight bytes, in memory or in the temporary file; a byte string takes
/// four bytes and, once for each distinct one, its bytes and an entry of a hash table. A document costs nothing for
/// fields without a value. See [`WriterOptions::budget`].
#[derive(Debug)]
pub struct SegmentWriter<T = AtomicFile> {
    pub(crate) documents: Documents,
    pub(crate) target: T,
}

/// The documents of a segment that is not written yet.
#[derive(Debug)]
pub(crate) struct Documents {
    pub(crate) fields: FieldBuffers,
    pub(crate) sort: Vec<SortKey>,
    pub(crate) ids: Option<(FieldId, IdOptions)>,
    /// The documents that are not deleted; there may be fewer than the documents, and the others are live.
    live: LiveDocs,
    pub(crate) options: WriterOptions,
}

impl Documents {
    /// Deletes a document. Returns whether it was still there.
    pub(crate) fn delete(&mut self, doc: DocId) -> Result<bool> {
        if doc.get() >= self.fields.docs {
            return Err(Error::new(ErrorKind::NoSuchDoc { docs: self.fields.docs }).in_doc(doc.get()));
        }
        self.live.grow(self.fields.docs);
        Ok(self.live.delete(doc))
    }

    /// The documents that were not deleted.
    pub(crate) fn live(&self) -> LiveSet {
        let mut live = self.live.clone();
        live.grow(self.fields.docs);
        LiveSet::from(&live)
    }
}

impl SegmentWriter<AtomicFile> {
    /// Begins a segment in the file `path`.
    ///
    /// Creates the file under a temporary name right away, so that a missing permission is an error now and not after
    /// hours. Replaces what a killed build of the same file left there.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be created, or another build of the same file is running.
    pub fn create(
        path: impl AsRef<Path>,
        schema: Schema,
        options: WriterOptions,
    ) -> Result<SegmentWriter<AtomicFile>> {
        Ok(SegmentWriter::to_file(AtomicFile::create(path)?, schema, options))
    }

    /// As [`create`](Self::create), with a file that was already created.
    pub fn to_file(file: AtomicFile, schema: Schema, options: WriterOptions) -> SegmentWriter<AtomicFile> {
        let spill = file.spill();
        SegmentWriter::begin(file, schema, options, Some(spill))
    }
}

impl SegmentWriter<NewFile> {
    /// Begins a segment in `file`, under its final name. Values beyond the budget go to `spill`, if given.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use docvalues_storage::{Directory, FsDirectory};
    /// use docvalues_writer::{FieldSpec, LogicalType, NewFile, Schema, SegmentWriter, WriterOptions};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let directory: Arc<dyn Directory> = Arc::new(FsDirectory::new(folder.path()));
    /// let mut schema = Schema::new();
    /// schema.add(FieldSpec::new("size", LogicalType::U64))?;
    /// let file = NewFile::create(Arc::clone(&directory), "seg-000001.dv")?;
    /// let summary = SegmentWriter::to_new_file(file, None, schema, WriterOptions::default()).finish()?;
    /// directory.sync()?; // the caller makes the name durable
    /// assert_eq!(directory.list()?[0].len, summary.bytes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_new_file(
        file: NewFile,
        spill: Option<Spill>,
        schema: Schema,
        options: WriterOptions,
    ) -> SegmentWriter<NewFile> {
        SegmentWriter::begin(file, schema, options, spill)
    }
}

impl SegmentWriter<Vec<u8>> {
    /// Begins a segment in memory.
    pub fn in_memory(schema: Schema, options: WriterOptions) -> SegmentWriter<Vec<u8>> {
        SegmentWriter::begin(Vec::new(), schema, options, None)
    }
}

impl<W: io::Write> SegmentWriter<Stream<W>> {
    /// Begins a segment that is written to `out`, such as a pipe or an upload, sequentially. Nothing is written before
    /// [`finish`](Self::finish). If that fails, `out` may have received a part of the segment.
    ///
    /// ```
    /// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
    ///
    /// let mut schema = Schema::new();
    /// let size = schema.add(FieldSpec::new("size", LogicalType::U64))?;
    /// let mut writer = SegmentWriter::to_writer(std::io::sink(), schema, WriterOptions::default());
    /// let mut doc = writer.document();
    /// doc.u64(size, 7)?;
    /// doc.finish()?;
    /// let (_sink, summary) = writer.finish()?;
    /// assert_eq!(summary.docs, 1);
    /// # Ok::<(), docvalues_writer::Error>(())
    /// ```
    pub fn to_writer(out: W, schema: Schema, options: WriterOptions) -> SegmentWriter<Stream<W>> {
        SegmentWriter::begin(Stream(out), schema, options, None)
    }
}

impl<T> SegmentWriter<T> {
    fn begin(target: T, schema: Schema, options: WriterOptions, spill: Option<Spill>) -> SegmentWriter<T> {
        let fields = FieldBuffers::new(schema, options.budget);
        let (sort, ids, live) = (Vec::new(), None, LiveDocs::all(0));
        let documents = Documents { fields, sort, ids, live, options };
        let mut writer = SegmentWriter { documents, target };
        if let Some(spill) = spill {
            writer.spill_to(spill);
        }
        writer
    }

    /// Spills values beyond the budget to `spill`. For segments in memory or in a stream; those in a file have a
    /// temporary file from the start.
    pub fn spill_to(&mut self, spill: Spill) {
        spill.limit(self.documents.options.spill_limit);
        self.documents.fields.spill = Some(spill);
    }

    /// Deletes a document, by the number under which it was added. Returns whether it was still there.
    ///
    /// The other documents keep their numbers until the segment is finished, and are renumbered then:
    /// [`finish_moved`](Self::finish_moved) reports the new numbers. The segment has the same bytes as one to which
    /// only the other documents were added.
    ///
    /// With deleted documents, finishing takes the memory of one more column.
    ///
    /// # Errors
    ///
    /// If no such document was added.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_writer::{DocId, FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
    ///
    /// let mut schema = Schema::new();
    /// let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// for value in [512, 7, 70] {
    ///     let mut doc = writer.document();
    ///     doc.i64(size, value)?;
    ///     doc.finish()?;
    /// }
    /// assert!(writer.delete(DocId::new(1))?);
    /// assert!(!writer.delete(DocId::new(1))?); // it was deleted before
    /// let mut moved = Vec::new();
    /// let (_, summary) = writer.finish_moved(|old, new| moved.push((old.get(), new.get())))?;
    /// assert_eq!((summary.docs, moved), (2, vec![(0, 0), (2, 1)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delete(&mut self, doc: DocId) -> Result<bool> {
        self.documents.delete(doc)
    }

    /// Begins the next document. It is added when it is finished.
    pub fn document(&mut self) -> Document<'_> {
        Document::new(&mut self.documents.fields)
    }

    /// Begins a batch of `docs` documents. They are added when it is finished.
    ///
    /// # Errors
    ///
    /// If the segment would have more documents than it can number.
    pub fn batch(&mut self, docs: u32) -> Result<ColumnBatch<'_>> {
        ColumnBatch::new(&mut self.documents.fields, docs)
    }

    /// Adds a field. The documents so far have no value of it.
    ///
    /// # Errors
    ///
    /// As [`Schema::add`].
    ///
    /// # Examples
    ///
    /// A column that appears in the middle of the input:
    ///
    /// ```
    /// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
    ///
    /// let mut writer = SegmentWriter::in_memory(Schema::new(), WriterOptions::default());
    /// writer.document().finish()?;
    /// let size = writer.add_field(FieldSpec::new("size", LogicalType::I64))?;
    /// let mut doc = writer.document();
    /// doc.i64(size, 512)?;
    /// doc.finish()?;
    /// let (_, summary) = writer.finish()?;
    /// assert_eq!((summary.docs, summary.columns[0].docs_with_value()), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_field(&mut self, field: impl Into<FieldSpec>) -> Result<FieldId> {
        self.documents.fields.add_field(field.into())
    }

    /// Sets the [format](FieldSpec::format) of a field, if it becomes known only from the values.
    ///
    /// # Errors
    ///
    /// If the format is too long, or the field belongs to another schema.
    pub fn set_format(&mut self, field: FieldId, format: impl Into<String>) -> Result<()> {
        self.documents.fields.set_format(field, format.into())
    }

    /// Sets the index sort: documents are sorted by `keys` when the segment is finished. The first key is the most
    /// significant, and the sort is stable. The file records the keys, so that readers answer a range filter on the
    /// first key by two binary searches. Without keys, documents keep their order.
    ///
    /// Numbers compare by value; doubles by IEEE 754's *totalOrder*, with −0.0 before 0.0 and NaNs at the ends; byte
    /// strings by their bytes. Documents without a value come last, or first if the key says so, both ascending and
    /// descending. [`Document::id`] and batches return numbers before the sort;
    /// [`finish_moved`](Self::finish_moved) reports the new ones.
    ///
    /// Takes 24 bytes of memory a document, and a copy of one column at a time. With a temporary file it takes a part
    /// of the budget instead, and columns beyond that pass through the file twice.
    ///
    /// ```
    /// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, SortKey, WriterOptions};
    ///
    /// let mut schema = Schema::new();
    /// let size = schema.add(FieldSpec::new("size", LogicalType::U64))?;
    /// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// writer.sort_by([SortKey::of("size").descending()])?;
    /// for bytes in [7, 512, 70] {
    ///     let mut doc = writer.document();
    ///     doc.u64(size, bytes)?;
    ///     doc.finish()?;
    /// }
    /// let (bytes, summary) = writer.finish()?; // 512, 70, 7
    /// # assert_eq!(summary.docs, 3);
    /// # Ok::<(), docvalues_writer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a key's column is no field, is multi-valued, or is that of another key; or if there are more than
    /// [`MAX_SORT_KEYS`](crate::MAX_SORT_KEYS) keys. The previous keys then stay.
    pub fn sort_by(&mut self, keys: impl IntoIterator<Item = SortKey>) -> Result<()> {
        let keys: Vec<_> = keys.into_iter().collect();
        check_keys(&keys, &self.documents.fields.schema)?;
        self.documents.sort = keys;
        Ok(())
    }

    /// Builds an id index over `field`, with which readers find the document of an id.
    ///
    /// Ids are byte strings of up to 65,535 bytes, at most one a document. If two documents have the same id, finishing
    /// fails and names both, or drops the older one: [`IdOptions::duplicates`]. The field becomes binary: it has no
    /// dictionary.
    ///
    /// When the segment is finished, sorting takes twice the bytes of the ids, and 32 bytes for each id. A quarter of
    /// the budget is in memory; larger sets of ids are sorted in the temporary file. The index is then built in that
    /// file, too, except for its filter ([`IdOptions::filter_bits`] an id), about two bytes an id for the block
    /// directory, one bit a document, and an automaton ([`Form::Fst`](docvalues_terms::ids::Form::Fst)), which is built
    /// in memory. If documents are sorted and their new numbers do not fit in memory, the ids are sorted twice.
    ///
    /// ```
    /// use docvalues_writer::{FieldSpec, IdOptions, LogicalType, Schema, SegmentWriter, WriterOptions};
    ///
    /// let mut schema = Schema::new();
    /// let id = schema.add(FieldSpec::new("id", LogicalType::Utf8))?;
    /// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// writer.id_field(id, IdOptions::default())?;
    /// for value in ["cow", "ant", "bee", "ant"] {
    ///     let mut doc = writer.document();
    ///     doc.str(id, value)?;
    ///     doc.finish()?;
    /// }
    /// let refused = writer.finish().unwrap_err();
    /// assert_eq!(refused.to_string(), "field \"id\": documents 1 and 3 have the same id: \"ant\"");
    /// # Ok::<(), docvalues_writer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the field holds numbers, is multi-valued or [sorted](crate::BytesKind::Sorted), or if it already has values
    /// and is not declared [binary](crate::BytesKind::Binary). The previous id field then stays.
    pub fn id_field(&mut self, field: FieldId, options: IdOptions) -> Result<()> {
        self.documents.fields.require_binary(field)?;
        self.documents.ids = Some((field, options));
        Ok(())
    }

    /// The schema, with fields added since.
    pub fn schema(&self) -> &Schema {
        &self.documents.fields.schema
    }

    /// The number of documents so far, including deleted ones.
    pub fn docs(&self) -> u32 {
        self.documents.fields.docs
    }

    /// The bytes of the budget that buffered values take.
    pub fn buffered(&self) -> usize {
        self.documents.fields.memory.used()
    }
}
