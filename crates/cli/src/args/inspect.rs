//! Arguments of `info`, `stats` and `terms`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::filter::WhereArgs;
use crate::answer::rows::RecordFormat;

const INFO_EXAMPLES: &str = "\
Examples:
  dv info packages.dv
  dv info packages.dv --encodings --sections
  dv info packages.dv --json | jq '.columns[] | {name, bytes}'";

/// Show the columns of a segment or a store with their types, ranges and sizes
///
/// Minimum and maximum are the bounds that the file stores. Those of a store are of all documents, deleted ones
/// included. A bound that is NaN is not shown, nor are those of a column that was changed in place, until a merge writes
/// it anew; `dv stats` computes the range of numbers.
#[derive(Debug, Args)]
#[command(after_help = INFO_EXAMPLES)]
pub(crate) struct InfoArgs {
    /// The segment, or the folder of a store
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// Show the encodings of each column as well
    #[arg(long)]
    pub(crate) encodings: bool,

    /// Show the sections of each column as well
    #[arg(long)]
    pub(crate) sections: bool,

    /// Print JSON, with more details of each column
    #[arg(long)]
    pub(crate) json: bool,
}

const STATS_EXAMPLES: &str = "\
Examples:
  dv stats packages.dv
  dv stats packages.dv size section
  dv stats packages.dv size --percentiles 50,90,99 --spread --where 'section = \"libs\"'
  dv stats packages.dv --json | jq '.columns[] | select(.mean) | {name, mean}'";

/// Show the number of values of columns, their minimum, maximum, sum and mean
///
/// Most of it is read from the segment's directory. Sums of floats, the minimum and maximum of strings without a
/// dictionary, and everything about the documents of a --where need a scan of the column. The number of distinct
/// values is shown if the directory has it, as it does for every column with a dictionary; --distinct counts it, as
/// it must for several files. NaN is not part of minimum, maximum, sum or mean. Dates and timestamps have a mean and
/// no sum; the sum of a bool column is the number of true values.
#[derive(Debug, Args)]
#[command(
    after_long_help = STATS_EXAMPLES,
    override_usage = "dv stats [OPTIONS] <FILE.dv>... [COLUMN]..."
)]
pub(crate) struct StatsArgs {
    /// Segments and stores, or patterns such as 'logs/*.dv', then columns; default: all columns, in the order of the input
    ///
    /// After the first, arguments that end in .dv or are segments are files; the rest are columns.
    #[arg(value_name = "FILE.dv|COLUMN", required = true)]
    pub(crate) arguments: Vec<OsString>,

    /// More columns, whatever their names look like
    #[arg(long, value_name = "NAME,…")]
    pub(crate) columns: Vec<String>,

    /// Exact percentiles to compute, from 0 to 100
    #[arg(long, value_name = "NUMBER,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) percentiles: Vec<f64>,

    /// Compute the standard deviation
    #[arg(long)]
    pub(crate) spread: bool,

    /// Count distinct values: exactly if there are at most 65,536 or a dictionary, else by an estimate, of which 99 % are
    /// within 2.1 %
    #[arg(long)]
    pub(crate) distinct: bool,

    /// Print JSON; integers above 2^53 are text, because many JSON readers round them
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,
}

const TERMS_EXAMPLES: &str = "\
Examples:
  dv terms packages.dv section
  dv terms packages.dv tags --prefix role::
  dv terms packages.dv --id --prefix 5de1 --json";

/// Print the distinct values of a column with a dictionary, or all ids, in order
///
/// `dv facet --by value` counts their documents.
#[derive(Debug, Args)]
#[command(after_help = TERMS_EXAMPLES)]
pub(crate) struct TermsArgs {
    /// The segment, or the folder of a store
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// A column of kind sorted or sorted-set
    #[arg(value_name = "COLUMN", required_unless_present = "id")]
    pub(crate) column: Option<String>,

    /// Print the ids of the index of ids; with --json or --format, also their documents, and the files of several segments
    #[arg(long, conflicts_with = "column")]
    pub(crate) id: bool,

    /// Only terms that begin with this; for a column of bytes, in hexadecimal
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prefix: Option<String>,

    /// Print at most this many
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub(crate) limit: Option<u32>,

    /// The format of the output; default: a line for each term
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<RecordFormat>,

    /// Same as --format ndjson
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    /// The file to write, such as x.csv or x.csv.gz; its extension gives the format if --format does not
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
