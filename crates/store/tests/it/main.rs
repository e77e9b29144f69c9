//! Tests of the store, on the file system and on a disk that loses power.
#![expect(clippy::unwrap_used, reason = "tests")]

mod crash;
mod fixture;
mod kill;
mod locks;
mod model;
mod readers;
