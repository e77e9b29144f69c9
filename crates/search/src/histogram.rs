//! Histograms: the number of values in each of a row of adjacent buckets.
//!
//! | step | buckets | column types |
//! | --- | --- | --- |
//! | [`Step::Width`], [`Step::Whole`] | of equal width; one begins at 0 | numbers, dates (days), timestamps (stored units) |
//! | [`Step::Every`] | [calendar steps](crate::calendar) in a time zone: 15 minutes, days, months, weekdays ... | dates, timestamps |
//! | [`Step::Edges`] | from each edge to the next | numbers, dates, timestamps |
//!
//! Buckets cover the column's values from the least to the greatest or, if those are too many, the values of the
//! documents searched. There is a counter for each. Finding a value's bucket takes a comparison with the last bucket
//! and otherwise a binary search.

mod auto;
mod buckets;
mod edges;
mod sub_aggregations;

use docvalues_column::{Field, LogicalType};
use docvalues_format::file::kind::to_f64;

pub use crate::calendar::Unit;
use crate::calendar::{self, CalendarStep, LastRun};
use crate::engine::{Cells, Collector, ConstantColumn, Elements, Interrupt, Request, Slot, Window, len_u32};
use crate::error::{Error, Result};
use crate::facet::{Facet, FacetCounts};
use crate::metrics::{Measure, MeasureState, Metric};
use crate::stats::ValueStats;
pub(crate) use buckets::Buckets;
use sub_aggregations::SubAggregations;

/// The most buckets of a histogram.
pub const MAX_BUCKETS: usize = 1 << 16;

/// A request to count the values of a column by bucket.
///
/// ```
/// use docvalues_search::histogram::{Histogram, Step, Unit};
///
/// use docvalues_search::{facet::Facet, group::Metric};
///
/// let by_size = Histogram::of("size", Step::Whole(1_000));
/// // Of each month the five hosts with most documents, and how many bytes they all have.
/// let by_month = Histogram::of("at", Step::every(Unit::Month))
///     .facet(Facet::of("host").top(5))
///     .metric(Metric::Sum("size".into()));
/// # drop((by_month, by_size));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[doc(alias = "HistogramAggregation")]
#[doc(alias = "LongRangeFacetCounts")]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
#[must_use]
pub struct Histogram {
    /// A column of numbers, one or several a document.
    pub column: String,
    /// The start of each bucket.
    pub step: Step,
    /// Metrics to compute for the documents of each bucket. The column must then have at most one number a document.
    pub metrics: Vec<Metric>,
    /// A facet to count among the documents of each bucket, under the same condition. Values that none of them has
    /// are not counted.
    pub facet: Option<Facet>,
}

impl Histogram {
    /// Requests the number of values of `column` in each bucket.
    pub fn of(column: impl Into<String>, step: Step) -> Histogram {
        Histogram { column: column.into(), step, metrics: Vec::new(), facet: None }
    }

    /// Adds a metric of the documents of each bucket.
    pub fn metric(mut self, metric: Metric) -> Histogram {
        self.metrics.push(metric);
        self
    }

    /// Adds a facet of the documents of each bucket, over a column of numbers or terms.
    pub fn facet(self, facet: Facet) -> Histogram {
        Histogram { facet: Some(facet), ..self }
    }
}

/// The starts of buckets.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Field, Kind, LogicalType};
/// use docvalues_search::histogram::{Step, Unit};
/// use docvalues_search::query::Literal;
///
/// let prices = Step::Width(0.25);
/// let ids = Step::Whole(1 << 60); // exact, also above 2^53
/// let months = Step::every(Unit::Month);
///
/// let size = Field::new("size", Kind::Numeric, LogicalType::I64);
/// let classes = Step::edges(&size, &["0", "1kB", "10MB"].map(Literal::read))?;
/// assert_eq!(classes, Step::Edges(vec![0, 1_000, 10_000_000]));
/// # drop((prices, ids, months));
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Step {
    /// Every multiple of a width. For integers, a whole number of at least 1. For doubles, the multiples are computed in
    /// decimal: with a width of 0.1, 0.3 begins a bucket.
    Width(#[cfg_attr(feature = "serde", serde(with = "crate::serial::double"))] f64),
    /// Every multiple of a whole number of at least 1: a double is inexact above 2^53.
    Whole(u64),
    /// The beginning of every calendar step. Hours of the day and weekdays are buckets of these numbers, for a column with
    /// at most one time a document.
    Every(CalendarStep),
    /// The given stored numbers, ascending. Values below the first are in no bucket. [`Step::edges`] converts them
    /// from literals.
    Edges(Vec<i64>),
}

impl Step {
    /// The beginning of every calendar step, such as a [`Unit`] in UTC.
    ///
    /// ```
    /// use docvalues_search::calendar::{CalendarStep, TimeZone, Unit};
    /// use docvalues_search::histogram::Step;
    ///
    /// let months = Step::every(Unit::Month);
    /// let days = Step::every(CalendarStep::of(Unit::Day).zone(TimeZone::get("Europe/Berlin")?));
    /// # drop((months, days));
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    pub fn every(step: impl Into<CalendarStep>) -> Step {
        Step::Every(step.into())
    }

    /// The calendar step whose buckets are numbers of their own: hours of the day, weekdays.
    pub(crate) fn recurring(&self) -> Option<&CalendarStep> {
        if let Step::Every(step) = self { Some(step).filter(|step| step.recurs()) } else { None }
    }
}

/// The buckets of a histogram and their counts.
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
/// use docvalues_search::histogram::{Histogram, Step};
/// use docvalues_search::{Docs, Search};
///
/// // The sizes 9, 70, 512 and 1,500.
/// let found = Search::new(&source).histogram(Docs::All, &Histogram::of("size", Step::Whole(500)))?;
/// let buckets: Vec<_> = found.buckets.iter().map(|bucket| (bucket.from, bucket.count)).collect();
/// assert_eq!(buckets, [(0, 2), (500, 1), (1_000, 0), (1_500, 1)]);
///
/// let edges = Histogram::of("size", Step::Edges(vec![50, 100, 1_000]));
/// let found = Search::new(&source).histogram(Docs::All, &edges)?;
/// assert_eq!(found.buckets.iter().map(|bucket| bucket.count).collect::<Vec<_>>(), [1, 1, 1]);
/// assert_eq!(found.outside, 1); // 9 is below the first edge
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HistogramCounts {
    /// The column, whose type gives numbers their meaning.
    pub field: Field,
    /// The buckets, ascending, from the first to the last that has a value, including empty ones between. All buckets
    /// for [`Step::Edges`].
    pub buckets: Vec<Bucket>,
    /// The number of documents of the set.
    pub docs: u64,
    /// The number of documents of the set without a value.
    pub missing: u64,
    /// Values in no bucket: NaN, and values below the first edge.
    pub outside: u64,
}

/// A bucket of a histogram, one of [`HistogramCounts::buckets`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bucket {
    /// The least number that belongs to it, as stored.
    pub from: i64,
    /// The number of values in it. A document with several values may be in several buckets, or several times in one.
    pub count: u64,
    /// The requested metrics; `None` if no document of the bucket has a number.
    pub metrics: Vec<Option<Measure>>,
    /// The requested facet.
    pub facet: Option<FacetCounts>,
}

/// Counts values by bucket.
pub(crate) struct BucketCounter {
    slot: Slot,
    buckets: Buckets,
    counts: Vec<u64>,
    docs: u64,
    missing: u64,
    outside: u64,
    last: LastRun,
    /// Whether the column's description has the answer.
    is_known: bool,
    /// Metrics and a facet of the documents of each bucket.
    sub: Option<SubAggregations>,
}

impl BucketCounter {
    /// Determines the buckets from the bounds of the column or, if those make too many, of the documents. If NaN
    /// hides the bounds of doubles, a pass over all documents finds them.
    pub(crate) fn new(
        request: &mut Request<'_>,
        histogram: &Histogram,
        bytes: usize,
    ) -> Result<BucketCounter> {
        let slot = match histogram.step.recurring() {
            Some(step) => {
                let set = calendar::column_set(&*request.column_set(&histogram.column)?, step)?;
                request.add_unnamed(set)
            }
            None => request.slot(&histogram.column)?,
        };
        let column = request.columns().get(slot);
        let field = &column.info().field;
        if column.elements() != Elements::Numbers {
            return Err(Error::kind(field, "has no numbers for a histogram"));
        }
        let bounds = Some(column.info().bounds.range()).filter(|bounds| !bounds.is_empty());
        let is_nan = |bound: i64| field.logical == LogicalType::F64 && to_f64(bound).is_nan();
        // Bounds are ordered by bits, so that NaN may hide the greatest or least number.
        let hidden = bounds.as_ref().is_some_and(|ends| is_nan(*ends.start()) || is_nan(*ends.end()));
        let of_column = if hidden { None } else { Some(Buckets::new(&histogram.step, field, bounds)) };
        let buckets = match of_column {
            Some(Ok(buckets)) => buckets,
            Some(Err(error)) if request.is_all() && column.info().bounds.exact().is_some() => {
                return Err(error);
            }
            // Any other error in the step occurs again.
            Some(Err(_)) | None => {
                let (numbers, _) = request.run(ValueStats::new(slot, request, false))?.finish(request)?;
                let ends = numbers.range.map(|(low, high)| low..=high);
                Buckets::new(&histogram.step, field, ends)?
            }
        };
        let sub = SubAggregations::new(request, histogram, slot, buckets.starts().len(), bytes)?;
        let (counts, known) = (vec![0; buckets.starts().len()], request.constant(slot));
        let (docs, missing, outside, last) = (0, 0, 0, (0, 0, 0));
        let is_known = false;
        let mut counter =
            BucketCounter { slot, counts, docs, missing, outside, last, buckets, is_known, sub };
        if let Some(known) = known.filter(|known| counter.knows(known, request)) {
            counter.is_known = true;
            (counter.docs, counter.missing) = (known.docs, known.docs - known.with_value);
            known.value.iter().for_each(|number| counter.count(*number, known.values));
        }
        Ok(counter)
    }

    /// Whether nothing else is requested, or the descriptions of the other columns have that, too.
    fn knows(&mut self, known: &ConstantColumn, request: &Request<'_>) -> bool {
        let (Some(sub), Some(number)) = (&mut self.sub, known.value) else { return true };
        match self.buckets.place(number, &mut self.last) {
            Some(range) => known.with_value == known.docs && sub.knows(range, known.docs, request),
            None => true,
        }
    }

    pub(crate) fn finish(self, request: &Request<'_>) -> Result<HistogramCounts> {
        let BucketCounter { slot, buckets, counts, docs, missing, outside, mut sub, .. } = self;
        let field = request.columns().get(slot).info().field.clone();
        let ends = (counts.iter().position(|count| *count > 0), counts.iter().rposition(|count| *count > 0));
        let shown = match ends {
            _ if buckets.is_given => 0..counts.len(),
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        };
        let range = |at| {
            let (metrics, facet) = match &mut sub {
                Some(sub) => (sub.layout.measures(sub.row(at), &[]), sub.facet(at, request)?),
                None => Default::default(),
            };
            Ok(Bucket { from: buckets.starts()[at], count: counts[at], metrics, facet })
        };
        let shown = shown.map(range).collect::<Result<_>>()?;
        Ok(HistogramCounts { field, buckets: shown, docs, missing, outside })
    }

    /// Calls `each` with the start of every bucket that has values, its count, measures and facet, and returns the
    /// remaining counts: documents, documents without a value, and values in no bucket.
    pub(crate) fn each_found(
        mut self,
        request: &Request<'_>,
        mut each: impl FnMut(i64, u64, Vec<Option<MeasureState>>, Option<FacetCounts>) -> Result<()>,
    ) -> Result<[u64; 3]> {
        for (at, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (measures, facet) = match &mut self.sub {
                Some(sub) => (sub.layout.measure_states(sub.row(at), &[]), sub.facet(at, request)?),
                None => Default::default(),
            };
            each(self.buckets.starts()[at], count, measures, facet)?;
        }
        Ok([self.docs, self.missing, self.outside])
    }

    fn count(&mut self, number: i64, times: u64) {
        match self.buckets.place(number, &mut self.last).and_then(|at| self.counts.get_mut(at)) {
            Some(count) => *count += times,
            None => self.outside += times,
        }
    }
}

impl Collector for BucketCounter {
    fn fork(&self) -> BucketCounter {
        let (slot, buckets, counts) = (self.slot, self.buckets.clone(), vec![0; self.counts.len()]);
        let (docs, missing, outside, last, is_known) = (0, 0, 0, (0, 0, 0), self.is_known);
        let sub = self.sub.as_ref().map(SubAggregations::fork);
        BucketCounter { slot, buckets, counts, docs, missing, outside, last, is_known, sub }
    }

    fn max_threads(&self) -> usize {
        self.sub.as_ref().map_or(usize::MAX, SubAggregations::max_threads)
    }

    fn is_idle(&self) -> bool {
        self.is_known
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        window.read_stored(self.slot)?;
        self.docs += window.len() as u64;
        let cells = window.stored_cells(self.slot);
        self.missing += cells.missing();
        let (Some(sub), Cells::Numbers(numbers)) = (&mut self.sub, &cells) else {
            cells.each_number(|number| self.count(number, 1));
            return Ok(());
        };
        sub.places.clear();
        sub.places.resize(window.len(), len_u32(self.counts.len()));
        numbers.each(|at, number| match self.buckets.place(number, &mut self.last) {
            Some(range) => {
                self.counts[range] += 1;
                sub.places[at] = len_u32(range);
            }
            None => self.outside += 1,
        });
        sub.collect(window)
    }

    fn merge(&mut self, other: BucketCounter, stop: &Interrupt) -> Result<()> {
        self.counts.iter_mut().zip(other.counts).for_each(|(to, from)| *to += from);
        self.docs += other.docs;
        self.missing += other.missing;
        self.outside += other.outside;
        match (&mut self.sub, other.sub) {
            (Some(sub), Some(other)) => sub.merge(other, stop),
            _ => Ok(()),
        }
    }
}
