//! Locks that note how long they are waited for and held, by the place in the sources that locks them. For
//! the program `scale` of the benches.
//!
//! A lock takes three readings of the clock more, and its times go to a list of the thread's own after it is free again.

use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self, Arc, LockResult, PoisonError, TryLockError, TryLockResult, WaitTimeoutResult};
use std::time::{Duration, Instant};

/// How long a lock was waited for and held, once.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[doc(hidden)]
pub struct LockTime {
    /// The file in the sources, and the line, of the call that locked it.
    pub file: &'static str,
    /// See [`file`](Self::file).
    pub line: u32,
    /// The time until the caller had it.
    pub waited: Duration,
    /// The time until the caller released it; waiting for a condition is not part of it.
    pub held: Duration,
}

/// The times of a thread.
type Times = Arc<sync::Mutex<Vec<LockTime>>>;

/// Those of all threads.
static ALL: sync::Mutex<Vec<Times>> = sync::Mutex::new(Vec::new());

thread_local! {
    static OWN: Times = {
        let own = Times::default();
        ALL.lock().unwrap_or_else(PoisonError::into_inner).push(own.clone());
        own
    };
}

/// The times of all locks that were released since the last call.
#[doc(hidden)]
pub fn take_lock_times() -> Vec<LockTime> {
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = all
        .iter()
        .flat_map(|times| std::mem::take(&mut *times.lock().unwrap_or_else(PoisonError::into_inner)))
        .collect();
    // Of threads that ended.
    let is_empty = |times: &Times| times.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
    all.retain(|times| Arc::strong_count(times) > 1 || !is_empty(times));
    taken
}

/// As [`sync::Mutex`].
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex(sync::Mutex::new(value))
    }

    /// Locks, also after a panic: so do all callers.
    #[track_caller]
    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let (caller, asked) = (Location::caller(), Instant::now());
        Ok(MutexGuard::new(self.0.lock().unwrap_or_else(PoisonError::into_inner), caller, asked))
    }

    #[track_caller]
    pub(crate) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let (caller, asked) = (Location::caller(), Instant::now());
        match self.0.try_lock() {
            Ok(guard) => Ok(MutexGuard::new(guard, caller, asked)),
            Err(TryLockError::Poisoned(error)) => Ok(MutexGuard::new(error.into_inner(), caller, asked)),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }
}

/// As [`sync::MutexGuard`].
#[derive(Debug)]
pub(crate) struct MutexGuard<'a, T> {
    guard: sync::MutexGuard<'a, T>,
    /// It is dropped after the guard.
    held: Held,
}

/// Notes the times of a lock when it is dropped.
#[derive(Debug)]
struct Held {
    caller: &'static Location<'static>,
    waited: Duration,
    since: Instant,
}

impl Drop for Held {
    fn drop(&mut self) {
        let (file, line) = (self.caller.file(), self.caller.line());
        let time = LockTime { file, line, waited: self.waited, held: self.since.elapsed() };
        // Not if the thread ends.
        let _ = OWN.try_with(|own| own.lock().unwrap_or_else(PoisonError::into_inner).push(time));
    }
}

impl<'a, T> MutexGuard<'a, T> {
    fn new(
        guard: sync::MutexGuard<'a, T>,
        caller: &'static Location<'static>,
        asked: Instant,
    ) -> MutexGuard<'a, T> {
        let since = Instant::now();
        MutexGuard { guard, held: Held { caller, waited: since - asked, since } }
    }

    /// The guard for a wait for a condition, and who has it. Notes the times until then.
    fn wait(self) -> (sync::MutexGuard<'a, T>, &'static Location<'static>) {
        (self.guard, self.held.caller)
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// As [`sync::Condvar`].
#[derive(Debug, Default)]
pub(crate) struct Condvar(sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Condvar {
        Condvar(sync::Condvar::new())
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let (guard, caller) = guard.wait();
        let guard = self.0.wait(guard).unwrap_or_else(PoisonError::into_inner);
        Ok(MutexGuard::new(guard, caller, Instant::now()))
    }

    pub(crate) fn wait_timeout_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        most: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, caller) = guard.wait();
        let waited = self.0.wait_timeout_while(guard, most, condition);
        let (guard, result) = waited.unwrap_or_else(PoisonError::into_inner);
        Ok((MutexGuard::new(guard, caller, Instant::now()), result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_notes_where_it_was_taken_and_how_long_it_was_held() {
        let (mutex, condition, pause) = (Mutex::new(1), Condvar::new(), Duration::from_millis(2));
        let line = line!() + 1;
        let mut guard = mutex.lock().unwrap();
        *guard += 1;
        std::thread::sleep(pause);
        let (guard, timeout) = condition.wait_timeout_while(guard, pause, |_| true).unwrap();
        assert!(timeout.timed_out() && *guard == 2);
        assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
        drop(guard);
        // Other tests lock elsewhere.
        let is_here = |time: &LockTime| time.file == file!();
        let times: Vec<LockTime> = take_lock_times().into_iter().filter(is_here).collect();
        let [before, after] = times[..] else { panic!("{times:?}") };
        assert!((before.line, after.line) == (line, line) && before.held >= pause, "{times:?}");
        assert!(mutex.try_lock().is_ok());
    }
}
