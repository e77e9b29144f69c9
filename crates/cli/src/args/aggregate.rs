//! Arguments of `facet`, `group` and `histogram`, and the keys of a request of `dv query` that share them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use serde::Deserialize;
use serde_json::Value;

use super::filter::WhereArgs;
use crate::api::search::facet::FacetOrder;

/// The order of the values of a facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FacetBy {
    /// By number of documents, most first
    Count,
    /// By value, least first
    Value,
}

impl FacetBy {
    pub(crate) fn order(self) -> FacetOrder {
        if self == FacetBy::Value { FacetOrder::Value } else { FacetOrder::Count }
    }
}

const FACET_EXAMPLES: &str = "\
Examples:
  dv facet packages.dv section
  dv facet packages.dv section tags -n 5 --where 'size > 1MB'
  dv facet packages.dv tags --prefix role:: --by value -n 100
  dv facet packages.dv section --json | jq '.facets[0].values[] | {value, count}'

Several files are searched as if all documents were in one:
  dv facet logs/*.dv host status -n 5";

/// Count the documents with each value of columns
///
/// The most frequent values are shown. A document counts once for each of its distinct values. The number of values in
/// the heading respects --min-count and --prefix. Several columns are counted in one pass over the documents. Bars
/// compare the counts.
#[derive(Debug, Args)]
#[command(
    after_long_help = FACET_EXAMPLES,
    override_usage = "dv facet [OPTIONS] <FILE.dv>... <COLUMN>..."
)]
pub(crate) struct FacetArgs {
    /// Segments and stores, or patterns such as 'logs/*.dv', then columns
    ///
    /// After the first, arguments that end in .dv or are segments are files; the rest are columns.
    #[arg(value_name = "FILE.dv|COLUMN", required = true)]
    pub(crate) arguments: Vec<OsString>,

    /// Number of values to show of each column; 0 for all
    #[arg(short = 'n', long = "limit", value_name = "COUNT", default_value_t = 10)]
    pub(crate) top: usize,

    /// The order of the values
    #[arg(long, value_name = "ORDER", default_value = "count")]
    pub(crate) by: FacetBy,

    /// Leave out values of fewer documents than this
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub(crate) min_count: u64,

    /// Only values that begin with this, in columns of strings
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prefix: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,
}

/// The order of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GroupBy {
    /// By number of documents, most first
    #[default]
    Count,
    /// By value, least first
    Value,
    /// By their best document: in the order of --sort, or of the segment
    Best,
    /// By the first metric, in the order sum, min, max, mean, distinct, others; greatest first
    Metric,
}

const GROUP_EXAMPLES: &str = "\
Examples:
  dv group packages.dv section --sum size --by metric
  dv group packages.dv section --sum size --json | jq '.groups[] | {value, size: .metrics.sum.size}'
  dv group packages.dv source --missing -n 3
  dv group packages.dv section,priority --having 'count >= 10 and mean(size) > 1MB'
  dv group packages.dv section --metric 'p50(size), p99(size), last(package by size)'
  dv group packages.dv source --docs 2 --sort=-size --json --columns package,size
  dv group packages.dv section --by best --sort=-size --docs 1 --where 'tags = \"role::program\"'

With a segment of web server hits that has their times in a column \"at\":
  dv group hits.dv at:weekday,at:hour-of-day --tz Europe/Berlin --by value -n 0";

/// A grouping, on the command line and in a request.
#[derive(Debug, Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupSpec {
    /// The columns to group by; COLUMN:STEP groups times by calendar steps as in `dv histogram --step`: at:day, at:weekday
    #[arg(value_name = "COLUMN[:STEP],…")]
    pub(crate) column: Names,

    /// Number of groups to show; 0 for all
    #[arg(short = 'n', long = "limit", value_name = "COUNT", default_value_t = 10)]
    #[serde(default = "ten")]
    pub(crate) top: usize,

    /// The order of the groups
    #[arg(long, value_name = "ORDER", default_value = "count")]
    #[serde(default)]
    pub(crate) by: GroupBy,

    /// Group documents without a value in a column, too; such a value is shown as (missing), in JSON as null
    #[arg(long, hide_short_help = true)]
    #[serde(default)]
    pub(crate) missing: bool,

    /// Columns to sum in each group
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) sum: Vec<String>,

    /// Columns to show the minimum of
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) min: Vec<String>,

    /// Columns to show the maximum of
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) max: Vec<String>,

    /// Columns to show the mean of
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) mean: Vec<String>,

    /// Columns whose distinct values to count in each group
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) distinct: Vec<String>,

    /// Other metrics: 'p99(size)' is the 99th percentile, 'last(status by time)' the status at the greatest time
    ///
    /// Exact percentiles from 0 to 100 of numbers (the nearest rank), and `first(NAME by KEY)` and `last(NAME by KEY)`: the value
    /// in the document with the least or the greatest KEY, a column of numbers or times. Documents without a value in both do
    /// not count, so two metrics may be of two documents: --docs 1 --sort=-KEY shows one.
    #[arg(long, value_name = "METRIC,…")]
    #[serde(default)]
    pub(crate) metric: Vec<String>,

    /// Condition on groups, such as 'count > 10 and sum(size) >= 1MB'
    ///
    /// A condition as in --where, on `count` (of documents) and on `sum(NAME)`, `min(NAME)`, `max(NAME)`, `mean(NAME)`,
    /// `distinct(NAME)` and those of --metric that are numbers. These metrics are added to the output. Not with --by best.
    #[arg(long, value_name = "QUERY")]
    pub(crate) having: Option<String>,

    /// Number of best documents to show of each group: their numbers, or with --json or --format their values
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    #[serde(default)]
    pub(crate) docs: usize,

    /// Columns that order the documents of a group, best first, with - before a name in descending order
    ///
    /// Default: the order of the segment. Used by --docs and --by best.
    #[arg(long, value_name = "[-]NAME,…", allow_hyphen_values = true)]
    #[serde(default)]
    pub(crate) sort: Vec<String>,

    /// With --json or --format: the columns of these documents; default: all
    #[arg(long, value_name = "NAME,…", requires = "docs", hide_short_help = true)]
    #[serde(default)]
    pub(crate) columns: Vec<String>,
}

fn ten() -> usize {
    10
}

/// Group documents by the values of one or more columns
///
/// Each column has one value a document. The first groups are shown with their number of documents, sums and other
/// metrics, and best documents. Documents without a value in one of the columns are in no group, unless --missing makes
/// groups of them.
///
/// --docs 1 with --by best is known as collapsing: one document for each value, the best first.
#[derive(Debug, Args)]
#[command(after_long_help = GROUP_EXAMPLES)]
pub(crate) struct GroupArgs {
    /// Segments and stores, or patterns such as 'logs/*.dv'
    #[arg(value_name = "FILE.dv", required = true)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) spec: GroupSpec,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,
}

const HISTOGRAM_EXAMPLES: &str = "\
Examples:
  dv histogram packages.dv size --step 10_000_000
  dv histogram packages.dv size --edges 0,1kB,100kB,10MB
  dv histogram packages.dv depends_count --step 5 --where 'section = \"libs\"'
  dv histogram packages.dv size --step 1e6 --json | jq -r '.ranges[] | [.from, .count] | @tsv'

With a segment of web server hits that has their times in a column \"at\":
  dv histogram hits.dv at --step month --where 'status = 404'
  dv histogram hits.dv at --step month --facet host --sum size
  dv histogram hits.dv at --step 6h --tz Europe/Berlin --where 'at = \"2024-03-31\"'
  dv histogram hits.dv at --edges 2023-12-01,2024-03-01,2024-06-01";

/// A column and its ranges, on the command line and in a request.
#[derive(Debug, Args, Deserialize)]
#[command(group = ArgGroup::new("ranges").args(["step", "edges"]).required(true))]
#[serde(deny_unknown_fields, expecting = "a table with `column`, and `step` or `edges`")]
pub(crate) struct HistogramSpec {
    /// A column of numbers, dates or timestamps
    #[arg(value_name = "COLUMN")]
    pub(crate) column: String,

    /// The width of the ranges: a number, a calendar step, or auto for about 40 ranges
    ///
    /// Calendar steps are second, minute, hour, day, week (from Monday), month, quarter and year, or several such as 15min, 6h
    /// and '2 weeks', in the zone of --tz. weekday (1 is Monday) and hour-of-day count the values of all weeks and days.
    #[arg(long, value_name = "STEP", allow_hyphen_values = true)]
    pub(crate) step: Option<TextOrNumber>,

    /// The starts of the ranges: two or more ascending values as in a query, without quotes: 0,1kB,10MiB or 2024-01-31
    #[arg(long, value_name = "VALUE,…", value_delimiter = ',', allow_hyphen_values = true)]
    #[serde(default)]
    pub(crate) edges: Vec<TextOrNumber>,

    /// A column to show the most frequent values of in each range
    #[arg(long, value_name = "NAME")]
    pub(crate) facet: Option<String>,

    /// Number of values of --facet; 0 for all
    #[arg(short = 'n', long = "limit", value_name = "COUNT", default_value_t = 5, requires = "facet")]
    #[serde(default = "five")]
    pub(crate) top: usize,

    /// Columns to sum in each range
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) sum: Vec<String>,

    /// Columns to show the minimum of
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) min: Vec<String>,

    /// Columns to show the maximum of
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) max: Vec<String>,

    /// Columns to show the mean of
    #[arg(long, value_name = "NAME,…")]
    #[serde(default)]
    pub(crate) mean: Vec<String>,
}

fn five() -> usize {
    5
}

/// Names of columns: on the command line separated by commas, in a request also a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "the name of a column, or a list of names")]
pub(crate) enum Names {
    One(String),
    Several(Vec<String>),
}

impl Names {
    pub(crate) fn all(&self) -> &[String] {
        match self {
            Names::One(name) => std::slice::from_ref(name),
            Names::Several(names) => names,
        }
    }
}

impl From<String> for Names {
    fn from(names: String) -> Names {
        Names::One(names)
    }
}

/// A number or text of a request; on the command line, both are text.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct TextOrNumber(pub(crate) String);

impl From<String> for TextOrNumber {
    fn from(text: String) -> TextOrNumber {
        TextOrNumber(text)
    }
}

impl TryFrom<Value> for TextOrNumber {
    type Error = &'static str;

    fn try_from(written: Value) -> Result<TextOrNumber, &'static str> {
        match written {
            Value::Number(number) => Ok(TextOrNumber(number.to_string())),
            Value::String(text) => Ok(TextOrNumber(text)),
            _ => Err("expected a number or text"),
        }
    }
}

/// Count the values of a column by range
///
/// Ranges have a fixed width, follow the calendar, or begin at given edges. Each line is a range, from its number up to
/// the next line's; empty ranges between others are shown. The range of the last of --edges has no end; values below the
/// first edge are counted apart. A document with several values counts once for each of them.
///
/// --facet, --sum, --min, --max and --mean describe other columns of the documents of each range; they need a column
/// with one value a document.
#[derive(Debug, Args)]
#[command(after_long_help = HISTOGRAM_EXAMPLES)]
pub(crate) struct HistogramArgs {
    /// Segments and stores, or patterns such as 'logs/*.dv'
    #[arg(value_name = "FILE.dv", required = true)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) spec: HistogramSpec,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,
}
