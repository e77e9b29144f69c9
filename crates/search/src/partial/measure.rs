//! The metrics of partial results: their values, and the check of what was deserialised.

#[cfg(feature = "serde")]
use docvalues_column::LogicalType;

use super::column::PartialColumn;
use crate::metrics::{Measure, MeasureState as State, Metric};

/// The values of `metrics` over `columns`, of which there are none without `measures`.
pub(super) fn finish(
    measures: &[Option<State>],
    metrics: &[Metric],
    columns: &[PartialColumn],
) -> Vec<Option<Measure>> {
    (0..metrics.len().min(columns.len())).map(|at| measure(measures, at, metrics, columns)).collect()
}

/// The value of the metric at index `at`.
pub(super) fn measure(
    measures: &[Option<State>],
    at: usize,
    metrics: &[Metric],
    columns: &[PartialColumn],
) -> Option<Measure> {
    let state = measures.get(Metric::state_of(metrics, at))?.as_ref()?;
    Some(state.finish(&metrics[at], columns[at].field.logical))
}

/// Whether `measures` may be those of `metrics` over `columns`.
#[cfg(feature = "serde")]
pub(super) fn fit(measures: &[Option<State>], metrics: &[Metric], columns: &[PartialColumn]) -> bool {
    let fits = |(at, (state, column)): (usize, (&Option<State>, &PartialColumn))| {
        let Some(state) = state else { return true };
        let (field, is_absent) = (&column.field, column.is_absent());
        let is_double = field.logical == LogicalType::F64;
        let is_valid = match (state, &metrics[at]) {
            // There is a set of values also without a column, an empty one.
            (State::Values(values), Metric::Distinct(_)) => {
                let fit = values.iter().all(|value| !is_absent && value.fits(field));
                fit && values.is_sorted_by(|a, b| a < b)
            }
            _ if is_absent => false,
            (State::Integers(count, _), Metric::Sum(_) | Metric::Mean(_)) => !is_double && *count > 0,
            (State::Doubles(count, _), Metric::Sum(_) | Metric::Mean(_)) => is_double && *count > 0,
            (State::Least(_), Metric::Min(_)) | (State::Greatest(_), Metric::Max(_)) => true,
            (State::Numbers(counts), Metric::Percentile(..)) => {
                let are_counts = counts.iter().all(|(_, count)| *count > 0);
                !counts.is_empty() && are_counts && counts.is_sorted_by(|a, b| a.0 < b.0)
            }
            (State::ByKey(is_last, found), Metric::First(..) | Metric::Last(..)) => {
                *is_last == matches!(metrics[at], Metric::Last(..)) && found.1.fits(field)
            }
            _ => false,
        };
        is_valid && Metric::state_of(metrics, at) == at
    };
    measures.len() == metrics.len() && measures.iter().zip(columns).enumerate().all(fits)
}
