//! The process around a command: signals, temporary files that it leaves, and the memory that it may use.
//!
//! It does not know what a command does.

pub(crate) mod end_signal;
#[cfg(feature = "sql")]
pub(crate) mod machine_memory;
#[cfg(any(feature = "lucene", feature = "sql"))]
pub(crate) mod temporary;
pub(crate) mod unfinished_files;
