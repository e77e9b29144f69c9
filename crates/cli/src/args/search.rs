//! Arguments of `count`, `sort` and `query`.

use std::path::PathBuf;

use clap::Args;

use super::filter::WhereArgs;
use super::records::RecordArgs;

const COUNT_EXAMPLES: &str = "\
Examples:
  dv count packages.dv
  dv count packages.dv --where 'section = \"libs\" and size > 10MiB' --explain";

/// Count the documents that match a query
#[derive(Debug, Args)]
#[command(after_help = COUNT_EXAMPLES)]
pub(crate) struct CountArgs {
    /// Segments and stores, or patterns such as 'logs/*.dv'
    #[arg(value_name = "FILE.dv", required = true)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const SORT_EXAMPLES: &str = "\
Examples:
  dv sort packages.dv --by=-size -n 5 --columns package,size
  dv sort packages.dv --by=section,-size --where 'tags ^= \"role::\"' --json
  dv sort packages.dv --by=-size -n 5 --columns package,size --after 141993064,583";

/// Print the first documents in the order of some columns
///
/// `-` before a name sorts in descending order, :missing-first after it puts documents without a value first instead
/// of last. NaN sorts after all numbers. A document with several values sorts by the least, or in descending order by
/// the greatest. Equal documents stay in the order of the segment, and of the files. If there are several files,
/// --doc-ids prints the file in a column `_file` before the number. If there are more documents, the option for the
/// next page is printed on standard error.
#[derive(Debug, Args)]
#[command(after_long_help = SORT_EXAMPLES)]
pub(crate) struct SortArgs {
    /// Segments and stores, or patterns such as 'logs/*.dv'
    #[arg(value_name = "FILE.dv", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The columns to sort by, the most significant first
    ///
    /// Names separated by commas; the option can be repeated. Give a name that contains a comma in an option of its own.
    #[arg(long, value_name = "[-]NAME,…", required = true, allow_hyphen_values = true)]
    pub(crate) by: Vec<String>,

    /// Number of documents; 0 for all
    #[arg(short = 'n', long = "limit", value_name = "COUNT", default_value_t = 10)]
    pub(crate) count: usize,

    /// Print the documents that follow these values: the next page
    ///
    /// A value for each column of --by, separated by commas and quoted as in CSV; nothing between two commas is no value. The
    /// number of a document may come last, after its file and a colon if there are several: then documents with equal values
    /// follow if they come after it. Otherwise they do not follow.
    #[arg(long, value_name = "VALUE,…", allow_hyphen_values = true)]
    pub(crate) after: Option<String>,

    #[command(flatten)]
    pub(crate) records: RecordArgs,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,
}

const QUERY_EXAMPLES: &str = "\
Examples:
  dv query packages.dv '{\"where\": \"size > 10MB\", \"facets\": [\"section\"], \"stats\": [\"size\"]}'
  dv query packages.dv request.toml --where 'section = \"games\"' --explain
  generate-request | dv query packages.dv - | jq .facets";

/// Answer one request for facets, histograms, statistics, groups and documents
///
/// The answer is one JSON object about the documents that match a query.
///
/// A request is JSON or TOML with any of these keys:
///   where       a condition, as in --where, also its rule for quotes and backslashes in text; with both, documents match both
///   facets      columns whose values to count: names, or {column, top, by, min_count, prefix}, as in `dv facet`
///   histograms  columns whose values to count by range: {column, step} or {column, edges}, as in `dv histogram`
///   stats       columns to compute statistics of: names, or {column, percentiles, spread, distinct}
///   groups      columns to group by: names, or {column, top, by, missing, sum, min, max, mean, distinct, metric, having, docs,
///               sort, columns}, as in `dv group`; `column` is a name or a list
///   sort        columns to sort documents by, with - before a name in descending order
///   top         number of documents to print in that order; default: 20 if `sort` or `columns` is given
///   columns     columns to print of these documents; default: all
///
/// Facets, histograms and statistics share one pass over the documents; a column that several of them use is read once.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = QUERY_EXAMPLES)]
pub(crate) struct QueryArgs {
    /// Segments and stores, or patterns such as 'logs/*.dv'
    #[arg(value_name = "FILE.dv", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// JSON in braces, a file of JSON or TOML, or - for standard input
    #[arg(value_name = "REQUEST")]
    pub(crate) request: String,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,
}
