//! A columnar, memory-mapped doc-values store: any value of any document in O(1), in any order.
//!
//! *Doc values* are what a search engine or an analytics engine keeps beside its inverted index: for
//! each document the values of its fields, laid out column by column, for faceting, grouping,
//! sorting, statistics, export and retrieval. This crate writes them once, into one file, and reads
//! them through a mapping.
//!
//! # The model in one page
//!
//! A **segment** is one immutable file, `NAME.dv`. It holds **documents**, numbered from 0
//! ([`DocId`]), and **columns**, each with a name, a [`Kind`] and a [`LogicalType`]:
//!
//! | kind | a document has | typical |
//! | --- | --- | --- |
//! | numeric | at most one 64-bit number | sizes, times, prices |
//! | binary | at most one byte string | urls, descriptions |
//! | sorted | at most one term of a dictionary | hosts, status names |
//! | sorted-numeric | any number of 64-bit numbers | several prices |
//! | sorted-set | a set of terms | tags |
//!
//! A document need not have a value. Numbers of other types than `i64` are mapped to it so that their
//! order is kept; the type is recorded, and [`Segment::typed`] reads values in it.
//!
//! **Writing**: declare a [`Schema`], then hand a [`SegmentWriter`] documents or column batches; the
//! file appears under its name when it is whole, or not at all. The same values give the same bytes.
//!
//! **Sorting**: [`SegmentWriter::sort_by`] puts the documents in the order of some columns. The segment says so
//! ([`Segment::sort`]), and a range of the first of these columns is a range of documents.
//!
//! **Ids**: [`SegmentWriter::id_field`] adds an index from the ids of documents to these; [`Segment::ids`] looks them
//! up, and [`terms::lookup`] does in hundreds of segments at once.
//!
//! **Merging**: a [`Merger`] makes one segment of several, without the documents that were deleted; segments that
//! are sorted alike stay sorted.
//!
//! **Reading**: open a [`Segment`] and take handles to its columns: [`Segment::numeric`], [`sorted`](Segment::sorted),
//! [`binary`](Segment::binary) and their siblings. A handle is an `Arc`: clone it, send it to threads, keep it when the
//! segment is gone. `get` reads one document, `gather` many in any order, `scan` a range; `range` is a filter that sets
//! bits or counts. Nothing must move forward.
//!
//! **Sources**: code for columns of any kind takes a [`Column`] from a [`ColumnSource`], which a segment is. [`Values`] are
//! numbers, ords or bytes, and [`Rows`] reads each of them alike. Another engine implements these traits, and merges and
//! searches read its columns as they read segments.
//!
//! **Searching**: [`search`] filters, facets, groups, sorts, sums up and exports, over segments and any other source of columns.
//!
//! **Trust**: bytes are checked where they are first touched, 4 KiB at a time, against a checksum.
//! A damaged or hostile file gives an error that names file, section and offset: never a panic, and
//! with the default [`Verify::OnFirstTouch`] never a wrong value from damage. [`Segment::verify`]
//! reads everything.
//!
//! **Errors**: reading returns a [`ReadError`], writing a [`WriteError`], searching a [`search::Error`]. [`Error`] is any of
//! them: a function that returns a [`docvalues::Result`](Result) uses `?` throughout.
//!
//! # Ten lines
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
//! # Collectors
//!
//! A collector of a search engine gets one document at a time. A [`Lookahead`] gathers several columns of 64 documents at
//! once, several times as fast as a `get` for each document and column:
//!
//! ```
//! use docvalues::prelude::*;
//! use docvalues::{Gathered, Lookahead, Numeric, ReadError, Sorted};
//!
//! /// Adds up prices by host.
//! struct Collector {
//!     ahead: Lookahead<(Numeric<f64>, Sorted)>,
//!     totals: Vec<f64>,
//! }
//!
//! impl Collector {
//!     fn collect(&mut self, doc: DocId) -> Result<(), ReadError> {
//!         if let Some((_docs, rows)) = self.ahead.push(doc)? {
//!             add(rows, &mut self.totals);
//!         }
//!         Ok(())
//!     }
//!
//!     fn finish(mut self) -> Result<Vec<f64>, ReadError> {
//!         if let Some((_docs, rows)) = self.ahead.finish()? {
//!             add(rows, &mut self.totals);
//!         }
//!         Ok(self.totals)
//!     }
//! }
//!
//! fn add((prices, hosts): &(Gathered<f64>, Gathered<TermOrd>), totals: &mut [f64]) {
//!     for at in 0..prices.len() {
//!         if let (Some(price), Some(host)) = (prices.value(at), hosts.value(at)) {
//!             totals[host.get() as usize] += price;
//!         }
//!     }
//! }
//!
//! # let mut schema = Schema::new();
//! # let price = schema.add(FieldSpec::new("price", LogicalType::F64))?;
//! # let host = schema.add(FieldSpec::new("host", LogicalType::Utf8).kind(docvalues::BytesKind::Sorted))?;
//! # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
//! # for doc in 0..100 {
//! #     let mut document = writer.document();
//! #     document.f64(price, 0.5)?.str(host, ["a.example", "b.example"][doc % 2])?;
//! #     document.finish()?;
//! # }
//! # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
//! let (prices, hosts) = (segment.typed::<f64>("price")?, segment.sorted("host")?);
//! let totals = vec![0.0; hosts.terms().term_count() as usize];
//! let mut collector = Collector { ahead: Lookahead::new((prices, hosts)), totals };
//! for doc in [98, 7, 42, 98] {
//!     collector.collect(DocId::new(doc))?;
//! }
//! assert_eq!(collector.finish()?, [1.5, 0.5]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Types
//!
//! [`Segment::typed`] and [`typed_lists`](Segment::typed_lists) read `f64`, `u64`, `bool`, [`Date`] and the three
//! timestamps; [`numeric`](Segment::numeric) is short for `typed::<i64>`. Another type than the column's is
//! [`ReadErrorKind::WrongType`]; [`Segment::stored`] reads the stored numbers of any type.
//!
//! | type | written by | read by | stored as |
//! | --- | --- | --- | --- |
//! | [`LogicalType::I64`] | `doc.i64` | `numeric` | itself |
//! | [`U64`](LogicalType::U64) | `doc.u64` | `typed::<u64>` | the top bit flipped |
//! | [`F64`](LogicalType::F64) | `doc.f64` | `typed::<f64>` | its bits in the order of *totalOrder* |
//! | [`Bool`](LogicalType::Bool) | `doc.bool` | `typed::<bool>` | 0 or 1 |
//! | [`Date`](LogicalType::Date) | `doc.date` | `typed::<Date>` | days since 1970-01-01 |
//! | [`TimestampMillis`](LogicalType::TimestampMillis), … | `doc.timestamp` | `typed::<TimestampMillis>`, … | units since 1970-01-01T00:00:00Z |
//!
//! A range of doubles counts what a loop over them counts: 0.0 takes −0.0 along, and NaN lies in no range.
//!
//! ```
//! use docvalues::prelude::*;
//!
//! let mut schema = Schema::new();
//! let price = schema.add(FieldSpec::new("price", LogicalType::F64))?;
//! let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
//! for value in [9.95, -0.0, f64::INFINITY, f64::NAN] {
//!     let mut doc = writer.document();
//!     doc.f64(price, value)?;
//!     doc.finish()?;
//! }
//! let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
//!
//! let price = segment.typed::<f64>("price")?;
//! assert_eq!(price.get(DocId::new(0))?, Some(9.95));
//! assert_eq!(price.range(0.0..=10.0).count()?, 2);
//! assert_eq!(price.range(10.0..).count()?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Searching
//!
//! A [`Search`](search::Search) asks a segment: which documents match, how often values occur, what comes first. With
//! [`SearchRequest`](search::SearchRequest) it is asked several things at once.
//!
//! | Lucene, Solr, Elasticsearch | here |
//! | --- | --- |
//! | `DocValuesRangeQuery`, skip index | [`Query`](search::Query), [`search::query`] |
//! | `SortedSetDocValuesFacetCounts`, terms aggregation | [`search::facet`] |
//! | collapse, grouping | [`search::group`] |
//! | `TopFieldCollector`, `SortField` | [`Search::top`](search::Search::top), [`SortKey`] |
//! | stats, percentiles, cardinality | [`search::stats`] |
//! | date histogram, range aggregation | [`search::histogram`] |
//! | `/export`, fetching of doc values fields | [`search::export`], [`search::retrieve`] |
//!
//! ```
//! use docvalues::prelude::*;
//! use docvalues::search::{Docs, Query, Search, facet::Facet};
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
//! let hosts = search.facet(Docs::Bits(&hits), &Facet::on("host"))?;
//! assert_eq!((hosts.values.len(), hosts.values[0].1), (1, 2));
//!
//! let largest = search.top(Docs::Bits(&hits), &[SortKey::new("size").descending()], 1)?;
//! assert_eq!(largest[0].doc, DocId::new(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Ids
//!
//! With an id field, [`Segment::ids`] goes from an id to its document. Over many segments,
//! [`IdStore`](terms::lookup::IdStore) keeps a fingerprint table that tells at once that an id is new, and gives each reader a
//! snapshot; a `Seeker` of it does what `PerThreadIDVersionAndSeqNoLookup` does, and columns have the version:
//!
//! ```
//! use docvalues::prelude::*;
//! use docvalues::terms::lookup::IdStore;
//!
//! let segment = |docs: &[(&str, i64)]| {
//!     let mut schema = Schema::new();
//!     let id = schema.add(FieldSpec::new("_id", LogicalType::Utf8))?;
//!     let version = schema.add(FieldSpec::new("_version", LogicalType::I64))?;
//!     let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
//!     writer.id_field(id, docvalues::IdOptions::default())?;
//!     for &(name, number) in docs {
//!         let mut doc = writer.document();
//!         doc.str(id, name)?.i64(version, number)?;
//!         doc.finish()?;
//!     }
//!     let bytes = writer.finish_bytes()?;
//!     Ok::<_, Box<dyn std::error::Error>>(Segment::from_bytes(bytes, OpenOptions::new())?)
//! };
//! let (older, newer) = (segment(&[("ant", 1), ("bee", 1)])?, segment(&[("cow", 1), ("ant", 2)])?);
//!
//! // One segment.
//! let ids = older.ids()?.ok_or("no index of ids")?;
//! assert_eq!(ids.find(b"bee")?, Some(DocId::new(1)));
//!
//! // Many: the newest that has an id counts.
//! let store = IdStore::new();
//! for segment in [&older, &newer] {
//!     store.add(segment.ids()?.ok_or("no index of ids")?.reader().clone())?;
//! }
//! let (snapshot, mut found) = (store.snapshot(), Vec::new());
//! snapshot.seeker().find_many(&[b"ant", b"bee", b"new"], &mut found)?;
//! let newest_first = [newer.numeric("_version")?, older.numeric("_version")?];
//! let versions = found.iter().map(|hit| hit.map(|hit| newest_first[hit.segment].get(hit.doc)).transpose());
//! assert_eq!(versions.collect::<Result<Vec<_>, _>>()?, [Some(Some(2)), Some(Some(1)), None]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! | feature | default | adds |
//! | --- | --- | --- |
//! | `search` | yes | [`search`]; not on big-endian machines, which its sketches of distinct values do not support |
//! | `rayon` | yes | threads that encode columns ([`WriterOptions::threads`]) and search |
//! | `arrow` | no | [`SegmentWriter`]`::append` for record batches; with `search`, exports as record batches |
//!
//! The examples of the crate go on from there: `quickstart`, `batches`, `threads`.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;

pub use docvalues_column as column;
// The layouts of a file: for our own tools, benches and tests, and not part of the API.
#[doc(hidden)]
pub use docvalues_format as format;
pub use docvalues_reader as reader;
#[cfg(feature = "search")]
pub use docvalues_search as search;
pub use docvalues_terms as terms;
pub use docvalues_writer as writer;

pub use docvalues_column::{
    Batch, BatchDocs, Bitset, Bounds, ByteRange, Column, ColumnInfo, ColumnSource, Count, Date, DocAddress,
    DocId, DocRange, Each, Element, Error as ReadError, ErrorKind as ReadErrorKind, Field, Filter,
    GatherRows, Gathered, Kind, Lists, LiveDocs, LogicalType, Lookahead, MAX_DOCS, Number, OrdRange, Part,
    Presence, PruneCounts, Pruning, Rows, SkipIndex, Slices, SortKey, TermOrd, Terms, TimestampMicros,
    TimestampMillis, TimestampNanos, Value, Values, View, Zone, bits,
};
pub use docvalues_format::error::{Error as FormatError, ErrorKind as FormatErrorKind, Section};
pub use docvalues_reader::{
    Access, Binary, ColumnUsage, Cursor, IdForm, IdIndex, IdReader, JumpTables, Memory, Numeric,
    NumericSeeker, OpenOptions, ReadAt, SectionUsage, Segment, SegmentUsage, Sorted, SortedNumeric,
    SortedSet, Verify,
};
pub use docvalues_writer::{
    AtomicFile, BytesKind, ColumnSummary, Compression, Document, Duplicates, Error as WriteError,
    ErrorKind as WriteErrorKind, FieldId, FieldSpec, FinishError, IdOptions, IdsSummary, MAX_SORT_KEYS,
    MergeProgress, Merger, Schema, SegmentWriter, Spill, Step, StorageError, Stream, Summary, Target,
    WriterOptions,
};

pub use error::{Error, Result};

/// What nearly every user of the crate needs: `use docvalues::prelude::*`.
pub mod prelude {
    pub use crate::{
        Column, ColumnSource, DocId, DocRange, FieldSpec, Kind, LogicalType, OpenOptions, OrdRange, Rows,
        Schema, Segment, SegmentWriter, SortKey, TermOrd, Terms, WriterOptions,
    };
}

/// The code of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The code of the package's README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct PackageReadme;

/// The code of docs/search.md runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/search.md")]
struct Searches;
