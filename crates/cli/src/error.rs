//! Why a command failed, as people and scripts are told.

use std::fmt;
use std::io;

use crate::api::{self, Error, FormatErrorKind, SearchError, Section};
use crate::input::error::InputError;

/// What the process returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    #[default]
    Ok = 0,
    /// Damaged, bad, or not found.
    Failed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file cannot be read or written.
    Unreadable = 3,
}

/// An error with what to do about it and what the process returns.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// Who read our output has gone: nothing is to be said.
    pub(crate) quiet: bool,
    /// One column is damaged, and no better is known than to read others.
    pub(crate) damaged_column: bool,
}

impl CliError {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> CliError {
        CliError { exit, message: message.into(), hint: None, quiet: false, damaged_column: false }
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
        // Who knows better has said it.
        self.damaged_column = false;
        self
    }

    /// Of a command that does without a column, if --columns names others.
    pub(crate) fn or_columns(self) -> CliError {
        if !self.damaged_column {
            return self;
        }
        self.hint("other columns can still be read (--columns); `dv check` tells all that is damaged")
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
        CliError { quiet, ..CliError::new(exit, format!("cannot write the output: {error}")) }
    }
}

impl From<InputError> for CliError {
    fn from(error: InputError) -> CliError {
        let exit = match error {
            InputError::Unreadable { .. } => Exit::Unreadable,
            InputError::Bad(_) | InputError::Refused { .. } => Exit::Failed,
        };
        let hint = match (&error, error.hint()) {
            (InputError::Bad(_), Some(hint)) if !hint.contains("--skip-bad") => {
                Some(format!("{hint}. Or leave such rows out with --skip-bad"))
            }
            (InputError::Bad(_), None) => Some("leave such rows out with --skip-bad".to_owned()),
            (_, hint) => hint.map(str::to_owned),
        };
        CliError { hint, ..CliError::new(exit, error.to_string()) }
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
            api::ErrorKind::Corrupt { field: Some(_), .. } => {
                let hint = "other columns can still be read; `dv check` tells all that is damaged";
                CliError { damaged_column: true, ..failure.hint(hint) }
            }
            api::ErrorKind::Corrupt { source, .. } => match source.kind() {
                FormatErrorKind::Magic { .. } if source.section() == Section::Header => {
                    failure.hint("`dv build` makes a segment of CSV, TSV or NDJSON")
                }
                FormatErrorKind::Magic { .. } | FormatErrorKind::Truncated { .. } => {
                    failure.hint("its end is missing: was it copied whole?")
                }
                _ => failure,
            },
            _ => failure,
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
                // What is wrong stands in the first line, and need not behind the mark.
                let mark = caret.strip_suffix(error.message()).unwrap_or(&caret).trim_end();
                CliError { message: format!("{}\n{mark}", failure.message), ..failure }
            }
            error @ SearchError::Request(_) => CliError::usage(error.to_string()),
            error => CliError::failed(error.to_string()),
        }
    }
}

/// What the process returns when a segment cannot be read for this reason.
pub(crate) fn exit_of(error: &Error) -> Exit {
    match error.kind() {
        api::ErrorKind::Corrupt { source, .. } if is_foreign(source) => Exit::Unreadable,
        api::ErrorKind::Io { .. } => Exit::Unreadable,
        _ => Exit::Failed,
    }
}

/// Whether the file is not a damaged segment but something else, or one of another release.
fn is_foreign(error: &api::FormatError) -> bool {
    match error.kind() {
        FormatErrorKind::TooNew { .. }
        | FormatErrorKind::TooOld { .. }
        | FormatErrorKind::UnknownFeatures { .. } => true,
        FormatErrorKind::Magic { .. } => error.section() == Section::Header,
        _ => false,
    }
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
            ErrorKind::Storage(storage) => CliError::new(Exit::Unreadable, storage.to_string()),
            ErrorKind::TooManyDocs { max } => {
                CliError::failed(format!("more than {max} documents")).hint("build several segments")
            }
            ErrorKind::TooManyFields { max } => {
                named(CliError::failed(format!("more than {max} columns"))).hint("build several segments")
            }
            // All columns are needed.
            ErrorKind::Read(error) if error.place().is_some() => {
                CliError::new(exit_of(error), error.to_string()).hint("`dv check` tells all that is damaged")
            }
            ErrorKind::Read(error) => CliError::from(error),
            ErrorKind::Differ { sources, kinds, types } => {
                let [a, b] = [0, 1].map(|i| {
                    format!("{} values of type {} in {}", kinds[i].name(), types[i].name(), sources[i])
                });
                let hint = if error.kind().can_promote() {
                    "--promote makes them one type, if no value changes"
                } else {
                    "build the segments with the same --type of it"
                };
                named(CliError::failed(format!("{a}, {b}"))).hint(hint)
            }
            ErrorKind::Inexact { .. } | ErrorKind::Source { .. } => {
                named(CliError::failed(error.kind().to_string()))
            }
            ErrorKind::MissingColumn { sources: [has, lacks] } => {
                named(CliError::failed(format!("in {has}, not in {lacks}")))
                    .hint("without --same-columns, its documents have no value")
            }
            _ => CliError::failed(error.to_string()),
        }
    }
}
