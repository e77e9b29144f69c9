//! Creates a store, opens one, or goes back to an older commit.
//!
//! The lock is taken first, then the newest commit is opened, then the batches of the log are applied to it. Knows nothing of
//! replicas and threads.

mod recover;

use std::io;
use std::path::Path;
use std::sync::Arc;

use docvalues_storage::Directory;

pub use recover::{LostCommit, Recovered};

use crate::commit::{commit_now, remove_all_but, remove_unnamed};
use crate::error::{Error, Result};
use crate::files::{CommitFile, FileName, Files, MAX_NUMBER, Position, WriterLock, random_id};
use crate::log::{LogStart, LogWriter};
use crate::observer::Observer;
use crate::options::{Durability, KeepCommits, StoreOptions, folder_at, new_folder_at};
use crate::schema::StoreSchema;
use crate::segments::CommitState;
use crate::store::Store;
use crate::trace;
use crate::versions::Tombstones;
use crate::write::replay;

impl Store {
    /// Creates a store in the folder `path`, which is created if necessary, and commits it.
    ///
    /// # Errors
    ///
    /// If there is a store in the folder, another writer has it, or a call to the operating system fails.
    pub fn create(path: impl AsRef<Path>, schema: StoreSchema, options: StoreOptions) -> Result<Store> {
        Store::create_in(Arc::new(new_folder_at(path, &options.open)?), schema, options)
    }

    /// As [`create`](Self::create), in any directory.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_in(
        directory: Arc<dyn Directory>,
        schema: StoreSchema,
        options: StoreOptions,
    ) -> Result<Store> {
        create_with(directory, CommitFile::new(schema, 1, random_id(0)), options, None)
    }

    /// As [`create`](Self::create), with an observer of new segments.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_with(
        path: impl AsRef<Path>,
        schema: StoreSchema,
        options: StoreOptions,
        observer: Arc<dyn Observer>,
    ) -> Result<Store> {
        Store::create_in_with(Arc::new(new_folder_at(path, &options.open)?), schema, options, observer)
    }

    /// As [`create_with`](Self::create_with), in any directory.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_in_with(
        directory: Arc<dyn Directory>,
        schema: StoreSchema,
        options: StoreOptions,
        observer: Arc<dyn Observer>,
    ) -> Result<Store> {
        create_with(directory, CommitFile::new(schema, 1, random_id(0)), options, Some(observer))
    }

    /// Opens the store in the folder `path` to write it, or [creates](Self::create) one if there is none. A store that is there
    /// keeps its schema.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open) and [`create`](Self::create).
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// for commit in [1, 1] {
    ///     let store = Store::open_or_create(&path, StoreSchema::new(), StoreOptions::default())?;
    ///     assert_eq!(store.snapshot().commit(), commit);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_or_create(
        path: impl AsRef<Path>,
        schema: StoreSchema,
        options: StoreOptions,
    ) -> Result<Store> {
        let path = path.as_ref();
        let created = match Store::open(path, options) {
            Err(Error::NoStore { .. }) => Store::create(path, schema, options),
            opened => return opened,
        };
        match created {
            // By another process, meanwhile.
            Err(Error::Exists { .. }) => Store::open(path, options),
            created => created,
        }
    }

    /// Opens the store in the folder `path` to write it.
    ///
    /// Removes the files that no kept commit names, such as those of a writer that was killed.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if another writer has the store; [`Error::NoStore`] if there is none, or no folder; [`Error::Damaged`] if the
    /// newest commit, or a file that it names, is damaged, or is missing while its log is there:
    /// [`recover`](Self::recover) tells what is left; [`Error::NoObserver`] if segments have side files, and batches of the log add
    /// documents; or if a call to the operating system fails.
    pub fn open(path: impl AsRef<Path>, options: StoreOptions) -> Result<Store> {
        Store::open_in(Arc::new(folder_at(path, &options.open)), options)
    }

    /// As [`open`](Self::open), in any directory.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_in(directory: Arc<dyn Directory>, options: StoreOptions) -> Result<Store> {
        open_in(directory, options, None, true)
    }

    /// As [`open`](Self::open), with an observer of new segments. It is also called for those of the log, which is applied
    /// before this returns.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); and those of the observer.
    pub fn open_with(
        path: impl AsRef<Path>,
        options: StoreOptions,
        observer: Arc<dyn Observer>,
    ) -> Result<Store> {
        Store::open_in_with(Arc::new(folder_at(path, &options.open)), options, observer)
    }

    /// As [`open_with`](Self::open_with), in any directory.
    ///
    /// # Errors
    ///
    /// As [`open_with`](Self::open_with).
    pub fn open_in_with(
        directory: Arc<dyn Directory>,
        options: StoreOptions,
        observer: Arc<dyn Observer>,
    ) -> Result<Store> {
        open_in(directory, options, Some(observer), true)
    }

    /// Goes back to the older commit `to` of the store in the folder `path`: makes a new commit with its contents, and
    /// a new epoch. For a store whose newest commit is damaged or missing, or contains what it should not.
    ///
    /// The batches of the log are applied to it, as far as they follow it. With `discard_from`, those from this number on are
    /// not, and are lost: 0 discards all. Without it, an error says which batches would be lost.
    ///
    /// No file is removed. The next commit removes those that [`StoreOptions::keep_commits`] does not keep.
    ///
    /// # Errors
    ///
    /// [`Error::LostBatches`] if batches of the log cannot be applied, before `discard_from`; [`Error::NoCommit`] if there is no
    /// such commit; [`Error::Request`] if it is the newest, and has all of its log; [`Error::Busy`] if a writer has the store;
    /// [`Error::NoObserver`] if the commit has side files, and batches of the log add documents; or if a file of the commit is
    /// missing or damaged. Nothing is changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_store::{KeepCommits, Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let options = StoreOptions::new().keep_commits(KeepCommits::Newest(2));
    /// let store = Store::create(&path, StoreSchema::new(), options)?; // commit 1
    /// store.add_field(Field::new("siez", Kind::Numeric, LogicalType::I64))?;
    /// store.commit()?; // commit 2
    /// drop(store);
    ///
    /// let recovered = Store::recover(&path, 1, None, options)?;
    /// assert_eq!((recovered.commit.number, recovered.lost[0].number), (3, 2));
    /// assert!(Store::open(&path, options)?.snapshot().schema().fields().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recover(
        path: impl AsRef<Path>,
        to: u64,
        discard_from: Option<u64>,
        options: StoreOptions,
    ) -> Result<Recovered> {
        Store::recover_in(Arc::new(folder_at(path, &options.open)), to, discard_from, options)
    }

    /// As [`recover`](Self::recover), in any directory.
    ///
    /// # Errors
    ///
    /// As [`recover`](Self::recover).
    pub fn recover_in(
        directory: Arc<dyn Directory>,
        to: u64,
        discard_from: Option<u64>,
        options: StoreOptions,
    ) -> Result<Recovered> {
        recover::recover_in(directory, to, discard_from, options, None)
    }

    /// As [`recover`](Self::recover), with an observer of the segment of the log's batches.
    ///
    /// # Errors
    ///
    /// As [`recover`](Self::recover); and those of the observer.
    pub fn recover_with(
        path: impl AsRef<Path>,
        to: u64,
        discard_from: Option<u64>,
        options: StoreOptions,
        observer: Arc<dyn Observer>,
    ) -> Result<Recovered> {
        let directory = Arc::new(folder_at(path, &options.open));
        Store::recover_in_with(directory, to, discard_from, options, observer)
    }

    /// As [`recover_with`](Self::recover_with), in any directory.
    ///
    /// # Errors
    ///
    /// As [`recover_with`](Self::recover_with).
    pub fn recover_in_with(
        directory: Arc<dyn Directory>,
        to: u64,
        discard_from: Option<u64>,
        options: StoreOptions,
        observer: Arc<dyn Observer>,
    ) -> Result<Recovered> {
        recover::recover_in(directory, to, discard_from, options, Some(observer))
    }
}

/// Opens the store of a directory. `makes_room` removes unnamed files from a full disk, and tries once more.
pub(crate) fn open_in(
    directory: Arc<dyn Directory>,
    options: StoreOptions,
    observer: Option<Arc<dyn Observer>>,
    makes_room: bool,
) -> Result<Store> {
    // Nothing is created in a folder that has no store.
    Files::list_beside_writer(&*directory)?.require_commit(&*directory)?;
    let lock = WriterLock::take(&directory)?;
    let files = Files::list(&*directory)?;
    let newest = files.require_commit(&*directory)?;
    let state = CommitState::open(&*directory, newest, options.open, None)?;
    // Before anything is removed: a log whose commit is missing is still needed.
    LogStart::of(&*directory, newest, &state.file)?;
    // The newest commit may have been renamed by a process that was killed before it synced the folder. Then an
    // older one must not be removed before this one is durable.
    directory.sync()?;
    // A commit with the next number comes before the removal of unnamed files, so that their numbers are never used again.
    let has_unnamed_files = (state.file.next_number + 1..=MAX_NUMBER).contains(&files.next_number);
    let mut store = Store::of(directory.clone(), lock, files, state, options, observer);
    if !has_unnamed_files {
        remove_unnamed(&store)?;
    }
    let Err(error) = begin(&mut store, has_unnamed_files) else { return Ok(store) };
    let is_full = error.storage().is_some_and(|error| error.io_error().kind() == io::ErrorKind::StorageFull);
    // Their space is needed more than their numbers.
    let is_removed = || {
        remove_all_but(&store, Some(KeepCommits::Newest(usize::MAX)), u64::MAX)
            .is_ok_and(|left| left.is_empty())
    };
    if makes_room && is_full && has_unnamed_files && is_removed() {
        let observer = store.observer.take();
        drop(store);
        return open_in(directory, options, observer, false);
    }
    Err(error)
}

/// Creates a store with this commit, which names no files.
pub(crate) fn create_with(
    directory: Arc<dyn Directory>,
    committed: CommitFile,
    options: StoreOptions,
    observer: Option<Arc<dyn Observer>>,
) -> Result<Store> {
    let lock = WriterLock::take(&directory)?;
    let files = Files::list(&*directory)?;
    if let Some(newest) = files.newest_commit() {
        let (folder, commit) = (directory.path().display().to_string(), FileName::Commit(newest).to_string());
        return Err(Error::Exists { folder, commit });
    }
    LogStart::of(&*directory, 0, &committed)?;
    let committed = CommitFile { next_number: files.next_number, ..committed };
    let (segments, tombstones) = (Vec::new(), Tombstones::default());
    let state = CommitState { number: 0, file: committed, segments, tombstones };
    let mut store = Store::of(directory, lock, files, state, options, observer);
    begin_log(&mut store)?;
    commit_now(&store)?;
    Ok(store)
}

/// Applies the log, and begins a new one. Commits if that changed something, or the numbers of unnamed files are taken.
fn begin(store: &mut Store, has_unnamed_files: bool) -> Result<()> {
    let replayed = replay(store)?;
    trace::replayed(store.directory.path(), replayed);
    begin_log(store)?;
    if has_unnamed_files || replayed > 0 || store.log.is_some() {
        commit_now(store)?;
        remove_unnamed(store)?;
    }
    Ok(())
}

/// Begins a log, if the options ask for one. The next commit names it.
fn begin_log(store: &mut Store) -> Result<()> {
    if store.options.durability == Durability::OnCommit && store.options.keep_frames == 0 {
        return Ok(());
    }
    let Position { epoch, sequence, .. } = store.position();
    let syncs = store.options.durability != Durability::OnCommit;
    let log = Arc::new(LogWriter::create(&store.directory, store.take_number(), epoch, sequence, syncs)?);
    store.log = Some(log.clone());
    store.with_writer(|writer| writer.log = Some(log));
    Ok(())
}
