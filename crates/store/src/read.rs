//! Reading a store: snapshots, readers beside a writer, commits that are held, and the check of all files.
//!
//! Knows no writer: a [`Snapshot`] is made of [`Contents`].

mod check;
mod held_commit;
mod snapshot;
mod store_reader;

pub use check::{StoreCheck, UnnamedFile};
pub use held_commit::{CommitFiles, FileReader, HeldCommit, StoredFile};
pub(crate) use snapshot::{Contents, Found, Moment};
pub use snapshot::{Snapshot, SnapshotSegment};
pub use store_reader::StoreReader;
