//! Searches over one source, and the requests that they begin.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use docvalues_column::{
    Bitset, Column, ColumnSource, Field, LiveDocs, Part, Result as ColumnResult, SortKey,
};

use crate::collector::Collector;
use crate::columns::{Columns, Slot};
use crate::docs::Docs;
use crate::error::Result;
use crate::pass::Pass;
use crate::stop::Stop;

/// A search over one source of columns: the source, its live documents, and the number of threads.
///
/// A column is opened once, however often it is asked for: keep a search as long as its source.
pub struct Search<'s> {
    source: &'s (dyn ColumnSource + Sync),
    /// The live documents, if any was deleted.
    pub(crate) live: Option<Arc<Bitset>>,
    pub(crate) threads: usize,
    pub(crate) stop: Stop,
    opened: Mutex<HashMap<String, Arc<dyn Column>>>,
}

impl<'s> Search<'s> {
    /// Searches in all documents of `source`, with as many threads as the machine has.
    pub fn new(source: &'s (dyn ColumnSource + Sync)) -> Search<'s> {
        // To ask for it takes longer than some searches.
        static THREADS: OnceLock<usize> = OnceLock::new();
        let threads = *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        Search { source, live: None, threads: 1, stop: Stop::default(), opened: Mutex::default() }
            .threads(threads)
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

    /// Searches that end with [`Error::Interrupted`](crate::Error::Interrupted) soon after `stop` says so. Each thread asks
    /// it before every window of 65,536 documents or fewer, so it should take no longer than some nanoseconds.
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
        self.stop = Stop::new(stop);
        self
    }

    /// The source.
    pub fn source(&self) -> &'s (dyn ColumnSource + Sync) {
        self.source
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

    pub(crate) fn stop(&self) -> &Stop {
        &self.search.stop
    }

    /// Shows all documents to `collector`.
    pub(crate) fn run<C: Collector>(&self, collector: C) -> Result<C> {
        self.run_on(self.threads(), collector)
    }

    /// The same with so many threads: not all may have the room.
    pub(crate) fn run_on<C: Collector>(&self, threads: usize, collector: C) -> Result<C> {
        Pass { columns: &self.columns, total: self.total(), docs: self.docs(), threads, stop: self.stop() }
            .run(collector)
    }
}
