//! The layout of the accumulators of metrics.

use docvalues_column::{DocAddress, LogicalType};

use super::accumulator::{Accumulator, AccumulatorKind, Rows, wide_sum};
use super::distinct_sets::DistinctSet;
use super::measure_state::{Kept, MeasureState};
use super::metric::{Measure, Metric};
use super::number_log::NumberLog;
use crate::engine::{Elements, Request, Slot, Stored, Window};
use crate::error::{Error, Result};

/// The layout of the accumulators of some documents, such as those of a group or a bucket: a row of words, all 0 at
/// first.
///
/// ```text
/// row   documents | accumulator | count of numbers, if some documents have none | accumulator | ...
/// ```
///
/// A row takes about one cache line. An array for each accumulator would be smaller (a count fits 32 bits), but miss
/// the cache once for each: 15 to 25 % slower with 100,000 groups (`benches/benches/group.rs`).
#[derive(Debug)]
pub(crate) struct Layout {
    words: usize,
    accumulators: Vec<Accumulator>,
    metrics: Vec<Metric>,
    /// The index of each metric's accumulator.
    accumulator_of: Vec<usize>,
    /// Whether results are merged with others: then distinct values, and the numbers for percentiles, are kept apart, and
    /// a row has the place of their state, counted from 1.
    keeps_all: bool,
}

impl Layout {
    /// The layout for these metrics; for results that are merged with others if `keeps_all`.
    pub(crate) fn new(request: &mut Request<'_>, metrics: &[Metric], keeps_all: bool) -> Result<Layout> {
        let (accumulators, accumulator_of) = (Vec::new(), Vec::new());
        let mut layout =
            Layout { words: 1, accumulators, metrics: metrics.to_vec(), accumulator_of, keeps_all };
        for metric in metrics {
            let slot = match metric {
                Metric::Distinct(column) => request.id_slot(column)?,
                metric => request.slot(metric.column())?,
            };
            let key = metric.key().map(|key| request.slot(key)).transpose()?;
            let at = layout.accumulator(request, (slot, key), metric)?;
            layout.accumulator_of.push(at);
        }
        Ok(layout)
    }

    /// The index of the accumulator for `metric`, which is added if necessary.
    fn accumulator(
        &mut self,
        request: &Request<'_>,
        (slot, key): (Slot, Option<Slot>),
        metric: &Metric,
    ) -> Result<usize> {
        let column = request.columns().get(slot);
        let info = column.info();
        let field = &info.field;
        let is_distinct = matches!(metric, Metric::Distinct(_));
        let of_number = key.map_or(column, |key| request.columns().get(key));
        let cannot = match of_number.info() {
            _ if is_distinct => None,
            number if of_number.elements() != Elements::Numbers => {
                Some((&number.field, "has no numbers for a metric"))
            }
            number if number.is_multi_valued() => {
                Some((&number.field, "has several numbers a document, and a metric takes one"))
            }
            _ if info.is_multi_valued() => {
                Some((field, "has several values a document, of which none is the first"))
            }
            _ => None,
        };
        if let Some((field, cannot)) = cannot {
            return Err(Error::kind(field, cannot));
        }
        let bounds = info.bounds.range();
        let farthest = bounds.start().unsigned_abs().max(bounds.end().unsigned_abs());
        let kind = match (metric, key) {
            (Metric::Distinct(_), _) => AccumulatorKind::Distinct,
            (metric, Some(key)) => AccumulatorKind::ByKey(key, matches!(metric, Metric::Last(..))),
            (Metric::Percentile(..), _) if self.keeps_all => AccumulatorKind::Percentile(0),
            (Metric::Percentile(_, percentile), _) => AccumulatorKind::Percentile(percentile.to_bits()),
            (Metric::Min(_), _) => AccumulatorKind::Least,
            (Metric::Max(_), _) => AccumulatorKind::Greatest,
            _ if field.logical == LogicalType::F64 => AccumulatorKind::Doubles,
            _ if u128::from(farthest) * u128::from(request.hits()) < 1 << 63 => AccumulatorKind::Sum,
            _ => AccumulatorKind::WideSum,
        };
        if let Some(known) = self.accumulators.iter().position(|one| one.slot == slot && one.kind == kind) {
            return Ok(known);
        }
        let at = self.words;
        self.words += kind.words();
        let all = field.logical != LogicalType::F64 && info.all_present() && key.is_none();
        let count = if all || is_distinct {
            0
        } else {
            self.words += 1;
            self.words - 1
        };
        self.accumulators.push(Accumulator { slot, logical: field.logical, kind, at, count });
        Ok(self.accumulators.len() - 1)
    }

    /// Whether rows need [sets](Self::sets).
    pub(crate) fn has_sets(&self) -> bool {
        let is_of_set = |kind| matches!(kind, AccumulatorKind::Distinct | AccumulatorKind::Percentile(_));
        self.accumulators.iter().any(|one| is_of_set(one.kind))
    }

    /// The sets that count distinct values, and the numbers for percentiles.
    pub(crate) fn sets(&self, request: &Request<'_>) -> (Vec<DistinctSet>, Vec<NumberLog>) {
        let (mut sets, mut logs): (Vec<_>, Vec<NumberLog>) = (Vec::new(), Vec::new());
        for one in &self.accumulators {
            if one.kind == AccumulatorKind::Distinct {
                sets.push(DistinctSet::new(one.slot, one.at, request.columns().get(one.slot)));
            }
            if let AccumulatorKind::Percentile(bits) = one.kind {
                let known = logs.iter().position(|log| log.slot == one.slot).unwrap_or(logs.len());
                if known == logs.len() {
                    logs.push(NumberLog::new(one.slot, one.logical));
                }
                logs[known].percentiles.push((f64::from_bits(bits), (one.at, one.count)));
            }
        }
        (sets, logs)
    }

    /// The type of each metric's column; `None` if no part has the column.
    pub(crate) fn logicals(&self, request: &Request<'_>) -> Vec<Option<LogicalType>> {
        let logical = |at: &usize| {
            let Accumulator { slot, logical, .. } = self.accumulators[*at];
            (!request.columns().get(slot).is_absent()).then_some(logical)
        };
        self.accumulator_of.iter().map(logical).collect()
    }

    /// The words of a row.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// The row of all `docs` documents of a request, if column descriptions suffice.
    pub(crate) fn constant(&self, request: &Request<'_>, docs: u64) -> Option<Vec<u64>> {
        let mut row = vec![0; self.words];
        row[0] = docs;
        for one in &self.accumulators {
            // Some need more than the column's only value.
            let needs_docs = match one.kind {
                AccumulatorKind::Percentile(_) | AccumulatorKind::ByKey(..) => true,
                kind => kind == AccumulatorKind::Distinct && self.keeps_all,
            };
            let known = request.constant(one.slot).filter(|_| !needs_docs)?;
            if let Some(number) = known.value {
                one.add_known(&mut row, number, known.values);
            }
        }
        Some(row)
    }

    /// The bytes of a row.
    pub(crate) fn bytes(&self) -> usize {
        self.words * size_of::<u64>()
    }

    /// Whether a row depends on the order of documents.
    pub(crate) fn depends_on_order(&self) -> bool {
        self.accumulators.iter().any(|one| one.kind == AccumulatorKind::Doubles)
    }

    /// Reads the columns of the metrics.
    pub(crate) fn read(&self, window: &mut Window<'_>) -> Result<()> {
        Ok(self.accumulators.iter().try_for_each(|one| {
            if let AccumulatorKind::ByKey(key, _) = one.kind {
                window.read_stored(key)?;
            }
            window.read(one.slot)
        })?)
    }

    /// Adds the documents of a window to rows: document `i` to row `places[i]`.
    pub(crate) fn add(&self, rows: &mut [u64], places: &[u32], window: &Window<'_>) {
        match self.accumulators.as_slice() {
            [] => places.iter().for_each(|&row| rows[row as usize] += 1),
            // The most frequent cases, in one loop.
            [Accumulator { slot, kind: AccumulatorKind::Sum, count: 0, .. }] => {
                let (rows, _) = rows.as_chunks_mut::<2>();
                for (&row, &number) in places.iter().zip(window.numbers(*slot).values) {
                    let [docs, sum] = &mut rows[row as usize];
                    *docs += 1;
                    *sum = sum.wrapping_add(number.cast_unsigned());
                }
            }
            [Accumulator { slot, kind: AccumulatorKind::WideSum, count: 0, .. }] => {
                let (rows, _) = rows.as_chunks_mut::<3>();
                for (&row, &number) in places.iter().zip(window.numbers(*slot).values) {
                    let [docs, low, high] = &mut rows[row as usize];
                    *docs += 1;
                    (*low, *high) = wide_sum([*low, *high], number.into());
                }
            }
            accumulators => {
                places.iter().for_each(|&row| rows[row as usize * self.words] += 1);
                for one in accumulators {
                    let rows = &mut Rows { words: self.words, rows, places };
                    match one.kind {
                        // Sets have these.
                        AccumulatorKind::Distinct | AccumulatorKind::Percentile(_) => {}
                        AccumulatorKind::ByKey(key, is_last) => one.add_by_key(rows, (key, is_last), window),
                        _ => one.add(rows, &window.numbers(one.slot)),
                    }
                }
            }
        }
    }

    /// Adds a row to another.
    pub(crate) fn merge(&self, to: &mut [u64], from: &[u64]) {
        to[0] += from[0];
        for one in &self.accumulators {
            one.merge(to, from);
        }
    }

    /// The metrics of a row, some of whose states may be `kept` apart.
    pub(crate) fn measures(&self, row: &[u64], kept: &[MeasureState]) -> Vec<Option<Measure>> {
        (0..self.metrics.len()).map(|metric| self.measure(row, metric, kept)).collect()
    }

    /// A metric of a row, given by its index.
    pub(crate) fn measure(&self, row: &[u64], metric: usize, kept: &[MeasureState]) -> Option<Measure> {
        let logical = self.accumulators[self.accumulator_of[metric]].logical;
        self.measure_state(row, metric, kept).map(|state| state.finish(&self.metrics[metric], logical))
    }

    /// The metrics of a row, before they are merged with others. A metric with the [state of another](Metric::state_of)
    /// has none.
    pub(crate) fn measure_states(&self, row: &[u64], kept: &[MeasureState]) -> Vec<Option<MeasureState>> {
        let own = |metric: &usize| Metric::state_of(&self.metrics, *metric) == *metric;
        let state = |metric| Some(metric).filter(own).and_then(|own| self.measure_state(row, own, kept));
        (0..self.metrics.len()).map(state).collect()
    }

    fn measure_state(&self, row: &[u64], metric: usize, kept: &[MeasureState]) -> Option<MeasureState> {
        let one = &self.accumulators[self.accumulator_of[metric]];
        let count = row[one.count];
        if count == 0 {
            return None;
        }
        let Some(at) = self.kept_at(one, row) else { return Some(one.measure_state(row, count)) };
        // A group without distinct values has no set of them. Of strings, nothing is kept before groups are chosen.
        let none = || (one.kind == AccumulatorKind::Distinct).then(|| MeasureState::Values(Vec::new()));
        kept.get(at).cloned().or_else(none)
    }

    /// The place of an accumulator's state among those that are kept apart, beyond them if it has none; `None` if it is in
    /// the row.
    fn kept_at(&self, one: &Accumulator, row: &[u64]) -> Option<usize> {
        let is_kept = match one.kind {
            AccumulatorKind::Distinct | AccumulatorKind::Percentile(_) => self.keeps_all,
            AccumulatorKind::ByKey(..) => one.logical.is_bytes(),
            _ => false,
        };
        is_kept.then(|| usize::try_from(row[one.at]).unwrap_or(0).wrapping_sub(1))
    }

    /// Where a row has the place of a metric's string, if it is that of a first or last document: see
    /// [`Accumulator::by_key`].
    pub(crate) fn string_by_key(&self, row: &[u64], metric: usize) -> Option<(usize, bool, i64, DocAddress)> {
        let one = &self.accumulators[self.accumulator_of[metric]];
        one.by_key(row).filter(|_| one.logical.is_bytes() && row[one.count] > 0)
    }

    /// Replaces the ords among the distinct values of a row, which are `kept` apart, by their terms.
    ///
    /// # Errors
    ///
    /// If a dictionary is damaged, or the search is interrupted.
    pub(crate) fn read_terms(&self, row: &[u64], request: &Request<'_>, kept: &mut Kept) -> Result<()> {
        for one in self.accumulators.iter().filter(|one| one.kind == AccumulatorKind::Distinct) {
            let column = request.columns().get(one.slot);
            if let (Some(at), Some(_)) = (self.kept_at(one, row), column.terms())
                && let Some(MeasureState::Values(values)) = kept.get_mut(at)
            {
                let ords = std::mem::take(values).into_iter().map(|ord| (ord, ()));
                *values = column.resolve(ords, request.stop(), |term, ()| Ok(Stored::of(term)))?;
                values.sort_unstable();
            }
        }
        Ok(())
    }

    /// The word of a row whose order as an `i64` is that of a metric, if there is one: a sum.
    pub(crate) fn sum(&self, metric: usize) -> Option<usize> {
        let (metric, accumulator) = (self.metrics.get(metric)?, *self.accumulator_of.get(metric)?);
        let one = self.accumulators.get(accumulator)?;
        // The word of an unsigned sum needs the count as well: see `Accumulator::measure_state`.
        let is_it = one.kind == AccumulatorKind::Sum && one.logical != LogicalType::U64;
        (is_it && matches!(metric, Metric::Sum(_))).then_some(one.at)
    }
}
