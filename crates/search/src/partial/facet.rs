//! Partial facets.

use std::cmp::Reverse;

use docvalues_column::Field;

use super::check_same;
use super::column::PartialColumn;
use crate::engine::{DocsByPart, Search, Stored, memory};
use crate::error::{Error, Result};
use crate::facet::{Facet, FacetCounts, FacetOrder};
use crate::metrics::merge_counts;

/// A facet over some parts: the count of every value. See [the module](super).
///
/// It takes about 32 bytes a value, and the bytes of terms.
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType, Part};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_column::Value;
/// use docvalues_search::facet::Facet;
/// use docvalues_search::{Docs, Parts, Search};
///
/// # let of = |sizes: &[i64]| {
/// #     let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// #     let sizes: Vec<_> = sizes.iter().copied().map(Some).collect();
/// #     Parts::new([Part::new(MemSource::new(sizes.len() as u32, [(field, ModelColumn::Numeric(sizes))]))])
/// # };
/// # let (here, there) = (of(&[7, 8]), of(&[9, 8]));
/// let facet = Facet::of("size").min_count(2);
/// let here = Search::over(&here).partial_facet(Docs::All, &facet)?;
/// let there = Search::over(&there).partial_facet(Docs::All, &facet)?;
/// let counts = here.merge(there)?.finish();
/// assert_eq!((counts.values, counts.docs), (vec![(Value::I64(8), 2)], 4));
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct PartialFacet {
    facet: Facet,
    column: PartialColumn,
    counts: ValueCounts,
}

/// The number of documents with each value.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ValueCounts {
    /// Ascending by value.
    pub(super) values: Vec<(Stored, u64)>,
    docs: u64,
    missing: u64,
}

/// The request for all values of a facet that `bytes` of memory may hold, ascending.
pub(super) fn all_values(facet: &Facet, bytes: usize) -> Facet {
    let (top, min_count) = (bytes / size_of::<(Stored, u64)>(), facet.min_count.min(1));
    Facet { top, min_count, order: FacetOrder::Value, ..facet.clone() }
}

impl PartialFacet {
    /// [`Search::partial_facet`].
    pub(super) fn of(search: &Search<'_>, docs: DocsByPart<'_>, facet: &Facet) -> Result<PartialFacet> {
        let column = PartialColumn::open(search, &facet.column)?;
        let mut left = search.pass_memory();
        let counts = search.facet(docs, &all_values(facet, left))?;
        let counts = ValueCounts::new(counts, &mut left)?;
        Ok(PartialFacet { facet: facet.clone(), column, counts })
    }

    /// The facet over the documents of both. O(values).
    ///
    /// # Errors
    ///
    /// If the requests differ, or the kinds or types of the column.
    pub fn merge(self, other: PartialFacet) -> Result<PartialFacet> {
        check_same(&self.facet.column, &self.facet, &other.facet)?;
        let (column, counts) = (self.column.merge(other.column)?, self.counts.merge(other.counts));
        Ok(PartialFacet { facet: self.facet, column, counts })
    }

    /// The answer. O(values · log values).
    pub fn finish(self) -> FacetCounts {
        self.counts.finish(&self.facet, self.column.field)
    }

    #[cfg(feature = "serde")]
    pub(super) fn check(&self) -> Result<()> {
        self.counts.check(&self.column)
    }
}

impl ValueCounts {
    /// The counts of all values, which take some of the bytes that are `left`.
    ///
    /// # Errors
    ///
    /// If these are too few, so that some values were left out.
    pub(super) fn new(counts: FacetCounts, left: &mut usize) -> Result<ValueCounts> {
        const EACH: usize = size_of::<(Stored, u64)>();
        if counts.distinct > counts.values.len() as u64 {
            return Err(Error::Memory { bytes: counts.distinct.saturating_mul(EACH as u64) });
        }
        let (mut values, mut bytes) = (Vec::with_capacity(counts.values.len()), 0);
        for (value, count) in counts.values {
            let value = Stored::of(value);
            bytes += EACH + value.heap_bytes();
            values.push((value, count));
        }
        memory::limit(bytes, *left)?;
        *left -= bytes;
        Ok(ValueCounts { values, docs: counts.docs, missing: counts.missing })
    }

    pub(super) fn merge(self, other: ValueCounts) -> ValueCounts {
        ValueCounts {
            values: merge_counts(self.values, other.values),
            docs: self.docs.saturating_add(other.docs),
            missing: self.missing.saturating_add(other.missing),
        }
    }

    pub(super) fn finish(self, facet: &Facet, field: Field) -> FacetCounts {
        let mut values = self.values;
        values.retain(|(_, count)| *count >= facet.min_count);
        let distinct = values.len() as u64;
        if facet.order == FacetOrder::Count {
            // A stable sort: values with equal counts ascend.
            values.sort_by_key(|(_, count)| Reverse(*count));
        }
        values.truncate(facet.top);
        let typed = |(value, count): (Stored, u64)| (value.into_value(field.logical), count);
        let values = values.into_iter().map(typed).collect();
        FacetCounts { values, distinct, docs: self.docs, missing: self.missing, field }
    }

    #[cfg(feature = "serde")]
    pub(super) fn check(&self, column: &PartialColumn) -> Result<()> {
        let (values, field) = (&self.values, &column.field);
        let ascend = values.is_sorted_by(|(a, _), (b, _)| a < b);
        super::check(&field.name, ascend, "ascending values")?;
        let fit = values.iter().all(|(value, _)| !column.is_absent() && value.fits(field));
        super::check(&field.name, fit, "values of the column's type")
    }
}
