//! Prints stored values, documents and reports.

#[cfg(feature = "sql")]
pub(crate) mod batch_rows;
pub(crate) mod explain;
pub(crate) mod figure;
pub(crate) mod fit;
pub(crate) mod format_value;
pub(crate) mod json;
#[cfg(feature = "parquet")]
pub(crate) mod parquet_arrow;
pub(crate) mod records;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod usage_tables;
