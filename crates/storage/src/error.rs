//! The errors of this crate: the call that failed, and its path.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of opening and publishing files.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A call to the operating system failed.
///
/// Damaged bytes are reported as `docvalues_format::error::Error` instead.
///
/// ```
/// use docvalues_storage::{Source, Step};
///
/// let error = Source::map("no such file").unwrap_err();
/// assert_eq!(error.step(), Step::Open);
/// assert_eq!(error.io_error().kind(), std::io::ErrorKind::NotFound);
/// assert!(error.path().ends_with("no such file"));
/// ```
#[derive(Debug)]
pub struct Error {
    step: Step,
    path: PathBuf,
    source: io::Error,
}

/// The call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Opening a file to read it.
    Open,
    /// Mapping a file.
    Map,
    /// Creating the temporary file, or taking over that of a killed build.
    Create,
    /// Locking the temporary file against other builds. The error kind is [`WouldBlock`](io::ErrorKind::WouldBlock)
    /// if another build holds the lock.
    Lock,
    /// Removing a temporary file of a killed build.
    Remove,
    /// Writing the temporary file.
    Write,
    /// Reading back from a temporary file.
    Read,
    /// Flushing the temporary file to the disk.
    Sync,
    /// Renaming the temporary file to its final name.
    Rename,
    /// Flushing the new name to the disk. The file is complete under its final name, but a power loss may still
    /// undo the renaming.
    SyncFolder,
    /// Listing the names in a folder.
    List,
    /// Reading or setting the metadata of a file, such as its length.
    Metadata,
}

impl Error {
    /// An error of `step` on `path`.
    pub fn new(step: Step, path: impl Into<PathBuf>, source: io::Error) -> Error {
        Error { step, path: path.into(), source }
    }

    /// The call that failed.
    pub fn step(&self) -> Step {
        self.step
    }

    /// The path it was called on; while a file is being written, that of the temporary file. If the temporary file
    /// could not be created, such as in a missing folder, the path of the file to write.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The operating system's error.
    pub fn io_error(&self) -> &io::Error {
        &self.source
    }

    /// The operating system's error by value, for callers that name the path themselves.
    pub fn into_io_error(self) -> io::Error {
        self.source
    }

    /// Whether another build is writing the same file.
    pub fn is_busy(&self) -> bool {
        self.step == Step::Lock && self.source.kind() == io::ErrorKind::WouldBlock
    }

    /// Whether there is no such file or folder.
    pub fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let verb = match self.step {
            Step::Lock if self.is_busy() => {
                return write!(f, "another build of this file is running: it holds \"{path}\"");
            }
            Step::Open => "open",
            Step::Map => "map",
            Step::Create => "create",
            Step::Lock => "lock",
            Step::Remove => "remove",
            Step::Write => "write",
            Step::Read => "read back",
            Step::Sync => "sync",
            Step::Rename => "rename",
            Step::List => "list",
            Step::Metadata => "read the metadata of",
            Step::SyncFolder => {
                f.write_str("the file is complete, but a loss of power may undo that: ")?;
                "sync the folder"
            }
        };
        write!(f, "cannot {verb} \"{path}\": {}", self.source)?;
        // The kernel's word for it is that there is no memory.
        if cfg!(target_os = "linux")
            && self.step == Step::Map
            && self.source.kind() == io::ErrorKind::OutOfMemory
        {
            f.write_str("; a process has at most `vm.max_map_count` mappings: raise it, or merge segments")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn too_many_mappings_say_what_to_do() {
        let text = |step| Error::new(step, "a.dv", io::Error::from(io::ErrorKind::OutOfMemory)).to_string();
        assert!(text(Step::Map).ends_with("`vm.max_map_count` mappings: raise it, or merge segments"));
        assert_eq!(text(Step::Read), "cannot read back \"a.dv\": out of memory");
    }
}
