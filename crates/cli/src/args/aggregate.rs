//! Arguments of `facet`, `group` and `histogram`, and the keys of a request of `dv query` that share them.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use serde::Deserialize;

use super::WhereArgs;
use crate::api::search::facet::FacetOrder;

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
    pub(crate) filter: WhereArgs,
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
    pub(crate) filter: WhereArgs,
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
    pub(crate) step: Option<TextOrNumber>,

    /// Where ranges begin: two or more values, ascending, written as in a query without quotes: 0,1kB,10MiB or 2024-01-31
    #[arg(long, value_name = "VALUE,…", value_delimiter = ',', allow_hyphen_values = true)]
    #[serde(default)]
    pub(crate) edges: Vec<TextOrNumber>,

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
#[serde(from = "TextOrNumberRepr")]
pub(crate) struct TextOrNumber(pub(crate) String);

impl From<String> for TextOrNumber {
    fn from(text: String) -> TextOrNumber {
        TextOrNumber(text)
    }
}

/// A word as requests have it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number or text")]
enum TextOrNumberRepr {
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    Text(String),
}

impl From<TextOrNumberRepr> for TextOrNumber {
    fn from(written: TextOrNumberRepr) -> TextOrNumber {
        TextOrNumber(match written {
            TextOrNumberRepr::Integer(number) => number.to_string(),
            TextOrNumberRepr::Unsigned(number) => number.to_string(),
            TextOrNumberRepr::Double(number) => format!("{number:?}"),
            TextOrNumberRepr::Text(text) => text,
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
    pub(crate) filter: WhereArgs,
}
