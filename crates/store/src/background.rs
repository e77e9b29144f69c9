//! [`Background`]: threads that write full buffers, refresh, commit and merge.
//!
//! ```text
//! thread    waits for                                   does
//! write     a full buffer; `commit_every`               writes the buffer to a segment; commits
//! publish   `refresh_every`; `Durability::Within`       refreshes; syncs the log
//! merge     another set of segments, a commit           fills the table of ids; merges; frees memory of the table
//! ```
//!
//! Any number of stores share the threads, and the memory for their buffers. Without threads, the call that finds a full
//! buffer, or that a time has passed, does the work itself.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use docvalues_terms::lookup::Upkeep;

use crate::durability::Durability;
use crate::error::{Error, Result};
use crate::merge_policy::MergePolicy;
use crate::store::{Store, due_at, is_due};
use crate::tasks::{Signal, Task};
use crate::trace;

/// Ids that are moved to a smaller table before the thread looks whether it should stop.
const UPKEEP_STEPS: usize = 10_000;

/// Options of a [`Background`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackgroundOptions {
    /// Which segments are merged.
    pub merges: MergePolicy,
    /// The memory for the buffers of all stores together, in bytes. When they take half of it, the largest is written;
    /// batches wait when they take all. Each store also has its own
    /// [`buffer_bytes`](crate::StoreOptions::buffer_bytes).
    pub buffer_bytes: usize,
}

impl Default for BackgroundOptions {
    /// The default merges; memory as each store has it.
    fn default() -> BackgroundOptions {
        BackgroundOptions { merges: MergePolicy::default(), buffer_bytes: usize::MAX }
    }
}

/// Three threads that work for stores: one writes buffers that are full, and commits; one refreshes, and syncs logs; one
/// merges.
///
/// Calls of [`Store::apply`] do none of that for a store that was [added](Self::add), and wait only if buffers fill faster
/// than they are written. Refreshes and commits take place if [`refresh_every`](crate::StoreOptions::refresh_every) and
/// [`commit_every`](crate::StoreOptions::commit_every) say so. If work for a store fails, its next call of `apply` returns
/// the error, and changes nothing; the thread tries again the next time.
///
/// Dropping it ends the threads. A merge that runs is given up; a segment or commit that is being written is finished. What
/// was not committed stays so.
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
/// let options = StoreOptions { refresh_every, ..StoreOptions::default() };
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

/// What the threads share.
#[derive(Debug)]
struct Pool {
    merges: MergePolicy,
    signal: Arc<Signal>,
    /// Those that are dropped elsewhere are closed.
    stores: Mutex<Vec<Weak<Store>>>,
}

impl Background {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn start(options: BackgroundOptions) -> Result<Background> {
        let signal = Arc::new(Signal::new(options.buffer_bytes));
        let pool = Arc::new(Pool { merges: options.merges, signal, stores: Mutex::default() });
        let mut background = Background { pool, threads: Vec::new() };
        for (name, task) in
            [("dv-write", Task::Write), ("dv-publish", Task::Publish), ("dv-merge", Task::Merge)]
        {
            let pool = background.pool.clone();
            let thread = thread::Builder::new().name(name.to_owned()).spawn(move || pool.run(task));
            let failed = |error| Error::Request(format!("expected another thread, found none: {error}"));
            background.threads.push(thread.map_err(failed)?);
        }
        Ok(background)
    }

    /// Begins to work for a store, until it is removed or dropped. A dropped store closes when the work on it is done.
    ///
    /// # Errors
    ///
    /// If threads work for it.
    pub fn add(&self, store: &Arc<Store>) -> Result<()> {
        store.tasks.begin(&self.pool.signal)?;
        self.pool.stores().push(Arc::downgrade(store));
        store.tasks.want(Task::Merge);
        // Its times are to be waited for.
        self.pool.signal.wake();
        Ok(())
    }

    /// Ends the work for a store, as for all when this is dropped.
    ///
    /// # Errors
    ///
    /// If these threads do not work for it; or the last failure of this work that no call of [`Store::apply`] has
    /// returned.
    pub fn remove(&self, store: &Store) -> Result<()> {
        if !store.tasks.is_of(&self.pool.signal) {
            return Err(Error::Request(
                "expected a store of these background threads, found another".to_owned(),
            ));
        }
        self.pool.stores().retain(|other| !std::ptr::eq(other.as_ptr(), store));
        store.tasks.end();
        store.tasks.check()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.pool.signal.stop();
        let stores = std::mem::take(&mut *self.pool.stores());
        stores.iter().filter_map(Weak::upgrade).for_each(|store| store.tasks.end());
        for thread in self.threads.drain(..) {
            // A panic of a thread was printed, and left the stores consistent.
            let _ = thread.join();
        }
    }
}

impl Pool {
    /// Does the work of a task until it is to stop.
    fn run(&self, task: Task) {
        let (mut seen, mut next) = (0, None);
        while self.signal.wait(&mut seen, next) {
            next = None;
            for store in self.open_stores() {
                store.tasks.work(task, || match task {
                    Task::Write => store.write_in_background(),
                    Task::Publish => store.publish_in_background(),
                    Task::Merge => store.merge_in_background(&self.merges),
                });
                next = next.into_iter().chain(store.next_time(task)).min();
            }
            if task == Task::Write {
                self.write_largest();
            }
        }
    }

    /// Writes the largest buffers until all take at most half of their memory.
    fn write_largest(&self) {
        while self.signal.is_full() {
            let stores = self.open_stores();
            let sizes = stores.iter().map(|store| (store.buffered(), store));
            let Some((size, store)) = sizes.max_by_key(|(size, _)| *size).filter(|(size, _)| *size > 0)
            else {
                return;
            };
            store.tasks.work(Task::Write, || store.note("write", store.flush(0)));
            if store.buffered() >= size {
                // It was not written. Its next batch reports that.
                return;
            }
        }
    }

    fn open_stores(&self) -> Vec<Arc<Store>> {
        let mut stores = self.stores();
        stores.retain(|store| store.strong_count() > 0);
        stores.iter().filter_map(Weak::upgrade).collect()
    }

    /// Also after a panic: each change is one call.
    fn stores(&self) -> MutexGuard<'_, Vec<Weak<Store>>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    fn write_in_background(&self) {
        if self.tasks.take(Task::Write) {
            self.note("write", self.flush_full());
        }
        if self.options.commit_every.is_some_and(|time| is_due(&self.committed, time)) {
            self.note("commit", self.commit().map(drop));
        }
    }

    fn publish_in_background(&self) {
        if self.options.refresh_every.is_some_and(|time| is_due(&self.refreshed, time)) {
            self.note("refresh", self.refresh().map(drop));
        }
        if self.sync_every().is_some_and(|time| is_due(&self.log_synced, time)) {
            self.note("sync", self.sync_log());
        }
    }

    fn merge_in_background(&self, policy: &MergePolicy) {
        if !self.tasks.take(Task::Merge) {
            return;
        }
        let stop = self.tasks.stop();
        let merged = self.fill_table_if_it_pays().and_then(|()| self.merge_until(policy, stop));
        if !stop.load(Ordering::Acquire) {
            self.note("merge", merged.map(drop));
        }
        while !stop.load(Ordering::Acquire) && self.ids.maintain(UPKEEP_STEPS) == Upkeep::More {}
    }

    /// When a task is next due that is done again and again.
    fn next_time(&self, task: Task) -> Option<Instant> {
        let of = |last, every: Option<_>| every.and_then(|every| due_at(last, every));
        match task {
            Task::Write => of(&self.committed, self.options.commit_every),
            Task::Publish => {
                let refresh = of(&self.refreshed, self.options.refresh_every);
                refresh.into_iter().chain(of(&self.log_synced, self.sync_every())).min()
            }
            Task::Merge => None,
        }
    }

    fn sync_every(&self) -> Option<std::time::Duration> {
        match self.options.durability {
            Durability::Within(time) => Some(time),
            Durability::OnCommit | Durability::EachBatch => None,
        }
    }

    /// Keeps an error for the next batch.
    fn note(&self, work: &'static str, done: Result<()>) {
        if let Err(error) = done {
            trace::failed(self.directory.path(), work, &error);
            self.tasks.fail(Error::Background { work, error: Box::new(error) });
        }
    }
}
