//! Directories for tests of code that must survive failing calls and power losses.
//!
//! | name | purpose |
//! | --- | --- |
//! | [`FaultyDirectory`] | a directory whose calls are recorded, or fail |
//! | [`faulty_file`] | a file that is published atomically, likewise |
//! | [`PowerLossDirectory`] | a folder in memory that loses what was not synced |

mod faulty_directory;
mod power_loss_directory;

use std::io;
use std::path::Path;
use std::sync::Arc;

use docvalues_storage::{AtomicFile, FsDirectory, Result, Step};

pub use faulty_directory::{Call, FaultyDirectory};
pub use power_loss_directory::PowerLossDirectory;

/// Begins the file that will be at `path`, in a folder whose calls may fail.
///
/// `before` gets each call but those for metadata before it is made: its purpose, and the number of bytes to read or
/// write; 0 in other steps. It returns how many of them the call may transfer, or the error that the call fails with.
///
/// # Examples
///
/// A disk that is full after 100 bytes: the file that was there stays as it was.
///
/// ```
/// use std::{fs, io};
/// use docvalues_storage::Step;
/// use docvalues_testkit::faults::faulty_file;
///
/// let path = std::env::temp_dir().join(format!("faulty-file-{}", std::process::id()));
/// fs::write(&path, "old")?;
/// let mut left = 100;
/// let mut file = faulty_file(&path, move |step, bytes| match step {
///     Step::Write if left < bytes => Err(io::ErrorKind::StorageFull.into()),
///     Step::Write => {
///         left -= bytes;
///         Ok(bytes)
///     }
///     _ => Ok(bytes),
/// })?;
/// let written = file.append(&[0; 200]).and_then(|()| file.commit());
/// assert_eq!(written.unwrap_err().step(), Step::Write);
/// assert_eq!(fs::read(&path)?, b"old");
/// fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`AtomicFile::create`], and those that `before` returns.
pub fn faulty_file(
    path: impl AsRef<Path>,
    mut before: impl FnMut(Step, usize) -> io::Result<usize> + Send + 'static,
) -> Result<AtomicFile> {
    let path = path.as_ref();
    let folder = FsDirectory::new(path.parent().unwrap());
    let directory = FaultyDirectory::new(Arc::new(folder), move |call| match call.step {
        Step::Metadata => Ok(0),
        step => before(step, call.bytes),
    });
    AtomicFile::create_in(Arc::new(directory), path.file_name().unwrap())
}
