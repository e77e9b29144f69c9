//! Header and footer of a file.
//!
//! The header identifies the file; the footer is the starting point of a reader. As in Parquet, the writer needs no
//! second pass, and opening a file on a network takes one read at its end.
//!
//! # Header
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! |  0 |  8 | `magic`    | [`MAGIC`] |
//! |  8 |  2 | `version`  | u16: a reader refuses one that it does not know |
//! | 10 |  2 | `zero`     | 0 |
//! | 12 |  4 | `required` | u32: features without which the file cannot be read |
//! | 16 |  4 | `optional` | u32: features that a reader may ignore |
//! | 20 |  6 | `writer`   | 3 × u16: the release that wrote the file |
//! | 26 | 34 | `reserved` | 0 |
//! | 60 |  4 | `crc`      | u32: CRC-32 of the bytes before |
//!
//! # Footer
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! |  0 |  8 | `root_offset` | u64: the directory root's first byte in the file |
//! |  8 |  4 | `root_len`    | u32: the directory root's bytes |
//! | 12 |  4 | `root_crc`    | u32: CRC-32 of the directory root |
//! | 16 |  4 | `docs`        | u32: documents in the segment |
//! | 20 |  4 | `columns`     | u32: columns in the directory |
//! | 24 | 16 | `id`          | u128: XXH3-128 of `docs`, the directory pages and the extensions, end to end: it names the content |
//! | 40 |  2 | `version`     | u16: as in the header |
//! | 42 |  2 | `zero`        | 0 |
//! | 44 |  4 | `required`    | u32: the bits of the header, and of features that it does not name |
//! | 48 |  4 | `crc`         | u32: CRC-32 of the bytes before |
//! | 52 |  4 | `reserved`    | 0 |
//! | 56 |  8 | `magic`       | [`END_MAGIC`] |
//!
//! # Examples
//!
//! ```
//! use docvalues_format::file::frame::{END_MAGIC, Footer, Header, MAGIC, VERSION};
//!
//! let header = Header::current().encode();
//! assert_eq!(header[..8], MAGIC);
//! assert_eq!(Header::decode(&header)?.version, VERSION);
//!
//! let mut damaged = header;
//! damaged[20] ^= 1; // the writer's version
//! assert!(Header::decode(&damaged).is_err());
//!
//! let footer = Footer { root_offset: 64, root_len: 32, root_crc: 0, docs: 9, columns: 1, id: 7, required: 0 };
//! let bytes = footer.encode();
//! assert_eq!(bytes[56..], END_MAGIC);
//! assert_eq!(Footer::decode(&bytes, 64 + 32 + 64)?.root(), 64..96);
//! # Ok::<(), docvalues_format::error::Error>(())
//! ```

use std::ops::Range;

use crate::cursor::{Cursor, Put};
use crate::error::{Error, ErrorKind, Place, Result, Section};
use crate::granule;
use crate::id::MAX_DOCS;

/// Bytes of the header.
pub const HEADER_LEN: usize = 64;
/// Bytes of the footer.
pub const FOOTER_LEN: usize = 64;
/// The first bytes of a file, modelled on PNG's signature: a byte above 127, line ends of both kinds, and an
/// end-of-file character. A transfer in text mode damages them, so that the file is refused.
pub const MAGIC: [u8; 8] = *b"\x89DV\r\n\x1a\n\0";
/// The last bytes of a file.
pub const END_MAGIC: [u8; 8] = *b"docvalue";
/// The newest format version that this release reads, and the one that it writes.
pub const VERSION: u16 = 1;
/// The oldest format version that this release reads. Earlier versions changed without notice.
pub const OLDEST: u16 = 1;
/// The required feature of files that have a column with [OnPair](crate::binary::Coding::OnPair) codes.
pub const FEATURE_ONPAIR: u32 = 1;
/// The required feature of files whose index of ids has the ids only in their column.
pub const FEATURE_IDS_IN_COLUMN: u32 = 2;
/// Required features that this release knows.
pub const KNOWN_FEATURES: u32 = FEATURE_ONPAIR | FEATURE_IDS_IN_COLUMN;

/// The first 64 bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the format.
    pub version: u16,
    /// Features without which the file cannot be read.
    pub required: u32,
    /// Features that a reader may ignore.
    pub optional: u32,
    /// The release that wrote the file: major, minor, patch.
    pub writer: [u16; 3],
}

impl Header {
    /// The header of a file that this release writes.
    pub fn current() -> Header {
        let part = |text: &str| text.parse().unwrap_or(0);
        let writer = [
            part(env!("CARGO_PKG_VERSION_MAJOR")),
            part(env!("CARGO_PKG_VERSION_MINOR")),
            part(env!("CARGO_PKG_VERSION_PATCH")),
        ];
        Header { version: VERSION, required: 0, optional: 0, writer }
    }

    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER_LEN] {
        let mut out = Vec::with_capacity(HEADER_LEN);
        out.put(&MAGIC);
        out.put_u16(self.version);
        out.put_u16(0);
        out.put_u32(self.required);
        out.put_u32(self.optional);
        self.writer.iter().for_each(|&part| out.put_u16(part));
        out.resize(HEADER_LEN - 4, 0);
        out.put_u32(crc32fast::hash(&out));
        sized(&out)
    }

    /// Reads a header.
    ///
    /// # Errors
    ///
    /// In this order: [`ErrorKind::Magic`] for another kind of file; [`ErrorKind::TooNew`], [`ErrorKind::TooOld`] and
    /// [`ErrorKind::UnknownFeatures`], before any field that a newer version may have changed; [`ErrorKind::Checksum`].
    pub fn decode(bytes: &[u8; HEADER_LEN]) -> Result<Header> {
        let place = Place { section: Section::Header, offset: 0 };
        let mut cursor = Cursor::new(place, bytes);
        magic(&mut cursor, MAGIC, place, |found| ErrorKind::Magic { found })?;
        let version = cursor.u16()?;
        let mut zero = cursor;
        cursor.u16()?;
        let (required, optional) = (cursor.u32()?, cursor.u32()?);
        let writer = [cursor.u16()?, cursor.u16()?, cursor.u16()?];
        readable(place, version, required, Some(writer))?;
        checksum(place, bytes, HEADER_LEN - 4)?;
        zero.zeros(2)?;
        cursor.zeros(34)?;
        Ok(Header { version, required, optional, writer })
    }
}

/// The last 64 bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footer {
    /// The directory root's first byte in the file.
    pub root_offset: u64,
    /// The directory root's bytes.
    pub root_len: u32,
    /// CRC-32 of the directory root.
    pub root_crc: u32,
    /// Documents in the segment.
    pub docs: u32,
    /// Columns in the directory.
    pub columns: u32,
    /// XXH3-128 of `docs`, the directory pages and the extensions. Files with the same content have the same id.
    pub id: u128,
    /// Features without which the file cannot be read: those of the header, and those of columns that were encoded after
    /// it was written.
    pub required: u32,
}

impl Footer {
    /// The footer's bytes.
    pub fn encode(&self) -> [u8; FOOTER_LEN] {
        let mut out = Vec::with_capacity(FOOTER_LEN);
        out.put_u64(self.root_offset);
        out.put_u32(self.root_len);
        out.put_u32(self.root_crc);
        out.put_u32(self.docs);
        out.put_u32(self.columns);
        out.put(&self.id.to_le_bytes());
        out.put_u16(VERSION);
        out.put_u16(0);
        out.put_u32(self.required);
        out.put_u32(crc32fast::hash(&out));
        out.put_u32(0);
        out.put(&END_MAGIC);
        sized(&out)
    }

    /// Reads the footer of a file of `file_len` bytes.
    ///
    /// # Errors
    ///
    /// As [`Header::decode`], with [`ErrorKind::NoFooter`] instead of [`ErrorKind::Magic`], and when the root is not
    /// between header and footer.
    pub fn decode(bytes: &[u8; FOOTER_LEN], file_len: u64) -> Result<Footer> {
        let place = Place { section: Section::Footer, offset: file_len.saturating_sub(FOOTER_LEN as u64) };
        let mut cursor = Cursor::new(place, bytes);
        cursor.take(FOOTER_LEN - 8)?;
        magic(&mut cursor, END_MAGIC, place, |found| ErrorKind::NoFooter { found })?;
        let mut cursor = Cursor::new(place, bytes);
        let (root_offset, root_len, root_crc) = (cursor.u64()?, cursor.u32()?, cursor.u32()?);
        let (docs, columns) = (cursor.u32()?, cursor.u32()?);
        let id = u128::from(cursor.u64()?) | u128::from(cursor.u64()?) << 64;
        let version = cursor.u16()?;
        let mut zero = cursor;
        cursor.u16()?;
        let required = cursor.u32()?;
        readable(place, version, required, None)?;
        checksum(place, bytes, 48)?;
        zero.zeros(2)?;
        cursor.u32()?;
        cursor.zeros(4)?;
        cursor.at_most("docs", docs.into(), MAX_DOCS.into())?;
        let end = root_offset.saturating_add(root_len.into());
        cursor.at_most("end of the directory root", end, place.offset)?;
        cursor.rule(root_offset >= HEADER_LEN as u64, "the directory root overlaps the header")?;
        Ok(Footer { root_offset, root_len, root_crc, docs, columns, id, required })
    }

    /// The bytes of the file that hold the directory root.
    pub fn root(&self) -> Range<u64> {
        self.root_offset..self.root_offset.saturating_add(self.root_len.into())
    }
}

/// Reads magic bytes; an error has the kind that `wrong` returns for the bytes found.
fn magic(
    cursor: &mut Cursor<'_>,
    expected: [u8; 8],
    place: Place,
    wrong: impl FnOnce([u8; 8]) -> ErrorKind,
) -> Result<()> {
    let at = cursor.position();
    let mut found = [0; 8];
    found.copy_from_slice(cursor.take(8)?);
    match found == expected {
        true => Ok(()),
        false => Err(Error::at(place, at, wrong(found))),
    }
}

fn readable(place: Place, version: u16, required: u32, writer: Option<[u16; 3]>) -> Result<()> {
    if version > VERSION {
        return Err(Error::at(place, 0, ErrorKind::TooNew { found: version, newest: VERSION, writer }));
    }
    if version < OLDEST {
        return Err(Error::at(place, 0, ErrorKind::TooOld { found: version, oldest: OLDEST }));
    }
    match required & !KNOWN_FEATURES {
        0 => Ok(()),
        flags => Err(Error::at(place, 0, ErrorKind::UnknownFeatures { flags })),
    }
}

/// Compares the `u32` at `at` with the checksum of the bytes before it.
fn checksum(place: Place, bytes: &[u8], at: usize) -> Result<()> {
    let expected = Cursor::new(place, &bytes[at..]).u32()?;
    granule::check(place.section, place.offset, &bytes[..at], expected)
}

fn sized(bytes: &[u8]) -> [u8; 64] {
    let mut out = [0; 64];
    out.copy_from_slice(bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footer() -> Footer {
        Footer { root_offset: 64, root_len: 32, root_crc: 7, docs: 9, columns: 1, id: 1 << 100, required: 0 }
    }

    #[test]
    fn header_and_footer_round_trip() {
        let header = Header::current();
        assert_eq!(Header::decode(&header.encode()), Ok(header));
        assert_eq!(Footer::decode(&footer().encode(), 160), Ok(footer()));
    }

    #[test]
    fn every_flipped_bit_is_refused() {
        let (header, footer) = (Header::current().encode(), footer().encode());
        for bit in 0..512 {
            let flip = |mut bytes: [u8; 64]| {
                bytes[bit / 8] ^= 1 << (bit % 8);
                bytes
            };
            assert!(Header::decode(&flip(header)).is_err(), "header bit {bit}");
            assert!(Footer::decode(&flip(footer), 160).is_err(), "footer bit {bit}");
        }
    }

    #[test]
    fn another_file_a_newer_version_and_an_unknown_feature_are_distinct_errors() {
        let kind = |bytes: &[u8; 64]| Header::decode(bytes).unwrap_err().kind().clone();
        assert!(matches!(kind(&[b'P'; 64]), ErrorKind::Magic { .. }));
        let newer = Header { version: VERSION + 1, ..Header::current() }.encode();
        assert_eq!(
            kind(&newer),
            ErrorKind::TooNew { found: VERSION + 1, newest: VERSION, writer: Some(Header::current().writer) }
        );
        let older = Header { version: OLDEST - 1, ..Header::current() }.encode();
        assert_eq!(kind(&older), ErrorKind::TooOld { found: OLDEST - 1, oldest: OLDEST });
        let unknown = Header { required: 1 << 31, ..Header::current() }.encode();
        assert_eq!(kind(&unknown), ErrorKind::UnknownFeatures { flags: 1 << 31 });
        let optional = Header { optional: 1 << 31, ..Header::current() };
        assert_eq!(Header::decode(&optional.encode()), Ok(optional));
        let cut = Footer::decode(&[b'P'; 64], 160).unwrap_err();
        assert_eq!((cut.offset(), cut.kind()), (152, &ErrorKind::NoFooter { found: [b'P'; 8] }));
    }

    #[test]
    fn a_root_outside_the_file_is_refused() {
        for (root_offset, root_len) in [(0, 32), (96, 1), (u64::MAX, 32), (64, u32::MAX)] {
            let bytes = Footer { root_offset, root_len, ..footer() }.encode();
            assert!(Footer::decode(&bytes, 160).is_err(), "{root_offset}+{root_len}");
        }
    }
}
