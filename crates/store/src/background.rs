//! [`Background`]: threads that write full buffers, refresh, commit and merge.
//!
//! ```text
//! thread    waits for                                   does
//! write     a full buffer; `commit_every`               writes the buffer to a segment; commits
//! publish   `refresh_every`; `Durability::Within`       refreshes; syncs the log
//! merge     another set of segments, a commit           fills the table of ids; merges; frees memory of the table
//! ```
//!
//! Without these threads, the call that finds a full buffer, or that a time has passed, does the work itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use docvalues_terms::lookup::Upkeep;

use crate::durability::Durability;
use crate::error::{Error, Result};
use crate::merge_policy::MergePolicy;
use crate::store::Store;
use crate::trace;

/// Ids that are moved to a smaller table before the thread looks whether it should stop.
const UPKEEP_STEPS: usize = 10_000;

/// Threads that work for a store until this is dropped: [`Store::start_background`].
///
/// Dropping it stops them. A merge that runs is given up, a segment or commit that is being written is finished. What was
/// not committed stays so.
#[derive(Debug)]
pub struct Background {
    store: Arc<Store>,
    threads: Vec<JoinHandle<()>>,
}

/// A thread, by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Write,
    Publish,
    Merge,
}

/// What the threads of a store are asked to do.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    state: Mutex<State>,
    /// Notified when something is asked for.
    asked: Condvar,
    /// Whether threads run, and whether they are to stop.
    is_running: AtomicBool,
    is_stopping: AtomicBool,
    /// Whether a thread has failed.
    has_failed: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// Whether each task is asked for.
    wanted: [bool; 3],
    failed: Option<Error>,
}

impl Store {
    /// Starts three threads: one writes the buffer when it is full, and commits; one refreshes, and syncs the log; one
    /// merges. Until they stop, calls of [`apply`](Store::apply) do none of that, and wait only if the buffer fills faster
    /// than it is written.
    ///
    /// Refreshes and commits take place if [`refresh_every`](crate::StoreOptions::refresh_every) and
    /// [`commit_every`](crate::StoreOptions::commit_every) say so. If a thread fails, the next call of `apply` returns its
    /// error, and changes nothing; the thread tries again the next time.
    ///
    /// # Errors
    ///
    /// If such threads run, or cannot be started.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_store::{MergePolicy, Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let schema = StoreSchema::new().with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?;
    /// let refresh_every = Some(Duration::from_millis(1));
    /// let options = StoreOptions { refresh_every, ..StoreOptions::default() };
    /// let store = Arc::new(Store::create(&path, schema, options)?);
    /// let background = store.start_background(MergePolicy::default())?;
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
    /// background.stop()?;
    /// store.commit()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "ConcurrentMergeScheduler")]
    pub fn start_background(self: &Arc<Self>, policy: MergePolicy) -> Result<Background> {
        if self.tasks.is_running.swap(true, Ordering::AcqRel) {
            return Err(Error::Request("expected a store without background threads, found some".to_owned()));
        }
        self.tasks.is_stopping.store(false, Ordering::Release);
        self.tasks.want(Task::Merge);
        let mut background = Background { store: self.clone(), threads: Vec::new() };
        background.start("dv-write", Store::write_when_asked)?;
        background.start("dv-publish", Store::publish_when_due)?;
        background.start("dv-merge", move |store| store.merge_when_asked(&policy))?;
        Ok(background)
    }

    /// Writes full buffers and commits until it is to stop.
    fn write_when_asked(&self) {
        let mut commits = Timer::new(self.options.commit_every);
        while self.tasks.wait(Task::Write, commits.next) {
            self.note("write", self.flush_full());
            if commits.is_due() {
                self.note("commit", self.commit().map(drop));
            }
        }
    }

    /// Refreshes and syncs until it is to stop.
    fn publish_when_due(&self) {
        let mut refreshes = Timer::new(self.options.refresh_every);
        let mut syncs = Timer::new(match self.options.durability {
            Durability::Within(time) => Some(time),
            Durability::OnCommit | Durability::EachBatch => None,
        });
        while self.tasks.wait(Task::Publish, [refreshes.next, syncs.next].into_iter().flatten().min()) {
            if refreshes.is_due() {
                self.note("refresh", self.refresh().map(drop));
            }
            if syncs.is_due() {
                self.note("sync", self.sync_log());
            }
        }
    }

    /// Keeps an error for the next batch.
    fn note(&self, work: &'static str, done: Result<()>) {
        if let Err(error) = done {
            trace::failed(self.directory.path(), work, &error);
            self.tasks.fail(Error::Background { work, error: Box::new(error) });
        }
    }

    /// Merges until it is to stop.
    fn merge_when_asked(&self, policy: &MergePolicy) {
        let stop = &self.tasks.is_stopping;
        while self.tasks.wait(Task::Merge, None) {
            let merged = self.fill_table_if_it_pays().and_then(|()| self.merge_until(policy, stop).map(drop));
            if !stop.load(Ordering::Acquire) {
                self.note("merge", merged);
            }
            while !stop.load(Ordering::Acquire) && self.ids.maintain(UPKEEP_STEPS) == Upkeep::More {}
        }
    }
}

impl Background {
    /// Stops the threads, as dropping does. Returns the last failure that no call of [`Store::apply`] has returned.
    ///
    /// # Errors
    ///
    /// That failure.
    pub fn stop(self) -> Result<()> {
        let store = self.store.clone();
        drop(self);
        store.tasks.check()
    }

    fn start(&mut self, name: &str, work: impl FnOnce(&Store) + Send + 'static) -> Result<()> {
        let store = self.store.clone();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || work(&store));
        let failed = |error| Error::Request(format!("expected another thread, found none: {error}"));
        self.threads.push(thread.map_err(failed)?);
        Ok(())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let tasks = &self.store.tasks;
        tasks.is_stopping.store(true, Ordering::Release);
        // In the lock, so that no thread misses it between its test and its wait.
        drop(tasks.state());
        tasks.asked.notify_all();
        for thread in self.threads.drain(..) {
            // A panic of a thread was printed, and left the store consistent.
            let _ = thread.join();
        }
        tasks.is_running.store(false, Ordering::Release);
    }
}

impl Tasks {
    /// Whether threads run.
    pub(crate) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Acquire)
    }

    /// Asks for a task, if threads run. Returns whether they do.
    pub(crate) fn want(&self, task: Task) -> bool {
        let is_running = self.is_running();
        if is_running {
            self.state().wanted[task as usize] = true;
            self.asked.notify_all();
        }
        is_running
    }

    /// The last failure of a thread, which is returned once.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.has_failed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        self.state().failed.take().map_or(Ok(()), Err)
    }

    fn fail(&self, error: Error) {
        self.state().failed = Some(error);
        self.has_failed.store(true, Ordering::Release);
    }

    /// Waits until `task` is asked for, or until a time. Returns whether to go on.
    fn wait(&self, task: Task, until: Option<Instant>) -> bool {
        let mut state = self.state();
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if self.is_stopping.load(Ordering::Acquire) {
                return false;
            }
            if std::mem::take(&mut state.wanted[task as usize]) || left.is_some_and(|left| left.is_zero()) {
                return true;
            }
            state = match left {
                Some(left) => {
                    let waited = self.asked.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.asked.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Also after a panic: each change is one assignment.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When something is due that is done again and again.
struct Timer {
    every: Option<Duration>,
    next: Option<Instant>,
}

impl Timer {
    fn new(every: Option<Duration>) -> Timer {
        Timer { every, next: every.and_then(|every| Instant::now().checked_add(every)) }
    }

    /// Whether the time has come. The next one is counted from now.
    fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let is_due = self.next.is_some_and(|next| now >= next);
        if is_due {
            self.next = self.every.and_then(|every| now.checked_add(every));
        }
        is_due
    }
}
