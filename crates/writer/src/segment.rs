//! The writer: documents and batches in, one file out.

use std::path::Path;

use docvalues_format::file::sort::SortKey;
use docvalues_format::id::DocId;
use docvalues_storage::{AtomicFile, Spill};
use docvalues_terms::build::IdOptions;

use crate::batch::Batch;
use crate::document::Document;
use crate::encode::Encoder;
use crate::error::{Error, ErrorKind, Result};
use crate::fields::Fields;
use crate::file::{FileWriter, Sink};
use crate::ids;
use crate::order::{Order, Room};
use crate::schema::{FieldId, FieldSpec, Schema};
use crate::sort::{self, Prepared};
use crate::summary::Summary;
use crate::threads;

/// For each thread, the columns that are begun while one in front of them takes long: so many that a heavy one among
/// them is begun early, and few where there are thousands.
const AHEAD: usize = 16;

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
    /// what is added at a time: a document or a batch that takes more is refused. In memory, every value
    /// that would take more is. What never leaves the memory is which documents have a value: a bit a
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
}

impl Default for WriterOptions {
    /// Jump tables and zone maps, a budget of 256 MiB, and no thread but the caller's.
    fn default() -> WriterOptions {
        WriterOptions { jump_tables: true, zones: true, budget: 256 << 20, threads: 1 }
    }
}

/// Writes a segment: to a file, or in memory (`SegmentWriter<Vec<u8>>`).
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
    fields: Fields,
    sort: Vec<SortKey>,
    ids: Option<(FieldId, IdOptions)>,
    options: WriterOptions,
    target: T,
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

    /// Encodes and writes all columns and publishes the file.
    ///
    /// # Errors
    ///
    /// When writing, syncing or renaming fails, or reading a temporary file; nothing has then changed under the file's name. One
    /// exception, [`Step::SyncFolder`](docvalues_storage::Step::SyncFolder): the segment is complete and
    /// stands there, and only a loss of power may undo that.
    pub fn finish(self) -> Result<Summary> {
        self.publish(None)
    }

    /// As [`finish`](Self::finish), and before that tells `moved` of every document, in the order in which they were added, the
    /// number under which it was added and the one that it has in the segment: another one, if documents are
    /// [sorted](Self::sort_by).
    ///
    /// Takes no memory for documents. What is outside of the segment, such as postings, is renumbered by it.
    ///
    /// ```
    /// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, SortKey, WriterOptions};
    ///
    /// let mut schema = Schema::new();
    /// let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// writer.sort_by([SortKey::new("size")])?;
    /// for bytes in [512, 7, 70] {
    ///     let mut doc = writer.document();
    ///     doc.i64(size, bytes)?;
    ///     doc.finish()?;
    /// }
    /// let mut new = Vec::new();
    /// writer.finish_moved(|_, doc| new.push(doc.get()))?;
    /// assert_eq!(new, [2, 0, 1]);
    /// # Ok::<(), docvalues_writer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish): then the segment is not there, whatever `moved` was told.
    pub fn finish_moved(self, mut moved: impl FnMut(DocId, DocId)) -> Result<Summary> {
        self.publish(Some(&mut moved))
    }

    fn publish(mut self, moved: Moved<'_>) -> Result<Summary> {
        let summary = write(&mut self.target, self.fields, &self.sort, self.ids, &self.options, moved)?;
        self.target.commit()?;
        Ok(summary)
    }
}

impl SegmentWriter<Vec<u8>> {
    /// Begins a segment in memory.
    pub fn in_memory(schema: Schema, options: WriterOptions) -> SegmentWriter<Vec<u8>> {
        SegmentWriter::begin(Vec::new(), schema, options, None)
    }

    /// Encodes all columns. The bytes are those that a file would have.
    ///
    /// # Errors
    ///
    /// None for values that were accepted.
    pub fn finish(mut self) -> Result<(Vec<u8>, Summary)> {
        let summary = write(&mut self.target, self.fields, &self.sort, self.ids, &self.options, None)?;
        Ok((self.target, summary))
    }

    /// As [`finish`](Self::finish), and tells `moved` of every document where it went: see
    /// [`SegmentWriter::<AtomicFile>::finish_moved`](SegmentWriter#method.finish_moved).
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_moved(mut self, mut moved: impl FnMut(DocId, DocId)) -> Result<(Vec<u8>, Summary)> {
        let moved: Moved<'_> = Some(&mut moved);
        let summary = write(&mut self.target, self.fields, &self.sort, self.ids, &self.options, moved)?;
        Ok((self.target, summary))
    }

    /// As [`finish`](Self::finish), and returns the bytes alone.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_bytes(self) -> Result<Vec<u8>> {
        self.finish().map(|(bytes, _)| bytes)
    }
}

impl<T> SegmentWriter<T> {
    fn begin(target: T, schema: Schema, options: WriterOptions, spill: Option<Spill>) -> SegmentWriter<T> {
        let fields = Fields::new(schema, options.budget, spill);
        SegmentWriter { fields, sort: Vec::new(), ids: None, options, target }
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
    pub fn batch(&mut self, docs: u32) -> Result<Batch<'_>> {
        Batch::new(&mut self.fields, docs)
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
        sort::check(&keys, |name| schema.get(schema.field(name)?))?;
        self.sort = keys;
        Ok(())
    }

    /// Has an index of the ids that documents have in `field`, so that readers find the document of an id. They are
    /// byte strings of up to 65,535 bytes, one a document at most; no two documents may have the same, or
    /// finishing fails and names them. The field is kept without a dictionary: it is binary.
    ///
    /// Costs, when the segment is finished, the bytes of the ids, twice while they are sorted, and 32 for each, of which a quarter of the budget stays
    /// in memory and the rest is sorted in the temporary file. The index goes there, too, if the ids did, but for its
    /// filter ([`IdOptions::filter_bits`] an id), about two bytes an id for what leads to blocks and a bit a document; and
    /// but for an automaton ([`Form::Fst`](docvalues_terms::ids::Form::Fst)), which is in memory until it is whole.
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
        self.fields.keep_each(field)?;
        self.ids = Some((field, options));
        Ok(())
    }

    /// The fields.
    pub fn schema(&self) -> &Schema {
        &self.fields.schema
    }

    /// Documents so far.
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

/// Who is told where documents go, if anybody is.
type Moved<'m> = Option<&'m mut dyn FnMut(DocId, DocId)>;

/// Writes all of a file's bytes.
fn write(
    out: &mut impl Sink,
    mut fields: Fields,
    keys: &[SortKey],
    ids: Option<(FieldId, IdOptions)>,
    options: &WriterOptions,
    moved: Moved<'_>,
) -> Result<Summary> {
    // A document that was forgotten (`mem::forget`) is still there.
    fields.roll_back();
    fields.make_room()?;
    if !keys.is_empty() || ids.is_some() {
        fields.spill_largest()?; // What sorting takes has the rest.
    }
    let ids = ids.and_then(|(field, options)| Some((fields.schema.get(field)?.name().to_owned(), options)));
    let Fields { schema, buffers, docs, spill, .. } = fields;
    let WriterOptions { jump_tables, zones, budget, threads } = *options;
    let (encoder, threads) = (Encoder { docs, order: None, jump_tables, zones }, threads::count(threads));
    let mut columns = Vec::with_capacity(buffers.len());
    for (spec, buffer) in schema.into_fields().into_iter().zip(buffers) {
        let mut prepared = Prepared::Buffered(buffer);
        if keys.iter().any(|key| key.column == spec.name()) {
            prepared = prepared.in_order(&encoder).map_err(|kind| Error::new(kind).of(spec.name()))?;
        }
        columns.push((spec, prepared));
    }
    columns.sort_unstable_by(|a, b| a.0.name().cmp(b.0.name()));
    let room = Room::new(budget / threads, spill.as_ref());
    let order = sort::order(&columns, keys, &encoder, &room)?;
    if let Some(moved) = moved {
        Order::each_place(order.as_ref(), docs, |doc, place| moved(DocId::new(doc), DocId::new(place)))?;
    }
    let encoder = Encoder { order: order.as_ref(), ..encoder };
    let sorted = |(name, options): (String, IdOptions)| {
        let column = columns.iter().find(|(spec, _)| *spec.name() == name);
        // It was looked up before.
        let (_, column) = column.ok_or(ErrorKind::UnknownField)?;
        let ids = sort::ids(column, order.as_ref(), &room).map_err(|kind| Error::from(kind).of(&name))?;
        Ok::<_, Error>((name, ids, options))
    };
    let ids = ids.map(sorted).transpose()?;

    let mut file = FileWriter::begin(out)?;
    let weight = |(_, column): &(FieldSpec, Prepared)| column.weight();
    let encode = |(spec, column): (FieldSpec, Prepared)| {
        column.encode(&spec, &encoder).map_err(|kind| Error::from(kind).of(spec.name()))
    };
    threads::side_by_side(threads, AHEAD * threads, columns.into_iter(), weight, encode, |encoded| {
        let encoded = encoded?;
        let name = encoded.column.field.name.clone();
        file.column(encoded).map_err(|error| Error::from(error).of(&name))
    })?;
    ids::finish(file, docs, keys, ids)
}
