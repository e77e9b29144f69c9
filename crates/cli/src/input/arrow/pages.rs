//! The bytes of a Parquet file, for a library that takes as much memory as they say.
//!
//! Before it reads a part of a file, the library has room for all of it; before it unpacks a page, room for as much as
//! the page's header says that it will be, which most codecs fill with zeros: up to 2 GiB for a header of some bytes. So
//! parts have to lie in the file, and a page unpacks to no more than its codec can make of its bytes.
//!
//! A header is believed to say its sizes once, in its first three fields, as everything that writes Parquet has it.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

/// What a page may have beside its codec's own: frames, checksums, and what is not packed.
const MARGIN: u64 = 64 << 10;

/// A file, and how many bytes a byte of its pages can unpack to.
pub(super) struct Pages {
    file: File,
    len: u64,
    ratio: u64,
}

impl Pages {
    /// The pages of `file`, as `metadata` says that they are packed.
    pub(super) fn new(file: File, metadata: &ParquetMetaData) -> io::Result<Pages> {
        let len = file.metadata()?.len();
        let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
        let ratio = columns.map(|column| ratio(column.compression())).max().unwrap_or(1);
        Ok(Pages { file, len, ratio })
    }
}

/// The most bytes that a byte can become.
fn ratio(compression: Compression) -> u64 {
    match compression {
        // A copy of 64 bytes is three.
        Compression::SNAPPY => 22,
        // A byte of a length is 255.
        Compression::LZ4 | Compression::LZ4_RAW => 255,
        // A match of 258 bytes is two bits.
        Compression::GZIP(_) => 1_032,
        // A block of 128 KiB is four bytes.
        Compression::ZSTD(_) => 1 << 15,
        // What is not packed lies in the file; other codecs are not there.
        _ => 1,
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

/// A page from its header on, which is checked when it is read: where it was read before, what is here is the page.
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

/// The sizes of a page, unpacked and packed, from its header: a struct in Thrift's compact protocol, whose second and
/// third fields they are, after the page's type.
fn sizes(mut head: &[u8]) -> Option<[u64; 2]> {
    /// An i32 whose field follows the one before.
    const NEXT_I32: u8 = 0x15;
    let mut sizes = [0; 3];
    for size in &mut sizes {
        let zigzag = match head.split_off_first()? {
            &NEXT_I32 => varint(&mut head)?,
            _ => return None,
        };
        // A negative one is odd.
        *size = zigzag.is_multiple_of(2).then_some(zigzag / 2)?;
    }
    Some([sizes[1], sizes[2]])
}

/// Seven bits a byte, the lowest first; at most five bytes, as of an i32.
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
        // A data page, 300 bytes, of which 200 are there.
        let header = [0x15, 0, 0x15, 0xd8, 0x04, 0x15, 0x90, 0x03, 0x2c];
        assert_eq!(sizes(&header), Some([300, 200]));
        for len in 0..8 {
            assert_eq!(sizes(&header[..len]), None);
        }
        // Negative, another type, another field, too long a number.
        assert_eq!(sizes(&[0x15, 0, 0x15, 1, 0x15, 0]), None);
        assert_eq!(sizes(&[0x15, 0, 0x16, 2, 0x15, 0]), None);
        assert_eq!(sizes(&[0x15, 0, 0x25, 2, 0x15, 0]), None);
        assert_eq!(sizes(&[0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0x15, 0]), None);
    }
}
