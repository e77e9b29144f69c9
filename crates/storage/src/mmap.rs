//! A file's bytes through a mapping.
//!
//! # The one promise that cannot be kept
//!
//! A `&[u8]` says that its bytes do not change. Those of a mapped file change when another process
//! writes the file, and are gone when it is truncated: on Linux, reading them then ends the process
//! with `SIGBUS`. Nothing a library does prevents that. docvalues never changes a file that stands
//! under its final name (see [`AtomicFile`](crate::AtomicFile)); who cannot say that of everyone
//! with write access, or reads from a network file system, uses [`Source::read`](crate::Source::read).
#![expect(unsafe_code, reason = "mapping a file is unsafe, and named as the exception above")]

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};

use crate::source::Advice;

/// A read-only mapping of a whole file.
#[derive(Debug)]
pub(crate) struct Map(memmap2::Mmap);

impl Map {
    /// Maps all of `file`, which is `len` bytes long.
    pub(crate) fn of(file: &File, len: u64) -> io::Result<Map> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut options = memmap2::MmapOptions::new();
        // Or it would ask for the length again.
        options.len(len);
        // SAFETY: `MmapOptions::map` asks that the file be neither changed nor truncated while it is mapped.
        // This process does neither: it writes files under temporary names alone and opens `file`
        // for reading. Of other processes it cannot be proved; the module's first lines say what
        // happens then, and `Source::map` repeats them where a caller chooses.
        let map = unsafe { options.map(file) }?;
        Ok(Map(map))
    }

    /// Tells the kernel how `range` will be read.
    #[cfg(unix)]
    pub(crate) fn advise(&self, range: Range<usize>, advice: Advice) -> io::Result<()> {
        let advice = match advice {
            Advice::Normal => memmap2::Advice::Normal,
            Advice::Random => memmap2::Advice::Random,
            Advice::Sequential => memmap2::Advice::Sequential,
            Advice::WillNeed => memmap2::Advice::WillNeed,
        };
        match range.is_empty() {
            true => Ok(()),
            false => self.0.advise_range(advice, range.start, range.len()),
        }
    }

    /// Nobody to tell.
    #[cfg(not(unix))]
    pub(crate) fn advise(&self, _: Range<usize>, _: Advice) -> io::Result<()> {
        Ok(())
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
