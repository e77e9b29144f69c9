//! [`Store`]: the writer of a store.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docvalues_reader::OpenOptions;
use docvalues_storage::{Directory, FsDirectory};
use docvalues_writer::WriterOptions;

use crate::buffer::Buffer;
use crate::commit::CommitInfo;
use crate::commit_file::{CommitFile, FileEntry};
use crate::error::{Error, Result};
use crate::files::Files;
use crate::id_index::IdIndex;
use crate::log::LogWriter;
use crate::log::body::{self, Body};
use crate::names::FileName;
use crate::replay::Durability;
use crate::schema::{SchemaEntry, StoreSchema};
use crate::snapshot::{Contents, Snapshot};
use crate::state::{CommitState, SegmentState};
use crate::stats::Counters;
use crate::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use crate::versions::{self, Tombstones};
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
    /// The memory for documents of [`Store::apply`], in bytes. When they take more, they are written to a segment.
    pub buffer_bytes: usize,
    /// The number of batches for which the versions of deleted documents are remembered, so that a document that arrives
    /// later with a lower version stays deleted.
    pub remember_deletes: u64,
    /// When batches survive.
    pub durability: Durability,
    /// A batch that is applied this long after the last refresh is followed by one, so that no thread is needed for it.
    /// `None` leaves it to the caller.
    pub refresh_every: Option<Duration>,
    /// As `refresh_every`, for commits.
    pub commit_every: Option<Duration>,
    /// How segments are opened.
    pub open: OpenOptions,
    /// How segments are written and merged.
    pub writer: WriterOptions,
}

impl Default for StoreOptions {
    /// One commit, 64 MiB, 1,000,000 batches; segments as [`OpenOptions`] and [`WriterOptions`] are by default.
    fn default() -> StoreOptions {
        let (durability, open, writer) = (Durability::OnCommit, OpenOptions::new(), WriterOptions::default());
        StoreOptions {
            keep_commits: 1,
            buffer_bytes: 64 << 20,
            remember_deletes: 1_000_000,
            durability,
            refresh_every: None,
            commit_every: None,
            open,
            writer,
        }
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
    /// Held by the commit, or the writing of a full buffer, that runs.
    pub(crate) flushing: Mutex<()>,
    /// The log, unless batches survive on commit only.
    pub(crate) log: Option<Arc<LogWriter>>,
    /// When the log was last synced, a batch last followed by a refresh, and by a commit.
    log_synced: Mutex<Instant>,
    refreshed: Mutex<Instant>,
    committed: Mutex<Instant>,
    pub(crate) counters: Counters,
    /// The ids of all segments.
    pub(crate) ids: IdIndex,
    /// The seed of the hash of ids in the buffer.
    pub(crate) seed: u64,
    /// The microseconds since 1970, for versions that are assigned.
    pub(crate) clock: fn() -> u64,
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
    /// Counts the sets of segments, so that look-ups know whether what they found still holds.
    pub(crate) generation: u64,
    /// The documents that were applied and are in no segment yet.
    pub(crate) buffer: Buffer,
    /// Those that are being written to a segment.
    pub(crate) sealed: Option<Buffer>,
    pub(crate) next_block: u64,
    /// The log, and its number.
    pub(crate) log: Option<Arc<LogWriter>>,
    pub(crate) log_number: Option<u64>,
    pub(crate) highest_version: u64,
    pub(crate) tombstones: Tombstones,
    pub(crate) sequence: u64,
    pub(crate) files: Files,
    /// The files of the commit that is being written.
    pub(crate) committing: HashSet<FileName>,
    /// As [`StoreOptions::remember_deletes`].
    pub(crate) remember_deletes: u64,
    /// The last commit, and its content.
    pub(crate) commit: u64,
    pub(crate) committed: CommitFile,
    /// Counts changes. The last commit has those up to `committed_changes`.
    pub(crate) changes: u64,
    pub(crate) committed_changes: u64,
    /// Whether there are changes since the last snapshot.
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
        let (segments, tombstones) = (Vec::new(), Tombstones::default());
        let state = CommitState { number: 0, file: committed, segments, tombstones };
        let mut store = Store::of(directory, lock, files, state, options);
        store.begin_log()?;
        store.commit_now()?;
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
        let mut store = Store::of(directory, lock, files, state, options);
        store.change(|writer| store.remove_unnamed(writer))?;
        let replayed = store.replay()?;
        store.begin_log()?;
        if replayed > 0 || store.log.is_some() {
            store.commit_now()?;
            store.change(|writer| store.remove_unnamed(writer))?;
        }
        Ok(store)
    }

    pub(crate) fn of(
        directory: Arc<dyn Directory>,
        lock: WriterLock,
        mut files: Files,
        state: CommitState,
        options: StoreOptions,
    ) -> Store {
        let CommitState { number: commit, file: committed, segments, tombstones } = state;
        files.reserve_below(committed.next_number);
        let (schema, sequence) = (Arc::new(committed.schema.clone()), committed.sequence);
        let deltas = committed.deltas.clone();
        let generation = 0;
        let contents = Contents {
            sequence,
            commit,
            generation,
            schema: schema.clone(),
            segments: &segments,
            blocks: Vec::new(),
            ids: None,
        };
        let published = RwLock::new(Snapshot::of(contents, None));
        let writer = Writer {
            lock,
            schema,
            segments,
            deltas,
            generation,
            buffer: Buffer::default(),
            sealed: None,
            next_block: 0,
            log: None,
            log_number: None,
            highest_version: committed.highest_version,
            tombstones,
            sequence,
            files,
            committing: HashSet::new(),
            remember_deletes: options.remember_deletes,
            commit,
            committed,
            changes: 0,
            committed_changes: 0,
            is_unpublished: false,
            poisoned: None,
        };
        Store {
            directory,
            options,
            writer: Mutex::new(writer),
            merging: Mutex::new(()),
            flushing: Mutex::new(()),
            log: None,
            log_synced: Mutex::new(Instant::now()),
            refreshed: Mutex::new(Instant::now()),
            committed: Mutex::new(Instant::now()),
            counters: Counters::default(),
            ids: IdIndex::default(),
            seed: RandomState::new().hash_one(0_u64),
            clock: versions::clock,
            published,
        }
    }

    /// What the store contains now. O(1).
    pub fn snapshot(&self) -> Snapshot {
        self.published.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes all that was applied visible. Returns whether anything has changed since the last snapshot. O(segments), and
    /// O(documents / 64) for each segment in which documents were deleted.
    ///
    /// # Errors
    ///
    /// If the store cannot be written any more.
    #[doc(alias = "maybeRefresh")]
    pub fn refresh(&self) -> Result<bool> {
        let mut writer = self.writer()?;
        Ok(self.publish_changes(&mut writer))
    }

    /// The fields of the store now.
    pub(crate) fn schema(&self) -> Arc<StoreSchema> {
        self.published.read().unwrap_or_else(PoisonError::into_inner).shared_schema()
    }

    /// Sets the clock for versions that are assigned: the microseconds since 1970. It may go back.
    #[must_use]
    pub fn with_clock(self, clock: fn() -> u64) -> Store {
        Store { clock, ..self }
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
        self.change_and_commit(|writer| {
            let schema = (*writer.schema).clone().with_field(field)?;
            if schema != *writer.schema {
                writer.schema = Arc::new(schema);
                writer.changed();
            }
            Ok(())
        })
    }

    /// Makes a change, and publishes it. All that was applied before is published first. Changes wait for each other.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut Writer) -> Result<R>) -> Result<R> {
        let mut writer = self.writer()?;
        self.publish_changes(&mut writer);
        let changed = change(&mut writer);
        self.publish_changes(&mut writer);
        changed
    }

    /// As [`change`](Self::change), for changes that the log does not hold.
    pub(crate) fn change_and_commit<R>(&self, change: impl FnOnce(&mut Writer) -> Result<R>) -> Result<R> {
        let changed = self.change(change)?;
        if self.log.is_some() {
            self.commit()?;
        }
        Ok(changed)
    }

    /// Begins a log, if the options ask for one. The next commit names it.
    fn begin_log(&mut self) -> Result<()> {
        if self.options.durability == Durability::OnCommit {
            return Ok(());
        }
        let (number, epoch, sequence) = self.change(|writer| {
            let number = writer.next_number();
            writer.commits_file(FileName::Log(number));
            Ok((number, writer.committed.epoch, writer.sequence))
        })?;
        let log = Arc::new(LogWriter::create(&self.directory, number, epoch, sequence)?);
        self.log = Some(log.clone());
        self.change(|writer| {
            (writer.log, writer.log_number) = (Some(log), Some(number));
            Ok(())
        })
    }

    /// Waits until a batch is as durable as the options ask.
    pub(crate) fn wait_for_log(&self, sequence: u64) -> Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        let is_due = match self.options.durability {
            Durability::OnCommit => false,
            Durability::EachBatch => true,
            Durability::Within(time) => is_due(&self.log_synced, time),
        };
        let waited = if is_due { log.sync_to(sequence) } else { log.write_to(sequence) };
        if let Err(error) = &waited {
            self.change_quietly(|writer| {
                writer.poison(error.to_string());
                Ok(())
            })?;
        }
        waited
    }

    /// Refreshes and commits, if the options say that it is time.
    pub(crate) fn refresh_and_commit(&self) -> Result<()> {
        let StoreOptions { refresh_every, commit_every, .. } = self.options;
        if commit_every.is_some_and(|time| is_due(&self.committed, time)) {
            self.commit()?;
        } else if refresh_every.is_some_and(|time| is_due(&self.refreshed, time)) {
            self.refresh()?;
        }
        Ok(())
    }

    /// Makes a change that the next [`refresh`](Self::refresh) or other change publishes.
    pub(crate) fn change_quietly<R>(&self, change: impl FnOnce(&mut Writer) -> Result<R>) -> Result<R> {
        change(&mut *self.writer()?)
    }

    /// Also after a panic: each step of a change leaves a state that is consistent.
    fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        match &writer.poisoned {
            Some(why) => Err(Error::Poisoned { why: why.clone() }),
            None => Ok(writer),
        }
    }

    fn publish_changes(&self, writer: &mut Writer) -> bool {
        let is_unpublished = std::mem::take(&mut writer.is_unpublished);
        if is_unpublished {
            let began = Instant::now();
            self.publish(writer);
            self.counters.refreshes.add(began);
        }
        is_unpublished
    }

    fn publish(&self, writer: &Writer) {
        let before = self.snapshot();
        let blocks = writer.sealed.iter().chain([&writer.buffer]).flat_map(|buffer| &buffer.blocks);
        let contents = Contents {
            sequence: writer.sequence,
            commit: writer.commit,
            generation: writer.generation,
            schema: writer.schema.clone(),
            segments: &writer.segments,
            blocks: blocks.collect(),
            ids: Some(&self.ids),
        };
        let snapshot = Snapshot::of(contents, Some(&before));
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        let last = std::mem::replace(&mut *published, snapshot);
        drop(published);
        // This may unmap files, for which no reader should wait.
        drop((before, last));
    }
}

impl Writer {
    /// Notes that there is something to publish and to commit. Returns the number of the batch of changes.
    ///
    /// The log only gets a frame that says so, and the caller must commit.
    pub(crate) fn changed(&mut self) -> u64 {
        let sequence = self.count_change();
        if let Some(log) = &self.log {
            let schema = serde_json::to_vec(&SchemaEntry::from(&*self.schema)).unwrap_or_default();
            if let Err(error) = log.append(sequence, body::encode(&Body::Other(schema))) {
                self.poison(error.to_string());
            }
        }
        sequence
    }

    /// Notes that there is something to publish and to commit, for which the log has a frame.
    pub(crate) fn count_change(&mut self) -> u64 {
        self.sequence += 1;
        self.rearranged();
        self.sequence
    }

    /// As [`changed`](Self::changed), if the same documents are in other files.
    pub(crate) fn rearranged(&mut self) {
        self.changes += 1;
        self.is_unpublished = true;
    }

    /// Notes that there are other segments than before.
    pub(crate) fn segments_changed(&mut self) {
        self.generation += 1;
        self.is_unpublished = true;
    }

    /// The last commit.
    pub(crate) fn info(&self) -> CommitInfo {
        CommitInfo::of(self.commit, &self.committed)
    }

    /// Notes that a commit is durable.
    pub(crate) fn committed_as(&mut self, number: u64, commit: CommitFile, changes: u64) {
        (self.commit, self.committed, self.committed_changes) = (number, commit, changes);
        self.committing.clear();
        self.is_unpublished = true;
    }

    /// The number of the next file, which nothing ever had.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.files.take_number()
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

    /// Notes a file that the commit being written will name.
    pub(crate) fn commits_file(&mut self, name: FileName) {
        self.files.add(name);
        self.committing.insert(name);
    }

    /// The names of all files in use: of the last commit, of the one being written, and those written since.
    pub(crate) fn used(&self) -> HashSet<FileName> {
        let states = self.segments.iter().flat_map(|state| {
            let fold = state.fold.map(|fold| FileName::Fold { segment: state.number(), number: fold.number });
            [FileName::Segment(state.number())].into_iter().chain(fold)
        });
        let deltas = self.deltas.iter().map(|delta| FileName::Delta(delta.number));
        states.chain(deltas).chain(self.committed.files()).chain(self.committing.iter().copied()).collect()
    }
}

/// Whether `time` has passed since `last`, which then is now: of several callers, one finds so.
fn is_due(last: &Mutex<Instant>, time: Duration) -> bool {
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    let is_due = last.elapsed() >= time;
    if is_due {
        *last = Instant::now();
    }
    is_due
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
