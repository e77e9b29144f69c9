//! [`Directory`]: the files of one folder.
//!
//! Everything that this workspace writes goes through this trait: segments, temporary files, and the files of a
//! store. So tests can record each call, make it fail, or lose what was not synced.
//!
//! | call | durable after |
//! | --- | --- |
//! | [`DirectoryFile::write_at`] | [`DirectoryFile::sync`] |
//! | [`Directory::create`], [`rename`](Directory::rename), [`remove`](Directory::remove) | [`Directory::sync`] |

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Component, Path};

use crate::error::Result;
use crate::source::Source;

mod fs_directory;
mod inode;

pub use fs_directory::FsDirectory;

/// The files of one folder: [`FsDirectory`], or a wrapper or model of it in tests.
///
/// Names are single components of a path; others are refused, such as `a/b`, `..` and `/a`. No call follows a symbolic link.
///
/// # Examples
///
/// ```
/// use std::ffi::OsStr;
/// use docvalues_storage::{Directory, DirectoryFile, FsDirectory};
///
/// # let folder = tempfile::tempdir()?;
/// let directory = FsDirectory::new(folder.path());
/// let (draft, name) = (OsStr::new("draft"), OsStr::new("notes"));
/// let file = directory.create(draft)?;
/// assert_eq!(file.write_at(b"all of it", 0)?, 9);
/// file.sync()?; // its bytes are durable now
/// directory.rename(draft, name)?;
/// directory.sync()?; // and its name
/// assert_eq!(directory.open(name)?.len(), 9);
/// assert_eq!(directory.list()?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Directory: fmt::Debug + Send + Sync {
    /// The path of the folder, for messages.
    fn path(&self) -> &Path;

    /// Creates a file.
    ///
    /// # Errors
    ///
    /// If the name is taken, or the call fails.
    fn create(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>>;

    /// Opens a file, or creates it, and locks it exclusively as long as the result lives. Its bytes are unchanged.
    ///
    /// # Errors
    ///
    /// [`Error::is_busy`](crate::Error::is_busy) if another process, or another part of this one, holds a lock on it;
    /// if it is no regular file, or a call fails.
    fn claim(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>>;

    /// Opens an existing file to read it, and locks it as long as the result lives.
    ///
    /// # Errors
    ///
    /// As [`claim`](Self::claim), and if there is no such file.
    fn hold(&self, name: &OsStr, lock: FileLock) -> Result<Box<dyn DirectoryFile>>;

    /// Opens a file to read it as a segment.
    ///
    /// # Errors
    ///
    /// If there is no such file, it is no regular file, or the call fails.
    fn open(&self, name: &OsStr) -> Result<Source>;

    /// All names in the folder, in no order.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    fn list(&self) -> Result<Vec<DirectoryEntry>>;

    /// Gives the file `from` the name `to`, in place of a file that has it.
    ///
    /// # Errors
    ///
    /// If the call fails.
    fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()>;

    /// Removes the name of a file. Those who have it open still read it.
    ///
    /// # Errors
    ///
    /// If there is no such file, or the call fails.
    fn remove(&self, name: &OsStr) -> Result<()>;

    /// Waits until the disk has all names: those created, renamed and removed so far.
    ///
    /// # Errors
    ///
    /// If the call fails. A file system that cannot sync folders is no error.
    fn sync(&self) -> Result<()>;
}

/// An open file of a [`Directory`].
///
/// Calls return errors of the operating system; who makes them adds the name.
pub trait DirectoryFile: fmt::Debug + Send + Sync {
    /// The length of the file.
    ///
    /// # Errors
    ///
    /// If the call fails.
    fn len(&self) -> io::Result<u64>;

    /// Whether the file has no bytes.
    ///
    /// # Errors
    ///
    /// If the call fails.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads some of `bytes` at `offset`. Returns how many.
    ///
    /// # Errors
    ///
    /// If the call fails.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes some of `bytes` at `offset`. Returns how many.
    ///
    /// # Errors
    ///
    /// If the call fails.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Removes all bytes.
    ///
    /// # Errors
    ///
    /// If the call fails.
    fn clear(&self) -> io::Result<()>;

    /// Flushes the contents and the length to the disk, as [`File::sync_data`](std::fs::File::sync_data). Timestamps may be
    /// lost.
    ///
    /// # Errors
    ///
    /// If the call fails. What the disk has then is unknown, and another call does not tell.
    fn sync(&self) -> io::Result<()>;

    /// Whether `name` still names this file: another process may have removed or replaced it.
    ///
    /// # Errors
    ///
    /// If the call fails.
    fn is_named(&self, name: &OsStr) -> io::Result<bool>;

    /// Gives this file the permissions of the file `older`, if there is one, and those of the owner to write it if
    /// `for_owner`. Does nothing where there are none.
    ///
    /// # Errors
    ///
    /// If the call fails.
    fn copy_permissions(&self, older: &OsStr, for_owner: bool) -> io::Result<()> {
        let _ = (older, for_owner);
        Ok(())
    }
}

/// A lock on a file, which ends with its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileLock {
    /// Others may hold shared locks on the file.
    Shared,
    /// Nobody else may hold a lock on the file.
    Exclusive,
}

/// A name in a [`Directory`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The name.
    pub name: std::ffi::OsString,
    /// Whether it names a regular file. A symbolic link does not.
    pub is_file: bool,
    /// The length of the file.
    pub len: u64,
}

/// Fails unless `name` is a single component of a path, and so names something in the folder. Each [`Directory`]
/// refuses other names.
///
/// # Errors
///
/// Of kind [`InvalidInput`](io::ErrorKind::InvalidInput).
pub fn check_name(name: &OsStr) -> io::Result<()> {
    let mut components = Path::new(name).components();
    match (components.next(), components.next()) {
        (Some(Component::Normal(only)), None) if only == name && !name.as_encoded_bytes().contains(&0) => {
            Ok(())
        }
        _ => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "expected the name of a file, without a folder"))
        }
    }
}
