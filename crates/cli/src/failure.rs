//! Why a command failed, as people and scripts are told.

use std::fmt;
use std::io;

use crate::input::error::InputError;
use crate::store::{self, Damage, Error, SearchError, Section};

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
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) advice: Option<String>,
    /// Who read our output has gone: nothing is to be said.
    pub(crate) quiet: bool,
    /// One column is damaged, and no better is known than to read others.
    pub(crate) damaged_column: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure { exit, message: message.into(), advice: None, quiet: false, damaged_column: false }
    }

    /// Something is damaged, bad, or not found.
    pub(crate) fn failed(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Failed, message)
    }

    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// A file cannot be read or written.
    pub(crate) fn file(name: impl fmt::Display, error: &io::Error) -> Failure {
        Failure::new(Exit::Unreadable, format!("{name}: {error}"))
    }

    pub(crate) fn advice(mut self, advice: impl Into<String>) -> Failure {
        self.advice = Some(advice.into());
        // Who knows better has said it.
        self.damaged_column = false;
        self
    }

    /// Of a command that does without a column, if --columns names others.
    pub(crate) fn or_columns(self) -> Failure {
        if !self.damaged_column {
            return self;
        }
        self.advice("other columns can still be read (--columns); `dv check` tells all that is damaged")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dv: {}", self.message)?;
        match &self.advice {
            Some(advice) => write!(f, "\n    hint: {advice}"),
            None => Ok(()),
        }
    }
}

/// Writing the output failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        let quiet = error.kind() == io::ErrorKind::BrokenPipe;
        let exit = if quiet { Exit::Ok } else { Exit::Unreadable };
        Failure { quiet, ..Failure::new(exit, format!("cannot write the output: {error}")) }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Failure {
        let exit = match error {
            InputError::Unreadable { .. } => Exit::Unreadable,
            InputError::Bad(_) | InputError::Refused { .. } => Exit::Failed,
        };
        let advice = match (&error, error.advice()) {
            (InputError::Bad(_), Some(advice)) if !advice.contains("--skip-bad") => {
                Some(format!("{advice}. Or leave such rows out with --skip-bad"))
            }
            (InputError::Bad(_), None) => Some("leave such rows out with --skip-bad".to_owned()),
            (_, advice) => advice.map(str::to_owned),
        };
        Failure { advice, ..Failure::new(exit, error.to_string()) }
    }
}

/// Reading a segment failed.
impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::from(&error)
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Failure {
        let failure = Failure::new(exit_of(error), error.to_string());
        match error.kind() {
            store::ErrorKind::Corrupt { field: Some(_), .. } => {
                let advice = "other columns can still be read; `dv check` tells all that is damaged";
                Failure { damaged_column: true, ..failure.advice(advice) }
            }
            store::ErrorKind::Corrupt { source, .. } => match source.kind() {
                Damage::Magic { .. } if source.section() == Section::Header => {
                    failure.advice("`dv build` makes a segment of CSV, TSV or NDJSON")
                }
                Damage::Magic { .. } | Damage::Truncated { .. } => {
                    failure.advice("its end is missing: was it copied whole?")
                }
                _ => failure,
            },
            _ => failure,
        }
    }
}

/// Asking a segment failed.
impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Failure {
        match error {
            SearchError::Column(error) => Failure::from(error),
            SearchError::Query(error) => {
                let exit = if error.no_such_column().is_some() { Exit::Failed } else { Exit::Usage };
                let failure = Failure::new(exit, error.to_string());
                let Some(caret) = error.caret() else { return failure };
                // What is wrong stands in the first line, and need not behind the mark.
                let mark = caret.strip_suffix(error.message()).unwrap_or(&caret).trim_end();
                Failure { message: format!("{}\n{mark}", failure.message), ..failure }
            }
            error @ SearchError::Request(_) => Failure::usage(error.to_string()),
            error => Failure::failed(error.to_string()),
        }
    }
}

/// What the process returns when a segment cannot be read for this reason.
pub(crate) fn exit_of(error: &Error) -> Exit {
    match error.kind() {
        store::ErrorKind::Corrupt { source, .. } if is_foreign(source) => Exit::Unreadable,
        store::ErrorKind::Io { .. } => Exit::Unreadable,
        _ => Exit::Failed,
    }
}

/// Whether the file is not a damaged segment but something else, or one of another release.
fn is_foreign(error: &store::Refusal) -> bool {
    match error.kind() {
        Damage::TooNew { .. } | Damage::TooOld { .. } | Damage::UnknownFeatures { .. } => true,
        Damage::Magic { .. } => error.section() == Section::Header,
        _ => false,
    }
}

impl From<store::writer::Error> for Failure {
    fn from(error: store::writer::Error) -> Failure {
        use store::writer::ErrorKind;
        let named = |failure: Failure| match error.field() {
            Some(field) => Failure { message: format!("column {field:?}: {}", failure.message), ..failure },
            None => failure,
        };
        match error.kind() {
            ErrorKind::Budget { .. } => {
                Failure::failed("the values of a row take more memory than --memory allows")
                    .advice("raise it, such as --memory 8GiB")
            }
            ErrorKind::Storage(storage) => Failure::new(Exit::Unreadable, storage.to_string()),
            ErrorKind::TooManyDocs { max } => {
                Failure::failed(format!("more than {max} documents")).advice("build several segments")
            }
            ErrorKind::TooManyFields { max } => {
                named(Failure::failed(format!("more than {max} columns"))).advice("build several segments")
            }
            // All columns are needed.
            ErrorKind::Read(error) if error.place().is_some() => {
                Failure::new(exit_of(error), error.to_string()).advice("`dv check` tells all that is damaged")
            }
            ErrorKind::Read(error) => Failure::from(error),
            ErrorKind::Differ { sources, kinds, types } => {
                let [a, b] = [0, 1].map(|i| {
                    format!("{} values of type {} in {}", kinds[i].name(), types[i].name(), sources[i])
                });
                let advice = if error.kind().can_promote() {
                    "--promote makes them one type, if no value changes"
                } else {
                    "build the segments with the same --type of it"
                };
                named(Failure::failed(format!("{a}, {b}"))).advice(advice)
            }
            ErrorKind::Inexact { .. } | ErrorKind::Source { .. } => {
                named(Failure::failed(error.kind().to_string()))
            }
            ErrorKind::MissingColumn { sources: [has, lacks] } => {
                named(Failure::failed(format!("in {has}, not in {lacks}")))
                    .advice("without --same-columns, its documents have no value")
            }
            _ => Failure::failed(error.to_string()),
        }
    }
}
