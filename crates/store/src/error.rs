//! The errors of a store.

use docvalues_column::Error as ReadError;
use docvalues_search::Error as SearchError;
use docvalues_storage::Error as StorageError;
use docvalues_writer::Error as WriteError;

/// The result of calls of a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a store. New kinds may be added in any release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call to the operating system failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A segment could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A segment could not be written or merged.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A query could not be evaluated.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The folder has no commit.
    #[error("{folder}: expected a store, found no commit")]
    NoStore {
        /// The folder.
        folder: String,
    },
    /// A store is already in the folder in which one is created.
    #[error("{folder}: expected a folder without a store, found {commit}")]
    Exists {
        /// The folder.
        folder: String,
        /// The newest commit.
        commit: String,
    },
    /// Another process, or another [`Store`](crate::Store) of this one, writes the store.
    #[error("{folder}: another writer has the store open{}", described(holder))]
    Busy {
        /// The folder.
        folder: String,
        /// The process of the other writer, if known.
        holder: Option<String>,
    },
    /// A file that a commit names is damaged, or is not the one that was committed.
    #[error("{file}: {what}")]
    Damaged {
        /// The path of the file.
        file: String,
        /// The damage.
        what: String,
    },
    /// A commit of a newer version of the format.
    #[error(
        "{file}: expected a store of version {known} at most, found version {found}: it needs a newer docvalues"
    )]
    Version {
        /// The path of the commit.
        file: String,
        /// The version of the file.
        found: u32,
        /// The newest version that is known.
        known: u32,
    },
    /// There is no such commit.
    #[error("{folder}: expected one of the commits {}, found commit {commit}", listed(known))]
    NoCommit {
        /// The folder.
        folder: String,
        /// The number that was asked for.
        commit: u64,
        /// The numbers of the commits that are there.
        known: Vec<u64>,
    },
    /// A field does not fit the schema.
    #[error("field \"{field}\": {why}")]
    Schema {
        /// The name of the field.
        field: String,
        /// The reason.
        why: String,
    },
    /// A request that the store cannot fulfil.
    #[error("{0}")]
    Request(String),
    /// A part of the snapshot was merged since it was taken.
    #[error("the segment of a document was merged since the snapshot was taken: take a new snapshot")]
    Merged,
    /// A background thread failed: see [`Background`](crate::Background).
    #[error("a {work} in the background failed: {error}")]
    Background {
        /// "flush", "commit", "refresh", "sync", "merge", or "task" after a panic.
        work: &'static str,
        /// The failure.
        #[source]
        error: Box<Error>,
    },
    /// An earlier call left the disk in an unknown state, or another writer took over the store.
    #[error("the store cannot be written any more, because {why}: open it again")]
    Poisoned {
        /// The earlier failure.
        why: String,
    },
}

fn described(holder: &Option<String>) -> String {
    holder.as_ref().map_or(String::new(), |holder| format!(": {holder}"))
}

fn listed(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
