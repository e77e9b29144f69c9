//! The same documents in other segments.
//!
//! | module | |
//! | --- | --- |
//! | `policy` | which segments are merged |
//! | `run` | a merge beside changes |
//! | `alter`, `widened_source` | segments are written again with wider fields |
//! | `purge` | what was deleted, out of all files |
//!
//! Knows nothing of batches.

mod alter;
mod policy;
mod purge;
mod run;
mod widened_source;

pub use policy::{MergePolicy, SegmentSize};
pub use purge::Purged;
