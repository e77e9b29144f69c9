//! The locks of the standard library. Two builds have others: those of `shuttle`, which tries out orders of threads in a test,
//! and with `--cfg docvalues_lock_times` those of `timed`, which note how long they are waited for and held. With both, they
//! are those of `shuttle`, except [`of_threads`].

#[cfg(docvalues_lock_times)]
mod timed;

pub(crate) use std::sync::PoisonError;

#[cfg(not(any(shuttle, docvalues_lock_times)))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, RwLock},
    thread::yield_now,
};

#[cfg(shuttle)]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard, RwLock},
    thread::yield_now,
};

#[cfg(all(docvalues_lock_times, not(shuttle)))]
pub(crate) use std::{sync::RwLock, thread::yield_now};
#[cfg(all(docvalues_lock_times, not(shuttle)))]
pub(crate) use timed::{Condvar, Mutex, MutexGuard};
#[cfg(docvalues_lock_times)]
#[doc(hidden)]
pub use timed::{LockTime, take_lock_times};

/// The locks of threads that `shuttle` does not run.
pub(crate) mod of_threads {
    #[cfg(not(docvalues_lock_times))]
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

    #[cfg(docvalues_lock_times)]
    pub(crate) use super::timed::{Condvar, Mutex, MutexGuard};

    /// Locks, also after a panic: what is locked is never left between two states.
    #[cfg_attr(docvalues_lock_times, track_caller)]
    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(super::PoisonError::into_inner)
    }
}

/// Locks, also after a panic: each step of a change leaves a state that is consistent.
#[cfg_attr(docvalues_lock_times, track_caller)]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
