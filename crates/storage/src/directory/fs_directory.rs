//! [`FsDirectory`]: a folder of the file system.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;

use super::inode::{Inode, inode, is_named};
use super::{Directory, DirectoryEntry, DirectoryFile, FileLock, check_name};
use crate::error::{Error, Result, Step};
use crate::positioned_file::PositionedFile;
use crate::source::Source;

/// The number of attempts to open and lock a file. Each failure is another process that removed or replaced it within
/// microseconds.
const ATTEMPTS: usize = 100;

/// A folder of the file system.
#[derive(Clone, Debug)]
pub struct FsDirectory {
    path: PathBuf,
    reads: bool,
}

/// An open file, and the folder that it is in.
#[derive(Debug)]
struct FsFile {
    file: PositionedFile,
    folder: PathBuf,
    /// The process that locked the file, if it is locked.
    locked_by: Option<u32>,
    /// The inode, once it was asked for.
    inode: OnceLock<Inode>,
}

impl FsDirectory {
    /// The folder at `path`. An empty path is the current folder.
    pub fn new(path: impl AsRef<Path>) -> FsDirectory {
        let path = path.as_ref();
        let path = if path == Path::new("") { Path::new(".") } else { path };
        FsDirectory { path: path.to_owned(), reads: false }
    }

    /// Opens files by [`Source::read`] in place of [`Source::map`].
    #[must_use]
    pub fn without_mappings(self) -> FsDirectory {
        FsDirectory { reads: true, ..self }
    }

    fn file(&self, file: File, is_locked: bool) -> Box<dyn DirectoryFile> {
        Box::new(FsFile {
            file: PositionedFile::of(file),
            folder: self.path.clone(),
            locked_by: is_locked.then(process::id),
            inode: OnceLock::new(),
        })
    }

    /// The path of a file.
    fn file_path(&self, step: Step, name: &OsStr) -> Result<PathBuf> {
        check_name(name).map_err(|error| self.error(step, name, error))?;
        Ok(self.path.join(name))
    }

    fn error(&self, step: Step, name: &OsStr, error: io::Error) -> Error {
        Error::new(step, self.path.join(name), error)
    }

    /// Opens a file by `open` and locks it, until the locked file is the one that has the name.
    fn locked(
        &self,
        (step, name): (Step, &OsStr),
        lock: FileLock,
        open: impl Fn(&Path) -> io::Result<File>,
    ) -> Result<Box<dyn DirectoryFile>> {
        let path = self.file_path(step, name)?;
        for _ in 0..ATTEMPTS {
            let before = fs::symlink_metadata(&path);
            // A pipe would block, and a link may lead out of the folder.
            if before.as_ref().is_ok_and(|found| !found.is_file()) {
                let why = "something that is no file has this name";
                return Err(self.error(step, name, io::Error::new(io::ErrorKind::AlreadyExists, why)));
            }
            let file = open(&path).map_err(|error| self.error(step, name, error))?;
            let locked = match lock {
                FileLock::Shared => file.try_lock_shared(),
                FileLock::Exclusive => file.try_lock(),
            };
            // The process that held the lock may have renamed or removed the file in the meantime.
            let is_named = inode(&file).and_then(|ours| is_named(ours, &path));
            if !is_named.map_err(|error| self.error(Step::Lock, name, error))? {
                continue;
            }
            return match locked {
                Ok(()) => Ok(self.file(file, true)),
                Err(TryLockError::WouldBlock) => {
                    Err(self.error(Step::Lock, name, io::ErrorKind::WouldBlock.into()))
                }
                Err(TryLockError::Error(error)) => {
                    // A file that was there before may belong to another process.
                    if before.is_err() {
                        let _ = fs::remove_file(&path);
                    }
                    Err(self.error(Step::Lock, name, error))
                }
            };
        }
        Err(self.error(Step::Lock, name, io::ErrorKind::WouldBlock.into()))
    }
}

impl Directory for FsDirectory {
    fn path(&self) -> &Path {
        &self.path
    }

    fn create(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>> {
        let path = self.file_path(Step::Create, name)?;
        let created = File::options().read(true).write(true).create_new(true).open(path);
        created.map(|file| self.file(file, false)).map_err(|error| self.error(Step::Create, name, error))
    }

    fn claim(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>> {
        self.locked((Step::Create, name), FileLock::Exclusive, |path| {
            File::options().read(true).write(true).create(true).truncate(false).open(path)
        })
    }

    fn hold(&self, name: &OsStr, lock: FileLock) -> Result<Box<dyn DirectoryFile>> {
        self.locked((Step::Open, name), lock, |path| File::open(path))
    }

    fn open(&self, name: &OsStr) -> Result<Source> {
        let path = self.file_path(Step::Open, name)?;
        let is_file = fs::symlink_metadata(&path).map(|found| found.is_file());
        if !is_file.map_err(|error| self.error(Step::Open, name, error))? {
            let why = "expected a file, found a link or a folder";
            return Err(self.error(Step::Open, name, io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        if self.reads { Source::read(path) } else { Source::map(path) }
    }

    fn list(&self) -> Result<Vec<DirectoryEntry>> {
        let entries = fs::read_dir(&self.path).and_then(|entries| {
            let entry = |entry: io::Result<fs::DirEntry>| {
                let entry = entry?;
                // Another process may remove it meanwhile.
                let found = match entry.metadata() {
                    Ok(found) => found,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    Err(error) => return Err(error),
                };
                let (is_file, len) = (found.is_file(), found.len());
                Ok(Some(DirectoryEntry { name: entry.file_name(), is_file, len }))
            };
            entries.filter_map(|found| entry(found).transpose()).collect()
        });
        entries.map_err(|error| Error::new(Step::List, &self.path, error))
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        let renamed = fs::rename(self.file_path(Step::Rename, from)?, self.file_path(Step::Rename, to)?);
        renamed.map_err(|error| self.error(Step::Rename, from, error))
    }

    fn remove(&self, name: &OsStr) -> Result<()> {
        fs::remove_file(self.file_path(Step::Remove, name)?)
            .map_err(|error| self.error(Step::Remove, name, error))
    }

    fn sync(&self) -> Result<()> {
        match sync_folder(&self.path) {
            // Some file systems cannot sync a folder.
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            done => done.map_err(|error| Error::new(Step::SyncFolder, &self.path, error)),
        }
    }
}

impl DirectoryFile for FsFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.with(File::metadata)?.len())
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(bytes, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.file.write_at(bytes, offset)
    }

    fn clear(&self) -> io::Result<()> {
        self.file.with(|file| file.set_len(0))
    }

    fn sync(&self) -> io::Result<()> {
        self.file.with(File::sync_data)
    }

    fn is_named(&self, name: &OsStr) -> io::Result<bool> {
        let ours = match self.inode.get() {
            Some(known) => *known,
            None => {
                let found = self.file.with(inode)?;
                *self.inode.get_or_init(|| found)
            }
        };
        is_named(ours, &self.folder.join(name))
    }

    fn copy_permissions(&self, older: &OsStr, for_owner: bool) -> io::Result<()> {
        self.file.with(|file| copy_permissions(&self.folder.join(older), file, for_owner))
    }
}

impl Drop for FsFile {
    /// Closing the file is not enough: a process that another thread is starting has a copy of it for a moment, and with
    /// it the lock. A forked process has a copy, too, and must leave the lock to its parent.
    fn drop(&mut self) {
        if self.locked_by.is_some_and(|owner| owner == process::id()) {
            let _ = self.file.with(File::unlock);
        }
    }
}

/// Gives `file` the permissions of the file `older`, if there is one, and those of the owner to write it if `for_owner`.
#[cfg(unix)]
fn copy_permissions(older: &Path, file: &File, for_owner: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let more = if for_owner { 0o600 } else { 0 };
    match fs::symlink_metadata(older) {
        Ok(older) if older.is_file() => {
            file.set_permissions(fs::Permissions::from_mode(older.permissions().mode() | more))
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn copy_permissions(_: &Path, _: &File, _: bool) -> io::Result<()> {
    Ok(())
}

/// Waits until the disk has all names in `folder`.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// There, a folder cannot be opened, and renaming is as durable as it gets.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_of_the_folder_are_refused() {
        let outer = tempfile::tempdir().unwrap();
        fs::write(outer.path().join("outside"), "untouched").unwrap();
        fs::create_dir(outer.path().join("inner")).unwrap();
        let directory = FsDirectory::new(outer.path().join("inner"));
        let absolute = outer.path().join("outside").into_os_string().into_string().unwrap();
        for name in ["", ".", "..", "../outside", "a/b", "a/", "./a", "\0", "a\0b", &absolute] {
            let name = OsStr::new(name);
            let kinds = [
                directory.create(name).map(drop).unwrap_err(),
                directory.claim(name).map(drop).unwrap_err(),
                directory.hold(name, FileLock::Shared).map(drop).unwrap_err(),
                directory.open(name).map(drop).unwrap_err(),
                directory.rename(name, OsStr::new("a")).unwrap_err(),
                directory.rename(OsStr::new("a"), name).unwrap_err(),
                directory.remove(name).unwrap_err(),
            ];
            for error in kinds {
                assert_eq!(error.io_error().kind(), io::ErrorKind::InvalidInput, "{error}");
            }
        }
        assert_eq!(fs::read(outer.path().join("outside")).unwrap(), b"untouched");
        assert!(directory.list().unwrap().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let outer = tempfile::tempdir().unwrap();
        fs::write(outer.path().join("outside"), "untouched").unwrap();
        fs::create_dir(outer.path().join("inner")).unwrap();
        std::os::unix::fs::symlink("../outside", outer.path().join("inner/link")).unwrap();
        let (directory, link) = (FsDirectory::new(outer.path().join("inner")), OsStr::new("link"));
        assert!(directory.open(link).is_err() && directory.claim(link).is_err());
        assert!(directory.hold(link, FileLock::Shared).is_err() && directory.create(link).is_err());
        assert!(!directory.list().unwrap()[0].is_file);
        directory.remove(link).unwrap();
        assert_eq!(fs::read(outer.path().join("outside")).unwrap(), b"untouched");
    }

    #[test]
    fn locks_exclude_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let (directory, name) = (FsDirectory::new(folder.path()), OsStr::new("a"));
        assert!(directory.hold(name, FileLock::Shared).is_err());
        let claimed = directory.claim(name).unwrap();
        assert!(directory.claim(name).unwrap_err().is_busy());
        assert!(directory.hold(name, FileLock::Shared).unwrap_err().is_busy());
        assert!(claimed.is_named(name).unwrap() && !claimed.is_named(OsStr::new("b")).unwrap());
        drop(claimed);
        let shared = [FileLock::Shared; 2].map(|lock| directory.hold(name, lock).unwrap());
        assert!(directory.hold(name, FileLock::Exclusive).unwrap_err().is_busy());
        directory.remove(name).unwrap();
        assert!(!shared[0].is_named(name).unwrap());
        directory.claim(name).unwrap();
    }

    /// A forked process has a copy of the open file, which shares the lock.
    #[cfg(unix)]
    #[test]
    fn a_forked_process_leaves_the_lock_to_its_parent() {
        let folder = tempfile::tempdir().unwrap();
        let (directory, name) = (FsDirectory::new(folder.path()), OsStr::new("a"));
        let ours = open_or_create(&folder.path().join("a")).unwrap();
        ours.try_lock().unwrap();
        let of_process = |file: File, process: u32| FsFile {
            file: PositionedFile::of(file),
            folder: folder.path().to_owned(),
            locked_by: Some(process),
            inode: OnceLock::new(),
        };
        let parent = of_process(ours.try_clone().unwrap(), process::id());
        drop(of_process(ours, process::id() + 1));
        assert!(directory.claim(name).unwrap_err().is_busy());
        drop(parent);
        directory.claim(name).unwrap();
    }

    /// Opens a file as [`Directory::claim`] does.
    fn open_or_create(path: &Path) -> io::Result<File> {
        File::options().read(true).write(true).create(true).truncate(false).open(path)
    }

    /// The lock is then on a file that no longer has the name: it may be one that another process published.
    #[test]
    fn a_file_that_is_replaced_between_opening_and_locking_is_opened_again() {
        for is_replaced in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let (directory, name) = (FsDirectory::new(folder.path()), OsStr::new("a"));
            let opened = std::cell::Cell::new(0);
            let open = |path: &Path| {
                let file = open_or_create(path)?;
                if opened.replace(opened.get() + 1) == 0 {
                    fs::rename(path, folder.path().join("published"))?;
                    if is_replaced {
                        fs::write(path, "another's")?;
                    }
                }
                Ok(file)
            };
            let claimed = directory.locked((Step::Create, name), FileLock::Exclusive, open).unwrap();
            assert_eq!((opened.get(), claimed.is_named(name).unwrap()), (2, true));
        }
    }

    /// If locks fail, a file that was there may belong to another process. With musl, `custom_flags` ignores `O_PATH`.
    #[cfg(all(target_os = "linux", not(target_env = "musl")))]
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no files without access")]
    fn without_a_lock_only_a_new_file_is_removed() {
        use std::os::unix::fs::OpenOptionsExt as _;

        for is_new in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let (directory, path) = (FsDirectory::new(folder.path()), folder.path().join("a"));
            if !is_new {
                fs::write(&path, "another's").unwrap();
            }
            let cannot_lock = |path: &Path| {
                open_or_create(path)?;
                File::options().read(true).custom_flags(libc::O_PATH).open(path)
            };
            let name = (Step::Create, OsStr::new("a"));
            let error = directory.locked(name, FileLock::Exclusive, cannot_lock).unwrap_err();
            assert_eq!((error.step(), error.is_busy()), (Step::Lock, false), "{error}");
            assert_eq!(path.exists(), !is_new);
        }
    }
}
