//! Documents, answers and descriptions as tables, CSV, JSON, Parquet and Arrow.
//!
//! It knows no input and no command line.

#[cfg(feature = "sql")]
pub(crate) mod batch_rows;
pub(crate) mod explain;
pub(crate) mod figure;
#[cfg(feature = "parquet")]
pub(crate) mod parquet_arrow;
pub(crate) mod records;
pub(crate) mod table;
pub(crate) mod usage_tables;
