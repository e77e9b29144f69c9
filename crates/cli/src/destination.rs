//! Where a command writes what it makes.

use std::path::{Path, PathBuf};

use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::store::{AtomicFile, StorageError};

/// Has something written to a file that takes its name when it is whole, as a segment does.
pub(crate) fn write(
    path: &Path,
    console: &mut Console<'_>,
    write: impl FnOnce(&mut Console<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let refused = |error: StorageError| Failure::new(Exit::Unreadable, error.to_string());
    let mut file = AtomicFile::create(path).map_err(refused)?;
    write(&mut Console { out: &mut file, err: &mut *console.err, out_width: None, ..*console })?;
    file.commit().map_err(refused)
}

/// A file over one of its inputs would destroy what it was made of.
pub(crate) fn refuse_input(inputs: &[PathBuf], output: &Path) -> Result<(), Failure> {
    match inputs.iter().find(|input| is_same(input, output)) {
        None => Ok(()),
        Some(input) => {
            Err(Failure::new(Exit::Usage, format!("{} is an input and the output", input.display()))
                .advice("name another file with -o"))
        }
    }
}

/// Whether both are names of one file: links to it, symbolic or hard, are.
#[cfg(unix)]
fn is_same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino()));
    matches!((identity(a), identity(b)), (Ok(a), Ok(b)) if a == b)
}

/// There, hard links are not seen.
#[cfg(not(unix))]
fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
