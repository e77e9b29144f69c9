//! [`Scratch`]: bytes in the temporary file.

use docvalues_storage::{Result, Spill};

/// A byte sequence in the temporary file. Several of them share the file, so each consists of extents.
#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    spill: Spill,
    parts: Vec<Extent>,
    len: u64,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    /// The offset of the extent's first byte in the sequence.
    start: u64,
    /// Its offset in the file.
    at: u64,
}

/// The bytes of one read or write: 64 KiB, so that a system call costs little beside the copy.
pub(crate) const CHUNK_LEN: usize = 1 << 16;

impl Scratch {
    pub(crate) fn new(spill: Spill) -> Scratch {
        Scratch { spill, parts: Vec::new(), len: 0 }
    }

    pub(crate) fn spill(&self) -> &Spill {
        &self.spill
    }

    /// A new, empty sequence in the same file.
    pub(crate) fn sibling(&self) -> Scratch {
        Scratch::new(self.spill.clone())
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Appends `bytes`. After an error, the sequence is unchanged.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let at = self.spill.append(bytes)?;
        // Usually no other sequence was written in between, and the last extent grows.
        if self.parts.last().is_none_or(|last| last.at + (self.len - last.start) != at) {
            self.parts.push(Extent { start: self.len, at });
        }
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Fills `bytes` from offset `start` on.
    pub(crate) fn read(&self, mut start: u64, mut bytes: &mut [u8]) -> Result<()> {
        let mut next = self.parts.partition_point(|part| part.start <= start);
        while !bytes.is_empty() {
            let at = next.checked_sub(1).map_or(start, |i| self.parts[i].at + (start - self.parts[i].start));
            let end = self.parts.get(next).map_or(self.len, |part| part.start);
            let len = usize::try_from(end - start).unwrap_or(usize::MAX).min(bytes.len());
            // Past the end of the sequence: let the file report the error.
            let len = if len == 0 { bytes.len() } else { len };
            let (now, later) = bytes.split_at_mut(len);
            self.spill.read(at, now)?;
            (bytes, start, next) = (later, start + len as u64, next + 1);
        }
        Ok(())
    }

    /// Calls `f` with all bytes, in order, in chunks.
    pub(crate) fn for_each<E: From<docvalues_storage::Error>>(
        &self,
        mut f: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut buffer = vec![0; CHUNK_LEN];
        for start in (0..self.len).step_by(CHUNK_LEN) {
            let len = usize::try_from(self.len - start).unwrap_or(usize::MAX).min(CHUNK_LEN);
            self.read(start, &mut buffer[..len])?;
            f(&buffer[..len])?;
        }
        Ok(())
    }
}

/// A buffered writer of a [`Scratch`].
#[derive(Debug)]
pub(crate) struct ScratchWriter {
    scratch: Scratch,
    bytes: Vec<u8>,
    together: usize,
}

impl ScratchWriter {
    pub(crate) fn new(scratch: Scratch) -> ScratchWriter {
        ScratchWriter::with(scratch, CHUNK_LEN)
    }

    /// A writer with a buffer of `together` bytes.
    pub(crate) fn with(scratch: Scratch, together: usize) -> ScratchWriter {
        ScratchWriter { scratch, bytes: Vec::new(), together }
    }

    pub(crate) fn push(&mut self, push: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        push(&mut self.bytes);
        if self.bytes.len() >= self.together {
            self.scratch.append(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Scratch> {
        if !self.bytes.is_empty() {
            self.scratch.append(&self.bytes)?;
        }
        Ok(self.scratch)
    }
}

/// A buffered sequential reader of a [`Scratch`].
#[derive(Debug)]
pub(crate) struct ScratchReader {
    scratch: Scratch,
    /// The number of bytes read from the scratch.
    read: u64,
    /// The bytes read last, and how many of them were skipped.
    bytes: Vec<u8>,
    skipped: usize,
    together: usize,
}

impl ScratchReader {
    /// A reader with a buffer of `together` bytes.
    pub(crate) fn new(scratch: Scratch, together: usize) -> ScratchReader {
        ScratchReader { scratch, read: 0, bytes: Vec::new(), skipped: 0, together }
    }

    /// The next bytes: at least `len`, unless fewer are left.
    #[inline]
    pub(crate) fn peek(&mut self, len: usize) -> Result<&[u8]> {
        if self.bytes.len() - self.skipped < len {
            self.fill(len)?;
        }
        Ok(&self.bytes[self.skipped..])
    }

    fn fill(&mut self, len: usize) -> Result<()> {
        self.bytes.drain(..self.skipped);
        self.skipped = 0;
        let there = self.bytes.len();
        let left = usize::try_from(self.scratch.len() - self.read).unwrap_or(usize::MAX);
        let more = left.min(self.together.max(len - there));
        self.bytes.resize(there + more, 0);
        self.scratch.read(self.read, &mut self.bytes[there..])?;
        self.read += more as u64;
        Ok(())
    }

    /// Skips `len` bytes, which were peeked.
    #[inline]
    pub(crate) fn skip(&mut self, len: usize) {
        self.skipped += len;
    }
}
