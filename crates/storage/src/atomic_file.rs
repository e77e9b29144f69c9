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
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::buffered_file::BUFFER;
use crate::directory::{copy_permissions, is_named, sync_folder};
use crate::error::{Error, Result, Step};
use crate::fault_injection::{FaultInjector, Faults};
use crate::spill::Spill;

#[cfg(test)]
mod tests;

/// The number of attempts to open and lock the temporary file. Each failure is another build that ended within
/// microseconds.
const ATTEMPTS: usize = 100;

/// A file that is being written, and appears under its name when it is complete.
///
/// Until [`commit`](AtomicFile::commit), nothing changes under the final name: an older file can still be read
/// there. Dropping it without `commit` removes the temporary file. After a kill or a power loss the temporary file
/// stays, and the next build of the same file takes it over.
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
    target: PathBuf,
    temporary: PathBuf,
    folder: PathBuf,
    spill: Spill,
    out: BufWriter<TempFile>,
    written: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The temporary file may become the final one.
    Whole,
    /// A write failed: bytes may be missing.
    Torn,
    /// It has become the final one.
    Published,
}

/// The temporary file, with its injected faults.
#[derive(Debug)]
struct TempFile {
    file: File,
    injector: FaultInjector,
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
        AtomicFile::begin(path.as_ref(), FaultInjector::default())
    }

    /// As [`create`](Self::create), with injected `faults`.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create), and those that `faults` injects.
    pub fn create_with_faults(path: impl AsRef<Path>, faults: impl Faults + 'static) -> Result<AtomicFile> {
        AtomicFile::begin(path.as_ref(), FaultInjector::of(faults))
    }

    fn begin(path: &Path, injector: FaultInjector) -> Result<AtomicFile> {
        let name = name(path).map_err(|e| Error::new(Step::Create, path, e))?;
        let hidden = |ending| {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(ending);
            path.with_file_name(hidden)
        };
        let temporary = hidden(".tmp");
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let file = claim(&temporary, path, &injector)?;
        let spill = Spill::new(hidden(".spill"), injector.clone());
        let out = BufWriter::with_capacity(BUFFER, TempFile { file, injector });
        let target = path.to_owned();
        let begun = AtomicFile { target, temporary, folder, spill, out, written: 0, state: State::Whole };
        // If this fails, dropping it removes the temporary file.
        begun.clear()?;
        Ok(begun)
    }

    /// Removes the remains of a killed build.
    fn clear(&self) -> Result<()> {
        let TempFile { file, injector } = self.out.get_ref();
        let emptied = injector.before(Step::Create).and_then(|()| file.set_len(0));
        // Users without read access to the older file must not read this one while it is written. But the owner
        // must be able to take it over in the next build.
        let done = emptied.and_then(|()| copy_permissions(&self.target, file, true));
        done.map_err(|e| Error::new(Step::Create, &self.temporary, e))?;
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
        self.written
    }

    /// Writes all of `bytes`. The error names the file.
    ///
    /// # Errors
    ///
    /// When the temporary file cannot be written; it can never be committed then.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|e| Error::new(Step::Write, &self.temporary, e))
    }

    /// Flushes all bytes to the disk and gives the file its final name, in place of an older file.
    ///
    /// # Errors
    ///
    /// When writing, syncing or renaming fails, or a write failed before: then nothing has changed under the final
    /// name, and the temporary file is gone. With [`Step::SyncFolder`], the new file *is* complete under its final
    /// name and on the disk, but a power loss may undo the renaming.
    pub fn commit(mut self) -> Result<()> {
        if self.state == State::Torn {
            let why = io::Error::other("an earlier write failed");
            return Err(Error::new(Step::Write, &self.temporary, why));
        }
        // If anything fails from here on, dropping `self` removes the temporary file.
        self.flush().map_err(|e| Error::new(Step::Write, &self.temporary, e))?;
        self.sync().map_err(|e| Error::new(Step::Sync, &self.temporary, e))?;
        self.rename().map_err(|e| Error::new(Step::Rename, &self.temporary, e))?;
        self.state = State::Published;
        self.sync_folder().map_err(|e| Error::new(Step::SyncFolder, &self.folder, e))
    }

    fn sync(&mut self) -> io::Result<()> {
        let raw = self.out.get_mut();
        raw.injector.before(Step::Sync)?;
        copy_permissions(&self.target, &raw.file, false)?;
        raw.file.sync_all()
    }

    fn rename(&mut self) -> io::Result<()> {
        let TempFile { file, injector } = self.out.get_ref();
        // If the file was removed, its name may now belong to another build's half-written file.
        if !is_named(file, &self.temporary)? {
            let why = "the temporary file was removed while it was written";
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        injector.before(Step::Rename)?;
        fs::rename(&self.temporary, &self.target)
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        self.out.get_mut().injector.before(Step::SyncFolder)?;
        match sync_folder(&self.folder) {
            // Some file systems cannot sync a folder.
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            done => done,
        }
    }

    /// Records that bytes may be missing, if `done` is an error.
    fn note<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if done.as_ref().is_err_and(|e| e.kind() != io::ErrorKind::Interrupted) {
            self.state = State::Torn;
        }
        done
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = match self.out.write(bytes) {
            Ok(0) if !bytes.is_empty() => Err(io::ErrorKind::WriteZero.into()),
            done => done,
        };
        let count = self.note(done)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.note(done)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // The lock is still held. If the file was removed nevertheless, its name belongs to another file. Errors
        // are ignored: the next build takes the file over.
        if self.state != State::Published
            && is_named(&self.out.get_ref().file, &self.temporary).unwrap_or(false)
        {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

impl Write for TempFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(BUFFER)];
        let most = self.injector.before_bytes(Step::Write, bytes.len())?;
        self.file.write(&bytes[..most])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
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

/// Opens and locks the temporary file of `target`, with the remains of a killed build in it.
fn claim(temporary: &Path, target: &Path, injector: &FaultInjector) -> Result<File> {
    let error = |step| move |e| Error::new(step, temporary, e);
    for _ in 0..ATTEMPTS {
        let opened = injector.before(Step::Create).and_then(|()| open(temporary));
        let (file, is_new) = opened.map_err(|e| {
            // If nothing has the temporary name, the folder is at fault, and the caller knows the final name.
            let is_taken = fs::symlink_metadata(temporary).is_ok();
            Error::new(Step::Create, if is_taken { temporary } else { target }, e)
        })?;
        let locked = injector.before(Step::Lock).map_err(TryLockError::Error).and_then(|()| file.try_lock());
        // The build that held the lock may have published or removed the file in the meantime. Then this is no
        // longer the temporary file, and must not be touched.
        if !is_named(&file, temporary).map_err(error(Step::Lock))? {
            continue;
        }
        return match locked {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(error(Step::Lock)(io::ErrorKind::WouldBlock.into())),
            Err(TryLockError::Error(e)) => {
                // A file that was there before may belong to a running build.
                if is_new {
                    let _ = fs::remove_file(temporary);
                }
                Err(error(Step::Lock)(e))
            }
        };
    }
    Err(error(Step::Lock)(io::ErrorKind::WouldBlock.into()))
}

/// Opens or creates the temporary file without truncating it: it may be another build's. Also returns whether it is
/// new.
fn open(temporary: &Path) -> io::Result<(File, bool)> {
    let found = fs::symlink_metadata(temporary);
    // Neither a symbolic link nor a pipe, which would block.
    if found.as_ref().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "something that is no file has this name"));
    }
    let file = File::options().write(true).create(true).truncate(false).open(temporary)?;
    Ok((file, found.is_err()))
}
