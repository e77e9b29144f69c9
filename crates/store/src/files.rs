//! The files in the folder of a store: their names and numbers, the file of a commit, which files stay, and the writer's lock.
//!
//! Knows nothing of the contents of segments, deltas and logs.

mod beside_writer;
mod commit_file;
mod commit_info;
mod entries;
mod hex;
mod listing;
mod names;
mod new_files;
mod user_data;
mod writer_lock;

pub(crate) use beside_writer::{ATTEMPTS, no_calm};
pub(crate) use commit_file::{CommitFile, MAX_BYTES, PreviousCommit};
pub use commit_info::{CommitInfo, Position};
pub(crate) use entries::{FileEntry, SegmentEntry, SideEntry};
pub(crate) use listing::Files;
pub(crate) use names::{
    FileName, LOCK, LOCK_INFO, MAX_NUMBER, commit_numbers, is_temporary, log_numbers, next_epoch, random_id,
};
pub(crate) use new_files::{PIECE, copy, put_file};
pub(crate) use user_data::check_user_data;
pub(crate) use writer_lock::WriterLock;
