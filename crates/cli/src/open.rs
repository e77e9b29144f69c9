//! Files, segments, stores and indexes of Lucene, opened, with their columns by name.
//!
//! It knows no input and no format of an output.

pub(crate) mod columns;
pub(crate) mod files;
pub(crate) mod id_index;
#[cfg(feature = "lucene")]
pub(crate) mod lucene;
mod opened;
pub(crate) mod opener;
pub(crate) mod records;
pub(crate) mod segment;
pub(crate) mod segments;
#[cfg(feature = "sql")]
pub(crate) mod sql_tables;
pub(crate) mod store;
mod store_source;

pub(crate) use opener::Opener;
pub(crate) use segment::OpenSegment;
pub(crate) use segments::Segments;
