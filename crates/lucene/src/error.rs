//! The error of this crate: a file of an index, a byte in it, and what is wrong there.

use std::{fmt, io};

use crate::codec::{NEWEST, NEWEST_RELEASE};

/// The result of opening and reading an index.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An index cannot be opened or read.
///
/// One pointer wide. Its message names the file and the byte.
///
/// ```
/// use docvalues_lucene::{ErrorKind, Index};
///
/// let folder = tempfile::tempdir()?;
/// let error = Index::open(folder.path()).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::NoCommit));
/// assert_eq!(error.file(), folder.path().display().to_string());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    file: String,
    offset: u64,
    kind: ErrorKind,
}

/// The kind of an [`Error`]. New kinds may be added in any release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file could not be opened or read.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// The directory has no commit.
    #[error("expected a Lucene index, found no file segments_N")]
    NoCommit,
    /// The name of a file leads out of the directory, or is none that Lucene gives.
    #[error("expected the name of a file of Lucene, found {0:?}")]
    FileName(String),
    /// The file, or a part of it, ends too early.
    #[error("expected {needed} bytes, found {left}")]
    Truncated {
        /// The bytes that are needed.
        needed: u64,
        /// The bytes that are left.
        left: u64,
    },
    /// The first bytes are not those of a file of Lucene.
    #[error("expected a file of Lucene, found other first bytes")]
    Magic,
    /// The file has other contents than its name says, or a layout that is not read.
    #[error("expected {expected}, found {found}")]
    Contents {
        /// The name of the expected contents.
        expected: &'static str,
        /// The name in the file.
        found: String,
    },
    /// The version of the file is not read. A newer version is from a newer release of Lucene.
    #[error("{name}: expected version {oldest} to {newest}, found {found}")]
    Version {
        /// The name of the contents.
        name: &'static str,
        /// The version in the file.
        found: i32,
        /// The oldest version that is read.
        oldest: i32,
        /// The newest version that is read.
        newest: i32,
    },
    /// The file belongs to another segment, or to another generation of it.
    #[error("the file belongs to another segment or generation")]
    OtherSegment,
    /// The last bytes are not those of a footer: the file is cut off or damaged.
    #[error("expected a footer, found other last bytes: the file is cut off or damaged")]
    Footer,
    /// The checksum of the file differs from the stored one.
    #[error("expected checksum {expected:08x}, found {found:08x}: the file is damaged")]
    Checksum {
        /// The stored checksum.
        expected: u32,
        /// The checksum of the bytes.
        found: u32,
    },
    /// A newer release of Lucene than those that are read wrote the index or the segment.
    #[error(
        "expected Lucene {} or earlier, found {}{}",
        dotted(&NEWEST_RELEASE),
        dotted(.found),
        because(.cause.as_deref())
    )]
    Release {
        /// The release: major, minor and bugfix.
        found: [i32; 3],
        /// What is new in a newer minor release. `None` if the major release is newer, as then nothing is read.
        cause: Option<Box<ErrorKind>>,
    },
    /// The codec of a segment is not read.
    #[error(
        "segment {segment}: unsupported codec {codec:?}; those of Lucene up to {newest} are read",
        newest = NEWEST
    )]
    Codec {
        /// The segment.
        segment: String,
        /// Its codec.
        codec: String,
    },
    /// The doc values of a field have a format that is not read. Other fields are.
    #[error("column {field:?}: unsupported doc values format {format:?}")]
    Format {
        /// The field.
        field: String,
        /// Its format.
        format: String,
    },
    /// The doc values of a field have overlays of terms, of another type than the values below, or of more than 67 million
    /// values. Other fields are read.
    #[error("column {field:?}: unsupported overlays of doc values")]
    Overlays {
        /// The field.
        field: String,
    },
    /// The postings of a field have a format that is not read.
    #[error("column {field:?}: unsupported postings format {format:?}")]
    Postings {
        /// The field.
        field: String,
        /// Its format.
        format: String,
    },
    /// A term that is looked up has many documents; only terms of few documents, such as ids, are.
    #[error("expected a term of few documents, such as an id, found one of {docs}")]
    ManyDocs {
        /// The number of its documents.
        docs: u32,
    },
    /// A field cannot be read as the type that was asked for.
    #[error("column {field:?}: expected doc values of type {asked}, found {found}")]
    Type {
        /// The field.
        field: String,
        /// The type that was asked for.
        asked: &'static str,
        /// The type of its doc values.
        found: &'static str,
    },
    /// A number lies outside of its range.
    #[error("{what}: expected {least} to {most}, found {found}")]
    OutOfRange {
        /// The number, in words.
        what: &'static str,
        /// The number found.
        found: i64,
        /// The least number allowed.
        least: i64,
        /// The greatest number allowed.
        most: i64,
    },
    /// A rule of the format is broken.
    #[error("{0}")]
    Broken(&'static str),
}

impl ErrorKind {
    /// Whether what is found is not read, and nothing is damaged.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(
            self,
            ErrorKind::Release { .. }
                | ErrorKind::Codec { .. }
                | ErrorKind::Format { .. }
                | ErrorKind::Overlays { .. }
                | ErrorKind::Type { .. }
                | ErrorKind::Postings { .. }
                | ErrorKind::ManyDocs { .. }
        )
    }
}

impl Error {
    /// An error at byte `offset` of `file`.
    #[cold]
    pub(crate) fn new(file: impl Into<String>, offset: u64, kind: ErrorKind) -> Error {
        Error(Box::new(Inner { file: file.into(), offset, kind }))
    }

    /// The path of the file or directory.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// The byte of the file, counted in the member if the file is compound; 0 if the whole file is meant.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Whether there is no such file: a commit may have removed it.
    pub fn is_missing(&self) -> bool {
        matches!(&self.0.kind, ErrorKind::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// This error in an index or a segment of the release `lucene`: what is not known is new in it, if it is newer than those that
    /// are read.
    pub(crate) fn of_release(self, lucene: [i32; 3]) -> Error {
        let Inner { file, offset, kind } = *self.0;
        let is_unknown = match &kind {
            ErrorKind::Codec { .. } | ErrorKind::Contents { .. } => true,
            ErrorKind::Version { found, newest, .. } => found > newest,
            _ => false,
        };
        let kind = match is_unknown && lucene[..2] > NEWEST_RELEASE[..] {
            true => ErrorKind::Release { found: lucene, cause: Some(Box::new(kind)) },
            false => kind,
        };
        Error::new(file, offset, kind)
    }

    /// The error of reading the column `field`.
    #[cold]
    pub(crate) fn of_column(self, field: Option<&str>) -> docvalues_column::Error {
        let Inner { file, offset, kind } = *self.0;
        let field = field.map(str::to_owned);
        match kind {
            ErrorKind::Io(source) => docvalues_column::ErrorKind::Io { file, source },
            kind if kind.is_unsupported() => {
                docvalues_column::ErrorKind::Source { name: file, source: Box::new(kind) }
            }
            kind => docvalues_column::ErrorKind::CorruptOther { file, field, offset, source: Box::new(kind) },
        }
        .into()
    }
}

/// A release as users write it, such as `10.6.0`.
fn dotted(release: &[i32]) -> String {
    release.iter().map(i32::to_string).collect::<Vec<_>>().join(".")
}

fn because(cause: Option<&ErrorKind>) -> String {
    cause.map_or_else(String::new, |cause| format!(": {cause}"))
}

impl From<Error> for docvalues_column::Error {
    fn from(error: Error) -> docvalues_column::Error {
        error.of_column(None)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { file, offset, kind } = &*self.0;
        match kind {
            ErrorKind::Io(_) | ErrorKind::NoCommit | ErrorKind::FileName(_) => write!(f, "{file}: {kind}"),
            kind if kind.is_unsupported() => write!(f, "{file}: {kind}"),
            _ => write!(f, "{file}: byte {offset}: {kind}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_files_are_escaped() {
        let (field, format) = ("a\x1b[2J".to_owned(), "B\n".to_owned());
        for (kind, expected) in [
            (ErrorKind::FileName(field.clone()), r#"found "a\u{1b}[2J""#),
            (ErrorKind::Overlays { field: field.clone() }, r#"column "a\u{1b}[2J": unsupported"#),
            (ErrorKind::Postings { field, format }, r#"unsupported postings format "B\n""#),
        ] {
            assert!(kind.to_string().contains(expected), "{kind}");
        }
    }
}
