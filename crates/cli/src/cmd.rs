//! The subcommands, one per file.

pub(crate) mod build;
pub(crate) mod cat;
pub(crate) mod check;
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
pub(crate) mod lookup;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod query;
pub(crate) mod sample;
pub(crate) mod schema;
pub(crate) mod sort;
pub(crate) mod stats;
pub(crate) mod terms;
