//! Reads a text file in chunks of whole records.

use std::io::{self, BufRead};

/// The size of a chunk, in bytes, unless memory is scarce.
pub(super) const CHUNK: usize = 512 << 10;

/// The most times the size of a chunk that a record may have.
const LARGEST: usize = 16;

/// The rest of a file, in chunks.
pub(super) struct ChunkReader {
    /// The bytes after the last chunk, before those of the file.
    rest: Vec<u8>,
    /// The size of a chunk, in bytes, unless a record is larger.
    pub(super) size: usize,
    is_at_end: bool,
    /// Whether there are no more chunks.
    is_done: bool,
}

/// The end of the last whole record of a text that begins with a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RecordEnd {
    At(usize),
    /// The record that begins here has a mistake.
    Wrong(usize),
}

impl ChunkReader {
    /// Chunks of `size` bytes; `rest` comes before the bytes of the file.
    pub(super) fn new(rest: Vec<u8>, size: usize) -> ChunkReader {
        ChunkReader { rest, size, is_at_end: false, is_done: false }
    }

    /// Reads the next chunk from `reader` into `buffer`, over what it holds. `end` finds where the last record of a text
    /// ends, also given whether the file ends with the text. Returns `None` at the end of the file, and before a record that
    /// has a mistake or is too large for a chunk.
    pub(super) fn next(
        &mut self,
        reader: &mut dyn BufRead,
        mut buffer: Vec<u8>,
        end: impl Fn(&[u8], bool) -> RecordEnd,
    ) -> io::Result<Option<Vec<u8>>> {
        // Bytes of an earlier chunk are overwritten, which costs less than to clear them first.
        let mut len = self.rest.len();
        buffer.resize(buffer.len().max(len), 0);
        buffer[..len].copy_from_slice(&self.rest);
        self.rest.clear();
        for times in 1..=LARGEST {
            if self.is_done {
                break;
            }
            self.fill(reader, &mut buffer, &mut len, times * self.size)?;
            let text = &buffer[..len];
            let (end, is_wrong) = match end(text, self.is_at_end) {
                RecordEnd::At(end) => (end, false),
                RecordEnd::Wrong(end) => (end, true),
            };
            self.is_done = is_wrong || self.is_at_end || times == LARGEST;
            if end > 0 {
                self.rest.extend_from_slice(text.get(end..).unwrap_or_default());
                buffer.truncate(end);
                return Ok(Some(buffer));
            }
        }
        buffer.truncate(len);
        self.rest = buffer;
        Ok(None)
    }

    /// Reads on after the first `len` bytes of the buffer, until these are `size`, or to the end.
    fn fill(
        &mut self,
        reader: &mut dyn BufRead,
        buffer: &mut Vec<u8>,
        len: &mut usize,
        size: usize,
    ) -> io::Result<()> {
        buffer.resize(buffer.len().max(size), 0);
        while *len < size && !self.is_at_end {
            match reader.read(&mut buffer[*len..size]) {
                Ok(0) => self.is_at_end = true,
                Ok(read) => *len += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The bytes after the last chunk.
    pub(super) fn into_rest(self) -> Vec<u8> {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a file that is read in two parts.
    #[test]
    fn chunks_hold_nothing_of_the_chunks_before() {
        let end = |text: &[u8], is_at_end: bool| {
            let lines = memchr::memrchr(b'\n', text).map_or(0, |last| last + 1);
            RecordEnd::At(if is_at_end { text.len() } else { lines })
        };
        for size in 1..24 {
            let mut file = io::Read::chain(&b"ab\nc"[..], &b"d\n\nefghij\nk"[..]);
            let mut chunks = ChunkReader::new(b"0\n1".to_vec(), size);
            let mut text = Vec::new();
            while let Some(chunk) = chunks.next(&mut file, vec![b'x'; 20], end).unwrap() {
                text.extend(chunk);
            }
            assert_eq!(text, b"0\n1ab\ncd\n\nefghij\nk", "{size}");
            assert!(chunks.into_rest().is_empty(), "{size}");
        }
    }

    /// The bytes before a mistake are a chunk, and those from it on are left.
    #[test]
    fn the_rest_holds_nothing_of_the_chunks_before() {
        let end = |text: &[u8], _: bool| RecordEnd::Wrong(text.len().min(3));
        let mut chunks = ChunkReader::new(Vec::new(), 8);
        let file = &mut &b"ab\ncd\nef\n"[..];
        assert_eq!(chunks.next(file, vec![b'x'; 20], end).unwrap().as_deref(), Some(&b"ab\n"[..]));
        assert_eq!(chunks.next(file, vec![b'x'; 20], end).unwrap(), None);
        assert_eq!(chunks.into_rest(), b"cd\nef");
    }
}
