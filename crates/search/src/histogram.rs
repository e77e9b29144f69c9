//! How many values lie in each of a row of ranges that lie side by side.
//!
//! | step | ranges | of columns of |
//! | --- | --- | --- |
//! | [`Step::Width`], [`Step::Whole`] | each so wide, one begins at 0 | numbers, dates (days), timestamps (as the column counts) |
//! | [`Step::Every`] | an hour, a day, a month ... of the calendar, UTC | dates, timestamps |
//! | [`Step::Edges`] | from each edge up to the next one | numbers, dates, timestamps |
//!
//! The ranges reach from the least to the greatest value of the column, or, if these are too many, of the documents, and
//! there are counters for all of them: a value costs a division, or, where ranges are not equally wide, a look at the last
//! range and a binary search.

mod buckets;
mod edges;
mod sub_aggregations;

use docvalues_column::{Field, LogicalType, Values};
use docvalues_format::file::kind::to_f64;

use crate::collector::Collector;
use crate::columns::Slot;
use crate::constant::ConstantColumn;
use crate::docs::Docs;
use crate::error::{Error, Result};
use crate::facet::{Facet, FacetCounts};
use crate::group::{Measure, Metric};
use crate::interrupt::Interrupt;
use crate::search::{Request, Search};
use crate::stats::NumberStats;
use crate::window::{Cells, Window};
use buckets::Buckets;
use sub_aggregations::SubAggregations;

/// The most ranges of a histogram.
pub const MAX_BUCKETS: usize = 1 << 16;

/// What to count.
///
/// ```
/// use docvalues_search::histogram::{Histogram, Step, Unit};
///
/// use docvalues_search::{facet::Facet, group::Metric};
///
/// let by_size = Histogram::of("size", Step::Whole(1_000));
/// // Of each month the five hosts with most documents, and how many bytes they all have.
/// let by_month = Histogram::of("at", Step::Every(Unit::Month))
///     .facet(Facet::on("host").top(5))
///     .metric(Metric::Sum("size".into()));
/// # drop((by_month, by_size));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Histogram {
    /// A column of numbers, one or several a document.
    pub column: String,
    /// Where ranges begin.
    pub step: Step,
    /// What else to find out about the documents of each range. The column has at most one number a document then.
    pub metrics: Vec<Metric>,
    /// Whose values to count among the documents of each range, under the same condition. Those that none of them has are
    /// not counted.
    pub facet: Option<Facet>,
}

impl Histogram {
    /// How many values lie in each range.
    pub fn of(column: impl Into<String>, step: Step) -> Histogram {
        Histogram { column: column.into(), step, metrics: Vec::new(), facet: None }
    }

    /// And what a metric is of its documents.
    #[must_use]
    pub fn metric(mut self, metric: Metric) -> Histogram {
        self.metrics.push(metric);
        self
    }

    /// And how many of its documents have each value of another column, numbers or terms.
    #[must_use]
    pub fn facet(mut self, facet: Facet) -> Histogram {
        self.facet = Some(facet);
        self
    }
}

/// Where ranges begin.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// At every multiple of this. Of integers, a whole number from 1 on.
    Width(f64),
    /// At every multiple of this, from 1 on: above 2^53 a double is not exact.
    Whole(u64),
    /// At the beginning of each of these.
    Every(Unit),
    /// At these numbers, as they are stored, ascending; what lies below the first is in no range. [`Step::edges`] makes them
    /// of what people write.
    Edges(Vec<i64>),
}

/// A unit of the calendar, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// 1 s.
    Second,
    /// 60 s.
    Minute,
    /// 60 minutes.
    Hour,
    /// 24 hours.
    Day,
    /// From Monday on.
    Week,
    /// From the first of a month on.
    Month,
    /// From January, April, July and October on.
    Quarter,
    /// From the first of January on.
    Year,
}

/// What was counted.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramCounts {
    /// The column: its type says what numbers mean.
    pub field: Field,
    /// The ranges, ascending, from the first to the last that has a value; those between that have none are there. Of
    /// [`Step::Edges`] all.
    pub buckets: Vec<Bucket>,
    /// Documents that were looked at.
    pub docs: u64,
    /// Those of them that have no value.
    pub missing: u64,
    /// Values in no range: NaN, and what lies below the first edge.
    pub outside: u64,
}

/// A range, and how many values lie in it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bucket {
    /// The least number that would lie in it, as it is stored.
    pub from: i64,
    /// Values. A document with several may be in several ranges, and several times in one.
    pub count: u64,
    /// The metrics that were asked for; `None` where no document of the range has a number.
    pub metrics: Vec<Option<Measure>>,
    /// What a facet was asked for.
    pub facet: Option<FacetCounts>,
}

impl Search<'_> {
    /// How many values of `docs` lie in each of a row of ranges.
    ///
    /// # Errors
    ///
    /// When there is no such column, it has no numbers, the ranges make no sense or are too many, bytes are damaged, or what is
    /// counted within ranges takes more memory than [`Search::memory`] allows.
    pub fn histogram(&self, docs: Docs<'_>, histogram: &Histogram) -> Result<HistogramCounts> {
        let mut request = self.begin(docs)?;
        let bytes = request.memory();
        let counter = BucketCounter::new(&mut request, histogram, bytes)?;
        request.run(counter)?.finish(&request)
    }
}

/// Counts values by range.
pub(crate) struct BucketCounter {
    slot: Slot,
    buckets: Buckets,
    counts: Vec<u64>,
    docs: u64,
    missing: u64,
    outside: u64,
    /// Where the last value lay: from here up to, but without, this, and which range that is. Empty at first.
    last: (i64, i64, usize),
    /// Whether the column's description said all.
    is_known: bool,
    /// What else is found out about the documents of each range.
    sub: Option<SubAggregations>,
}

impl BucketCounter {
    /// Finds out which ranges there are: by the least and the greatest value of the column, or, where these would make too
    /// many, of the documents. Of doubles, NaN may hide them: then by a pass over all.
    pub(crate) fn new(
        request: &mut Request<'_>,
        histogram: &Histogram,
        bytes: usize,
    ) -> Result<BucketCounter> {
        let slot = request.slot(&histogram.column)?;
        let column = request.columns().get(slot);
        let field = &column.info().field;
        let Values::Numbers(_) = column.values() else {
            let (kind, cannot) = (field.kind, "has no numbers that could lie in ranges");
            return Err(Error::Kind { field: field.name.clone(), kind, cannot });
        };
        let bounds = Some(column.info().bounds.range()).filter(|bounds| !bounds.is_empty());
        let is_nan = |bound: i64| field.logical == LogicalType::F64 && to_f64(bound).is_nan();
        // The ends of all bits: which numbers there are has to be found out.
        let hidden = bounds.as_ref().is_some_and(|ends| is_nan(*ends.start()) || is_nan(*ends.end()));
        let of_column = if hidden { None } else { Some(Buckets::new(&histogram.step, field, bounds)) };
        let buckets = match of_column {
            Some(Ok(buckets)) => buckets,
            Some(Err(error)) if request.is_all() && column.info().bounds.exact().is_some() => {
                return Err(error);
            }
            // Whatever else is wrong with the step still is.
            Some(Err(_)) | None => {
                let numbers = request.run(NumberStats::new(slot, request, false))?.finish();
                let ends = numbers.range.map(|(low, high)| low..=high);
                Buckets::new(&histogram.step, field, ends)?
            }
        };
        let sub = SubAggregations::new(request, histogram, slot, buckets.edges().len(), bytes)?;
        let (counts, known) = (vec![0; buckets.edges().len()], request.constant(slot));
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

    /// Whether nothing else is asked for, or the descriptions of other columns say that, too.
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
                Some(sub) => sub.finish(at, request)?,
                None => Default::default(),
            };
            Ok(Bucket { from: buckets.edges()[at], count: counts[at], metrics, facet })
        };
        let shown = shown.map(range).collect::<Result<_>>()?;
        Ok(HistogramCounts { field, buckets: shown, docs, missing, outside })
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

    fn most_threads(&self) -> usize {
        self.sub.as_ref().map_or(usize::MAX, SubAggregations::most_threads)
    }

    fn is_idle(&self) -> bool {
        self.is_known
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        if self.is_known {
            return Ok(());
        }
        window.read(self.slot)?;
        self.docs += window.len() as u64;
        let cells = window.cells(self.slot);
        self.missing += cells.missing();
        match cells {
            Cells::Numbers(numbers) => match &mut self.sub {
                None => numbers.each(|_, number| self.count(number, 1)),
                Some(sub) => {
                    sub.begin(window.len());
                    numbers.each(|at, number| match self.buckets.place(number, &mut self.last) {
                        Some(range) => {
                            self.counts[range] += 1;
                            sub.put(at, range);
                        }
                        None => self.outside += 1,
                    });
                    sub.collect(window)?;
                }
            },
            Cells::NumberLists(lists) => lists.items().iter().for_each(|&number| self.count(number, 1)),
            Cells::Ords(_) | Cells::OrdLists(_) | Cells::Bytes(_) => {}
        }
        Ok(())
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
