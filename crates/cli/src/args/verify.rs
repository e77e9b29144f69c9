//! Arguments of `diff` and `check`.

use std::path::PathBuf;

use clap::Args;

const DIFF_LONG: &str = "\
Compare two segments: their columns, then their documents one by one, by number.

What stands in the first only has a `-` in front, what stands in the second only a `+`. Columns are compared \
by name: kind, type, and how values are spelled. Values are compared where the types agree, whatever the \
encodings and indexes. Nothing is printed where there is no difference.";

const DIFF_EXAMPLES: &str = "\
Examples:
  dv diff old.dv new.dv
  dv diff old.dv new.dv --columns size,section --limit 100
  dv diff old.dv new.dv --quiet && echo the same
  dv diff old.dv new.dv --json | jq '.documents[].document'

Exit codes: 0 the same, 1 different, 2 wrong command line, 3 one is damaged or cannot be read.";

/// Compare two segments, column by column and document by document
#[derive(Debug, Args)]
#[command(long_about = DIFF_LONG, after_long_help = DIFF_EXAMPLES)]
pub(crate) struct DiffArgs {
    /// The first segment
    #[arg(value_name = "A.dv")]
    pub(crate) a: PathBuf,

    /// The second segment
    #[arg(value_name = "B.dv")]
    pub(crate) b: PathBuf,

    /// Only these columns
    ///
    /// Names separated by commas; the option can be repeated. A name that holds a comma is an option
    /// of its own.
    #[arg(long, value_name = "NAME,…")]
    pub(crate) columns: Vec<String>,

    /// Documents to show; those beyond are counted
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) limit: u32,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Print nothing, and stop at the first difference
    #[arg(short, long, conflicts_with_all = ["json", "limit"])]
    pub(crate) quiet: bool,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  dv check packages.dv
  dv check segments/*.dv --json | jq 'select(.clean | not)'

Exit codes: 0 all clean, 1 one is damaged, 2 wrong command line, 3 one cannot be read or is no segment.";

/// Read every byte of segments and prove that it is as it was written
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// The segments
    #[arg(required = true, value_name = "FILE.dv")]
    pub(crate) files: Vec<PathBuf>,

    /// Print one JSON object a file
    #[arg(long)]
    pub(crate) json: bool,

    /// Print problems only
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
}
