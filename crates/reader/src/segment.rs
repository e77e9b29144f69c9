//! A segment: one immutable file and its columns.

mod columns;
mod directory;
mod ids;
mod open;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use docvalues_column::{Column, ColumnSource, Field, Result, SortKey};
use docvalues_format::error::Section as Role;
use docvalues_format::file::frame::Footer;
use docvalues_format::file::root::Root;
use docvalues_format::granule::SectionRef;
use docvalues_format::numeric::FineZones;
use docvalues_storage::{Section, Source};

pub(crate) use self::columns::OpenColumn;
use crate::column::FormatResult;
use crate::id_index::IdIndex;
use crate::metadata::Metadata;
use crate::options::OpenOptions;

/// An open segment: one immutable file with documents and their columns.
///
/// Opening reads the header, the footer and the root of the directory. It decodes no values, so it takes as long for
/// 300 million documents as for one. A column is found by name in O(log columns). The segment keeps each column that
/// was opened, so its bytes are verified once.
///
/// A segment is an [`Arc`]: cheap to clone, and shared by any number of threads. Columns stay usable after the segment
/// was dropped.
///
/// # Examples
///
/// ```
/// use docvalues::prelude::*;
///
/// # let path = std::env::temp_dir().join(format!("docvalues-segment-{}.dv", std::process::id()));
/// let mut schema = Schema::new();
/// let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// let mut writer = SegmentWriter::create(&path, schema, WriterOptions::default())?;
/// for bytes in [512, 9_000] {
///     let mut doc = writer.document();
///     doc.i64(size, bytes)?;
///     doc.finish()?;
/// }
/// writer.finish()?;
///
/// let segment = Segment::open(&path)?;
/// assert_eq!(segment.docs(), 2);
/// assert_eq!(segment.fields()?[0].name, "size");
/// assert_eq!(segment.numeric("size")?.get(DocId::new(1))?, Some(9_000));
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[doc(alias = "LeafReader")]
#[doc(alias = "SegmentReader")]
#[doc(alias = "DocValuesProducer")]
pub struct Segment(Arc<Inner>);

struct Inner {
    file: Arc<str>,
    source: Arc<Source>,
    options: OpenOptions,
    metadata: Arc<Metadata>,
    /// The columns that were opened so far, by name.
    opened: Mutex<HashMap<String, OpenColumn>>,
    /// The id index, set by the first call of [`Segment::ids`].
    ids: OnceLock<Option<IdIndex>>,
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, docs, columns) = (self.file(), self.docs(), self.column_count());
        f.debug_struct("Segment")
            .field("file", &file)
            .field("docs", &docs)
            .field("columns", &columns)
            .finish_non_exhaustive()
    }
}

impl Segment {
    /// The file's path, or `<memory>`.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// The file's length in bytes. [`docs`](Self::docs) is the number of documents.
    pub fn len(&self) -> u64 {
        self.0.source.len()
    }

    /// Whether the segment has no documents. Its [`len`](Self::len), that of a file, is never 0.
    pub fn is_empty(&self) -> bool {
        self.docs() == 0
    }

    /// The number of documents. Their ids are `0..docs`.
    #[doc(alias = "maxDoc")]
    #[doc(alias = "max_doc")]
    pub fn docs(&self) -> u32 {
        self.0.metadata.footer.docs
    }

    /// The number of columns.
    pub fn column_count(&self) -> u32 {
        self.0.metadata.footer.columns
    }

    /// The index sort: the keys that order the documents, the primary key first. Empty if the segment is not sorted.
    ///
    /// A range filter on the primary key's column takes two binary searches.
    /// [`Numeric::doc_range`](crate::Numeric::doc_range) and [`Sorted::doc_range`](crate::Sorted::doc_range) return its
    /// documents as a range, without a bitset.
    ///
    /// The file claims this order, and readers rely on it. [`verify`](Self::verify) proves it.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # writer.sort_by([SortKey::of("size").descending()])?;
    /// # for value in [512, 70] {
    /// #     let mut doc = writer.document();
    /// #     doc.i64(size, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// assert_eq!(segment.sort(), [SortKey::of("size").descending()]);
    /// segment.verify()?; // reads the column and compares neighbours
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "index sort")]
    #[doc(alias = "Sort")]
    #[doc(alias = "getSort")]
    pub fn sort(&self) -> &[SortKey] {
        &self.0.metadata.sort
    }

    /// The id of the segment's content, a hash. Segments with equal ids hold the same bytes.
    pub fn id(&self) -> u128 {
        self.0.metadata.footer.id
    }

    /// The version of `docvalues` that wrote the file: major, minor, patch.
    pub fn writer_version(&self) -> [u16; 3] {
        self.0.metadata.header.writer
    }

    /// The version of the file's format.
    pub fn format_version(&self) -> u16 {
        self.0.metadata.header.version
    }

    /// The bytes of the file that this segment and its columns have read or verified so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in [Some(512), None, Some(70)] {
    /// #     let mut doc = writer.document();
    /// #     if let Some(value) = value { doc.i64(size, value)?; }
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let before = segment.bytes_touched(); // header, footer and directory
    /// segment.numeric("size")?.get(DocId::new(0))?;
    /// assert!(segment.bytes_touched() > before);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bytes_touched(&self) -> u64 {
        self.0.source.touched()
    }

    /// Opens all columns: of a segment of [requests](Self::from_reader), in as many waves as opening one takes.
    ///
    /// # Errors
    ///
    /// If the directory, or a column, is damaged.
    pub fn open_columns(&self) -> Result<()> {
        let columns = self.0.source.in_waves(|| {
            let names = self.fields()?.into_iter().map(|field| field.name);
            let columns = names.map(|name| Ok((self.open_column(self.find(&name)?)?, name)));
            // All of them are tried before the first error counts: the next wave then has what any of them lacked.
            columns.collect::<Vec<Result<_>>>().into_iter().collect::<Result<Vec<_>>>()
        })?;
        let mut opened = self.0.opened.lock().unwrap_or_else(PoisonError::into_inner);
        for (column, name) in columns {
            opened.entry(name).or_insert(column);
        }
        Ok(())
    }

    /// Returns the same segment with no column open. It opens each column anew when it is used. O(1): reads nothing.
    ///
    /// With [`from_reader`](Self::from_reader) and [`Access::Read`](crate::Access::Read), columns keep the bytes that they read.
    /// To free these, use the result instead, and drop this segment, its clones and its columns.
    pub fn without_columns(&self) -> Segment {
        let Inner { file, source, options, metadata, opened: _, ids: _ } = &*self.0;
        Segment(Arc::new(Inner {
            file: Arc::clone(file),
            source: Arc::clone(source),
            options: *options,
            metadata: Arc::clone(metadata),
            opened: Mutex::default(),
            ids: OnceLock::new(),
        }))
    }

    /// Opens the section at `at`, which holds `role`.
    pub(crate) fn section(&self, at: SectionRef, role: Role) -> FormatResult<Section> {
        Section::open(&self.0.source, at, role, self.0.options.verify)
    }

    pub(crate) fn root(&self) -> &Root {
        &self.0.metadata.root
    }

    /// The sections of fine zones, in file order.
    pub(crate) fn fine_zones(&self) -> &[FineZones] {
        &self.0.metadata.fine_zones
    }

    pub(crate) fn footer(&self) -> &Footer {
        &self.0.metadata.footer
    }
}

impl ColumnSource for Segment {
    fn docs(&self) -> u32 {
        Segment::docs(self)
    }

    fn fields(&self) -> Result<Vec<Field>> {
        Segment::fields(self)
    }

    fn column(&self, name: &str) -> Result<Arc<dyn Column>> {
        Ok(match self.opened(name)? {
            OpenColumn::Numeric(column) => column,
            OpenColumn::Binary(column) => column,
        })
    }

    fn sort(&self) -> &[SortKey] {
        Segment::sort(self)
    }

    fn bytes_touched(&self) -> u64 {
        Segment::bytes_touched(self)
    }
}
