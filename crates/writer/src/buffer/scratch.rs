//! Bytes that had no room in memory.

use docvalues_storage::{Result, Spill};

/// Bytes end to end in a temporary file, which has those of others between them.
#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    spill: Spill,
    parts: Vec<Extent>,
    len: u64,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    /// The first byte among those of the region.
    start: u64,
    /// The same in the file.
    at: u64,
}

/// Bytes that are moved at a time.
pub(crate) const CHUNK_LEN: usize = 1 << 16;

impl Scratch {
    pub(crate) fn new(spill: Spill) -> Scratch {
        Scratch { spill, parts: Vec::new(), len: 0 }
    }

    pub(crate) fn spill(&self) -> &Spill {
        &self.spill
    }

    /// Another one in the same file.
    pub(crate) fn sibling(&self) -> Scratch {
        Scratch::new(self.spill.clone())
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Appends `bytes`. After an error nothing has changed.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let at = self.spill.append(bytes)?;
        // Usually nobody wrote in between.
        if self.parts.last().is_none_or(|last| last.at + (self.len - last.start) != at) {
            self.parts.push(Extent { start: self.len, at });
        }
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Fills `bytes` with those from `start` on.
    pub(crate) fn read(&self, mut start: u64, mut bytes: &mut [u8]) -> Result<()> {
        let mut next = self.parts.partition_point(|part| part.start <= start);
        while !bytes.is_empty() {
            let at = next.checked_sub(1).map_or(start, |i| self.parts[i].at + (start - self.parts[i].start));
            let end = self.parts.get(next).map_or(self.len, |part| part.start);
            let len = usize::try_from(end - start).unwrap_or(usize::MAX).min(bytes.len());
            // Behind the last byte the file has to say that there is none.
            let len = if len == 0 { bytes.len() } else { len };
            let (now, later) = bytes.split_at_mut(len);
            self.spill.read(at, now)?;
            (bytes, start, next) = (later, start + len as u64, next + 1);
        }
        Ok(())
    }

    /// Shows all bytes to `f`, front to back.
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

/// A region, and bytes that are not worth writing yet.
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

    /// Bytes of which `together` are written at once.
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
