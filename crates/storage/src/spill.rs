//! Temporary files for data that exceeds the memory of a build.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::buffered_file::{in_full, write_all_at};
use crate::directory::{Directory, DirectoryFile, FsDirectory};
use crate::error::{Error, Result, Step};

#[cfg(test)]
mod tests;

/// A temporary file, usually beside the one being built. Bytes are appended, and read back from any offset.
///
/// The file is created by the first append. Where the system allows, it is unlinked at once, so its space is freed
/// however the process ends. Elsewhere it is removed with the last clone; the next build of the same file removes
/// what a killed build left.
///
/// Clones share the file. Appended bytes never change. After an error, earlier bytes are still there, and the
/// refused bytes can be appended again.
///
/// # Examples
///
/// ```
/// use docvalues_storage::Spill;
///
/// # let folder = tempfile::tempdir()?;
/// let spill = Spill::in_folder(folder.path());
/// spill.limit(1 << 20);
/// let first = spill.append(b"run 1")?;
/// let second = spill.append(b"run 2")?;
///
/// let mut bytes = [0; 5];
/// spill.read(second, &mut bytes)?;
/// assert_eq!((first, &bytes), (0, b"run 2"));
/// assert!(spill.append(&vec![0; 2 << 20]).is_err()); // over the limit; the runs are still there
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Spill(Arc<SpillFile>);

#[derive(Debug)]
struct SpillFile {
    directory: Arc<dyn Directory>,
    path: PathBuf,
    /// The maximum length of the file.
    limit: AtomicU64,
    file: Mutex<Option<Opened>>,
}

#[derive(Debug)]
struct Opened {
    file: Arc<dyn DirectoryFile>,
    len: u64,
    /// Whether the file still has a name.
    named: bool,
}

/// Distinguishes the files that this process creates in one folder.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Spill {
    /// A temporary file in `folder`, for data that is built elsewhere.
    pub fn in_folder(folder: impl AsRef<Path>) -> Spill {
        Spill::in_directory(Arc::new(FsDirectory::new(folder)))
    }

    /// As [`in_folder`](Self::in_folder), in any directory.
    pub fn in_directory(directory: Arc<dyn Directory>) -> Spill {
        let (process, next) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = directory.path().join(format!(".docvalues-{process}-{next}.spill"));
        Spill::new(directory, path)
    }

    /// Limits the file to `bytes` bytes from now on; appends beyond that are refused.
    pub fn limit(&self, bytes: u64) {
        self.0.limit.store(bytes, Ordering::Relaxed);
    }

    /// A temporary file at `path`, in `directory`. The caller's build must hold the lock for this path as long as there
    /// is a clone.
    pub(crate) fn new(directory: Arc<dyn Directory>, path: PathBuf) -> Spill {
        let limit = AtomicU64::new(u64::MAX);
        Spill(Arc::new(SpillFile { directory, path, limit, file: Mutex::new(None) }))
    }

    /// Removes the file of a killed build. Usually there is none.
    pub(crate) fn clear(&self) -> Result<()> {
        let removed = self.0.directory.remove(self.0.name());
        removed.or_else(|error| if error.is_missing() { Ok(()) } else { Err(self.0.error(error)) })
    }

    /// Appends `bytes`, and returns their offset.
    ///
    /// # Errors
    ///
    /// When the file cannot be created or written, on a full disk, or at its [`limit`](Self::limit).
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        let SpillFile { path, limit, file, .. } = &*self.0;
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match &mut *file {
            Some(opened) => opened,
            none => none.insert(self.0.create().map_err(|error| self.0.error(error))?),
        };
        let at = opened.len;
        let limit = limit.load(Ordering::Relaxed);
        if at.saturating_add(bytes.len() as u64) > limit {
            let why = format!("it would take more than its limit of {limit} bytes");
            return Err(Error::new(Step::Write, path, io::Error::new(io::ErrorKind::QuotaExceeded, why)));
        }
        write_all_at(&*opened.file, bytes, at).map_err(|e| Error::new(Step::Write, path, e))?;
        opened.len += bytes.len() as u64;
        Ok(at)
    }

    /// Fills `bytes` from offset `at` on. All of them must have been appended.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let SpillFile { path, file, .. } = &*self.0;
        let file = file.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|o| Arc::clone(&o.file));
        let read = in_full(bytes.len(), io::ErrorKind::UnexpectedEof, |part| {
            let Some(file) = &file else { return Ok(0) };
            file.read_at(&mut bytes[part.clone()], at + part.start as u64)
        });
        read.map_err(|e| Error::new(Step::Read, path, e))
    }
}

impl SpillFile {
    fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// The error with the path as the caller knows it.
    fn error(&self, error: Error) -> Error {
        Error::new(error.step(), &self.path, error.into_io_error())
    }

    /// Creates the file, which must not exist, and unlinks it.
    fn create(&self) -> Result<Opened> {
        let file = self.directory.create(self.name())?;
        // If unlinking fails, the file is removed on drop.
        let named = !cfg!(unix) || self.directory.remove(self.name()).is_err();
        Ok(Opened { file: file.into(), len: 0, named })
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Some systems cannot remove an open file.
        if file.take().is_some_and(|opened| opened.named) {
            let _ = self.directory.remove(self.name());
        }
    }
}
