//! Text and columns as one: against a model, after kills, and between two commits.
#![expect(clippy::unwrap_used, reason = "tests")]

mod apart;
mod failed;
mod fixture;
mod kill;
mod model;
mod order;
mod updates;
