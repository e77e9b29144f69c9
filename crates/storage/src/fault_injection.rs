//! Fault injection for tests of code that writes files.
//!
//! Each call to the operating system first consults the injector. Without one, that is one comparison for each 64
//! KiB.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Step;

/// Makes calls below an [`AtomicFile`](crate::AtomicFile) and its [`Spill`](crate::Spill) fail. Writers must
/// survive the failure of any call.
///
/// # Examples
///
/// A disk that is full after 100 bytes: the file that was there stays as it was.
///
/// ```
/// use std::{fs, io};
///
/// use docvalues_storage::{AtomicFile, Faults, Step};
///
/// struct FullAfter(usize);
///
/// impl Faults for FullAfter {
///     fn before(&mut self, step: Step, bytes: usize) -> io::Result<usize> {
///         match step {
///             Step::Write if self.0 < bytes => Err(io::ErrorKind::StorageFull.into()),
///             Step::Write => {
///                 self.0 -= bytes;
///                 Ok(bytes)
///             }
///             _ => Ok(bytes),
///         }
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.dv");
/// fs::write(&path, "old")?;
/// let mut file = AtomicFile::create_with_faults(&path, FullAfter(100))?;
/// let written = file.append(&[0; 200]).and_then(|()| file.commit());
/// assert_eq!(written.unwrap_err().step(), Step::Write);
/// assert_eq!(fs::read(&path)?, b"old");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Faults: Send {
    /// Called before each call to the operating system. `bytes` is the number of bytes to write or read; 0 in all
    /// steps except [`Step::Write`] and [`Step::Read`]. Returns how many of them the call may transfer.
    ///
    /// # Errors
    ///
    /// The error that the call fails with.
    fn before(&mut self, step: Step, bytes: usize) -> io::Result<usize>;
}

/// The faults of a build, if any.
#[derive(Clone, Default)]
pub(crate) struct FaultInjector(Option<Arc<Mutex<dyn Faults>>>);

impl FaultInjector {
    pub(crate) fn of(faults: impl Faults + 'static) -> FaultInjector {
        FaultInjector(Some(Arc::new(Mutex::new(faults))))
    }

    /// Consulted before a call that transfers no bytes.
    pub(crate) fn before(&self, step: Step) -> io::Result<()> {
        self.before_bytes(step, 0).map(|_| ())
    }

    /// Consulted before a call that transfers `bytes` bytes. Returns how many it may transfer.
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
