//! Files that are written whole: copied, or under a temporary name first.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::sync::Arc;

use docvalues_storage::{Directory, Error as StorageError, NewFile, Step};

use crate::error::{Error, Result};

/// Files are copied in pieces of this many bytes.
pub(crate) const PIECE: usize = 1 << 20;

/// Writes a file under a temporary name, syncs it, and renames it: `name` is there with all that `write` appends, or not at all.
/// `before` is called before the name is there. The name is durable when this returns.
pub(crate) fn put_file(
    directory: &Arc<dyn Directory>,
    name: &str,
    write: impl FnOnce(&mut NewFile) -> Result<()>,
    before: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let temporary = format!(".{name}.tmp");
    // Of an attempt that failed.
    let _ = directory.remove(OsStr::new(&temporary));
    let mut file = NewFile::create(directory.clone(), &temporary)?;
    write(&mut file)?;
    file.finish()?;
    before()?;
    directory.rename(OsStr::new(&temporary), OsStr::new(name))?;
    Ok(directory.sync()?)
}

/// Appends `bytes` bytes of the file `name`.
pub(crate) fn copy(from: &mut dyn Read, (name, bytes): (&str, u64), to: &mut NewFile) -> Result<()> {
    let mut piece = vec![0; PIECE.min(usize::try_from(bytes).unwrap_or(PIECE))];
    let mut left = bytes;
    while left > 0 {
        let len = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match from.read(&mut piece[..len]) {
            Ok(0) => {
                let what = format!("expected {bytes} bytes, found {}", bytes - left);
                return Err(Error::Damaged { file: name.to_owned(), what });
            }
            Ok(read) => {
                to.append(&piece[..read])?;
                left -= read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(StorageError::new(Step::Read, name, error).into()),
        }
    }
    Ok(())
}
