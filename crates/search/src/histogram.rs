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

mod cut;
mod edges;

use docvalues_column::{Field, LogicalType, Values};
use docvalues_format::file::kind::to_f64;

use crate::collector::Collector;
use crate::columns::{Columns, Slot};
use crate::docs::Docs;
use crate::error::{Error, Result};
use crate::search::{Request, Search};
use crate::stats::NumberStats;
use crate::stop::Stop;
use crate::window::{Cells, Window};
use cut::Cut;

/// The most ranges of a histogram.
pub const MAX_RANGES: usize = 1 << 16;

/// What to count.
///
/// ```
/// use docvalues_search::histogram::{Histogram, Step, Unit};
///
/// let by_month = Histogram { column: "at".into(), step: Step::Every(Unit::Month) };
/// let by_size = Histogram { column: "size".into(), step: Step::Whole(1_000) };
/// # drop((by_month, by_size));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// A column of numbers, one or several a document.
    pub column: String,
    /// Where ranges begin.
    pub step: Step,
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
    pub ranges: Vec<Range>,
    /// Documents that were looked at.
    pub docs: u64,
    /// Those of them that have no value.
    pub missing: u64,
    /// Values in no range: NaN, and what lies below the first edge.
    pub outside: u64,
}

/// A range, and how many values lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least number that would lie in it, as it is stored.
    pub from: i64,
    /// Values. A document with several may be in several ranges, and several times in one.
    pub count: u64,
}

impl Search<'_> {
    /// How many values of `docs` lie in each of a row of ranges.
    ///
    /// # Errors
    ///
    /// When there is no such column, it has no numbers, the ranges make no sense or are too many, or bytes are damaged.
    pub fn histogram(&self, docs: Docs<'_>, histogram: &Histogram) -> Result<HistogramCounts> {
        let mut request = self.begin(docs)?;
        let counter = RangeCounter::new(&mut request, histogram)?;
        Ok(request.run(counter)?.finish(request.columns()))
    }
}

/// Counts values by range.
pub(crate) struct RangeCounter {
    slot: Slot,
    cut: Cut,
    counts: Vec<u64>,
    docs: u64,
    missing: u64,
    outside: u64,
    /// Where the last value lay: from here up to, but without, this, and which range that is. Empty at first.
    last: (i64, i64, usize),
    /// Whether the column's description said all.
    is_known: bool,
}

impl RangeCounter {
    /// Finds out which ranges there are: by the least and the greatest value of the column, or, where these would make too
    /// many, of the documents. Of doubles, NaN may hide them: then by a pass over all.
    pub(crate) fn new(request: &mut Request<'_>, histogram: &Histogram) -> Result<RangeCounter> {
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
        let of_column = if hidden { None } else { Some(Cut::new(&histogram.step, field, bounds)) };
        let cut = match of_column {
            Some(Ok(cut)) => cut,
            Some(Err(error)) if request.is_all() && column.info().bounds.exact().is_some() => {
                return Err(error);
            }
            // Whatever else is wrong with the step still is.
            Some(Err(_)) | None => {
                let numbers = request.run(NumberStats::new(slot, request, false))?.finish();
                let ends = numbers.range.map(|(low, high)| low..=high);
                Cut::new(&histogram.step, field, ends)?
            }
        };
        let (known, counts) = (request.known(slot), vec![0; cut.edges().len()]);
        let is_known = known.is_some();
        let mut counter =
            RangeCounter { slot, counts, docs: 0, missing: 0, outside: 0, last: (0, 0, 0), cut, is_known };
        if let Some(known) = known {
            (counter.docs, counter.missing) = (known.docs, known.docs - known.with_value);
            known.value.iter().for_each(|number| counter.count(*number, known.values));
        }
        Ok(counter)
    }

    pub(crate) fn finish(self, columns: &Columns) -> HistogramCounts {
        let RangeCounter { slot, cut, counts, docs, missing, outside, .. } = self;
        let field = columns.get(slot).info().field.clone();
        let ends = (counts.iter().position(|count| *count > 0), counts.iter().rposition(|count| *count > 0));
        let shown = match ends {
            _ if cut.is_given => 0..counts.len(),
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        };
        let ranges = shown.map(|at| Range { from: cut.edges()[at], count: counts[at] }).collect();
        HistogramCounts { field, ranges, docs, missing, outside }
    }

    fn count(&mut self, number: i64, times: u64) {
        match self.cut.place(number, &mut self.last).and_then(|at| self.counts.get_mut(at)) {
            Some(count) => *count += times,
            None => self.outside += times,
        }
    }
}

impl Collector for RangeCounter {
    fn fork(&self) -> RangeCounter {
        let (slot, cut, counts) = (self.slot, self.cut.clone(), vec![0; self.counts.len()]);
        RangeCounter { docs: 0, missing: 0, outside: 0, last: (0, 0, 0), slot, cut, counts, ..*self }
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
            Cells::Numbers(numbers) => numbers.each(|_, number| self.count(number, 1)),
            Cells::NumberLists(lists) => lists.items().iter().for_each(|&number| self.count(number, 1)),
            Cells::Ords(_) | Cells::OrdLists(_) | Cells::Bytes(_) => {}
        }
        Ok(())
    }

    fn merge(&mut self, other: RangeCounter, _stop: &Stop) -> Result<()> {
        self.counts.iter_mut().zip(other.counts).for_each(|(to, from)| *to += from);
        self.docs += other.docs;
        self.missing += other.missing;
        self.outside += other.outside;
        Ok(())
    }
}
