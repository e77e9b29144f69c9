//! The directory of a segment: the entries of its columns, found by name.
//!
//! The root lists pages, and each page lists columns in ascending order of their names. A look-up is a binary search
//! over pages, then one within a page.

use std::borrow::Cow;
use std::ops::Range;

use docvalues_column::{ErrorKind, Field, Result};
use docvalues_format::error::{self, Section as Role};
use docvalues_format::file::column::{Column, Values};
use docvalues_format::file::directory::Page;
use docvalues_format::file::frame::HEADER_LEN;
use docvalues_format::file::root::PageRef;
use docvalues_format::granule::SectionRef;

use super::Segment;
use crate::column::{FormatResult, corrupt};
use crate::metadata;

impl Segment {
    /// The names, kinds and types of all columns, ascending by name. O(columns).
    ///
    /// # Errors
    ///
    /// If the directory is damaged. What it says of values is checked when a column is opened.
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
    /// let fields = segment.fields()?;
    /// assert_eq!((fields[0].name.as_str(), fields[0].kind), ("size", Kind::Numeric));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "FieldInfo")]
    #[doc(alias = "FieldInfos")]
    pub fn fields(&self) -> Result<Vec<Field>> {
        let mut fields = Vec::new();
        self.each_place(|_, page, i| {
            fields.push(page.field(i).map_err(|e| corrupt(self.file(), None, e))?);
            Ok(())
        })?;
        Ok(fields)
    }

    /// The ranges of the file that hold `columns`, the header and the directory, for code that fetches them ahead.
    /// O(columns).
    ///
    /// The ranges ascend; adjacent ones are merged.
    ///
    /// # Errors
    ///
    /// [`NoSuchColumn`](ErrorKind::NoSuchColumn), or if the directory is damaged.
    ///
    /// # Examples
    ///
    /// A download of one column: the ranges are at their offsets in a sparse copy of the file.
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let [size, time] = ["size", "time"].map(|name| schema.add(FieldSpec::new(name, LogicalType::I64)).unwrap());
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in 0..1_000 {
    /// #     let mut doc = writer.document();
    /// #     doc.i64(size, value * value % 97)?.i64(time, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let remote = writer.finish_bytes()?;
    /// # let segment = Segment::from_bytes(remote.clone(), OpenOptions::new())?;
    /// let mut copy = vec![0; remote.len()];
    /// for range in segment.ranges(&["size"])? {
    ///     let range = range.start as usize..range.end as usize;
    ///     copy[range.clone()].copy_from_slice(&remote[range]);
    /// }
    /// let copy = Segment::from_bytes(copy, OpenOptions::new())?;
    /// assert_eq!(copy.numeric("size")?.get(DocId::new(3))?, Some(9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ranges(&self, columns: &[&str]) -> Result<Vec<Range<u64>>> {
        let header = HEADER_LEN as u64;
        let mut ranges =
            vec![0..header, self.root().pages.first().map_or(header, |page| page.bytes.start)..self.len()];
        for name in columns {
            let sections = self.find(name)?.sections().into_iter();
            ranges.extend(sections.map(|(_, at)| at.offset..at.end().unwrap_or(u64::MAX).min(self.len())));
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

    /// The entry of the column `name`.
    pub(super) fn find(&self, name: &str) -> Result<Column<SectionRef>> {
        let none = || ErrorKind::NoSuchColumn { file: self.file().to_owned(), field: name.to_owned() };
        let found = self.search(name).map_err(|e| corrupt(self.file(), Some(name), e))?;
        found.ok_or_else(|| none().into())
    }

    /// A binary search over pages. Each page that is visited is checked.
    fn search(&self, name: &str) -> FormatResult<Option<Column<SectionRef>>> {
        let pages = &self.root().pages;
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

    /// The entry of column `i` of a page, with its fine zones if it has them.
    pub(crate) fn entry(&self, at: &PageRef, page: &Page<'_>, i: usize) -> FormatResult<Column<SectionRef>> {
        let mut column = page.column(i, self.docs())?;
        let number = at.columns.start.saturating_add(u32::try_from(i).unwrap_or(u32::MAX));
        let found = self.fine_zones().binary_search_by_key(&number, |fine_zones| fine_zones.column);
        let found = found.ok().map(|at| self.fine_zones()[at].section);
        let numbers = match &mut column.values {
            Values::Numbers { values, .. } => Some(values),
            Values::Binary(_) => None,
        };
        let has_zones = numbers.as_ref().is_some_and(|numbers| numbers.zones.is_some());
        let place = error::Place { section: Role::DirectoryPage, offset: at.bytes.start };
        let both = found.is_some() == (has_zones && !self.fine_zones().is_empty());
        let why = "fine zones without a zone map, or a zone map without fine zones";
        place.check(0, error::ErrorKind::rule(both, why))?;
        if let Some(numbers) = numbers {
            numbers.fine_zones = found;
        }
        Ok(column)
    }

    pub(crate) fn page_bytes(&self, page: &PageRef) -> FormatResult<Cow<'_, [u8]>> {
        self.read_range(Role::DirectoryPage, page.bytes.clone())
    }

    /// The bytes `range` of the file, which hold `role`. Not verified.
    pub(crate) fn read_range(&self, role: Role, range: Range<u64>) -> FormatResult<Cow<'_, [u8]>> {
        metadata::read_range(&self.0.source, role, range)
    }

    /// Calls `each` with the entry of every column, in the order of their names.
    pub(crate) fn each_entry(&self, mut each: impl FnMut(Column<SectionRef>) -> Result<()>) -> Result<()> {
        self.each_place(|at, page, i| {
            each(self.entry(at, page, i).map_err(|e| corrupt(self.file(), None, e))?)
        })
    }

    /// Calls `each` with the place of every column, in the order of their names: its page, and its index there.
    fn each_place(&self, mut each: impl FnMut(&PageRef, &Page<'_>, usize) -> Result<()>) -> Result<()> {
        for at in &self.root().pages {
            let named = |e| corrupt(self.file(), None, e);
            let bytes = self.page_bytes(at).map_err(named)?;
            let page = Page::parse(&bytes, at).map_err(named)?;
            (0..page.len()).try_for_each(|i| each(at, &page, i))?;
        }
        Ok(())
    }
}
