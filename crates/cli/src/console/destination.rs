//! The destination of a command's output: standard output, a stream, or a file that is replaced atomically.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _, Read as _, Write};
use std::mem::ManuallyDrop;
#[cfg(unix)]
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Console, Escaped};
use crate::api::store::StoreReader;
use crate::api::{AtomicFile, MAGIC, writer};
use crate::error::{CliError, Exit, Result};
use crate::process::unfinished_files;

/// The number of bytes from which the format of a file is known.
const HEAD: u64 = 512;

/// The maximum number of symbolic links to follow, as in Linux.
const LINKS: usize = 40;

/// The destination of a stream of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard output.
    Stdout,
    /// A device, a pipe, or another descriptor of this process.
    Stream(PathBuf),
    /// A file, which appears when it is complete.
    File(PathBuf),
}

impl Destination {
    /// The destination of `-o`.
    pub(crate) fn of(output: Option<&Path>) -> Result<Destination> {
        let Some(path) = output else { return Ok(Destination::Stdout) };
        if is_stdout(path) {
            return Ok(Destination::Stdout);
        }
        if is_stream(path) {
            return Ok(Destination::Stream(path.to_owned()));
        }
        Ok(Destination::File(followed(path)?))
    }

    /// Calls `write` with a console whose output is this destination. An error of writing to it names it.
    pub(crate) fn write(
        &self,
        console: &mut Console<'_>,
        write: impl FnOnce(&mut Console<'_>) -> Result<()>,
    ) -> Result<()> {
        let (path, written) = match self {
            Destination::Stdout => return write(console),
            Destination::Stream(path) => (path, write_stream(path, console, write)),
            Destination::File(path) => (path, write_file(path, console, write)),
        };
        written.map_err(|failure| match failure.of_output {
            true => CliError { message: format!("{}: {}", path.display(), failure.message), ..failure },
            false => failure,
        })
    }
}

fn write_stream(
    path: &Path,
    console: &mut Console<'_>,
    write: impl FnOnce(&mut Console<'_>) -> Result<()>,
) -> Result<()> {
    let file = open(path).map_err(|error| CliError::file(path.display(), &error))?;
    let (is_terminal, mut out) = (file.is_terminal(), BufWriter::new(file));
    match is_terminal {
        true => write_to(&mut Escaped(&mut out), path, console, write)?,
        false => write_to(&mut out, path, console, write)?,
    }
    Ok(out.flush()?)
}

fn write_file(
    path: &Path,
    console: &mut Console<'_>,
    write: impl FnOnce(&mut Console<'_>) -> Result<()>,
) -> Result<()> {
    unfinished_files::remove_at_end()?;
    let mut file = AtomicFile::create(path).map_err(writer::Error::from)?;
    write_to(&mut file, path, console, write)?;
    Ok(file.commit().map_err(writer::Error::from)?)
}

/// Calls `write` with a console whose output is `out`, packed if the name of the file says so.
fn write_to(
    out: &mut dyn Write,
    path: &Path,
    console: &mut Console<'_>,
    write: impl FnOnce(&mut Console<'_>) -> Result<()>,
) -> Result<()> {
    if !is_packed(path) {
        return console.redirected(out, write);
    }
    // When it is dropped, it writes a trailer: after an error, the stream would look complete.
    let mut packed = ManuallyDrop::new(GzEncoder::new(out, Compression::default()));
    console.redirected(&mut *packed, write)?;
    ManuallyDrop::into_inner(packed).finish()?;
    Ok(())
}

/// Whether a path is standard output. Compares names, because resolving these paths may lead to a deleted file, or to
/// another file of the same name.
pub(crate) fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|stdout| path == Path::new(stdout))
}

/// Fails if a segment cannot go to the output: a file that is no segment is there, or it is standard output, which is a terminal
/// or is to receive JSON as well.
pub(crate) fn refuse_no_segment(output: &Path, json: bool, console: &Console<'_>) -> Result<()> {
    if !is_stdout(output) {
        return refuse_other_format(output, "a segment", |head| head.starts_with(&MAGIC));
    }
    if console.out_width.is_some() {
        return Err(CliError::usage("a segment cannot be printed on a terminal").hint("name a file with -o"));
    }
    if json {
        return Err(
            CliError::usage("--json: the segment goes to standard output").hint("name a file with -o")
        );
    }
    Ok(())
}

/// Whether a path is a device, a pipe, or another descriptor of this process.
pub(crate) fn is_stream(path: &Path) -> bool {
    is_descriptor(path) || path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Whether a path is a descriptor of this process. A descriptor is not replaced, even if it is a file: the shell that
/// opened it continues to write to it.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/proc/self/fd", "/dev/stderr"].iter().any(|descriptors| path.starts_with(descriptors))
}

/// Opens a stream; blocks on a pipe until it has a reader.
fn open(path: &Path) -> io::Result<File> {
    // A descriptor is opened for appending, so that output written before stays. A block device cannot be appended to.
    let append = is_descriptor(path);
    File::options().write(!append).append(append).open(path)
}

/// Resolves symbolic links to the file to replace, so that the links stay. The file need not exist.
pub(crate) fn followed(path: &Path) -> Result<PathBuf> {
    let mut file = path.to_owned();
    // The link of a pipe's descriptor does not lead to a path.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Ok(file);
    }
    for _ in 0..=LINKS {
        let Ok(next) = fs::read_link(&file) else { return Ok(file) };
        file = file.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(CliError::new(Exit::Unreadable, format!("{}: symbolic links form a loop", path.display())))
}

/// Fails if the output is one of the inputs, or a segment in the folder of a store that is one: it would overwrite what is read.
/// The input `-` is standard input.
pub(crate) fn refuse_input(inputs: &[PathBuf], output: &Path) -> Result<()> {
    if is_stdout(output) {
        return Ok(());
    }
    let output = &followed(output)?;
    let is_segment = output.extension().is_some_and(|extension| extension == "dv");
    let folder = output.parent().filter(|_| is_segment).map(|folder| folder.join("."));
    for input in inputs {
        let shown = input.display();
        let message = if is_same(input, output) {
            format!("\"{shown}\" is both an input and the output")
        } else if folder.as_ref().is_some_and(|folder| is_same(input, folder))
            && StoreReader::commits(input).is_ok()
        {
            format!("{}: expected a file outside of the input \"{shown}\"", output.display())
        } else {
            continue;
        };
        return Err(CliError::usage(message).hint("name another file with -o"));
    }
    Ok(())
}

/// Fails if the output is an existing file of another format than `expected`: its first bytes are not those of
/// `is_expected`. An empty file may be replaced.
pub(crate) fn refuse_other_format(
    output: &Path,
    expected: &str,
    is_expected: impl Fn(&[u8]) -> bool,
) -> Result<()> {
    if is_stdout(output) || !output.is_file() {
        return Ok(());
    }
    let mut head = Vec::new();
    let read = File::open(output).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.map_err(|error| CliError::file(output.display(), &error))?;
    if head.is_empty() || is_expected(&head) {
        return Ok(());
    }
    Err(CliError::usage(format!("{}: expected {expected} to replace, found another file", output.display()))
        .hint("the name after -o is that of the file to write; use another name, or remove this file first"))
}

/// Fails if the output exists and is no text, or not packed as its name says.
pub(crate) fn refuse_no_text(output: &Path) -> Result<()> {
    match is_packed(output) {
        true => refuse_other_format(output, "a gzip file", |head| head.starts_with(&[0x1f, 0x8b])),
        false => refuse_other_format(output, "a text file", is_text),
    }
}

/// The name of a file without the extension of gzip.
pub(crate) fn unpacked(path: &Path) -> &Path {
    path.file_stem().filter(|_| is_packed(path)).map_or(path, Path::new)
}

/// Whether a file is packed by gzip, by its name.
pub(crate) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// Whether a file that begins with these bytes is text. A character may be cut at their end.
fn is_text(head: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_utf8 && !head.contains(&0)
}

/// Whether an input and the output are the same file or folder, also through symbolic or hard links.
#[cfg(unix)]
fn is_same(input: &Path, output: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let stdin = || File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata();
    let input = if input == Path::new("-") { stdin() } else { input.metadata() };
    let identity =
        |found: fs::Metadata| (found.is_file() || found.is_dir()).then_some((found.dev(), found.ino()));
    let [input, output] = [input, output.metadata()].map(|found| found.ok().and_then(identity));
    input.is_some() && input == output
}

/// Whether an input and the output are the same file or folder, also through symbolic links. Does not detect hard links.
#[cfg(not(unix))]
fn is_same(input: &Path, output: &Path) -> bool {
    matches!((input.canonicalize(), output.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
