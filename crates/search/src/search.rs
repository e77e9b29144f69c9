//! Searches over one source, and the requests that they begin.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use docvalues_column::{
    Bitset, Column, ColumnSource, DocId, Field, LiveDocs, Part, Result as ColumnResult, SortKey,
};

use crate::columns::{Columns, Slot};
use crate::docs::Docs;
use crate::error::Result;
use crate::facet::{self, Facet, FacetCounts};
use crate::group::{self, Group, Groups};
use crate::histogram::{self, Histogram, HistogramCounts};
use crate::pass::{Collector, Pass};
use crate::query::{Bound, Query};
use crate::request::{self, SearchAnswer, SearchRequest};
use crate::sort::{self, TopRan};
use crate::stats::{self, ColumnStats, Stats};

/// A search over one source of columns: the source, its live documents, and the number of threads.
///
/// A column is opened once, however often it is asked for: keep a search as long as its source.
pub struct Search<'s> {
    source: &'s (dyn ColumnSource + Sync),
    /// The live documents, if any was deleted.
    live: Option<Arc<Bitset>>,
    threads: usize,
    opened: Mutex<HashMap<String, Arc<dyn Column>>>,
}

impl<'s> Search<'s> {
    /// Searches in all documents of `source`, with as many threads as the machine has.
    pub fn new(source: &'s (dyn ColumnSource + Sync)) -> Search<'s> {
        // To ask for it takes longer than some searches.
        static THREADS: OnceLock<usize> = OnceLock::new();
        let threads = *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        Search { source, live: None, threads: 1, opened: Mutex::default() }.threads(threads)
    }

    /// Searches in the live documents of `part`.
    pub fn part(part: &'s Part) -> Search<'s> {
        let search = Search::new(&*part.source);
        match &part.live {
            Some(live) => search.live(live),
            None => search,
        }
    }

    /// The same, in these documents only: all others were deleted. No query, facet, group, statistic, export of a set, or
    /// list of top documents has one of them.
    ///
    /// O(documents / 64).
    #[must_use]
    pub fn live(mut self, live: &LiveDocs) -> Search<'s> {
        let docs = self.source.docs();
        self.live =
            (!live.are_all() || live.docs() != docs).then(|| Arc::new(live.to_bitset().resized(docs)));
        self
    }

    /// With so many threads, 1 at least. The answers are the same for any number. Without the feature `rayon` there is
    /// one.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Search<'s> {
        self.threads = if cfg!(feature = "rayon") { threads.max(1) } else { 1 };
        self
    }

    /// The source.
    pub fn source(&self) -> &'s (dyn ColumnSource + Sync) {
        self.source
    }

    /// A query, bound to the columns, that runs on as many threads.
    ///
    /// # Errors
    ///
    /// As [`Query::bind`].
    pub fn bind(&self, query: &Query) -> Result<Bound> {
        let bound = match &self.live {
            Some(live) => Query::docs(live.clone()).and(query.clone()).bind(self),
            None => query.bind(self),
        };
        Ok(bound?.threads(self.threads))
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

    /// Begins a pass over those of `docs` that live.
    pub(crate) fn begin<'r>(&'r self, docs: Docs<'r>) -> Request<'r> {
        Request { search: self, given: docs, chosen: self.live_among(docs), columns: Columns::default() }
    }

    /// Those of `docs` that live, as bits for the documents of the source; `None` if `docs` are that already.
    pub(crate) fn live_among(&self, docs: Docs<'_>) -> Option<Bitset> {
        let total = self.source.docs();
        let mut chosen = match (docs, &self.live) {
            (Docs::Bits(bits), None) if bits.docs() == total => return None,
            (Docs::Bits(bits), _) => bits.resized(total),
            (_, None) => return None,
            (Docs::All, Some(live)) => return Some((**live).clone()),
            (docs, Some(_)) => Bitset::from_docs(docs.iter(total), total),
        };
        if let Some(live) = &self.live {
            chosen.intersect(live);
        }
        Some(chosen)
    }
}

/// The columns of the source, each of which is opened once.
impl ColumnSource for Search<'_> {
    fn docs(&self) -> u32 {
        self.source.docs()
    }

    fn fields(&self) -> ColumnResult<Vec<Field>> {
        self.source.fields()
    }

    fn column(&self, name: &str) -> ColumnResult<Arc<dyn Column>> {
        // A thread that panicked while it held the lock has left the map as it was.
        let opened = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(column) = opened().get(name) {
            return Ok(column.clone());
        }
        let column = self.source.column(name)?;
        Ok(opened().entry(name.to_owned()).or_insert(column).clone())
    }

    fn sort(&self) -> &[SortKey] {
        self.source.sort()
    }
}

/// A pass that is put together.
pub(crate) struct Request<'r> {
    search: &'r Search<'r>,
    given: Docs<'r>,
    /// The documents of the pass, if they are not those that were given.
    chosen: Option<Bitset>,
    columns: Columns,
}

impl Request<'_> {
    /// Opens a column.
    pub(crate) fn slot(&mut self, name: &str) -> Result<Slot> {
        self.columns.slot(self.search, name)
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Documents in the source.
    pub(crate) fn total(&self) -> u32 {
        self.search.docs()
    }

    /// The documents of the pass. If these are all of the source, they are [`Docs::All`]: runs are scanned then, and
    /// descriptions of columns hold for them.
    pub(crate) fn docs(&self) -> Docs<'_> {
        let docs = self.chosen.as_ref().map_or(self.given, Docs::Bits);
        if docs.is_all(self.total()) { Docs::All } else { docs }
    }

    /// Whether it is about all documents.
    pub(crate) fn is_all(&self) -> bool {
        matches!(self.docs(), Docs::All)
    }

    /// The number of documents of the pass.
    pub(crate) fn hits(&self) -> u32 {
        self.docs().count(self.total())
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.search.threads
    }

    /// Shows all documents to `collector`.
    pub(crate) fn run<C: Collector>(&self, collector: C) -> Result<C> {
        self.run_on(self.threads(), collector)
    }

    /// The same with so many threads: not all may have the room.
    pub(crate) fn run_on<C: Collector>(&self, threads: usize, collector: C) -> Result<C> {
        Pass { columns: &self.columns, total: self.total(), docs: self.docs(), threads }.run(collector)
    }
}
