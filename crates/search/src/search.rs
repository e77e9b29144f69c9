//! Where requests begin.

use docvalues_column::{ColumnSource, DocId, SortKey};

use crate::columns::{Columns, Slot};
use crate::docs::{Bitset, Docs};
use crate::error::Result;
use crate::facet::{self, Facet, FacetCounts};
use crate::group::{self, Group, Groups};
use crate::histogram::{self, Histogram, HistogramCounts};
use crate::pass::{Collector, Pass};
use crate::query::{Bound, Query};
use crate::request::{self, SearchAnswer, SearchRequest};
use crate::sort::{self, TopRan};
use crate::stats::{self, ColumnStats, Stats};

/// A source of columns that is asked, and how.
pub struct Search<'s> {
    source: &'s (dyn ColumnSource + Sync),
    threads: usize,
}

impl<'s> Search<'s> {
    /// Searches in `source`, with as many threads as the machine has.
    pub fn new(source: &'s (dyn ColumnSource + Sync)) -> Search<'s> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Search { source, threads: 1 }.threads(threads)
    }

    /// With so many threads, 1 at least. The answers are the same for any number. Without the feature `rayon` there is
    /// one.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Search<'s> {
        self.threads = if cfg!(feature = "rayon") { threads.max(1) } else { 1 };
        self
    }

    /// The columns.
    pub fn source(&self) -> &'s (dyn ColumnSource + Sync) {
        self.source
    }

    /// A query, bound to the columns, that runs on as many threads.
    ///
    /// # Errors
    ///
    /// As [`Query::bind`].
    pub fn bind(&self, query: &Query) -> Result<Bound> {
        Ok(query.bind(self.source)?.threads(self.threads))
    }

    /// The documents that match `query`. Of many, a set that holds all is better said by [`Docs::All`].
    ///
    /// # Errors
    ///
    /// When there is no such column, a literal is none of its type, or bytes are damaged.
    pub fn filter(&self, query: &Query) -> Result<Bitset> {
        self.bind(query)?.collect(Docs::All)
    }

    /// How many documents match `query`.
    ///
    /// # Errors
    ///
    /// As [`filter`](Self::filter).
    pub fn count(&self, query: &Query) -> Result<u32> {
        self.bind(query)?.count(Docs::All)
    }

    /// Several things at once about the documents that match a query; columns that are used twice are read once.
    ///
    /// # Errors
    ///
    /// As those of what is asked for.
    pub fn request(&self, request: &SearchRequest) -> Result<SearchAnswer> {
        request::run(self, request)
    }

    /// How many of `docs` have each value of a column.
    ///
    /// # Errors
    ///
    /// When there is no such column, it has no prefixes, or bytes of it are damaged.
    pub fn facet(&self, docs: Docs<'_>, facet: &Facet) -> Result<FacetCounts> {
        let mut counts = facet::facets(self, docs, std::slice::from_ref(facet))?;
        Ok(counts.remove(0))
    }

    /// The same for several columns, in one pass over the documents.
    ///
    /// # Errors
    ///
    /// As [`facet`](Self::facet).
    pub fn facets(&self, docs: Docs<'_>, facets: &[Facet]) -> Result<Vec<FacetCounts>> {
        facet::facets(self, docs, facets)
    }

    /// The first `top` of `docs` in the order of `keys`; documents that are equal by all of them, or all if there are
    /// none, in the order of their numbers.
    ///
    /// O(documents) at worst, O(top) for a source that is sorted like this; see [`sort`](crate::sort).
    ///
    /// # Errors
    ///
    /// When there is no such column, a column is named twice, or bytes of it are damaged.
    pub fn top(&self, docs: Docs<'_>, keys: &[SortKey], top: usize) -> Result<Vec<DocId>> {
        Ok(sort::top(self, docs, keys, top)?.0)
    }

    /// As [`top`](Self::top), and how many documents were looked at, and what indexes decided about the others. It takes no
    /// longer.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top).
    pub fn top_explained(
        &self,
        docs: Docs<'_>,
        keys: &[SortKey],
        top: usize,
    ) -> Result<(Vec<DocId>, TopRan)> {
        sort::top(self, docs, keys, top)
    }

    /// All of `docs` in the order of `keys`: what is exported, for example. O(documents · log documents), and 20 bytes of
    /// memory for each.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top), and [`Error::Value`](crate::Error::Value) where the sort finds a value outside of the bounds
    /// that its column gives.
    pub fn sorted(&self, docs: Docs<'_>, keys: &[SortKey]) -> Result<Vec<DocId>> {
        sort::all(self, docs, keys)
    }

    /// What the values of a column are, those of `docs`.
    ///
    /// Of all documents, what the directory says is not found out again.
    ///
    /// # Errors
    ///
    /// When there is no such column, it has nothing of the kind, or bytes of it are damaged.
    pub fn stats(&self, docs: Docs<'_>, stats: &Stats) -> Result<ColumnStats> {
        let mut found = stats::stats(self, docs, std::slice::from_ref(stats))?;
        Ok(found.remove(0))
    }

    /// The same for several columns, in one pass over the documents.
    ///
    /// # Errors
    ///
    /// As [`stats`](Self::stats).
    pub fn stats_of(&self, docs: Docs<'_>, stats: &[Stats]) -> Result<Vec<ColumnStats>> {
        stats::stats(self, docs, stats)
    }

    /// How many values of `docs` lie in each of a row of ranges.
    ///
    /// # Errors
    ///
    /// When there is no such column, it has no numbers, the ranges make no sense or are too many, or bytes are damaged.
    pub fn histogram(&self, docs: Docs<'_>, histogram: &Histogram) -> Result<HistogramCounts> {
        histogram::histogram(self, docs, histogram)
    }

    /// Groups `docs` by their value of a column, and finds the groups that come first.
    ///
    /// O(documents), for each pass that the budget makes necessary; see [`group`](crate::group).
    ///
    /// # Errors
    ///
    /// When there is no such column, it has several values a document, a metric is of a column without numbers, the
    /// budget is too small by far, or bytes of a column are damaged.
    pub fn group(&self, docs: Docs<'_>, group: &Group) -> Result<Groups> {
        group::group(self, docs, group)
    }

    /// Begins a pass over `docs`.
    pub(crate) fn begin<'r>(&'r self, docs: Docs<'r>) -> Request<'r> {
        Request { source: self.source, threads: self.threads, docs, columns: Columns::default() }
    }
}

/// A pass that is put together.
pub(crate) struct Request<'r> {
    source: &'r dyn ColumnSource,
    threads: usize,
    docs: Docs<'r>,
    columns: Columns,
}

impl Request<'_> {
    /// Opens a column.
    pub(crate) fn slot(&mut self, name: &str) -> Result<Slot> {
        self.columns.slot(self.source, name)
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Documents in the source.
    pub(crate) fn total(&self) -> u32 {
        self.source.docs()
    }

    /// Whether it is about all documents.
    pub(crate) fn is_all(&self) -> bool {
        self.docs.is_all(self.source.docs())
    }

    /// How many documents it is about.
    pub(crate) fn hits(&self) -> u32 {
        self.docs.count(self.source.docs())
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Shows all documents to `collector`.
    pub(crate) fn run<C: Collector>(&self, collector: C) -> Result<C> {
        self.run_on(self.threads, collector)
    }

    /// The same with so many threads: not all may have the room.
    pub(crate) fn run_on<C: Collector>(&self, threads: usize, collector: C) -> Result<C> {
        let (columns, total) = (&self.columns, self.source.docs());
        Pass { columns, total, docs: self.docs, threads }.run(collector)
    }
}
