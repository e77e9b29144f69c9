//! From stored values to what people and programs read.

pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod value;
