//! The state of a metric: the step between accumulators and a measure.

use docvalues_column::{LogicalType, Value};

use super::column::PartialColumn;
use crate::group::{Measure, Metric};
use crate::stats::{Compensated, Sum};

/// A metric of some documents, of which at least one has a number.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum PartialMeasure {
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

impl PartialMeasure {
    /// The value of `metric`, over a column of type `logical`.
    pub(crate) fn finish(self, metric: &Metric, logical: LogicalType) -> Measure {
        let (count, sum) = match self {
            PartialMeasure::Least(number) | PartialMeasure::Greatest(number) => {
                return Measure::Value(Value::of(logical, number));
            }
            PartialMeasure::Distinct(count) => return Measure::Distinct(count),
            PartialMeasure::Integers(count, sum) => (count, Sum::Integer(sum)),
            PartialMeasure::Doubles(count, sum) => (count, Sum::Double(sum.total())),
        };
        #[expect(clippy::cast_precision_loss, reason = "a mean is no count")]
        let mean = || sum.to_f64() / count as f64;
        if let Metric::Mean(_) = metric { Measure::Mean(mean()) } else { Measure::Sum(sum) }
    }

    /// The metric of the documents of both. Sums saturate.
    pub(super) fn merge(self, other: PartialMeasure) -> PartialMeasure {
        match (self, other) {
            (PartialMeasure::Integers(count, sum), PartialMeasure::Integers(more, other)) => {
                PartialMeasure::Integers(count.saturating_add(more), sum.saturating_add(other))
            }
            (PartialMeasure::Doubles(count, sum), PartialMeasure::Doubles(more, other)) => {
                PartialMeasure::Doubles(count.saturating_add(more), sum.and(&other))
            }
            (PartialMeasure::Least(a), PartialMeasure::Least(b)) => PartialMeasure::Least(a.min(b)),
            (PartialMeasure::Greatest(a), PartialMeasure::Greatest(b)) => PartialMeasure::Greatest(a.max(b)),
            // Two measures of the same metric have the same form.
            (this, _) => this,
        }
    }

    /// The metrics of the documents of both, metric by metric.
    pub(super) fn merge_all(
        a: Vec<Option<PartialMeasure>>,
        b: Vec<Option<PartialMeasure>>,
    ) -> Vec<Option<PartialMeasure>> {
        let both = |pair| match pair {
            (Some(a), Some(b)) => Some(PartialMeasure::merge(a, b)),
            (a, b) => a.or(b),
        };
        a.into_iter().zip(b).map(both).collect()
    }
}

/// The values of `metrics` over `columns`, of which there are none without `measures`.
pub(super) fn finish(
    measures: Vec<Option<PartialMeasure>>,
    metrics: &[Metric],
    columns: &[PartialColumn],
) -> Vec<Option<Measure>> {
    let mut measures = measures.into_iter();
    let metrics = metrics.iter().zip(columns);
    let finish = |(metric, column): (&Metric, &PartialColumn)| {
        measures.next().flatten().map(|measure| measure.finish(metric, column.field.logical))
    };
    metrics.map(finish).collect()
}

/// Whether `measures` may be those of `metrics` over `columns`.
#[cfg(feature = "serde")]
pub(super) fn fit(
    measures: &[Option<PartialMeasure>],
    metrics: &[Metric],
    columns: &[PartialColumn],
) -> bool {
    let fits = |(measure, (metric, column)): (&Option<PartialMeasure>, (&Metric, &PartialColumn))| {
        let is_double = column.field.logical == LogicalType::F64;
        let Some(measure) = measure.filter(|_| !column.is_absent()) else { return measure.is_none() };
        match (measure, metric) {
            (PartialMeasure::Integers(count, _), Metric::Sum(_) | Metric::Mean(_)) => !is_double && count > 0,
            (PartialMeasure::Doubles(count, _), Metric::Sum(_) | Metric::Mean(_)) => is_double && count > 0,
            (PartialMeasure::Least(_), Metric::Min(_)) | (PartialMeasure::Greatest(_), Metric::Max(_)) => {
                true
            }
            _ => false,
        }
    };
    measures.len() == metrics.len() && measures.iter().zip(metrics.iter().zip(columns)).all(fits)
}
