//! The state of a metric: the step between accumulators and a measure.

use std::cmp::Ordering;

use docvalues_column::{LogicalType, Value};

use super::metric::{Measure, Metric, is_time};
use super::percentile::{nth, place};
use super::sum::{Compensated, Sum};
use crate::engine::Stored;

/// A metric of some documents, of which at least one has a number.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum MeasureState {
    /// The number of integers, and their sum.
    Integers(u64, i128),
    /// The number of doubles, and their sum.
    Doubles(u64, Compensated),
    /// The least stored number.
    Least(i64),
    /// The greatest stored number.
    Greatest(i64),
    /// The number of distinct values. It does not merge, and is in no partial result.
    Distinct(u64),
    /// A percentile. It does not merge either.
    Percentile(i64),
    /// The distinct values, ascending.
    Values(Vec<Stored>),
    /// Each number and its count, ascending, for percentiles.
    Numbers(Vec<(i64, u64)>),
    /// Whether it is of the last document and not of the first; its key and value.
    ByKey(bool, Box<(i64, Stored)>),
}

/// States of metrics, apart from rows, which have their places here.
pub(crate) type Kept = Vec<MeasureState>;

impl MeasureState {
    /// The value of `metric`, over a column of type `logical`.
    pub(crate) fn finish(&self, metric: &Metric, logical: LogicalType) -> Measure {
        let (count, sum) = match self {
            MeasureState::Least(number)
            | MeasureState::Greatest(number)
            | MeasureState::Percentile(number) => {
                return Measure::Value(Value::of(logical, *number));
            }
            MeasureState::Distinct(count) => return Measure::Distinct(*count),
            MeasureState::Values(values) => return Measure::Distinct(values.len() as u64),
            MeasureState::Numbers(counts) => {
                let all = counts.iter().fold(0_u64, |all, (_, count)| all.saturating_add(*count));
                let percentile =
                    if let Metric::Percentile(_, percentile) = metric { *percentile } else { 0.0 };
                // There is a number, as there is a state.
                let number = nth(counts, place(percentile, all)).unwrap_or_default();
                return Measure::Value(Value::of(logical, number));
            }
            MeasureState::ByKey(_, found) => return Measure::Value(found.1.clone().into_value(logical)),
            MeasureState::Integers(count, sum) => (*count, Sum::Integer(*sum)),
            MeasureState::Doubles(count, sum) => (*count, Sum::Double(sum.total())),
        };
        #[expect(clippy::cast_precision_loss, reason = "a mean is no count")]
        let mean = || sum.to_f64() / count as f64;
        match (metric, sum) {
            (Metric::Mean(_), Sum::Integer(sum)) if is_time(logical) => {
                let mean = i64::try_from(sum.div_euclid(count.max(1).into())).unwrap_or(i64::MAX);
                Measure::Value(Value::of(logical, mean))
            }
            (Metric::Mean(_), _) => Measure::Mean(mean()),
            _ => Measure::Sum(sum),
        }
    }

    /// The metric of the documents of both, those of `other` after the others. Sums saturate.
    fn merge(self, other: MeasureState) -> MeasureState {
        match (self, other) {
            (MeasureState::Integers(count, sum), MeasureState::Integers(more, other)) => {
                MeasureState::Integers(count.saturating_add(more), sum.saturating_add(other))
            }
            (MeasureState::Doubles(count, sum), MeasureState::Doubles(more, other)) => {
                MeasureState::Doubles(count.saturating_add(more), sum.and(&other))
            }
            (MeasureState::Least(a), MeasureState::Least(b)) => MeasureState::Least(a.min(b)),
            (MeasureState::Greatest(a), MeasureState::Greatest(b)) => MeasureState::Greatest(a.max(b)),
            (MeasureState::Values(a), MeasureState::Values(b)) => {
                MeasureState::Values(merge_sorted(a, b, |value| value, |value, _| value))
            }
            (MeasureState::Numbers(a), MeasureState::Numbers(b)) => MeasureState::Numbers(merge_counts(a, b)),
            (MeasureState::ByKey(is_last, a), MeasureState::ByKey(_, b)) => {
                let is_second = if is_last { b.0 >= a.0 } else { b.0 < a.0 };
                MeasureState::ByKey(is_last, if is_second { b } else { a })
            }
            // Two measures of the same metric have the same form.
            (this, _) => this,
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let heap = |value: &Stored| size_of::<Stored>() + value.heap_bytes();
        match self {
            MeasureState::Values(values) => values.iter().map(heap).sum(),
            MeasureState::Numbers(counts) => size_of_val(counts.as_slice()),
            MeasureState::ByKey(_, found) => size_of::<i64>() + heap(&found.1),
            _ => 0,
        }
    }

    /// The metrics of the documents of both, metric by metric.
    pub(crate) fn merge_all(
        a: Vec<Option<MeasureState>>,
        b: Vec<Option<MeasureState>>,
    ) -> Vec<Option<MeasureState>> {
        a.into_iter().zip(b).map(|(a, b)| a.into_iter().chain(b).reduce(MeasureState::merge)).collect()
    }
}

/// Merges two ascending lists. `and` combines two items with equal keys.
pub(crate) fn merge_sorted<T, K: Ord>(
    a: Vec<T>,
    b: Vec<T>,
    key: impl Fn(&T) -> &K,
    mut and: impl FnMut(T, T) -> T,
) -> Vec<T> {
    let mut all = Vec::with_capacity(a.len().max(b.len()));
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (Some(a), Some(b)) => key(a).cmp(key(b)),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let next = match order {
            Ordering::Less => a.next(),
            Ordering::Greater => b.next(),
            Ordering::Equal => a.next().zip(b.next()).map(|(a, b)| and(a, b)),
        };
        match next {
            Some(next) => all.push(next),
            None => return all,
        }
    }
}

/// Merges two ascending lists of values and their counts.
pub(crate) fn merge_counts<V: Ord>(a: Vec<(V, u64)>, b: Vec<(V, u64)>) -> Vec<(V, u64)> {
    merge_sorted(a, b, |(value, _)| value, |(value, a), (_, b)| (value, a.saturating_add(b)))
}
