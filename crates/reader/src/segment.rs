//! A segment: one file, opened.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use docvalues_column::{
    Bounds, Column, ColumnInfo, ColumnSource, Count, ErrorKind, Field, Kind, Result, SortKey,
};
use docvalues_format::binary::{Binary, BinaryReader};
use docvalues_format::dictionary::{self, DictionaryReader};
use docvalues_format::error::{self, Section as Role};
use docvalues_format::file::column::{self, Values};
use docvalues_format::file::directory::Page;
use docvalues_format::file::frame::{Footer, HEADER_LEN, Header};
use docvalues_format::file::root::{PageRef, Root};
use docvalues_format::granule::SectionRef;
use docvalues_format::jump::JumpTables;
use docvalues_format::numeric::{FineZones, Numeric, NumericReader};
use docvalues_format::presence::PresenceReader;
use docvalues_storage::{Memory, ReadAt, Section, Source, Verify};

use crate::binary_column::BinaryColumn;
use crate::column::{ColumnCore, FormatResult, corrupt};
use crate::dictionary::Dictionary;
use crate::id_index::IdIndex;
use crate::metadata::{self, Metadata};
use crate::numeric_column::NumericColumn;
use crate::options::{Access, OpenOptions};
use crate::sort_key::PrimarySortKey;

/// One segment file, opened for reading.
///
/// Opening reads the header, the footer and the root of the directory, and decodes nothing: it takes
/// as long for 300 million documents as for one. A column is found by name in O(log columns), and is
/// opened by reading its directory entry; opened columns are kept, so that what was once verified
/// stays so.
///
/// Cheap to clone; columns outlive the segment they came from.
///
/// # Examples
///
/// ```no_run
/// use docvalues_column::DocId;
/// use docvalues_reader::Segment;
///
/// let segment = Segment::open("hits.dv")?;
/// let size = segment.numeric("size")?;
/// println!("{:?}", size.get(DocId::new(7))?);
/// # Ok::<(), docvalues_column::Error>(())
/// ```
#[derive(Clone)]
pub struct Segment(Arc<Inner>);

struct Inner {
    file: Arc<str>,
    source: Arc<Source>,
    options: OpenOptions,
    header: Header,
    footer: Footer,
    root: Root,
    sort: Vec<SortKey>,
    /// Where fine zones are, by ascending column; none if the file has none.
    fine_zones: Vec<FineZones>,
    /// The columns that were opened, by name.
    opened: Mutex<HashMap<String, OpenColumn>>,
    /// The index of ids, once somebody asked whether there is one.
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

/// An open column of any kind.
#[derive(Clone)]
pub(crate) enum OpenColumn {
    Numeric(Arc<NumericColumn>),
    Binary(Arc<BinaryColumn>),
}

impl Segment {
    /// Opens the file at `path`, mapped, checked where it is first touched.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is no segment, is of a newer version, or its ends are damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Segment> {
        Segment::open_with(path, OpenOptions::default())
    }

    /// Opens the file at `path` as `options` say.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Segment> {
        let path = path.as_ref();
        let source = match options.access {
            Access::Map => Source::map(path),
            Access::Read => Source::read(path),
        };
        Segment::from_source(source.map_err(unread)?, options)
    }

    /// Opens a segment that is in memory.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_bytes(bytes: impl Into<Memory>, options: OpenOptions) -> Result<Segment> {
        Segment::from_source(Source::memory(bytes), options)
    }

    /// Opens a segment that `reader` reads from wherever it is, such as an object store; errors call it `name`.
    ///
    /// Bytes are requested when they are touched, and checked and kept like those of [`Access::Read`]. Requests that do not
    /// wait for each other are one *wave* ([`ReadAt::read_ranges`]):
    ///
    /// | call | waves |
    /// | --- | --- |
    /// | opening the segment | one: the first 64 bytes and the last 64 KiB, which hold the directory unless it is long |
    /// | opening a column | one: its small sections, and checksums |
    /// | gathering documents or terms | one for each step of the look-up; of numbers, two at most |
    /// | scanning | one for each piece that is read ahead, up to 1 MiB |
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use docvalues_column::{DocId, Result};
    /// use docvalues_reader::{OpenOptions, ReadAt, Segment};
    ///
    /// fn size_of(object: Arc<dyn ReadAt>, doc: DocId) -> Result<Option<i64>> {
    ///     let segment = Segment::from_reader(object, "bucket/hits.dv", OpenOptions::new())?;
    ///     segment.numeric("size")?.get(doc)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_reader(
        reader: Arc<dyn ReadAt>,
        name: impl AsRef<Path>,
        options: OpenOptions,
    ) -> Result<Segment> {
        Segment::from_source(Source::requests(reader, name).map_err(unread)?, options)
    }

    fn from_source(source: Source, options: OpenOptions) -> Result<Segment> {
        let file: Arc<str> = source.name().to_string().into();
        let ends = Metadata::read(&source, &options).map_err(|e| corrupt(&file, None, e))?;
        let Metadata { header, footer, root, sort, fine_zones } = ends;
        let (opened, ids) = (Mutex::default(), OnceLock::new());
        let source = Arc::new(source);
        Ok(Segment(Arc::new(Inner {
            file,
            source,
            options,
            header,
            footer,
            root,
            sort,
            fine_zones,
            opened,
            ids,
        })))
    }

    /// The file's path, or `<memory>`.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// The file's length in bytes.
    pub fn len(&self) -> u64 {
        self.0.source.len()
    }

    /// Whether the segment has no documents.
    pub fn is_empty(&self) -> bool {
        self.docs() == 0
    }

    /// Documents in the segment. Their ids are below it.
    pub fn docs(&self) -> u32 {
        self.0.footer.docs
    }

    /// Columns in the segment.
    pub fn column_count(&self) -> u32 {
        self.0.footer.columns
    }

    /// What the documents are sorted by, the key that counts most first; nothing if the file does not say.
    ///
    /// A range filter on the first of these columns, if it is numeric or sorted, takes two binary searches; and
    /// [`Numeric::doc_range`](crate::Numeric::doc_range) and [`Sorted::doc_range`](crate::Sorted::doc_range) return the
    /// documents without a bitset. That the documents are in this order is what the file says: [`verify`](Self::verify)
    /// proves it.
    pub fn sort(&self) -> &[SortKey] {
        &self.0.sort
    }

    /// What names the segment's content: two segments with equal ids hold the same bytes.
    pub fn id(&self) -> u128 {
        self.0.footer.id
    }

    /// The release that wrote the file: major, minor, patch.
    pub fn writer_version(&self) -> [u16; 3] {
        self.0.header.writer
    }

    /// The version of the file's format.
    pub fn format_version(&self) -> u16 {
        self.0.header.version
    }

    /// Bytes of the file that were read or verified so far, by all columns of this opened segment.
    pub fn bytes_touched(&self) -> u64 {
        self.0.source.touched()
    }

    /// The names, kinds and types of all columns, ascending by name. O(columns).
    ///
    /// # Errors
    ///
    /// When the directory is damaged.
    pub fn fields(&self) -> Result<Vec<Field>> {
        let mut fields = Vec::new();
        self.each_entry(|column| {
            fields.push(column.field);
            Ok(())
        })?;
        Ok(fields)
    }

    /// The ranges of the file that hold these columns, with header and directory, for whoever fetches them ahead; ascending,
    /// those that touch as one. O(columns).
    ///
    /// # Errors
    ///
    /// [`NoSuchColumn`](ErrorKind::NoSuchColumn), or when the directory is damaged.
    pub fn ranges(&self, columns: &[&str]) -> Result<Vec<Range<u64>>> {
        let header = HEADER_LEN as u64;
        let mut ranges =
            vec![0..header, self.root().pages.first().map_or(header, |page| page.bytes.start)..self.len()];
        for name in columns {
            let mut add = |_: Role, section: SectionRef| {
                ranges.push(section.offset..section.end().unwrap_or(u64::MAX).min(self.len()));
                Ok::<_, std::convert::Infallible>(())
            };
            let Ok(_) = self.find(name)?.try_map(&mut add);
        }
        ranges.retain(|range| range.start < range.end);
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, range| {
            let touches = next.start <= range.end;
            if touches {
                range.end = range.end.max(next.end);
            }
            touches
        });
        Ok(ranges)
    }

    /// Finds and opens a column, or takes the one that was opened before.
    pub(crate) fn opened(&self, name: &str) -> Result<OpenColumn> {
        // A thread that panicked while it held the lock has left the map as it was.
        let columns = || self.0.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(column) = columns().get(name) {
            return Ok(column.clone());
        }
        let column = self.open_column(self.find(name)?)?;
        Ok(columns().entry(name.to_owned()).or_insert(column).clone())
    }

    /// The entry of the column `name`.
    fn find(&self, name: &str) -> Result<column::Column<SectionRef>> {
        let none = || ErrorKind::NoSuchColumn { file: self.file().to_owned(), field: name.to_owned() };
        let found = self.search(name).map_err(|e| corrupt(self.file(), Some(name), e))?;
        found.ok_or_else(|| none().into())
    }

    /// A binary search over pages, each checked on the way.
    fn search(&self, name: &str) -> FormatResult<Option<column::Column<SectionRef>>> {
        let pages = &self.0.root.pages;
        let (mut low, mut high) = (0, pages.len());
        while low < high {
            let mid = low.midpoint(high);
            let bytes = self.page_bytes(&pages[mid])?;
            let page = Page::parse(&bytes, &pages[mid])?;
            match page.find(name)? {
                Ok(i) => return self.entry(&pages[mid], &page, i).map(Some),
                Err(0) => high = mid,
                Err(i) if i == page.len() => low = mid + 1,
                Err(_) => break,
            }
        }
        Ok(None)
    }

    /// The entry of column `i` of a page, with its fine zones, if the file has them.
    pub(crate) fn entry(
        &self,
        at: &PageRef,
        page: &Page<'_>,
        i: usize,
    ) -> FormatResult<column::Column<SectionRef>> {
        let mut column = page.column(i, self.docs())?;
        let number = at.columns.start.saturating_add(u32::try_from(i).unwrap_or(u32::MAX));
        let found = self.0.fine_zones.binary_search_by_key(&number, |fine_zones| fine_zones.column);
        let found = found.ok().map(|at| self.0.fine_zones[at].section);
        let numbers = column.values.numbers_mut();
        let has_zones = numbers.as_ref().is_some_and(|numbers| numbers.zones.is_some());
        if found.is_some() != (has_zones && !self.0.fine_zones.is_empty()) {
            let kind =
                error::ErrorKind::Broken("fine zones without a zone map, or a zone map without fine zones");
            return Err(error::Error::new(Role::DirectoryPage, at.bytes.start, kind));
        }
        if let Some(numbers) = numbers {
            numbers.fine_zones = found;
        }
        Ok(column)
    }

    pub(crate) fn page_bytes(&self, page: &PageRef) -> FormatResult<Cow<'_, [u8]>> {
        self.read_range(Role::DirectoryPage, page.bytes.clone())
    }

    /// The bytes `range` of the file, unchecked, which belong to `role`.
    pub(crate) fn read_range(&self, role: Role, range: Range<u64>) -> FormatResult<Cow<'_, [u8]>> {
        metadata::read_range(&self.0.source, role, range)
    }

    /// Hands every column's entry to `each`, in the order of their names.
    pub(crate) fn each_entry(
        &self,
        mut each: impl FnMut(column::Column<SectionRef>) -> Result<()>,
    ) -> Result<()> {
        for page_ref in &self.root().pages {
            let named = |e| corrupt(self.file(), None, e);
            let bytes = self.page_bytes(page_ref).map_err(named)?;
            let page = Page::parse(&bytes, page_ref).map_err(named)?;
            for i in 0..page.len() {
                each(self.entry(page_ref, &page, i).map_err(named)?)?;
            }
        }
        Ok(())
    }

    /// Opens the sections of a column, and its readers over them.
    pub(crate) fn open_column(&self, entry: column::Column<SectionRef>) -> Result<OpenColumn> {
        let name = entry.field.name.clone();
        self.open_sections(entry).map_err(|e| corrupt(self.file(), Some(&name), e))
    }

    fn open_sections(&self, entry: column::Column<SectionRef>) -> FormatResult<OpenColumn> {
        if self.0.options.verify == Verify::AtOpen {
            return self.open_readers(entry); // Nothing of that is small.
        }
        self.0.source.in_waves(|| self.open_readers(entry.clone()))
    }

    fn open_readers(&self, entry: column::Column<SectionRef>) -> FormatResult<OpenColumn> {
        let (mode, docs) = (self.0.options.jump_tables, self.docs());
        let column = entry.try_map(&mut |role, at| self.section(at, role))?;
        let presence = PresenceReader::open(column.presence, docs, mode)?;
        let (sort_key, with_value) =
            (PrimarySortKey::of(self.sort(), &column.field.name), presence.values().into());
        let info = ColumnInfo {
            field: column.field,
            docs,
            with_value: Count::Exact(with_value),
            value_count: Count::Exact(with_value),
            bounds: Bounds::Unknown,
            sum: None,
        };
        let (file, source) = (self.0.file.clone(), self.0.source.clone());
        let core = ColumnCore { file, source, sort_key, info, docs, presence };
        let (offsets, values, terms) = match column.values {
            Values::Numeric(values) => (None, values, None),
            Values::Sorted { ords, terms } => (None, ords, Some(terms)),
            Values::SortedNumeric { offsets, values } => (Some(offsets), values, None),
            Values::SortedSet { offsets, ords, terms } => (Some(offsets), ords, Some(terms)),
            Values::Binary(values) => return open_bytes(core, values, mode),
        };
        let offsets = offsets.map(|offsets| NumericReader::open(offsets, mode)).transpose()?;
        let terms = terms.map(|terms| open_terms(&core, terms, mode)).transpose()?;
        open_numbers(core, offsets, values, terms, column.statistics.sum, mode)
    }

    /// A section, opened.
    pub(crate) fn section(&self, at: SectionRef, role: Role) -> FormatResult<Section> {
        Section::open(&self.0.source, at, role, self.0.options.verify)
    }

    pub(crate) fn opened_ids(&self) -> &OnceLock<Option<IdIndex>> {
        &self.0.ids
    }

    pub(crate) fn root(&self) -> &Root {
        &self.0.root
    }

    /// Where fine zones are, in file order.
    pub(crate) fn fine_zones(&self) -> &[FineZones] {
        &self.0.fine_zones
    }

    pub(crate) fn footer(&self) -> &Footer {
        &self.0.footer
    }
}

// The three kinds of readers apart, so that opening one takes no stack for the others.

#[inline(never)]
fn open_bytes(core: ColumnCore, values: Binary<Section>, mode: JumpTables) -> FormatResult<OpenColumn> {
    let values = BinaryReader::open(values, mode)?;
    Ok(OpenColumn::Binary(Arc::new(BinaryColumn { core, values })))
}

#[inline(never)]
fn open_terms(
    core: &ColumnCore,
    terms: dictionary::Dictionary<Section>,
    mode: JumpTables,
) -> FormatResult<Arc<Dictionary>> {
    let (file, source) = (core.file.clone(), core.source.clone());
    let (field, reader) = (core.info.field.name.clone(), DictionaryReader::open(terms, mode)?);
    Ok(Arc::new(Dictionary { file, source, field, reader }))
}

#[inline(never)]
fn open_numbers(
    mut core: ColumnCore,
    offsets: Option<NumericReader<Section>>,
    values: Numeric<Section>,
    terms: Option<Arc<Dictionary>>,
    sum: Option<i128>,
    mode: JumpTables,
) -> FormatResult<OpenColumn> {
    let values = NumericReader::open(values, mode)?;
    core.info.value_count = Count::Exact(values.count());
    if terms.is_none() {
        let meta = values.meta();
        core.info.bounds = if meta.count > 0 { Bounds::Exact(meta.min..=meta.max) } else { Bounds::NONE };
        core.info.sum = sum;
    }
    Ok(OpenColumn::Numeric(Arc::new(NumericColumn { core, offsets, values, terms })))
}

/// The error for a file that cannot be opened.
fn unread(error: docvalues_storage::Error) -> ErrorKind {
    ErrorKind::Io { file: error.path().display().to_string(), source: error.into_io_error() }
}

impl OpenColumn {
    /// The column's kind.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            OpenColumn::Numeric(column) => column.core.info.kind(),
            OpenColumn::Binary(column) => column.core.info.kind(),
        }
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
}
