//! [`Frozen`]: what a commit is made of.

use std::sync::Arc;

use crate::files::{CommitFile, FileEntry};
use crate::options::KeepCommits;
use crate::schema::StoreSchema;
use crate::segments::SegmentState;
use crate::versions::Tombstones;

/// The store at a moment, while it is being committed. Changes go on meanwhile.
pub(crate) struct Frozen {
    pub(crate) sequence: u64,
    pub(crate) history: u64,
    /// Counts changes, as the writer does.
    pub(crate) changes: u64,
    pub(crate) highest_version: u64,
    pub(crate) assigns_versions: bool,
    pub(crate) first_log: Option<u64>,
    pub(crate) keep: KeepCommits,
    pub(crate) rewrites_deltas: bool,
    pub(crate) schema: Arc<StoreSchema>,
    pub(crate) segments: Vec<SegmentState>,
    pub(crate) deltas: Vec<FileEntry>,
    pub(crate) tombstones: Tombstones,
    /// The commit before.
    pub(crate) before: CommitFile,
}
