//! The error of all functions that read.

use std::{fmt, io};

use docvalues_format::error::Section;
use docvalues_format::file::kind::{Kind, LogicalType};

/// The result of functions that read.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of opening or reading a segment or a column.
///
/// One pointer wide, so that `Result<Option<i64>>` stays two words wide.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Error, ErrorKind};
///
/// fn is_missing(error: &Error) -> bool {
///     matches!(error.kind(), ErrorKind::NoSuchColumn { .. })
/// }
///
/// let error = Error::from(ErrorKind::NoSuchColumn { file: "hits.dv".into(), field: "size".into() });
/// assert!(is_missing(&error) && !error.is_corrupt());
/// assert_eq!(error.place(), None); // a damaged file has a section and an offset
/// ```
pub struct Error(Box<ErrorKind>);

/// The kind of an [`Error`]. New kinds may be added in any release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file is damaged, truncated, or of another format.
    #[error("{file}: {}{source}", Named(field))]
    Corrupt {
        /// The file.
        file: String,
        /// The column that was read, if it was one.
        field: Option<String>,
        /// The section, the offset in the file, and the damage.
        source: docvalues_format::error::Error,
    },
    /// A file of another format, such as a Lucene index, is damaged, truncated, or of a version that is not read.
    #[error("{file}: {}byte {offset}: {source}", Named(field))]
    CorruptOther {
        /// The file.
        file: String,
        /// The column that was read, if it was one.
        field: Option<String>,
        /// The offset in the file.
        offset: u64,
        /// The damage.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file could not be opened or read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The source has no column of this name.
    #[error("{file}: no column \"{field}\"")]
    NoSuchColumn {
        /// The file.
        file: String,
        /// The requested name.
        field: String,
    },
    /// The column is of another kind.
    #[error("{file}: column \"{field}\" is {}, not {}", found.name(), asked.name())]
    WrongKind {
        /// The file.
        file: String,
        /// The column.
        field: String,
        /// Its kind.
        found: Kind,
        /// The requested kind.
        asked: Kind,
    },
    /// The column is of another logical type.
    #[error("{file}: column \"{field}\" is {}, not {}", found.name(), asked.name())]
    WrongType {
        /// The file.
        file: String,
        /// The column.
        field: String,
        /// Its type.
        found: LogicalType,
        /// The requested type.
        asked: LogicalType,
    },
    /// A source other than a file could not be read.
    #[error("{name}: {source}")]
    Source {
        /// The name of the source, such as an address.
        name: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The dictionary has no term of this ord.
    #[error("column \"{field}\": ord {ord} of a dictionary with {len} terms")]
    NoSuchOrd {
        /// The column.
        field: String,
        /// The requested ord.
        ord: u32,
        /// The number of terms.
        len: u32,
    },
}

struct Named<'a>(&'a Option<String>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(field) => write!(f, "column \"{field}\": "),
            None => Ok(()),
        }
    }
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// Whether the file is damaged, truncated, or of another format.
    pub fn is_corrupt(&self) -> bool {
        matches!(*self.0, ErrorKind::Corrupt { .. } | ErrorKind::CorruptOther { .. })
    }

    /// The damaged section and the offset in the file, if the file is a damaged segment of docvalues.
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
        // Our message includes theirs, for callers that print one line; `source` is for callers that inspect the cause.
        match &*self.0 {
            ErrorKind::Corrupt { source, .. } => Some(source),
            ErrorKind::Io { source, .. } => Some(source),
            ErrorKind::Source { source, .. } | ErrorKind::CorruptOther { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

// As documented on `Error`.
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
