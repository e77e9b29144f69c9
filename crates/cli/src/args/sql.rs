//! Arguments of `sql`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::build::parse_size;
use crate::answer::rows::RecordFormat;

const EXAMPLES: &str = "\
Examples:
  dv sql 'select section, count(*), max(size) from packages group by section' packages.dv
  dv sql 'select host, sum(bytes) from logs group by host' 'logs/*.dv' --json | jq .host
  dv sql 'select name, bytes from hits join hosts on hits.host = hosts.id' hits.dv hosts=machines/
  dv sql 'select owner, count(*) from hits join owners using (host) group by 1' hits.dv owners.csv
  dv sql 'select * from hits where _doc in (7, 512)' hits.dv
  dv sql - hits.dv -o report.csv.gz < report.sql";

/// Answer a query in SQL over segments, stores and other files (if built with sql)
///
/// It may have joins, subqueries and window functions. `dv --version` lists the features that dv was built with: this needs
/// `sql`, and Parquet files `parquet`.
///
/// Each argument after the query is one table: a segment, the folder of a store, a folder of segments, a file that ends in
/// .csv, .tsv, .ndjson, .jsonl or .parquet, or a pattern in quotes such as 'logs/*.dv'. CSV has a header, and types of text
/// are those of its first 100,000 rows. A table is named after its file or folder, in lower case, with `_` for each
/// character that is not a letter or a digit. A pattern is named after the text before its first `*`, or after its
/// folder: hits.dv is hits, 'logs/*.dv' is logs, and 'logs/web-*.dv' is web. NAME=PATH sets another name.
///
/// Values are printed as `dv export` prints them in canonical form; null is a missing value. Structs and maps are
/// JSON objects. `explain` shows the plan of a query, `explain analyze` also what each step took. `show tables` and
/// `describe TABLE` list tables and columns. In text, a quote is doubled and a backslash stands for itself, as in
/// --where. A query that names `_part` or `_doc` gets these columns: the number of a row's segment, from 0 on, and
/// that of its document there. Put names with capitals or special characters in double quotes. Queries only read.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct SqlArgs {
    /// The query, or - for standard input
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,

    /// The tables: segments, stores, folders of segments, CSV, NDJSON or Parquet files, or patterns; NAME= before one sets its name
    #[arg(value_name = "[NAME=]FILE", required = true)]
    pub(crate) tables: Vec<OsString>,

    /// The format of the output; default: a table on a terminal, NDJSON elsewhere
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<RecordFormat>,

    /// Same as --format ndjson
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    /// The file to write, such as x.csv or x.csv.gz; its extension gives the format if --format does not
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Memory for sorts, joins and groups, such as 512MiB; beyond it they spill to files in $TMPDIR if they can
    ///
    /// Default: half of the machine's memory, or of its cgroup's limit if that is less; no limit on systems other than Linux.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<usize>,

    /// Threads to use; default: one per core
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}
