//! The one error of everything that reads.

use std::{fmt, io};

use docvalues_format::error::Section;
use docvalues_format::file::kind::{Kind, LogicalType};

/// Shorthand for what every reading function returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a segment or a column could not be read.
///
/// One pointer wide, so that `Result<Option<i64>>` stays two words and costs nothing while all is
/// well.
pub struct Error(Box<ErrorKind>);

/// What went wrong. New kinds may be added in any release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Bytes of the file are not what a segment holds there: damaged, cut, or of another format.
    #[error("{file}: {}{source}", Named(field))]
    Corrupt {
        /// The file.
        file: String,
        /// The column that was read, where it was one.
        field: Option<String>,
        /// The section, the offset in the file, and what was found there.
        source: docvalues_format::error::Error,
    },
    /// The file could not be opened or read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// There is no such column.
    #[error("{file}: no column `{field}`")]
    NoSuchColumn {
        /// The file.
        file: String,
        /// The name that was asked for.
        field: String,
    },
    /// The column is of another kind.
    #[error("{file}: column `{field}` is {}, not {}", found.name(), asked.name())]
    WrongKind {
        /// The file.
        file: String,
        /// The column.
        field: String,
        /// What it is.
        found: Kind,
        /// What it was opened as.
        asked: Kind,
    },
    /// The column is of another logical type.
    #[error("{file}: column `{field}` is {}, not {}", found.name(), asked.name())]
    WrongType {
        /// The file.
        file: String,
        /// The column.
        field: String,
        /// What it is.
        found: LogicalType,
        /// The type that its values were asked for as.
        asked: LogicalType,
    },
    /// A source of another engine, or behind a network, could not be read.
    #[error("{name}: {source}")]
    Source {
        /// What the source is called: a file, an address.
        name: String,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A dictionary was asked for an ord it does not have.
    #[error("column `{field}`: ord {ord} of a dictionary with {len} terms")]
    NoSuchOrd {
        /// The column.
        field: String,
        /// The ord that was asked for.
        ord: u32,
        /// How many terms there are.
        len: u32,
    },
}

struct Named<'a>(&'a Option<String>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(field) => write!(f, "column `{field}`: "),
            None => Ok(()),
        }
    }
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// Whether the file itself is at fault: damaged, cut, or of another format.
    pub fn is_corrupt(&self) -> bool {
        matches!(*self.0, ErrorKind::Corrupt { .. })
    }

    /// The section and the offset in the file, where the file is at fault.
    pub fn place(&self) -> Option<(Section, u64)> {
        match &*self.0 {
            ErrorKind::Corrupt { source, .. } => Some((source.section(), source.offset())),
            _ => None,
        }
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Error {
        Error(Box::new(kind))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // Their texts are part of ours, for those who print one line; the errors themselves are for those who ask what they are.
        match &*self.0 {
            ErrorKind::Corrupt { source, .. } => Some(source),
            ErrorKind::Io { source, .. } => Some(source),
            ErrorKind::Source { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

// The promise of the type's first paragraph.
const _: () = assert!(size_of::<Result<Option<i64>>>() <= 16);

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_error_of_the_operating_system_is_its_source() {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = Error::from(ErrorKind::Io { file: "a.dv".into(), source });
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>()).unwrap();
        assert_eq!(source.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(error.to_string(), format!("a.dv: {source}"));
    }
}
