//! `--where`, and the arguments of `count`, `sort` and `query`.

use std::path::PathBuf;

use clap::Args;

use super::RecordArgs;

/// Which documents, and how they are found.
#[derive(Debug, Args)]
pub(crate) struct WhereArgs {
    /// Only documents that match this, such as 'status = 404 and size >= 10MiB and host ^= "www."'
    ///
    /// Comparisons are = != < <= > >= ^= (begins with), `in (a, b)`, `in 1..5`, `exists` and `missing`, joined by
    /// and, or, not and parentheses. Text and dates stand in quotes, odd names of columns in backticks.
    #[arg(long = "where", value_name = "QUERY")]
    pub(crate) query: Option<String>,

    /// Threads to work with; without it, as many as the machine has
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Tell on standard error how the query was evaluated, what was skipped, by which index, and how long each part took
    ///
    /// With --json, that is JSON, too.
    #[arg(long)]
    pub(crate) explain: bool,
}

const COUNT_EXAMPLES: &str = "\
Examples:
  dv count packages.dv
  dv count packages.dv --where 'section = \"libs\" and size > 10MiB' --explain

Exit codes: 0 counted, 1 a column does not exist or is damaged, 2 the query is wrong, 3 unreadable.";

/// Count the documents that match a query
#[derive(Debug, Args)]
#[command(after_help = COUNT_EXAMPLES)]
pub(crate) struct CountArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const SORT_LONG: &str = "\
Print the documents that come first in the order of columns.

A `-` in front of a column has the greatest values first; behind it may stand :missing-first. NaN comes behind all numbers. Of \
several values of a document the least counts, or, in descending order, the greatest. Documents without a value come last, \
unless :missing-first is said. Documents that are equal stay in the order of the segment.";

const SORT_EXAMPLES: &str = "\
Examples:
  dv sort packages.dv --by=-size -n 5 --columns package,size
  dv sort packages.dv --by=section,-size --where 'tags ^= \"role::\"' --json

Exit codes: 0 all printed, 1 a column does not exist or is damaged, 2 the query is wrong, 3 unreadable.";

/// Print the first documents in an order
#[derive(Debug, Args)]
#[command(long_about = SORT_LONG, after_long_help = SORT_EXAMPLES)]
pub(crate) struct SortArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// The columns to sort by, the one that counts most first
    ///
    /// Names separated by commas; the option can be repeated. A name that holds a comma is an option of its own.
    #[arg(long, value_name = "[-]NAME,…", required = true, allow_hyphen_values = true)]
    pub(crate) by: Vec<String>,

    /// How many documents; 0 for all
    #[arg(short = 'n', long = "docs", visible_aliases = ["top", "limit"], value_name = "COUNT", default_value_t = 10)]
    pub(crate) count: usize,

    #[command(flatten)]
    pub(crate) records: RecordArgs,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,
}

const QUERY_LONG: &str = "\
Ask several things at once about the documents that match a query, and print one JSON answer.

A request is JSON or TOML with any of these keys:
  where       which documents, as --where has it; with both, those that match both
  facets      columns whose values are counted: names, or {column, top, by, min_count, prefix}, as options of `dv facet`
  histograms  columns whose values are counted by range: {column, step} or {column, edges}, as options of `dv histogram`
  stats       columns that are summed up: names, or {column, percentiles, spread, distinct}
  groups      columns to group by: names, or {column, top, by, sum, min, max, mean, docs, sort, columns}, as options of `dv group`
  sort        the order of documents: names of columns, with - in front the greatest first
  top         how many documents in that order; 20, if `sort` or `columns` is given
  columns     what of these documents is printed; without it, all

Facets, histograms and statistics share one pass over the documents, and a column that several of them ask for is read once.";

const QUERY_EXAMPLES: &str = "\
Examples:
  dv query packages.dv '{\"where\": \"size > 10MB\", \"facets\": [\"section\"], \"stats\": [\"size\"]}'
  dv query packages.dv request.toml --where 'section = \"games\"' --explain
  generate-request | dv query packages.dv - | jq .facets

Exit codes: 0 answered, 1 a column does not exist or is damaged, 2 the request is wrong, 3 unreadable.";

/// Answer a request for facets, histograms, statistics and the first documents at once
#[derive(Debug, Args)]
#[command(long_about = QUERY_LONG, after_long_help = QUERY_EXAMPLES)]
pub(crate) struct QueryArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// JSON in braces, a file of JSON or TOML, or - for standard input
    #[arg(value_name = "REQUEST")]
    pub(crate) request: String,

    /// With --explain: JSON of what that tells, too; the answer always is
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,
}
