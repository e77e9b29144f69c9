//! [`CommitInfo`]: a description of a commit.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::commit_file::CommitFile;

/// A commit of a store: [`StoreReader::commits`](crate::StoreReader::commits).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// The number in the name of its file.
    pub number: u64,
    /// The number of the last batch of changes that it contains.
    pub sequence: u64,
    /// Counts the histories of the store: [`Store::recover`](crate::Store::recover) begins a new one.
    pub epoch: u64,
    /// When it was made; `None` if an earlier release did.
    pub made: Option<SystemTime>,
    /// The number of segments.
    pub segments: usize,
    /// The number of documents that are not deleted.
    pub docs: u64,
    /// The bytes of all its files.
    pub bytes: u64,
}

impl CommitInfo {
    pub(crate) fn of(number: u64, commit: &CommitFile) -> CommitInfo {
        let folds = commit.segments.iter().filter_map(|segment| segment.fold.as_ref());
        let others = folds.chain(&commit.deltas).map(|file| file.bytes);
        CommitInfo {
            number,
            sequence: commit.sequence,
            epoch: commit.epoch,
            made: commit.made.and_then(|made| UNIX_EPOCH.checked_add(Duration::from_micros(made))),
            segments: commit.segments.len(),
            docs: commit.segments.iter().map(|segment| u64::from(segment.live)).sum(),
            bytes: commit.segments.iter().map(|segment| segment.bytes).chain(others).sum(),
        }
    }
}
