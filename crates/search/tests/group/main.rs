//! Groups, compared with a naive implementation.
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "a failing helper is a failing test"
)]

mod documents;
mod naive;
mod properties;
mod several;
mod sizes;
