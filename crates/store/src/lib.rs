//! A store: a directory of segments that changes.
//!
//! ```text
//! background  threads that write, refresh, commit and merge, for any stores: Background
//! replica     a copy in another folder or on another machine: Replica, Feed, Depot
//!   |
//! open        a store is created, opened, or goes back to an older commit: Recovered
//!   |
//! write       batches and other changes become documents; the log is applied again
//!   |
//! merge       the same documents in other segments: MergePolicy, Purged
//!   |
//! commit      the buffer becomes a segment, changes become durable, older files go
//!   |
//! store       Store: what is locked while it changes, and the snapshot that is published
//!   |
//! observer    a hook before a segment is published, with files beside it: Observer, Publication
//!   |
//! read        Snapshot: parts to search, as long as a reader likes; StoreReader: the same in another process;
//!   |         HeldCommit: files that stay; StoreCheck: every byte, and every rule that files keep together
//!   |
//! log         frames of batches since the last commit: LogFrames
//!   |
//! segments    opened segments and what changed in them; the buffer; deltas
//! batch       what is asked of a store: WriteBatch, Update
//!   |
//! files       names of files, the names of all of them at a moment (a commit), and the lock of the writer
//!   |
//! Directory   files, locks and syncs, of docvalues-storage
//! ```
//!
//! A module imports only from those below it, and from some that know no store, such as [`error`], options, versions and fields
//! ([`StoreSchema`]). Above `read` is [`ScanRequest`]: columns, a query and the names of files, for another process.
//!
//! | guarantee | |
//! | --- | --- |
//! | committed is durable | after [`Store::commit`] returned, neither a kill nor a power loss loses what it contains, unless the disk lies about syncs |
//! | all or nothing | after a crash, the store is as one of its commits: the last one that returned, or one after it; then come the batches of the log, if there is one, each whole |
//! | readers never wait | taking a [`Snapshot`] copies one pointer; a removed file stays readable while it is open |
//! | one writer | a lock of the operating system, which ends with its process |
//! | damage is named | every file is compared with its length, content id and checksums |
//!
//! Network file systems are not supported: their locks and renames promise less.
//!
//! # From an async runtime
//!
//! Calls that wait for a disk belong on a thread that may block, such as one of tokio's `spawn_blocking`. So does dropping the last
//! `Arc` of a [`Store`], which waits for a segment that is being written, and so do searches, which take their time, with a
//! deadline: a search goes on when the future that waits for it is dropped.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::{Duration, Instant};
//!
//! use docvalues_column::{Field, Kind, LogicalType};
//! use docvalues_search::Query;
//! use docvalues_store::{Durability, Store, StoreOptions, StoreSchema};
//! use tokio::task::spawn_blocking;
//!
//! type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
//!
//! /// Adds sizes, and returns when they are in the log.
//! async fn add(store: &Arc<Store>, sizes: Vec<i64>) -> Result<()> {
//!     let store = Arc::clone(store);
//!     let add = move || -> Result<()> {
//!         let mut batch = store.batch()?;
//!         let size = batch.field("size")?;
//!         for value in sizes {
//!             let mut doc = batch.upsert();
//!             doc.i64(size, value)?;
//!             doc.finish()?;
//!         }
//!         store.apply(batch)?;
//!         store.refresh()?;
//!         Ok(())
//!     };
//!     spawn_blocking(add).await?
//! }
//!
//! /// Counts documents, or fails with `Interrupted`.
//! async fn count(store: &Store, query: Query, time: Duration) -> Result<u64> {
//!     let (snapshot, deadline) = (store.snapshot(), Instant::now() + time);
//!     let search = move || snapshot.search().interrupt(move || Instant::now() >= deadline).filter(&query);
//!     Ok(spawn_blocking(search).await??.count())
//! }
//!
//! async fn run(store: Arc<Store>) -> Result<()> {
//!     add(&store, vec![512, 70, 9]).await?;
//!     let committed = Arc::clone(&store);
//!     spawn_blocking(move || committed.commit()).await??;
//!
//!     let query = Query::range("size", 50..);
//!     assert_eq!(count(&store, query.clone(), Duration::from_secs(60)).await?, 2);
//!     let late = count(&store, query, Duration::ZERO).await.unwrap_err();
//!     assert!(matches!(late.downcast_ref::<docvalues_search::Error>(), Some(docvalues_search::Error::Interrupted)));
//!     Ok(())
//! }
//!
//! # fn main() -> Result<()> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("sizes");
//! let schema = StoreSchema::new().with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?;
//! let store = Store::create(&path, schema, StoreOptions::new().durability(Durability::EachBatch))?;
//! tokio::runtime::Builder::new_multi_thread().build()?.block_on(run(Arc::new(store)))
//! # }
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod background;
mod batch;
mod commit;
pub mod error;
mod files;
mod locks;
mod log;
mod merge;
#[cfg(feature = "object_store")]
mod objects;
mod observer;
mod open;
mod options;
mod read;
mod replica;
mod scan_request;
mod schema;
mod segments;
mod shard;
mod stats;
mod store;
mod trace;
mod versions;
mod write;

pub use background::{Background, BackgroundOptions};
pub use batch::{Applied, Arithmetic, Change, Condition, Outcome, Update, WriteBatch};
pub use error::Error;
pub use files::{CommitInfo, Position};
#[cfg(docvalues_lock_times)]
#[doc(hidden)]
pub use locks::{LockTime, take_lock_times};
pub use log::{FrameInfo, LogFrames, LogStats};
pub use merge::{MergePolicy, Purged, SegmentSize};
#[cfg(feature = "object_store")]
pub use objects::{ObjectReader, ReadCache};
pub use observer::{Observer, Publication};
pub use open::{LostCommit, Recovered};
pub use options::{Durability, KeepCommits, StoreOptions};
pub use read::{
    CommitFiles, FileReader, HeldCommit, Snapshot, SnapshotSegment, StoreCheck, StoreReader, StoredFile,
    UnnamedFile,
};
#[cfg(feature = "object_store")]
pub use replica::ObjectDepot;
pub use replica::{
    Changed, Changes, Depot, Feed, FieldChange, FolderDepot, Frame, Frames, Installed, Item, Published,
    Received, Replica, StoreChange, StreamReader, StreamWriter, Taken,
};
pub use scan_request::{Dataset, ScanRequest};
pub use schema::StoreSchema;
pub use segments::{Move, Moves, PartId};
pub use shard::shard_of;
pub use stats::{StoreStats, Work};
pub use store::Store;
pub use write::{Added, NewSegment};
