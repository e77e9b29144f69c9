//! [`BufferedFile`]: sequential writes to a file, 64 KiB at a time.

use std::io;
use std::ops::Range;

use crate::directory::DirectoryFile;

/// Bytes that are buffered before they are written, and the most that are written by one call. For larger writes,
/// the kernel caches larger pieces, which it first has to allocate: that takes several times as long.
pub(crate) const BUFFER: usize = 1 << 16;

/// A file that is written sequentially, from its beginning.
#[derive(Debug)]
pub(crate) struct BufferedFile {
    file: Box<dyn DirectoryFile>,
    buffer: Vec<u8>,
    /// The number of bytes before those in the buffer.
    flushed: u64,
    /// Whether a write failed: bytes may be missing.
    torn: bool,
}

impl BufferedFile {
    /// Writes to `file`, which is empty.
    pub(crate) fn new(file: Box<dyn DirectoryFile>) -> BufferedFile {
        BufferedFile { file, buffer: Vec::with_capacity(BUFFER), flushed: 0, torn: false }
    }

    pub(crate) fn file(&self) -> &dyn DirectoryFile {
        &*self.file
    }

    /// The number of bytes appended so far.
    pub(crate) fn written(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        if bytes.len() < BUFFER {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        let done = write_all_at(&*self.file, bytes, self.flushed);
        self.torn |= done.is_err();
        self.flushed += bytes.len() as u64;
        done
    }

    /// Writes the buffer.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let done = write_all_at(&*self.file, &self.buffer, self.flushed);
        self.torn |= done.is_err();
        self.flushed = self.written();
        self.buffer.clear();
        done
    }

    /// Writes the buffer, and fails if a write failed before.
    pub(crate) fn complete(&mut self) -> io::Result<()> {
        if self.torn {
            return Err(io::Error::other("an earlier write failed"));
        }
        self.flush()
    }
}

/// Writes all of `bytes` at `offset`.
pub(crate) fn write_all_at(file: &dyn DirectoryFile, bytes: &[u8], offset: u64) -> io::Result<()> {
    in_full(bytes.len(), io::ErrorKind::WriteZero, |part| {
        file.write_at(&bytes[part.clone()], offset + part.start as u64)
    })
}

/// Transfers `len` bytes by calls that may transfer fewer. `call` gets the range to transfer next, and returns how
/// many of its first bytes were. A call that transfers none fails with `none`.
pub(crate) fn in_full(
    len: usize,
    none: io::ErrorKind,
    mut call: impl FnMut(Range<usize>) -> io::Result<usize>,
) -> io::Result<()> {
    let mut done = 0;
    while done < len {
        match call(done..len.min(done + BUFFER)) {
            Ok(0) => return Err(none.into()),
            Ok(moved) => done += moved,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
