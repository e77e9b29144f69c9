//! A directory of tantivy whose files are synced when they are asked to.
//!
//! tantivy shows documents only by a commit, which syncs its files. Refreshes of the store and of Lucene sync nothing,
//! so neither does tantivy here, until [`Unsynced::sync`].

use std::collections::BTreeSet;
use std::fs::{File, rename};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle,
};

/// A folder, mapped into memory.
#[derive(Clone, Debug)]
pub struct Unsynced {
    mapped: MmapDirectory,
    folder: PathBuf,
    /// Files that were written and not synced.
    written: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Unsynced {
    pub fn open(folder: &Path) -> Unsynced {
        let mapped = MmapDirectory::open(folder).expect("a folder");
        Unsynced { mapped, folder: folder.to_owned(), written: Arc::default() }
    }

    /// Syncs all files that were written, and the folder.
    pub fn sync(&self) -> io::Result<()> {
        for path in std::mem::take(&mut *self.written.lock().expect("no panic")) {
            File::open(path)?.sync_all()?;
        }
        File::open(&self.folder)?.sync_all()
    }

    /// The path of a file that is written.
    fn to_write(&self, path: &Path) -> PathBuf {
        let path = self.folder.join(path);
        self.written.lock().expect("no panic").insert(path.clone());
        path
    }
}

impl Directory for Unsynced {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.written.lock().expect("no panic").remove(&self.folder.join(path));
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(
        &self,
        path: &Path,
    ) -> Result<BufWriter<Box<dyn TerminatingWrite + Send + Sync>>, OpenWriteError> {
        let file = File::create_new(self.to_write(path))
            .map_err(|error| OpenWriteError::wrap_io_error(error, path.to_owned()))?;
        Ok(BufWriter::new(Box::new(UnsyncedFile(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let path = self.to_write(path);
        let draft = path.with_extension("draft");
        std::fs::write(&draft, data)?;
        rename(draft, path)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.mapped.acquire_lock(lock)
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(watch_callback)
    }
}

/// A file that is complete without a sync.
struct UnsyncedFile(File);

impl Write for UnsyncedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for UnsyncedFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.flush()
    }
}
