//! The state of a metric: the step between accumulators and a measure.

use docvalues_column::{LogicalType, Value};

use super::metric::{Measure, Metric};
use super::sum::{Compensated, Sum};

/// A metric of some documents, of which at least one has a number.
#[derive(Clone, Copy, Debug, PartialEq)]
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
}

impl MeasureState {
    /// The value of `metric`, over a column of type `logical`.
    pub(crate) fn finish(self, metric: &Metric, logical: LogicalType) -> Measure {
        let (count, sum) = match self {
            MeasureState::Least(number) | MeasureState::Greatest(number) => {
                return Measure::Value(Value::of(logical, number));
            }
            MeasureState::Distinct(count) => return Measure::Distinct(count),
            MeasureState::Integers(count, sum) => (count, Sum::Integer(sum)),
            MeasureState::Doubles(count, sum) => (count, Sum::Double(sum.total())),
        };
        #[expect(clippy::cast_precision_loss, reason = "a mean is no count")]
        let mean = || sum.to_f64() / count as f64;
        if let Metric::Mean(_) = metric { Measure::Mean(mean()) } else { Measure::Sum(sum) }
    }

    /// The metric of the documents of both. Sums saturate.
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
            // Two measures of the same metric have the same form.
            (this, _) => this,
        }
    }

    /// The metrics of the documents of both, metric by metric.
    pub(crate) fn merge_all(
        a: Vec<Option<MeasureState>>,
        b: Vec<Option<MeasureState>>,
    ) -> Vec<Option<MeasureState>> {
        let both = |pair| match pair {
            (Some(a), Some(b)) => Some(MeasureState::merge(a, b)),
            (a, b) => a.or(b),
        };
        a.into_iter().zip(b).map(both).collect()
    }
}
