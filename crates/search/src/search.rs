//! Searches over one source, and the requests that they begin.

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

/// Columns that a source does not have.
///
/// A column that comes with some documents and goes with others is in some segments of an index only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingColumns {
    /// They are an error, so that a name that is misspelled does not find nothing.
    #[default]
    Refuse,
    /// No document has a value in them: conditions match nothing and `missing` matches all documents, facets and groups
    /// are empty, statistics count nothing, exports have no values, and documents that are sorted by them are equal.
    ///
    /// The column that answers name is numeric, of type `i64`; literals and prefixes of any type are taken.
    NoValues,
}

/// A search over one source of columns: the source, its live documents, and the number of threads.
///
/// A column is opened once, however often it is asked for: keep a search as long as its source.
pub struct Search<'s> {
    source: &'s (dyn ColumnSource + Sync),
    /// The live documents, if any was deleted.
    pub(crate) live: Option<Arc<Bitset>>,
    pub(crate) threads: usize,
    pub(crate) stop: Interrupt,
    /// Bytes that were said.
    pub(crate) memory: Option<usize>,
    missing_columns: MissingColumns,
    opened: Mutex<HashMap<String, Arc<dyn Column>>>,
}

impl<'s> Search<'s> {
    /// Searches in all documents of `source`, with as many threads as the machine has.
    pub fn new(source: &'s (dyn ColumnSource + Sync)) -> Search<'s> {
        // To ask for it takes longer than some searches.
        static THREADS: OnceLock<usize> = OnceLock::new();
        let threads = *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        let (stop, opened) = (Interrupt::default(), Mutex::default());
        let missing_columns = MissingColumns::default();
        Search { source, live: None, threads: 1, stop, memory: None, missing_columns, opened }
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
    ///
    /// The threads are those of a rayon pool: the one whose thread calls the search, else rayon's global one. A search makes
    /// no threads, so it uses no more than the pool has. Call it inside `ThreadPool::install` to choose the pool.
    ///
    /// With one thread, most searches run on the thread that calls; no pool is asked.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Search<'s> {
        self.threads = if cfg!(feature = "rayon") { threads.max(1) } else { 1 };
        self
    }

    /// Searches that end with [`Error::Interrupted`](crate::Error::Interrupted) soon after `stop` says so. Each thread asks
    /// it before every window of 65,536 documents or fewer, and in sorts and at the end of facets and groups every few
    /// thousand values, so it should take no longer than some nanoseconds. To free what was found already takes its time:
    /// some tens of nanoseconds for each byte string, group or first document.
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

    /// Keeps what a search remembers of values and documents within `bytes` of memory, 64 KiB at least, those of all
    /// threads together.
    ///
    /// | search | what it does |
    /// | --- | --- |
    /// | facets, groups, different values | as many passes over the documents as it takes, each about a part of the values |
    /// | first documents | a heap, by fewer threads; else a sort of all documents; else [`Error::Memory`](crate::Error::Memory) |
    /// | all documents in order, the set of a filter | [`Error::Memory`](crate::Error::Memory) |
    ///
    /// Without it, facets, groups, statistics and first documents keep within 256 MiB; sorts of all documents and sets take
    /// what they need. The values that are returned do not count, nor do the columns of some thousand documents that each
    /// thread reads at a time. The answer is the same, but for statistics of byte strings: those that are told apart take a
    /// 16th of the memory at most, and beyond that [`Distinct::About`](crate::stats::Distinct) counts them.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Search<'s> {
        self.memory = Some(bytes.max(memory::LEAST));
        self
    }

    /// Chooses what a column is that the source does not have.
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

    /// The source.
    pub fn source(&self) -> &'s (dyn ColumnSource + Sync) {
        self.source
    }

    /// Bytes that something of each document may take.
    pub(crate) fn most_memory(&self) -> usize {
        self.memory.unwrap_or(usize::MAX)
    }

    /// Begins a pass over those of `docs` that live.
    pub(crate) fn begin<'r>(&'r self, docs: Docs<'r>) -> Result<Request<'r>> {
        let (chosen, columns) = (self.live_among(docs)?, Columns::default());
        Ok(Request { search: self, given: docs, chosen, columns })
    }

    /// Those of `docs` that live, as bits for the documents of the source; `None` if `docs` are that already.
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
        let column = match (self.source.column(name), self.missing_columns) {
            // Not kept: anybody may ask for any number of names.
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

    /// Bytes that collectors may take together.
    pub(crate) fn memory(&self) -> usize {
        self.search.memory.unwrap_or(memory::DEFAULT)
    }

    pub(crate) fn stop(&self) -> &Interrupt {
        &self.search.stop
    }

    /// Shows all documents to `collector`.
    pub(crate) fn run<C: Collector>(&self, collector: C) -> Result<C> {
        let (total, threads) = (self.total(), self.threads());
        Pass { columns: &self.columns, total, docs: self.docs(), threads, stop: self.stop() }.run(collector)
    }
}
