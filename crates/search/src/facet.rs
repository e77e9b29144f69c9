//! How many documents have each value.
//!
//! | column | counted in |
//! | --- | --- |
//! | sorted, sorted-set | an array with a counter for each ord, or, where the documents are few beside the dictionary, a hash table |
//! | numbers, sorted-numeric, bool | an array from the least to the greatest value, if these are close; otherwise a hash table |
//! | binary | a hash table of values |
//!
//! If there is no room for all values in [`Search::memory`], they are counted again, some at a time: a range of ords, or those
//! whose hashes lie in a range.
//!
//! A document counts once for each different value that it has, as in Lucene's facets. Terms are looked up at the end,
//! for those that are returned.

mod counter;
mod counter_array;
mod finish;
mod top_values;

use docvalues_column::{Field, Value};

use crate::columns::Slot;
use crate::error::Result;
use crate::search::Request;
use crate::{Docs, Search, hash_tables};
use counter::Counts;
pub(crate) use counter::FacetCounter;
use finish::FacetResult;

/// What to count.
///
/// ```
/// use docvalues_search::facet::{Facet, FacetOrder};
///
/// let facet = Facet::on("tags").top(20).prefix("role::").min_count(2).order(FacetOrder::Value);
/// assert_eq!(facet.column, "tags");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facet {
    /// The column.
    pub column: String,
    /// How many values are returned at most.
    pub top: usize,
    /// Which ones, and in what order.
    pub order: FacetOrder,
    /// Values that fewer documents have are left out. 1 leaves out those that none of the documents has.
    pub min_count: u64,
    /// Only values that begin with these bytes; of a column of byte strings.
    pub prefix: Option<Vec<u8>>,
}

/// Which values come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FacetOrder {
    /// Those that most documents have; among equals the least value.
    #[default]
    Count,
    /// The least.
    Value,
}

/// The values and their counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacetCounts {
    /// The column.
    pub field: Field,
    /// The values that come first, and how many documents have each.
    pub values: Vec<(Value, u64)>,
    /// How many different values there are that [`Facet::min_count`] and [`Facet::prefix`] let through.
    pub distinct: u64,
    /// Documents that were looked at.
    pub docs: u64,
    /// Those of them that have no value.
    pub missing: u64,
}

impl Facet {
    /// The ten most frequent values of `column`.
    pub fn on(column: impl Into<String>) -> Facet {
        Facet { column: column.into(), top: 10, order: FacetOrder::Count, min_count: 1, prefix: None }
    }

    /// So many values.
    #[must_use]
    pub fn top(mut self, top: usize) -> Facet {
        self.top = top;
        self
    }

    /// In this order.
    #[must_use]
    pub fn order(mut self, order: FacetOrder) -> Facet {
        self.order = order;
        self
    }

    /// Only values that so many documents have.
    #[must_use]
    pub fn min_count(mut self, count: u64) -> Facet {
        self.min_count = count;
        self
    }

    /// Only values that begin with these bytes.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<Vec<u8>>) -> Facet {
        self.prefix = Some(prefix.into());
        self
    }
}

impl Facet {
    /// The values that come first of those that are in a table, of `docs` documents of which some have none.
    pub(crate) fn of_table(
        &self,
        slot: Slot,
        table: hash_tables::NumberTable,
        docs: u64,
        missing: u64,
        request: &Request<'_>,
    ) -> Result<FacetCounts> {
        let column = request.columns().get(slot);
        let mut found = FacetResult::new(self, column, docs, missing)?;
        found.offer(Counts::Sparse(table), request.stop())?;
        finish::values(found, column, request)
    }
}

impl Search<'_> {
    /// Counts the documents of `docs` that have each value of a column. O(documents), for each pass that [`Search::memory`] makes necessary.
    ///
    /// # Errors
    ///
    /// When there is no such column, it has no prefixes, or bytes of it are damaged.
    pub fn facet(&self, docs: Docs<'_>, facet: &Facet) -> Result<FacetCounts> {
        let mut counts = self.facets(docs, std::slice::from_ref(facet))?;
        Ok(counts.remove(0))
    }

    /// The same for several columns, in one pass over the documents.
    ///
    /// # Errors
    ///
    /// As [`facet`](Self::facet).
    pub fn facets(&self, docs: Docs<'_>, facets: &[Facet]) -> Result<Vec<FacetCounts>> {
        let mut request = self.begin(docs)?;
        let bytes = request.memory() / facets.len().max(1);
        let counters = facets.iter().map(|facet| FacetCounter::new(&mut request, facet, bytes));
        let counters = counters.collect::<Result<Vec<_>>>()?;
        let counters = request.run(counters)?;
        counters.into_iter().map(|counter| counter.finish(&request)).collect()
    }
}
