//! The subcommands, each in a file of its own or with those whose options are in one file of `args`, and [`request`], which
//! those that search share. A command does not know another.

pub(crate) mod aggregate;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod export;
#[cfg(feature = "lucene")]
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod lookup;
pub(crate) mod merge;
pub(crate) mod put;
pub(crate) mod query;
pub(crate) mod records;
pub(crate) mod replica;
pub(crate) mod report;
mod request;
pub(crate) mod schema;
pub(crate) mod set;
pub(crate) mod shell;
pub(crate) mod sort;
pub(crate) mod sql;
pub(crate) mod stats;
pub(crate) mod store;
pub(crate) mod terms;
