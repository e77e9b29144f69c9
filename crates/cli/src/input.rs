//! From files to documents: open an input, split it into rows and cells, infer types, convert values.
//!
//! ```text
//! source ── bytes ──> csv_cells | ndjson ── Row ──> import ── Document ──> the caller's sink
//!                       first pass: infer_types ──┘ └── second pass: column, parse_cell
//!        ── bytes ──> csv_chunks ── text ─────────> import ── RowBatch ──> the same, several chunks at a time
//!        ── file ───> arrow ── arrays ────────────> import ── DocBatch ──> the same
//! ```

#[cfg(feature = "parquet")]
pub(crate) mod arrow;
pub(crate) mod column;
pub(crate) mod column_type;
pub(crate) mod csv_cells;
pub(crate) mod csv_chunks;
pub(crate) mod error;
pub(crate) mod header;
pub(crate) mod import;
pub(crate) mod infer_types;
pub(crate) mod ndjson;
pub(crate) mod odd_cells;
pub(crate) mod parse_cell;
pub(crate) mod row;
pub(crate) mod schema;
mod sniff_delimiter;
pub(crate) mod source;
pub(crate) mod spellings;
