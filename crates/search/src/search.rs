//! Where requests begin.

use docvalues_column::ColumnSource;

use crate::columns::{Columns, Slot};
use crate::docs::Docs;
use crate::error::Result;
use crate::facet::{self, Facet, FacetCounts};
use crate::pass::{Collector, Pass};

/// A source of columns that is asked, and how.
pub struct Search<'s> {
    source: &'s (dyn ColumnSource + Sync),
    threads: usize,
}

impl<'s> Search<'s> {
    /// Searches in `source`, with as many threads as the machine has.
    pub fn new(source: &'s (dyn ColumnSource + Sync)) -> Search<'s> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Search { source, threads }
    }

    /// With so many threads, 1 at least. The answers are the same for any number. Without the feature `rayon` there is
    /// one.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Search<'s> {
        self.threads = threads.max(1);
        self
    }

    /// The columns.
    pub fn source(&self) -> &'s (dyn ColumnSource + Sync) {
        self.source
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

    /// How many documents it is about.
    pub(crate) fn hits(&self) -> u32 {
        self.docs.count(self.source.docs())
    }

    /// Shows all documents to `collector`.
    pub(crate) fn run<C: Collector>(&self, collector: C) -> Result<C> {
        let (columns, total) = (&self.columns, self.source.docs());
        Pass { columns, total, docs: self.docs, threads: self.threads }.run(collector)
    }
}
