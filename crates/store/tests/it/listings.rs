//! Listings of a folder that miss files, as they may while another process renames and removes some.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use docvalues_reader::OpenOptions;
use docvalues_storage::{
    Directory, DirectoryEntry, DirectoryFile, FileLock, FsDirectory, Result as StorageResult, Source,
};
use docvalues_store::{Error, Store, StoreOptions, StoreReader};

use crate::fixture::{add, schema};

/// A folder whose next listings lack the names that begin with `prefix`.
#[derive(Debug)]
struct Misses {
    folder: FsDirectory,
    prefix: &'static str,
    listings: AtomicU32,
}

impl Misses {
    fn new(folder: &Path, prefix: &'static str, listings: u32) -> Arc<Misses> {
        Arc::new(Misses { folder: FsDirectory::new(folder), prefix, listings: AtomicU32::new(listings) })
    }
}

impl Directory for Misses {
    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn create(&self, name: &OsStr) -> StorageResult<Box<dyn DirectoryFile>> {
        self.folder.create(name)
    }

    fn claim(&self, name: &OsStr) -> StorageResult<Box<dyn DirectoryFile>> {
        self.folder.claim(name)
    }

    fn hold(&self, name: &OsStr, lock: FileLock) -> StorageResult<Box<dyn DirectoryFile>> {
        self.folder.hold(name, lock)
    }

    fn open(&self, name: &OsStr) -> StorageResult<Source> {
        self.folder.open(name)
    }

    fn list(&self) -> StorageResult<Vec<DirectoryEntry>> {
        let mut entries = self.folder.list()?;
        let left = self.listings.load(Ordering::Relaxed);
        if left > 0 {
            self.listings.store(left - 1, Ordering::Relaxed);
            entries.retain(|entry| !entry.name.to_string_lossy().starts_with(self.prefix));
        }
        Ok(entries)
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> StorageResult<()> {
        self.folder.rename(from, to)
    }

    fn remove(&self, name: &OsStr) -> StorageResult<()> {
        self.folder.remove(name)
    }

    fn sync(&self) -> StorageResult<()> {
        self.folder.sync()
    }
}

#[test]
fn a_listing_that_misses_the_commits_is_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    add(&store, &[(1, 1)]).unwrap();
    store.commit().unwrap();
    for misses in [1, 3] {
        let directory = Misses::new(folder.path(), "commit-", misses);
        let mut reader = StoreReader::open_in(directory.clone(), OpenOptions::new()).unwrap();
        assert_eq!(reader.snapshot().docs(), 1);
        directory.listings.store(misses, Ordering::Relaxed);
        assert!(!reader.reopen().unwrap());
        directory.listings.store(misses, Ordering::Relaxed);
        let busy = Store::open_in(directory, StoreOptions::default());
        assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
    }
    let never = Misses::new(folder.path(), "commit-", u32::MAX);
    let missing = StoreReader::open_in(never, OpenOptions::new());
    assert!(matches!(missing, Err(Error::NoStore { .. })));
}

#[test]
fn a_reader_does_not_go_back_to_an_older_commit() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().keep_commits(docvalues_store::KeepCommits::Newest(2));
    let store = Store::create(folder.path(), schema(), options).unwrap();
    add(&store, &[(1, 1)]).unwrap();
    assert_eq!(store.commit().unwrap(), 2);
    let directory = Misses::new(folder.path(), "commit-00000002", 0);
    let mut reader = StoreReader::open_in(directory.clone(), options.open).unwrap();
    directory.listings.store(5, Ordering::Relaxed);
    assert!(!reader.reopen().unwrap());
    assert_eq!((reader.snapshot().commit(), reader.snapshot().docs()), (2, 1));
}
