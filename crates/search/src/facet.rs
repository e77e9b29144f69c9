//! Facets: the number of documents with each value.
//!
//! | column | counters |
//! | --- | --- |
//! | sorted, sorted-set | an array indexed by ord; a hash table if the documents are few beside the dictionary |
//! | numbers, sorted-numeric, bool | an array from the least to the greatest value if these are close; otherwise a hash table |
//! | binary | a hash table of values |
//!
//! If the counters exceed [`Search::memory`](crate::Search::memory), several passes count a part of the values each: a range of ords, or of
//! hashes.
//!
//! Several parts of a search count into the same counters, terms by their ids (`engine::term_ids`), and those of threads are
//! added up. Answers of several searches are merged by [`partial`](crate::partial).
//!
//! A document counts once for each different value that it has, as in Lucene's facets. Of doubles, -0.0 counts as 0.0.
//! Terms are looked up at the end, only for the values that are returned.

mod counter;
mod counter_array;
mod finish;
mod top_values;

use docvalues_column::{Field, Value};

use crate::engine::{Request, Slot, hash_tables};
use crate::error::Result;
use counter::Counts;
pub(crate) use counter::FacetCounter;
use finish::FacetResult;

/// A request to count the values of a column.
///
/// ```
/// use docvalues_search::facet::{Facet, FacetOrder};
///
/// let facet = Facet::of("tags").top(20).prefix("role::").min_count(2).order(FacetOrder::Value);
/// assert_eq!(facet.column, "tags");
/// ```
#[doc(alias = "SortedSetDocValuesFacetCounts")]
#[doc(alias = "TermsAggregation")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
#[must_use]
pub struct Facet {
    /// The column.
    pub column: String,
    /// The most values to return.
    pub top: usize,
    /// The order of the values, which decides which are returned.
    pub order: FacetOrder,
    /// The least count of a value to return. 1 leaves out values that no document of the set has.
    pub min_count: u64,
    /// Count only values that begin with these bytes. For columns of byte strings.
    pub prefix: Option<Vec<u8>>,
}

/// The order of the values of a facet: [`Facet::order`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum FacetOrder {
    /// By descending count, then by ascending value.
    #[default]
    Count,
    /// By ascending value.
    Value,
}

/// The values of a facet and their counts.
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
/// use docvalues_column::Value;
/// use docvalues_search::facet::Facet;
/// use docvalues_search::{Docs, Search};
///
/// let counts = Search::new(&source).facet(Docs::All, &Facet::of("host").top(1))?;
/// assert_eq!(counts.values, [(Value::Bytes(b"b.example".to_vec()), 2)]);
/// assert_eq!((counts.distinct, counts.missing), (2, 1)); // one more host; document 3 has none
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FacetCounts {
    /// The column.
    pub field: Field,
    /// The first values in the requested order, with the number of documents that have each.
    pub values: Vec<(Value, u64)>,
    /// The number of different values that pass [`Facet::min_count`] and [`Facet::prefix`].
    pub distinct: u64,
    /// The number of documents of the set.
    pub docs: u64,
    /// The number of documents of the set without a value.
    pub missing: u64,
}

impl Facet {
    /// Requests the ten most frequent values of `column`.
    pub fn of(column: impl Into<String>) -> Facet {
        Facet { column: column.into(), top: 10, order: FacetOrder::Count, min_count: 1, prefix: None }
    }

    /// Sets the most values to return.
    pub fn top(self, top: usize) -> Facet {
        Facet { top, ..self }
    }

    /// Sets the order of the values.
    pub fn order(self, order: FacetOrder) -> Facet {
        Facet { order, ..self }
    }

    /// Leaves out values that fewer than `min_count` documents have.
    pub fn min_count(self, count: u64) -> Facet {
        Facet { min_count: count, ..self }
    }

    /// Counts only values that begin with `prefix`.
    pub fn prefix(self, prefix: impl Into<Vec<u8>>) -> Facet {
        Facet { prefix: Some(prefix.into()), ..self }
    }

    /// The first values of a hash table that counts `docs` documents, some of them without a value.
    pub(crate) fn of_table(
        &self,
        slot: Slot,
        table: hash_tables::NumberTable,
        docs: u64,
        missing: u64,
        request: &Request<'_>,
    ) -> Result<FacetCounts> {
        let column = request.columns().get(slot);
        let mut found = FacetResult::new(self, (slot, request), docs, missing)?;
        found.offer(Counts::Sparse(table), request.stop())?;
        finish::values(found, column, request)
    }
}
