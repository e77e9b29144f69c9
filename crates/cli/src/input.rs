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
pub(crate) mod column_type;
pub(crate) mod csv_cells;
pub(crate) mod error;
pub(crate) mod import;
pub(crate) mod infer_types;
pub(crate) mod ndjson;
pub(crate) mod parse_cell;
pub(crate) mod row;
pub(crate) mod schema;
pub(crate) mod source;
