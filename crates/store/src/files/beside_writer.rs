//! For readers of a store that another process may be writing.

use docvalues_storage::Directory;

use crate::error::Error;

/// The number of attempts to open the newest commit. A failure means that the writer replaced and removed it meanwhile.
pub(crate) const ATTEMPTS: usize = 100;

/// The error of a reader that the writer outran.
pub(crate) fn no_calm(directory: &dyn Directory) -> Error {
    Error::Request(format!(
        "{}: expected a commit that stays for a moment, found {ATTEMPTS} that were replaced",
        directory.path().display()
    ))
}
