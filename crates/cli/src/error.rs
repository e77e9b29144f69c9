//! Errors of commands: a message, a hint for the user, and the exit code.

use std::fmt;
use std::io;
use std::path::Path;

use crate::api::{self, Error, FormatErrorKind, SearchError};

/// The exit code of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    #[default]
    Ok = 0,
    /// A segment is damaged, a row is bad, or something was not found.
    Failed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file cannot be read or written.
    Unreadable = 3,
    /// A replica lacks batches before those that came.
    Gap = 4,
    /// A replica and its leader do not have the same batches.
    Diverged = 5,
    /// Ended by SIGINT, as of Ctrl-C.
    Interrupted = 130,
    /// Ended by SIGTERM.
    Terminated = 143,
}

/// The result of a step of a command.
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

/// An error with a hint on how to resolve it, and an exit code.
#[derive(Debug, Default)]
pub(crate) struct CliError {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The reader of the output has closed the pipe, so no error is printed.
    pub(crate) quiet: bool,
    /// One column is damaged, and the only hint is to read other columns.
    pub(crate) damaged_column: bool,
    /// Writing the output failed, but not the command.
    pub(crate) of_output: bool,
}

impl CliError {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> CliError {
        CliError { exit, message: message.into(), ..CliError::default() }
    }

    /// Something is damaged, bad, or not found.
    pub(crate) fn failed(message: impl Into<String>) -> CliError {
        CliError::new(Exit::Failed, message)
    }

    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> CliError {
        CliError::new(Exit::Usage, message)
    }

    /// A file cannot be read or written.
    pub(crate) fn file(name: impl fmt::Display, error: &io::Error) -> CliError {
        CliError::new(Exit::Unreadable, format!("{name}: {error}"))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> CliError {
        self.hint = Some(hint.into());
        // The caller has a better hint than the one on damaged columns.
        self.damaged_column = false;
        self
    }

    /// The error with this exit code, unless its own is greater.
    pub(crate) fn at_least(self, exit: Exit) -> CliError {
        CliError { exit: self.exit.max(exit), ..self }
    }

    /// Adds a hint on `--columns` to an error on a damaged column, for commands that take this option.
    pub(crate) fn or_columns(self) -> CliError {
        if !self.damaged_column {
            return self;
        }
        self.hint("other columns can still be read with --columns; `dv check` lists all damage")
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dv: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n    hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Writing the output failed.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        let quiet = error.kind() == io::ErrorKind::BrokenPipe;
        let exit = if quiet { Exit::Ok } else { Exit::Unreadable };
        CliError {
            quiet,
            of_output: true,
            ..CliError::new(exit, format!("cannot write the output: {error}"))
        }
    }
}

/// Reading a segment failed.
impl From<Error> for CliError {
    fn from(error: Error) -> CliError {
        CliError::from(&error)
    }
}

impl From<&Error> for CliError {
    fn from(error: &Error) -> CliError {
        let failure = CliError::new(exit_of(error), error.to_string());
        match error.kind() {
            api::ErrorKind::Corrupt { field: Some(_), source, .. } if !is_foreign(source) => {
                let hint = "other columns can still be read; `dv check` lists all damage";
                CliError { damaged_column: true, ..failure.hint(hint) }
            }
            api::ErrorKind::Corrupt { source, .. } => match source.kind() {
                FormatErrorKind::TooShort { .. } | FormatErrorKind::NoFooter { .. } => {
                    failure.hint("copy the file again, or build it again")
                }
                FormatErrorKind::Truncated { .. } => {
                    failure.hint("the end of the file is missing; copy it again")
                }
                _ => failure,
            },
            _ => failure,
        }
    }
}

/// An index of Lucene cannot be opened or read.
#[cfg(feature = "lucene")]
impl From<api::lucene::Error> for CliError {
    fn from(error: api::lucene::Error) -> CliError {
        use api::lucene::ErrorKind;
        let unreadable = || CliError::new(Exit::Unreadable, error.to_string());
        match error.kind() {
            ErrorKind::Type { .. } => {
                CliError::usage(error.to_string()).hint("--lucene-type has the types of fields")
            }
            ErrorKind::Codec { .. } | ErrorKind::Format { .. } | ErrorKind::Version { .. } => unreadable()
                .hint("docs/lucene.md lists what is read; Lucene's IndexUpgrader writes older indexes anew"),
            ErrorKind::Release { .. } => unreadable().hint("docs/lucene.md lists what is read"),
            ErrorKind::Io(_) | ErrorKind::NoCommit | ErrorKind::Postings { .. } => unreadable(),
            ErrorKind::ManyDocs { .. } => CliError::failed(error.to_string()),
            _ => CliError::failed(error.to_string()).hint("`dv check` lists all damage"),
        }
    }
}

/// Asking a segment failed.
impl From<SearchError> for CliError {
    fn from(error: SearchError) -> CliError {
        match error {
            SearchError::Column(error) => CliError::from(error),
            SearchError::Query(error) => {
                let exit = if error.no_such_column().is_some() { Exit::Failed } else { Exit::Usage };
                let failure = CliError::new(exit, error.to_string());
                let Some(caret) = error.caret() else { return failure };
                // The first line has the message, so the line with the mark does not repeat it.
                let mark = caret.strip_suffix(error.message()).unwrap_or(&caret).trim_end();
                CliError { message: format!("{}\n{mark}", failure.message), ..failure }
            }
            error @ SearchError::Request(_) => CliError::usage(error.to_string()),
            error => CliError::failed(error.to_string()),
        }
    }
}

const NO_STORE: &str = "a store is a folder, which `dv store create` makes";

/// Returns what a store's path names instead of a folder.
fn no_folder(error: &api::writer::StorageError) -> Option<&'static str> {
    match error.io_error().kind() {
        io::ErrorKind::NotADirectory => Some("a file"),
        io::ErrorKind::NotFound if error.step() == api::writer::Step::List => Some("nothing"),
        _ => None,
    }
}

/// A call of a store failed.
impl From<api::store::Error> for CliError {
    fn from(error: api::store::Error) -> CliError {
        use api::store::Error as StoreError;
        let unreadable = |error: &StoreError| CliError::new(Exit::Unreadable, error.to_string());
        match error {
            StoreError::Read(error) => CliError::from(error),
            StoreError::Write(error) => CliError::from(error),
            StoreError::Search(error) => CliError::from(error),
            StoreError::NoStore { ref folder } if !Path::new(folder).exists() => {
                let why = format!("{folder}: expected the folder of a store, found nothing");
                CliError::new(Exit::Unreadable, why).hint(NO_STORE)
            }
            StoreError::NoStore { .. } => unreadable(&error).hint(NO_STORE),
            StoreError::Storage(ref storage) => match no_folder(storage) {
                Some(found) => {
                    let why = format!("{}: expected the folder of a store, found {found}", storage.path().display());
                    CliError::new(Exit::Unreadable, why).hint(NO_STORE)
                }
                None => unreadable(&error),
            },
            StoreError::Version { .. } => unreadable(&error),
            StoreError::Busy { .. } => unreadable(&error).hint("wait until it is done"),
            StoreError::Poisoned { .. } => unreadable(&error).hint("run the command again"),
            StoreError::Exists { .. } => {
                CliError::failed(error.to_string()).hint("`dv put` adds documents to it")
            }
            StoreError::Damaged { .. } => CliError::failed(error.to_string()).hint(
                "`dv check` lists all damage, `dv commits` the commits to which `dv recover` can go back",
            ),
            StoreError::LostBatches { first, .. } => CliError::failed(error.to_string())
                .hint(format!("--discard-log={first} loses them; `dv commits` lists other commits")),
            StoreError::DamagedDepot { .. } => {
                CliError::failed(error.to_string()).hint("`dv replicate --to` of the leader puts damaged files again")
            }
            StoreError::NoCommit { .. } => {
                CliError::failed(error.to_string()).hint("`dv commits` lists them; --keep-commits keeps more")
            }
            StoreError::TooOld { .. } => CliError::failed(error.to_string()).hint(
                "`dv export` prints all documents of a commit, and `dv commits` its last batch (sequence), from which --from goes on",
            ),
            StoreError::NoFrames { .. } => {
                CliError::failed(error.to_string()).hint("`dv put --keep-frames` keeps batches after they are committed")
            }
            StoreError::Gap { .. } => CliError::new(Exit::Gap, error.to_string())
                .hint("send from the batch that `dv replica --position` prints"),
            StoreError::Diverged { .. } | StoreError::OtherStore { .. } => {
                CliError::new(Exit::Diverged, error.to_string())
                    .hint("an empty folder begins anew; `dv replicate --from 0 | dv replica --discard` takes the leader's state")
            }
            StoreError::LaterEpoch { .. } => CliError::new(Exit::Diverged, error.to_string())
                .hint("use an empty folder, or --discard if batches that only the folder has may be lost"),
            StoreError::OldEpoch { .. } => CliError::new(Exit::Diverged, error.to_string())
                .hint("the leader was replaced by another one, from which replicas go on"),
            StoreError::Stream(_) => unreadable(&error).hint("run the command again; a pipe begins at what `dv replica --position` prints"),
            StoreError::IsReplica { .. } => {
                CliError::failed(error.to_string()).hint("`dv replica --promote` makes it a store of its own")
            }
            StoreError::Schema { field, why } => CliError::failed(format!("column {field:?}: {why}")),
            error => CliError::failed(error.to_string()),
        }
    }
}

/// The exit code for an error of reading a segment.
pub(crate) fn exit_of(error: &Error) -> Exit {
    match error.kind() {
        api::ErrorKind::Corrupt { source, .. } if is_foreign(source) => Exit::Unreadable,
        api::ErrorKind::Io { .. } => Exit::Unreadable,
        _ => Exit::Failed,
    }
}

/// Whether the file is no segment at all, or one that this release cannot read.
fn is_foreign(error: &api::FormatError) -> bool {
    matches!(
        error.kind(),
        FormatErrorKind::Magic { .. }
            | FormatErrorKind::TooNew { .. }
            | FormatErrorKind::TooOld { .. }
            | FormatErrorKind::UnknownFeatures { .. }
            | FormatErrorKind::Retired(_)
    )
}

impl From<api::writer::Error> for CliError {
    fn from(error: api::writer::Error) -> CliError {
        use api::writer::ErrorKind;
        let named = |failure: CliError| match error.field() {
            Some(field) => CliError { message: format!("column {field:?}: {}", failure.message), ..failure },
            None => failure,
        };
        match error.kind() {
            ErrorKind::Budget { .. } => {
                CliError::failed("the values of a row take more memory than --memory allows")
                    .hint("raise it, such as --memory 8GiB")
            }
            ErrorKind::Storage(storage) if storage.io_error().kind() == io::ErrorKind::BrokenPipe => {
                CliError::from(io::Error::from(io::ErrorKind::BrokenPipe))
            }
            ErrorKind::Storage(storage) => CliError::new(Exit::Unreadable, storage.to_string()),
            ErrorKind::TooManyDocs { max } => {
                CliError::failed(format!("a segment holds at most {max} documents"))
                    .hint("build several segments")
            }
            ErrorKind::TooManyFields { max } => {
                named(CliError::failed(format!("a segment has at most {max} columns")))
                    .hint("build several segments")
            }
            // A merge needs all columns, so there is no hint to read others.
            ErrorKind::Read(error) if error.place().is_some() => {
                CliError::new(exit_of(error), error.to_string()).hint("`dv check` lists all damage")
            }
            ErrorKind::Read(error) => CliError::from(error),
            ErrorKind::Differ { sources, kinds, types } => {
                let [a, b] = [0, 1].map(|i| {
                    format!("{} values of type {} in \"{}\"", kinds[i].name(), types[i].name(), sources[i])
                });
                let hint = if error.kind().can_promote() {
                    "--promote converts them to one type if no value changes"
                } else {
                    "build the segments with the same --type for this column"
                };
                named(CliError::failed(format!("{a}, {b}"))).hint(hint)
            }
            ErrorKind::Inexact { .. } | ErrorKind::Source { .. } => {
                named(CliError::failed(error.kind().to_string()))
            }
            _ => CliError::failed(error.to_string()),
        }
    }
}
