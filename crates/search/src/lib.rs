//! Searches over doc values: filters, facets, histograms, groups, top-k, statistics and export.
//!
//! | search | returns | module |
//! | --- | --- | --- |
//! | filter | the documents that match a query | [`query`] |
//! | facet | the number of documents with each value | [`facet`] |
//! | histogram | the number of values in each bucket | [`histogram`] |
//! | group | the first groups of documents with equal values, and the best documents of each | [`group`] |
//! | sort | the first documents in an order, or all of them | [`sort`] |
//! | statistics | count, range, sum, spread, percentiles and distinct values of a column | [`stats`] |
//! | export | the values of many documents, in any order | [`export`] |
//! | retrieve | the values of a few documents, repeatedly | [`export::Retriever`] |
//! | calendar steps | days, weeks and hours in a time zone, for histograms and groups | [`calendar`] |
//! | partial results | answers that merge with those of other machines | [`partial`] |
//!
//! A search takes a set of documents ([`Docs`]) and column names. It reads columns in batches of up to 32,768
//! documents with `gather` and `scan`; no virtual call is made per document. Any
//! [`ColumnSource`](docvalues_column::ColumnSource) will do, a segment or your own; several are searched as [`Parts`].
//!
//! Searches run on the rayon pool of the calling thread, or else on rayon's global pool: see [`Search::threads`].
//! [`Search::memory`] limits their memory and [`Search::interrupt`] cancels them.
//!
//! # Examples
//!
//! See [`Search`] for single searches, and [`SearchRequest`] for several in one pass.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod calendar;
mod describe;
mod engine;
mod error;
pub mod export;
pub mod facet;
pub mod group;
pub mod histogram;
mod metrics;
pub mod partial;
pub mod query;
mod request;
#[cfg(feature = "serde")]
mod serial;
pub mod sort;
pub mod stats;
mod undamaged;

pub use docvalues_column::{Bitset, Value};
pub use engine::{
    DocList, DocSet, Docs, DocsByPart, MissingColumns, MixedTypes, PartChange, Parts, Search, TermMemory,
    widened,
};
pub use error::{Error, PartError, Result};
pub use query::Query;
pub use request::{SearchAnswer, SearchRequest, Times};
