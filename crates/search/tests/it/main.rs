//! Searches over columns in memory, against a look at each document.
#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

mod export;
mod searches;
