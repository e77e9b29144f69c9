//! [`NewFile`]: a file that is written once, under its final name.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::buffered_file::BufferedFile;
use crate::directory::Directory;
use crate::error::{Error, Result, Step};

#[cfg(test)]
mod tests;

/// A file that is written sequentially, once, under its final name.
///
/// For files that nobody reads before another file names them, such as the segments of a store: they need neither a
/// temporary name nor a lock. Dropping it without [`finish`](NewFile::finish) removes the file. After a kill or a
/// power loss a partial file stays.
///
/// # Cost
///
/// Writes are buffered to 64 KiB. `finish` waits until the disk has all bytes: one `fsync`. The name is durable after
/// [`Directory::sync`], which the caller makes once for many files.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use docvalues_storage::{Directory, FsDirectory, NewFile};
///
/// # let folder = tempfile::tempdir()?;
/// let directory: Arc<dyn Directory> = Arc::new(FsDirectory::new(folder.path()));
/// let mut file = NewFile::create(Arc::clone(&directory), "seg-000001.dv")?;
/// file.append(b"all of it")?;
/// assert_eq!(file.written(), 9);
/// file.finish()?;
/// directory.sync()?;
/// assert_eq!(directory.open("seg-000001.dv".as_ref())?.len(), 9);
/// assert!(NewFile::create(directory, "seg-000001.dv").is_err()); // it exists
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NewFile {
    directory: Arc<dyn Directory>,
    name: OsString,
    out: BufferedFile,
    finished: bool,
}

impl NewFile {
    /// Creates the file `name` in `directory`.
    ///
    /// # Errors
    ///
    /// If the name is taken, or the file cannot be created.
    pub fn create(directory: Arc<dyn Directory>, name: impl AsRef<OsStr>) -> Result<NewFile> {
        let name = name.as_ref().to_owned();
        let out = BufferedFile::new(directory.create(&name)?);
        Ok(NewFile { directory, name, out, finished: false })
    }

    /// The path of the file, for messages.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join(&self.name)
    }

    /// The number of bytes appended so far, which is the offset of the next one.
    pub fn written(&self) -> u64 {
        self.out.written()
    }

    /// Appends all of `bytes`.
    ///
    /// # Errors
    ///
    /// If the file cannot be written; it can never be finished then.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.append(bytes).map_err(|error| self.error(Step::Write, error))
    }

    /// Writes all bytes to the disk. The name is durable after [`Directory::sync`].
    ///
    /// # Errors
    ///
    /// If writing or syncing fails, or a write failed before. The file is removed then.
    pub fn finish(mut self) -> Result<()> {
        self.out.complete().map_err(|error| self.error(Step::Write, error))?;
        self.out.file().sync().map_err(|error| self.error(Step::Sync, error))?;
        self.finished = true;
        Ok(())
    }

    fn error(&self, step: Step, error: io::Error) -> Error {
        Error::new(step, self.path(), error)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.finished {
            // Errors are ignored: nothing names the file.
            let _ = self.directory.remove(&self.name);
        }
    }
}
