//! Several searches over the documents that match one query.
//!
//! Facets, histograms and statistics share one pass: each column is decoded once per window and stays in cache for
//! the next consumer. Top-k runs on its own, since it skips most documents. So do groups, which may take several
//! passes.

use std::time::Duration;

use docvalues_column::{DocAddress, SortKey};

use crate::engine::{DocsByPart, Request, Search, Stopwatch};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::facet::{Facet, FacetCounter, FacetCounts};
use crate::group::{self, Group, Groups};
#[cfg(doc)]
use crate::group::{GroupOrder, Metric};
use crate::histogram::{BucketCounter, Histogram, HistogramCounts};
use crate::query::{Explain, Query};
use crate::sort::{SortCursor, TopProfile};
use crate::stats::{self, ColumnStats, Stats};

/// The searches to run over the documents that match a query.
///
/// ```
/// use docvalues_search::facet::Facet;
/// use docvalues_search::stats::Stats;
/// use docvalues_search::{Query, SearchRequest};
///
/// let request = SearchRequest::new()
///     .query(Query::parse("status = 404")?)
///     .facets([Facet::of("host"), Facet::of("tags").top(3)])
///     .stats([Stats::of("size").percentiles([50.0, 99.0])])
///     .top(20);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct SearchRequest {
    /// The documents to search.
    pub query: Query,
    /// Facets to count.
    pub facets: Vec<Facet>,
    /// Histograms to count.
    pub histograms: Vec<Histogram>,
    /// Statistics to compute.
    pub stats: Vec<Stats>,
    /// Groups to find.
    pub groups: Vec<Group>,
    /// The sort order of [`top`](Self::top).
    pub sort: Vec<SortKey>,
    /// The number of documents to return in that order; `usize::MAX` for all, as [`Search::sorted`] returns them.
    pub top: usize,
    /// The position that these documents follow, as in [`Search::top_after`]; `None` for the first page.
    pub after: Option<SortCursor>,
    /// Whether to return how the query was evaluated. This is slower: see
    /// [`collect_explained`](crate::query::BoundQuery::collect_explained).
    pub explain: bool,
}

impl SearchRequest {
    /// All documents; returns only their number.
    pub fn new() -> SearchRequest {
        SearchRequest::default()
    }

    /// Sets the documents to search.
    pub fn query(self, query: Query) -> SearchRequest {
        SearchRequest { query, ..self }
    }

    /// Sets the facets to count.
    pub fn facets(self, facets: impl IntoIterator<Item = Facet>) -> SearchRequest {
        SearchRequest { facets: facets.into_iter().collect(), ..self }
    }

    /// Sets the histograms to count.
    pub fn histograms(self, histograms: impl IntoIterator<Item = Histogram>) -> SearchRequest {
        SearchRequest { histograms: histograms.into_iter().collect(), ..self }
    }

    /// Sets the statistics to compute.
    pub fn stats(self, stats: impl IntoIterator<Item = Stats>) -> SearchRequest {
        SearchRequest { stats: stats.into_iter().collect(), ..self }
    }

    /// Sets the groups to find.
    pub fn groups(self, groups: impl IntoIterator<Item = Group>) -> SearchRequest {
        SearchRequest { groups: groups.into_iter().collect(), ..self }
    }

    /// Sets the sort order of the first documents.
    pub fn sort(self, sort: impl IntoIterator<Item = SortKey>) -> SearchRequest {
        SearchRequest { sort: sort.into_iter().collect(), ..self }
    }

    /// Sets the number of documents to return in that order; `usize::MAX` for all.
    pub fn top(self, top: usize) -> SearchRequest {
        SearchRequest { top, ..self }
    }

    /// Sets the position that the documents in that order follow: the next page.
    pub fn after(self, last: SortCursor) -> SearchRequest {
        SearchRequest { after: Some(last), ..self }
    }

    /// Sets whether to return how the query was evaluated.
    pub fn explain(self, explain: bool) -> SearchRequest {
        SearchRequest { explain, ..self }
    }

    /// Whether only the number of documents is requested.
    fn is_count(&self) -> bool {
        let SearchRequest { facets, histograms, stats, groups, .. } = self;
        let is_empty = facets.is_empty() && histograms.is_empty() && stats.is_empty() && groups.is_empty();
        is_empty && self.top == 0
    }
}

/// The results of a [`SearchRequest`].
///
/// # Examples
///
/// | document | host | size |
/// | ---: | --- | ---: |
/// | 0 | `b.example` | 512 |
/// | 1 | `a.example` | 9 |
/// | 2 | `b.example` | 70 |
/// | 3 | | 1,500 |
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// # let term = |text: &str| Some(text.as_bytes().to_vec());
/// # let host = Field::new("host", Kind::Sorted, LogicalType::Utf8);
/// # let hosts = ModelColumn::Sorted(vec![term("b.example"), term("a.example"), term("b.example"), None]);
/// # let size = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let sizes = ModelColumn::Numeric(vec![Some(512), Some(9), Some(70), Some(1_500)]);
/// # let source = MemSource::new(4, [(host, hosts), (size, sizes)]);
/// use docvalues_column::SortKey;
/// use docvalues_search::facet::Facet;
/// use docvalues_search::stats::Stats;
/// use docvalues_search::{Query, Search, SearchRequest};
///
/// let request = SearchRequest::new()
///     .query(Query::parse("size < 1kB")?)
///     .facets([Facet::of("host")])
///     .stats([Stats::of("size")])
///     .sort([SortKey::of("size").descending()])
///     .top(1);
/// let answer = Search::new(&source).request(&request)?;
/// assert_eq!((answer.hits, answer.facets[0].distinct), (3, 2));
/// assert_eq!(answer.stats[0].max, Some(512_i64.into()));
/// assert_eq!(answer.top[0].doc.get(), 0);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchAnswer {
    /// The number of documents that match.
    pub hits: u64,
    /// A result for each facet.
    pub facets: Vec<FacetCounts>,
    /// A result for each histogram.
    pub histograms: Vec<HistogramCounts>,
    /// A result for each column of statistics.
    pub stats: Vec<ColumnStats>,
    /// A result for each grouping.
    pub groups: Vec<Groups>,
    /// The first documents in the sort order.
    pub top: Vec<DocAddress>,
    /// The evaluation of the query, if the request asks for it.
    pub explain: Option<Explain>,
    /// The counts of the search for the first documents; all zeros if all were sorted, or follow a position.
    pub top_profile: TopProfile,
    /// The time that each step took.
    pub times: Times,
}

/// The wall-clock time of each step of a request: [`SearchAnswer::times`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Times {
    /// The query.
    pub query: Duration,
    /// The shared pass: facets, histograms and statistics.
    pub pass: Duration,
    /// Groups.
    pub groups: Duration,
    /// Top-k.
    pub top: Duration,
}

/// The answers of one pass: to facets, histograms and statistics.
type PassAnswers = (Vec<FacetCounts>, Vec<HistogramCounts>, Vec<ColumnStats>);

impl Search<'_> {
    /// Counts the documents of `docs` that have each value of a column. O(documents) for each pass; one pass unless
    /// [`Search::memory`] requires more.
    ///
    /// # Errors
    ///
    /// If there is no such column, it has no prefixes, or it is damaged.
    pub fn facet<'d>(&self, docs: impl Into<DocsByPart<'d>>, facet: &Facet) -> Result<FacetCounts> {
        let mut counts = self.facets(docs, std::slice::from_ref(facet))?;
        Ok(counts.remove(0))
    }

    /// Counts several columns in one pass over the documents.
    ///
    /// # Errors
    ///
    /// As [`facet`](Self::facet).
    pub fn facets<'d>(&self, docs: impl Into<DocsByPart<'d>>, facets: &[Facet]) -> Result<Vec<FacetCounts>> {
        Ok(self.pass(docs.into(), facets, &[], &[])?.0)
    }

    /// Counts the values of `docs` in each bucket.
    ///
    /// # Errors
    ///
    /// If there is no such column, it has no numbers, the step is invalid or makes too many buckets, the column is
    /// damaged, or counting within buckets exceeds [`Search::memory`].
    pub fn histogram<'d>(
        &self,
        docs: impl Into<DocsByPart<'d>>,
        histogram: &Histogram,
    ) -> Result<HistogramCounts> {
        let mut found = self.pass(docs.into(), &[], std::slice::from_ref(histogram), &[])?.1;
        Ok(found.remove(0))
    }

    /// Computes statistics of the values that `docs` have in a column.
    ///
    /// For all documents, what the directory has is not computed again.
    ///
    /// # Errors
    ///
    /// If there is no such column, its kind has no such statistic, or it is damaged.
    pub fn stats<'d>(&self, docs: impl Into<DocsByPart<'d>>, stats: &Stats) -> Result<ColumnStats> {
        let mut found = self.stats_of(docs, std::slice::from_ref(stats))?;
        Ok(found.remove(0))
    }

    /// Computes the statistics of several columns in one pass over the documents.
    ///
    /// # Errors
    ///
    /// As [`stats`](Self::stats).
    pub fn stats_of<'d>(&self, docs: impl Into<DocsByPart<'d>>, stats: &[Stats]) -> Result<Vec<ColumnStats>> {
        Ok(self.pass(docs.into(), &[], &[], stats)?.2)
    }

    /// Groups `docs` by the values of one or more columns, and returns the first groups.
    ///
    /// O(documents) for each pass; [`Search::memory`] may require more than one. See [the module](crate::group).
    ///
    /// # Errors
    ///
    /// If there is no such column, it has several values a document, a metric's column has no numbers, memory is far
    /// too small, or a column is damaged; [`Error::Request`] if there is no column to group by, a percentile is not from 0 to
    /// 100, or if a condition, [`Metric::Distinct`] or [`Metric::Percentile`] is combined with [`GroupOrder::Best`];
    /// [`Error::Query`] if the condition has other names than `count` and the metrics that are numbers.
    pub fn group<'d>(&self, docs: impl Into<DocsByPart<'d>>, group: &Group) -> Result<Groups> {
        let (fields, found) = group::find(self, docs.into(), group, false)?;
        Ok(found.finish(fields, group.with_missing))
    }

    /// Runs several searches over the documents that match a query. Columns that several of them use are read once.
    /// A request for the number of documents alone makes no set of them.
    ///
    /// # Errors
    ///
    /// As those of the individual searches.
    pub fn request(&self, request: &SearchRequest) -> Result<SearchAnswer> {
        let (mut times, mut start) = (Times::default(), Stopwatch::start());
        // The time since the last step ended.
        let mut lap = || std::mem::replace(&mut start, Stopwatch::start()).elapsed();
        let bound = self.bind(&request.query)?;
        let (set, explain) = if request.explain {
            let (set, explain) = bound.collect_explained(DocsByPart::All)?;
            (Some(set), Some(explain))
        } else {
            let set = (!request.is_count()).then(|| bound.collect(DocsByPart::All));
            (set.transpose()?, None)
        };
        let hits = set.as_ref().map_or_else(|| bound.count(DocsByPart::All), |set| Ok(set.count()))?;
        let docs = set.as_ref().map_or(DocsByPart::All, DocsByPart::Set);
        times.query = lap();

        let SearchRequest { facets, histograms, stats, .. } = request;
        let (facets, histograms, stats) = self.pass(docs, facets, histograms, stats)?;
        times.pass = lap();

        let groups = request.groups.iter().map(|group| self.group(docs, group)).collect::<Result<_>>()?;
        times.groups = lap();

        let (top, top_profile) = match (request.top, &request.after) {
            (top, Some(last)) => self.top_after_explained(docs, &request.sort, last, top)?,
            (usize::MAX, None) => (self.sorted(docs, &request.sort)?, TopProfile::default()),
            (top, None) => self.top_explained(docs, &request.sort, top)?,
        };
        times.top = lap();
        Ok(SearchAnswer { hits, facets, histograms, stats, groups, top, explain, top_profile, times })
    }

    /// Facets, histograms and statistics in one pass, which share the memory.
    fn pass(
        &self,
        docs: DocsByPart<'_>,
        facets: &[Facet],
        histograms: &[Histogram],
        stats: &[Stats],
    ) -> Result<PassAnswers> {
        let mut request = Request::open(self, docs)?;
        let bytes = request.memory() / (facets.len() + histograms.len() + stats.len()).max(1);
        let facets = facets.iter().map(|facet| FacetCounter::new(&mut request, facet, bytes));
        let facets = facets.collect::<Result<Vec<_>>>()?;
        let histograms =
            histograms.iter().map(|histogram| BucketCounter::new(&mut request, histogram, bytes));
        let histograms = histograms.collect::<Result<Vec<_>>>()?;
        let readings = stats.iter().map(|stats| stats::open(&mut request, stats, bytes));
        let readings = readings.collect::<Result<Vec<_>>>()?;
        let (facets, (histograms, readings)) = request.run((facets, (histograms, readings)))?;
        let stats = stats.iter().zip(readings);
        let stats = stats.map(|(stats, reading)| stats::finish(stats, &request, reading));
        Ok((
            facets.into_iter().map(|counter| counter.finish(&request)).collect::<Result<_>>()?,
            histograms.into_iter().map(|counter| counter.finish(&request)).collect::<Result<_>>()?,
            stats.collect::<Result<_>>()?,
        ))
    }
}
