//! Text: numbers, times, names, JSON and stored values as text, and back.
//!
//! It knows no console, no file and no format of an input.

pub(crate) mod fit;
pub(crate) mod json;
pub(crate) mod json_entries;
pub(crate) mod number;
pub(crate) mod print_value;
pub(crate) mod query_time;
pub(crate) mod quoting;
pub(crate) mod sort_keys;
pub(crate) mod stored_ref;
pub(crate) mod text_format;
pub(crate) mod time;
pub(crate) mod words;

pub(crate) use json::Json;
pub(crate) use print_value::Printer;
pub(crate) use quoting::{counted, printable, thousands};
pub(crate) use stored_ref::StoredRef;
