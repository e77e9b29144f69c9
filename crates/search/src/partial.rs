//! Partial results: answers over some parts that merge with the answers over others, on any machine.
//!
//! An index is often divided into shards, each on a machine of its own. Ten values with the greatest counts of each
//! shard are not enough to find the ten with the greatest counts of all: a value that is eleventh everywhere may be
//! first in total. A partial result therefore keeps everything that a merge needs.
//!
//! | search | partial result | keeps | merge, finish |
//! | --- | --- | --- | --- |
//! | [`Search::facet`] | [`PartialFacet`] | the count of every value | O(values) |
//! | [`Search::histogram`] | [`PartialHistogram`] | the buckets with values; with a facet, the counts of every value in each | O(buckets + values) |
//! | [`Search::stats`] | [`PartialStats`] | sums; for percentiles, the count of every number; for distinct values, these or a sketch of 16 KiB | O(values) |
//! | [`Search::group`] | [`PartialGroups`] | the accumulators and the best documents of every group; for percentiles, the count of every number of each; its distinct values | O(groups · log groups + values) |
//! | [`Search::top`] | [`PartialTop`] | the first documents with the values of their sort keys | O(top) |
//!
//! # The rule
//!
//! `search.partial_facet(docs, &facet)?.finish()` equals `search.facet(docs, &facet)?`. `a.merge(b)?.finish()` equals
//! the answer over the parts of `a` followed by those of `b`: in [`DocAddress`](docvalues_column::DocAddress), the parts
//! of `b` are numbered after those of `a`, and ties are broken accordingly. Merging is associative. The same holds for
//! the other searches.
//!
//! Some things depend on more than the documents:
//!
//! - A sum of doubles, a mean or a variance of them depends on the order of addition in its last bits. So may the order
//!   of groups by such a metric.
//! - Distinct byte strings without a dictionary are counted exactly up to a 16th of [`Search::memory`], of which the
//!   least of all searches counts.
//! - Calendar steps in a time zone depend on the time zone database of each machine.
//! - A column that has another kind or type in another partial result is an error, also with
//!   [`MixedTypes::Promote`](crate::MixedTypes::Promote). A column that no part of a shard has is not, with
//!   [`MissingColumns::NoValues`](crate::MissingColumns::NoValues).
//!
//! The memory of a partial result counts against [`Search::memory`].
//!
//! With the feature `serde`, partial results and requests can be serialised. Sender and receiver need the same release,
//! and the same word size for estimates of distinct byte strings. Invalid input is an error, or at worst gives a wrong
//! answer; it never panics, and takes no more memory than its size suggests.
//!
//! # Examples
//!
//! ```
//! # use docvalues_column::{Field, Kind, LogicalType, Part};
//! # use docvalues_testkit::model::{MemSource, ModelColumn};
//! use docvalues_column::Value;
//! use docvalues_search::facet::Facet;
//! use docvalues_search::{Docs, Parts, Search};
//!
//! # let of = |hosts: &[&str]| {
//! #     let terms = hosts.iter().map(|host| Some(host.as_bytes().to_vec())).collect();
//! #     let field = Field::new("host", Kind::Sorted, LogicalType::Utf8);
//! #     Parts::new([Part::new(MemSource::new(hosts.len() as u32, [(field, ModelColumn::Sorted(terms))]))])
//! # };
//! # let shards = [of(&["a", "a", "a", "c", "c"]), of(&["b", "b", "b", "c", "c"])];
//! // `c` is second in each shard, and first in both.
//! let facet = Facet::of("host").top(1);
//! let partial = |shard: &Parts| Search::over(shard).partial_facet(Docs::All, &facet);
//! let all = partial(&shards[0])?.merge(partial(&shards[1])?)?.finish();
//! assert_eq!(all.values, [(Value::Bytes(b"c".to_vec()), 4)]);
//! # Ok::<(), docvalues_search::Error>(())
//! ```

mod column;
mod distinct;
mod facet;
mod groups;
mod histogram;
mod keyed;
mod measure;
#[cfg(feature = "serde")]
mod serial;
mod stats;
mod top;

pub use facet::PartialFacet;
pub use groups::PartialGroups;
pub use histogram::PartialHistogram;
pub use stats::PartialStats;
pub use top::PartialTop;

use docvalues_column::SortKey;

use crate::engine::{DocsByPart, Search};
use crate::error::{Error, Result};
use crate::facet::Facet;
use crate::group::Group;
use crate::histogram::Histogram;
use crate::stats::Stats;

impl Search<'_> {
    /// Counts the documents of `docs` that have each value of a column, as a result that merges with others. O(documents)
    /// for each pass; one pass unless [`Search::memory`] requires more.
    ///
    /// # Errors
    ///
    /// As [`facet`](Self::facet); [`Error::Memory`] if the counts of all values exceed [`Search::memory`].
    pub fn partial_facet<'d>(&self, docs: impl Into<DocsByPart<'d>>, facet: &Facet) -> Result<PartialFacet> {
        PartialFacet::of(self, docs.into(), facet)
    }

    /// Counts the values of `docs` in each bucket, as a result that merges with others. O(documents).
    ///
    /// # Errors
    ///
    /// As [`histogram`](Self::histogram); [`Error::Memory`] if the buckets and their facets exceed [`Search::memory`].
    pub fn partial_histogram<'d>(
        &self,
        docs: impl Into<DocsByPart<'d>>,
        histogram: &Histogram,
    ) -> Result<PartialHistogram> {
        PartialHistogram::of(self, docs.into(), histogram)
    }

    /// Computes statistics of the values that `docs` have in a column, as a result that merges with others. As
    /// [`stats`](Self::stats), except that percentiles take no pass of their own, and distinct values of terms and of
    /// numbers close together take one.
    ///
    /// # Errors
    ///
    /// As [`stats`](Self::stats); [`Error::Memory`] if the counts of all numbers, or the different values, exceed
    /// [`Search::memory`].
    pub fn partial_stats<'d>(&self, docs: impl Into<DocsByPart<'d>>, asked: &Stats) -> Result<PartialStats> {
        PartialStats::of(self, docs.into(), asked)
    }

    /// Groups `docs` by the values of a column, as a result that merges with others. O(documents) for each pass, and two
    /// passes if the best documents are kept.
    ///
    /// # Errors
    ///
    /// As [`group`](Self::group); [`Error::Memory`] if all groups, their best documents and the values of their metrics exceed
    /// [`Search::memory`].
    pub fn partial_group<'d>(&self, docs: impl Into<DocsByPart<'d>>, group: &Group) -> Result<PartialGroups> {
        PartialGroups::of(self, docs.into(), group)
    }

    /// Finds the first `top` documents of `docs` in the order of `keys`, as a result that merges with others. As
    /// [`top`](Self::top), with one more read of the keys of these documents.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top); [`Error::Memory`] if the documents and their keys exceed [`Search::memory`].
    pub fn partial_top<'d>(
        &self,
        docs: impl Into<DocsByPart<'d>>,
        keys: &[SortKey],
        top: usize,
    ) -> Result<PartialTop> {
        PartialTop::of(self, docs.into(), keys, top)
    }
}

/// Returns an error unless two partial results are of the same request.
fn check_same<R: PartialEq>(column: &str, a: &R, b: &R) -> Result<()> {
    if a == b {
        return Ok(());
    }
    Err(Error::Request(format!(
        "column \"{column}\": expected a partial result of the same request, found one of another"
    )))
}

/// Returns an error if a deserialised partial result is not valid.
#[cfg(feature = "serde")]
fn check(column: &str, is_valid: bool, expected: &str) -> Result<()> {
    if is_valid {
        return Ok(());
    }
    Err(Error::Request(format!("partial result of column \"{column}\": expected {expected}")))
}
