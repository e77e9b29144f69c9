//! The directory: every column's entry, in pages sorted by field name.
//!
//! A segment may have 65,000 columns and be opened for one of them, so nothing but the *root* is
//! read at opening; a column is found by binary search over the pages, of which each has a checksum
//! of its own. The sections of the columns lie in the file in the order of the columns' names; page
//! and entry say where theirs end, so that no two columns can claim the same bytes.
//!
//! # Root: an entry for each page
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! |  0 | 8 | `offset`       | u64: the page's first byte in the file |
//! |  8 | 4 | `len`          | u32: the page's bytes |
//! | 12 | 4 | `crc`          | u32: CRC-32 of the page |
//! | 16 | 8 | `sections_end` | u64: where the sections of the page's columns end in the file |
//! | 24 | 4 | `columns_end`  | u32: columns in the pages up to and including this one |
//! | 28 | 4 | `zero`         | 0 |
//!
//! # Page
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! | 0 | 4         | `count`   | u32: columns in the page, *n* |
//! | 4 | 4 × (n+1) | `offsets` | u32s: where each entry begins in the page, and where the last ends |
//! | … | …         | `entries` | see [`column`](super::column) |

use std::ops::Range;

use crate::cursor::{Cursor, Put};
use crate::error::{Error, ErrorKind, Place, Result, Section};
use crate::file::column::{Column, EntryHead};
use crate::file::frame::{FOOTER_LEN, Footer, HEADER_LEN, Header};
use crate::granule::SectionRef;

/// Bytes of a page's entry in the root.
pub const ROOT_ENTRY_LEN: usize = 32;
/// A page is closed with the entry that takes it to this many bytes: about a granule, so that a
/// look-up among 65,000 columns reads a dozen of them.
pub const PAGE_TARGET: usize = 4096;
/// The most columns in a segment.
pub const MAX_COLUMNS: u32 = 65_000;

/// Where one directory page lies, checked against its neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRef {
    /// The page's bytes in the file.
    pub bytes: Range<u64>,
    /// CRC-32 of the page.
    pub crc: u32,
    /// Where in the file the sections of its columns lie.
    pub sections: Range<u64>,
    /// The numbers of its columns, by field name.
    pub columns: Range<u32>,
}

/// Reads the root, which `footer` describes.
///
/// O(pages), and the result takes 56 bytes a page.
///
/// # Errors
///
/// [`ErrorKind::Checksum`], and when pages overlap, lie outside the file, or do not hold as many
/// columns as the footer says.
pub fn parse_root(bytes: &[u8], footer: &Footer) -> Result<Vec<PageRef>> {
    let place = Place { section: Section::DirectoryRoot, offset: footer.root_offset };
    let found = crc32fast::hash(bytes);
    if found != footer.root_crc {
        return Err(Error::at(place, 0, ErrorKind::Checksum { found, expected: footer.root_crc }));
    }
    let mut cursor = Cursor::new(place, bytes);
    let mut pages: Vec<PageRef> = Vec::with_capacity(bytes.len() / ROOT_ENTRY_LEN);
    while cursor.left() > 0 {
        let (sections, columns) =
            pages.last().map_or((HEADER_LEN as u64, 0), |p| (p.sections.end, p.columns.end));
        let (offset, len, crc) = (cursor.u64()?, cursor.u32()?, cursor.u32()?);
        let (sections_end, columns_end) = (cursor.u64()?, cursor.u32()?);
        cursor.zeros(4)?;
        let before = pages.last().map_or(HEADER_LEN as u64, |p| p.bytes.end);
        let bytes = offset..offset.saturating_add(len.into());
        cursor.at_most("end of the page before", before, bytes.start)?;
        cursor.at_most("end of the page", bytes.end, footer.root_offset)?;
        cursor.at_most("end of the sections before", sections, sections_end)?;
        cursor.at_most("columns before the page", columns.into(), columns_end.into())?;
        pages.push(PageRef { bytes, crc, sections: sections..sections_end, columns: columns..columns_end });
    }
    if let (Some(first), Some(last)) = (pages.first(), pages.last()) {
        cursor.at_most("end of the sections", last.sections.end, first.bytes.start)?;
    }
    let columns = pages.last().map_or(0, |p| p.columns.end);
    cursor.equal("columns in the pages", columns.into(), footer.columns.into())?;
    cursor.at_most("columns", columns.into(), MAX_COLUMNS.into())?;
    Ok(pages)
}

/// One page, its checksum and its skeleton checked: names ascend and sections do not overlap.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    place: Place,
    bytes: &'a [u8],
    count: usize,
    sections_start: u64,
}

impl<'a> Page<'a> {
    /// Checks a page. O(its bytes).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Checksum`], and when the page's skeleton contradicts itself or `page`.
    pub fn parse(bytes: &'a [u8], page: &PageRef) -> Result<Page<'a>> {
        let place = Place { section: Section::DirectoryPage, offset: page.bytes.start };
        let found = crc32fast::hash(bytes);
        if found != page.crc {
            return Err(Error::at(place, 0, ErrorKind::Checksum { found, expected: page.crc }));
        }
        let mut cursor = Cursor::new(place, bytes);
        let count = cursor.u32()?;
        cursor.equal("columns in the page", count.into(), page.columns.len() as u64)?;
        // Every column has an offset in the page, so the loop below is bounded by its bytes.
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let parsed = Page { place, bytes, count, sections_start: page.sections.start };
        let (mut end, mut before) = (page.sections.start, None);
        for i in 0..count {
            let head = parsed.head(i)?;
            if before.is_some_and(|before| before >= head.name) {
                return Err(cursor.refuse(ErrorKind::Broken("field names do not ascend")));
            }
            cursor.at_most("end of the sections before", end, head.sections_end)?;
            (end, before) = (head.sections_end, Some(head.name));
        }
        cursor.equal("end of the page's sections", end, page.sections.end)?;
        Ok(parsed)
    }

    /// How many columns the page has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it has none: a writer makes no such page.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The place of the column `name` in the page, or `Err` with the place where it would stand.
    ///
    /// # Errors
    ///
    /// When an entry lies outside the page.
    pub fn find(&self, name: &str) -> Result<std::result::Result<usize, usize>> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let mid = low.midpoint(high);
            match self.head(mid)?.name.cmp(name) {
                std::cmp::Ordering::Less => low = mid + 1,
                std::cmp::Ordering::Greater => high = mid,
                std::cmp::Ordering::Equal => return Ok(Ok(mid)),
            }
        }
        Ok(Err(low))
    }

    /// The name of column `i` of the page.
    ///
    /// # Errors
    ///
    /// When its entry lies outside the page.
    pub fn name(&self, i: usize) -> Result<&'a str> {
        self.head(i).map(|head| head.name)
    }

    /// The entry of column `i` of the page, in a segment of `docs` documents.
    ///
    /// # Errors
    ///
    /// When a field holds what it may not, or a section lies outside the column's part of the file.
    pub fn column(&self, i: usize, docs: u32) -> Result<Column<SectionRef>> {
        let start = match i.checked_sub(1) {
            Some(before) => self.head(before)?.sections_end,
            None => self.sections_start,
        };
        Column::decode(&mut self.entry(i)?, docs, start)
    }

    fn head(&self, i: usize) -> Result<EntryHead<'a>> {
        EntryHead::decode(&mut self.entry(i)?)
    }

    /// A cursor over entry `i`.
    fn entry(&self, i: usize) -> Result<Cursor<'a>> {
        let at = i.saturating_mul(4).saturating_add(4);
        let mut offsets = Cursor::new(self.place, self.bytes);
        offsets.take(at)?;
        let (start, end) = (offsets.u32()?, offsets.u32()?);
        offsets.at_most("end of the entry", end.into(), self.bytes.len() as u64)?;
        offsets.at_most("start of the entry", start.into(), end.into())?;
        // Both lie inside `bytes`, so they fit.
        let range = usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
        let place = Place { offset: self.place.offset.saturating_add(start.into()), ..self.place };
        Ok(Cursor::new(place, &self.bytes[range]))
    }
}

/// Collects column entries, in the order of their names, into pages.
#[derive(Debug, Default)]
pub struct DirectoryBuilder {
    pages: Vec<BuiltPage>,
    entries: Vec<Vec<u8>>,
    columns: u32,
}

#[derive(Debug)]
struct BuiltPage {
    bytes: Vec<u8>,
    sections_end: u64,
    columns_end: u32,
}

impl DirectoryBuilder {
    /// Appends a column whose sections end at byte `sections_end` of the file.
    pub fn push(&mut self, column: &Column<SectionRef>, sections_end: u64) {
        let mut entry = Vec::new();
        column.encode(sections_end, &mut entry);
        self.entries.push(entry);
        self.columns += 1;
        if self.entries.iter().map(|e| e.len() + 4).sum::<usize>() >= PAGE_TARGET {
            self.close_page(sections_end);
        }
    }

    fn close_page(&mut self, sections_end: u64) {
        let entries = std::mem::take(&mut self.entries);
        let mut bytes = Vec::new();
        let mut at = 4 + 4 * (entries.len() + 1);
        bytes.put_u32(u32_of(entries.len()));
        bytes.put_u32(u32_of(at));
        for entry in &entries {
            at += entry.len();
            bytes.put_u32(u32_of(at));
        }
        entries.iter().for_each(|entry| bytes.put(entry));
        self.pages.push(BuiltPage { bytes, sections_end, columns_end: self.columns });
    }

    /// The end of the file: pages, root and footer, to be written at byte `at`, where the sections
    /// end; `docs` is the segment's number of documents.
    pub fn finish(mut self, at: u64, docs: u32) -> (Vec<u8>, Footer) {
        if !self.entries.is_empty() {
            self.close_page(at);
        }
        let (mut out, mut root) = (Vec::new(), Vec::new());
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        hash.update(&docs.to_le_bytes());
        for page in &self.pages {
            root.put_u64(at + out.len() as u64);
            root.put_u32(u32_of(page.bytes.len()));
            root.put_u32(crc32fast::hash(&page.bytes));
            root.put_u64(page.sections_end);
            root.put_u32(page.columns_end);
            root.put_u32(0);
            hash.update(&page.bytes);
            out.put(&page.bytes);
            out.resize(out.len().next_multiple_of(64), 0);
        }
        let footer = Footer {
            root_offset: at + out.len() as u64,
            root_len: u32_of(root.len()),
            root_crc: crc32fast::hash(&root),
            docs,
            columns: self.columns,
            id: hash.digest128(),
            required: Header::current().required,
        };
        out.put(&root);
        out.resize(out.len().next_multiple_of(FOOTER_LEN), 0);
        out.put(&footer.encode());
        (out, footer)
    }
}

/// A length inside the directory: a page is at most [`PAGE_TARGET`] bytes and one entry long, and
/// the root has 32 bytes for each of at most 65,000.
fn u32_of(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
