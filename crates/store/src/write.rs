//! Writing: what batches and other calls make of documents.
//!
//! ```text
//! prepare   a batch is checked, and its ids are looked up in segments    outside of the lock
//! resolve   what its updates need is read from segments
//! apply     documents are appended, updated and deleted                  in the lock
//! ```
//!
//! | module | |
//! | --- | --- |
//! | `make_room` | what is due before a batch |
//! | `updates`, `delete` | updates and deletes by query and by address |
//! | `add_segment` | segments that are built or copied |
//! | `durability` | the log of batches: begun and synced |
//! | `replay` | batches of a log, applied again |
//!
//! Knows nothing of replicas, and of threads only what they are asked for.

mod add_segment;
mod apply;
mod delete;
mod durability;
mod make_room;
mod prepare;
mod replay;
mod resolve;
mod updates;

pub use add_segment::{Added, NewSegment};
pub(crate) use make_room::make_room;
pub(crate) use replay::Wrong;
