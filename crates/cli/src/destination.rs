//! Where a command writes what it makes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::api::{AtomicFile, writer};
use crate::console::Console;
use crate::error::{CliError, Exit};

/// Symbolic links that may lead to each other: as many as Linux follows.
const LINKS: usize = 40;

/// Where a stream of bytes goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard output.
    Stdout,
    /// What takes bytes as they come: a device, a pipe, another descriptor of this process.
    Stream(PathBuf),
    /// A file, which is there once it is whole.
    File(PathBuf),
}

impl Destination {
    /// What `-o` names.
    pub(crate) fn of(output: Option<&Path>) -> Result<Destination, CliError> {
        let Some(path) = output else { return Ok(Destination::Stdout) };
        // As a path, that of a file which has no name or another's.
        if ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|stdout| path == Path::new(stdout))
        {
            return Ok(Destination::Stdout);
        }
        if is_descriptor(path) || path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Ok(Destination::Stream(path.to_owned()));
        }
        Ok(Destination::File(followed(path)?))
    }

    /// Has something written there.
    pub(crate) fn write(
        &self,
        console: &mut Console<'_>,
        write: impl FnOnce(&mut Console<'_>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        match self {
            Destination::Stdout => write(console),
            Destination::Stream(path) => {
                let mut out =
                    BufWriter::new(open(path).map_err(|error| CliError::file(path.display(), &error))?);
                write(&mut Console { out: &mut out, err: &mut *console.err, out_width: None, ..*console })?;
                Ok(out.flush()?)
            }
            Destination::File(path) => {
                let mut file = AtomicFile::create(path).map_err(writer::Error::from)?;
                write(&mut Console { out: &mut file, err: &mut *console.err, out_width: None, ..*console })?;
                Ok(file.commit().map_err(writer::Error::from)?)
            }
        }
    }
}

/// Whether a path is that of something this process has open. If that is a file, the shell that opened it goes on in it.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/proc/self/fd", "/dev/stderr"].iter().any(|descriptors| path.starts_with(descriptors))
}

/// Opens a stream; a pipe waits for who reads it.
fn open(path: &Path) -> io::Result<File> {
    // To the end of a disk nothing can be appended.
    let append = is_descriptor(path);
    File::options().write(!append).append(append).open(path)
}

/// The file that a path leads to through symbolic links, there or not: these stay, and it is made anew.
pub(crate) fn followed(path: &Path) -> Result<PathBuf, CliError> {
    let mut file = path.to_owned();
    // Links to pipes lead to no path.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Ok(file);
    }
    for _ in 0..=LINKS {
        let Ok(next) = fs::read_link(&file) else { return Ok(file) };
        file = file.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(CliError::new(Exit::Unreadable, format!("{}: its links lead in a circle", path.display())))
}

/// A file over one of its inputs would destroy what it was made of.
pub(crate) fn refuse_input(inputs: &[PathBuf], output: &Path) -> Result<(), CliError> {
    match inputs.iter().find(|input| is_same(input, output)) {
        None => Ok(()),
        Some(input) => Err(CliError::usage(format!("{} is an input and the output", input.display()))
            .hint("name another file with -o")),
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
