//! `dv merge`.

use std::path::PathBuf;

use clap::Args;

use super::build::{WriteArgs, parse_size};
use super::ids::IdArgs;

const LONG: &str = "\
Make one segment of several: the documents of all of them, one segment after the other.

Columns are united by name; where a segment does not have one, its documents have no value there, or with \
--same-columns nothing is merged. Columns of one name must be of one type in all segments, and have one value a \
document or several. With --promote, numbers of different types become numbers of one: i64 and u64 beside f64 \
become f64, and u64 beside i64 becomes i64, exactly or not at all. \
Where a column is sorted in one segment and binary in another, because the smaller one was chosen for each, it is \
chosen again.

Segments that are sorted alike are merged in that order; of segments that are sorted by the same first columns, the \
order by these is kept. --sort-by sorts by others, and --no-sort leaves documents one segment after the other.

An index of ids is made again where all segments with documents have one of the same column: of the form of the first \
one's, with a filter of as many bits. --id-field makes one of another column, or where there was none, and --no-ids none. \
No two documents may have one id then.

How values are spelled stays as it is where the segments agree. Values are read and checked, encoded anew for all \
of them together, and so take no more room than if the segment had been built at once.";

const EXAMPLES: &str = "\
Examples:
  dv merge january.dv february.dv -o winter.dv
  dv merge parts/*.dv -o whole.dv --memory 8GiB
  dv merge old.dv -o new.dv --jump-tables none
  dv merge whole-euros.dv euros.dv -o prices.dv --promote
  dv merge old.dv -o sorted.dv --sort-by section,-size
  dv merge old.dv -o indexed.dv --id-field id --term-index exact-trie

Exit codes: 0 merged, 1 a segment is damaged or columns do not fit together, 2 wrong command line, 3 a file
cannot be read or written. Whatever goes wrong, a file that stood under the output's name before still does.";

/// Make one segment of several
#[derive(Debug, Args)]
#[command(long_about = LONG, after_long_help = EXAMPLES)]
pub(crate) struct MergeArgs {
    /// The segments, in the order in which their documents are to come
    #[arg(required = true, value_name = "FILE.dv")]
    pub(crate) files: Vec<PathBuf>,

    /// The segment to write; an existing file is replaced once the new one is complete
    #[arg(short, long, value_name = "FILE.dv")]
    pub(crate) output: PathBuf,

    /// Columns to sort the documents by, whatever the segments are sorted by: see dv build --help
    #[arg(long, value_name = "NAME,…", allow_hyphen_values = true)]
    pub(crate) sort_by: Vec<String>,

    /// Do not sort, even if all segments are sorted alike
    #[arg(long, conflicts_with = "sort_by")]
    pub(crate) no_sort: bool,

    /// Convert numbers where segments differ in their type, to f64 or i64; a number that is not exact then is an error
    #[arg(long)]
    pub(crate) promote: bool,

    /// Refuse segments of which one lacks a column that another has
    #[arg(long)]
    pub(crate) same_columns: bool,

    #[command(flatten)]
    pub(crate) ids: IdArgs,

    /// Make no index of ids, even if all segments have one; the same as --term-index none
    #[arg(long, conflicts_with_all = ["id_field", "term_index", "filter_bits"])]
    pub(crate) no_ids: bool,

    /// Memory for the values of one column; beyond it they go to a temporary file beside the output
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    pub(crate) memory: usize,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
