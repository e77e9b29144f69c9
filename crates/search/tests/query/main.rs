//! Queries: parsing and printing, and results compared with a naive implementation.
#![allow(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "a failing helper is a failing test"
)]

mod found;
mod naive;
mod parts;
mod text;
