//! The subcommands, one per file.
//!
//! A command does not know another. Those that search share [`request`].

pub(crate) mod build;
pub(crate) mod cat;
pub(crate) mod check;
pub(crate) mod commits;
pub(crate) mod completions;
pub(crate) mod count;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod facet;
pub(crate) mod get;
pub(crate) mod group;
pub(crate) mod head;
pub(crate) mod histogram;
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
