//! Commands that ask about documents which match a query.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use serde::Deserialize;

use super::RecordArgs;
use crate::store::search::facet::FacetOrder;

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
    pub(crate) hits: WhereArgs,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which values come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FacetBy {
    /// Those that most documents have
    Count,
    /// The least
    Value,
}

impl FacetBy {
    pub(crate) fn order(self) -> FacetOrder {
        if self == FacetBy::Value { FacetOrder::Value } else { FacetOrder::Count }
    }
}

const FACET_LONG: &str = "\
Count how many documents have each value of columns, and show the most frequent ones.

A document counts once for each different value that it has. How many values there are is said of those that --min-count and \
--prefix leave. Several columns are counted in one pass over the documents. \
On a terminal, bars compare the counts.";

const FACET_EXAMPLES: &str = "\
Examples:
  dv facet packages.dv section
  dv facet packages.dv section tags --top 5 --where 'size > 1MB'
  dv facet packages.dv tags --prefix role:: --by value --top 100
  dv facet packages.dv section --json | jq '.facets[0].values[] | {value, count}'

Exit codes: 0 counted, 1 a column does not exist or is damaged, 2 the query is wrong, 3 unreadable.";

/// Count the values of columns
#[derive(Debug, Args)]
#[command(long_about = FACET_LONG, after_long_help = FACET_EXAMPLES)]
pub(crate) struct FacetArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// The columns
    #[arg(value_name = "COLUMN", required = true)]
    pub(crate) columns: Vec<String>,

    /// Values to show of each column; 0 for all
    #[arg(short = 'n', long, visible_alias = "limit", value_name = "COUNT", default_value_t = 10)]
    pub(crate) top: usize,

    /// Which values come first
    #[arg(long, value_name = "WHAT", default_value = "count")]
    pub(crate) by: FacetBy,

    /// Leave out values that fewer documents have
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub(crate) min_count: u64,

    /// Only values that begin with this; of columns of text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prefix: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) hits: WhereArgs,
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
    pub(crate) hits: WhereArgs,
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
    pub(crate) hits: WhereArgs,
}

/// Which groups come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GroupBy {
    /// Those with most documents
    #[default]
    Count,
    /// Those with the least value
    Value,
    /// Those whose best document comes first, by --sort, or without it in the order of the segment
    Best,
    /// Those with the greatest metric: the first of --sum, --min, --max, --mean
    Metric,
}

const GROUP_LONG: &str = "\
Group documents by a column with one value a document, and show the groups that come first: how many documents they \
have, sums and other metrics of their numbers, and their best documents.

With --docs 1 and --by best, this is what engines call collapsing: one document for each value, the best first.";

const GROUP_EXAMPLES: &str = "\
Examples:
  dv group packages.dv section --sum size --by metric
  dv group packages.dv source --docs 2 --sort=-size --json --columns package,size
  dv group packages.dv section --by best --sort=-size --docs 1 --where 'tags = \"role::program\"'

Exit codes: 0 grouped, 1 a column does not exist or is damaged, 2 the query is wrong, 3 unreadable.";

/// What to group by, on a command line and in a request.
#[derive(Debug, Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupSpec {
    /// The column to group by
    #[arg(value_name = "COLUMN")]
    pub(crate) column: String,

    /// Groups to show; 0 for all
    #[arg(short = 'n', long, visible_alias = "limit", value_name = "COUNT", default_value_t = 10)]
    #[serde(default = "ten")]
    pub(crate) top: usize,

    /// Which groups come first
    #[arg(long, value_name = "WHAT", default_value = "count")]
    #[serde(default)]
    pub(crate) by: GroupBy,

    /// Columns whose numbers are added up, for each group
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) sum: Vec<String>,

    /// Columns of which the least number is shown
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) min: Vec<String>,

    /// Columns of which the greatest number is shown
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) max: Vec<String>,

    /// Columns of which the mean is shown
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) mean: Vec<String>,

    /// Documents to show of each group: by their numbers, or with --json whole
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    #[serde(default)]
    pub(crate) docs: usize,

    /// What makes a document of a group better than another: columns, with - in front the greatest first; without it, the
    /// first of the segment is the best
    ///
    /// It is about the documents of --docs and the order of --by best.
    #[arg(long, value_name = "[-]NAME,…", allow_hyphen_values = true)]
    #[serde(default)]
    pub(crate) sort: Vec<String>,

    /// With --json: the columns of these documents; without it, all
    #[arg(long, value_name = "NAME,…", requires_all = ["docs", "json"])]
    #[serde(default)]
    pub(crate) columns: Vec<String>,
}

fn ten() -> usize {
    10
}

/// Group documents by the value of a column
#[derive(Debug, Args)]
#[command(long_about = GROUP_LONG, after_long_help = GROUP_EXAMPLES)]
pub(crate) struct GroupArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) spec: GroupSpec,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) hits: WhereArgs,
}

const HISTOGRAM_LONG: &str = "\
Count how many values of a column lie in each of a row of ranges: so wide, or an hour, a day, a month of the calendar, or \
between edges of any kind.

A line is a range, from its first number up to the next line's; ranges without values between others are shown. The range of the \
last of the --edges has no end, and what lies below the first is counted apart. A document with several values counts for each of \
them.

With --facet, --sum, --min, --max and --mean, the documents of each range are looked at in other columns, too; the column has one \
value a document then.";

const HISTOGRAM_EXAMPLES: &str = "\
Examples:
  dv histogram packages.dv size --step 10_000_000
  dv histogram packages.dv size --edges 0,1kB,100kB,10MB
  dv histogram packages.dv depends_count --step 5 --where 'section = \"libs\"'
  dv histogram packages.dv size --step 1e6 --json | jq -r '.ranges[] | [.from, .count] | @tsv'

Of a segment of hits with their times in a column `at`:
  dv histogram hits.dv at --step month --where 'status = 404'
  dv histogram hits.dv at --step month --facet host --sum size
  dv histogram hits.dv at --edges 2023-12-01,2024-03-01,2024-06-01

Exit codes: 0 counted, 1 the column does not exist, has no numbers or is damaged, 2 wrong command line, 3 unreadable.";

/// Which ranges of which column, on a command line and in a request.
#[derive(Debug, Args, Deserialize)]
#[command(group = ArgGroup::new("ranges").args(["step", "edges"]).required(true))]
#[serde(deny_unknown_fields, expecting = "a table with `column`, and `step` or `edges`")]
pub(crate) struct HistogramSpec {
    /// The column, of numbers, dates or timestamps
    #[arg(value_name = "COLUMN")]
    pub(crate) column: String,

    /// How wide ranges are: a number, or second, minute, hour, day, week, month, quarter, year (UTC)
    #[arg(long, value_name = "STEP", allow_hyphen_values = true)]
    pub(crate) step: Option<Word>,

    /// Where ranges begin: two or more values, ascending, written as in a query without quotes: 0,1kB,10MiB or 2024-01-31
    #[arg(long, value_name = "VALUE,…", value_delimiter = ',', allow_hyphen_values = true)]
    #[serde(default)]
    pub(crate) edges: Vec<Word>,

    /// A column whose most frequent values are shown for each range
    #[arg(long, value_name = "NAME")]
    pub(crate) facet: Option<String>,

    /// How many of them; 0 for all
    #[arg(
        short = 'n',
        long,
        visible_alias = "limit",
        value_name = "COUNT",
        default_value_t = 5,
        requires = "facet"
    )]
    #[serde(default = "five")]
    pub(crate) top: usize,

    /// Columns whose numbers are added up, for each range
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) sum: Vec<String>,

    /// Columns of which the least number is shown
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) min: Vec<String>,

    /// Columns of which the greatest number is shown
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) max: Vec<String>,

    /// Columns of which the mean is shown
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) mean: Vec<String>,
}

fn five() -> usize {
    5
}

/// A number or a word: on a command line both are text.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Written")]
pub(crate) struct Word(pub(crate) String);

impl From<String> for Word {
    fn from(text: String) -> Word {
        Word(text)
    }
}

/// A word as requests have it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number or text")]
enum Written {
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    Text(String),
}

impl From<Written> for Word {
    fn from(written: Written) -> Word {
        Word(match written {
            Written::Integer(number) => number.to_string(),
            Written::Unsigned(number) => number.to_string(),
            Written::Double(number) => format!("{number:?}"),
            Written::Text(text) => text,
        })
    }
}

/// Count the values of a column by range
#[derive(Debug, Args)]
#[command(long_about = HISTOGRAM_LONG, after_long_help = HISTOGRAM_EXAMPLES)]
pub(crate) struct HistogramArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) spec: HistogramSpec,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) hits: WhereArgs,
}
