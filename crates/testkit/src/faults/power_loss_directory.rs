//! [`PowerLossDirectory`]: a folder in memory that loses what was not synced.

mod crash;
mod disk;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use docvalues_storage::{
    Directory, DirectoryEntry, DirectoryFile, Error, FileLock, Result, Source, Step, check_name,
};

use disk::{Change, Disk, InodeId, NameChange};

/// A folder in memory that loses what was not synced.
///
/// It keeps what processes see apart from what the disk has. [`crash_image`](Self::crash_image) draws a folder that a
/// machine might find after a power loss. Clones share the folder.
///
/// | modelled | |
/// | --- | --- |
/// | a write since the last sync of its file | kept, lost, zeroed, torn at a multiple of 512 bytes in the file, or with one bit flipped; independently of other writes |
/// | a [`clear`](DirectoryFile::clear) since then | kept or lost |
/// | a created, renamed or removed name since the last sync of the folder | kept or lost, independently of other names and of the bytes |
/// | the length of a file | that of the writes that were kept; gaps are zeros |
/// | bytes and names that were synced | kept |
/// | locks | none after the crash |
///
/// Renaming is atomic, and a file has one name: if its creation is lost and a later renaming is kept, it appears under
/// the later name. So this is weaker than journaling file systems, which keep the order of names, and than those that
/// sync a new file together with its name.
///
/// Not modelled: damage to synced bytes, bytes of removed files in new ones, a full disk, permissions, links and
/// folders. [`FaultyDirectory`](super::FaultyDirectory) injects errors.
///
/// # Examples
///
/// A file whose bytes were synced, but not its name:
///
/// ```
/// use docvalues_storage::{Directory, DirectoryFile};
/// use docvalues_testkit::faults::PowerLossDirectory;
///
/// let directory = PowerLossDirectory::new("/disk");
/// let file = directory.create("notes".as_ref())?;
/// file.write_at(b"all of it", 0)?;
/// file.sync()?;
///
/// let mut images = (0..100).map(|seed| directory.crash_image(seed));
/// assert!(images.any(|image| image.open("notes".as_ref()).is_err()));
///
/// directory.sync()?;
/// let mut images = (0..100).map(|seed| directory.crash_image(seed));
/// assert!(images.all(|image| image.open("notes".as_ref()).is_ok_and(|notes| notes.len() == 9)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PowerLossDirectory {
    path: Arc<Path>,
    disk: Arc<Mutex<Disk>>,
}

/// An open file.
#[derive(Debug)]
struct OpenFile {
    directory: PowerLossDirectory,
    inode: InodeId,
    lock: Option<FileLock>,
    is_writable: bool,
}

impl PowerLossDirectory {
    /// An empty folder. Errors name its files as those of `path`.
    pub fn new(path: impl AsRef<Path>) -> PowerLossDirectory {
        PowerLossDirectory { path: path.as_ref().into(), disk: Arc::default() }
    }

    /// Ignores call number `n` of [`sync`](Directory::sync) and [`DirectoryFile::sync`], counted together from 0: it
    /// succeeds without effect. A test in which nothing is lost nevertheless does not need that call.
    #[must_use]
    pub fn without_sync(self, n: u64) -> PowerLossDirectory {
        self.disk().ignored_syncs.insert(n);
        self
    }

    /// Fails call number `n` of [`sync`](Directory::sync) and [`DirectoryFile::sync`], counted together from 0. What
    /// it was to make durable is lost, though it can still be read, and later calls do not report it: so does Linux.
    #[must_use]
    pub fn with_failing_sync(self, n: u64) -> PowerLossDirectory {
        self.disk().failing_syncs.insert(n);
        self
    }

    /// Goes down at call number `n` of [`sync`](Directory::sync) and [`DirectoryFile::sync`], counted together from 0:
    /// it and all later ones fail, and what they were to make durable may be kept or lost in a
    /// [`crash_image`](Self::crash_image).
    #[must_use]
    pub fn down_at_sync(self, n: u64) -> PowerLossDirectory {
        self.disk().last_sync = Some(n);
        self
    }

    /// The number of calls of [`sync`](Directory::sync) and [`DirectoryFile::sync`] so far.
    pub fn sync_count(&self) -> u64 {
        self.disk().syncs
    }

    /// A folder as a machine might find it if it lost power now. Equal seeds give equal images.
    ///
    /// Some images lose all that was not synced, some lose nothing, and most are in between.
    #[must_use]
    pub fn crash_image(&self, seed: u64) -> PowerLossDirectory {
        let image = self.disk().crash_image(seed);
        PowerLossDirectory { path: Arc::clone(&self.path), disk: Arc::new(Mutex::new(image)) }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, step: Step, name: &OsStr) -> impl FnOnce(io::Error) -> Error {
        let path = self.path.join(name);
        move |error| Error::new(step, path, error)
    }

    /// Locks `inode`, and returns it as an open file.
    fn locked(
        &self,
        disk: &mut Disk,
        (name, inode): (&OsStr, InodeId),
        lock: FileLock,
        is_writable: bool,
    ) -> Result<Box<dyn DirectoryFile>> {
        let locked = disk.inodes[inode].locks.add(lock);
        locked.map_err(self.error(Step::Lock, name))?;
        Ok(Box::new(OpenFile { directory: self.clone(), inode, lock: Some(lock), is_writable }))
    }
}

impl fmt::Debug for PowerLossDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PowerLossDirectory").field(&self.path).finish()
    }
}

impl Directory for PowerLossDirectory {
    fn path(&self) -> &Path {
        &self.path
    }

    fn create(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>> {
        let created = check_name(name).and_then(|()| self.disk().create(name));
        let inode = created.map_err(self.error(Step::Create, name))?;
        Ok(Box::new(OpenFile { directory: self.clone(), inode, lock: None, is_writable: true }))
    }

    fn claim(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>> {
        check_name(name).map_err(self.error(Step::Create, name))?;
        let mut disk = self.disk();
        let inode = match disk.inode(name) {
            Ok(inode) => inode,
            Err(_) => disk.create(name).map_err(self.error(Step::Create, name))?,
        };
        self.locked(&mut disk, (name, inode), FileLock::Exclusive, true)
    }

    fn hold(&self, name: &OsStr, lock: FileLock) -> Result<Box<dyn DirectoryFile>> {
        let mut disk = self.disk();
        let inode = disk.inode(name).map_err(self.error(Step::Open, name))?;
        self.locked(&mut disk, (name, inode), lock, false)
    }

    fn open(&self, name: &OsStr) -> Result<Source> {
        let disk = self.disk();
        let inode = disk.inode(name).map_err(self.error(Step::Open, name))?;
        Ok(Source::named_memory(self.path.join(name), disk.inodes[inode].seen.clone()))
    }

    fn list(&self) -> Result<Vec<DirectoryEntry>> {
        let disk = self.disk();
        let entry = |(name, &inode): (&std::ffi::OsString, &InodeId)| {
            let len = disk.inodes[inode].seen.len() as u64;
            DirectoryEntry { name: name.clone(), is_file: true, len }
        };
        Ok(disk.names.iter().map(entry).collect())
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        let mut disk = self.disk();
        let inode = check_name(to).and_then(|()| disk.inode(from));
        let inode = inode.map_err(self.error(Step::Rename, from))?;
        disk.change_names(NameChange { inode, old: Some(from.to_owned()), new: Some(to.to_owned()) });
        Ok(())
    }

    fn remove(&self, name: &OsStr) -> Result<()> {
        let mut disk = self.disk();
        let inode = disk.inode(name).map_err(self.error(Step::Remove, name))?;
        disk.change_names(NameChange { inode, old: Some(name.to_owned()), new: None });
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.disk().sync_names().map_err(|error| Error::new(Step::SyncFolder, &*self.path, error))
    }
}

impl OpenFile {
    fn change(&self, change: Change) -> io::Result<()> {
        if !self.is_writable {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is open for reading only"));
        }
        self.directory.disk().inodes[self.inode].change(change);
        Ok(())
    }
}

impl DirectoryFile for OpenFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.directory.disk().inodes[self.inode].seen.len() as u64)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let disk = self.directory.disk();
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let found = disk.inodes[self.inode].seen.get(start..).unwrap_or_default();
        let count = found.len().min(bytes.len());
        bytes[..count].copy_from_slice(&found[..count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.change(Change::Write { offset, bytes: bytes.to_vec() })?;
        Ok(bytes.len())
    }

    fn clear(&self) -> io::Result<()> {
        self.change(Change::Clear)
    }

    fn sync(&self) -> io::Result<()> {
        self.directory.disk().sync_bytes(self.inode)
    }

    fn is_named(&self, name: &OsStr) -> io::Result<bool> {
        Ok(self.directory.disk().names.get(name) == Some(&self.inode))
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if let Some(lock) = self.lock {
            self.directory.disk().inodes[self.inode].locks.release(lock);
        }
    }
}
