//! The directory root: where the pages are, and what else a segment says of itself.
//!
//! # Root: an entry for each page, then the extensions
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
//! # Extension: what the segment has besides columns
//!
//! Of these, a release reads those that it knows, such as [`sort`] and [`FineZones`], and skips the others.
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! |  0 | 8 | `sections_end` | u64: where the extension's sections end in the file |
//! |  8 | 4 | `tag`          | u32: what it is; greater than that of the extension before |
//! | 12 | 4 | `len`          | u32: bytes of `body` |
//! | 16 | … | `body`         | what the tag asks for |
//! | …  | … | `zero`         | to a multiple of 8 |

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

/// What the root says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// The pages, in the order of the names of their columns.
    pub pages: Vec<PageRef>,
    /// What else there is, by ascending tag.
    pub extensions: Vec<Extension>,
}

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

/// Something that is no column, with sections of its own, if it likes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// What it is.
    pub tag: u32,
    /// Where in the file its sections lie.
    pub sections: Range<u64>,
    /// What it says.
    pub body: Vec<u8>,
}

impl Root {
    /// Reads the root, which `footer` describes.
    ///
    /// O(bytes), and the result takes 56 bytes a page and what the extensions say.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Checksum`], and when pages or extensions overlap, lie outside the file, or do not hold as
    /// many columns as the footer says.
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

    /// The extension of this tag, if there is one, and where its body lies in the file that `footer` is of.
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

    /// What the documents are sorted by; nothing if the file does not say.
    ///
    /// # Errors
    ///
    /// As [`sort::decode`], and when the extension has sections.
    pub fn sort(&self, footer: &Footer) -> Result<Vec<SortKey>> {
        let Some((place, extension)) = self.extension(SORT_TAG, footer) else { return Ok(Vec::new()) };
        place.check(0, ErrorKind::rule(extension.sections.is_empty(), "the index sort has sections"))?;
        sort::decode(&mut Cursor::new(place, &extension.body))
    }

    /// What the extension of fine zones says, by ascending column; nothing if there is none.
    ///
    /// # Errors
    ///
    /// As [`FineZones::decode_all`].
    pub fn fine_zones(&self, footer: &Footer) -> Result<Vec<FineZones>> {
        let Some((place, extension)) = self.extension(FINE_ZONES_TAG, footer) else { return Ok(Vec::new()) };
        FineZones::decode_all(&mut Cursor::new(place, &extension.body), footer.columns, &extension.sections)
    }

    /// Columns in the pages.
    fn columns(&self) -> u32 {
        self.pages.last().map_or(0, |page| page.columns.end)
    }

    /// Where the sections of all pages and extensions end in the file.
    fn sections_end(&self) -> u64 {
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

    /// Reads the entry of the page behind those of `root`.
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
        // A page has a column, so the entries are as few as the columns.
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

    /// Reads the extension behind those of `root`.
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

    /// The root of a segment of no columns, whose extensions are these.
    fn root_of(extensions: &[(u32, u64, &[u8])]) -> Result<Root> {
        let mut directory = DirectoryBuilder::default();
        extensions.iter().for_each(|&(tag, end, body)| directory.push_extension(tag, end, body.to_vec()));
        let (bytes, footer) = directory.finish(4096, 7);
        assert_eq!(footer.root_offset, 4096);
        assert_eq!(bytes.len() % FOOTER_LEN, 0);
        Root::parse(&bytes[..usize::try_from(footer.root_len).unwrap()], &footer)
    }

    #[test]
    fn extras_are_read_or_refused() {
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
    fn a_sort_is_found_among_other_extras_and_its_errors_say_where() {
        let body = sort::encode(&[SortKey::new("a")]);
        let mut directory = DirectoryBuilder::default();
        directory.push_extension(0, 64, b"thirteen bytes".to_vec());
        directory.push_extension(SORT_TAG, 64, body.clone());
        directory.push_extension(2, 640, b"".to_vec());
        let (bytes, footer) = directory.finish(4096, 7);
        let mut root = Root::parse(&bytes[..usize::try_from(footer.root_len).unwrap()], &footer).unwrap();
        assert_eq!(root.sort(&footer).unwrap(), [SortKey::new("a")]);
        let at = bytes.windows(body.len()).position(|bytes| bytes == body).unwrap() as u64;
        root.extensions[1].body[0] = 0;
        assert_eq!(root.sort(&footer).unwrap_err().offset(), 4096 + at);
        root.extensions[1] = Extension { sections: 64..640, ..root.extensions[1].clone() };
        assert!(root.sort(&footer).unwrap_err().to_string().ends_with("the index sort has sections"));
        root.extensions.remove(1);
        assert_eq!(root.sort(&footer).unwrap(), []);
    }

    #[test]
    fn an_extra_is_part_of_the_id() {
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
    fn extras_that_are_cut_or_padded_with_anything_are_refused() {
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
