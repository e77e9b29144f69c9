//! Partial statistics.

use docvalues_column::{Kind, Value};

use super::check_same;
use super::column::PartialColumn;
use super::distinct::PartialDistinct;
use super::facet::{ValueCounts, all_values};
use crate::engine::{DocsByPart, Request, Search, memory};
use crate::error::Result;
use crate::facet::Facet;
use crate::metrics::{merge_counts, nth, place};
use crate::stats::{self, ByteRange, ColumnStats, DistinctValues, Numbers, Stats, ValueStats, is_dense};

/// Statistics over some parts. See [the module](super).
///
/// It takes some hundred bytes; for percentiles, 16 for each different number; for distinct values, about 24 for each,
/// and the bytes of terms, or a sketch of 16 KiB.
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType, Part};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_search::stats::{Distinct, Stats};
/// use docvalues_search::{Docs, Parts, Search};
///
/// # let of = |sizes: &[i64]| {
/// #     let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// #     let sizes: Vec<_> = sizes.iter().copied().map(Some).collect();
/// #     Parts::new([Part::new(MemSource::new(sizes.len() as u32, [(field, ModelColumn::Numeric(sizes))]))])
/// # };
/// # let (here, there) = (of(&[7, 8]), of(&[9, 8]));
/// // The sizes are 7 and 8 here, 9 and 8 there.
/// let stats = Stats::of("size").percentiles([75.0]).distinct();
/// let here = Search::over(&here).partial_stats(Docs::All, &stats)?;
/// let there = Search::over(&there).partial_stats(Docs::All, &stats)?;
/// let found = here.merge(there)?.finish();
/// assert_eq!((found.mean, found.distinct), (Some(8.0), Some(Distinct::Exact(3))));
/// assert_eq!(found.percentiles, [(75.0, 8_i64.into())]);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct PartialStats {
    stats: Stats,
    column: PartialColumn,
    /// Of byte strings, only counts.
    numbers: Numbers,
    /// The least and the greatest byte string.
    terms: Option<ByteRange>,
    /// The count of each number other than NaN, ascending, if percentiles are requested.
    counts: Vec<(i64, u64)>,
    distinct: Option<PartialDistinct>,
}

impl PartialStats {
    /// [`Search::partial_stats`].
    pub(super) fn of(search: &Search<'_>, docs: DocsByPart<'_>, asked: &Stats) -> Result<PartialStats> {
        let column = PartialColumn::open(search, &asked.column)?;
        let mut request = Request::open(search, docs)?;
        let plain = Stats { distinct: false, ..asked.clone() };
        let (mut values, _) = stats::open(&mut request, &plain, search.pass_memory())?;
        if !asked.percentiles.is_empty() {
            let slot = request.slot(&asked.column)?;
            values = ValueStats::new(slot, &request, asked.spread).counting(&request);
        }
        let mut values = request.run(values)?;
        let counts = values.take_counts()?;
        let (numbers, terms) = values.finish(&request)?;
        let distinct =
            asked.distinct.then(|| distinct_values(search, docs, &mut request, asked)).transpose()?;
        let bytes = distinct.as_ref().map_or(0, PartialDistinct::bytes);
        memory::limit(bytes.saturating_add(size_of_val(counts.as_slice())), search.pass_memory())?;
        Ok(PartialStats { stats: asked.clone(), column, numbers, terms, counts, distinct })
    }

    /// The statistics of the values of both. O(values kept).
    ///
    /// # Errors
    ///
    /// If the requests differ, or the kinds or types of the column.
    pub fn merge(self, other: PartialStats) -> Result<PartialStats> {
        check_same(&self.stats.column, &self.stats, &other.stats)?;
        let column = self.column.merge(other.column)?;
        let numbers = self.numbers.and(&other.numbers);
        let both = |(low, high): ByteRange, (least, most): ByteRange| (low.min(least), high.max(most));
        let terms = self.terms.into_iter().chain(other.terms).reduce(both);
        let counts = merge_counts(self.counts, other.counts);
        let distinct = self.distinct.zip(other.distinct).map(|(a, b)| a.merge(b, &column.field));
        Ok(PartialStats { stats: self.stats, column, numbers, terms, counts, distinct })
    }

    /// The answer. O(numbers kept) for each percentile.
    pub fn finish(self) -> ColumnStats {
        let logical = self.column.field.logical;
        let count = self.numbers.values - self.numbers.nans;
        let value = |percentile: &f64| {
            let number = nth(&self.counts, place(*percentile, count))?;
            Some((*percentile, Value::of(logical, number)))
        };
        let percentiles = self.stats.percentiles.iter().filter_map(value).collect();
        let distinct = self.distinct.map(PartialDistinct::finish);
        let found = ColumnStats::new(self.column.field, &self.numbers, self.terms);
        ColumnStats { percentiles, distinct, ..found }
    }

    #[cfg(feature = "serde")]
    pub(super) fn check(&self) -> Result<()> {
        let PartialStats { stats, column, numbers, counts, distinct, .. } = self;
        let name = &column.field.name;
        stats::check_percentiles(stats)?;
        super::check(name, numbers.nans <= numbers.values, "at most as many NaNs as values")?;
        super::check(name, counts.is_sorted_by(|a, b| a.0 < b.0), "ascending numbers")?;
        let fits = distinct.as_ref().is_none_or(|distinct| distinct.fits(column));
        super::check(name, fits, "ascending values of the column's type")?;
        super::check(name, distinct.is_some() == stats.distinct, "distinct values as requested")
    }
}

/// The different values of a column: those of a facet if the answer is exact in any case.
fn distinct_values(
    search: &Search<'_>,
    docs: DocsByPart<'_>,
    request: &mut Request<'_>,
    asked: &Stats,
) -> Result<PartialDistinct> {
    let slot = request.slot(&asked.column)?;
    let (column, info) = (request.columns().get(slot), request.columns().get(slot).info());
    let bounds = Some(column.number_bounds()).filter(|bounds| !bounds.is_empty());
    let bounds = bounds.map(|bounds| bounds.into_inner()).filter(|_| !info.field.kind.is_bytes());
    let is_exact = info.field.kind != Kind::Binary && bounds.is_none_or(|(low, high)| is_dense(low, high));
    let memory = search.pass_memory();
    let seen = if is_exact {
        let counts = search.facet(docs, &all_values(&Facet::of(&asked.column), memory))?;
        let counts = ValueCounts::new(counts, &mut { memory })?;
        Ok(counts.values.into_iter().map(|(value, _)| value).collect())
    } else {
        request.run(DistinctValues::new(slot, request, memory)?)?.into_set()
    };
    Ok(PartialDistinct::new(seen, bounds, memory / 16))
}
