//! What engines do with doc values, over any source of columns.
//!
//! | work | asks | module |
//! | --- | --- | --- |
//! | filter | which documents are like this? | [`query`] |
//! | facet | how many documents have each value? | [`facet`] |
//! | histogram | how many values lie in each of a row of ranges? | [`histogram`] |
//! | group | which groups of documents with one value come first, and which documents of each? | [`group`] |
//! | sort | which documents come first? | [`sort`] |
//! | statistics | how many values, from where to where, how spread, how many different ones? | [`stats`] |
//! | export | what do these columns hold for many documents, in this order? | [`export`] |
//! | retrieve | and for a few, again and again? | [`retrieve`] |
//!
//! The input of a work is a set of documents ([`Docs`]) and columns; it goes through them a few thousand documents at a
//! time, by `gather` and `scan`, and never asks a trait object for one document.
//!
//! Searches run on the threads of the rayon pool in which they are called, else of rayon's global pool:
//! [`Search::threads`]. [`Search::memory`] bounds what they hold, and [`Search::interrupt`] ends them.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arrow")]
pub mod arrow;
mod collector;
mod columns;
mod constant;
mod docs;
mod error;
pub mod export;
pub mod facet;
pub mod group;
mod hash_tables;
pub mod histogram;
mod interrupt;
mod memory;
mod memory_budget;
mod multi_pass;
mod pass;
pub mod query;
mod request;
pub mod retrieve;
mod search;
mod skip;
pub mod sort;
pub mod stats;
mod threads;
mod value;
mod window;

pub use docs::{DocList, Docs};
pub use docvalues_column::{Bitset, Value};
pub use error::{Error, Result};
pub use query::Query;
pub use request::{SearchAnswer, SearchRequest, Times};
pub use search::{MissingColumns, Search};
