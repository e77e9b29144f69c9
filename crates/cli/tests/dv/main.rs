//! `dv` as a user has it: the program, files, pipes, exit codes.

#![expect(clippy::unwrap_used, reason = "a failing helper is a failing test")]

mod answers;
#[cfg(feature = "parquet")]
mod arrow;
mod bad_input;
#[cfg(feature = "parquet")]
mod columnar;
mod damage;
mod diff;
mod explain;
mod export;
mod histogram;
mod ids;
mod json;
mod merge;
mod pipes;
#[cfg(unix)]
mod readme;
mod round_trip;
mod sandbox;
mod schema;
mod searches;
mod several;
mod shell;
mod snapshots;
mod sort;
mod stats;
mod terms;
