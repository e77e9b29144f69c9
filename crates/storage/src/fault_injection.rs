//! What goes wrong below the files of a build: for tests of those who write through them.
//!
//! Each call to the operating system asks first. Without anybody to ask, that is one comparison for
//! each 64 KiB.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Step;

/// What goes wrong below an [`AtomicFile`](crate::AtomicFile) and its [`Spill`](crate::Spill): who writes
/// through them must hold whichever call fails.
pub trait Faults: Send {
    /// Asked before each call to the operating system. `bytes` is how many are to be written or read, 0 in
    /// all steps but [`Step::Write`] and [`Step::Read`]; the answer is how many the call may take.
    ///
    /// # Errors
    ///
    /// What the call shall fail with.
    fn before(&mut self, step: Step, bytes: usize) -> io::Result<usize>;
}

/// What is to go wrong with the files of a build, if anything is.
#[derive(Clone, Default)]
pub(crate) struct FaultInjector(Option<Arc<Mutex<dyn Faults>>>);

impl FaultInjector {
    pub(crate) fn of(faults: impl Faults + 'static) -> FaultInjector {
        FaultInjector(Some(Arc::new(Mutex::new(faults))))
    }

    /// Asks before a call that moves no bytes.
    pub(crate) fn before(&self, step: Step) -> io::Result<()> {
        self.before_bytes(step, 0).map(|_| ())
    }

    /// Asks before a call for `bytes` bytes: how many it may take.
    pub(crate) fn before_bytes(&self, step: Step, bytes: usize) -> io::Result<usize> {
        match &self.0 {
            Some(faults) => {
                let mut faults = faults.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(faults.before(step, bytes)?.min(bytes))
            }
            None => Ok(bytes),
        }
    }
}

impl fmt::Debug for FaultInjector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FaultInjector").field(&self.0.is_some()).finish()
    }
}
