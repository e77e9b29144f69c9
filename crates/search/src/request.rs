//! Several things at once about the documents that match a query.
//!
//! What sees every hit shares one pass over them: a column is decoded once a window, whoever uses it, and stays in the
//! innermost caches for the next one. The first documents in an order are found on their own, since that skips most of them,
//! and so are groups, which may see the documents more than once.

use std::time::{Duration, Instant};

use docvalues_column::{ColumnSource as _, DocAddress, SortKey};

use crate::Docs;
use crate::error::Result;
use crate::facet::{Facet, FacetCounter, FacetCounts};
use crate::group::{Group, Groups};
use crate::histogram::{BucketCounter, Histogram, HistogramCounts};
use crate::query::{Explain, Query};
use crate::search::Search;
use crate::sort::TopProfile;
use crate::stats::{self, ColumnStats, Stats};

/// What is asked about the documents that match a query.
///
/// ```
/// use docvalues_search::facet::Facet;
/// use docvalues_search::stats::Stats;
/// use docvalues_search::{Query, SearchRequest};
///
/// let request = SearchRequest {
///     query: Query::parse("status = 404")?,
///     facets: vec![Facet::on("host"), Facet::on("tags").top(3)],
///     stats: vec![Stats::of("size").percentiles([50.0, 99.0])],
///     top: 20,
///     ..SearchRequest::default()
/// };
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    /// Which documents.
    pub query: Query,
    /// Values to count.
    pub facets: Vec<Facet>,
    /// Values to count by range.
    pub histograms: Vec<Histogram>,
    /// Columns to sum up.
    pub stats: Vec<Stats>,
    /// Groups to find.
    pub groups: Vec<Group>,
    /// The order of documents.
    pub sort: Vec<SortKey>,
    /// How many documents are wanted in that order.
    pub top: usize,
}

impl Default for SearchRequest {
    /// All documents, and nothing about them but their number.
    fn default() -> SearchRequest {
        SearchRequest {
            query: Query::All,
            facets: Vec::new(),
            histograms: Vec::new(),
            stats: Vec::new(),
            groups: Vec::new(),
            sort: Vec::new(),
            top: 0,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchAnswer {
    /// How many documents match.
    pub hits: u64,
    /// For each facet its counts.
    pub facets: Vec<FacetCounts>,
    /// For each histogram its counts.
    pub histograms: Vec<HistogramCounts>,
    /// For each column what its values are.
    pub stats: Vec<ColumnStats>,
    /// For each way to group the groups that come first.
    pub groups: Vec<Groups>,
    /// The first documents.
    pub top: Vec<DocAddress>,
    /// How the query was evaluated.
    pub explain: Explain,
    /// How the first documents were found.
    pub top_profile: TopProfile,
    /// How long each step took.
    pub times: Times,
}

/// How long the steps of a request took, on the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Finding the documents.
    pub query: Duration,
    /// The pass over them, for facets, histograms and statistics.
    pub pass: Duration,
    /// Finding groups.
    pub groups: Duration,
    /// Finding the first of them.
    pub top: Duration,
}

impl Search<'_> {
    /// Several things at once about the documents that match a query; columns that are used twice are read once.
    ///
    /// # Errors
    ///
    /// As those of what is asked for.
    pub fn request(&self, request: &SearchRequest) -> Result<SearchAnswer> {
        let mut times = Times::default();
        let start = Instant::now();
        let bound = self.bind(&request.query)?;
        let bits;
        let (docs, explain) = if bound.is_all() {
            (Docs::All, bound.explain_known())
        } else if bound.is_none() {
            (Docs::Range(0, 0), bound.explain_known())
        } else {
            let (found, explain) = bound.collect_explained(Docs::All)?;
            bits = found;
            (Docs::Bits(&bits), explain)
        };
        times.query = start.elapsed();

        let start = Instant::now();
        let mut reading = self.begin(docs)?;
        let works = request.facets.len() + request.histograms.len() + request.stats.len();
        let bytes = reading.memory() / works.max(1);
        let facets = request.facets.iter().map(|facet| FacetCounter::new(&mut reading, facet, bytes));
        let facets = facets.collect::<Result<Vec<_>>>()?;
        let histograms =
            request.histograms.iter().map(|histogram| BucketCounter::new(&mut reading, histogram, bytes));
        let histograms = histograms.collect::<Result<Vec<_>>>()?;
        let plans = request.stats.iter().map(|stats| stats::plan(&mut reading, stats, bytes));
        let (plans, stats): (Vec<_>, Vec<_>) = plans.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let (facets, histograms, stats) = reading.run((facets, histograms, stats))?;
        let facets = facets.into_iter().map(|counter| counter.finish(&reading)).collect::<Result<_>>()?;
        let histograms =
            histograms.into_iter().map(|counter| counter.finish(&reading)).collect::<Result<_>>()?;
        let stats = plans.into_iter().zip(stats).map(|(plan, stats)| plan.finish(&reading, stats));
        let stats = stats.collect::<Result<_>>()?;
        times.pass = start.elapsed();

        let start = Instant::now();
        let groups = request.groups.iter().map(|group| self.group(docs, group)).collect::<Result<_>>()?;
        times.groups = start.elapsed();

        let start = Instant::now();
        let (top, top_profile) = self.top_explained(docs, &request.sort, request.top)?;
        times.top = start.elapsed();
        Ok(SearchAnswer {
            hits: docs.count(self.docs()).into(),
            facets,
            histograms,
            stats,
            groups,
            top,
            explain,
            top_profile,
            times,
        })
    }
}
