//! Arguments of `info`, `stats` and `terms`.

use std::path::PathBuf;

use clap::Args;

use super::WhereArgs;

const INFO_EXAMPLES: &str = "\
Examples:
  dv info packages.dv
  dv info packages.dv --sections
  dv info packages.dv --json | jq '.columns[] | {name, bytes}'";

/// Show a segment's columns, their types and encodings, and where its bytes went
#[derive(Debug, Args)]
#[command(after_help = INFO_EXAMPLES)]
pub(crate) struct InfoArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// Show the sections of each column as well
    #[arg(long)]
    pub(crate) sections: bool,

    /// Print JSON, with everything that is known of each column
    #[arg(long)]
    pub(crate) json: bool,
}

const STATS_LONG: &str = "\
Show what the values of columns are: how many, how many are missing, the least and the greatest, sum and \
mean, how many distinct ones.

Most of it stands in the segment's directory; sums of floats, and the least and greatest of strings without \
a dictionary, take a scan of their column, and so does all that is asked of the documents of a query. Distinct values are counted where the directory knows them, as it \
does of every column with a dictionary. NaN is in no range, sum or mean. Dates and timestamps have a mean and no sum; of bools, the sum is \
how many are true.";

const STATS_EXAMPLES: &str = "\
Examples:
  dv stats packages.dv
  dv stats packages.dv size section
  dv stats packages.dv size --percentiles 50,90,99 --spread --where 'section = \"libs\"'
  dv stats packages.dv --json | jq -r '.columns[] | [.name, .missing] | @tsv'

Exit codes: 0 all shown, 1 a column does not exist or is damaged, 2 wrong command line, 3 unreadable.";

/// Show how many values columns have, their range, sum and mean
#[derive(Debug, Args)]
#[command(long_about = STATS_LONG, after_long_help = STATS_EXAMPLES)]
pub(crate) struct StatsArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// The columns, in this order; without it, all as the input had them
    #[arg(value_name = "COLUMN")]
    pub(crate) columns: Vec<String>,

    /// Percentiles to find, from 0 to 100: exact
    #[arg(long, value_name = "NUMBER,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) percentiles: Vec<f64>,

    /// The standard deviation as well
    #[arg(long)]
    pub(crate) spread: bool,

    /// Count different values: exactly up to 65,536 and of columns with a dictionary, else within a percent
    #[arg(long)]
    pub(crate) distinct: bool,

    /// Print JSON: every value whole, as text
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,
}

const TERMS_EXAMPLES: &str = "\
Examples:
  dv terms packages.dv section
  dv terms packages.dv tags --prefix role:: --counts
  dv terms packages.dv section --counts | sort -rn | head
  dv terms packages.dv --id --prefix 5de1 --json

Exit codes: 0 all printed, 1 the column does not exist, has no dictionary or is damaged, or there is
no index of ids, 3 unreadable.";

/// Print the distinct values of a column that has a dictionary, or all ids, in order
#[derive(Debug, Args)]
#[command(after_help = TERMS_EXAMPLES)]
pub(crate) struct TermsArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// A column of the kind sorted or sorted-set
    #[arg(value_name = "COLUMN", required_unless_present = "id")]
    pub(crate) column: Option<String>,

    /// The ids of documents instead of a column; with --json their documents as well
    #[arg(long, conflicts_with_all = ["column", "counts"])]
    pub(crate) id: bool,

    /// Only terms that begin with this: text, or of bytes the hexadecimal digits
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prefix: Option<String>,

    /// Only so many
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<u32>,

    /// Print in front of each term how many documents have it, and a tab
    #[arg(long)]
    pub(crate) counts: bool,

    /// Print one JSON object a line: control characters, too, are as they are
    #[arg(long)]
    pub(crate) json: bool,
}
