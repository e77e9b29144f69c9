//! A Parquet file as a `ChunkReader` that checks lengths before the `parquet` crate allocates memory for them.
//!
//! Before the crate reads a byte range of the file, it allocates the whole range. Before it decompresses a page, it
//! allocates the decompressed size that the page's header claims: up to 2 GiB for a header of a few bytes. This reader
//! checks that ranges lie in the file, and that a page claims no more than its codec can produce from its bytes.
//!
//! It expects both sizes of a page, compressed and decompressed, in the first three fields of the page's header, where
//! all known writers put them.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

/// The bytes that a page may exceed its ratio by, for frames, checksums and uncompressed parts.
const MARGIN: u64 = 64 << 10;

/// A file, and the maximum compression ratio of its pages.
pub(super) struct Pages {
    file: File,
    len: u64,
    ratio: u64,
}

impl Pages {
    /// Wraps `file`. `metadata` names the codecs of its columns.
    pub(super) fn new(file: File, metadata: &ParquetMetaData) -> io::Result<Pages> {
        let len = file.metadata()?.len();
        let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
        let ratio = columns.map(|column| ratio(column.compression())).max().unwrap_or(1);
        Ok(Pages { file, len, ratio })
    }
}

/// The maximum compression ratio of a codec.
fn ratio(compression: Compression) -> u64 {
    match compression {
        // Three bytes encode a copy of up to 64 bytes.
        Compression::SNAPPY => 22,
        // A byte adds up to 255 to the length of a match.
        Compression::LZ4 | Compression::LZ4_RAW => 255,
        // Two bits can encode a match of 258 bytes.
        Compression::GZIP(_) => 1_032,
        // Four bytes can encode a block of 128 KiB.
        Compression::ZSTD(_) => 1 << 15,
        // Uncompressed pages; other codecs are not compiled in.
        _ => 1,
    }
}

/// The name of a codec that is not compiled in.
pub(super) fn unknown_codec(compression: Compression) -> Option<&'static str> {
    match compression {
        Compression::BROTLI(_) => Some("brotli"),
        Compression::LZO => Some("LZO"),
        _ => None,
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Pages {
    type T = Header;

    fn get_read(&self, start: u64) -> Result<Header> {
        Ok(Header { reader: self.file.get_read(start)?, ratio: Some(self.ratio) })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.len) {
            return Err(ParquetError::EOF(format!("there are no {length} bytes at byte {start}")));
        }
        self.file.get_bytes(start, length)
    }
}

/// A reader of a page. Its first read checks the page's header.
pub(super) struct Header {
    reader: BufReader<File>,
    ratio: Option<u64>,
}

impl Read for Header {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(ratio) = self.ratio.take() {
            let head = self.reader.fill_buf()?;
            let broken = |what| io::Error::new(io::ErrorKind::InvalidData, what);
            let [unpacked, packed] = sizes(head).ok_or_else(|| broken("a page has no header"))?;
            if unpacked > packed.saturating_mul(ratio).saturating_add(MARGIN) {
                return Err(broken("a page says that it unpacks to more than it can"));
            }
        }
        self.reader.read(buf)
    }
}

/// The decompressed and the compressed size of a page, from its header: the second and third fields of a struct in
/// Thrift's compact protocol, after the page's type.
fn sizes(mut head: &[u8]) -> Option<[u64; 2]> {
    /// The header of an i32 field whose id is one more than that of the field before.
    const NEXT_I32: u8 = 0x15;
    let mut sizes = [0; 3];
    for size in &mut sizes {
        let zigzag = match head.split_off_first()? {
            &NEXT_I32 => varint(&mut head)?,
            _ => return None,
        };
        // A negative number is odd in zigzag encoding.
        *size = zigzag.is_multiple_of(2).then_some(zigzag / 2)?;
    }
    Some([sizes[1], sizes[2]])
}

/// Decodes a varint of at most five bytes.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in [0, 7, 14, 21, 28] {
        let byte = bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_first_fields() {
        // A data page of 300 bytes, compressed to 200.
        let header = [0x15, 0, 0x15, 0xd8, 0x04, 0x15, 0x90, 0x03, 0x2c];
        assert_eq!(sizes(&header), Some([300, 200]));
        for len in 0..8 {
            assert_eq!(sizes(&header[..len]), None);
        }
        // A negative number, another type, another field, too long a number.
        assert_eq!(sizes(&[0x15, 0, 0x15, 1, 0x15, 0]), None);
        assert_eq!(sizes(&[0x15, 0, 0x16, 2, 0x15, 0]), None);
        assert_eq!(sizes(&[0x15, 0, 0x25, 2, 0x15, 0]), None);
        assert_eq!(sizes(&[0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0x15, 0]), None);
    }
}
