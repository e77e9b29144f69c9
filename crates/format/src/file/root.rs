//! The directory root: references to the pages, and the directory extensions.
//!
//! # Root: an entry for each page, then the extensions
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! |  0 | 8 | `offset`       | u64: first byte of the page in the file |
//! |  8 | 4 | `len`          | u32: the page's bytes |
//! | 12 | 4 | `crc`          | u32: CRC-32 of the page |
//! | 16 | 8 | `sections_end` | u64: end of the sections of the page's columns in the file |
//! | 24 | 4 | `columns_end`  | u32: columns in the pages up to and including this one |
//! | 28 | 4 | `zero`         | 0 |
//!
//! # Extension: data of the segment besides columns
//!
//! A reader uses the extensions that it knows, such as [`sort`] and [`FineZones`], and skips the others.
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! |  0 | 8 | `sections_end` | u64: end of the extension's sections in the file |
//! |  8 | 4 | `tag`          | u32: type of the extension; greater than that of the extension before |
//! | 12 | 4 | `len`          | u32: bytes of `body` |
//! | 16 | … | `body`         | depends on the tag |
//! | …  | … | `zero`         | to a multiple of 8 |
//!
//! # Drawing
//!
//! ```text
//! | page 0, 32 bytes | page 1, 32 bytes | ... | extension 1: sort | extension 2: ids | extension 3: fine zones |
//!                                               each 16 bytes and a body, zero-padded to a multiple of 8
//! ```
//!
//! Pages come first and have a fixed length, so their number follows from the columns of the footer. A reader that does
//! not know the tag of an extension skips `len` bytes: new data of a segment needs no new format version, and files
//! stay readable by earlier releases. `sections_end` gives every byte of the file one owner: the sections of entry *i*
//! lie between the ends of entry *i* − 1 and *i*.

use std::ops::Range;

use crate::cursor::{Cursor, Put};
use crate::error::{ErrorKind, Place, Result, Section};
use crate::file::frame::{Footer, HEADER_LEN};
use crate::file::sort::{self, SORT_TAG, SortKey};
use crate::granule;
use crate::numeric::{FINE_ZONES_TAG, FineZones};

/// The most columns in a segment.
pub const MAX_COLUMNS: u32 = 65_000;

/// Bytes of a page's entry in the root.
pub const ROOT_ENTRY_LEN: usize = 32;

/// Bytes of an extension before its body.
const EXTENSION_HEAD_LEN: usize = 16;

/// The directory root, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// The pages, in the order of the names of their columns.
    pub pages: Vec<PageRef>,
    /// The directory extensions, by ascending tag.
    pub extensions: Vec<Extension>,
}

/// A reference to one directory page, checked against its neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRef {
    /// The page's bytes in the file.
    pub bytes: Range<u64>,
    /// CRC-32 of the page.
    pub crc: u32,
    /// Bytes of the file that hold the sections of its columns.
    pub sections: Range<u64>,
    /// The numbers of its columns in the order of all field names.
    pub columns: Range<u32>,
}

/// A directory extension: data of the segment that is not a column. It may have sections of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The type of the extension.
    pub tag: u32,
    /// Bytes of the file that hold its sections.
    pub sections: Range<u64>,
    /// Its contents in the root.
    pub body: Vec<u8>,
}

impl Root {
    /// Reads the root of the file of `footer`.
    ///
    /// O(bytes). The result occupies 56 bytes a page, and the bodies of the extensions.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Checksum`], and when pages or extensions overlap, lie outside the file, or have another number of
    /// columns than the footer.
    pub fn parse(bytes: &[u8], footer: &Footer) -> Result<Root> {
        let place = Place { section: Section::DirectoryRoot, offset: footer.root_offset };
        granule::check(place.section, place.offset, bytes, footer.root_crc)?;
        let mut cursor = Cursor::new(place, bytes);
        cursor.at_most("columns", footer.columns.into(), MAX_COLUMNS.into())?;
        let mut root = Root::default();
        while root.columns() < footer.columns {
            let page = PageRef::decode(&mut cursor, &root, footer)?;
            root.pages.push(page);
        }
        cursor.equal("columns in the pages", root.columns().into(), footer.columns.into())?;
        while cursor.left() > 0 {
            let extension = Extension::decode(&mut cursor, &root)?;
            root.extensions.push(extension);
        }
        let sections_may_end = root.pages.first().map_or(footer.root_offset, |page| page.bytes.start);
        cursor.at_most("end of the sections", root.sections_end(), sections_may_end)?;
        Ok(root)
    }

    /// The root's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.pages.iter().for_each(|page| page.encode(&mut out));
        self.extensions.iter().for_each(|extension| extension.encode(&mut out));
        out
    }

    /// The extension with this tag, if there is one, and the position of its body in the file of `footer`.
    pub fn extension(&self, tag: u32, footer: &Footer) -> Option<(Place, &Extension)> {
        let mut at = self.pages.len() * ROOT_ENTRY_LEN + EXTENSION_HEAD_LEN;
        for extension in &self.extensions {
            if extension.tag == tag {
                let offset = footer.root_offset.saturating_add(at as u64);
                return Some((Place { section: Section::DirectoryRoot, offset }, extension));
            }
            at += extension.body.len().next_multiple_of(8) + EXTENSION_HEAD_LEN;
        }
        None
    }

    /// The keys of the index sort; empty if the file has none.
    ///
    /// # Errors
    ///
    /// As [`sort::decode`], and when the extension has sections.
    pub fn sort(&self, footer: &Footer) -> Result<Vec<SortKey>> {
        let Some((place, extension)) = self.extension(SORT_TAG, footer) else { return Ok(Vec::new()) };
        place.check(0, ErrorKind::rule(extension.sections.is_empty(), "the index sort has sections"))?;
        sort::decode(&mut Cursor::new(place, &extension.body))
    }

    /// The fine zones of each column that has any, by ascending column.
    ///
    /// # Errors
    ///
    /// As [`FineZones::decode_all`].
    pub fn fine_zones(&self, footer: &Footer) -> Result<Vec<FineZones>> {
        let Some((place, extension)) = self.extension(FINE_ZONES_TAG, footer) else { return Ok(Vec::new()) };
        FineZones::decode_all(&mut Cursor::new(place, &extension.body), footer.columns, &extension.sections)
    }

    /// Columns in the pages.
    pub(super) fn columns(&self) -> u32 {
        self.pages.last().map_or(0, |page| page.columns.end)
    }

    /// End of the sections of all pages and extensions, in the file.
    pub(super) fn sections_end(&self) -> u64 {
        let pages = self.pages.last().map(|page| page.sections.end);
        self.extensions.last().map(|extension| extension.sections.end).or(pages).unwrap_or(HEADER_LEN as u64)
    }
}

impl PageRef {
    /// Appends the page's entry.
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.bytes.start);
        // Pages are short.
        out.put_u32(u32::try_from(self.bytes.end - self.bytes.start).unwrap_or(u32::MAX));
        out.put_u32(self.crc);
        out.put_u64(self.sections.end);
        out.put_u32(self.columns.end);
        out.put_u32(0);
    }

    /// Reads the entry of the page after those of `root`.
    fn decode(cursor: &mut Cursor<'_>, root: &Root, footer: &Footer) -> Result<PageRef> {
        let (sections, columns) = (root.sections_end(), root.columns());
        let before = root.pages.last().map_or(HEADER_LEN as u64, |page| page.bytes.end);
        let (offset, len, crc) = (cursor.u64()?, cursor.u32()?, cursor.u32()?);
        let (sections_end, columns_end) = (cursor.u64()?, cursor.u32()?);
        cursor.zeros(4)?;
        let bytes = offset..offset.saturating_add(len.into());
        cursor.at_most("end of the page before", before, bytes.start)?;
        cursor.at_most("end of the page", bytes.end, footer.root_offset)?;
        cursor.at_most("end of the sections before", sections, sections_end)?;
        // A page has at least one column, so there are no more entries than columns.
        cursor.at_most("columns up to the page's first", u64::from(columns) + 1, columns_end.into())?;
        Ok(PageRef { bytes, crc, sections: sections..sections_end, columns: columns..columns_end })
    }
}

impl Extension {
    /// Appends the extension.
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.sections.end);
        out.put_u32(self.tag);
        out.put_u32(u32::try_from(self.body.len()).unwrap_or(u32::MAX));
        out.put(&self.body);
        out.resize(out.len().next_multiple_of(8), 0);
    }

    /// Reads the extension after those of `root`.
    fn decode(cursor: &mut Cursor<'_>, root: &Root) -> Result<Extension> {
        let sections = root.sections_end();
        let (sections_end, tag, len) = (cursor.u64()?, cursor.u32()?, cursor.u32()?);
        cursor.at_most("end of the sections before", sections, sections_end)?;
        let ascends = root.extensions.last().is_none_or(|before| before.tag < tag);
        cursor.rule(ascends, "extension tags do not ascend")?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let body = cursor.take(len)?.to_vec();
        cursor.zeros(len.next_multiple_of(8) - len)?;
        Ok(Extension { tag, sections: sections..sections_end, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::directory::DirectoryBuilder;
    use crate::file::frame::FOOTER_LEN;

    /// The root of a segment without columns, with these extensions.
    fn root_of(extensions: &[(u32, u64, &[u8])]) -> Result<Root> {
        let mut directory = DirectoryBuilder::default();
        extensions.iter().for_each(|&(tag, end, body)| directory.push_extension(tag, end, body.to_vec()));
        let (bytes, footer) = directory.finish(4096, 7);
        assert_eq!(footer.root_offset, 4096);
        assert_eq!(bytes.len() % FOOTER_LEN, 0);
        Root::parse(&bytes[..usize::try_from(footer.root_len).unwrap()], &footer)
    }

    #[test]
    fn extensions_are_read_or_refused() {
        let root = root_of(&[(1, 64, b""), (5, 640, b"thirteen bytes"), (6, 4096, b"12345678")]).unwrap();
        let found: Vec<_> =
            root.extensions.iter().map(|e| (e.tag, e.sections.clone(), e.body.as_slice())).collect();
        assert_eq!(
            found,
            [(1, 64..64, &b""[..]), (5, 64..640, b"thirteen bytes"), (6, 640..4096, b"12345678")]
        );
        for wrong in [
            [(5, 64, &b""[..]), (5, 64, b"")],
            [(5, 640, b""), (6, 639, b"")],
            [(5, 63, b""), (6, 64, b"")],
            [(5, 64, b""), (6, 4097, b"")],
        ] {
            assert!(root_of(&wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_sort_is_found_among_other_extensions_and_its_errors_have_an_offset() {
        let body = sort::encode(&[SortKey::of("a")]);
        let mut directory = DirectoryBuilder::default();
        directory.push_extension(0, 64, b"thirteen bytes".to_vec());
        directory.push_extension(SORT_TAG, 64, body.clone());
        directory.push_extension(2, 640, b"".to_vec());
        let (bytes, footer) = directory.finish(4096, 7);
        let mut root = Root::parse(&bytes[..usize::try_from(footer.root_len).unwrap()], &footer).unwrap();
        assert_eq!(root.sort(&footer).unwrap(), [SortKey::of("a")]);
        let at = bytes.windows(body.len()).position(|bytes| bytes == body).unwrap() as u64;
        root.extensions[1].body[0] = 0;
        assert_eq!(root.sort(&footer).unwrap_err().offset(), 4096 + at);
        root.extensions[1] = Extension { sections: 64..640, ..root.extensions[1].clone() };
        assert!(root.sort(&footer).unwrap_err().to_string().ends_with("the index sort has sections"));
        root.extensions.remove(1);
        assert_eq!(root.sort(&footer).unwrap(), []);
    }

    #[test]
    fn an_extension_is_part_of_the_id() {
        let id = |body: &[u8]| {
            let mut directory = DirectoryBuilder::default();
            directory.push_extension(1, 64, body.to_vec());
            directory.finish(64, 7).1.id
        };
        assert_eq!(id(b"a"), id(b"a"));
        assert_ne!(id(b"a"), id(b"b"));
        assert_ne!(id(b""), DirectoryBuilder::default().finish(64, 7).1.id);
    }

    #[test]
    fn extensions_that_are_truncated_or_padded_with_other_bytes_are_refused() {
        let mut directory = DirectoryBuilder::default();
        directory.push_extension(1, 64, b"abc".to_vec());
        let (bytes, footer) = directory.finish(64, 7);
        let bytes = &bytes[..usize::try_from(footer.root_len).unwrap()];
        let parse = |bytes: &[u8]| Root::parse(bytes, &Footer { root_crc: crc32fast::hash(bytes), ..footer });
        parse(bytes).unwrap();
        for len in 1..bytes.len() {
            assert!(parse(&bytes[..len]).is_err(), "{len} bytes");
        }
        let mut padded = bytes.to_vec();
        *padded.last_mut().unwrap() = 1;
        assert!(parse(&padded).is_err());
        let long = [&bytes[..12], &[0xff; 4], &bytes[16..]].concat();
        assert!(parse(&long).is_err());
    }
}
