//! [`FaultyDirectory`]: a directory whose calls are recorded, or fail.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use docvalues_storage::{Directory, DirectoryEntry, DirectoryFile, Error, FileLock, Result, Source, Step};

/// A call of a [`Directory`], or of a file in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// Its purpose.
    pub step: Step,
    /// The name of the file; empty if the call concerns the folder.
    pub name: &'a OsStr,
    /// The new name of a file that is renamed.
    pub new_name: Option<&'a OsStr>,
    /// The number of bytes to read or write; 0 in other calls.
    pub bytes: usize,
}

/// Called before each call. Returns how many of its bytes it may transfer, or the error that it fails with.
type BeforeCall = dyn FnMut(&Call<'_>) -> io::Result<usize> + Send;

/// A directory whose calls are recorded, fail, or transfer fewer bytes.
///
/// A function gets each call before it is made. If it returns an error, the call fails with it and has no effect. Else
/// it returns how many of the call's bytes may be transferred. Clones share the function.
///
/// [`claim`](Directory::claim) is two calls, [`Step::Create`] and [`Step::Lock`]; [`hold`](Directory::hold) is
/// [`Step::Open`] and [`Step::Lock`]. Reads of an opened [`Source`] are no calls of a directory.
///
/// # Examples
///
/// A disk that is full after 100 bytes:
///
/// ```
/// use std::io;
/// use std::sync::Arc;
/// use docvalues_storage::{Directory, NewFile, Step};
/// use docvalues_testkit::faults::{Call, FaultyDirectory, PowerLossDirectory};
///
/// let disk = Arc::new(PowerLossDirectory::new("/disk"));
/// let mut left = 100;
/// let full = move |call: &Call<'_>| match call.step {
///     Step::Write if left == 0 => Err(io::ErrorKind::StorageFull.into()),
///     Step::Write => {
///         let written = call.bytes.min(left);
///         left -= written;
///         Ok(written)
///     }
///     _ => Ok(call.bytes),
/// };
/// let mut file = NewFile::create(Arc::new(FaultyDirectory::new(disk.clone(), full)), "notes")?;
/// file.append(&[0; 200])?; // into the buffer
/// assert_eq!(file.finish().unwrap_err().step(), Step::Write);
/// assert!(disk.list()?.is_empty()); // it was removed
/// # Ok::<(), docvalues_storage::Error>(())
/// ```
#[derive(Clone)]
pub struct FaultyDirectory {
    directory: Arc<dyn Directory>,
    before: Arc<Mutex<BeforeCall>>,
}

/// An open file.
#[derive(Debug)]
struct FaultyFile {
    file: Box<dyn DirectoryFile>,
    name: OsString,
    directory: FaultyDirectory,
}

impl FaultyDirectory {
    /// Calls `before` before each call of `directory`. It must not use the result.
    pub fn new(
        directory: Arc<dyn Directory>,
        before: impl FnMut(&Call<'_>) -> io::Result<usize> + Send + 'static,
    ) -> FaultyDirectory {
        FaultyDirectory { directory, before: Arc::new(Mutex::new(before)) }
    }

    fn before(&self, call: &Call<'_>) -> io::Result<usize> {
        (self.before.lock().unwrap_or_else(PoisonError::into_inner))(call)
    }

    /// Before a call that transfers no bytes.
    fn before_step(&self, step: Step, name: &OsStr) -> Result<()> {
        self.before_rename(step, name, None)
    }

    fn before_rename(&self, step: Step, name: &OsStr, new_name: Option<&OsStr>) -> Result<()> {
        let path = if name.is_empty() { self.path().to_owned() } else { self.path().join(name) };
        let passed = self.before(&Call { step, name, new_name, bytes: 0 });
        passed.map(drop).map_err(|error| Error::new(step, path, error))
    }

    fn file(&self, name: &OsStr, file: Box<dyn DirectoryFile>) -> Box<dyn DirectoryFile> {
        Box::new(FaultyFile { file, name: name.to_owned(), directory: self.clone() })
    }
}

impl fmt::Debug for FaultyDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FaultyDirectory").field(&self.directory).finish()
    }
}

impl Directory for FaultyDirectory {
    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn create(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>> {
        self.before_step(Step::Create, name)?;
        Ok(self.file(name, self.directory.create(name)?))
    }

    fn claim(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>> {
        self.before_step(Step::Create, name)?;
        self.before_step(Step::Lock, name)?;
        Ok(self.file(name, self.directory.claim(name)?))
    }

    fn hold(&self, name: &OsStr, lock: FileLock) -> Result<Box<dyn DirectoryFile>> {
        self.before_step(Step::Open, name)?;
        self.before_step(Step::Lock, name)?;
        Ok(self.file(name, self.directory.hold(name, lock)?))
    }

    fn open(&self, name: &OsStr) -> Result<Source> {
        self.before_step(Step::Open, name)?;
        self.directory.open(name)
    }

    fn list(&self) -> Result<Vec<DirectoryEntry>> {
        self.before_step(Step::List, OsStr::new(""))?;
        self.directory.list()
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        self.before_rename(Step::Rename, from, Some(to))?;
        self.directory.rename(from, to)
    }

    fn remove(&self, name: &OsStr) -> Result<()> {
        self.before_step(Step::Remove, name)?;
        self.directory.remove(name)
    }

    fn sync(&self) -> Result<()> {
        self.before_step(Step::SyncFolder, OsStr::new(""))?;
        self.directory.sync()
    }
}

impl FaultyFile {
    fn before(&self, step: Step, name: &OsStr, bytes: usize) -> io::Result<usize> {
        Ok(self.directory.before(&Call { step, name, new_name: None, bytes })?.min(bytes))
    }
}

impl DirectoryFile for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        self.before(Step::Metadata, &self.name, 0)?;
        self.file.len()
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let most = self.before(Step::Read, &self.name, bytes.len())?;
        self.file.read_at(&mut bytes[..most], offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let most = self.before(Step::Write, &self.name, bytes.len())?;
        self.file.write_at(&bytes[..most], offset)
    }

    fn clear(&self) -> io::Result<()> {
        self.before(Step::Create, &self.name, 0)?;
        self.file.clear()
    }

    fn sync(&self) -> io::Result<()> {
        self.before(Step::Sync, &self.name, 0)?;
        self.file.sync()
    }

    fn is_named(&self, name: &OsStr) -> io::Result<bool> {
        self.before(Step::Metadata, name, 0)?;
        self.file.is_named(name)
    }

    fn copy_permissions(&self, older: &OsStr, for_owner: bool) -> io::Result<()> {
        self.before(Step::Metadata, older, 0)?;
        self.file.copy_permissions(older, for_owner)
    }
}
