//! Statistics of a column: count, range, sum, spread, percentiles and distinct values.
//!
//! | statistic | result | method |
//! | --- | --- | --- |
//! | count, missing, min, max, sum, mean | exact; a sum of doubles is compensated (Neumaier) | for all documents, from the directory if possible |
//! | spread | variance | in the same pass, window by window (Chan, Golub, LeVeque 1979) |
//! | percentiles | exact values of the column | counting passes, each of which narrows the range 4,096-fold |
//! | distinct | exact for ords, for dense numbers and up to 65,536 values; otherwise an estimate, of which 99 % are within 2.1 % | a bitset, in ranges if [`Search::memory`](crate::Search::memory) requires; a set; HyperLogLog |
//!
//! NaN counts as a value, and is left out of everything else. -0.0 and 0.0 are one distinct value; extremes and
//! percentiles are values as stored.

mod distinct;
mod number_counts;
mod numbers;
mod percentiles;
mod terms;
mod values;

use docvalues_column::{Field, LogicalType, Value};

use crate::engine::{ColumnView, Elements, Request};
use crate::error::{Error, Result};
pub use crate::metrics::{Distinct, Sum};
use crate::metrics::{check_percentile, place};
pub(crate) use distinct::{DistinctValues, MAX_EXACT, Sketch, Sketched, is_dense};
pub(crate) use numbers::Numbers;
pub(crate) use values::ValueStats;

/// A request for statistics of a column.
///
/// ```
/// use docvalues_search::stats::Stats;
///
/// let stats = Stats::of("size").percentiles([50.0, 99.0]).distinct();
/// assert_eq!(stats.column, "size");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
#[must_use]
pub struct Stats {
    /// The column.
    pub column: String,
    /// Whether to compute the variance, which reads all values.
    pub spread: bool,
    /// Percentiles to compute, from 0 to 100.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::doubles"))]
    pub percentiles: Vec<f64>,
    /// Whether to count different values.
    pub distinct: bool,
}

/// Statistics of the values that a set of documents has in a column.
///
/// # Examples
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
/// use docvalues_search::stats::{Distinct, Stats, Sum};
/// use docvalues_search::{Docs, Query, Search};
///
/// let search = Search::new(&source);
/// let stats = search.stats(Docs::All, &Stats::of("size").percentiles([50.0]).distinct())?;
/// assert_eq!((stats.values, stats.sum, stats.mean), (4, Some(Sum::Integer(2_091)), Some(522.75)));
/// assert_eq!(stats.percentiles, [(50.0, 70_i64.into())]); // half of 9, 70, 512, 1500 is at most 70
/// assert_eq!(stats.distinct, Some(Distinct::Exact(4)));
///
/// let small = search.filter(&Query::range("size", ..100))?;
/// let stats = search.stats(&small, &Stats::of("size"))?;
/// assert_eq!((stats.docs, stats.max), (2, Some(70_i64.into())));
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ColumnStats {
    /// The column, whose type gives the values their meaning.
    pub field: Field,
    /// The number of documents of the set.
    pub docs: u64,
    /// The number of documents of the set without a value.
    pub missing: u64,
    /// The number of values.
    pub values: u64,
    /// The number of NaNs, which are left out of everything below.
    pub nans: u64,
    /// The least value. Without a dictionary, byte strings are all compared.
    pub min: Option<Value>,
    /// The greatest value.
    pub max: Option<Value>,
    /// The sum of the stored numbers other than NaN: days, milliseconds, 1 for `true`.
    pub sum: Option<Sum>,
    /// The mean, in the same units.
    pub mean: Option<f64>,
    /// The mean squared distance from the mean.
    pub variance: Option<f64>,
    /// For each requested percentile, the least value such that at least that share of values is not greater.
    /// Percentiles are exact decimal numbers: 7 percent of 100 are 7, although the double 0.07 is a little more.
    pub percentiles: Vec<(f64, Value)>,
    /// The number of different values.
    pub distinct: Option<Distinct>,
}

impl Stats {
    /// Requests the cheap statistics: count, missing, minimum, maximum, sum and mean.
    pub fn of(column: impl Into<String>) -> Stats {
        Stats { column: column.into(), spread: false, percentiles: Vec::new(), distinct: false }
    }

    /// Adds the variance.
    pub fn spread(self) -> Stats {
        Stats { spread: true, ..self }
    }

    /// Adds percentiles, from 0 to 100.
    pub fn percentiles(self, percentiles: impl IntoIterator<Item = f64>) -> Stats {
        Stats { percentiles: percentiles.into_iter().collect(), ..self }
    }

    /// Adds the number of different values.
    pub fn distinct(self) -> Stats {
        Stats { distinct: true, ..self }
    }
}

impl ColumnStats {
    /// The square root of the variance.
    pub fn standard_deviation(&self) -> Option<f64> {
        self.variance.map(f64::sqrt)
    }

    /// The variance of a population that the values are a sample of: with divisor n − 1.
    pub fn sample_variance(&self) -> Option<f64> {
        let count = self.values - self.nans;
        #[expect(clippy::cast_precision_loss, reason = "a variance is no count")]
        let count = count as f64;
        self.variance.filter(|_| count > 1.0).map(|variance| variance * count / (count - 1.0))
    }

    /// The statistics of numbers, or the counts and the range of byte strings; without percentiles and distinct values.
    pub(crate) fn new(field: Field, numbers: &Numbers, terms: Option<ByteRange>) -> ColumnStats {
        let sum = if field.kind.is_bytes() { None } else { numbers.sum(field.logical) };
        #[expect(clippy::cast_precision_loss, reason = "a mean is no count")]
        let mean = sum.map(|sum| sum.to_f64() / (numbers.values - numbers.nans) as f64);
        let of_numbers = |(min, max)| [min, max].map(|number| Value::of(field.logical, number));
        let of_terms = |(min, max)| [min, max].map(Value::Bytes);
        let range = numbers.range.map(of_numbers).or(terms.map(of_terms));
        let (min, max) = range.map(|[min, max]| (min, max)).unzip();
        ColumnStats {
            docs: numbers.docs,
            missing: numbers.missing,
            values: numbers.values,
            nans: numbers.nans,
            min,
            max,
            sum,
            mean,
            variance: numbers.variance(),
            percentiles: Vec::new(),
            distinct: None,
            field,
        }
    }
}

/// The collectors for one column's statistics: of its values, and of the different ones if they are asked for.
pub(crate) type Reading = (ValueStats, Vec<DistinctValues>);

/// The collectors for the statistics of a column, within `bytes` of memory. Nothing is read that the directory has.
pub(crate) fn open(request: &mut Request<'_>, stats: &Stats, bytes: usize) -> Result<Reading> {
    check_percentiles(stats)?;
    let slot = request.slot(&stats.column)?;
    if stats.distinct {
        request.id_slot(&stats.column)?;
    }
    let column = request.columns().get(slot);
    let field = &column.info().field;
    let cannot = |cannot| Err(Error::kind(field, cannot));
    if field.kind.is_bytes() && !stats.percentiles.is_empty() {
        return cannot("has no percentiles");
    }
    if field.kind.is_bytes() && stats.spread {
        return cannot("has no variance");
    }
    let known = of_directory(column, request).filter(|_| request.is_all() && !stats.spread);
    let values = ValueStats::new(slot, request, stats.spread).knowing(known);
    let distinct = stats.distinct.then(|| DistinctValues::new(slot, request, bytes));
    Ok((values, distinct.into_iter().collect::<Result<_>>()?))
}

/// The statistics that the collectors found.
pub(crate) fn finish(
    stats: &Stats,
    request: &Request<'_>,
    (values, distinct): Reading,
) -> Result<ColumnStats> {
    let slot = values.slot;
    let (numbers, terms) = values.finish(request)?;
    let field = request.columns().get(slot).info().field.clone();
    let mut found = ColumnStats::new(field, &numbers, terms);
    found.distinct = distinct.into_iter().next().map(|distinct| distinct.finish(request)).transpose()?;
    if let Some(range) = numbers.range {
        let count = found.values - found.nans;
        let places: Vec<u64> = stats.percentiles.iter().map(|p| place(*p, count)).collect();
        let values = percentiles::find(request, slot, range, &places)?;
        let values = values.into_iter().map(|number| Value::of(found.field.logical, number));
        found.percentiles = stats.percentiles.iter().copied().zip(values).collect();
    }
    Ok(found)
}

/// The least and the greatest of some byte strings.
pub(crate) type ByteRange = (Vec<u8>, Vec<u8>);

/// Returns an error if a percentile is not from 0 to 100.
pub(crate) fn check_percentiles(stats: &Stats) -> Result<()> {
    stats.percentiles.iter().try_for_each(|percentile| check_percentile(*percentile))
}

/// The statistics of the numbers of all documents from the directory, if it has everything that is requested.
fn of_directory(column: ColumnView<'_>, request: &Request<'_>) -> Option<Numbers> {
    let info = column.info();
    (column.elements() == Elements::Numbers).then_some(())?;
    let docs = request.total();
    let missing = docs - info.with_value.exact()?;
    let mut numbers = Numbers { docs, missing, values: info.value_count.exact()?, ..Numbers::default() };
    let bounds = info.bounds.exact()?;
    if !bounds.is_empty() {
        numbers.range = Some((*bounds.start(), *bounds.end()));
        numbers.integers = match info.field.logical {
            LogicalType::F64 => return None,
            // Stored numbers are less by 2^63.
            LogicalType::U64 => info.sum?.checked_add(i128::from(numbers.values) << 63)?,
            _ => info.sum?,
        };
    }
    Some(numbers)
}
