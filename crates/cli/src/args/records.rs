//! Commands that print documents.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::WhereArgs;

/// How documents are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordFormat {
    /// A table for people; long values are cut, visibly
    Table,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// One JSON object a line
    #[value(alias = "jsonl", alias = "json")]
    Ndjson,
    /// Apache Parquet, of `export` alone
    #[value(alias = "pq")]
    Parquet,
    /// Arrow IPC, of `export` alone: a file, or a stream to standard output and pipes
    #[value(alias = "feather")]
    Arrow,
}

impl RecordFormat {
    /// What a file of this name would be, if it has an ending; or the ending, which says none.
    pub(crate) fn of_file(path: &Path) -> Result<Option<RecordFormat>, Cow<'_, str>> {
        let Some(ending) = path.extension() else { return Ok(None) };
        match ending.to_str().and_then(|ending| RecordFormat::from_str(ending, true).ok()) {
            None | Some(RecordFormat::Table) => Err(ending.to_string_lossy()),
            format => Ok(format),
        }
    }

    /// What files may end with.
    pub(crate) fn endings() -> impl Iterator<Item = String> {
        let formats = RecordFormat::value_variants().iter().filter(|format| **format != RecordFormat::Table);
        let values = formats.filter_map(RecordFormat::to_possible_value);
        values
            .flat_map(|value| value.get_name_and_aliases().map(|name| format!(".{name}")).collect::<Vec<_>>())
    }
}

/// Which columns, and how documents are printed.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The columns to print, in this order; without it, all as the input had them
    ///
    /// Names separated by commas; the option can be repeated. A name that holds a comma is an option
    /// of its own.
    #[arg(long, value_name = "NAME,…")]
    pub(crate) columns: Vec<String>,

    /// How documents are printed
    ///
    /// Without it: a table on a terminal, NDJSON elsewhere (`cat`, and `export` without -o: always NDJSON).
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<RecordFormat>,

    /// Short for --format ndjson
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    /// Print the number of each document as a first column `_doc`
    #[arg(long)]
    pub(crate) doc_ids: bool,
}

const GET_EXAMPLES: &str = "\
Examples:
  dv get packages.dv 0 17 3524
  dv get packages.dv 17 --columns package,version --json

Exit codes: 0 all printed, 1 a document or column does not exist or is damaged, 3 unreadable.";

/// Print documents by their numbers
#[derive(Debug, Args)]
#[command(after_help = GET_EXAMPLES)]
pub(crate) struct GetArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// Numbers of documents, from 0, in any order
    #[arg(required = true, value_name = "DOC")]
    pub(crate) docs: Vec<u32>,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}

const HEAD_EXAMPLES: &str = "\
Examples:
  dv head packages.dv
  dv head packages.dv -n 3 --columns package,tags";

/// Print the first documents
#[derive(Debug, Args)]
#[command(after_help = HEAD_EXAMPLES)]
pub(crate) struct HeadArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// How many documents
    #[arg(short = 'n', long = "docs", alias = "limit", value_name = "COUNT", default_value_t = 10)]
    pub(crate) count: u32,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}

const SAMPLE_EXAMPLES: &str = "\
Examples:
  dv sample packages.dv
  dv sample packages.dv -n 1000 --seed 7 --format csv > some.csv
  dv sample packages.dv -n 20 --doc-ids --columns package,size";

/// Print documents drawn at random, each at most once, in the order of the segment
///
/// Every document is as likely as any other. The same seed draws the same documents of a segment with
/// as many.
#[derive(Debug, Args)]
#[command(after_help = SAMPLE_EXAMPLES)]
pub(crate) struct SampleArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// How many documents; all, if there are not more
    #[arg(short = 'n', long = "docs", alias = "limit", value_name = "COUNT", default_value_t = 10)]
    pub(crate) count: u32,

    /// Another number draws other documents
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}

const CAT_EXAMPLES: &str = "\
Examples:
  dv cat 2023.dv 2024.dv > all.ndjson
  dv cat 2023.dv 2024.dv --format csv | dv build - --input-format csv -o all.dv

Exit codes: 0 all printed, 1 a column does not exist or is damaged, 3 unreadable.";

/// Print all documents of several segments, one segment after the other
///
/// Columns are united by name, in the order in which they first appear; a segment that lacks one has no
/// value there. Each prints as its own segment spells it (see `dv export --help`). Numbers of --doc-ids
/// begin anew with each segment.
#[derive(Debug, Args)]
#[command(after_help = CAT_EXAMPLES)]
pub(crate) struct CatArgs {
    /// The segments
    #[arg(required = true, value_name = "FILE.dv")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}

const EXPORT_LONG: &str = "\
Write documents as NDJSON, CSV, TSV, Parquet or Arrow IPC.

As text, values come out as the input spelled them, where its column kept how (see `dv build --help`); else \
canonically: floats in the fewest digits, timestamps as RFC 3339 in UTC, bytes in hexadecimal. \
Values of a document with several come in ascending order. In JSON, numbers that are not finite are \
null. In CSV, several values are a JSON array, missing values empty cells, and empty strings \"\".

Parquet and Arrow (in a dv that was built with the feature `parquet`) have a column for each, of its type: timestamps \
in UTC, several values as a list, ip and uuid as 16 bytes that are marked as such, so that `dv build` makes the same of \
them. Parquet is compressed with zstd. Arrow is the file format in a file, the stream format to standard output and pipes.";

const EXPORT_EXAMPLES: &str = "\
Examples:
  dv export packages.dv --format csv > packages.csv
  dv export packages.dv -o packages.tsv --columns package,size
  dv export packages.dv --columns package,tags --docs 1000..2000
  dv export packages.dv --where 'section = \"games\"' --sort=-size --limit 100 --format csv
  jq .doc hits.ndjson | dv export packages.dv --docs - --format csv

With the feature `parquet`:
  dv export packages.dv -o packages.parquet

Exit codes: 0 all written, 1 a document or column does not exist or is damaged, 2 wrong command line, 3 unreadable.";

/// Write documents as NDJSON, CSV, TSV, Parquet or Arrow
#[derive(Debug, Args)]
#[command(long_about = EXPORT_LONG, after_long_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// The segment
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// Which documents: a range a..b (without b), or a file of numbers, `-` for standard input
    ///
    /// Both ends of a range can be left out. Numbers in a file are separated by white space or commas
    /// and taken in their order.
    #[arg(long, value_name = "A..B|FILE|-", conflicts_with_all = ["query", "sort", "limit"])]
    pub(crate) docs: Option<String>,

    /// The order of documents: columns, with - in front the greatest first; without it, that of the segment
    #[arg(long, value_name = "[-]NAME,…", allow_hyphen_values = true)]
    pub(crate) sort: Vec<String>,

    /// Only so many documents, the first ones
    #[arg(short = 'n', long, alias = "top", value_name = "COUNT")]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,

    /// The file to write, there once it is whole; without it or with `-`, standard output
    ///
    /// Its ending says the format where --format does not; of a name that has none, that is NDJSON. Of a symbolic link, the
    /// file that it leads to is written anew; a pipe or a device gets the documents as they come.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}
