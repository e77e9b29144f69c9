//! A [tantivy](https://docs.rs/tantivy) index and a [docvalues] store as one: full text, and columns whose values change in place.
//!
//! ```
//! use docvalues::prelude::*;
//! use docvalues::search::SearchRequest;
//! use docvalues::search::facet::Facet;
//! use docvalues::search::stats::Stats;
//! use docvalues_tantivy::{Index, Options};
//! use tantivy::doc;
//! use tantivy::query::QueryParser;
//! use tantivy::schema::{self, TEXT};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("packages");
//! let mut text = schema::Schema::builder();
//! let description = text.add_text_field("description", TEXT);
//! let columns = StoreSchema::new()
//!     .with_field(Field::new("section", Kind::Sorted, LogicalType::Utf8))?
//!     .with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?;
//! let (index, mut writer) = Index::create(&path, text, columns, Options::new())?;
//!
//! let (section, size) = (writer.field("section")?, writer.field("size")?);
//! for (key, words, name, bytes) in [
//!     (1, "Ping utility to determine directional packet loss", "net", 33_548),
//!     (2, "TCP proxy for non-IPv6 applications", "net", 16_824),
//!     (3, "utility to pack files", "utils", 9_000),
//! ] {
//!     writer.add(key, doc!(description => words), |doc| {
//!         doc.str(section, name)?.i64(size, bytes)?;
//!         Ok(())
//!     })?;
//! }
//! writer.commit()?; // text and columns, or neither
//!
//! let query = QueryParser::for_index(index.text(), vec![description]).parse_query("utility")?;
//! let searcher = index.searcher();
//! let hits = searcher.hits(&*query)?;
//! assert_eq!(searcher.search().facet(&hits, &Facet::of("section"))?.values.len(), 2);
//!
//! // Text and a range of a column, with a sort and statistics, in one request.
//! let request = SearchRequest::new()
//!     .query(Query::hits(hits).and(Query::range("size", 10_000..)))
//!     .stats([Stats::of("size")])
//!     .sort([SortKey::of("size").descending()])
//!     .top(20);
//! let answer = searcher.search().request(&request)?;
//! assert_eq!((answer.hits, searcher.key(answer.top[0])?), (1, Some(1)));
//!
//! // A new value is visible at once. Nothing is written to the text.
//! writer.update(3, |doc| {
//!     doc.i64(size, 50_000)?;
//!     Ok(())
//! })?;
//! writer.refresh()?;
//! let searcher = index.searcher();
//! let hits = Query::hits(searcher.hits(&*query)?);
//! assert_eq!(searcher.search().count(&hits.and(Query::range("size", 10_000..)))?, 2);
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | facet, group, sort, aggregate and export the hits of a text query | [`Searcher::hits`], and the searches of [`docvalues::search`] |
//! | mix text with conditions on columns | [`Query::hits`](docvalues::search::Query::hits) |
//! | rank by score, and fetch columns of the best | tantivy's `TopDocs` over [`Searcher::text`], [`Searcher::address`] |
//! | read what tantivy stores of a hit | [`Searcher::key`], [`Searcher::text_address`] |
//!
//! # Files and searches
//!
//! ```text
//! index/text      tantivy: a document has a key, a fast field
//! index/columns   docvalues: the key is the id of a document
//!
//! query of text -> documents of a segment of text -> their places in the columns -> bits of each part -> facets, sorts, ...
//! ```
//!
//! The first query of a segment of text looks up the places of its documents by their keys. They take 2 bits a document, and 8 bytes
//! for each run of documents that follow each other in the columns as they do in the text. Later searchers have the same places,
//! with the moves of the columns' merges since: no key is looked up again.
//!
//! tantivy writes the text on several threads. Each gets small documents by batches of 4 KiB, so that runs are not shorter.
//!
//! A commit writes the segments of the text, then commits the columns, with the operation of the text's commit as user data, and
//! then the text. After a kill or a loss of power, opening compares the two: columns that are ahead go back to the commit before,
//! which they keep for this.
//!
//! | guarantee | |
//! | --- | --- |
//! | one set of documents | a [`Searcher`] has the same documents in text and columns |
//! | all or nothing | after a kill, text and columns are as in the last [`Writer::commit`] that returned, or in the one that was being made |
//! | updates write no text | [`Writer::update`] and [`Writer::refresh`] do not call tantivy |
#![forbid(unsafe_code)]

mod commits;
mod error;
mod index;
mod key;
mod places;
mod searcher;
mod shared;
mod text_batch;
mod writer;

pub use error::{Error, Result};
pub use index::{Index, Options};
pub use key::KEY;
pub use searcher::Searcher;
pub use writer::Writer;

/// The code of the README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
