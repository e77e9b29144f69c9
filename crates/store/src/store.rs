//! [`Store`]: the writer of a store.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use docvalues_reader::OpenOptions;
use docvalues_storage::{Directory, FsDirectory};
use docvalues_writer::WriterOptions;

use crate::commit::CommitInfo;
use crate::commit_file::{CommitFile, FileEntry};
use crate::error::{Error, Result};
use crate::files::Files;
use crate::names::FileName;
use crate::schema::StoreSchema;
use crate::snapshot::Snapshot;
use crate::state::{CommitState, SegmentState};
use crate::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use crate::writer_lock::WriterLock;

/// Options of a [`Store`].
///
/// ```
/// use docvalues_store::StoreOptions;
///
/// // The last three commits stay, so that a bad import can be undone.
/// let options = StoreOptions { keep_commits: 3, ..StoreOptions::default() };
/// assert_eq!(StoreOptions::default().keep_commits, 1);
/// # drop(options);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// The number of newest commits whose files are kept, at least 1.
    pub keep_commits: usize,
    /// How segments are opened.
    pub open: OpenOptions,
    /// How segments are written and merged.
    pub writer: WriterOptions,
}

impl Default for StoreOptions {
    /// One commit; segments as [`OpenOptions`] and [`WriterOptions`] are by default.
    fn default() -> StoreOptions {
        let (open, writer) = (OpenOptions::new(), WriterOptions::default());
        StoreOptions { keep_commits: 1, open, writer }
    }
}

/// A directory of segments that changes: the writer of a store, of which there is one at a time.
///
/// Changes are visible in the [`Snapshot`]s taken after them, and durable after the next [`commit`](Self::commit).
/// What was not committed is lost when the store is dropped, or the process ends.
///
/// All methods take `&self`: a store is shared by threads. Readers never wait for a writer.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Field, Kind, LogicalType};
/// use docvalues_search::Query;
/// use docvalues_store::{Store, StoreOptions, StoreSchema};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hits");
/// let schema = StoreSchema::new()
///     .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
///     .with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?
///     .with_id_field("id")?;
/// let store = Store::create(&path, schema, StoreOptions::default())?;
///
/// for sizes in [[("a", 512), ("b", 9)], [("b", 70), ("c", 3)]] {
///     let mut segment = store.new_segment()?;
///     for (id, size) in sizes {
///         let (id_field, size_field) = (segment.field("id")?, segment.field("size")?);
///         let mut doc = segment.document();
///         doc.str(id_field, id)?.i64(size_field, size)?;
///         doc.finish()?;
///     }
///     segment.finish()?; // the second segment replaces document "b"
/// }
/// store.commit()?;
///
/// let snapshot = store.snapshot();
/// store.delete_ids([b"a"])?;
/// assert_eq!(snapshot.docs(), 3); // snapshots do not change
/// assert_eq!(store.snapshot().docs(), 2);
/// assert_eq!(store.snapshot().search().count(&Query::range("size", 50..))?, 1);
/// assert!(store.snapshot().find(b"c")?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "IndexWriter")]
pub struct Store {
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) options: StoreOptions,
    writer: Mutex<Writer>,
    /// Held by the merge that runs.
    pub(crate) merging: Mutex<()>,
    /// Locked only to clone the pointer.
    published: RwLock<Snapshot>,
}

/// The state of the writer.
#[derive(Debug)]
pub(crate) struct Writer {
    lock: WriterLock,
    pub(crate) schema: Arc<StoreSchema>,
    /// From the oldest to the newest.
    pub(crate) segments: Vec<SegmentState>,
    pub(crate) deltas: Vec<FileEntry>,
    pub(crate) sequence: u64,
    pub(crate) files: Files,
    /// The last commit, and its content.
    pub(crate) commit: u64,
    pub(crate) committed: CommitFile,
    /// Whether there are changes since the last commit, and since the last snapshot.
    is_uncommitted: bool,
    is_unpublished: bool,
    /// The reason that nothing can be written any more.
    poisoned: Option<String>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("folder", &self.directory.path()).finish_non_exhaustive()
    }
}

impl Store {
    /// Creates a store in the folder `path`, which is created if necessary, and commits it.
    ///
    /// # Errors
    ///
    /// If there is a store in the folder, another writer has it, or a call to the operating system fails.
    pub fn create(path: impl AsRef<Path>, schema: StoreSchema, options: StoreOptions) -> Result<Store> {
        let path = path.as_ref();
        std::fs::create_dir_all(path)
            .map_err(|error| docvalues_storage::Error::new(docvalues_storage::Step::Create, path, error))?;
        Store::create_in(Arc::new(FsDirectory::new(path)), schema, options)
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
        let lock = WriterLock::take(&directory)?;
        let files = Files::list(&*directory)?;
        if let Some(newest) = files.newest_commit() {
            let (folder, commit) =
                (directory.path().display().to_string(), FileName::Commit(newest).to_string());
            return Err(Error::Exists { folder, commit });
        }
        let committed = CommitFile {
            sequence: 0,
            epoch: 1,
            next_number: files.next_number(),
            highest_version: 0,
            first_log: None,
            schema,
            segments: Vec::new(),
            deltas: Vec::new(),
        };
        let state = CommitState { number: 0, file: committed, segments: Vec::new() };
        let store = Store::of(directory, lock, files, state, options);
        store.change(|writer| store.write_commit(writer))?;
        Ok(store)
    }

    /// Opens the store in the folder `path` to write it.
    ///
    /// Removes the files that no kept commit names, such as those of a writer that was killed.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if another writer has the store; [`Error::NoStore`] if there is none; [`Error::Damaged`] if the
    /// newest commit, or a file that it names, is damaged; or if a call to the operating system fails.
    pub fn open(path: impl AsRef<Path>, options: StoreOptions) -> Result<Store> {
        Store::open_in(Arc::new(FsDirectory::new(path)), options)
    }

    /// As [`open`](Self::open), in any directory.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_in(directory: Arc<dyn Directory>, options: StoreOptions) -> Result<Store> {
        let no_store = || Error::NoStore { folder: directory.path().display().to_string() };
        // Nothing is created in a folder that has no store.
        Files::list_beside_writer(&*directory)?.newest_commit().ok_or_else(no_store)?;
        let lock = WriterLock::take(&directory)?;
        let files = Files::list(&*directory)?;
        let newest = files.newest_commit().ok_or_else(no_store)?;
        let state = CommitState::open(&*directory, newest, options.open, &[])?;
        // The newest commit may have been renamed by a process that was killed before it synced the folder. Then an
        // older one must not be removed before this one is durable.
        directory.sync()?;
        let store = Store::of(directory, lock, files, state, options);
        store.change(|writer| store.remove_unnamed(writer))?;
        Ok(store)
    }

    pub(crate) fn of(
        directory: Arc<dyn Directory>,
        lock: WriterLock,
        mut files: Files,
        state: CommitState,
        options: StoreOptions,
    ) -> Store {
        let CommitState { number: commit, file: committed, segments } = state;
        files.reserve_below(committed.next_number);
        let (schema, sequence) = (Arc::new(committed.schema.clone()), committed.sequence);
        let deltas = committed.deltas.clone();
        let published = RwLock::new(Snapshot::of((sequence, commit), schema.clone(), &segments, None));
        let writer = Writer {
            lock,
            schema,
            segments,
            deltas,
            sequence,
            files,
            commit,
            committed,
            is_uncommitted: false,
            is_unpublished: false,
            poisoned: None,
        };
        Store { directory, options, writer: Mutex::new(writer), merging: Mutex::new(()), published }
    }

    /// What the store contains now. O(1).
    pub fn snapshot(&self) -> Snapshot {
        self.published.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The directory of the store.
    pub fn directory(&self) -> &Arc<dyn Directory> {
        &self.directory
    }

    /// The options of the store.
    pub fn options(&self) -> StoreOptions {
        self.options
    }

    /// Adds a field, for segments that are written from now on.
    ///
    /// # Errors
    ///
    /// As [`StoreSchema::with_field`].
    pub fn add_field(&self, field: docvalues_column::Field) -> Result<()> {
        self.change(|writer| {
            let schema = (*writer.schema).clone().with_field(field)?;
            if schema != *writer.schema {
                writer.schema = Arc::new(schema);
                writer.changed();
            }
            Ok(())
        })
    }

    /// Makes a change, and publishes it. Changes wait for each other.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut Writer) -> Result<R>) -> Result<R> {
        let mut writer = self.writer();
        if let Some(why) = &writer.poisoned {
            return Err(Error::Poisoned { why: why.clone() });
        }
        let changed = change(&mut writer);
        if std::mem::take(&mut writer.is_unpublished) {
            self.publish(&writer);
        }
        changed
    }

    /// Also after a panic: each step of a change leaves a state that is consistent.
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, writer: &Writer) {
        let before = self.snapshot();
        let now = (writer.sequence, writer.commit);
        let snapshot = Snapshot::of(now, writer.schema.clone(), &writer.segments, Some(&before));
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        let last = std::mem::replace(&mut *published, snapshot);
        drop(published);
        // This may unmap files, for which no reader should wait.
        drop((before, last));
    }
}

impl Writer {
    /// Notes that there is something to publish and to commit. Returns the number of the batch of changes.
    pub(crate) fn changed(&mut self) -> u64 {
        self.sequence += 1;
        self.rearranged();
        self.sequence
    }

    /// As [`changed`](Self::changed), if the same documents are in other files.
    pub(crate) fn rearranged(&mut self) {
        (self.is_uncommitted, self.is_unpublished) = (true, true);
    }

    pub(crate) fn is_uncommitted(&self) -> bool {
        self.is_uncommitted
    }

    /// The last commit.
    pub(crate) fn info(&self) -> CommitInfo {
        CommitInfo::of(self.commit, &self.committed)
    }

    /// Notes that commit `number` is durable.
    pub(crate) fn committed_as(&mut self, number: u64, commit: CommitFile) {
        (self.commit, self.committed) = (number, commit);
        (self.is_uncommitted, self.is_unpublished) = (false, true);
    }

    /// The number of the next file, which nothing ever had.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.files.take_number()
    }

    /// The index of a segment, if it was not merged away.
    pub(crate) fn place_of(&self, segment: u64) -> Option<usize> {
        self.segments.iter().position(|state| state.number() == segment)
    }

    /// Refuses to write if another process may have taken over the store.
    pub(crate) fn require_lock(&mut self) -> Result<()> {
        if self.lock.is_held() { Ok(()) } else { Err(self.poison("its lock was removed or replaced")) }
    }

    /// Refuses everything from now on.
    pub(crate) fn poison(&mut self, why: impl Into<String>) -> Error {
        let why = why.into();
        self.poisoned = Some(why.clone());
        Error::Poisoned { why }
    }

    /// The result of a sync. After a failed one, the cache may show what the disk does not have, and a later sync does
    /// not tell.
    pub(crate) fn synced<T>(&mut self, synced: Result<T>) -> Result<T> {
        if let Err(error) = &synced
            && is_failed_sync(error)
        {
            self.poison(error.to_string());
        }
        synced
    }

    /// The names of all files in use: of the last commit, and those written since.
    pub(crate) fn used(&self) -> HashSet<FileName> {
        let states = self.segments.iter().flat_map(|state| {
            let fold = state.fold.map(|fold| FileName::Fold { segment: state.number(), number: fold.number });
            [FileName::Segment(state.number())].into_iter().chain(fold)
        });
        let deltas = self.deltas.iter().map(|delta| FileName::Delta(delta.number));
        states.chain(deltas).chain(self.committed.files()).collect()
    }
}

fn is_failed_sync(error: &Error) -> bool {
    use docvalues_storage::Step;
    let step = match error {
        Error::Storage(error) => Some(error.step()),
        Error::Write(error) => match error.kind() {
            docvalues_writer::ErrorKind::Storage(error) => Some(error.step()),
            _ => None,
        },
        _ => None,
    };
    matches!(step, Some(Step::Sync | Step::SyncFolder))
}
