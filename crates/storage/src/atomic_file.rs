//! A file that appears under its name complete, or not at all.
//!
//! ```text
//! create   .NAME.tmp is opened and locked, beside NAME
//! write    its bytes
//! commit   fsync .NAME.tmp  ->  rename it to NAME  ->  fsync the folder
//! ```
//!
//! The temporary name is derived from the final one, and a lock that ends with its process shows whether a build is
//! writing it. So two builds of one file cannot mix, and the next build takes over the temporary file of a killed
//! one instead of leaving it for ever.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::buffered_file::BufferedFile;
use crate::directory::{Directory, FsDirectory};
use crate::error::{Error, Result, Step};
use crate::spill::Spill;

#[cfg(test)]
mod tests;
mod unfinished;

/// A file that is being written, and appears under its name when it is complete.
///
/// Until [`commit`](AtomicFile::commit), nothing changes under the final name: an older file can still be read
/// there. Dropping it without `commit` removes the temporary file. After a kill or a power loss the temporary file
/// stays, and the next build of the same file takes it over. A program that handles the signals that end it removes the
/// file with [`abandon_all`](AtomicFile::abandon_all).
///
/// The file gets the permissions of an older file under its final name. If the final name is a symbolic link, the
/// link is replaced, not its target.
///
/// # Cost
///
/// Writes are buffered to 64 KiB. `commit` waits until the disk has all bytes: two `fsync`s.
///
/// # Examples
///
/// ```
/// use std::io::Write;
/// use docvalues_storage::AtomicFile;
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("hits.dv");
/// let mut file = AtomicFile::create(&path)?;
/// file.write_all(b"all of it")?;
/// assert!(AtomicFile::create(&path).is_err_and(|e| e.is_busy())); // one build at a time
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    directory: Arc<dyn Directory>,
    target: PathBuf,
    temporary: PathBuf,
    spill: Spill,
    out: BufferedFile,
    /// Whether it has its final name.
    is_published: bool,
}

impl AtomicFile {
    /// Begins the file that will be at `path`, whose folder must exist.
    ///
    /// # Errors
    ///
    /// When another build of the same file is running ([`Error::is_busy`]), when `path` does not name a file or
    /// names a folder or a device, when the temporary file cannot be created, or those of a killed build cannot be
    /// removed.
    pub fn create(path: impl AsRef<Path>) -> Result<AtomicFile> {
        let path = path.as_ref();
        let folder = path.parent().unwrap_or(Path::new(""));
        AtomicFile::begin(Arc::new(FsDirectory::new(folder)), path)
    }

    /// As [`create`](Self::create), for the file `name` in `directory`: a folder of the file system, or a wrapper of
    /// one.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_in(directory: Arc<dyn Directory>, name: impl AsRef<OsStr>) -> Result<AtomicFile> {
        let path = directory.path().join(name.as_ref());
        AtomicFile::begin(directory, &path)
    }

    /// Begins the file at `path`, which is in `directory`.
    fn begin(directory: Arc<dyn Directory>, path: &Path) -> Result<AtomicFile> {
        let name = name(path).map_err(|e| Error::new(Step::Create, path, e))?;
        let hidden = |ending| {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(ending);
            hidden
        };
        let (target, temporary) = (path.to_owned(), path.with_file_name(hidden(".tmp")));
        let mut unfinished = unfinished::lock();
        let file = directory.claim(&hidden(".tmp")).map_err(|error| {
            // If nothing has the temporary name, the folder is at fault, and the caller knows the final name.
            let is_taken = error.step() != Step::Create || fs::symlink_metadata(&temporary).is_ok();
            Error::new(error.step(), if is_taken { &temporary } else { path }, error.into_io_error())
        })?;
        unfinished.insert(temporary.clone());
        drop(unfinished);
        let spill = Spill::new(directory.clone(), path.with_file_name(hidden(".spill")));
        let out = BufferedFile::new(file);
        let begun = AtomicFile { directory, target, temporary, spill, out, is_published: false };
        // If this fails, dropping it removes the temporary file.
        begun.clear()?;
        Ok(begun)
    }

    /// Removes the remains of a killed build.
    fn clear(&self) -> Result<()> {
        let file = self.out.file();
        // Users without read access to the older file must not read this one while it is written. But the owner
        // must be able to take it over in the next build.
        let done = file.clear().and_then(|()| file.copy_permissions(last(&self.target), true));
        done.map_err(|e| self.error(Step::Create, e))?;
        self.spill.clear()
    }

    /// The final name.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// A temporary file beside this one, for data that exceeds the memory of the build.
    pub fn spill(&self) -> Spill {
        self.spill.clone()
    }

    /// The number of bytes written so far, which is the offset of the next one.
    pub fn written(&self) -> u64 {
        self.out.written()
    }

    /// Writes all of `bytes`. The error names the file.
    ///
    /// # Errors
    ///
    /// When the temporary file cannot be written; it can never be committed then.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.append(bytes).map_err(|e| self.error(Step::Write, e))
    }

    /// Flushes all bytes to the disk and gives the file its final name, in place of an older file.
    ///
    /// # Errors
    ///
    /// When writing, syncing or renaming fails, or a write failed before: then nothing has changed under the final
    /// name, and the temporary file is gone. With [`Step::SyncFolder`], the new file *is* complete under its final
    /// name and on the disk, but a power loss may undo the renaming.
    pub fn commit(mut self) -> Result<()> {
        // If anything fails up to the renaming, dropping `self` removes the temporary file.
        self.out.complete().map_err(|e| self.error(Step::Write, e))?;
        // Its bytes are not to be written to the disk beside those of the file.
        self.spill = Spill::in_directory(Arc::clone(&self.directory));
        let file = self.out.file();
        let permitted = file.copy_permissions(last(&self.target), false);
        permitted.and_then(|()| file.sync()).map_err(|e| self.error(Step::Sync, e))?;
        self.publish().map_err(|e| self.error(Step::Rename, e))?;
        self.directory.sync()
    }

    /// Removes the temporary files of all files that this process has begun and not committed, then calls `end`, which
    /// is to end the process. Until it returns, no file begins, is committed or dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_storage::AtomicFile;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let names = || std::fs::read_dir(folder.path()).map(Iterator::count);
    /// let _unfinished = AtomicFile::create(folder.path().join("hits.dv"))?;
    /// assert_eq!(names()?, 1);
    /// let mut left = None;
    /// AtomicFile::abandon_all(|| left = names().ok()); // a program ends here
    /// assert_eq!(left, Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn abandon_all(end: impl FnOnce()) {
        let unfinished = unfinished::lock();
        for temporary in &*unfinished {
            // An error is ignored: the next build takes the file over.
            let _ = fs::remove_file(temporary);
        }
        end();
    }

    fn error(&self, step: Step, error: io::Error) -> Error {
        Error::new(step, &self.temporary, error)
    }

    /// Gives the file its final name.
    fn publish(&mut self) -> io::Result<()> {
        let mut unfinished = unfinished::lock();
        // If the file was removed, its name may now belong to another build's half-written file.
        if !self.out.file().is_named(last(&self.temporary))? {
            let why = "the temporary file was removed while it was written";
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        self.directory.rename(last(&self.temporary), last(&self.target)).map_err(Error::into_io_error)?;
        self.is_published = true;
        unfinished.remove(&self.temporary);
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.append(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.is_published {
            return;
        }
        let (name, mut unfinished) = (last(&self.temporary), unfinished::lock());
        unfinished.remove(&self.temporary);
        // The lock is still held. If the file was removed nevertheless, its name belongs to another file. Errors
        // are ignored: the next build takes the file over.
        if self.out.file().is_named(name).unwrap_or(false) {
            let _ = self.directory.remove(name);
        }
    }
}

/// The last component of a path that ends with the name of a file.
fn last(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

/// The last component of `path`, if a file can be there.
fn name(path: &Path) -> io::Result<&OsStr> {
    let refuse = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    match path.file_name() {
        // `Path` treats `name/` and `name/.` as `name`; the operating system does not.
        Some(name) if !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) => {
            refuse("this names a folder")
        }
        Some(_) if path.is_dir() => refuse("a folder has this name"),
        // A device or a pipe would be replaced: consider `/dev/null`.
        Some(_) if path.exists() && !path.is_file() => refuse("something that is no file has this name"),
        Some(name) => Ok(name),
        None => refuse("this names no file"),
    }
}
