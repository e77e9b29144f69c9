//! Metrics of documents, from accumulators to values: sums, extremes, means and distinct values. Groups, histograms,
//! statistics and partial results share them.
//!
//! A metric knows columns and their numbers, but not what documents are grouped by, nor conditions on the results.

mod distinct;
mod distinct_sets;
mod layout;
mod measure_state;
mod metric;
mod order_value;
mod sum;

pub use distinct::Distinct;
pub(crate) use distinct_sets::DistinctSet;
pub(crate) use layout::Layout;
pub(crate) use measure_state::MeasureState;
pub use metric::{Measure, Metric};
pub(crate) use order_value::OrderValue;
pub(crate) use sum::Compensated;
pub use sum::Sum;
