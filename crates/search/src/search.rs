//! [`Search`], the entry point over one source of columns, and the internal state of one request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use docvalues_column::{
    AbsentColumn, Bitset, Column, ColumnSource, ErrorKind, Field, LiveDocs, Part, Result as ColumnResult,
    SortKey,
};

use crate::collector::Collector;
use crate::columns::{Columns, Slot};
use crate::docs::Docs;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::pass::Pass;

/// Treatment of columns that the source does not have.
///
/// In an index of several segments, a column may be missing from segments whose documents have no value in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingColumns {
    /// A missing column is an error, so that a misspelled name is noticed. The default.
    #[default]
    Refuse,
    /// No document has a value in a missing column. Conditions on it match nothing, `missing` matches every document,
    /// facets and groups are empty, statistics count nothing, exports contain no values, and as a sort key it makes
    /// all documents equal.
    ///
    /// Results describe such a column as numeric with type `i64`. Literals and prefixes of any type are accepted for
    /// it.
    NoValues,
}

/// Searches over one source of columns, restricted to its live documents.
///
/// Each column is opened once per `Search`, so keep the search as long as its source.
///
/// ```
/// # use docvalues_column::{DocId, Field, Kind, LogicalType, SortKey};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_search::{Docs, Query, Search};
///
/// # let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let source = MemSource::new(3, [(field, ModelColumn::Numeric(vec![Some(512), Some(9), Some(70)]))]);
/// let search = Search::new(&source);
/// let large = search.filter(&Query::range("size", 50..))?;
/// let first = search.top(Docs::Bits(&large), &[SortKey::new("size").descending()], 1)?;
/// assert_eq!((large.count(), first[0].doc), (2, DocId::new(0)));
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[doc(alias = "IndexSearcher")]
#[doc(alias = "Searcher")]
pub struct Search<'s> {
    source: &'s (dyn ColumnSource + Sync),
    /// The live documents; `None` if none is deleted.
    pub(crate) live: Option<Arc<Bitset>>,
    pub(crate) threads: usize,
    pub(crate) stop: Interrupt,
    /// The limit that [`Search::memory`] set.
    pub(crate) memory: Option<usize>,
    missing_columns: MissingColumns,
    opened: Mutex<HashMap<String, Arc<dyn Column>>>,
}

impl<'s> Search<'s> {
    /// Searches all documents of `source`, with as many threads as the machine has.
    pub fn new(source: &'s (dyn ColumnSource + Sync)) -> Search<'s> {
        // Cached, because the call takes longer than some searches.
        static THREADS: OnceLock<usize> = OnceLock::new();
        let threads = *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        let (stop, opened) = (Interrupt::default(), Mutex::default());
        let missing_columns = MissingColumns::default();
        Search { source, live: None, threads: 1, stop, memory: None, missing_columns, opened }
            .threads(threads)
    }

    /// Searches the live documents of `part`.
    pub fn part(part: &'s Part) -> Search<'s> {
        let search = Search::new(&*part.source);
        match &part.live {
            Some(live) => search.live(live),
            None => search,
        }
    }

    /// Restricts the search to `live` documents. All others count as deleted: no query, facet, group, statistic, set
    /// export or top-k returns them.
    ///
    /// O(documents / 64).
    #[must_use]
    pub fn live(mut self, live: &LiveDocs) -> Search<'s> {
        let docs = self.source.docs();
        self.live =
            (!live.are_all() || live.docs() != docs).then(|| Arc::new(live.to_bitset().resized(docs)));
        self
    }

    /// Sets the number of threads, at least 1. Results do not depend on it. Without the feature `rayon` there is one
    /// thread.
    ///
    /// Threads come from a rayon pool: the one that calls the search, or else rayon's global pool. A search starts no
    /// threads, so it never uses more than the pool has. To choose a pool, call the search inside
    /// `ThreadPool::install`.
    ///
    /// With one thread, most searches run on the calling thread and use no pool.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Search<'s> {
        self.threads = if cfg!(feature = "rayon") { threads.max(1) } else { 1 };
        self
    }

    /// Makes searches fail with [`Error::Interrupted`](crate::Error::Interrupted) soon after `stop` returns true.
    ///
    /// Each thread calls `stop` before every window of at most 65,536 documents, and every few thousand values while
    /// it sorts or finishes facets and groups. `stop` should therefore return within nanoseconds. Freeing partial
    /// results takes time too: some tens of nanoseconds for each byte string, group or top document.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// # use docvalues_testkit::model::MemSource;
    /// use docvalues_search::{Error, Query, Search};
    ///
    /// # let source = MemSource::new(3, []);
    /// let stop = Arc::new(AtomicBool::new(false));
    /// let asked = Arc::clone(&stop);
    /// let search = Search::new(&source).interrupt(move || asked.load(Ordering::Relaxed));
    /// assert_eq!(search.count(&Query::All)?, 3);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn interrupt(mut self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Search<'s> {
        self.stop = Interrupt::new(stop);
        self
    }

    /// Limits the memory for intermediate results of a search to `bytes`, at least 64 KiB, over all threads.
    ///
    /// | search | over the limit |
    /// | --- | --- |
    /// | facets, groups, distinct values | more passes over the documents, each for a part of the values |
    /// | top-k | fewer threads; then a sort of all documents; then [`Error::Memory`](crate::Error::Memory) |
    /// | sort of all documents, set of a filter | [`Error::Memory`](crate::Error::Memory) |
    ///
    /// By default, facets, groups, statistics and top-k take at most 256 MiB; sorts of all documents and sets take as
    /// much as they need. Returned values do not count, nor does the window of a few thousand documents that each
    /// thread reads.
    ///
    /// The limit does not change results, with one exception: the exact count of distinct byte strings takes at most
    /// a 16th of the memory. Beyond that, they are estimated as [`Distinct::About`](crate::stats::Distinct).
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Search<'s> {
        self.memory = Some(bytes.max(memory::MIN));
        self
    }

    /// Sets the treatment of columns that the source does not have.
    ///
    /// ```
    /// # use docvalues_testkit::model::MemSource;
    /// use docvalues_search::{MissingColumns, Query, Search};
    ///
    /// # let source = MemSource::new(3, []);
    /// let search = Search::new(&source);
    /// assert!(search.count(&Query::eq("size", 7)).is_err());
    ///
    /// let search = search.missing_columns(MissingColumns::NoValues);
    /// assert_eq!(search.count(&Query::eq("size", 7))?, 0);
    /// assert_eq!(search.count(&Query::missing("size"))?, 3);
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    #[must_use]
    pub fn missing_columns(mut self, missing_columns: MissingColumns) -> Search<'s> {
        self.missing_columns = missing_columns;
        self
    }

    /// The source that is searched.
    pub fn source(&self) -> &'s (dyn ColumnSource + Sync) {
        self.source
    }

    /// The memory limit for results with an entry per document.
    pub(crate) fn most_memory(&self) -> usize {
        self.memory.unwrap_or(usize::MAX)
    }

    /// Begins a request over the live documents among `docs`.
    pub(crate) fn begin<'r>(&'r self, docs: Docs<'r>) -> Result<Request<'r>> {
        let (chosen, columns) = (self.live_among(docs)?, Columns::default());
        Ok(Request { search: self, given: docs, chosen, columns })
    }

    /// The live documents among `docs`, as bits; `None` if all of `docs` are live.
    pub(crate) fn live_among(&self, docs: Docs<'_>) -> Result<Option<Bitset>> {
        let total = self.source.docs();
        let mut chosen = match (docs, &self.live) {
            (Docs::Bits(bits), None) if bits.docs() == total => return Ok(None),
            (Docs::All | Docs::Range(..) | Docs::List(_), None) => return Ok(None),
            (docs, _) => docs.try_bits(total, self.most_memory())?,
        };
        if let Some(live) = &self.live {
            chosen.intersect(live);
        }
        Ok(Some(chosen))
    }
}

/// The columns of the source, each opened once.
impl ColumnSource for Search<'_> {
    fn docs(&self) -> u32 {
        self.source.docs()
    }

    fn fields(&self) -> ColumnResult<Vec<Field>> {
        self.source.fields()
    }

    fn column(&self, name: &str) -> ColumnResult<Arc<dyn Column>> {
        // A thread that panicked while it held the lock left the map unchanged.
        let opened = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(column) = opened().get(name) {
            return Ok(column.clone());
        }
        let column = match (self.source.column(name), self.missing_columns) {
            // Absent columns are not cached: a caller may ask for any number of names.
            (Err(error), MissingColumns::NoValues)
                if matches!(error.kind(), ErrorKind::NoSuchColumn { .. }) =>
            {
                return Ok(Arc::new(AbsentColumn::new(name, self.source.docs())));
            }
            (column, _) => column?,
        };
        Ok(opened().entry(name.to_owned()).or_insert(column).clone())
    }

    fn sort(&self) -> &[SortKey] {
        self.source.sort()
    }
}

/// A request: its documents and open columns.
pub(crate) struct Request<'r> {
    search: &'r Search<'r>,
    given: Docs<'r>,
    /// The documents of the request, if they differ from those that the caller passed.
    chosen: Option<Bitset>,
    columns: Columns,
}

impl Request<'_> {
    /// Opens a column and returns its slot.
    pub(crate) fn slot(&mut self, name: &str) -> Result<Slot> {
        self.columns.slot(self.search, name)
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The number of documents in the source.
    pub(crate) fn total(&self) -> u32 {
        self.search.docs()
    }

    /// The documents of the request. [`Docs::All`] if these are all documents of the source: then columns are scanned
    /// in runs, and their descriptions hold for the request.
    pub(crate) fn docs(&self) -> Docs<'_> {
        let docs = self.chosen.as_ref().map_or(self.given, Docs::Bits);
        if docs.is_all(self.total()) { Docs::All } else { docs }
    }

    /// Whether the request covers all documents of the source.
    pub(crate) fn is_all(&self) -> bool {
        matches!(self.docs(), Docs::All)
    }

    /// The number of documents of the request.
    pub(crate) fn hits(&self) -> u32 {
        self.docs().count(self.total())
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.search.threads
    }

    /// The memory limit for all collectors together, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.search.memory.unwrap_or(memory::DEFAULT)
    }

    pub(crate) fn stop(&self) -> &Interrupt {
        &self.search.stop
    }

    /// Runs `collector` over all documents of the request.
    pub(crate) fn run<C: Collector>(&self, collector: C) -> Result<C> {
        let (total, threads) = (self.total(), self.threads());
        Pass { columns: &self.columns, total, docs: self.docs(), threads, stop: self.stop() }.run(collector)
    }
}
