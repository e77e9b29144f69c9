//! Searches over columns in memory, compared with naive implementations.
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "a failing helper is a failing test"
)]

mod bounds;
mod chunks;
mod export;
mod histograms;
mod interrupts;
mod missing;
mod parts;
mod reads;
mod searches;
mod sorts;
mod zeros;
