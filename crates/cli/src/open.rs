//! Files, segments and stores, opened, with their columns by name.
//!
//! It knows no input and no format of an output.

pub(crate) mod columns;
pub(crate) mod files;
pub(crate) mod id_index;
pub(crate) mod opener;
pub(crate) mod records;
pub(crate) mod segment;
pub(crate) mod segments;
#[cfg(feature = "sql")]
pub(crate) mod sql_tables;
pub(crate) mod store;
mod store_source;
