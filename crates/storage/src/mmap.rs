//! A memory-mapped file.
//!
//! # The one promise that cannot be kept
//!
//! A `&[u8]` promises that its bytes do not change. Those of a mapped file change when another process writes the
//! file, and vanish when it is truncated: on Linux, reading them then kills the process with `SIGBUS`. No library
//! can prevent that. docvalues never changes a file that has its final name (see
//! [`AtomicFile`](crate::AtomicFile)). If other processes may write the file, or it is on a network file system,
//! use [`Source::read`](crate::Source::read).
#![expect(unsafe_code, reason = "mapping a file is unsafe, and named as the exception above")]

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicUsize, Ordering};

use docvalues_format::granule::LARGE_SECTION;

use crate::positioned_file::PositionedFile;

/// Bytes of a file's beginning, and of its end, that are read as well as mapped: the header, the footer and most
/// directories. The two calls take less time than the page faults that they save, each of which maps sixteen pages.
const ENDS: [usize; 2] = [64, 4_096];

/// The access pattern of a mapping, as a hint to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Advice {
    /// The kernel's default: on Linux, a page fault also reads some pages around it.
    #[default]
    Normal,
    /// Random access: read only the pages that are touched.
    Random,
    /// Sequential access: read far ahead.
    Sequential,
    /// All of it is needed soon: start reading now.
    WillNeed,
}

/// The most mapped files that a process keeps open, as the number of open files is limited.
const MOST_OPEN: usize = 64;

/// The number of mapped files that are open.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// A read-only mapping of a whole file, and copies of the bytes at its ends.
pub(crate) struct Map {
    map: memmap2::Mmap,
    first: Box<[u8]>,
    last: Box<[u8]>,
    file: Option<OpenFile>,
}

/// A mapped file that stays open, and counts in [`OPEN`].
struct OpenFile(PositionedFile);

impl OpenFile {
    /// Closes the file if there are [`MOST_OPEN`] others.
    fn keep(file: PositionedFile) -> Option<OpenFile> {
        let file = OpenFile(file);
        (OPEN.fetch_add(1, Ordering::Relaxed) < MOST_OPEN).then_some(file)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

// Without the bytes, which are a file's.
impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.map.len())
    }
}

impl Map {
    /// Maps all `len` bytes of `file`.
    pub(crate) fn of(file: File, len: u64) -> io::Result<Map> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut options = memmap2::MmapOptions::new();
        // Saves a call for the length.
        options.len(len);
        // SAFETY: `MmapOptions::map` asks that the file be neither changed nor truncated while it is mapped.
        // This process does neither: it writes files under temporary names alone and opens `file`
        // for reading. Of other processes it cannot be proved; the module's first lines say what
        // happens then, and `Source::map` repeats them where a caller chooses.
        let map = unsafe { options.map(&file) }?;
        let file = PositionedFile::of(file);
        let read = |at: usize, len: usize| {
            let mut bytes = vec![0; len].into_boxed_slice();
            file.read_exact_at(&mut bytes, at as u64)?;
            Ok::<_, io::Error>(bytes)
        };
        let [first, last] = ENDS.map(|end| end.min(map.len()));
        let (first, last) = (read(0, first)?, read(map.len() - last, last)?);
        // A shorter file has no large section.
        let file = if len as u64 > LARGE_SECTION { OpenFile::keep(file) } else { None };
        Ok(Map { map, first, last, file })
    }

    /// The file, if it is open. Reading 4 KiB takes a fifth of the time of a page fault, which maps sixteen pages, and
    /// of unmapping these.
    pub(crate) fn file(&self) -> Option<&PositionedFile> {
        self.file.as_ref().map(|file| &file.0)
    }

    /// Of the copy of the last bytes, frees those before `from`.
    pub(crate) fn keep_end(&mut self, from: usize) {
        let before = from.saturating_sub(self.map.len() - self.last.len());
        self.last = Box::from(&self.last[before.min(self.last.len())..]);
    }

    /// The `len` bytes at `start`: the copies, if the range lies in one of them.
    pub(crate) fn part(&self, start: usize, len: usize) -> Option<&[u8]> {
        let end = start.checked_add(len)?;
        let last = self.map.len() - self.last.len();
        if end <= self.first.len() {
            self.first.get(start..end)
        } else if start >= last {
            self.last.get(start - last..end - last)
        } else {
            self.map.get(start..end)
        }
    }

    /// Advises the kernel of the access pattern of `range`.
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
            false => self.map.advise_range(advice, range.start, range.len()),
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
        &self.map
    }
}
