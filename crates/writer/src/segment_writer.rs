//! The writer: documents and batches in, one file out.

use std::io;
use std::path::Path;

use docvalues_column::{DocRange, bits};
use docvalues_format::file::sort::SortKey;
use docvalues_format::id::DocId;
use docvalues_storage::{AtomicFile, Spill};
use docvalues_terms::build::IdOptions;

use crate::column_batch::ColumnBatch;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::field_buffers::FieldBuffers;
use crate::finish::FinishError;
use crate::intern::index;
use crate::live_set::LiveSet;
use crate::schema::{FieldId, FieldSpec, Schema};
use crate::sort_keys;
use crate::target::Stream;

/// How a segment is written. The same documents and options give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// Whether to bake jump tables, with which a reader finds any value at once. Without them the file
    /// is a little smaller, and readers walk, or build the tables when they first need them.
    pub jump_tables: bool,
    /// Whether to add zone maps: the smallest and largest value of every 4,096, with which range
    /// filters skip.
    pub zones: bool,
    /// Bytes that buffered values may take.
    ///
    /// Of a segment that is built in a file, the largest buffers go to a temporary file beside it once half of
    /// that is used, and the bytes of the segment stay what they would have been. The other half is for
    /// what is added at a time: a document or a batch that takes more is refused. In memory, and in a stream without a
    /// [temporary file](SegmentWriter::spill_to), every value that would take more is. What never leaves the memory is which documents have a value: a bit a
    /// document for each field that some do not have.
    ///
    /// Documents that are to be [sorted](SegmentWriter::sort_by) have three quarters of it for that, and what is
    /// buffered has one.
    ///
    /// Not counted is what encoding takes, one column at a time for each of the
    /// [`threads`](WriterOptions::threads): of what is in memory, about what its sections do; of what is in a file, a
    /// hundredth.
    pub budget: usize,
    /// How many threads encode columns side by side when a segment is finished or merged; 0 for as many as run at
    /// once on this machine. They are begun and ended there; the caller's thread writes. The bytes are the same
    /// for any number.
    ///
    /// Without the feature `rayon` there is one, the caller's.
    pub threads: usize,
    /// The most bytes that the temporary file may take: with more, writing fails.
    pub spill_limit: u64,
}

impl Default for WriterOptions {
    /// Jump tables and zone maps, a budget of 256 MiB, no thread but the caller's, and temporary files of any length.
    fn default() -> WriterOptions {
        let (budget, spill_limit) = (256 << 20, u64::MAX);
        WriterOptions { jump_tables: true, zones: true, budget, threads: 1, spill_limit }
    }
}

/// Writes a segment: to a file, in memory (`SegmentWriter<Vec<u8>>`), or to a stream (`SegmentWriter<Stream<W>>`).
///
/// Values are buffered until [`finish`](SegmentWriter::finish), which encodes one column after the
/// other or several side by side, writes them, and publishes the file under its name. Until then, and whenever anything
/// fails, nothing stands under that name but what stood there before.
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
/// A value costs its eight bytes, or its place in a hash table and four bytes, until it is written, in memory
/// or in the temporary file; a
/// document costs nothing for fields that it has no value of. See [`WriterOptions::budget`].
#[derive(Debug)]
pub struct SegmentWriter<T = AtomicFile> {
    pub(crate) fields: FieldBuffers,
    pub(crate) sort: Vec<SortKey>,
    pub(crate) ids: Option<(FieldId, IdOptions)>,
    /// A bit for each document that was deleted; words after the last one are missing.
    deleted: Vec<u64>,
    pub(crate) options: WriterOptions,
    pub(crate) target: T,
}

impl SegmentWriter<AtomicFile> {
    /// Begins the segment that is to stand at `path`.
    ///
    /// The temporary file beside it is made now, so that a folder that cannot be written is no surprise
    /// after hours. What a killed build of the same file left behind is taken over.
    ///
    /// # Errors
    ///
    /// When the temporary file cannot be created, or another build of the same file is running.
    pub fn create(
        path: impl AsRef<Path>,
        schema: Schema,
        options: WriterOptions,
    ) -> Result<SegmentWriter<AtomicFile>> {
        Ok(SegmentWriter::to_file(AtomicFile::create(path)?, schema, options))
    }

    /// As [`create`](Self::create), to a file that was begun.
    pub fn to_file(file: AtomicFile, schema: Schema, options: WriterOptions) -> SegmentWriter<AtomicFile> {
        let spill = file.spill();
        SegmentWriter::begin(file, schema, options, Some(spill))
    }
}

impl SegmentWriter<Vec<u8>> {
    /// Begins a segment in memory.
    pub fn in_memory(schema: Schema, options: WriterOptions) -> SegmentWriter<Vec<u8>> {
        SegmentWriter::begin(Vec::new(), schema, options, None)
    }

    /// As [`finish`](Self::finish), and returns the bytes alone.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_bytes(self) -> Result<Vec<u8>, FinishError<Vec<u8>>> {
        self.finish().map(|(bytes, _)| bytes)
    }
}

impl<W: io::Write> SegmentWriter<Stream<W>> {
    /// Begins a segment whose bytes go to `out` when it is finished, front to back: a pipe, an upload. Nothing is written
    /// before; of a segment that fails then, `out` has a part.
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
        let fields = FieldBuffers::new(schema, options.budget, None);
        let (sort, ids, deleted) = (Vec::new(), None, Vec::new());
        let mut writer = SegmentWriter { fields, sort, ids, deleted, options, target };
        if let Some(spill) = spill {
            writer.spill_to(spill);
        }
        writer
    }

    /// Has what has no room in memory go to `spill`: for segments that are written to memory or a stream. Those in a file
    /// have a temporary file beside it.
    pub fn spill_to(&mut self, spill: Spill) {
        spill.limit(self.options.spill_limit);
        self.fields.spill = Some(spill);
    }

    /// Leaves a document out of the segment, by the number under which it was added. Returns whether it was in it.
    ///
    /// The numbers of the others stay until the segment is finished, in which they have those of the documents that are
    /// left; [`finish_moved`](Self::finish_moved) tells which. The segment is that of the others, byte for byte.
    ///
    /// Finishing takes the memory of one column more.
    ///
    /// # Errors
    ///
    /// When no such document was added.
    pub fn delete(&mut self, doc: DocId) -> Result<bool> {
        if doc.get() >= self.fields.docs {
            return Err(Error::new(ErrorKind::NoSuchDoc { docs: self.fields.docs }).in_doc(doc.get()));
        }
        let (at, words) = (index(doc.get()), DocRange::new(0, self.fields.docs).words());
        self.deleted.resize(words, 0);
        let is_new = !bits::get(&self.deleted, at);
        bits::set(&mut self.deleted, at);
        Ok(is_new)
    }

    /// The documents that were not deleted.
    pub(crate) fn live(&self) -> LiveSet<'static> {
        let docs = self.fields.docs;
        if self.deleted.is_empty() {
            return LiveSet::all(docs);
        }
        let mut words: Vec<u64> = self.deleted.iter().map(|word| !word).collect();
        words.resize(DocRange::new(0, docs).words(), u64::MAX);
        LiveSet::of(docs, words.into())
    }

    /// Begins the next document. It counts once it is finished.
    pub fn document(&mut self) -> Document<'_> {
        Document::new(&mut self.fields)
    }

    /// Begins `docs` documents together. They count once the batch is finished.
    ///
    /// # Errors
    ///
    /// When the segment can not have so many.
    pub fn batch(&mut self, docs: u32) -> Result<ColumnBatch<'_>> {
        ColumnBatch::new(&mut self.fields, docs)
    }

    /// Adds a field, of which the documents so far have no value.
    ///
    /// # Errors
    ///
    /// As [`Schema::add`].
    pub fn add_field(&mut self, field: FieldSpec) -> Result<FieldId> {
        self.fields.add_field(field)
    }

    /// Says how the input spelled the values of a field, once that is known:
    /// [`FieldSpec::format`].
    ///
    /// # Errors
    ///
    /// When the format is too long, or the field is another schema's.
    pub fn set_format(&mut self, field: FieldId, format: impl Into<String>) -> Result<()> {
        self.fields.set_format(field, format.into())
    }

    /// Has the documents sorted by `keys` once they all are there, the first key counting most; documents that are
    /// equal by all of them stay in the order in which they were added. The file tells readers, for whom a range
    /// of the first key then is a range of documents. Without keys, documents stay as they are.
    ///
    /// Numbers go by their value; doubles by IEEE 754's *totalOrder*, with −0.0 before 0.0, and NaNs at the ends;
    /// byte strings byte by byte. Documents without a value come last, or first if the key says so, whichever way
    /// the values go. [`Document::id`] and batches go on telling the number that a document was added under;
    /// [`finish_moved`](Self::finish_moved) tells the new ones.
    ///
    /// Costs 24 bytes of memory a document, and a copy of one column at a time; of a segment in a file, a part of
    /// the budget, and what has no room in that goes through the temporary file twice.
    ///
    /// ```
    /// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, SortKey, WriterOptions};
    ///
    /// let mut schema = Schema::new();
    /// let size = schema.add(FieldSpec::new("size", LogicalType::U64))?;
    /// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// writer.sort_by([SortKey::new("size").descending()])?;
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
    /// A key whose column is no field, or one with several values a document, or the same as another key's; or
    /// more than [`MAX_SORT_KEYS`](crate::MAX_SORT_KEYS). What was to be sorted by before then still is.
    pub fn sort_by(&mut self, keys: impl IntoIterator<Item = SortKey>) -> Result<()> {
        let (keys, schema) = (keys.into_iter().collect::<Vec<_>>(), &self.fields.schema);
        sort_keys::check(&keys, |name| schema.get(schema.field(name)?))?;
        self.sort = keys;
        Ok(())
    }

    /// Has an index of the ids that documents have in `field`, so that readers find the document of an id. They are
    /// byte strings of up to 65,535 bytes, one a document at most; if two documents have the same, finishing fails and
    /// names them, or leaves out the older one: [`IdOptions::duplicates`]. The field is kept without a dictionary: it is
    /// binary.
    ///
    /// Costs, when the segment is finished, the bytes of the ids, twice while they are sorted, and 32 for each, of which a quarter of the budget stays
    /// in memory and the rest is sorted in the temporary file. The index goes there, too, if the ids did, but for its
    /// filter ([`IdOptions::filter_bits`] an id), about two bytes an id for what leads to blocks and a bit a document; and
    /// but for an automaton ([`Form::Fst`](docvalues_terms::ids::Form::Fst)), which is in memory until it is whole. If
    /// documents are sorted and their places have no room in memory, the ids are sorted twice.
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
    /// assert_eq!(refused.to_string(), "field `id`: documents 1 and 3 have the same id: ant");
    /// # Ok::<(), docvalues_writer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A field of numbers, of several values a document or with a dictionary, or one that was not said to be
    /// [binary](crate::BytesKind::Binary) and has values already. What was the field of ids before then still is.
    pub fn id_field(&mut self, field: FieldId, options: IdOptions) -> Result<()> {
        self.fields.require_binary(field)?;
        self.ids = Some((field, options));
        Ok(())
    }

    /// The fields.
    pub fn schema(&self) -> &Schema {
        &self.fields.schema
    }

    /// Documents so far, with those that were deleted.
    pub fn docs(&self) -> u32 {
        self.fields.docs
    }

    /// See [`FieldBuffer`](crate::buffer::FieldBuffer::limit_terms).
    #[cfg(test)]
    pub(crate) fn limit_terms(&mut self, limit: u32) {
        self.fields.buffers.iter_mut().for_each(|buffer| buffer.limit_terms(limit));
    }

    /// Bytes that the buffered values take, of the budget.
    pub fn buffered(&self) -> usize {
        self.fields.memory.used()
    }
}
