//! Arguments of `diff` and `check`.

use std::path::PathBuf;

use clap::Args;

const DIFF_EXAMPLES: &str = "\
Examples:
  dv diff old.dv new.dv
  dv diff old.dv new.dv --columns size,section --limit 100
  dv diff old.dv new.dv --quiet && echo the same
  dv diff monday.dv store/ --by id
  dv diff old.dv new.dv --json | jq '.[].document'

Exit codes: 0 the same, 1 different, 2 wrong command line, 3 a segment is damaged or cannot be read.";

/// Compare two segments or stores, column by column and document by document
///
/// First their columns, then their documents by number, or with --by those with the same value of a column, in any
/// order.
///
/// `-` marks what only the first segment has, `+` what only the second has. Columns are compared by name, kind, type
/// and text format. Values are compared if the types agree; encodings and indexes are not compared. Nothing is
/// printed if the segments are the same.
///
/// A row of --json and --format has a document, the only side with it, a column, and its values on both sides. Rows of
/// columns that differ come first, without a document.
#[derive(Debug, Args)]
#[command(after_long_help = DIFF_EXAMPLES)]
pub(crate) struct DiffArgs {
    /// The first segment, or the folder of a store
    #[arg(value_name = "A.dv")]
    pub(crate) a: PathBuf,

    /// The second segment, or the folder of a store
    #[arg(value_name = "B.dv")]
    pub(crate) b: PathBuf,

    /// Compare documents with the same value of this column, which no two documents of a side may share
    ///
    /// Takes memory for all values.
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,

    /// Compare only these columns
    ///
    /// Names separated by commas; the option can be repeated. Give a name that contains a comma in an
    /// option of its own.
    #[arg(long, value_name = "NAME,…")]
    pub(crate) columns: Vec<String>,

    /// Documents to show, 0 for all; further ones are only counted
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) limit: u32,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Print nothing, and stop at the first difference
    #[arg(short, long, conflicts_with_all = ["json", "format", "output", "limit"])]
    pub(crate) quiet: bool,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  dv check packages.dv
  dv check segments/*.dv --json | jq 'select(.clean | not)'
  dv check store

In a store, all commits and their files are checked, that no two documents have the same id, and which \
files no commit names.

Exit codes: 0 all is well, 1 a file is damaged, 2 wrong command line, 3 a file cannot be read, or is no segment.";

/// Read every byte of segments and stores and verify all checksums and structures
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// The segments and stores
    #[arg(required = true, value_name = "FILE.dv|DIR")]
    pub(crate) files: Vec<PathBuf>,

    /// Print one JSON object a file or store
    #[arg(long)]
    pub(crate) json: bool,

    /// Print problems only
    #[arg(short, long, conflicts_with_all = ["json", "format", "output"])]
    pub(crate) quiet: bool,
}
