//! [`Tasks`]: what a store asks its background threads to do.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The work of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Write,
    Publish,
    Merge,
}

/// The tasks of a store.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    /// Whether threads work for the store.
    is_running: AtomicBool,
    /// Whether they are to stop.
    is_stopping: AtomicBool,
    /// Whether each task is asked for.
    wanted: [AtomicBool; 3],
    /// Held by the thread of each task while it works.
    working: [Mutex<()>; 3],
    member: Mutex<Option<Member>>,
    has_failed: AtomicBool,
    failed: Mutex<Option<Error>>,
}

/// A store among those that share threads and memory.
#[derive(Debug)]
struct Member {
    signal: Arc<Signal>,
    /// The bytes of this store in `signal.buffered`.
    buffered: usize,
}

/// What the threads wait for, and the memory of all their stores.
#[derive(Debug)]
pub(crate) struct Signal {
    /// Counts what was asked for.
    asked: Mutex<u64>,
    changed: Condvar,
    is_stopping: AtomicBool,
    /// The memory of all buffers, and how much they may take.
    buffered: AtomicUsize,
    buffer_bytes: usize,
}

impl Tasks {
    /// Whether threads work for the store.
    pub(crate) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Acquire)
    }

    /// Whether threads are to stop.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.is_stopping
    }

    /// Begins to ask threads. Fails if others work for the store.
    pub(crate) fn begin(&self, signal: &Arc<Signal>) -> Result<()> {
        let mut member = lock(&self.member);
        if member.is_some() {
            return Err(Error::Request("expected a store without background threads, found some".to_owned()));
        }
        *member = Some(Member { signal: signal.clone(), buffered: 0 });
        self.is_stopping.store(false, Ordering::Release);
        self.is_running.store(true, Ordering::Release);
        Ok(())
    }

    /// Gives up the merge that runs, and waits until no thread works for the store.
    pub(crate) fn end(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.is_running.store(false, Ordering::Release);
        self.working.iter().for_each(|working| drop(lock(working)));
        *lock(&self.member) = None;
    }

    /// Whether these threads work for the store.
    pub(crate) fn is_of(&self, signal: &Arc<Signal>) -> bool {
        lock(&self.member).as_ref().is_some_and(|member| Arc::ptr_eq(&member.signal, signal))
    }

    /// Works, unless the threads are to stop. Others wait for that in [`end`](Self::end).
    pub(crate) fn work(&self, task: Task, work: impl FnOnce()) {
        let _working = lock(&self.working[task as usize]);
        if !self.is_stopping.load(Ordering::Acquire) {
            work();
        }
    }

    /// Asks for a task, if threads work for the store. Returns whether they do.
    pub(crate) fn want(&self, task: Task) -> bool {
        let is_running = self.is_running();
        if is_running
            && !self.wanted[task as usize].swap(true, Ordering::AcqRel)
            && let Some(member) = &*lock(&self.member)
        {
            member.signal.wake();
        }
        is_running
    }

    /// Whether a task is asked for, which is answered once.
    pub(crate) fn take(&self, task: Task) -> bool {
        self.wanted[task as usize].swap(false, Ordering::AcqRel)
    }

    /// Notes the memory of the store's buffers.
    pub(crate) fn note_buffered(&self, bytes: usize) {
        if self.is_running()
            && let Some(member) = &mut *lock(&self.member)
        {
            member.note_buffered(bytes);
        }
    }

    /// The memory of all stores with the same threads, if it is bounded.
    pub(crate) fn shared_memory(&self) -> Option<Arc<Signal>> {
        let member = lock(&self.member);
        let signal = member.as_ref().map(|member| &member.signal);
        signal.filter(|signal| signal.buffer_bytes < usize::MAX).cloned()
    }

    /// Keeps an error for the next call of [`check`](Self::check).
    pub(crate) fn fail(&self, error: Error) {
        *lock(&self.failed) = Some(error);
        self.has_failed.store(true, Ordering::Release);
    }

    /// The last failure of a thread, which is returned once.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.has_failed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        lock(&self.failed).take().map_or(Ok(()), Err)
    }
}

impl Member {
    fn note_buffered(&mut self, bytes: usize) {
        let before = std::mem::replace(&mut self.buffered, bytes);
        self.signal.buffered.fetch_add(bytes, Ordering::Relaxed);
        self.signal.buffered.fetch_sub(before, Ordering::Relaxed);
        if bytes < before {
            // In the lock, so that no call misses it between its test and its wait.
            drop(lock(&self.signal.asked));
            self.signal.changed.notify_all();
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.note_buffered(0);
    }
}

impl Signal {
    /// For stores whose buffers may take so much memory together.
    pub(crate) fn new(buffer_bytes: usize) -> Signal {
        Signal {
            asked: Mutex::new(0),
            changed: Condvar::new(),
            is_stopping: AtomicBool::new(false),
            buffered: AtomicUsize::new(0),
            buffer_bytes,
        }
    }

    /// Whether the buffers exceed half of their memory.
    pub(crate) fn is_full(&self) -> bool {
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
        let mut asked = lock(&self.asked);
        while *asked == *seen && !self.is_stopping.load(Ordering::Acquire) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            asked = match left {
                Some(left) if left.is_zero() => break,
                Some(left) => {
                    self.changed.wait_timeout(asked, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(asked).unwrap_or_else(PoisonError::into_inner),
            };
        }
        *seen = *asked;
        !self.is_stopping.load(Ordering::Acquire)
    }
}

/// Also after a panic: what is locked is never left between two states.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
