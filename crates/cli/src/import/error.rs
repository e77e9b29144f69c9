//! Errors of inputs, with their place in the file and a hint.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::error::{CliError, Exit};
use crate::text::words::{excerpt, with_text};

/// An error that ended the reading of an input.
#[derive(Debug)]
pub(crate) enum InputError {
    /// A bad row, which can be skipped.
    Bad(Box<BadRow>),
    /// The file cannot be opened or read.
    Unreadable { file: Arc<str>, source: io::Error },
    /// The input as a whole does not fit; skipping rows does not help.
    Refused { message: String, hint: Option<String> },
}

pub(crate) type Result<T, E = InputError> = std::result::Result<T, E>;

/// A row that cannot be converted to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadRow {
    pub(crate) file: Arc<str>,
    pub(crate) place: Place,
    /// A sentence without its full stop.
    pub(crate) problem: String,
    /// The text in error, shortened.
    pub(crate) text: Option<String>,
    /// A hint for the user.
    pub(crate) hint: Option<String>,
    /// Whether a value does not fit the type that the sample gave its column.
    pub(crate) is_misfit: bool,
}

/// The place of a row in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a text file: line and column from 1, the column in bytes.
    Line { line: u64, column: u64 },
    /// In a Parquet or Arrow file: from 0, as documents are numbered.
    #[cfg(feature = "parquet")]
    Row(u64),
}

impl InputError {
    pub(crate) fn refused(message: impl Into<String>, hint: impl Into<String>) -> InputError {
        InputError::Refused { message: message.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn unreadable(file: &Arc<str>, source: io::Error) -> InputError {
        InputError::Unreadable { file: file.clone(), source }
    }

    /// Whether the input pauses. The next call reads on.
    pub(crate) fn is_pause(&self) -> bool {
        let is_pause = |error: &io::Error| error.kind() == PAUSE && error.raw_os_error().is_none();
        matches!(self, InputError::Unreadable { source, .. } if is_pause(source))
    }

    /// The hint for the user.
    pub(crate) fn hint(&self) -> Option<&str> {
        match self {
            InputError::Bad(row) => row.hint.as_deref(),
            InputError::Unreadable { .. } => None,
            InputError::Refused { hint, .. } => hint.as_deref(),
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Bad(row) => row.fmt(f),
            InputError::Unreadable { file, source } => write!(f, "{file}: {source}"),
            InputError::Refused { message, .. } => f.write_str(message),
        }
    }
}

impl BadRow {
    pub(crate) fn new(file: &Arc<str>, line: u64, column: u64, problem: impl Into<String>) -> BadRow {
        BadRow::at(file, Place::Line { line, column }, problem)
    }

    pub(crate) fn at(file: &Arc<str>, place: Place, problem: impl Into<String>) -> BadRow {
        BadRow {
            file: file.clone(),
            place,
            problem: problem.into(),
            text: None,
            hint: None,
            is_misfit: false,
        }
    }

    pub(crate) fn text(mut self, text: &[u8]) -> BadRow {
        self.text = Some(excerpt(text));
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> BadRow {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Line { line, column } => write!(f, "{}:{line}:{column}: ", self.file)?,
            #[cfg(feature = "parquet")]
            Place::Row(row) => write!(f, "{}: row {row} (from 0): ", self.file)?,
        }
        match &self.text {
            Some(text) => f.write_str(&with_text(&self.problem, text)),
            None => f.write_str(&self.problem),
        }
    }
}

impl From<BadRow> for InputError {
    fn from(row: BadRow) -> InputError {
        InputError::Bad(Box::new(row))
    }
}

/// The name of an input in messages.
pub(crate) fn file_name(path: &Path) -> Arc<str> {
    if path.as_os_str() == "-" { "<stdin>".into() } else { path.to_string_lossy().into() }
}

/// The kind of the error of a pause, after which reading goes on. One of the system has a number, too.
pub(super) const PAUSE: io::ErrorKind = io::ErrorKind::TimedOut;

impl From<InputError> for CliError {
    fn from(error: InputError) -> CliError {
        let exit = match error {
            InputError::Unreadable { .. } => Exit::Unreadable,
            InputError::Bad(_) | InputError::Refused { .. } => Exit::Failed,
        };
        let hint = match (&error, error.hint()) {
            (InputError::Bad(_), Some(hint)) if !hint.contains("--skip-bad") => {
                Some(format!("{hint}; or skip bad rows with --skip-bad"))
            }
            (InputError::Bad(_), None) => Some("skip bad rows with --skip-bad".to_owned()),
            (_, hint) => hint.map(str::to_owned),
        };
        CliError { hint, ..CliError::new(exit, error.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_row_says_where_and_what() {
        let row = BadRow::new(&"a.csv".into(), 3, 7, "column \"size\" is i64").text(b"12\tx");
        assert_eq!(row.to_string(), r#"a.csv:3:7: column "size" is i64: "12\tx""#);
    }
}
