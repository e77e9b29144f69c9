//! Frames and files one after the other, for a pipe.
//!
//! ```text
//! item     0  "dvrp"
//!          4  kind: 1 a frame, 2 a file, 3 a commit, 4 the end
//!          8  length of what follows
//!         16  CRC-32 of bytes 0 to 16
//!         20  frame     as in the log
//!             file      content id (16 bytes), length of the name (1 byte), name, bytes
//!             commit    as its file
//!             end       nothing
//! ```
//!
//! All numbers are little-endian. The files of a commit come before it, except for those that were sent before. A frame
//! and a commit have checksums of their own, and a file has its id and those of all its parts. The end comes when the sender
//! stops as it should: a stream without one is that of a sender that failed.

use std::io::{self, Read, Write};

use super::frames::Frame;
use crate::error::{Error, Result};
use crate::files::{FileEntry, FileName, MAX_BYTES};
use crate::log::{FRAME_HEADER, MAX_BODY};
use crate::read::{CommitFiles, StoredFile};

const MAGIC: [u8; 4] = *b"dvrp";

const HEADER: usize = 20;

const FRAME: u32 = 1;
const FILE: u32 = 2;
const COMMIT: u32 = 3;
const END: u32 = 4;

/// An item of a stream: [`StreamReader::next_item`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one item at a time")]
pub enum Item {
    /// A frame, for [`Replica::apply_frame`](crate::Replica::apply_frame).
    Frame(Vec<u8>),
    /// A file of a commit that comes later. [`StreamReader::contents`] has its bytes.
    File(StoredFile),
    /// A commit, all of whose files were sent, for [`Replica::install`](crate::Replica::install).
    Commit(CommitFiles),
}

/// Writes a stream. What is written should be flushed when no more is there. [`Feed`](crate::Feed) has an example.
#[derive(Debug)]
pub struct StreamWriter<W> {
    out: W,
}

impl<W: Write> StreamWriter<W> {
    /// A stream to `out`, which should be buffered.
    pub fn new(out: W) -> StreamWriter<W> {
        StreamWriter { out }
    }

    /// Writes a frame.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn frame(&mut self, frame: &Frame) -> io::Result<()> {
        self.header(FRAME, frame.bytes.len() as u64)?;
        self.out.write_all(&frame.bytes)
    }

    /// Writes a file. O(bytes).
    ///
    /// # Errors
    ///
    /// Those of the file and the output, and if the file has another length.
    pub fn file(&mut self, file: &StoredFile, contents: impl Read) -> io::Result<()> {
        let name = file.name();
        let len = u8::try_from(name.len()).map_err(io::Error::other)?;
        self.header(FILE, 17 + u64::from(len) + file.bytes())?;
        self.out.write_all(&file.id().to_le_bytes())?;
        self.out.write_all(&[len])?;
        self.out.write_all(name.as_bytes())?;
        let written = io::copy(&mut contents.take(file.bytes()), &mut self.out)?;
        match written == file.bytes() {
            true => Ok(()),
            false => Err(io::Error::other(format!("expected {} bytes, found {written}", file.bytes()))),
        }
    }

    /// Writes a commit, after its files.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn commit(&mut self, commit: &CommitFiles) -> io::Result<()> {
        let bytes = commit.encode();
        self.header(COMMIT, bytes.len() as u64)?;
        self.out.write_all(&bytes)
    }

    /// Writes the end: the sender has sent all that it was asked for.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn end(&mut self) -> io::Result<()> {
        self.header(END, 0)
    }

    /// Hands everything so far to the reader.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn header(&mut self, kind: u32, len: u64) -> io::Result<()> {
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&MAGIC);
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[8..16].copy_from_slice(&len.to_le_bytes());
        let crc = crc32fast::hash(&header[..16]);
        header[16..].copy_from_slice(&crc.to_le_bytes());
        self.out.write_all(&header)
    }
}

/// Reads a stream: [`Replica::take`](crate::Replica::take) takes its items. [`Feed`](crate::Feed) has an example.
#[derive(Debug)]
pub struct StreamReader<R> {
    input: R,
    /// The bytes of the last file that were not read.
    left: u64,
    /// The bytes that were read.
    offset: u64,
    has_ended: bool,
}

impl<R: Read> StreamReader<R> {
    /// A stream from `input`, which should be buffered.
    pub fn new(input: R) -> StreamReader<R> {
        StreamReader { input, left: 0, offset: 0, has_ended: false }
    }

    /// The next item, as soon as all of it has arrived, but for the bytes of a file; `None` if the stream ends before one.
    /// Bytes of a file that were not read are passed over.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the stream is damaged; [`Error::Stream`] if it is cut off in an item, or cannot be read.
    pub fn next_item(&mut self) -> Result<Option<Item>> {
        let left = self.left;
        let passed = io::copy(&mut Contents { reader: self }, &mut io::sink());
        let passed = passed.map_err(Error::Stream)?;
        if passed < left {
            return Err(self.cut());
        }
        let (kind, len) = loop {
            match self.header()? {
                None => return Ok(None),
                Some((END, 0)) => self.has_ended = true,
                Some(header) => break header,
            }
        };
        self.has_ended = false;
        let item = match kind {
            FRAME if len <= (FRAME_HEADER + MAX_BODY) as u64 => Item::Frame(self.bytes(len)?),
            COMMIT if len <= MAX_BYTES => Item::Commit(CommitFiles::decode(&self.bytes(len)?)?),
            FILE if len >= 17 => Item::File(self.file(len)?),
            _ => {
                return Err(self.damaged(format!(
                    "an item of a known kind and length, found kind {kind} of {len} bytes"
                )));
            }
        };
        Ok(Some(item))
    }

    /// Whether the last that was read is an [end](StreamWriter::end). A stream that ends without one is that of a sender that
    /// failed or was killed.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The bytes of the last file that are not read yet. It ends early if the stream does.
    pub fn contents(&mut self) -> impl Read + '_ {
        Contents { reader: self }
    }

    fn header(&mut self) -> Result<Option<(u32, u64)>> {
        let header = self.bytes_up_to(HEADER as u64)?;
        if header.is_empty() {
            return Ok(None);
        }
        let Some(header) = header.first_chunk::<HEADER>() else { return Err(self.cut()) };
        let number =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if header[..4] != MAGIC || number(16) != crc32fast::hash(&header[..16]) {
            return Err(self.damaged("the header of an item, found other bytes".to_owned()));
        }
        Ok(Some((number(4), u64::from(number(8)) | u64::from(number(12)) << 32)))
    }

    fn file(&mut self, len: u64) -> Result<StoredFile> {
        let start = self.bytes(17)?;
        let (Some(id), name_len) = (start.first_chunk::<16>(), start[16]) else { return Err(self.cut()) };
        let name = self.bytes(u64::from(name_len))?;
        let name = std::str::from_utf8(&name).ok().and_then(FileName::parse);
        let bytes = len.checked_sub(17 + u64::from(name_len));
        match (name, name.and_then(FileName::number), bytes) {
            (Some(name), Some(number), Some(bytes)) if !matches!(name, FileName::Log(_)) => {
                self.left = bytes;
                Ok(StoredFile { name, entry: FileEntry { number, bytes, id: u128::from_le_bytes(*id) } })
            }
            _ => Err(self.damaged("the name of a file of a commit, found another".to_owned())),
        }
    }

    /// `len` bytes. Their memory is taken as they arrive.
    fn bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        let bytes = self.bytes_up_to(len)?;
        if (bytes.len() as u64) < len { Err(self.cut()) } else { Ok(bytes) }
    }

    fn bytes_up_to(&mut self, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(len).read_to_end(&mut bytes);
        self.offset += bytes.len() as u64;
        read.map_err(Error::Stream)?;
        Ok(bytes)
    }

    fn cut(&self) -> Error {
        let what = format!("offset {}: expected more bytes, found the end", self.offset);
        Error::Stream(io::Error::new(io::ErrorKind::UnexpectedEof, what))
    }

    fn damaged(&self, expected: String) -> Error {
        let what = format!("offset {}: expected {expected}", self.offset);
        Error::Damaged { file: "the stream of the leader".to_owned(), what }
    }
}

/// The bytes of a file in a stream.
struct Contents<'a, R> {
    reader: &'a mut StreamReader<R>,
}

impl<R: Read> Read for Contents<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = out.len().min(usize::try_from(self.reader.left).unwrap_or(usize::MAX));
        let read = self.reader.input.read(&mut out[..len])?;
        self.reader.left -= read as u64;
        self.reader.offset += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::CommitFile;
    use crate::schema::StoreSchema;

    fn stream() -> Vec<u8> {
        let mut out = StreamWriter::new(Vec::new());
        let entry = FileEntry { number: 0xa1, bytes: 5, id: 7 << 100 };
        let file = StoredFile { name: FileName::Segment(0xa1), entry };
        out.file(&file, &b"whole"[..]).unwrap();
        out.commit(&CommitFiles { commit: CommitFile::new(StoreSchema::new(), 3, 9) }).unwrap();
        out.frame(&Frame {
            sequence: 4,
            epoch: 3,
            history: 9,
            bytes: b"a frame".to_vec(),
            needs_commit: false,
        })
        .unwrap();
        out.out
    }

    /// All items, and the bytes of files.
    fn read(bytes: &[u8]) -> Result<Vec<(Item, Vec<u8>)>> {
        let (mut reader, mut items) = (StreamReader::new(bytes), Vec::new());
        while let Some(item) = reader.next_item()? {
            let mut contents = Vec::new();
            reader.contents().read_to_end(&mut contents).unwrap();
            items.push((item, contents));
        }
        Ok(items)
    }

    #[test]
    fn streams_are_read_as_they_are_written() {
        let items = read(&stream()).unwrap();
        assert!(
            matches!(items[0].0, Item::File(file) if file.name() == "seg-0000a1.dv" && file.id() == 7 << 100)
        );
        assert_eq!(items[0].1, b"whole");
        assert!(matches!(&items[1].0, Item::Commit(commit) if commit.epoch() == 3));
        assert_eq!(items[2].0, Item::Frame(b"a frame".to_vec()));
        // A file that nobody wants is passed over.
        let bytes = stream();
        let mut reader = StreamReader::new(&bytes[..]);
        assert!(matches!(reader.next_item().unwrap(), Some(Item::File(_))));
        assert!(matches!(reader.next_item().unwrap(), Some(Item::Commit(_))));
    }

    #[test]
    fn cut_and_flipped_streams_are_refused() {
        let bytes = stream();
        let ends: Vec<usize> = (0..bytes.len()).filter(|len| read(&bytes[..*len]).is_ok()).collect();
        // Only between items.
        let commit = bytes.len() - HEADER - b"a frame".len();
        let file = HEADER + 17 + "seg-0000a1.dv".len() + 5;
        assert_eq!(ends, [0, file, commit]);
        for at in (0..HEADER).chain(file..file + HEADER).chain(commit..commit + HEADER) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 4;
            let error = read(&bytes).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{at}: {error}");
        }
    }

    #[test]
    fn the_end_is_told_from_a_cut() {
        let mut out = StreamWriter { out: stream() };
        out.end().unwrap();
        let whole = out.out;
        let ends = |bytes: &[u8]| {
            let mut reader = StreamReader::new(bytes);
            while reader.next_item()?.is_some() {}
            Ok::<_, Error>(reader.has_ended())
        };
        assert!(ends(&whole).unwrap());
        // Streams may follow each other.
        assert!(ends(&[&whole[..], &whole].concat()).unwrap());
        assert!(!ends(&[&whole[..], &stream()].concat()).unwrap());
        for len in 0..whole.len() {
            assert!(!ends(&whole[..len]).unwrap_or(false), "{len}");
        }
    }

    #[test]
    fn items_that_claim_much_are_refused() {
        for (kind, len) in
            [(FRAME, u64::MAX), (FRAME, MAX_BODY as u64), (COMMIT, 1 << 40), (FILE, 3), (END, 1), (9, 1)]
        {
            let mut out = StreamWriter::new(Vec::new());
            out.header(kind, len).unwrap();
            let error = read(&out.out).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. } | Error::Stream(_)), "{error}");
        }
        for name in ["../a", "log-00000007", "commit-00000001", "seg-0000A1.dv", ""] {
            let mut out = StreamWriter::new(Vec::new());
            out.header(FILE, 17 + name.len() as u64).unwrap();
            out.out.extend([0; 16]);
            out.out.push(u8::try_from(name.len()).unwrap());
            out.out.extend(name.as_bytes());
            let error = read(&out.out).unwrap_err().to_string();
            assert!(error.contains("expected the name of a file of a commit"), "{error}");
        }
    }
}
