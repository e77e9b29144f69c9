//! What is found out about the documents of a group beside their number.

use docvalues_column::{LogicalType, Value, Values};
use docvalues_format::file::kind::to_f64;

use super::order_value::OrderValue;
use crate::columns::Slot;
use crate::error::{Error, Result};
use crate::search::Request;
use crate::stats::{Compensated, Sum};
use crate::window::{Numbers, Window};

/// What to find out about the documents of each group; of a column with one number a document.
///
/// Doubles that are NaN are in none of these, and nor are documents without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// The sum of their numbers: of integers exact, of doubles compensated.
    Sum(String),
    /// The least number.
    Min(String),
    /// The greatest number.
    Max(String),
    /// The mean of their numbers.
    Mean(String),
}

/// What a [`Metric`] of a group is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Measure {
    /// A [`Metric::Min`] or [`Metric::Max`].
    Value(Value),
    /// A [`Metric::Sum`]: of what is stored, as in [`stats`](crate::stats).
    Sum(Sum),
    /// A [`Metric::Mean`].
    Mean(f64),
}

impl Metric {
    /// The column of the numbers.
    pub fn column(&self) -> &str {
        match self {
            Metric::Sum(column) | Metric::Min(column) | Metric::Max(column) | Metric::Mean(column) => column,
        }
    }
}

/// Where the accumulators of a group are: a row of words, all 0 at first.
///
/// ```text
/// row   documents | accumulator | numbers in it, if not all documents have one | accumulator | ...
/// ```
///
/// A row is one line of the cache or little more. An array for each accumulator would take less room (a count fits 32
/// bits), and miss the cache once for each: 15 to 25 % slower with 100,000 groups (`benches/benches/group.rs`).
#[derive(Debug)]
pub(crate) struct Layout {
    words: usize,
    accumulators: Vec<Accumulator>,
    /// The accumulator of each metric.
    metrics: Vec<(Metric, usize)>,
}

/// An accumulator and its place in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Accumulator {
    slot: Slot,
    logical: LogicalType,
    what: What,
    at: usize,
    /// Where numbers are counted: 0, where documents are, if each has one.
    count: usize,
}

/// What is accumulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A sum that fits an `i64`.
    Sum,
    /// One that fits an `i128`: two words, the lower one first.
    WideSum,
    /// A sum of doubles, and what was lost.
    Doubles,
    /// The number whose [`rank`] is greatest, upside down: a 0 is none or the greatest number.
    Least,
    /// The greatest [`rank`].
    Greatest,
}

impl What {
    fn words(self) -> usize {
        if matches!(self, What::WideSum | What::Doubles) { 2 } else { 1 }
    }
}

/// Stored numbers from 0 on.
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
            let slot = request.slot(metric.column())?;
            let at = layout.accumulator(request, slot, metric)?;
            layout.metrics.push((metric.clone(), at));
        }
        Ok(layout)
    }

    /// The place of the accumulator for `metric`, which is made if there is none.
    fn accumulator(&mut self, request: &Request<'_>, slot: Slot, metric: &Metric) -> Result<usize> {
        let column = request.columns().get(slot);
        let info = column.info();
        let field = &info.field;
        if info.is_multi_valued() || !matches!(column.values(), Values::Numbers(_)) {
            let cannot = "has no number for each document that could be summed up or compared";
            return Err(Error::Kind { field: field.name.clone(), kind: field.kind, cannot });
        }
        let bounds = info.bounds.range();
        let farthest = bounds.start().unsigned_abs().max(bounds.end().unsigned_abs());
        let what = match metric {
            Metric::Min(_) => What::Least,
            Metric::Max(_) => What::Greatest,
            _ if field.logical == LogicalType::F64 => What::Doubles,
            _ if u128::from(farthest) * u128::from(request.hits()) < 1 << 63 => What::Sum,
            _ => What::WideSum,
        };
        if let Some(known) = self.accumulators.iter().position(|one| one.slot == slot && one.what == what) {
            return Ok(known);
        }
        let at = self.words;
        self.words += what.words();
        let all = field.logical != LogicalType::F64 && info.all_present();
        let count = if all {
            0
        } else {
            self.words += 1;
            self.words - 1
        };
        self.accumulators.push(Accumulator { slot, logical: field.logical, what, at, count });
        Ok(self.accumulators.len() - 1)
    }

    /// Words of a row.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// The row of a group that has all documents of a request, which are so many, if the descriptions of the columns tell.
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

    /// Bytes of a row.
    pub(super) fn bytes(&self) -> usize {
        self.words * size_of::<u64>()
    }

    /// Whether a row depends on the order in which documents are seen.
    pub(crate) fn depends_on_order(&self) -> bool {
        self.accumulators.iter().any(|one| one.what == What::Doubles)
    }

    /// Reads the columns of the metrics.
    pub(crate) fn read(&self, window: &mut Window<'_>) -> Result<()> {
        Ok(self.accumulators.iter().try_for_each(|one| window.read(one.slot))?)
    }

    /// Adds the documents of a window to rows: document `i` to row `places[i]`.
    pub(crate) fn add(&self, rows: &mut [u64], places: &[u32], window: &Window<'_>) {
        match self.accumulators.as_slice() {
            [] => places.iter().for_each(|&row| rows[row as usize] += 1),
            // What most ask for, in one loop.
            [Accumulator { slot, what: What::Sum, count: 0, .. }] => {
                let (rows, _) = rows.as_chunks_mut::<2>();
                for (&row, &number) in places.iter().zip(window.numbers(*slot).values) {
                    let [docs, sum] = &mut rows[row as usize];
                    *docs += 1;
                    *sum = sum.wrapping_add(number.cast_unsigned());
                }
            }
            accumulators => {
                places.iter().for_each(|&row| rows[row as usize * self.words] += 1);
                for one in accumulators {
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

    /// What the metrics are of the documents that were added to a row.
    pub(crate) fn measures(&self, row: &[u64]) -> Vec<Option<Measure>> {
        (0..self.metrics.len()).map(|metric| self.measure(row, metric)).collect()
    }

    fn measure(&self, row: &[u64], metric: usize) -> Option<Measure> {
        let (metric, accumulator) = &self.metrics[metric];
        let one = &self.accumulators[*accumulator];
        let count = row[one.count];
        if count == 0 {
            return None;
        }
        Some(match metric {
            Metric::Min(_) | Metric::Max(_) => Measure::Value(Value::of(one.logical, one.extreme(row))),
            Metric::Sum(_) => Measure::Sum(one.sum(row, count)),
            #[expect(clippy::cast_precision_loss, reason = "a mean is no count")]
            Metric::Mean(_) => Measure::Mean(one.sum(row, count).to_f64() / count as f64),
        })
    }

    /// The word of a row by which, as an `i64`, groups are in the order of a metric, but for those that have none: a sum.
    pub(super) fn sum(&self, metric: usize) -> Option<usize> {
        let (metric, accumulator) = self.metrics.get(metric)?;
        let one = self.accumulators.get(*accumulator)?;
        // Sums of unsigned numbers depend on the documents, too: see `Accumulator::sum`.
        let is_it = one.what == What::Sum && one.logical != LogicalType::U64;
        (is_it && matches!(metric, Metric::Sum(_))).then_some(one.at)
    }

    /// What groups are compared by if a metric orders them: what is greater comes first, and nothing last.
    pub(super) fn order_value(&self, row: &[u64], metric: usize) -> Option<OrderValue> {
        match self.measure(row, metric)? {
            Measure::Value(value) => value.stored().map(|number| OrderValue::Integer(number.into())),
            Measure::Sum(Sum::Integer(sum)) => Some(OrderValue::Integer(sum)),
            Measure::Sum(Sum::Double(number)) | Measure::Mean(number) => {
                (!number.is_nan()).then_some(OrderValue::Double(number))
            }
        }
    }
}

/// Rows and which of them the documents of a window belong to.
struct Rows<'a> {
    words: usize,
    rows: &'a mut [u64],
    places: &'a [u32],
}

impl Rows<'_> {
    /// Shows `each` the row of each document that has a number.
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
        // A number is counted where not all have one; it is 0 where documents are counted, which they were.
        let Accumulator { at, count, .. } = *self;
        let more = u64::from(count != 0);
        let is_double = self.logical == LogicalType::F64;
        let extreme = |row: &mut [u64], number: i64, rank: u64| {
            if !(is_double && to_f64(number).is_nan()) {
                row[count] += more;
                row[at] = row[at].max(rank);
            }
        };
        match self.what {
            What::Sum => rows.each(numbers, |row, number| {
                row[count] += more;
                row[at] = row[at].wrapping_add(number.cast_unsigned());
            }),
            What::WideSum => rows.each(numbers, |row, number| {
                row[count] += more;
                add_wide(row, at, number.into());
            }),
            What::Doubles => rows.each(numbers, |row, number| {
                let number = to_f64(number);
                if !number.is_nan() {
                    row[count] += more;
                    let mut sum = compensated(row, at);
                    sum.add(number);
                    (row[at], row[at + 1]) = (sum.sum.to_bits(), sum.lost.to_bits());
                }
            }),
            What::Least => rows.each(numbers, |row, number| extreme(row, number, !rank(number))),
            What::Greatest => rows.each(numbers, |row, number| extreme(row, number, rank(number))),
        }
    }

    /// Adds a number so many times.
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
        match self.what {
            What::Sum => row[at] = row[at].wrapping_add(number.cast_unsigned().wrapping_mul(times)),
            What::WideSum => add_wide(row, at, i128::from(number) * i128::from(times)),
            What::Doubles => {
                let mut all = compensated(row, at);
                all.add(to_f64(number) * times as f64);
                (row[at], row[at + 1]) = (all.sum.to_bits(), all.lost.to_bits());
            }
            What::Least => row[at] = row[at].max(!rank(number)),
            What::Greatest => row[at] = row[at].max(rank(number)),
        }
    }

    fn merge(&self, to: &mut [u64], from: &[u64]) {
        let Accumulator { at, count, .. } = *self;
        if count != 0 {
            to[count] += from[count];
        }
        match self.what {
            What::Sum => to[at] = to[at].wrapping_add(from[at]),
            What::WideSum => add_wide(to, at, wide(from, at)),
            What::Doubles => {
                let (mut sum, more) = (compensated(to, at), compensated(from, at));
                sum.add(more.sum);
                sum.lost += more.lost;
                (to[at], to[at + 1]) = (sum.sum.to_bits(), sum.lost.to_bits());
            }
            What::Least | What::Greatest => to[at] = to[at].max(from[at]),
        }
    }

    fn sum(&self, row: &[u64], count: u64) -> Sum {
        let stored = match self.what {
            What::Doubles => return Sum::Double(compensated(row, self.at).total()),
            What::WideSum => wide(row, self.at),
            _ => row[self.at].cast_signed().into(),
        };
        // Stored numbers are 2^63 less.
        let shift = if self.logical == LogicalType::U64 { i128::from(count) << 63 } else { 0 };
        Sum::Integer(stored + shift)
    }

    fn extreme(&self, row: &[u64]) -> i64 {
        let kept = row[self.at];
        of_rank(if self.what == What::Least { !kept } else { kept })
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
