//! A store: a directory of segments that changes.
//!
//! ```text
//! Store            the writer: applies batches, adds segments, merges, commits         store, apply, change, commit, merge
//!   |
//! Writer           what is locked while it changes; the buffer and the log            writer, buffer, log
//!   |
//! Snapshot         what a reader sees, as long as it likes: parts to search            snapshot
//!   |
//! CommitState      opened segments and their live documents                            commit_state
//!   |
//! CommitFile       the names of all files at a moment; deltas and folds                commit_file, delta, names
//!   |
//! Directory        files, locks and syncs, of docvalues-storage
//!
//! StoreReader      the same snapshots in another process                               store_reader
//! LogFrames        frames of batches since the last commit                             log
//! Replica          a copy in another folder or on another machine                      replica
//! Background       threads that write, refresh, commit and merge, for any stores       background, tasks
//! StoreCheck       every byte, and every rule that files keep together                 check
//! ScanRequest      columns, a query and the names of files, for another process            scan_request
//! Recovered        back to an older commit, on request                                 recover
//! Purged           what was deleted, out of all files                                  purge
//! ```
//!
//! | guarantee | |
//! | --- | --- |
//! | committed is durable | after [`Store::commit`] returned, neither a kill nor a power loss loses what it contains, unless the disk lies about syncs |
//! | all or nothing | after a crash, the store is as one of its commits: the last one that returned, or one after it; then come the batches of the log, if there is one, each whole |
//! | readers never wait | a [`Snapshot`] is one pointer; files are removed only under their names |
//! | one writer | a lock of the operating system, which ends with its process |
//! | damage is named | every file is compared with its length, content id and checksums |
//!
//! Network file systems are not supported: their locks and renames promise less.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod background;
mod batch;
mod commit;
pub mod error;
mod files;
mod log;
mod merge;
#[cfg(feature = "object_store")]
mod objects;
mod options;
mod read;
mod recover;
mod replica;
mod scan_request;
mod schema;
mod segments;
mod shard;
mod stats;
mod store;
mod sync;
mod trace;
mod versions;
mod write;

pub use background::{Background, BackgroundOptions};
pub use batch::{Applied, Condition, Outcome, Update, WriteBatch};
pub use error::Error;
pub use files::{CommitInfo, Position};
pub use log::{FrameInfo, LogFrames, LogStats};
pub use merge::{MergePolicy, Purged, SegmentSize};
#[cfg(feature = "object_store")]
pub use objects::{ObjectReader, ReadCache};
pub use options::{Durability, KeepCommits, StoreOptions};
pub use read::{
    CommitFiles, FileReader, HeldCommit, Snapshot, SnapshotSegment, StoreCheck, StoreReader, StoredFile,
    UnnamedFile,
};
pub use recover::{LostCommit, Recovered};
#[cfg(feature = "object_store")]
pub use replica::ObjectDepot;
pub use replica::{
    Depot, Feed, FolderDepot, Frame, Frames, Installed, Item, Published, Received, Replica, StreamReader,
    StreamWriter, Taken,
};
pub use scan_request::{Dataset, ScanRequest};
pub use schema::StoreSchema;
pub use shard::shard_of;
pub use stats::{StoreStats, Work};
pub use store::Store;
pub use write::{Added, NewSegment};
