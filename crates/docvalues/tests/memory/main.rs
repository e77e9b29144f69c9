//! The memory and time that files cost, counted by an allocator: hostile and damaged ones, those with many ids, open
//! columns, single look-ups, and pages of results.
#![allow(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a failing helper is a failing test"
)]

mod claims;
mod damage;
mod heap;
mod look_ups;
mod lucene;
mod many_ids;
mod retrieve;
#[path = "../it/write.rs"]
#[expect(dead_code, reason = "the other tests want all of it")]
mod write;

use std::sync::{Mutex, MutexGuard, PoisonError};

use docvalues_testkit::damage::alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc::new();

/// Tests take turns, because the allocator counts for all threads.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
