//! Bytes that a build has no memory for.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result, Step};
use crate::publish::{BUFFER, Trouble, open};
use crate::read::Reads;

#[cfg(test)]
mod tests;

/// A temporary file beside the one that is built: bytes are appended, and read back from anywhere.
///
/// The file is made when the first bytes come, and has no name from then on where the system allows that:
/// its room is given back whatever happens to the process. Elsewhere it is removed with the last clone, and
/// what a killed build left behind by the next build of the same file.
///
/// Clones are the same file. What was appended is never changed.
#[derive(Clone, Debug)]
pub struct Spill(Arc<Beside>);

#[derive(Debug)]
struct Beside {
    path: PathBuf,
    trouble: Trouble,
    file: Mutex<Option<Opened>>,
}

#[derive(Debug)]
struct Opened {
    out: File,
    reads: Arc<Reads>,
    len: u64,
}

impl Spill {
    /// Says where: of the build that holds the lock for this path.
    pub(crate) fn new(path: PathBuf, trouble: Trouble) -> Spill {
        Spill(Arc::new(Beside { path, trouble, file: Mutex::new(None) }))
    }

    /// Appends `bytes`, and returns where the first of them lies.
    ///
    /// # Errors
    ///
    /// When the file cannot be created or written: a full disk.
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        let Beside { path, trouble, file } = &*self.0;
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match &mut *file {
            Some(opened) => opened,
            none => {
                let opened = create(path, trouble).map_err(|e| Error::new(Step::Create, path, e))?;
                none.insert(opened)
            }
        };
        let at = opened.len;
        let written = opened.write(bytes, trouble);
        written.map_err(|e| Error::new(Step::Write, path, e))?;
        Ok(at)
    }

    /// Fills `bytes` with those from `at` on, all of which were appended.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let Beside { path, trouble, file } = &*self.0;
        let mut read = || {
            let file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let reads = file.as_ref().map(|opened| Arc::clone(&opened.reads));
            drop(file);
            trouble.before(Step::Read)?;
            reads.ok_or(io::ErrorKind::UnexpectedEof)?.read_exact_at(bytes, at)
        };
        read().map_err(|e| Error::new(Step::Read, path, e))
    }
}

impl Opened {
    /// Writes all of `bytes` behind the others. After an error, what is there counts for nothing.
    fn write(&mut self, mut bytes: &[u8], trouble: &Trouble) -> io::Result<()> {
        while !bytes.is_empty() {
            let most = trouble.before_bytes(Step::Write, bytes.len().min(BUFFER))?;
            match self.out.write(&bytes[..most]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.len += written as u64;
                    bytes = &bytes[written..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Creates the file, or empties the one that is there; and takes its name away.
fn create(path: &PathBuf, trouble: &Trouble) -> io::Result<Opened> {
    trouble.before(Step::Create)?;
    let out = open(path)?;
    let reads = Arc::new(Reads::of(File::open(path)?));
    #[cfg(unix)]
    fs::remove_file(path)?;
    out.set_len(0)?;
    Ok(Opened { out, reads, len: 0 })
}

#[cfg(not(unix))]
impl Drop for Beside {
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        if file.take().is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}
