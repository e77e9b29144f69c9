//! The metrics of partial results: their values, and the check of what was deserialised.

#[cfg(feature = "serde")]
use docvalues_column::LogicalType;

use super::column::PartialColumn;
use crate::metrics::{Measure, MeasureState, Metric};

/// The values of `metrics` over `columns`, of which there are none without `measures`.
pub(super) fn finish(
    measures: Vec<Option<MeasureState>>,
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
pub(super) fn fit(measures: &[Option<MeasureState>], metrics: &[Metric], columns: &[PartialColumn]) -> bool {
    let fits = |(measure, (metric, column)): (&Option<MeasureState>, (&Metric, &PartialColumn))| {
        let is_double = column.field.logical == LogicalType::F64;
        let Some(measure) = measure.filter(|_| !column.is_absent()) else { return measure.is_none() };
        match (measure, metric) {
            (MeasureState::Integers(count, _), Metric::Sum(_) | Metric::Mean(_)) => !is_double && count > 0,
            (MeasureState::Doubles(count, _), Metric::Sum(_) | Metric::Mean(_)) => is_double && count > 0,
            (MeasureState::Least(_), Metric::Min(_)) | (MeasureState::Greatest(_), Metric::Max(_)) => true,
            _ => false,
        }
    };
    measures.len() == metrics.len() && measures.iter().zip(metrics.iter().zip(columns)).all(fits)
}
