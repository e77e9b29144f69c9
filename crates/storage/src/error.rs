//! Which call failed, on which path.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Shorthand for what opening and publishing return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The operating system refused something.
///
/// Damaged bytes are not this error but `docvalues_format`'s.
#[derive(Debug)]
pub struct Error {
    step: Step,
    path: PathBuf,
    source: io::Error,
}

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Opening a file to read it.
    Open,
    /// Mapping a file.
    Map,
    /// Creating the temporary file, or taking over the one that a killed build left behind.
    Create,
    /// Making sure that no other build writes the temporary file.
    /// With [`WouldBlock`](io::ErrorKind::WouldBlock), one does.
    Lock,
    /// Removing a temporary file that a killed build left behind.
    Remove,
    /// Writing the temporary file.
    Write,
    /// Reading back what was written to a temporary file.
    Read,
    /// Bringing the temporary file's bytes to the disk.
    Sync,
    /// Giving the temporary file its final name.
    Rename,
    /// Bringing the new name to the disk. The file stands under its final name, whole, but a loss of
    /// power may still undo that.
    SyncFolder,
}

impl Error {
    /// An error of what was being done to `path`.
    pub fn new(step: Step, path: impl Into<PathBuf>, source: io::Error) -> Error {
        Error { step, path: path.into(), source }
    }

    /// What was being done.
    pub fn step(&self) -> Step {
        self.step
    }

    /// The path it was done to: while a file is being written, that of the temporary file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the operating system said.
    pub fn io_error(&self) -> &io::Error {
        &self.source
    }

    /// What the operating system said, by value: for errors that name the path themselves.
    pub fn into_io_error(self) -> io::Error {
        self.source
    }

    /// Whether another build is writing the same file right now.
    pub fn is_busy(&self) -> bool {
        self.step == Step::Lock && self.source.kind() == io::ErrorKind::WouldBlock
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let verb = match self.step {
            Step::Lock if self.is_busy() => {
                return write!(f, "another build of this file is running: it holds `{path}`");
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
            Step::SyncFolder => {
                f.write_str("the file is complete, but a loss of power may undo that: ")?;
                "sync the folder"
            }
        };
        write!(f, "cannot {verb} `{path}`: {}", self.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
