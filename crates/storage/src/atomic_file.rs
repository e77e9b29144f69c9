//! A file appears under its name whole, or not at all.
//!
//! ```text
//! create   .NAME.tmp is opened and locked, beside NAME
//! write    its bytes
//! commit   fsync .NAME.tmp  ->  rename it to NAME  ->  fsync the folder
//! ```
//!
//! The temporary name is derived from the final one, and a lock that ends with its process says
//! whether somebody is writing it. So two builds of one file cannot mix, and what a killed build
//! left behind is taken over by the next one instead of staying for ever.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, Step};
use crate::fault_injection::{FaultInjector, Faults};
use crate::spill::Spill;

#[cfg(test)]
mod tests;

/// Bytes collected before they are written, and the most that are written at a time: of more, the kernel
/// would keep larger pieces together, which it first has to find room for. That takes several times as long.
pub(crate) const BUFFER: usize = 1 << 16;

/// How often another build may take the temporary name away between our opening and locking it.
/// Each time is a build that ended within microseconds.
const ATTEMPTS: usize = 100;

/// A file that is being written, and appears under its name when it is complete.
///
/// Until [`commit`](AtomicFile::commit), nothing changes under the final name: an older file stands
/// there and can be read. Dropped without `commit`, the temporary file is removed; after a kill or a
/// loss of power it stays, and the next build of the same file takes it over.
///
/// The file has the permissions of an older file under its final name.
///
/// Where the final name is a symbolic link, the link is replaced, not what it points to.
///
/// # Cost
///
/// Writes are collected to 64 KiB. `commit` waits until the disk has all bytes: two `fsync`s.
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
    /// Some bytes may be missing from it.
    Torn,
    /// It has become the final one.
    Published,
}

/// The temporary file, and what is to go wrong with it.
#[derive(Debug)]
struct TempFile {
    file: File,
    injector: FaultInjector,
}

impl AtomicFile {
    /// Begins the file that is to stand at `path`, whose folder must exist.
    ///
    /// # Errors
    ///
    /// When another build of the same file is running ([`Error::is_busy`]), when `path` names no file
    /// or something that is none, as a folder or a device; when temporary files cannot be created, or
    /// those of a killed build not be removed.
    pub fn create(path: impl AsRef<Path>) -> Result<AtomicFile> {
        AtomicFile::begin(path.as_ref(), FaultInjector::default())
    }

    /// As [`create`](Self::create), with `faults` that make calls fail.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create), and what `faults` says.
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
        let file = claim(&temporary, &injector)?;
        let spill = Spill::new(hidden(".spill"), injector.clone());
        let out = BufWriter::with_capacity(BUFFER, TempFile { file, injector });
        let target = path.to_owned();
        let begun = AtomicFile { target, temporary, folder, spill, out, written: 0, state: State::Whole };
        // If that fails, dropping it removes the temporary file.
        begun.clear()?;
        Ok(begun)
    }

    /// Removes what a killed build may have left.
    fn clear(&self) -> Result<()> {
        let TempFile { file, injector } = self.out.get_ref();
        let emptied = injector.before(Step::Create).and_then(|()| file.set_len(0));
        // Whoever may not read the older file may not read this one while it is written. The next build must be able to
        // take it over.
        let done = emptied.and_then(|()| copy_mode(&self.target, file, 0o600));
        done.map_err(|e| Error::new(Step::Create, &self.temporary, e))?;
        self.spill.clear()
    }

    /// The final name.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// A place beside the file for what has no room in memory while it is built.
    pub fn spill(&self) -> Spill {
        self.spill.clone()
    }

    /// How many bytes were written so far: where the next one will stand.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes all of `bytes`, with an error that names the file.
    ///
    /// # Errors
    ///
    /// When the temporary file cannot be written; it can then never be committed.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|e| Error::new(Step::Write, &self.temporary, e))
    }

    /// Brings all bytes to the disk and gives the file its final name, in place of an older file.
    ///
    /// # Errors
    ///
    /// When writing, syncing or renaming fails, or a write failed before: then nothing has changed
    /// under the final name, and the temporary file is gone. With [`Step::SyncFolder`] the new file
    /// *does* stand under the final name, whole and on the disk; that it has this name may not
    /// survive a loss of power.
    pub fn commit(mut self) -> Result<()> {
        if self.state == State::Torn {
            let why = io::Error::other("an earlier write failed");
            return Err(Error::new(Step::Write, &self.temporary, why));
        }
        // Whatever fails from here on, dropping `self` removes the temporary file.
        self.flush().map_err(|e| Error::new(Step::Write, &self.temporary, e))?;
        self.sync().map_err(|e| Error::new(Step::Sync, &self.temporary, e))?;
        self.rename().map_err(|e| Error::new(Step::Rename, &self.temporary, e))?;
        self.state = State::Published;
        self.sync_folder().map_err(|e| Error::new(Step::SyncFolder, &self.folder, e))
    }

    fn sync(&mut self) -> io::Result<()> {
        let raw = self.out.get_mut();
        raw.injector.before(Step::Sync)?;
        copy_mode(&self.target, &raw.file, 0)?;
        raw.file.sync_all()
    }

    fn rename(&mut self) -> io::Result<()> {
        let TempFile { file, injector } = self.out.get_ref();
        // Should somebody have removed it, what has its name now may be another build's, and half written.
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
            // Some file systems have nothing to sync there.
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            done => done,
        }
    }

    /// Remembers that bytes may be missing.
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
        // The lock is still held. Should somebody have removed the file nevertheless, what has its name
        // now is not ours. An error has nobody to go to, and the next build takes the file over.
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

/// What `path` ends with, if a file can stand there.
fn name(path: &Path) -> io::Result<&OsStr> {
    let refuse = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    match path.file_name() {
        // `Path` takes `name/` and `name/.` for `name`; a call to the operating system does not.
        Some(name) if !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) => {
            refuse("this names a folder")
        }
        Some(_) if path.is_dir() => refuse("a folder has this name"),
        // A device or a pipe would be replaced, and `/dev/null` is dearly missed.
        Some(_) if path.exists() && !path.is_file() => refuse("something that is no file has this name"),
        Some(name) => Ok(name),
        None => refuse("this names no file"),
    }
}

/// Opens the temporary file for this build alone, with what a killed build may have left in it.
fn claim(temporary: &Path, injector: &FaultInjector) -> Result<File> {
    let error = |step| move |e| Error::new(step, temporary, e);
    for _ in 0..ATTEMPTS {
        let opened = injector.before(Step::Create).and_then(|()| open(temporary));
        let (file, is_new) = opened.map_err(error(Step::Create))?;
        let locked = injector.before(Step::Lock).map_err(TryLockError::Error).and_then(|()| file.try_lock());
        // The build that held the lock may have published or removed the file in the meantime. Then
        // this is not the temporary file any more, and must not be touched.
        if !is_named(&file, temporary).map_err(error(Step::Lock))? {
            continue;
        }
        return match locked {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(error(Step::Lock)(io::ErrorKind::WouldBlock.into())),
            Err(TryLockError::Error(e)) => {
                // One that was there before may be a running build's.
                if is_new {
                    let _ = fs::remove_file(temporary);
                }
                Err(error(Step::Lock)(e))
            }
        };
    }
    Err(error(Step::Lock)(io::ErrorKind::WouldBlock.into()))
}

/// Opens or creates the temporary file, and leaves its bytes: they may be another build's. Also says whether
/// there was none.
fn open(temporary: &Path) -> io::Result<(File, bool)> {
    let found = fs::symlink_metadata(temporary);
    // Neither a link to elsewhere nor a pipe that waits for a reader.
    if found.as_ref().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "something that is no file has this name"));
    }
    let file = File::options().write(true).create(true).truncate(false).open(temporary)?;
    Ok((file, found.is_err()))
}

/// Whether `path` is a name of `file`.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (ours.dev(), ours.ino())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// There, a file that is open cannot be replaced.
#[cfg(not(unix))]
fn is_named(_: &File, path: &Path) -> io::Result<bool> {
    fs::exists(path)
}

/// Gives `file` the permissions of the file at `older`, if there is one, and `more`.
#[cfg(unix)]
fn copy_mode(older: &Path, file: &File, more: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    match fs::symlink_metadata(older) {
        Ok(older) if older.is_file() => {
            file.set_permissions(fs::Permissions::from_mode(older.permissions().mode() | more))
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn copy_mode(_: &Path, _: &File, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// There, a folder cannot be opened, and renaming is as durable as it gets.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
