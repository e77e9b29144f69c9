//! The bytes of one file, from a mapping, memory, plain reads or requests.

use std::borrow::Cow;
use std::fmt;
#[cfg(any(not(target_os = "linux"), test))]
use std::fs;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use docvalues_format::error::{Error as FormatError, ErrorKind, Result as FormatResult, Section as Role};

use crate::error::{Error, Result, Step};
use crate::mmap::{Advice, Map};
use crate::positioned_file::PositionedFile;
use crate::request_waves::{ReadAt, Requests};

/// The bytes of one file: mapped, in memory, read piece by piece, or requested from elsewhere.
///
/// | | opening | first touch of 4 KiB | memory |
/// | --- | --- | --- | --- |
/// | [`map`](Source::map) | O(1) | a page fault, unless the page is cached | the kernel's page cache, shared by processes; a copy of a file of up to 64 KiB; of a longer one, of the last 4 KiB, see [`keep_end`](Source::keep_end), and of the checksums of touched sections of 1 to 64 MiB |
/// | [`read`](Source::read) | O(1) | a `pread` and a copy | this process's, for the bytes touched |
/// | [`requests`](Source::requests) | two ranges | a part of a request, see [`in_waves`](Source::in_waves) | as `read` |
/// | [`memory`](Source::memory) | O(1) | nothing | the bytes given |
///
/// The [`Section`](crate::Section)s opened from a source share it, hence `Arc<Source>`.
///
/// # Hazard
///
/// A mapping shows the file as it is *now*, but [`read_at`](Self::read_at) returns the first 64 bytes of a long file, and the last
/// ones that [`keep_end`](Self::keep_end) leaves, as they were at opening. If another process **truncates** a mapped file, touching the lost part
/// kills this process with `SIGBUS` (on Linux, and much the same elsewhere). If it **overwrites** parts, the change
/// shows, and bytes that were verified before are not verified again: results may be wrong, but memory safety
/// holds. Files published by [`AtomicFile`](crate::AtomicFile) are replaced, never changed, and a mapping keeps the
/// old file alive. So `cp new.dv old.dv` is a hazard, and `mv new.dv old.dv` is not. If files may be changed in
/// place (network file systems, other people's scripts), use [`Source::read`], which returns an error instead.
///
/// # Examples
///
/// ```
/// use docvalues_format::error::Section;
/// use docvalues_storage::Source;
///
/// let source = Source::memory(b"the bytes of a file".to_vec());
/// assert_eq!(source.read_at(Section::Header, 4, 5)?, &b"bytes"[..]);
/// assert_eq!(source.touched(), 5);
/// assert!(source.read_at(Section::Header, 15, 5).is_err());
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Source {
    name: Option<PathBuf>,
    len: u64,
    bytes: Backend,
    touched: AtomicU64,
}

/// The longest file that is read whole: mapping it, its page faults and unmapping take longer.
const SMALL: usize = 64 << 10;

#[derive(Debug)]
enum Backend {
    Mapped(Map),
    Memory(Memory),
    Read(PositionedFile),
    Requests(Requests),
}

/// Bytes in memory: a `Vec<u8>`, an `Arc<[u8]>`, a `&'static [u8]`, or any other owner, which must return the same bytes each
/// time.
///
/// ```
/// use std::sync::Arc;
///
/// use docvalues_storage::Source;
///
/// let owned = Source::memory(b"bytes".to_vec());
/// let shared: Arc<[u8]> = Arc::from(&b"bytes"[..]); // many sources over one buffer
/// let from_shared = Source::memory(Arc::clone(&shared));
/// let embedded = Source::memory(&b"bytes"[..]); // such as `include_bytes!`
/// assert!([owned, from_shared, embedded].iter().all(|source| source.len() == 5));
/// ```
// Sections point to the bytes. A source neither moves the owner out of its box nor borrows it mutably, so the borrow of the bytes
// may last until the source is dropped.
pub struct Memory(Box<dyn AsRef<[u8]> + Send + Sync>);

impl Memory {
    fn as_slice(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

// Without the bytes, which are a file's.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.as_slice().len())
    }
}

impl<B: AsRef<[u8]> + Send + Sync + 'static> From<B> for Memory {
    fn from(bytes: B) -> Memory {
        Memory(Box::new(bytes))
    }
}

impl Source {
    /// Maps the file at `path`, or reads it whole if it has at most 64 KiB. See the [hazard](Source#hazard) of
    /// mappings.
    ///
    /// A file of more than 1 MiB stays open, unless 64 others of this process do: reading the checksums, and the first
    /// value of a column, takes less time than mapping their pages.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened or mapped, or is not a regular file.
    pub fn map(path: impl AsRef<Path>) -> Result<Source> {
        let path = path.as_ref();
        let (mut file, len) = open(path)?;
        let bytes = match usize::try_from(len) {
            Ok(small) if small <= SMALL => {
                let mut bytes = vec![0; small];
                file.read_exact(&mut bytes).map_err(|e| Error::new(Step::Open, path, e))?;
                Backend::Memory(bytes.into())
            }
            _ => Backend::Mapped(Map::of(file, len).map_err(|e| Error::new(Step::Map, path, e))?),
        };
        Ok(Source::new(Some(path), len, bytes))
    }

    /// Opens the file at `path` for plain reads, without a mapping. Bytes are read when they are first touched, and
    /// kept in memory as long as their [`Section`](crate::Section).
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, or is not a regular file.
    pub fn read(path: impl AsRef<Path>) -> Result<Source> {
        let path = path.as_ref();
        let (file, len) = open(path)?;
        Ok(Source::new(Some(path), len, Backend::Read(PositionedFile::of(file))))
    }

    /// A file that is already in memory. Nothing is copied.
    pub fn memory(bytes: impl Into<Memory>) -> Source {
        let bytes = bytes.into();
        Source::new(None, bytes.as_slice().len() as u64, Backend::Memory(bytes))
    }

    /// As [`memory`](Self::memory), for bytes that have a path.
    pub fn named_memory(path: impl AsRef<Path>, bytes: impl Into<Memory>) -> Source {
        Source { name: Some(path.as_ref().to_owned()), ..Source::memory(bytes) }
    }

    /// The bytes of `reader`; errors call them `name`. Requests the first 64 bytes and the last 64 KiB in one wave
    /// and keeps them. Other bytes are requested when they are touched, and kept as by [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// When these ranges cannot be read.
    pub fn requests(reader: Arc<dyn ReadAt>, name: impl AsRef<Path>) -> Result<Source> {
        let name = name.as_ref();
        let requests = Requests::begin(reader).map_err(|e| Error::new(Step::Open, name, e))?;
        Ok(Source::new(Some(name), requests.len(), Backend::Requests(requests)))
    }

    fn new(name: Option<&Path>, len: u64, bytes: Backend) -> Source {
        Source { name: name.map(Path::to_owned), len, bytes, touched: AtomicU64::new(0) }
    }

    /// The path of the file, or its name if it is requested; `None` in memory.
    pub fn path(&self) -> Option<&Path> {
        self.name.as_deref()
    }

    /// The name of the file for messages: its path, or `<memory>`.
    pub fn name(&self) -> impl fmt::Display + '_ {
        self.path().unwrap_or(Path::new("<memory>")).display()
    }

    /// The length of the file when it was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of bytes touched so far: those of each [`read_at`](Self::read_at), and of each granule of a
    /// section when it was first loaded or verified, or read for a
    /// [copy](docvalues_format::source::SectionBytes::copy).
    ///
    /// Bytes that a mapping hands out unverified (`Verify::Never`) are not counted.
    pub fn touched(&self) -> u64 {
        self.touched.load(Ordering::Relaxed)
    }

    pub(crate) fn touch(&self, bytes: usize) {
        self.touched.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// `len` bytes at `offset`, **unverified**: for the header, the footer and directory pages, which contain their
    /// own checksums. Errors call the bytes `part`.
    ///
    /// Borrowed from a mapping or memory. Otherwise each call reads them into new memory, which is never longer
    /// than the file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] when the file ends before, [`ErrorKind::Io`] when reading fails.
    pub fn read_at(&self, part: Role, offset: u64, len: usize) -> FormatResult<Cow<'_, [u8]>> {
        self.inside(part, offset, len as u64)?;
        let bytes = match self.slice(offset, len) {
            Some(bytes) => Cow::Borrowed(bytes),
            None => {
                let mut bytes = Vec::new();
                let no_memory = |_| FormatError::new(part, offset, ErrorKind::Io(io::ErrorKind::OutOfMemory));
                bytes.try_reserve_exact(len).map_err(no_memory)?;
                bytes.resize(len, 0);
                self.fill(part, offset, &mut bytes)?;
                Cow::Owned(bytes)
            }
        };
        self.touch(len);
        Ok(bytes)
    }

    /// Frees the copy that a mapping has of bytes before `from`, near the end of the file: they are read from the mapping
    /// again.
    pub fn keep_end(&mut self, from: u64) {
        if let Backend::Mapped(map) = &mut self.bytes {
            map.keep_end(usize::try_from(from).unwrap_or(usize::MAX));
        }
    }

    /// Whether bytes are [requested](Self::requests), so that it pays to need many of them at once.
    pub fn is_requested(&self) -> bool {
        matches!(self.bytes, Backend::Requests(_))
    }

    /// Runs `work`. If the source is [requested](Self::requests), runs it again until it lacks no bytes, and
    /// requests in between all ranges that it lacked, in parallel. Returns the last result of `work`.
    ///
    /// So `work` should continue after an error, to touch whatever else it will need. Only the errors of its last
    /// run count.
    pub fn in_waves<T>(&self, mut work: impl FnMut() -> T) -> T {
        match &self.bytes {
            Backend::Requests(requests) => requests.in_waves(work),
            Backend::Mapped(_) | Backend::Memory(_) | Backend::Read(_) => work(),
        }
    }

    /// In [`in_waves`](Self::in_waves) of a requested source, fails unless `ranges` were read, and records them for
    /// the next wave.
    pub(crate) fn want(&self, part: Role, ranges: Vec<Range<u64>>) -> FormatResult<()> {
        let (Backend::Requests(requests), Some(first)) = (&self.bytes, ranges.first()) else { return Ok(()) };
        let offset = first.start;
        requests.want(ranges).map_err(|e| FormatError::new(part, offset, ErrorKind::Io(e.kind())))
    }

    /// The file of a mapping, if it is open as well.
    pub(crate) fn mapped_file(&self) -> Option<&PositionedFile> {
        match &self.bytes {
            Backend::Mapped(map) => map.file(),
            Backend::Memory(_) | Backend::Read(_) | Backend::Requests(_) => None,
        }
    }

    /// Advises the kernel of the access pattern of the whole file. Does nothing without a mapping.
    ///
    /// # Errors
    ///
    /// When the kernel rejects the advice. The source stays usable.
    pub fn advise(&self, advice: Advice) -> io::Result<()> {
        self.advise_range(0..self.bytes().map_or(0, <[u8]>::len), advice)
    }

    pub(crate) fn advise_range(&self, range: Range<usize>, advice: Advice) -> io::Result<()> {
        match &self.bytes {
            Backend::Mapped(map) => map.advise(range, advice),
            Backend::Memory(_) | Backend::Read(_) | Backend::Requests(_) => Ok(()),
        }
    }

    /// Fails unless the range lies in the file.
    pub(crate) fn inside(&self, part: Role, offset: u64, len: u64) -> FormatResult<()> {
        match offset.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => {
                let left = self.len.saturating_sub(offset);
                Err(FormatError::new(part, offset, ErrorKind::Truncated { needed: len, left }))
            }
        }
    }

    /// The whole file, **unverified**, if it is mapped or in memory; `None` if it is read or requested piece by piece. O(1).
    ///
    /// For readers of other formats. [`touched`](Self::touched) does not count these bytes.
    ///
    /// ```
    /// use docvalues_storage::Source;
    ///
    /// assert_eq!(Source::memory(b"a file".to_vec()).bytes(), Some(&b"a file"[..]));
    /// ```
    #[inline]
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.bytes {
            Backend::Mapped(map) => Some(map),
            Backend::Memory(bytes) => Some(bytes.as_slice()),
            Backend::Read(_) | Backend::Requests(_) => None,
        }
    }

    fn slice(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        match &self.bytes {
            Backend::Mapped(map) => map.part(start, len),
            Backend::Memory(bytes) => bytes.as_slice().get(start..start.checked_add(len)?),
            Backend::Read(_) | Backend::Requests(_) => None,
        }
    }

    /// Fills `bytes` from `offset` on, from any backend. Reads a mapped file if it is open.
    pub(crate) fn fill(&self, part: Role, offset: u64, bytes: &mut [u8]) -> FormatResult<()> {
        let failed = |e: io::Error| FormatError::new(part, offset, ErrorKind::Io(e.kind()));
        match &self.bytes {
            Backend::Read(file) => file.read_exact_at(bytes, offset).map_err(failed),
            Backend::Requests(requests) => requests.fill(offset, bytes).map_err(failed),
            Backend::Mapped(_) | Backend::Memory(_) => {
                self.inside(part, offset, bytes.len() as u64)?;
                if let Some(file) = self.mapped_file() {
                    return file.read_exact_at(bytes, offset).map_err(failed);
                }
                bytes.copy_from_slice(self.slice(offset, bytes.len()).unwrap_or_default());
                Ok(())
            }
        }
    }
}

/// Opens a regular file, and rejects others.
fn open(path: &Path) -> Result<(File, u64)> {
    let opened = || {
        let file = open_at_once(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() { Ok((file, metadata.len())) } else { Err(not_regular()) }
    };
    opened().map_err(|e| Error::new(Step::Open, path, e))
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

/// Opens a file without blocking, as opening a pipe without a writer would.
#[cfg(target_os = "linux")]
fn open_at_once(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    match File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path) {
        // A regular file with a lease, which the kernel first has to revoke from another process.
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => File::open(path),
        opened => opened,
    }
}

/// The same where the flag is not known.
#[cfg(not(target_os = "linux"))]
fn open_at_once(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() { File::open(path) } else { Err(not_regular()) }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The same bytes in each of the four ways; small files are read in place of a mapping.
    fn sources(bytes: &[u8]) -> (tempfile::TempDir, [Source; 4]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.dv");
        fs::write(&path, bytes).unwrap();
        let memory = Source::memory(bytes.to_vec());
        let requested = Source::requests(Arc::new(bytes.to_vec()), "a.dv").unwrap();
        (folder, [Source::map(&path).unwrap(), Source::read(&path).unwrap(), memory, requested])
    }

    #[test]
    fn small_ranges() {
        let bytes: Vec<u8> = (0..=255).collect();
        for source in sources(&bytes).1 {
            assert_eq!(source.len(), 256);
            for (offset, len) in [(0, 256), (255, 1), (256, 0), (0, 0), (17, 64)] {
                let read = source.read_at(Role::Footer, offset as u64, len).unwrap();
                assert_eq!(*read, bytes[offset..offset + len], "{source:?}");
            }
            assert_eq!(source.touched(), 256 + 1 + 64);
            for (offset, len, left) in [
                (256, 1, 0),
                (0, 257, 256),
                (300, 0, 0),
                (u64::MAX, 1, 0),
                (u64::MAX, 0, 0),
                (1, usize::MAX, 255),
            ] {
                let refused = source.read_at(Role::Footer, offset, len).unwrap_err();
                assert_eq!((refused.section(), refused.offset()), (Role::Footer, offset));
                assert_eq!(refused.kind(), &ErrorKind::Truncated { needed: len as u64, left });
            }
            assert_eq!(source.touched(), 256 + 1 + 64, "what was refused was not touched");
        }
    }

    #[test]
    fn no_bytes_at_all() {
        for source in sources(b"").1 {
            assert!(source.is_empty());
            assert_eq!(*source.read_at(Role::Header, 0, 0).unwrap(), b""[..]);
            assert!(source.read_at(Role::Header, 0, 1).is_err());
            source.advise(Advice::Random).unwrap();
        }
    }

    /// The first 64 bytes and the last 4 KiB of a mapped file are copies.
    #[test]
    fn ranges_near_the_ends_of_a_long_file() {
        for len in [SMALL + 1, SMALL + 70, 3 * SMALL] {
            let bytes: Vec<u8> =
                (0..len).map(|i| u8::try_from(((i * 31) ^ (i >> 8)) & 0xff).unwrap()).collect();
            let (folder, mut sources) = sources(&bytes);
            for start in [0, 1, 63, 64, 65, len - 4_097, len - 4_096, len - 4_095, len - 64, len] {
                for part in [0, 1, 63, 64, 65, 4_096, len] {
                    for source in &sources {
                        let read = source.read_at(Role::DirectoryPage, start as u64, part);
                        match bytes.get(start..start + part) {
                            Some(expected) => assert_eq!(*read.unwrap(), *expected, "{part} at {start}"),
                            None => assert!(read.is_err(), "{part} at {start} of {len}"),
                        }
                    }
                }
            }
            // Of bytes that change in place, the mapping has the new ones.
            let mut file = File::options().write(true).open(folder.path().join("a.dv")).unwrap();
            file.write_all(&vec![0; len]).unwrap();
            let source = &mut sources[0];
            for (from, kept) in [(0, 4_096), (len - 4_097, 4_096), (len - 100, 100), (len, 0), (len + 1, 0)] {
                source.keep_end(from as u64);
                let read = |start: usize, len| source.read_at(Role::Header, start as u64, len).unwrap();
                assert_eq!((&*read(0, 64), &*read(len - kept, kept)), (&bytes[..64], &bytes[len - kept..]));
                assert_eq!(*read(64, len - kept - 64), vec![0; len - kept - 64]);
            }
        }
    }

    #[test]
    fn names() {
        let (folder, [mapped, read, memory, requested]) = sources(b"x");
        let path = folder.path().join("a.dv");
        for source in [mapped, read] {
            assert_eq!(source.name().to_string(), path.display().to_string());
            assert_eq!(source.path(), Some(&*path));
        }
        assert_eq!((memory.name().to_string(), memory.path()), ("<memory>".to_owned(), None));
        assert_eq!(requested.name().to_string(), "a.dv");
    }

    #[test]
    fn debug_shows_no_bytes() {
        for source in sources(&[0x7a; 100_000]).1 {
            assert!(format!("{source:?}").len() < 400, "{source:?}");
        }
    }

    #[test]
    fn memory_is_not_copied() {
        let shared: Arc<[u8]> = Arc::from(&b"shared"[..]);
        let source = Source::memory(Arc::clone(&shared));
        assert_eq!(source.bytes().unwrap().as_ptr(), shared.as_ptr());
        static BYTES: &[u8] = b"static";
        assert_eq!(Source::memory(BYTES).bytes().unwrap().as_ptr(), BYTES.as_ptr());
        let boxed: Box<[u8]> = Box::from(&b"boxed"[..]);
        let start = boxed.as_ptr();
        assert_eq!(Source::memory(boxed).bytes().unwrap().as_ptr(), start);
    }

    #[test]
    fn what_cannot_be_opened() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.dv");
        for opened in [Source::map(&missing), Source::read(&missing)] {
            let error = opened.unwrap_err();
            assert_eq!((error.step(), error.path()), (Step::Open, &*missing));
            assert_eq!(error.io_error().kind(), io::ErrorKind::NotFound);
            assert!(error.to_string().starts_with(&format!("cannot open \"{}\": ", missing.display())));
        }
        for opened in [Source::map(&folder), Source::read(&folder)] {
            assert!(opened.unwrap_err().to_string().ends_with("not a regular file"));
        }
    }

    #[test]
    fn small_files_are_read_and_long_ones_mapped() {
        for (len, is_mapped) in [(0, false), (SMALL, false), (SMALL + 1, true)] {
            let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(len).collect();
            let (_folder, [source, ..]) = sources(&bytes);
            assert_eq!(matches!(source.bytes, Backend::Mapped(_)), is_mapped, "{len} bytes");
            assert_eq!(*source.read_at(Role::Header, 0, len).unwrap(), bytes);
        }
    }

    /// The hazard of mappings is none here: the lost bytes are an error.
    #[test]
    fn truncated_after_opening() {
        let (folder, [_, read, ..]) = sources(&[1; 100]);
        File::options().write(true).open(folder.path().join("a.dv")).unwrap().set_len(50).unwrap();
        assert_eq!(*read.read_at(Role::Header, 0, 50).unwrap(), [1; 50][..]);
        let error = read.read_at(Role::Header, 0, 51).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Io(io::ErrorKind::UnexpectedEof));
    }

    #[test]
    fn every_advice_is_taken() {
        for source in sources(&[1; 10_000]).1 {
            for advice in [Advice::Normal, Advice::Random, Advice::Sequential, Advice::WillNeed] {
                source.advise(advice).unwrap();
                source.advise_range(4097..9000, advice).unwrap();
                source.advise_range(5..5, advice).unwrap();
            }
        }
    }
}
