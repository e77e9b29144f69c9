//! CSV and TSV: splits a file into rows, one by one or in chunks.
//!
//! It knows no types and no documents: a cell is text.

pub(super) mod converter;
pub(super) mod delimiter;
pub(crate) mod dialect;
pub(crate) mod header;
pub(super) mod record_end;
pub(super) mod rows;
pub(super) mod tokens;
