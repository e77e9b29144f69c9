//! Lucene indexes as sources of columns: their doc values are read in place, without a JVM.
//!
//! [`Index::open`] opens the newest commit in a directory of Lucene 7.0 to 10.6, also as Solr, OpenSearch, and Elasticsearch in
//! standard mode write it. Each of its [`Segment`]s is a source of columns, and [`Index::parts`] are the parts of a search.
//! Nothing is converted or copied, and nothing is written. [`Index`] has an example.
//!
//! | read | not read |
//! | --- | --- |
//! | terms of ids, which are looked up one by one | other postings |
//! | commits of versions 7 to 11, compound files, live documents, soft deletes | index sorts, stored fields, points |
//! | doc values `Lucene70`, `Lucene80` (both modes), `Lucene90` up to version 3, also rewritten ones and overlays of 10.6 | formats of time series |
//!
//! A newer major release, a codec or a version that is not read is an error when the index is opened; the format of a field
//! when its column is. A newer minor release is read as far as its codecs and versions are known.
//!
//! # Types
//!
//! Lucene stores numbers, terms and bytes, and not what they mean. Columns have the types `i64`, `string` and `bytes`, unless
//! [`Options::field`] says another one, or the [`Engine`] that wrote the index is known to write one: Solr in its dynamic fields
//! (`sold_dt`, `price_d`, `weight_f`, `is_new_b`), Elasticsearch and OpenSearch in `@timestamp`, addresses and booleans. Fields
//! that an engine keeps for itself, such as `_version_`, are opened by their names, and are
//! [listed apart](Segment::internal_fields).
//!
//! # Damage
//!
//! Metadata is compared with its checksums when the index is opened, a data file of up to 64 MiB when it is used first, and
//! larger ones by [`Index::verify`]. Whatever the bytes are, readers return an error, or other values, in bounded memory.
//!
//! # Modules
//!
//! | module | contents |
//! | --- | --- |
//! | `error`, `options`, `jump_tables` | errors; options of opening an index |
//! | `engine`, `types` | who wrote it, and the types of its fields |
//! | `order`, `file`, `bytes`, `cursor`, `envelope`, `files` | bytes, fields of metadata, headers and checksums, names |
//! | `codec`, `commit`, `segment_info`, `field_infos`, `compound`, `live_docs` | metadata of an index and its segments |
//! | `packed`, `monotonic`, `lz4` | packed integers, addresses, compressed blocks |
//! | `header_cache` | headers of blocks |
//! | `presence`, `numeric`, `binary`, `dictionary`, `skip_index` | a structure of a column each |
//! | `doc_values`, `file_set` | their metadata, and their files |
//! | `windows`, `doubles`, `numbers_column`, `bytes_column` | open columns |
//! | `readable` | a field, and how its column is opened |
//! | `postings`, `lookup` | terms of few documents, such as ids |
//! | `segment`, `index` | sources |

mod binary;
mod bytes;
mod bytes_column;
mod codec;
mod commit;
mod compound;
mod cursor;
mod dictionary;
mod doc_values;
mod doubles;
mod engine;
mod envelope;
mod error;
mod field_infos;
mod file;
mod file_set;
mod files;
mod header_cache;
mod index;
mod jump_tables;
mod live_docs;
mod lookup;
mod lz4;
mod monotonic;
mod numbers_column;
mod numeric;
mod options;
mod order;
mod packed;
mod postings;
mod presence;
mod readable;
mod segment;
mod segment_info;
mod skip_index;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod types;
mod windows;

pub use docvalues_storage::{Directory, FsDirectory};
pub use engine::Engine;
pub use error::{Error, ErrorKind, Result};
pub use index::Index;
pub use jump_tables::JumpTables;
pub use options::Options;
pub use segment::Segment;
pub use types::FieldType;
