//! From files to documents: open, split into rows, find the types, convert.
//!
//! ```text
//! open ── bytes ──> csv | ndjson ── Row ──> import ── Document ──> the caller's sink
//!                        first pass: infer ──┘ └── second pass: column, value
//!      ── file ───> arrow ── arrays ──────> import ── Table ─────> the same
//! ```

#[cfg(feature = "parquet")]
pub(crate) mod arrow;
pub(crate) mod column;
pub(crate) mod csv;
pub(crate) mod error;
pub(crate) mod import;
pub(crate) mod infer;
pub(crate) mod ndjson;
pub(crate) mod open;
pub(crate) mod row;
pub(crate) mod schema;
pub(crate) mod types;
pub(crate) mod value;
