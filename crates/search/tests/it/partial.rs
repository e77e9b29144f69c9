//! Partial results: merged ones equal the answer over all parts.

mod distinct;
mod errors;
mod merges;
#[cfg(feature = "serde")]
mod serial;
mod shards;
