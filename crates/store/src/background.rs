//! [`Background`]: threads that write full buffers, refresh, commit and merge.
//!
//! ```text
//! thread    waits for                                   does
//! write     a full buffer; `commit_every`               writes the buffer to a segment; commits
//! refresh   `refresh_every`; `Durability::Within`       refreshes; syncs the log
//! merge     another set of segments                     fills the table of ids; merges; frees memory of the table
//! ```
//!
//! Any number of stores share the threads, and the memory for their buffers. In each pass, a thread does one piece of work
//! for each store that has some. Without threads, the call that finds that a time has passed does the work itself; one that
//! finds a full buffer writes it, or starts a thread that does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, TryLockError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use docvalues_terms::lookup::Upkeep;

use crate::commit::flush;
use crate::error::{Error, Result};
use crate::locks::of_threads::{Mutex, lock};
use crate::merge::{MergePolicy, merge_some};
use crate::options::Durability;
use crate::store::{Member, Shared, Store, Task, due_at, is_due};
use crate::trace;
use crate::write::{fill_table_if_it_pays, sync_log};

/// The least time between two passes for work that is due again and again.
const SHORTEST: Duration = Duration::from_millis(1);

/// Ids that are moved to a smaller table in a pass.
const UPKEEP_STEPS: usize = 10_000;

/// Options of a [`Background`], which has an example.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct BackgroundOptions {
    /// Which segments are merged.
    pub merges: MergePolicy,
    /// The memory for the buffers of all stores together, in bytes. When they take half of it, the largest is written;
    /// batches wait when they take all. Each store also has its own
    /// [`buffer_bytes`](crate::StoreOptions::buffer_bytes).
    pub buffer_bytes: usize,
    /// The segments of a store above which batches are slowed down while some of them are merged, or wait for a merge of another
    /// store: each batch waits until there are fewer, for a second at most.
    pub max_segments: usize,
}

impl Default for BackgroundOptions {
    /// The default merges; memory as each store has it; any number of segments.
    fn default() -> BackgroundOptions {
        let merges = MergePolicy::default();
        BackgroundOptions { merges, buffer_bytes: usize::MAX, max_segments: usize::MAX }
    }
}

impl BackgroundOptions {
    /// The default options.
    pub fn new() -> BackgroundOptions {
        BackgroundOptions::default()
    }

    /// Sets which segments are merged.
    pub fn merges(self, merges: MergePolicy) -> BackgroundOptions {
        BackgroundOptions { merges, ..self }
    }

    /// Sets the memory for the buffers of all stores together, in bytes.
    pub fn buffer_bytes(self, buffer_bytes: usize) -> BackgroundOptions {
        BackgroundOptions { buffer_bytes, ..self }
    }

    /// Sets the segments of a store above which batches are slowed down. It should be well above the number that
    /// [`merges`](Self::merges) leave, as every merge slows batches down otherwise.
    #[doc(alias = "maxMergeCount")]
    pub fn max_segments(self, max_segments: usize) -> BackgroundOptions {
        BackgroundOptions { max_segments, ..self }
    }
}

/// Three threads that work for stores: one writes buffers that are full, and commits; one refreshes, and syncs logs; one
/// merges.
///
/// Calls of [`Store::apply`] do none of that for a store that was [added](Self::add), and wait only if buffers fill faster
/// than they are written, or if there are more segments than [`max_segments`](BackgroundOptions::max_segments). Refreshes and
/// commits take place if [`refresh_every`](crate::StoreOptions::refresh_every) and
/// [`commit_every`](crate::StoreOptions::commit_every) say so. If work for a store fails, its next call of `apply` returns
/// the error, and changes nothing; the thread tries again the next time.
///
/// Dropping it ends the threads. A merge that runs is cancelled at its next write; a segment or commit that is being written
/// is finished. What was not committed stays so.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use docvalues_column::{Field, Kind, LogicalType};
/// use docvalues_store::{Background, BackgroundOptions, Store, StoreOptions, StoreSchema};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hits");
/// let schema = StoreSchema::new().with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?;
/// let refresh_every = Some(Duration::from_millis(1));
/// let options = StoreOptions::new().refresh_every(refresh_every);
/// let store = Arc::new(Store::create(&path, schema, options)?);
///
/// let background = Background::start(BackgroundOptions::default())?;
/// background.add(&store)?;
///
/// let mut batch = store.batch()?;
/// let size = batch.field("size")?;
/// let mut doc = batch.upsert();
/// doc.i64(size, 7)?;
/// doc.finish()?;
/// store.apply(batch)?;
/// while store.snapshot().docs() == 0 {
///     std::thread::yield_now();
/// }
/// background.remove(&store)?;
/// store.commit()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[doc(alias = "ConcurrentMergeScheduler")]
pub struct Background {
    pool: Arc<Pool>,
    threads: Vec<JoinHandle<()>>,
}

/// The state that the threads share.
#[derive(Debug)]
struct Pool {
    merges: MergePolicy,
    shared: Arc<Shared>,
    workers: Mutex<Vec<Worker>>,
}

/// A store for which the threads work.
#[derive(Clone, Debug)]
struct Worker {
    store: Weak<Store>,
    member: Arc<Member>,
}

impl Background {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn start(options: BackgroundOptions) -> Result<Background> {
        let shared = Arc::new(Shared::new(options.buffer_bytes, options.max_segments));
        let pool = Arc::new(Pool { merges: options.merges, shared, workers: Mutex::default() });
        let mut background = Background { pool, threads: Vec::new() };
        let tasks = [("dv-write", Task::Write), ("dv-refresh", Task::Refresh), ("dv-merge", Task::Merge)];
        for (name, task) in tasks {
            let pool = background.pool.clone();
            let thread = thread::Builder::new().name(name.to_owned()).spawn(move || pool.run(task));
            let failed = |error| Error::Request(format!("cannot start a thread: {error}"));
            background.threads.push(thread.map_err(failed)?);
        }
        Ok(background)
    }

    /// Begins to work for a store, until it is removed or dropped. A dropped store closes when the work on it is done.
    ///
    /// # Errors
    ///
    /// If threads work for it, or it cannot be written any more.
    pub fn add(&self, store: &Arc<Store>) -> Result<()> {
        let member = Arc::new(Member::new(self.pool.shared.clone()));
        store.tasks.join(&member)?;
        lock(&self.pool.workers).push(Worker { store: Arc::downgrade(store), member: member.clone() });
        store.change_quietly(|writer| {
            store.note_room(writer);
            Ok(())
        })?;
        [Task::Write, Task::Refresh, Task::Merge].into_iter().for_each(|task| member.want(task));
        Ok(())
    }

    /// Ends the work for a store, as for all when this is dropped. Then no thread has it.
    ///
    /// # Errors
    ///
    /// If these threads do not work for it; or the last failure of this work that no call of [`Store::apply`] has
    /// returned.
    pub fn remove(&self, store: &Store) -> Result<()> {
        let is_of = |worker: &mut Worker| std::ptr::eq(worker.store.as_ptr(), store);
        let removed = lock(&self.pool.workers).extract_if(.., is_of).next();
        let Some(Worker { member, .. }) = removed else {
            let why = "expected a store of these background threads, found another";
            return Err(Error::Request(why.to_owned()));
        };
        member.leave();
        store.tasks.leave(&member);
        store.tasks.check()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.pool.shared.stop();
        let workers = std::mem::take(&mut *lock(&self.pool.workers));
        workers.iter().for_each(|worker| worker.member.is_leaving.store(true, Ordering::Release));
        for thread in self.threads.drain(..) {
            // It catches panics.
            let _ = thread.join();
        }
        for Worker { store, member } in workers {
            if let Some(store) = store.upgrade() {
                store.tasks.leave(&member);
            }
        }
    }
}

impl Pool {
    /// Does the work of a task until it is to stop.
    fn run(&self, task: Task) {
        let (mut seen, mut next) = (0, None);
        while self.shared.wait(&mut seen, next) {
            next = None;
            for worker in self.open_workers() {
                let time = worker.work(task, |store, is_wanted| {
                    do_work(store, task, is_wanted, self.merges, &worker.member);
                    next_time(store, task)
                });
                next = first(next, time.flatten());
            }
            if task == Task::Write && self.write_largest() {
                next = Some(Instant::now());
            }
        }
    }

    /// Writes the largest buffer if all take more than half of their memory. Returns whether the next one is to be written,
    /// too.
    fn write_largest(&self) -> bool {
        if !self.shared.should_flush() {
            return false;
        }
        let mut workers: Vec<(usize, Worker)> =
            self.open_workers().into_iter().map(|worker| (worker.member.buffered(), worker)).collect();
        workers.retain(|(bytes, _)| *bytes > 0);
        // The largest, and of several the first.
        while let Some(at) = (0..workers.len()).rev().max_by_key(|at| workers[*at].0) {
            let (bytes, worker) = workers.remove(at);
            let is_busy =
                worker.work(Task::Write, |store, _| catch_panic(store, || write_in_background(store, 0)));
            if is_busy.flatten() == Some(true) {
                // Others write it. Its next batch asks again.
                return false;
            }
            if worker.member.buffered() < bytes {
                return self.shared.should_flush();
            }
            // It was not written, which its next batch reports.
        }
        false
    }

    fn open_workers(&self) -> Vec<Worker> {
        let mut workers = lock(&self.workers);
        // Not those that were dropped.
        workers.retain(|worker| worker.store.strong_count() > 0);
        workers.clone()
    }
}

impl Worker {
    /// Works for the store, unless it was dropped or leaves. The argument is whether the task was asked for.
    fn work<R>(&self, task: Task, work: impl FnOnce(&Store, bool) -> R) -> Option<R> {
        let _working = self.member.begin(task)?;
        let store = self.store.upgrade()?;
        let is_wanted = self.member.take_wanted(task);
        Some(work(&store, is_wanted))
    }
}

/// Does a piece of work of a task.
fn do_work(store: &Store, task: Task, is_wanted: bool, merges: MergePolicy, member: &Member) {
    catch_panic(store, || match task {
        Task::Write => {
            if is_wanted {
                write_in_background(store, store.options.buffer_bytes / 2);
            }
            commit_in_background(store);
        }
        Task::Refresh => refresh_in_background(store),
        Task::Merge if is_wanted => merge_in_background(store, &merges, member),
        Task::Merge => {}
    });
}

/// Works for a store. A panic is an error, or the thread would end, and nobody would do its work.
fn catch_panic<R>(store: &Store, work: impl FnOnce() -> R) -> Option<R> {
    // Each step of a change leaves a state that is consistent.
    let done = catch_unwind(AssertUnwindSafe(work)).map_err(Error::of_panic);
    done.map_err(|error| note_failure(store, "task", Err(error))).ok()
}

/// Writes the buffer if it takes more than so many bytes. Returns whether others write it.
fn write_in_background(store: &Store, most: usize) -> bool {
    let is_busy = is_flushing(store);
    if !is_busy {
        note_failure(store, "flush", flush(store, most));
    }
    is_busy
}

fn commit_in_background(store: &Store) {
    let is_due = |time| !is_flushing(store) && is_due(&store.committed, time);
    if store.options.commit_every.is_some_and(is_due) {
        note_failure(store, "commit", store.commit().map(drop));
    }
}

/// Whether a call writes the buffer or commits, which may take long.
fn is_flushing(store: &Store) -> bool {
    matches!(store.flushing.try_lock(), Err(TryLockError::WouldBlock))
}

fn refresh_in_background(store: &Store) {
    if store.options.refresh_every.is_some_and(|time| is_due(&store.refreshed, time)) {
        note_failure(store, "refresh", store.refresh().map(drop));
    }
    if sync_every(store).is_some_and(|time| is_due(&store.log_synced, time)) {
        note_failure(store, "sync", sync_log(store));
    }
}

/// One merge, so that other stores have their turn. It changes the segments, which asks for another one.
fn merge_in_background(store: &Store, policy: &MergePolicy, member: &Member) {
    // The leader merges the files that a replica takes from it.
    if store.with_writer(|writer| !writer.files.received.is_empty()) {
        return;
    }
    let stop = &member.is_leaving;
    let merged = fill_table_if_it_pays(store)
        .and_then(|()| merge_some(store, stop, &|sizes| policy.choose(sizes)).map(drop));
    if !stop.load(Ordering::Acquire) {
        note_failure(store, "merge", merged);
    }
    if store.ids.maintain(UPKEEP_STEPS) == Upkeep::More {
        member.want(Task::Merge);
    }
}

/// When a task is next due that is done again and again.
fn next_time(store: &Store, task: Task) -> Option<Instant> {
    let of = |last, every: Option<_>| every.and_then(|every| due_at(last, every));
    let next = match task {
        Task::Write => of(&store.committed, store.options.commit_every),
        Task::Refresh => {
            let refresh = of(&store.refreshed, store.options.refresh_every);
            first(refresh, of(&store.log_synced, sync_every(store)))
        }
        Task::Merge => None,
    };
    next.map(|next| next.max(Instant::now() + SHORTEST))
}

fn sync_every(store: &Store) -> Option<Duration> {
    match store.options.durability {
        Durability::Within(time) => Some(time),
        Durability::OnCommit | Durability::EachBatch => None,
    }
}

/// Keeps an error for the next batch.
fn note_failure(store: &Store, work: &'static str, done: Result<()>) {
    let Err(error) = done else { return };
    trace::failed(store.directory.path(), work, &error);
    if let (Error::Poisoned { .. }, Some(member)) = (&error, store.tasks.member()) {
        // It can never be written.
        member.note_buffered(0);
    }
    store.tasks.fail(Error::Background { work, error: Box::new(error) });
}

/// The first of two times.
fn first(one: Option<Instant>, two: Option<Instant>) -> Option<Instant> {
    one.zip(two).map(|(one, two)| one.min(two)).or(one).or(two)
}
