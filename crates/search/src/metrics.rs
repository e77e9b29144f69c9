//! Metrics of documents, from accumulators to values: sums, extremes, means, percentiles, distinct values, and the values
//! of first and last documents. Groups, histograms, statistics and partial results share them.
//!
//! A metric knows columns and their numbers, but not what documents are grouped by, nor conditions on the results.

mod accumulator;
mod distinct;
mod distinct_sets;
mod layout;
mod measure_state;
mod metric;
mod number_log;
mod percentile;
mod sum;

pub use distinct::Distinct;
pub(crate) use distinct_sets::DistinctSet;
pub(crate) use layout::Layout;
pub(crate) use measure_state::{Kept, MeasureState, merge_counts, merge_sorted};
pub(crate) use metric::is_time;
pub use metric::{Measure, Metric};
pub(crate) use number_log::NumberLog;
pub(crate) use percentile::{check_percentile, nth, place};
pub(crate) use sum::Compensated;
pub use sum::Sum;
