//! Fault injection for tests of code that writes files.
//!
//! [`FaultyDirectory`] consults [`Faults`] before each call but those for metadata.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::directory::{Directory, FaultyDirectory, FsDirectory};
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
    /// Called before each call to the operating system, but those for metadata. `bytes` is the number of bytes to
    /// write or read; 0 in all steps except [`Step::Write`] and [`Step::Read`]. Returns how many of them the call may
    /// transfer.
    ///
    /// # Errors
    ///
    /// The error that the call fails with.
    fn before(&mut self, step: Step, bytes: usize) -> io::Result<usize>;
}

/// The folder at `path`, with injected faults.
pub(crate) fn directory(path: &Path, mut faults: impl Faults + 'static) -> Arc<dyn Directory> {
    Arc::new(FaultyDirectory::new(Arc::new(FsDirectory::new(path)), move |call| match call.step {
        Step::Metadata => Ok(0),
        step => faults.before(step, call.bytes),
    }))
}
