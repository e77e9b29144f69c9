//! From stored values to what people and programs read.

#[cfg(feature = "parquet")]
pub(crate) mod columnar;
pub(crate) mod explain;
pub(crate) mod json;
pub(crate) mod records;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod value;
