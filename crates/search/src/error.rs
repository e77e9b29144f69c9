//! Why a request could not be answered.

use docvalues_column::Kind;

/// Shorthand for what every function here returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request could not be answered. New kinds may be added in any release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A column could not be found or read.
    #[error(transparent)]
    Column(#[from] docvalues_column::Error),
    /// A column is of a kind that cannot be asked this.
    #[error("column `{field}` is {}, which {cannot}", kind.name())]
    Kind {
        /// The column.
        field: String,
        /// What it is.
        kind: Kind,
        /// What it cannot do, as a verb: `has no sum`.
        cannot: &'static str,
    },
    /// A query cannot be read, or does not go with the columns there are.
    #[error(transparent)]
    Query(#[from] crate::query::QueryError),
    /// A value is none of its column's type, or none that the form can hold in which it was asked for.
    #[error("column `{field}`: document {doc} {what}")]
    Value {
        /// The column.
        field: String,
        /// The document.
        doc: u32,
        /// What is wrong with it, as a verb: `has text that is not UTF-8`.
        what: &'static str,
    },
    /// There is too little memory for something of each document.
    #[error(
        "expected {bytes} bytes of memory for something of each document, found less: see `Search::memory`"
    )]
    Memory {
        /// Bytes that are needed.
        bytes: u64,
    },
    /// The search was interrupted: see [`Search::interrupt`](crate::Search::interrupt).
    #[error("the search was interrupted")]
    Interrupted,
    /// What was asked for makes no sense, whatever the columns hold.
    #[error("{0}")]
    Request(String),
}
