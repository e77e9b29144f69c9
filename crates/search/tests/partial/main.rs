//! Partial results: merged ones equal the answer over all parts.
#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

mod distinct;
mod errors;
mod merges;
#[cfg(feature = "serde")]
mod serial;
mod shards;
