//! [`Member`]: a store among those that share background threads, and memory for their buffers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::locks::of_threads::{Condvar, Mutex, MutexGuard, lock};

/// The task of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Write,
    Refresh,
    Merge,
}

/// The tasks of a store.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    member: Mutex<Option<Arc<Member>>>,
    failed: Mutex<Option<Error>>,
}

/// A store for which threads work.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) shared: Arc<Shared>,
    /// Whether threads are to stop.
    pub(crate) is_leaving: AtomicBool,
    /// Whether each task is asked for.
    wanted: [AtomicBool; 3],
    /// Held by the thread of each task while it works, and has the store.
    working: [Mutex<()>; 3],
    /// The bytes of this store in `shared.buffered`.
    buffered: AtomicUsize,
}

/// The tasks and the memory of several stores.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Counts the requests to threads.
    asked: Mutex<u64>,
    changed: Condvar,
    is_stopping: AtomicBool,
    /// The memory of all buffers, and its limit.
    buffered: AtomicUsize,
    buffer_bytes: usize,
    /// The segments of a store above which its batches wait for merges.
    pub(crate) max_segments: usize,
}

impl Tasks {
    /// Begins to ask threads. Fails if others work for the store.
    pub(crate) fn join(&self, member: &Arc<Member>) -> Result<()> {
        let mut now = lock(&self.member);
        if now.is_some() {
            return Err(Error::Request("expected a store without background threads, found some".to_owned()));
        }
        *now = Some(member.clone());
        Ok(())
    }

    /// No longer asks the threads of `member`.
    pub(crate) fn leave(&self, member: &Arc<Member>) {
        lock(&self.member).take_if(|now| Arc::ptr_eq(now, member));
    }

    /// The store as its threads know it, if some work for it.
    pub(crate) fn member(&self) -> Option<Arc<Member>> {
        lock(&self.member).clone()
    }

    /// Asks for a task, if threads work for the store. Returns whether they do.
    pub(crate) fn want(&self, task: Task) -> bool {
        self.member().is_some_and(|member| {
            member.want(task);
            true
        })
    }

    /// Keeps an error for the next call of [`check`](Self::check).
    pub(crate) fn fail(&self, error: Error) {
        *lock(&self.failed) = Some(error);
    }

    /// The last failure of a thread, which is returned once.
    pub(crate) fn check(&self) -> Result<()> {
        lock(&self.failed).take().map_or(Ok(()), Err)
    }
}

impl Member {
    pub(crate) fn new(shared: Arc<Shared>) -> Member {
        Member {
            shared,
            is_leaving: AtomicBool::new(false),
            wanted: Default::default(),
            working: Default::default(),
            buffered: AtomicUsize::new(0),
        }
    }

    /// Cancels the merge that runs, and waits until no thread works for the store, or has it.
    pub(crate) fn leave(&self) {
        self.is_leaving.store(true, Ordering::Release);
        self.working.iter().for_each(|working| drop(lock(working)));
    }

    /// Begins to work at a task; `None` if threads are to stop. [`leave`](Self::leave) waits until the lock is released.
    pub(crate) fn begin(&self, task: Task) -> Option<MutexGuard<'_, ()>> {
        let working = lock(&self.working[task as usize]);
        (!self.is_leaving.load(Ordering::Acquire)).then_some(working)
    }

    /// Whether a task was asked for since the last call.
    pub(crate) fn take_wanted(&self, task: Task) -> bool {
        self.wanted[task as usize].swap(false, Ordering::AcqRel)
    }

    /// Asks for a task.
    pub(crate) fn want(&self, task: Task) {
        if !self.wanted[task as usize].swap(true, Ordering::AcqRel) {
            self.shared.wake();
        }
    }

    /// Whether a thread does a task, or is to do it.
    pub(crate) fn is_busy(&self, task: Task) -> bool {
        let is_wanted = || self.wanted[task as usize].load(Ordering::Acquire);
        let is_working = || matches!(self.working[task as usize].try_lock(), Err(TryLockError::WouldBlock));
        !self.is_leaving.load(Ordering::Acquire) && (is_wanted() || is_working())
    }

    /// The memory of the store's buffers.
    pub(crate) fn buffered(&self) -> usize {
        self.buffered.load(Ordering::Relaxed)
    }

    /// Notes the memory of the store's buffers.
    pub(crate) fn note_buffered(&self, bytes: usize) {
        let before = self.buffered.swap(bytes, Ordering::Relaxed);
        self.shared.buffered.fetch_add(bytes, Ordering::Relaxed);
        self.shared.buffered.fetch_sub(before, Ordering::Relaxed);
        if bytes < before {
            // In the lock, so that no call misses it between its test and its wait.
            drop(lock(&self.shared.asked));
            self.shared.changed.notify_all();
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.note_buffered(0);
    }
}

impl Shared {
    /// For stores whose buffers may take so much memory together, and that may have so many segments each.
    pub(crate) fn new(buffer_bytes: usize, max_segments: usize) -> Shared {
        Shared { buffer_bytes, max_segments, ..Shared::default() }
    }

    /// Whether the buffers exceed half of their memory.
    pub(crate) fn should_flush(&self) -> bool {
        self.buffered.load(Ordering::Relaxed) > self.buffer_bytes / 2
    }

    /// Waits until the buffers take at most all of their memory, but not longer than `most`. Returns whether they do.
    pub(crate) fn wait_for_room(&self, most: Duration) -> bool {
        let is_over = || self.buffered.load(Ordering::Relaxed) > self.buffer_bytes;
        if !is_over() {
            return true;
        }
        let waited = self.changed.wait_timeout_while(lock(&self.asked), most, |_| is_over());
        let (_asked, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        !timeout.timed_out()
    }

    /// Wakes all threads.
    pub(crate) fn wake(&self) {
        *lock(&self.asked) += 1;
        self.changed.notify_all();
    }

    /// Has all threads end.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.wake();
    }

    /// Waits until something was asked for since the last call, which `seen` counts, or until a time. Returns whether to
    /// go on.
    pub(crate) fn wait(&self, seen: &mut u64, until: Option<Instant>) -> bool {
        let most = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
        let is_idle = |asked: &mut u64| *asked == *seen && !self.is_stopping.load(Ordering::Acquire);
        let waited = self.changed.wait_timeout_while(lock(&self.asked), most, is_idle);
        *seen = *waited.unwrap_or_else(PoisonError::into_inner).0;
        !self.is_stopping.load(Ordering::Acquire)
    }
}
