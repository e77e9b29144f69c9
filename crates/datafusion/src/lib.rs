//! Tables of [DataFusion](https://docs.rs/datafusion) over segments and stores of [docvalues].
//!
//! ```
//! use std::sync::Arc;
//!
//! use datafusion::prelude::SessionContext;
//! use docvalues::prelude::*;
//! use docvalues_datafusion::DocvaluesTable;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut schema = Schema::new();
//! let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
//! let host = schema.add(FieldSpec::new("host", LogicalType::Utf8))?;
//! let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
//! for (bytes, name) in [(512, "a.example"), (9_000, "b.example"), (70, "a.example")] {
//!     let mut doc = writer.document();
//!     doc.i64(size, bytes)?.str(host, name)?;
//!     doc.finish()?;
//! }
//! let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
//!
//! let context = SessionContext::new();
//! context.register_table("hits", Arc::new(DocvaluesTable::of_segments([segment])?))?;
//! let found = context.sql("select host, sum(size) from hits where size < 1000 group by host").await?;
//! assert_eq!(found.collect().await?.iter().map(|batch| batch.num_rows()).sum::<usize>(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! A column has the Arrow type that [`docvalues::search::arrow`] gives it; sets are lists. A table does not change: one of a
//! store has the documents, deletes and updates of its snapshot.
//!
//! | SQL | runs in docvalues |
//! | --- | --- |
//! | `=` `<>` `<` `<=` `>` `>=` `between` `in` `not in` with literals | on single values, by zones, jump tables and dictionaries |
//! | `and`, `or` of these | also nested |
//! | these, with [`to_ip` and `to_uuid`](functions()) of a text | on addresses and UUIDs |
//! | these, on `_part` and `_doc` ([`with_places`](DocvaluesTable::with_places)) | reads only these rows |
//! | `is null`, `is not null` | on single values and on sets |
//! | `like 'abc%'` | on strings |
//! | `limit` | with such filters |
//! | `order by … limit`, joins | their dynamic filters skip documents; [off by default](#dynamic-filters) |
//! | `group by` strings | by their ords, with the rule [`GroupByOrds`] |
//! | `count(*)` without a filter | from the number of live documents |
//! | `count(*)` with a range of one column | while planning, if nothing was deleted and zones decide all but 65,536 documents |
//! | `min`, `max` without a filter | from the directory: single `i64`, dates and timestamps, if nothing was deleted or changed |
//!
//! A table that is made by [`DocvaluesTable::of_dataset`] names its files, and can be sent to other processes that see them: by
//! `DocvaluesLogicalCodec` as itself, and by `DocvaluesCodec` as scans in a plan (feature `proto`).
//!
//! [`Objects`] makes tables of segments in object stores. Over these, strings are not grouped by ords, and counts of a range
//! need a scan.
//!
//! DataFusion computes all else. It orders doubles totally: NaN is above all numbers, and -0.0 below 0.0, unlike in
//! docvalues. So ranges of a column that may have NaNs, and comparisons with zero, are left to it.
//!
//! # Dynamic filters
//!
//! DataFusion 55 also makes a dynamic filter of `min` and `max`. If one of several such functions has no value yet, or is not of
//! a plain column, the filter is false for rows that this function wants. A table cannot tell these filters from others, so it
//! takes none unless you turn them off:
//!
//! ```
//! # use datafusion::prelude::{SessionConfig, SessionContext};
//! let config = SessionConfig::new();
//! let config = config.set_bool("datafusion.optimizer.enable_aggregate_dynamic_filter_pushdown", false);
//! let context = SessionContext::new_with_config(config);
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "proto")]
mod codec;
mod dataset;
mod dynamic;
mod error;
#[cfg(feature = "proto")]
mod failed;
mod filter;
mod functions;
mod group_by_ords;
mod metrics;
mod objects;
mod open_parts;
mod partitions;
mod places;
mod reader;
mod scan;
#[cfg(feature = "proto")]
mod scan_parts;
mod selection;
#[cfg(feature = "proto")]
mod sliced;
mod table;
mod table_data;
mod terms;

#[cfg(feature = "proto")]
pub use codec::{DocvaluesCodec, DocvaluesLogicalCodec};
#[cfg(feature = "proto")]
pub use failed::FailedExec;
pub use functions::functions;
pub use group_by_ords::GroupByOrds;
pub use objects::Objects;
#[cfg(feature = "proto")]
pub use scan_parts::ScanParts;
pub use table::DocvaluesTable;

/// The code of the README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The code of docs/replicate-to-a-bucket.md runs as a test; here, as this crate's tests have object stores.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/replicate-to-a-bucket.md")]
struct ReplicateToABucket;

/// The code of docs/read-from-object-storage.md runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/read-from-object-storage.md")]
struct ReadFromObjectStorage;

/// The code of docs/sql.md is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/sql.md")]
struct Sql;
