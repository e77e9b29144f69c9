//! Integration tests: segments are written, opened, read and searched, and compared with the models of `testkit`.
#![allow(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a failing helper is a failing test"
)]

mod corpus;
#[cfg(feature = "store")]
mod engine;
mod explain;
mod export;
mod faults;
mod files;
mod golden;
mod ids;
mod layers;
mod lookahead;
mod merge;
mod modules;
mod moved;
mod mutants;
mod numbers;
mod one_by_one;
mod overlay;
mod plain;
mod promote;
mod public_api;
mod query;
mod requests;
mod roundtrip;
mod searches;
mod side_by_side;
mod sort;
mod threads;
mod tops;
mod typed;
mod upserts;
mod wide;
mod write;
