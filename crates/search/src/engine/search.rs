//! [`Search`], the entry point over one or several sources of columns.

use std::sync::{Arc, OnceLock};

use docvalues_column::{
    AbsentColumn, Column, ColumnSource, ErrorKind, Field, Kind, LiveDocs, LogicalType, Part,
};

use super::columns::ColumnSet;
use super::docs::Docs;
use super::docs_by_part::{DocSet, DocsByPart, PartSet};
use super::interrupt::Interrupt;
use super::memory;
use super::parts::{Kept, OpenPart, Parts};
use super::promoted_column;
use super::small_dictionary::{is_small, with_dictionary};
use super::term_ids::TermIds;
use crate::error::{Error, Result};

/// Treatment of columns that the source does not have: [`Search::missing_columns`].
///
/// In an index of several segments, a column may be missing from segments whose documents have no value in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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

/// Treatment of a column that has different kinds or types in different parts: [`Search::mixed_types`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MixedTypes {
    /// It is an error. The default.
    #[default]
    Refuse,
    /// The column is read in the kind and type that hold the values of all parts: integers as doubles, timestamps
    /// in the finer unit, single values as lists, terms as byte strings, or byte strings as terms if their part has at most 65,536 documents. A number that has no exact double is an error, and so are kinds and types
    /// that have nothing in common. Such parts are read more slowly.
    Promote,
}

/// Searches over one or several sources of columns, restricted to their live documents.
///
/// Each column is opened once per `Search`, or once per [`Parts`], so keep these as long as their sources.
///
/// ```
/// # use docvalues_column::{DocId, Field, Kind, LogicalType, SortKey};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_search::{Query, Search};
///
/// # let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let source = MemSource::new(3, [(field, ModelColumn::Numeric(vec![Some(512), Some(9), Some(70)]))]);
/// let search = Search::new(&source);
/// let large = search.filter(&Query::range("size", 50..))?;
/// let first = search.top(&large, &[SortKey::of("size").descending()], 1)?;
/// assert_eq!((large.count(), first[0].doc), (2, DocId::new(0)));
/// # Ok::<(), docvalues_search::Error>(())
/// ```
///
/// # Several parts
///
/// A search over [`Parts`] answers as if their documents were in one source. Documents are addressed by part and
/// document, and counted as `u64`. A part that lacks a column that another part has is taken to have no values in it.
#[doc(alias = "IndexSearcher")]
#[doc(alias = "Searcher")]
#[must_use]
pub struct Search<'s> {
    pub(crate) parts: Arc<[Arc<OpenPart<'s>>]>,
    kept: Arc<Kept>,
    pub(crate) threads: usize,
    pub(crate) stop: Interrupt,
    /// The limit that [`Search::memory`] set.
    pub(crate) memory: Option<usize>,
    missing_columns: MissingColumns,
    mixed_types: MixedTypes,
}

impl<'s> Search<'s> {
    /// Searches all documents of `source`, with as many threads as the machine has.
    pub fn new(source: &'s (dyn ColumnSource + Sync)) -> Search<'s> {
        Search::of(Arc::from([Arc::new(OpenPart::of(source))]), Arc::default())
    }

    /// Searches the live documents of `part`.
    pub fn part(part: &'s Part) -> Search<'s> {
        let search = Search::new(&*part.source);
        match &part.live {
            Some(live) => search.live(live),
            None => search,
        }
    }

    /// Searches the live documents of all `parts`.
    pub fn over(parts: &Parts) -> Search<'s> {
        Search::of(parts.parts.clone(), parts.kept.clone())
    }

    fn of(parts: Arc<[Arc<OpenPart<'s>>]>, kept: Arc<Kept>) -> Search<'s> {
        // Cached, because the call takes longer than some searches.
        static THREADS: OnceLock<usize> = OnceLock::new();
        let threads = *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        let (stop, missing_columns, mixed_types) = Default::default();
        Search { parts, kept, threads: 1, stop, memory: None, missing_columns, mixed_types }.threads(threads)
    }

    /// Restricts a search over one source to `live` documents. All others count as deleted: no query, facet, group,
    /// statistic, set export or top-k returns them.
    ///
    /// O(documents / 64).
    ///
    /// # Panics
    ///
    /// If the search is over several parts, each of which has live documents of its own: [`Parts::with_live`].
    pub fn live(mut self, live: &LiveDocs) -> Search<'s> {
        let [part] = &*self.parts else { panic!("a search over {} parts", self.parts.len()) };
        self.parts = Arc::from([Arc::new(part.with_live(live))]);
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
    pub fn threads(self, threads: usize) -> Search<'s> {
        Search { threads: if cfg!(feature = "rayon") { threads.max(1) } else { 1 }, ..self }
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
    ///
    /// // A deadline.
    /// let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    /// let search = Search::new(&source).interrupt(move || std::time::Instant::now() >= deadline);
    /// assert_eq!(search.count(&Query::All)?, 3);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn interrupt(self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Search<'s> {
        Search { stop: Interrupt::new(stop), ..self }
    }

    /// Limits the memory for intermediate results of a search to `bytes`, at least 64 KiB, over all threads.
    ///
    /// | search | over the limit |
    /// | --- | --- |
    /// | facets, groups, distinct values | more passes over the documents, each for a part of the values |
    /// | top-k | fewer threads; then a sort of all documents; then [`Error::Memory`](crate::Error::Memory) |
    /// | sort of all documents, set of a filter, [partial results](crate::partial) | [`Error::Memory`](crate::Error::Memory) |
    ///
    /// By default, facets, groups, statistics and top-k take at most 256 MiB; sorts of all documents and sets take as
    /// much as they need. Returned values do not count, nor does the window of a few thousand documents that each
    /// thread reads.
    ///
    /// The limit does not change results, with one exception: the exact count of distinct byte strings takes at most
    /// a 16th of the memory. Beyond that, they are estimated as [`Distinct::About`](crate::stats::Distinct).
    pub fn memory(self, bytes: usize) -> Search<'s> {
        Search { memory: Some(bytes.max(memory::MIN)), ..self }
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
    pub fn missing_columns(self, missing_columns: MissingColumns) -> Search<'s> {
        Search { missing_columns, ..self }
    }

    /// Sets the treatment of columns of different kinds or types.
    pub fn mixed_types(self, mixed_types: MixedTypes) -> Search<'s> {
        Search { mixed_types, ..self }
    }

    /// The number of documents of all parts, live or not.
    pub fn docs(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.source.docs())).sum()
    }

    /// Copies documents of each part to a set, deleted ones included: the input of [`Query::hits`](crate::Query::hits).
    /// O(documents of all parts / 64, and of lists).
    ///
    /// # Errors
    ///
    /// If `docs` are those of another number of parts, or a document of a list or bitset is outside of its part;
    /// [`Error::Memory`] if the set exceeds [`memory`](Self::memory).
    pub fn doc_set<'d>(&self, docs: impl Into<DocsByPart<'d>>) -> Result<DocSet> {
        let docs = docs.into();
        let set = |(at, part): (usize, &Arc<OpenPart<'_>>)| {
            let (of_part, total) = (docs.of_part(at, self.parts.len())?, part.source.docs());
            let last = match of_part {
                Docs::List(list) => list.last().copied(),
                // Most sets are as long as their part.
                Docs::Bits(bits) if bits.docs() > total => bits.iter().last(),
                _ => None,
            };
            match last.filter(|doc| doc.get() >= total) {
                Some(doc) => Err(Error::Request(format!(
                    "expected documents below {total} in part {at}, found document {doc}"
                ))),
                None => match of_part {
                    Docs::All => Ok(PartSet::All(total)),
                    Docs::List(list) if list.is_empty() => Ok(PartSet::None),
                    Docs::Bits(bits) if bits.is_empty() => Ok(PartSet::None),
                    some => Ok(PartSet::Some(some.try_bits(total, self.docs_memory())?.into())),
                },
            }
        };
        Ok(DocSet::new(self.parts.iter().enumerate().map(set).collect::<Result<_>>()?))
    }

    /// The memory limit for results with an entry per document.
    pub(crate) fn docs_memory(&self) -> usize {
        self.memory.unwrap_or(usize::MAX)
    }

    /// The memory limit for everything else.
    pub(crate) fn pass_memory(&self) -> usize {
        self.memory.unwrap_or(memory::DEFAULT)
    }

    /// The column `name` in all parts.
    pub(crate) fn column_set(&self, name: &str) -> Result<Arc<ColumnSet>> {
        let promote = self.mixed_types == MixedTypes::Promote;
        self.kept.columns((name, promote), || {
            let found = self.parts.iter().enumerate().map(|(part, open)| match open.column(name) {
                Err(error) if matches!(error.kind(), ErrorKind::NoSuchColumn { .. }) => Ok(Err(error)),
                found => found.map(Ok).map_err(|error| Error::from(error).in_part(part, self.parts.len())),
            });
            let mut found = found.collect::<Result<Vec<_>>>()?;
            if promote {
                with_dictionaries(&mut found)?;
            }
            let fields = found.iter().enumerate();
            let fields =
                fields.filter_map(|(part, column)| Some((part, &column.as_ref().ok()?.info().field)));
            let fields: Vec<_> = fields.collect();
            let field = promoted_column::common(&fields, promote)?;
            let field = field.or_else(|| self.kept.declared(name).cloned());
            // Columns that no part has are not kept: a caller may ask for any number of names.
            let is_kept = field.is_some();
            // A part without documents may stand for one that cannot be read, and has no file to name.
            let first = self.parts.iter().position(|part| part.source.docs() > 0).unwrap_or(0);
            let mut columns = Vec::with_capacity(found.len());
            for (at, (found, part)) in found.into_iter().zip(&*self.parts).enumerate() {
                let absent = |field| Arc::new(AbsentColumn::of(field, part.source.docs()));
                columns.push(match (found, &field, self.missing_columns) {
                    (Ok(column), Some(field), _) => promoted_column::promoted(column, field),
                    (Ok(column), None, _) => column,
                    (Err(_), Some(field), _) => absent(field.clone()),
                    (Err(error), None, MissingColumns::Refuse) if at >= first => return Err(error.into()),
                    (Err(_), None, _) => Arc::new(AbsentColumn::new(name, part.source.docs())),
                });
            }
            // Nothing else is known.
            let field = field.unwrap_or_else(|| Field::new(name, Kind::Numeric, LogicalType::I64));
            Ok((ColumnSet::new(field, columns), is_kept))
        })
    }

    /// The identities of a column's terms in all parts.
    pub(crate) fn term_ids(&self, columns: &ColumnSet) -> Result<Arc<TermIds>> {
        columns.ids(|| self.kept.ids(&self.parts, columns, &self.stop))
    }
}

/// Gives binary columns of small parts a dictionary, if other parts have one.
fn with_dictionaries<E>(columns: &mut [std::result::Result<Arc<dyn Column>, E>]) -> Result<()> {
    let parts = columns.len();
    let has_ords = |column: &Arc<dyn Column>| matches!(column.info().kind(), Kind::Sorted | Kind::SortedSet);
    if !columns.iter().flatten().any(has_ords) {
        return Ok(());
    }
    for (part, column) in columns.iter_mut().enumerate() {
        if let Ok(column) = column
            && is_small(&**column)
        {
            let read = with_dictionary(&**column);
            *column = read.map_err(|error| Error::from(error).in_part(part, parts))?;
        }
    }
    Ok(())
}
