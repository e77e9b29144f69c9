//! The errors of a store, and the [`Result`] of its calls.
//!
//! `Result` is only here, so that `use docvalues::store::*` does not shadow that of the standard library.

use std::any::Any;

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
    /// The folder has no commit, or there is no folder.
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
    /// A file in a [`Depot`](crate::Depot) is damaged or missing: [`HeldCommit::publish`](crate::HeldCommit::publish) of the leader
    /// puts it again.
    #[error("{file}: {what}")]
    DamagedDepot {
        /// The place of the file.
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
    /// The log has batches that cannot be applied to the commit to which a store goes back:
    /// [`Store::recover`](crate::Store::recover). Nothing was changed.
    #[error(
        "{folder}: expected a log that follows commit {commit}, found {} batches that cannot be applied to it, {first} to {last}: {why}",
        last - first + 1
    )]
    LostBatches {
        /// The folder.
        folder: String,
        /// The commit.
        commit: u64,
        /// The first of the batches.
        first: u64,
        /// The last of them.
        last: u64,
        /// The reason.
        why: String,
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
    /// A snapshot of another store, or a part of it that this opening of the store never had: a segment that was merged is one,
    /// too, if the snapshot is a reader's or of an earlier opening.
    #[error(
        "expected a document of the store as it is open now, found one of another store or an earlier opening: take a new snapshot"
    )]
    OtherSnapshot,
    /// The store is a replica, which takes only what its leader sends.
    #[error(
        "{folder}: expected a store of its own, found a replica, which only its leader changes: promote it first"
    )]
    IsReplica {
        /// The folder.
        folder: String,
    },
    /// A frame does not follow what a replica has: those between, or the files of a commit, must come first.
    #[error("expected batch {expected}, found batch {found}")]
    Gap {
        /// The number of the batch that the replica needs.
        expected: u64,
        /// The number of the batch that came.
        found: u64,
    },
    /// A frame or commit of a leader that was replaced.
    #[error(
        "expected changes of epoch {known} or later, found epoch {found}: they are of a leader that was replaced"
    )]
    OldEpoch {
        /// The epoch of the replica.
        known: u64,
        /// The epoch of the frame or commit.
        found: u64,
    },
    /// A commit of a store that was promoted or recovered, or of a replica of one, for a [`Depot`](crate::Depot) that may have
    /// batches which the commit lacks. [`HeldCommit::publish_over`](crate::HeldCommit::publish_over) puts it there.
    #[error(
        "expected a commit of epoch {known}, as the depot has, found one of epoch {found}: the store, or its leader, was promoted or recovered, \
         and may lack batches that the depot has"
    )]
    LaterEpoch {
        /// The epoch of the depot.
        known: u64,
        /// The epoch of the commit.
        found: u64,
    },
    /// A replica has other batches than the leader.
    #[error("{what}")]
    Diverged {
        /// The difference.
        what: String,
    },
    /// The log does not have the frames after a batch: install the files of a commit instead.
    #[error("{folder}: expected the frames after batch {after}, found {}", from(first))]
    NoFrames {
        /// The folder.
        folder: String,
        /// The last batch before them.
        after: u64,
        /// The first batch that there is a frame for, if there is a log.
        first: Option<u64>,
    },
    /// The log does not have all changes after a batch: [`Store::changes`](crate::Store::changes). Scan a snapshot, and follow the
    /// changes after it.
    #[error(
        "{folder}: expected the changes after batch {after}, found those from batch {first} on: scan a snapshot instead"
    )]
    TooOld {
        /// The folder.
        folder: String,
        /// The last batch before them.
        after: u64,
        /// The first batch from which on the log has all changes.
        first: u64,
    },
    /// Reading or writing a stream or a [`Depot`](crate::Depot) failed.
    #[error("replication: {0}")]
    Stream(#[source] std::io::Error),
    /// A commit of another store than that of the replica.
    #[error("expected the files of store {known:016x}, found those of store {found:016x}")]
    OtherStore {
        /// The id of the replica's store.
        known: u64,
        /// The id of the other one.
        found: u64,
    },
    /// Bytes that are not those of a [`ScanRequest`](crate::ScanRequest), or of a newer version; or a request that cannot be
    /// sent.
    #[error("scan request: {what}")]
    ScanRequest {
        /// The expected bytes, and those that were found.
        what: String,
    },
    /// An observer failed the publication of a segment: see [`Observer`](crate::Observer).
    #[error("{segment}: the observer failed: {error}")]
    Observer {
        /// The path of the segment.
        segment: String,
        /// The failure.
        #[source]
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A segment was to be written without an [`Observer`](crate::Observer), while others have side files.
    #[error(
        "{folder}: expected an observer, as segments have side files that a new one would lack, found none: open the store with the program that wrote them"
    )]
    NoObserver {
        /// The folder.
        folder: String,
    },
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

impl Error {
    /// The call to the operating system that failed.
    pub(crate) fn storage(&self) -> Option<&StorageError> {
        match self {
            Error::Storage(error) => Some(error),
            Error::Write(error) => match error.kind() {
                docvalues_writer::ErrorKind::Storage(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether there is no such file.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Error::Storage(error) if error.is_missing())
    }

    /// The error of a thread that panicked.
    pub(crate) fn of_panic(panic: Box<dyn Any + Send>) -> Error {
        Error::Request(format!("a thread panicked: {}", panic_text(panic)))
    }

    /// The reason why a store refuses further changes after this error.
    pub(crate) fn poison_reason(&self) -> String {
        match self {
            Error::Poisoned { why } => why.clone(),
            error => error.to_string(),
        }
    }
}

/// The message of a panic that was caught.
#[doc(hidden)]
pub fn panic_text(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().copied().unwrap_or("it left no message").to_owned(),
    }
}

fn described(holder: &Option<String>) -> String {
    holder.as_ref().map_or(String::new(), |holder| format!(": {holder}"))
}

fn from(first: &Option<u64>) -> String {
    first.map_or("no log".to_owned(), |first| format!("those from batch {first} on"))
}

fn listed(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
