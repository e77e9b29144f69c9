//! Documents, answers and descriptions as tables, CSV, JSON, HTML, Parquet and Arrow.
//!
//! It knows no input and no command line.

pub(crate) mod answer_rows;
mod bars;
#[cfg(feature = "sql")]
pub(crate) mod batch_rows;
pub(crate) mod commit_info;
pub(crate) mod explain;
pub(crate) mod facets;
mod figure;
pub(crate) mod groups;
pub(crate) mod histograms;
mod metrics;
#[cfg(feature = "parquet")]
pub(crate) mod parquet_arrow;
pub(crate) mod records;
pub(crate) mod report;
pub(crate) mod rows;
pub(crate) mod search_answer;
pub(crate) mod segment_info;
pub(crate) mod statistics;
pub(crate) mod table;
pub(crate) mod terms;
pub(crate) mod usage_tables;
