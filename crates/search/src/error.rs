//! Errors of searches.

mod query_error;

use docvalues_column::{Field, Kind, LogicalType};

pub use query_error::QueryError;

/// The error of one part of a search.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct PartError {
    part: usize,
    #[source]
    error: Error,
}

/// The result of a search.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a search. New kinds may be added in any release.
///
/// # Examples
///
/// ```
/// use docvalues_search::{Error, Query};
///
/// let error = Query::parse("size > 10 and").map_err(Error::from).unwrap_err();
/// match error {
///     Error::Query(error) => assert_eq!(error.column(), Some(14)), // where a condition is missing
///     other => panic!("{other}"),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A column was not found, or could not be read.
    #[error(transparent)]
    Column(#[from] docvalues_column::Error),
    /// The kind of a column does not support the request.
    #[error("column \"{field}\" is {}, which {cannot}", kind.name())]
    Kind {
        /// The column.
        field: String,
        /// Its kind.
        kind: Kind,
        /// The unsupported operation, as a verb phrase: `has no sum`.
        cannot: &'static str,
    },
    /// A column has kinds or types in two parts that are not promoted, or have none in common: see
    /// [`Search::mixed_types`](crate::Search::mixed_types).
    #[error(
        "column \"{column}\" is {} {} in part {} and {} {} in part {}",
        kinds[0].name(), types[0].name(), parts[0], kinds[1].name(), types[1].name(), parts[1]
    )]
    MixedTypes {
        /// The column.
        column: String,
        /// The indexes of the parts.
        parts: [usize; 2],
        /// The kind of the column in each of them.
        kinds: [Kind; 2],
        /// Its type in each of them.
        types: [LogicalType; 2],
    },
    /// A query has a syntax error, or does not fit the columns.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A value is invalid for its column's type, or does not fit the requested format.
    #[error("column \"{field}\": document {doc} {what}")]
    Value {
        /// The column.
        field: String,
        /// The document. In a search over several parts, [`Error::part`] returns its part.
        doc: u32,
        /// The problem, as a verb phrase: `has text that is not UTF-8`.
        what: &'static str,
    },
    /// A value is not of the type that was asked for, or would lose something in it: see
    /// [`Row::get`](crate::export::Row::get).
    #[error("column \"{field}\": document {doc} of part {part} {why}")]
    Convert {
        /// The column.
        field: String,
        /// The part of the document.
        part: u32,
        /// The document.
        doc: u32,
        /// The problem, as a verb phrase: `has i64 -1, which u64 does not hold`.
        why: String,
    },
    /// An allocation proportional to the number of documents failed, or exceeds
    /// [`Search::memory`](crate::Search::memory).
    #[error(
        "expected {bytes} bytes of memory for the results of all documents, found less: raise `Search::memory`"
    )]
    Memory {
        /// The bytes needed.
        bytes: u64,
    },
    /// One of several parts could not be read. [`Error::part`] returns its index, and
    /// [`Parts::search_undamaged`](crate::Parts::search_undamaged) answers from the others.
    #[error(transparent)]
    Part(Box<PartError>),
    /// The search was interrupted: see [`Search::interrupt`](crate::Search::interrupt).
    #[error("the search was interrupted")]
    Interrupted,
    /// The request is invalid, whatever the columns contain.
    #[error("{0}")]
    Request(String),
}

impl PartError {
    /// The index of the part.
    pub fn part(&self) -> usize {
        self.part
    }

    /// The error that occurred there.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Whether bytes were damaged or could not be read.
    pub(crate) fn is_of_bytes(&self) -> bool {
        use docvalues_column::ErrorKind::{Corrupt, Io, Source};
        let Error::Column(error) = &self.error else { return false };
        matches!(error.kind(), Corrupt { .. } | Io { .. } | Source { .. })
    }
}

impl Error {
    /// The error of a request that a column of this kind does not allow.
    pub(crate) fn kind(field: &Field, cannot: &'static str) -> Error {
        Error::Kind { field: field.name.clone(), kind: field.kind, cannot }
    }

    /// The error as that of part `part` of `parts`. An interrupt, and a lack of memory, are no part's.
    pub(crate) fn in_part(self, part: usize, parts: usize) -> Error {
        match self {
            Error::Column(_) | Error::Value { .. } if parts > 1 => {
                Error::Part(Box::new(PartError { part, error: self }))
            }
            other => other,
        }
    }

    /// The index of the part that could not be read, in a search over several.
    pub fn part(&self) -> Option<usize> {
        if let Error::Part(error) = self { Some(error.part) } else { None }
    }

    /// The error itself, without the part that it occurred in.
    pub fn inner(&self) -> &Error {
        if let Error::Part(error) = self { &error.error } else { self }
    }
}
