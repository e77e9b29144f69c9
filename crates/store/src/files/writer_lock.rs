//! The lock of the only writer.

use std::ffi::OsStr;
use std::sync::Arc;

use docvalues_storage::{Directory, DirectoryFile};

use super::names::{LOCK, LOCK_INFO};
use crate::error::{Error, Result};

/// The longest description of a holder that is read.
const MAX_INFO: usize = 256;

/// Held as long as a store is open for writing. The operating system releases it with the process.
///
/// The file is never removed: another process could lock a new one of the same name while this lock is held.
#[derive(Debug)]
pub(crate) struct WriterLock {
    directory: Arc<dyn Directory>,
    file: Box<dyn DirectoryFile>,
}

impl WriterLock {
    /// Takes the lock.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if another writer holds it.
    pub(crate) fn take(directory: &Arc<dyn Directory>) -> Result<WriterLock> {
        let file = directory.claim(OsStr::new(LOCK)).map_err(|error| match error.is_busy() {
            true => {
                Error::Busy { folder: directory.path().display().to_string(), holder: holder(&**directory) }
            }
            false => error.into(),
        })?;
        let lock = WriterLock { directory: directory.clone(), file };
        lock.describe();
        Ok(lock)
    }

    /// Fails if another process may have taken over the store: if the file that this process locked is not the one that others
    /// would lock.
    pub(crate) fn require(&self) -> Result<()> {
        match self.file.is_named(OsStr::new(LOCK)) {
            Ok(true) => Ok(()),
            _ => Err(Error::Poisoned { why: "its lock was removed or replaced".to_owned() }),
        }
    }

    /// Writes who holds the lock, for messages only. Not into the lock itself, which cannot be read everywhere while it is held.
    fn describe(&self) {
        let text = format!("process {}\n", std::process::id());
        if let Ok(info) = self.directory.claim(OsStr::new(LOCK_INFO)) {
            let _ = info.clear().and_then(|()| info.write_at(text.as_bytes(), 0));
        }
    }
}

/// The description of the process that holds the lock.
fn holder(directory: &dyn Directory) -> Option<String> {
    let source = directory.open(OsStr::new(LOCK_INFO)).ok()?;
    let len = usize::try_from(source.len()).ok()?.min(MAX_INFO);
    let bytes = source.read_at(docvalues_format::error::Section::Header, 0, len).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().next().unwrap_or_default().trim();
    (!line.is_empty()).then(|| line.to_owned())
}
