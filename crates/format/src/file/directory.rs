//! The directory: every column's entry, in pages sorted by field name.
//!
//! A segment may have 65,000 columns and be opened for one of them. So opening reads only the *root* (see
//! [`root`](super::root)). A column is found by binary search over the pages, each of which has its own checksum. The
//! sections of the columns lie in the file in the order of the columns' names. Each page and entry states the end of
//! its sections, so that no two columns can claim the same bytes.
//!
//! # Page
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! | 0 | 4         | `count`   | u32: columns in the page, *n* |
//! | 4 | 4 × (n+1) | `offsets` | u32s: start of each entry in the page, and end of the last one |
//! | … | …         | `entries` | see [`column`](super::column) |
//!
//! # Drawing
//!
//! A page of two columns. Offsets count from the page's first byte, so a binary search by name reads an offset and a
//! name for each step, and decodes one entry in the end:
//!
//! ```text
//! byte 0    4         8         12        16                 130               251
//!      | 2  | 16      | 130     | 251     | entry of "host"  | entry of "size" |
//!      count  offsets                       sections_end, name, kind, ...
//! ```

use crate::cursor::{Cursor, Put};
use crate::error::{Place, Result, Section};
use crate::file::column::{Column, EntryHead};
use crate::file::field::Field;
use crate::file::frame::{FOOTER_LEN, Footer, HEADER_LEN, Header};
use crate::file::root::{Extension, PageRef, ROOT_ENTRY_LEN, Root};
use crate::granule::{self, SectionRef};

/// The writer closes a page with the entry that takes it to this many bytes. It is about a granule, so that a look-up
/// among 65,000 columns reads a dozen granules.
pub const PAGE_TARGET: usize = 4096;

/// One page of the directory, with verified checksum, order of names and ends of sections.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    place: Place,
    bytes: &'a [u8],
    count: usize,
    sections_start: u64,
}

impl<'a> Page<'a> {
    /// Checks and opens a page. O(bytes of the page).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Checksum`](crate::error::ErrorKind::Checksum), and when the entries contradict each other or
    /// `page`.
    pub fn parse(bytes: &'a [u8], page: &PageRef) -> Result<Page<'a>> {
        let place = Place { section: Section::DirectoryPage, offset: page.bytes.start };
        granule::check(place.section, place.offset, bytes, page.crc)?;
        let mut cursor = Cursor::new(place, bytes);
        let count = cursor.u32()?;
        cursor.equal("columns in the page", count.into(), page.columns.len() as u64)?;
        // Every column has an offset in the page, so the bytes of the page bound the loop below.
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let parsed = Page { place, bytes, count, sections_start: page.sections.start };
        let (mut end, mut before) = (page.sections.start, None);
        for i in 0..count {
            let head = parsed.head(i)?;
            cursor.rule(before.is_none_or(|before| before < head.name), "field names do not ascend")?;
            cursor.at_most("end of the sections before", end, head.sections_end)?;
            (end, before) = (head.sections_end, Some(head.name));
        }
        cursor.equal("end of the page's sections", end, page.sections.end)?;
        Ok(parsed)
    }

    /// The number of columns in the page.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the page has no column. The writer writes no such page.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the index of column `name` in the page, or `Err` with the index at which it would be inserted.
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

    /// The field of column `i` of the page. The rest of the entry is not checked.
    ///
    /// # Errors
    ///
    /// When a part of the field has a value that the format does not allow.
    pub fn field(&self, i: usize) -> Result<Field> {
        let mut entry = self.entry(i)?;
        EntryHead::decode(&mut entry)?.field(&mut entry)
    }

    /// The entry of column `i` of the page, in a segment of `docs` documents.
    ///
    /// # Errors
    ///
    /// When a field has a value that the format does not allow, or a section lies outside the column's part of the
    /// file.
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

/// Builds the directory from column entries, in the order of their names.
#[derive(Debug)]
pub struct DirectoryBuilder {
    /// The pages so far, each padded with zeros to a multiple of 64.
    pages: Vec<u8>,
    /// Counts the bytes of the pages from the first one.
    root: Root,
    entries: Vec<Vec<u8>>,
    columns: u32,
    /// Features of the columns and extensions.
    required: u32,
    /// End of the sections of all columns and extensions so far, in the file.
    sections_end: u64,
}

impl Default for DirectoryBuilder {
    fn default() -> DirectoryBuilder {
        let (pages, root, entries) = Default::default();
        let (required, sections_end) = (Header::current().required, HEADER_LEN as u64);
        DirectoryBuilder { pages, root, entries, columns: 0, required, sections_end }
    }
}

impl DirectoryBuilder {
    /// Appends a column whose sections end at byte `sections_end` of the file.
    pub fn push(&mut self, column: &Column<SectionRef>, sections_end: u64) {
        let mut entry = Vec::new();
        column.encode(sections_end, &mut entry);
        self.entries.push(entry);
        self.columns += 1;
        self.required |= column.required_features();
        self.sections_end = sections_end;
        if self.entries.iter().map(|e| e.len() + 4).sum::<usize>() >= PAGE_TARGET {
            self.close_page();
        }
    }

    /// Appends a directory extension whose sections end at byte `sections_end` of the file. Extensions come after all
    /// columns, in ascending order of their tags, each of which occurs once.
    pub fn push_extension(&mut self, tag: u32, sections_end: u64, body: Vec<u8>) {
        if !self.entries.is_empty() {
            self.close_page();
        }
        self.root.extensions.push(Extension { tag, sections: self.sections_end..sections_end, body });
        self.sections_end = sections_end;
    }

    /// Adds features without which the file cannot be read, besides those of its columns.
    pub fn require(&mut self, features: u32) {
        self.required |= features;
    }

    fn close_page(&mut self) {
        let entries = std::mem::take(&mut self.entries);
        let (start, pages) = (self.pages.len(), &mut self.pages);
        let mut at = 4 + 4 * (entries.len() + 1);
        pages.put_u32(u32_of(entries.len()));
        pages.put_u32(u32_of(at));
        for entry in &entries {
            at += entry.len();
            pages.put_u32(u32_of(at));
        }
        entries.iter().for_each(|entry| pages.put(entry));
        let page = PageRef {
            bytes: start as u64..pages.len() as u64,
            crc: crc32fast::hash(&pages[start..]),
            sections: self.root.sections_end()..self.sections_end,
            columns: self.root.columns()..self.columns,
        };
        self.root.pages.push(page);
        pages.resize(pages.len().next_multiple_of(64), 0);
    }

    /// Returns the last part of the file: pages, root and footer. They must be written at byte `at`, the end of the
    /// sections; `docs` is the number of documents in the segment.
    pub fn finish(mut self, at: u64, docs: u32) -> (Vec<u8>, Footer) {
        if !self.entries.is_empty() {
            self.close_page();
        }
        let DirectoryBuilder { pages: mut out, mut root, .. } = self;
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let pages: Vec<_> =
            root.pages.iter().map(|page| place(page.bytes.start)..place(page.bytes.end)).collect();
        root.pages.iter_mut().for_each(|page| page.bytes = at + page.bytes.start..at + page.bytes.end);
        let bytes = root.encode();
        let (_, extensions) = bytes.split_at(pages.len() * ROOT_ENTRY_LEN);
        let footer = Footer {
            root_offset: at + out.len() as u64,
            root_len: u32_of(bytes.len()),
            root_crc: crc32fast::hash(&bytes),
            docs,
            columns: self.columns,
            id: content_id(docs, pages.into_iter().map(|page| &out[page]), extensions),
            required: self.required,
        };
        out.put(&bytes);
        out.resize(out.len().next_multiple_of(FOOTER_LEN), 0);
        out.put(&footer.encode());
        (out, footer)
    }
}

/// The content id of a segment of `docs` documents: a hash of its directory pages, in order, and of `extensions`, the
/// bytes after the pages' entries in the root. O(bytes).
pub fn content_id<'a>(docs: u32, pages: impl IntoIterator<Item = &'a [u8]>, extensions: &[u8]) -> u128 {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(&docs.to_le_bytes());
    pages.into_iter().for_each(|page| hash.update(page));
    hash.update(extensions);
    hash.digest128()
}

/// A length inside the directory, which always fits: a page is at most [`PAGE_TARGET`] bytes and one entry long, and
/// the root has 32 bytes for each of at most 65,000 pages.
fn u32_of(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
