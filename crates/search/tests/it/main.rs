//! Searches over columns in memory, queries, groups and partial results, compared with naive implementations.
#![allow(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a failing helper is a failing test"
)]

mod added_columns;
mod bounds;
mod chunks;
mod deleted;
mod export;
mod group;
mod histograms;
mod hits;
mod interrupts;
mod missing;
mod pages;
mod partial;
mod parts;
mod promoted;
mod query;
mod reads;
mod requests;
mod searches;
mod sorts;
mod zeros;
