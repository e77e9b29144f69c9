//! Descriptions for callers: a commit, and the last batch of a history.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::commit_file::CommitFile;

/// A commit of a store: [`StoreReader::commits`](crate::StoreReader::commits).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// The bytes of [`Store::commit_with`](crate::Store::commit_with); empty without any.
    pub user_data: Arc<[u8]>,
}

impl CommitInfo {
    pub(crate) fn of(number: u64, commit: &CommitFile) -> CommitInfo {
        CommitInfo {
            number,
            sequence: commit.sequence,
            epoch: commit.epoch,
            made: commit.made.and_then(|made| UNIX_EPOCH.checked_add(Duration::from_micros(made))),
            segments: commit.segments.len(),
            docs: commit.segments.iter().map(|segment| u64::from(segment.live)).sum(),
            bytes: commit.named_files().map(|(_, file)| file.bytes).sum(),
            user_data: commit.user_data.clone(),
        }
    }
}

/// The last batch of a store, and the history up to it: [`Store::position`](crate::Store::position).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Counts leaders, and recoveries. 0 for a replica that is empty.
    pub epoch: u64,
    /// The number of the last batch.
    pub sequence: u64,
    /// A chained hash of all batches so far; random without a log.
    pub history: u64,
}

impl Position {
    pub(crate) fn of(commit: &CommitFile) -> Position {
        Position { epoch: commit.epoch, sequence: commit.sequence, history: commit.history }
    }
}

/// `sequence:history:epoch`, such as `107:0123456789abcdef:1`; the history in 16 hexadecimal digits.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:016x}:{}", self.sequence, self.history, self.epoch)
    }
}
