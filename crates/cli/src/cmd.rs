//! The subcommands, most of them in a file of its own, and [`request`], which those that search share. A command does not
//! know another.

pub(crate) mod aggregate;
pub(crate) mod build;
pub(crate) mod cat;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod commits;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod get;
pub(crate) mod head;
#[cfg(feature = "lucene")]
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod log;
pub(crate) mod lookup;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod put;
pub(crate) mod query;
pub(crate) mod recover;
pub(crate) mod replica;
pub(crate) mod replicate;
pub(crate) mod report;
mod request;
pub(crate) mod rm;
pub(crate) mod sample;
pub(crate) mod schema;
pub(crate) mod set;
pub(crate) mod sort;
pub(crate) mod sql;
pub(crate) mod stats;
pub(crate) mod store;
pub(crate) mod terms;
pub(crate) mod where_guide;
