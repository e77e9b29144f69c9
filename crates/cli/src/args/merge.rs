//! Arguments of `merge`.

use std::path::PathBuf;

use clap::Args;

use super::build::{INDEX, RESOURCES, WriteArgs, parse_size};
use super::commit::{CommitArgs, WaitArgs, parse_count};

const EXAMPLES: &str = "\
Examples:
  dv merge january.dv february.dv -o winter.dv
  dv merge whole-euros.dv euros.dv -o prices.dv --promote
  dv merge old.dv -o new.dv --sort-by section,-size --id-field id
  dv merge store --to 1
  dv rm people ada@example.com && dv merge people --purge";

/// Merge several segments into one, or those of a store
///
/// The result has the documents of all of them, one segment after the other. Without -o, the small segments of a
/// store are merged, and those of which many documents are deleted, in a commit; readers never wait for it. With -o,
/// a store is read as its segments are, without deleted documents.
///
/// Columns are united by name. Those with one name must have one type, and either one value a document or several, in
/// all segments. --promote converts numbers of different types: i64 and u64 beside f64 become f64, u64 beside i64
/// becomes i64. A number that would change is an error.
///
/// If all segments are sorted by the same first columns, or have an index of the same column of ids, so has the
/// merged one. No two documents may have the same id. Values are verified and encoded anew, so the result is as small
/// as if it had been built at once; their text format is kept if the segments agree on it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct MergeArgs {
    /// The segments, in the order of their documents in the result, or the folder of a store
    #[arg(required = true, value_name = "FILE.dv|DIR")]
    pub(crate) files: Vec<PathBuf>,

    /// The segment to write; it replaces an existing segment when it is complete. `-` is standard output
    #[arg(short, long, value_name = "FILE.dv")]
    pub(crate) output: Option<PathBuf>,

    /// Merge the segments of a store until there are at most this many
    #[arg(long, value_name = "COUNT", conflicts_with = "output", value_parser = parse_count)]
    pub(crate) to: Option<usize>,

    /// Remove what was deleted from all files of a store, with all older commits
    ///
    /// Segments with deleted or updated documents are written again, and older commits, logs and remembered deletions are
    /// removed: no file of the store has the values or the ids of deleted documents any more. In a store with versions, a
    /// deleted document that arrives again is there again, even with an old version.
    #[arg(long, conflicts_with = "output")]
    pub(crate) purge: bool,

    #[command(flatten)]
    pub(crate) commit: CommitArgs,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    /// Columns to sort the documents by, as in dv build --help
    #[arg(long, value_name = "NAME,…", allow_hyphen_values = true, help_heading = INDEX)]
    pub(crate) sort_by: Vec<String>,

    /// If segments differ in a column's numeric type, convert to f64 or i64; a number that would change is an error
    #[arg(long)]
    pub(crate) promote: bool,

    /// The column of ids, as in dv build --help
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, help_heading = INDEX)]
    pub(crate) id_field: Option<String>,

    /// Build no index of ids, even if all segments have one
    #[arg(long, conflicts_with = "id_field", help_heading = INDEX, hide_short_help = true)]
    pub(crate) no_ids: bool,

    /// Memory for the values of one column; beyond it they spill to a temporary file beside the output
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size, help_heading = RESOURCES, hide_short_help = true)]
    pub(crate) memory: usize,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
