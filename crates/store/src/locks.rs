//! The locks of the standard library, or those of `shuttle`, which tries out orders of threads in a test.

pub(crate) use std::sync::PoisonError;

#[cfg(not(shuttle))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, RwLock},
    thread::yield_now,
};

#[cfg(shuttle)]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard, RwLock},
    thread::yield_now,
};

/// Locks, also after a panic: each step of a change leaves a state that is consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
