//! The subcommands, one a file.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod export;
pub(crate) mod get;
pub(crate) mod head;
pub(crate) mod info;
