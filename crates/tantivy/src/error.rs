//! The error of this crate.

use docvalues::{column, search, store, writer};

/// A result whose error is that of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the text, of the columns, or of both together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call of the columns failed.
    #[error(transparent)]
    Columns(#[from] docvalues::Error),
    /// A call of tantivy failed.
    #[error("text: {0}")]
    Text(#[from] tantivy::TantivyError),
    /// The folder could not be created.
    #[error("{folder}: {source}")]
    Folder {
        /// The folder.
        folder: String,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The index itself sets the keys and versions of documents.
    #[error("field \"{field}\": expected columns without a field of keys, ids or versions")]
    Schema {
        /// The field.
        field: String,
    },
    /// No commit of the columns belongs to the text.
    #[error("{folder}: expected a commit of the columns for operation {opstamp} of the text, found none")]
    Apart {
        /// The folder of the columns.
        folder: String,
        /// The operation of the text's last commit.
        opstamp: u64,
    },
    /// A write failed between text and columns.
    #[error(
        "expected an index whose last write succeeded: open it again, which goes back to the last commit"
    )]
    Broken,
}

macro_rules! of_columns {
    ($($error:ty),+) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error::Columns(error.into())
            }
        })+
    };
}

of_columns!(store::Error, search::Error, column::Error, writer::Error);
