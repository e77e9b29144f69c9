//! [`Store`]: the writer of a store: what is locked while it changes, and the snapshot that is published.
//!
//! | module | |
//! | --- | --- |
//! | `writer` | the state that is locked; in `freeze`, what a commit takes of it |
//! | `docs` | the documents in it |
//! | `tasks` | what background threads are asked for |
//! | `writing` | a thread that writes a buffer, if there are no such threads |
//!
//! A thread that takes several locks takes them in this order: `merging`, `flushing`, `adding` of [`StoreIds`], `writer`, `members`
//! of [`StoreIds`], and that of its table. `writing` is locked for a moment, in which no other lock is taken.
//!
//! The calls that change a store are methods of [`Store`] in the modules that use this one, one `impl` in the head of each:
//! `commit`, `merge`, `write`, `open` and `replica`. Functions over the store do the work.

mod docs;
mod tasks;
mod writer;
mod writing;

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use docvalues_storage::Directory;

pub(crate) use docs::{Current, Docs};
use tasks::Tasks;
pub(crate) use tasks::{Member, Shared, Task};
pub(crate) use writer::{Frozen, Writer};
pub(crate) use writing::{Writing, Written};

use crate::error::{Error, Result};
use crate::files::{FileEntry, FileName, Files, Position, WriterLock};
use crate::locks::{Mutex, MutexGuard, PoisonError, RwLock, lock};
use crate::log::LogWriter;
use crate::observer::{Observer, Origin, observe};
use crate::options::StoreOptions;
use crate::read::Snapshot;
use crate::schema::StoreSchema;
use crate::segments::{CommitState, StoreIds, StoreSegment};
use crate::stats::{Counter, Counters, StoreStats};
use crate::{trace, versions};

/// A directory of segments that changes: the writer of a store, of which there is one at a time.
///
/// Changes are visible in the [`Snapshot`]s taken after them, those of [`apply`](Self::apply) after the next
/// [`refresh`](Self::refresh), and durable after the next [`commit`](Self::commit). What was not committed is lost when the
/// store is dropped, or the process ends, unless a log has it: [`Durability`](crate::Durability).
///
/// All methods take `&self`: a store is shared by threads. Readers never wait for a writer. Dropping a store waits for a thread
/// that writes a segment of it.
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
    /// The thread that writes the sealed buffer, if one does; changed by the holder of `flushing`. Ends before the lock is left.
    pub(crate) writing: Mutex<Option<Writing>>,
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) options: StoreOptions,
    pub(crate) lock: Arc<WriterLock>,
    writer: Mutex<Writer>,
    /// The number of the next file, which no file ever had.
    pub(crate) next_number: AtomicU64,
    /// Is called before a segment is published.
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// Held by the merge that runs.
    pub(crate) merging: Mutex<()>,
    /// Held by the commit, or the writing of a full buffer, that runs.
    pub(crate) flushing: Mutex<()>,
    /// The log, unless batches survive on commit only.
    pub(crate) log: Option<Arc<LogWriter>>,
    /// When the log was last synced, a batch last followed by a refresh, and by a commit.
    pub(crate) log_synced: Mutex<Instant>,
    pub(crate) refreshed: Mutex<Instant>,
    pub(crate) committed: Mutex<Instant>,
    /// The memory of the buffer, and of the one that is being written, in bytes.
    pub(crate) buffered: AtomicUsize,
    pub(crate) sealed: AtomicUsize,
    /// Whether a buffer could not be written the last time.
    pub(crate) has_failed_flush: AtomicBool,
    pub(crate) tasks: Tasks,
    pub(crate) counters: Counters,
    /// The ids of all segments.
    pub(crate) ids: Arc<StoreIds>,
    /// The seed of the hash of ids in the buffer.
    pub(crate) seed: u64,
    /// The microseconds since 1970, for versions that are assigned.
    pub(crate) clock: fn() -> u64,
    /// Locked only to clone the pointer.
    published: RwLock<Snapshot>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("folder", &self.directory.path()).finish_non_exhaustive()
    }
}

impl Store {
    /// The writer of a commit that was opened, without a log.
    pub(crate) fn of(
        directory: Arc<dyn Directory>,
        lock: WriterLock,
        files: Files,
        state: CommitState,
        options: StoreOptions,
        observer: Option<Arc<dyn Observer>>,
    ) -> Store {
        let next_number = AtomicU64::new(files.next_number.max(state.file.next_number));
        let lock = Arc::new(lock);
        let mut writer = Writer::new(lock.clone(), files, state, options.remember_deletes);
        if let Some(keep) = options.keep_commits {
            writer.keep_commits(keep);
        }
        let published = RwLock::new(Snapshot::of(writer.contents(None), None));
        let now = || Mutex::new(Instant::now());
        Store {
            writing: Mutex::default(),
            directory,
            options,
            lock,
            writer: Mutex::new(writer),
            next_number,
            observer,
            merging: Mutex::new(()),
            flushing: Mutex::new(()),
            log: None,
            log_synced: now(),
            refreshed: now(),
            committed: now(),
            buffered: AtomicUsize::new(0),
            sealed: AtomicUsize::new(0),
            has_failed_flush: AtomicBool::new(false),
            tasks: Tasks::default(),
            counters: Counters::default(),
            ids: Arc::default(),
            seed: RandomState::new().hash_one(0_u64),
            clock: versions::clock,
            published,
        }
    }

    /// The contents of the store as they were last published: see [`refresh`](Self::refresh). O(1).
    pub fn snapshot(&self) -> Snapshot {
        self.published.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes all that was applied visible. Returns whether anything has changed since the last snapshot. O(segments).
    ///
    /// # Errors
    ///
    /// If the store cannot be written any more.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let schema = StoreSchema::new().with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?;
    /// let store = Store::create(folder.path().join("hits"), schema, StoreOptions::default())?;
    /// let mut batch = store.batch()?;
    /// let size = batch.field("size")?;
    /// let mut doc = batch.upsert();
    /// doc.i64(size, 512)?;
    /// doc.finish()?;
    /// store.apply(batch)?;
    ///
    /// assert_eq!(store.snapshot().docs(), 0);
    /// assert!(store.refresh()?);
    /// assert_eq!(store.snapshot().docs(), 1); // not durable yet
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "maybeRefresh")]
    pub fn refresh(&self) -> Result<bool> {
        let mut writer = self.writer()?;
        let before = self.publish_changes(&mut writer);
        // Others need not wait until the memory is freed.
        drop(writer);
        Ok(before.is_some())
    }

    /// The fields of the store now.
    pub(crate) fn schema(&self) -> Arc<StoreSchema> {
        self.published.read().unwrap_or_else(PoisonError::into_inner).shared_schema()
    }

    /// Sets the clock for versions that are assigned, for tests: the microseconds since 1970. It may go back.
    #[doc(hidden)]
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

    /// The last batch that was applied, visible or not.
    pub fn position(&self) -> Position {
        self.with_writer(|writer| writer.position())
    }

    /// The contents of the store now, and the time of its work since it was opened. O(segments).
    ///
    /// # Errors
    ///
    /// If the store cannot be written any more.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let store = Store::create(&path, StoreSchema::new(), StoreOptions::default())?;
    /// let mut batch = store.batch()?;
    /// batch.upsert().finish()?;
    /// store.apply(batch)?;
    /// let stats = store.stats()?;
    /// assert_eq!((stats.buffered_docs, stats.unpublished, stats.uncommitted), (1, 1, 1));
    /// assert_eq!((stats.applied.count, stats.docs), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> Result<StoreStats> {
        let published = self.snapshot();
        let counters = &self.counters;
        self.change_quietly(|writer| {
            let (mut docs, mut buffered_docs, mut updates_bytes) = (0, 0, 0);
            for state in &writer.docs.segments {
                docs += u64::from(state.now.live.count());
                updates_bytes += state.now.heap();
            }
            for block in writer.docs.blocks() {
                docs += u64::from(block.live.count());
                buffered_docs += u64::from(block.docs.docs());
            }
            Ok(StoreStats {
                segments: writer.docs.segments.len(),
                docs,
                buffered_docs,
                buffer_bytes: writer.docs.buffer.bytes(),
                sealed_bytes: writer.docs.sealed_bytes(),
                updates_bytes,
                table_bytes: self.ids.table_bytes(),
                remembered_deletes: writer.docs.tombstones.len(),
                unpublished: writer.sequence - published.sequence(),
                uncommitted: writer.sequence - writer.last_commit().1.sequence,
                applied: counters.applied.work(),
                waited: counters.waited.work().time,
                refreshes: counters.refreshes.work(),
                flushes: counters.flushes.work(),
                merges: counters.merges.work(),
                commits: counters.commits.work(),
                log: self.log.as_ref().map(|log| log.stats()).unwrap_or_default(),
            })
        })
    }

    /// The number of a new file, which nothing ever had.
    pub(crate) fn take_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of a new segment.
    pub(crate) fn take_segment_number(&self) -> Result<u64> {
        self.require_observer()?;
        Ok(self.take_number())
    }

    /// Refuses new segments without an observer if others have side files, which new ones would lack.
    pub(crate) fn require_observer(&self) -> Result<()> {
        if self.observer.is_none() && self.snapshot().has_side_files() {
            return Err(Error::NoObserver { folder: self.directory.path().display().to_string() });
        }
        Ok(())
    }

    /// Opens a segment that was written, and calls the observer. `created` gets the names of the side files that it began.
    pub(crate) fn open_observed(
        &self,
        file: FileEntry,
        origin: Origin<'_>,
        created: &mut Vec<FileName>,
    ) -> Result<StoreSegment> {
        let mut segment = StoreSegment::open(&*self.directory, file, self.options.open)?;
        if let Some(observer) = &self.observer {
            let numbered = (&self.directory, &self.next_number);
            segment.side = observe(&**observer, numbered, (&segment, origin), created)?;
        }
        Ok(segment)
    }

    /// Counts work that began at `since` and is done, with an event of it. `work` is a verb.
    pub(crate) fn note_done(&self, counter: &Counter, work: &str, since: Instant) {
        counter.add(since);
        trace::done(self.directory.path(), work, since);
    }

    /// Notes the memory of the buffers. One that is filled may take half of the memory, and one that is being written the
    /// other half.
    pub(crate) fn note_room(&self, writer: &Writer) {
        let (buffer, sealed) = (writer.docs.buffer.bytes(), writer.docs.sealed_bytes());
        self.buffered.store(buffer, Ordering::Relaxed);
        self.sealed.store(sealed, Ordering::Relaxed);
        if let Some(member) = self.tasks.member() {
            member.note_buffered(buffer.saturating_add(sealed));
        }
    }

    /// Makes a change, and publishes it. All that was applied before is published first. Changes wait for each other.
    #[cfg_attr(docvalues_lock_times, track_caller)]
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut Writer) -> Result<R>) -> Result<R> {
        let mut writer = self.writer()?;
        let before = self.publish_changes(&mut writer);
        let changed = change(&mut writer);
        let between = self.publish_changes(&mut writer);
        // Others need not wait until the memory is freed, and files are unmapped.
        drop(writer);
        drop((before, between));
        changed
    }

    /// Makes a change that the next [`refresh`](Self::refresh) or other change publishes.
    #[cfg_attr(docvalues_lock_times, track_caller)]
    pub(crate) fn change_quietly<R>(&self, change: impl FnOnce(&mut Writer) -> Result<R>) -> Result<R> {
        change(&mut *self.writer()?)
    }

    /// Reads the state of the writer, also if it is poisoned.
    #[cfg_attr(docvalues_lock_times, track_caller)]
    pub(crate) fn with_writer<R>(&self, read: impl FnOnce(&mut Writer) -> R) -> R {
        read(&mut lock(&self.writer))
    }

    /// The store cannot go on after this failed: it must be opened again.
    pub(crate) fn poison_after<T>(&self, done: Result<T>) -> Result<T> {
        if let Err(error) = &done {
            self.change_quietly(|writer| {
                writer.poison(error.poison_reason());
                Ok(())
            })?;
        }
        done
    }

    /// Also after a panic: each step of a change leaves a state that is consistent.
    #[cfg_attr(docvalues_lock_times, track_caller)]
    fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        let writer = lock(&self.writer);
        writer.check()?;
        Ok(writer)
    }

    /// Publishes all changes. Returns the snapshot before, if there are any.
    fn publish_changes(&self, writer: &mut Writer) -> Option<Snapshot> {
        std::mem::take(&mut writer.is_unpublished).then(|| {
            let began = Instant::now();
            let before = self.publish(writer);
            self.note_done(&self.counters.refreshes, "refresh", began);
            before
        })
    }

    fn publish(&self, writer: &Writer) -> Snapshot {
        let before = self.snapshot();
        let snapshot = Snapshot::of(writer.contents(Some(&self.ids)), Some(&before));
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        let last = std::mem::replace(&mut *published, snapshot);
        drop(published);
        if before.generation() != writer.generation {
            self.tasks.want(Task::Merge);
        }
        last
    }
}

/// When `time` will have passed since `last`.
pub(crate) fn due_at(last: &Mutex<Instant>, time: Duration) -> Option<Instant> {
    lock(last).checked_add(time)
}

/// Whether `time` has passed since `last`. If so, `last` becomes now, so that one of several callers does what is due.
pub(crate) fn is_due(last: &Mutex<Instant>, time: Duration) -> bool {
    let mut last = lock(last);
    let is_due = last.elapsed() >= time;
    if is_due {
        *last = Instant::now();
    }
    is_due
}
