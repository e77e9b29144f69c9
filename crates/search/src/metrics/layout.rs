//! The layout of the accumulators of metrics.

use docvalues_column::LogicalType;
use docvalues_format::file::kind::to_f64;

use super::distinct_sets::DistinctSet;
use super::measure_state::MeasureState;
use super::metric::{Measure, Metric};
use super::order_value::OrderValue;
use super::sum::Compensated;
use crate::engine::{Elements, Numbers, Request, Slot, Window};
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
    /// The index of each metric's accumulator.
    metrics: Vec<(Metric, usize)>,
}

/// An accumulator and its position in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Accumulator {
    slot: Slot,
    logical: LogicalType,
    kind: AccumulatorKind,
    at: usize,
    /// The position of its count; 0, the number of documents, if each has a number.
    count: usize,
}

/// The kind of an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccumulatorKind {
    /// A sum that fits an `i64`.
    Sum,
    /// A sum that fits an `i128`: two words, the lower one first.
    WideSum,
    /// A compensated sum of doubles.
    Doubles,
    /// The least number, as the complement of its [`rank`]; 0 for none.
    Least,
    /// The greatest number, as its [`rank`].
    Greatest,
    /// The number of distinct values, which a [`DistinctSet`] counts.
    Distinct,
}

impl AccumulatorKind {
    fn words(self) -> usize {
        if matches!(self, AccumulatorKind::WideSum | AccumulatorKind::Doubles) { 2 } else { 1 }
    }
}

/// Maps stored numbers to unsigned ones, in order.
fn rank(number: i64) -> u64 {
    number.cast_unsigned() ^ (1 << 63)
}

fn of_rank(rank: u64) -> i64 {
    (rank ^ (1 << 63)).cast_signed()
}

impl Layout {
    pub(crate) fn new(request: &mut Request<'_>, metrics: &[Metric]) -> Result<Layout> {
        let mut layout = Layout { words: 1, accumulators: Vec::new(), metrics: Vec::new() };
        for metric in metrics {
            let slot = match metric {
                Metric::Distinct(column) => request.id_slot(column)?,
                metric => request.slot(metric.column())?,
            };
            let at = layout.accumulator(request, slot, metric)?;
            layout.metrics.push((metric.clone(), at));
        }
        Ok(layout)
    }

    /// The index of the accumulator for `metric`, which is added if necessary.
    fn accumulator(&mut self, request: &Request<'_>, slot: Slot, metric: &Metric) -> Result<usize> {
        let column = request.columns().get(slot);
        let info = column.info();
        let field = &info.field;
        if let Metric::Distinct(_) = metric {
            return Ok(self.add_distinct(slot, field.logical));
        }
        if info.is_multi_valued() || column.elements() != Elements::Numbers {
            let cannot = "has no numbers, or several a document, for a metric";
            return Err(Error::Kind { field: field.name.clone(), kind: field.kind, cannot });
        }
        let bounds = info.bounds.range();
        let farthest = bounds.start().unsigned_abs().max(bounds.end().unsigned_abs());
        let kind = match metric {
            Metric::Min(_) => AccumulatorKind::Least,
            Metric::Max(_) => AccumulatorKind::Greatest,
            // Counts need no numbers: see above.
            Metric::Distinct(_) => AccumulatorKind::Distinct,
            _ if field.logical == LogicalType::F64 => AccumulatorKind::Doubles,
            _ if u128::from(farthest) * u128::from(request.hits()) < 1 << 63 => AccumulatorKind::Sum,
            _ => AccumulatorKind::WideSum,
        };
        if let Some(known) = self.accumulators.iter().position(|one| one.slot == slot && one.kind == kind) {
            return Ok(known);
        }
        let at = self.words;
        self.words += kind.words();
        let all = field.logical != LogicalType::F64 && info.all_present();
        let count = if all {
            0
        } else {
            self.words += 1;
            self.words - 1
        };
        self.accumulators.push(Accumulator { slot, logical: field.logical, kind, at, count });
        Ok(self.accumulators.len() - 1)
    }

    /// The index of the accumulator for distinct values, which is added if necessary.
    fn add_distinct(&mut self, slot: Slot, logical: LogicalType) -> usize {
        let kind = AccumulatorKind::Distinct;
        let known = self.accumulators.iter().position(|one| one.slot == slot && one.kind == kind);
        known.unwrap_or_else(|| {
            self.accumulators.push(Accumulator { slot, logical, kind, at: self.words, count: 0 });
            self.words += 1;
            self.accumulators.len() - 1
        })
    }

    /// Whether a metric counts distinct values.
    pub(crate) fn has_distinct(&self) -> bool {
        self.accumulators.iter().any(|one| one.kind == AccumulatorKind::Distinct)
    }

    /// The sets that count distinct values.
    pub(crate) fn distinct_sets(&self, request: &Request<'_>) -> Vec<DistinctSet> {
        let all = self.accumulators.iter().filter(|one| one.kind == AccumulatorKind::Distinct);
        all.map(|one| DistinctSet::new(one.slot, one.at, request.columns().get(one.slot))).collect()
    }

    /// The metrics, and the type of each one's column; `None` if no part has the column.
    pub(crate) fn metric_types(&self, request: &Request<'_>) -> (Vec<Metric>, Vec<Option<LogicalType>>) {
        let logical = |at: usize| {
            let Accumulator { slot, logical, .. } = self.accumulators[at];
            (!request.columns().get(slot).is_absent()).then_some(logical)
        };
        self.metrics.iter().map(|(metric, at)| (metric.clone(), logical(*at))).unzip()
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
            let known = request.constant(one.slot)?;
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
        Ok(self.accumulators.iter().try_for_each(|one| window.read(one.slot))?)
    }

    /// Adds the documents of a window to rows: document `i` to row `places[i]`.
    pub(crate) fn add(&self, rows: &mut [u64], places: &[u32], window: &Window<'_>) {
        match self.accumulators.as_slice() {
            [] => places.iter().for_each(|&row| rows[row as usize] += 1),
            // The most frequent case, in one loop.
            [Accumulator { slot, kind: AccumulatorKind::Sum, count: 0, .. }] => {
                let (rows, _) = rows.as_chunks_mut::<2>();
                for (&row, &number) in places.iter().zip(window.numbers(*slot).values) {
                    let [docs, sum] = &mut rows[row as usize];
                    *docs += 1;
                    *sum = sum.wrapping_add(number.cast_unsigned());
                }
            }
            accumulators => {
                places.iter().for_each(|&row| rows[row as usize * self.words] += 1);
                for one in accumulators.iter().filter(|one| one.kind != AccumulatorKind::Distinct) {
                    let numbers = window.numbers(one.slot);
                    one.add(&mut Rows { words: self.words, rows, places }, &numbers);
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

    /// The metrics of a row.
    pub(crate) fn measures(&self, row: &[u64]) -> Vec<Option<Measure>> {
        (0..self.metrics.len()).map(|metric| self.measure(row, metric)).collect()
    }

    /// A metric of a row, given by its index.
    pub(crate) fn measure(&self, row: &[u64], metric: usize) -> Option<Measure> {
        let (asked, accumulator) = &self.metrics[metric];
        let logical = self.accumulators[*accumulator].logical;
        self.measure_state(row, metric).map(|measure| measure.finish(asked, logical))
    }

    /// The metrics of a row, before they are merged with others.
    pub(crate) fn measure_states(&self, row: &[u64]) -> Vec<Option<MeasureState>> {
        (0..self.metrics.len()).map(|metric| self.measure_state(row, metric)).collect()
    }

    fn measure_state(&self, row: &[u64], metric: usize) -> Option<MeasureState> {
        let one = &self.accumulators[self.metrics[metric].1];
        let count = row[one.count];
        (count > 0).then(|| one.measure_state(row, count))
    }

    /// The word of a row whose order as an `i64` is that of a metric, if there is one: a sum.
    pub(crate) fn sum(&self, metric: usize) -> Option<usize> {
        let (metric, accumulator) = self.metrics.get(metric)?;
        let one = self.accumulators.get(*accumulator)?;
        // The word of an unsigned sum needs the count as well: see `Accumulator::measure_state`.
        let is_it = one.kind == AccumulatorKind::Sum && one.logical != LogicalType::U64;
        (is_it && matches!(metric, Metric::Sum(_))).then_some(one.at)
    }

    /// The value by which groups are ordered: greater ones come first, and `None` last.
    pub(crate) fn order_value(&self, row: &[u64], metric: usize) -> Option<OrderValue> {
        OrderValue::of(&self.measure(row, metric)?)
    }
}

/// Rows, and the row of each document of a window.
struct Rows<'a> {
    words: usize,
    rows: &'a mut [u64],
    places: &'a [u32],
}

impl Rows<'_> {
    /// Calls `each` with the row of every document that has a number.
    #[inline]
    fn each(&mut self, numbers: &Numbers<'_>, mut each: impl FnMut(&mut [u64], i64)) {
        numbers.each(|at, number| {
            let start = self.places[at] as usize * self.words;
            each(&mut self.rows[start..start + self.words], number);
        });
    }
}

impl Accumulator {
    fn add(&self, rows: &mut Rows<'_>, numbers: &Numbers<'_>) {
        // Counts numbers if some documents have none; else position 0 counts documents already.
        let Accumulator { at, count, .. } = *self;
        let more = u64::from(count != 0);
        let is_double = self.logical == LogicalType::F64;
        let extreme = |row: &mut [u64], number: i64, rank: u64| {
            if !(is_double && to_f64(number).is_nan()) {
                row[count] += more;
                row[at] = row[at].max(rank);
            }
        };
        match self.kind {
            AccumulatorKind::Sum => rows.each(numbers, |row, number| {
                row[count] += more;
                row[at] = row[at].wrapping_add(number.cast_unsigned());
            }),
            AccumulatorKind::WideSum => rows.each(numbers, |row, number| {
                row[count] += more;
                add_wide(row, at, number.into());
            }),
            AccumulatorKind::Doubles => rows.each(numbers, |row, number| {
                let number = to_f64(number);
                if !number.is_nan() {
                    row[count] += more;
                    let mut sum = compensated(row, at);
                    sum.add(number);
                    (row[at], row[at + 1]) = (sum.sum.to_bits(), sum.lost.to_bits());
                }
            }),
            // Sets count these.
            AccumulatorKind::Distinct => {}
            AccumulatorKind::Least => rows.each(numbers, |row, number| extreme(row, number, !rank(number))),
            AccumulatorKind::Greatest => rows.each(numbers, |row, number| extreme(row, number, rank(number))),
        }
    }

    /// Adds a number `times` times.
    #[expect(clippy::cast_precision_loss, reason = "a sum of doubles is no count")]
    fn add_known(&self, row: &mut [u64], number: i64, times: u64) {
        let Accumulator { at, count, .. } = *self;
        let is_double = self.logical == LogicalType::F64;
        if is_double && to_f64(number).is_nan() {
            return;
        }
        if count != 0 {
            row[count] += times;
        }
        match self.kind {
            AccumulatorKind::Sum => {
                row[at] = row[at].wrapping_add(number.cast_unsigned().wrapping_mul(times))
            }
            AccumulatorKind::WideSum => add_wide(row, at, i128::from(number) * i128::from(times)),
            AccumulatorKind::Doubles => {
                let mut all = compensated(row, at);
                all.add(to_f64(number) * times as f64);
                (row[at], row[at + 1]) = (all.sum.to_bits(), all.lost.to_bits());
            }
            AccumulatorKind::Least => row[at] = row[at].max(!rank(number)),
            AccumulatorKind::Greatest => row[at] = row[at].max(rank(number)),
            AccumulatorKind::Distinct => row[at] = 1,
        }
    }

    fn merge(&self, to: &mut [u64], from: &[u64]) {
        let Accumulator { at, count, .. } = *self;
        if count != 0 {
            to[count] += from[count];
        }
        match self.kind {
            AccumulatorKind::Sum => to[at] = to[at].wrapping_add(from[at]),
            AccumulatorKind::WideSum => add_wide(to, at, wide(from, at)),
            AccumulatorKind::Doubles => {
                let sum = compensated(to, at).and(&compensated(from, at));
                (to[at], to[at + 1]) = (sum.sum.to_bits(), sum.lost.to_bits());
            }
            AccumulatorKind::Least | AccumulatorKind::Greatest => to[at] = to[at].max(from[at]),
            AccumulatorKind::Distinct => {}
        }
    }

    /// The result of `count` numbers, at least one.
    fn measure_state(&self, row: &[u64], count: u64) -> MeasureState {
        // Stored numbers are less by 2^63.
        let shift = if self.logical == LogicalType::U64 { i128::from(count) << 63 } else { 0 };
        let word = row[self.at];
        match self.kind {
            AccumulatorKind::Sum => MeasureState::Integers(count, i128::from(word.cast_signed()) + shift),
            AccumulatorKind::WideSum => MeasureState::Integers(count, wide(row, self.at) + shift),
            AccumulatorKind::Doubles => MeasureState::Doubles(count, compensated(row, self.at)),
            AccumulatorKind::Least => MeasureState::Least(of_rank(!word)),
            AccumulatorKind::Greatest => MeasureState::Greatest(of_rank(word)),
            AccumulatorKind::Distinct => MeasureState::Distinct(word),
        }
    }
}

fn compensated(row: &[u64], at: usize) -> Compensated {
    Compensated { sum: f64::from_bits(row[at]), lost: f64::from_bits(row[at + 1]) }
}

/// The sum in two words.
fn wide(row: &[u64], at: usize) -> i128 {
    (u128::from(row[at]) | u128::from(row[at + 1]) << 64).cast_signed()
}

fn add_wide(row: &mut [u64], at: usize, number: i128) {
    let sum = wide(row, at).wrapping_add(number).cast_unsigned();
    let [low, high] = [sum, sum >> 64].map(|word| {
        #[expect(clippy::cast_possible_truncation, reason = "one half, then the other")]
        let word = word as u64;
        word
    });
    (row[at], row[at + 1]) = (low, high);
}
