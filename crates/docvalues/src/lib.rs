//! Columnar, memory-mapped *doc values* for search and analytics engines: any value of any document in O(1), in any
//! order.
//!
//! Doc values are the forward index of a search engine: for each document the values of its fields, stored column by
//! column, for faceting, grouping, sorting, statistics, export and retrieval. This crate writes them once, into one
//! immutable file, and reads them through a mapping. It is a reimplementation of Lucene's `DocValues` in Rust.
//!
//! ```
//! use docvalues::prelude::*;
//!
//! let mut schema = Schema::new();
//! let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
//! let host = schema.add(FieldSpec::new("host", LogicalType::Utf8))?;
//! let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
//! for (bytes, name) in [(512, "a.example"), (9_000, "b.example"), (70, "a.example")] {
//!     let mut doc = writer.document();
//!     doc.i64(size, bytes)?;
//!     doc.str(host, name)?;
//!     doc.finish()?;
//! }
//! let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
//!
//! let size = segment.numeric("size")?;
//! assert_eq!(size.get(DocId::new(1))?, Some(9_000));
//! assert_eq!(size.range(100..).count()?, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guide
//!
//! | page | about |
//! | --- | --- |
//! | [model](_guide::model) | segments, documents, kinds and types of columns |
//! | [reading](_guide::reading) | one document, many documents, ranges, filters; the cost of each |
//! | [typed values](_guide::typed_values) | numbers, dates, timestamps, strings, and the way each is stored |
//! | [live documents](_guide::live_documents) | deletes, updates, merges |
//! | [updates](_guide/updates/index.html) | with the feature `store`: update or upsert, two ways to change a document |
//! | [hits](_guide/hits/index.html) | with the feature `store`: documents and scores of an inverted index |
//! | [several segments](_guide::several_segments) | look-ups of ids, searches and merges over many segments |
//! | [threads and memory](_guide::threads_and_memory) | sharing, parallel searches, memory budgets |
//! | [custom sources](_guide::custom_sources) | columns of your own that searches and merges read |
//! | [untrusted files](_guide::untrusted_files) | checksums, hostile files, limits |
//!
//! The [docs of the repository](https://github.com/docvalues/docvalues/blob/main/docs/README.md) have a page for each task, such as
//! updating a price or replicating to a bucket, and describe `dv`, stores and the file format.
//!
//! # Overview
//!
//! | to | use |
//! | --- | --- |
//! | declare fields and write documents or column batches | [`Schema`], [`SegmentWriter`] |
//! | order the documents by columns | [`SegmentWriter::sort_by`] |
//! | open a file, and read its columns | [`Segment`], [`Numeric`], [`SortedNumeric`], [`Sorted`], [`SortedSet`], [`Binary`] |
//! | read columns for a collector, document by document | [`Lookahead`] |
//! | filter, facet, group, sort, aggregate, export | [`search`] |
//! | look up documents by id | [`SegmentWriter::id_field`], [`Segment::ids`], [`terms::lookup`] |
//! | merge segments | [`Merger`] |
//! | read columns of any source | [`ColumnSource`], [`Column`], [`Rows`] |
//! | write a source of columns of your own | [`mod@column`] |
//! | read an index of Lucene, Solr, OpenSearch or Elasticsearch | [`lucene`](https://docs.rs/docvalues-lucene) (feature `lucene`) |
//! | check a file | [`Segment::verify`] |
//!
//! A segment and its columns are `Arc`s: clone them, send them to threads, keep a column after its segment was dropped.
//!
//! # Searching
//!
//! A [`Search`](search::Search) runs over a segment, or over any other source of columns.
//!
//! | Lucene, Solr, Elasticsearch | here |
//! | --- | --- |
//! | `DocValuesRangeQuery`, skip index | [`Query`](search::Query), [`search::query`] |
//! | `SortedSetDocValuesFacetCounts`, terms aggregation | [`search::facet`] |
//! | collapse, grouping | [`search::group`] |
//! | `TopFieldCollector`, `SortField` | [`Search::top`](search::Search::top), [`SortKey`] |
//! | stats, percentiles, cardinality | [`search::stats`] |
//! | date histogram, range aggregation | [`search::histogram`] |
//! | `/export`, fetching of doc values fields | [`search::export`], [`Retriever`](search::export::Retriever) |
//!
//! ```
//! use docvalues::prelude::*;
//! use docvalues::search::facet::Facet;
//!
//! # let mut schema = Schema::new();
//! # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
//! # let host = schema.add(FieldSpec::new("host", LogicalType::Utf8))?;
//! # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
//! # for (bytes, name) in [(512, "a.example"), (9_000, "b.example"), (700, "a.example")] {
//! #     let mut doc = writer.document();
//! #     doc.i64(size, bytes)?.str(host, name)?;
//! #     doc.finish()?;
//! # }
//! # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
//! let search = Search::new(&segment);
//! let hits = search.filter(&Query::parse("size < 1kB and host ^= \"a.\"")?)?;
//! assert_eq!(hits.count(), 2);
//!
//! let hosts = search.facet(&hits, &Facet::of("host"))?;
//! assert_eq!((hosts.values.len(), hosts.values[0].1), (1, 2));
//!
//! let largest = search.top(&hits, &[SortKey::of("size").descending()], 1)?;
//! assert_eq!(largest[0].doc, DocId::new(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! Reading returns a [`column::Error`], writing a [`writer::Error`], searching a [`search::Error`], and a store a
//! `store::Error`. [`Error`] is any of them: a function that returns a [`docvalues::Result`](Result) uses `?` throughout.
//!
//! Bytes are verified against checksums when they are first touched. A damaged or hostile file gives an error that
//! names file, section and offset, and never a panic: see [untrusted files](_guide::untrusted_files).
//!
//! # Features
//!
//! | feature | default | adds |
//! | --- | --- | --- |
//! | `search` | yes | [`search`]; not on big-endian machines, which its distinct-count sketches do not support |
//! | `rayon` | yes | threads that encode columns ([`WriterOptions::threads`]) and search |
//! | `regex` | no | with `search`, regular expressions in queries, and text without regard to case |
//! | `arrow` | no | [`SegmentWriter`]`::append` for record batches; with `search`, exports as record batches |
//! | `lucene` | no | [`lucene`](https://docs.rs/docvalues-lucene): indexes of Lucene, Solr, OpenSearch and Elasticsearch as sources of columns |
//! | `store` | no | [`store`](https://docs.rs/docvalues-store): directories of segments that change |
//! | `object_store` | no | with `store`, replicas through buckets, and segments read from them through a cache |
//! | `tracing` | no | with `store`, events of what a store does, for the crate `tracing` |
//! | `derive` | no | [`document`](https://docs.rs/docvalues): `#[derive(Document)]`, for structs that are written and read |
//! | `serde` | no | with `search`, partial results and requests can be serialised |
//! | `tzdb` | no | with `search`, a time zone database for systems that have none |
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod _guide;
#[cfg(feature = "derive")]
pub mod document;
mod error;

pub use docvalues_column as column;
// For the tools, benches and tests of this workspace. Not part of the public API.
#[doc(hidden)]
pub use docvalues_format as format;
#[cfg(feature = "lucene")]
pub use docvalues_lucene as lucene;
pub use docvalues_reader as reader;
#[cfg(feature = "search")]
pub use docvalues_search as search;
#[cfg(feature = "store")]
pub use docvalues_store as store;
pub use docvalues_terms as terms;
pub use docvalues_writer as writer;

#[doc(inline)]
pub use docvalues_column::{
    Bitset, Column, ColumnSource, DocId, DocRange, Field, Kind, LiveDocs, LogicalType, Lookahead, OrdRange,
    Rows, SortKey, TermOrd, Terms, Value,
};
#[doc(inline)]
pub use docvalues_reader::{Binary, Numeric, OpenOptions, Segment, Sorted, SortedNumeric, SortedSet};
#[doc(inline)]
pub use docvalues_writer::{BytesKind, FieldId, FieldSpec, Merger, Schema, SegmentWriter, WriterOptions};

pub use error::{Error, Result};

/// The types that most programs need: `use docvalues::prelude::*`.
pub mod prelude {
    #[cfg(feature = "search")]
    pub use crate::search::{Docs, Query, Search};
    #[cfg(feature = "store")]
    pub use crate::store::{Store, StoreOptions, StoreSchema};
    pub use crate::{
        BytesKind, Column, ColumnSource, DocId, DocRange, Field, FieldSpec, Kind, LogicalType, OpenOptions,
        OrdRange, Rows, Schema, Segment, SegmentWriter, SortKey, TermOrd, Terms, WriterOptions,
    };
}

/// The code of the README is compiled.
#[cfg(all(doctest, feature = "store"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The code of the package's README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct PackageReadme;

/// The code of docs/store.md runs as a test.
#[cfg(all(doctest, feature = "store"))]
#[doc = include_str!("../../../docs/store.md")]
struct Stores;

/// The code of docs/search.md runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/search.md")]
struct Searches;

/// The code of docs/facet-over-hits.md runs as a test.
#[cfg(all(doctest, feature = "store"))]
#[doc = include_str!("../../../docs/facet-over-hits.md")]
struct FacetOverHits;

/// The code of docs/update-a-price.md runs as a test.
#[cfg(all(doctest, feature = "store"))]
#[doc = include_str!("../../../docs/update-a-price.md")]
struct UpdateAPrice;

/// The code of docs/lucene.md is compiled.
#[cfg(all(doctest, feature = "lucene", feature = "search"))]
#[doc = include_str!("../../../docs/lucene.md")]
struct Lucene;

/// The code of docs/own-columns.md runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/own-columns.md")]
struct OwnColumns;
