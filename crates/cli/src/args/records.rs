//! Arguments of `get`, `head`, `sample`, `cat` and `export`.

use std::path::PathBuf;

use clap::Args;

use super::filter::WhereArgs;
use crate::answer::records::RecordOptions;
use crate::answer::rows::RecordFormat;
use crate::import::source::InputFormat;

/// Options of commands that print documents.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The columns to print, in this order; default: all, in the order of the input
    ///
    /// Names separated by commas; the option can be repeated. Give a name that contains a comma in an
    /// option of its own.
    #[arg(long, value_name = "NAME,…")]
    pub(crate) columns: Vec<String>,

    /// The format of the output
    ///
    /// Default: by the extension of -o; without one, a table on a terminal, and NDJSON elsewhere and for `cat` and `export`.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<RecordFormat>,

    /// Same as --format ndjson
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    /// The file to write, such as x.csv or x.csv.gz; default, or with `-`: standard output
    ///
    /// Its extension gives the format if --format does not. The file appears when it is complete, and replaces one of its own
    /// format only. If the name is a symbolic link, its target is replaced. A pipe or a device receives the documents one by one.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print the document numbers in a first column "_doc"
    #[arg(long)]
    pub(crate) doc_ids: bool,
}

impl RecordArgs {
    /// The columns and the format to print.
    pub(crate) fn options(&self) -> RecordOptions {
        RecordOptions { columns: self.columns.clone(), format: self.format, doc_ids: self.doc_ids }
    }
}

const GET_EXAMPLES: &str = "\
Examples:
  dv get packages.dv 0 17 3524
  dv get packages.dv 17 --columns package,version --json";

/// Print documents by number
#[derive(Debug, Args)]
#[command(after_help = GET_EXAMPLES)]
pub(crate) struct GetArgs {
    /// The segment, or the folder of a store
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// Document numbers, from 0, in any order
    #[arg(required = true, value_name = "DOC")]
    pub(crate) docs: Vec<u32>,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}

const HEAD_EXAMPLES: &str = "\
Examples:
  dv head packages.dv
  dv head packages.dv -n 3 --columns package,tags
  dv head packages.ndjson.gz -n 3";

/// Print the first documents, or the first rows of a CSV, JSON, Parquet or Arrow file
///
/// Rows of other files are printed as `dv build` would store them, and a note has the types that it would infer, here from the
/// first 2,000 rows. Bad rows are left out and named. The rest of the file is not read, however large it is. `dv schema` has
/// options for files without a header, with another encoding and so on.
#[derive(Debug, Args)]
#[command(after_help = HEAD_EXAMPLES)]
pub(crate) struct HeadArgs {
    /// The segment, the folder of a store, or a file that `dv build` reads; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The format of a file that is no segment; default: by its name or content
    #[arg(long, value_name = "FORMAT")]
    pub(crate) input_format: Option<InputFormat>,

    /// Number of documents
    #[arg(short = 'n', long = "limit", value_name = "COUNT", default_value_t = 10)]
    pub(crate) count: u32,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}

const SAMPLE_EXAMPLES: &str = "\
Examples:
  dv sample packages.dv
  dv sample packages.dv -n 20 --seed 7 --doc-ids --columns package,size";

/// Print random documents, each at most once, in the order of the segment
///
/// Every document is equally likely. The same seed draws the same document numbers from segments with the same
/// number of documents.
#[derive(Debug, Args)]
#[command(after_help = SAMPLE_EXAMPLES)]
pub(crate) struct SampleArgs {
    /// The segment, or the folder of a store
    #[arg(value_name = "FILE.dv")]
    pub(crate) file: PathBuf,

    /// Number of documents
    #[arg(short = 'n', long = "limit", value_name = "COUNT", default_value_t = 10)]
    pub(crate) count: u32,

    /// The seed of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}

const CAT_EXAMPLES: &str = "\
Examples:
  dv cat 2023.dv 2024.dv > all.ndjson
  dv cat 2023.dv 2024.dv --format csv | dv build - --input-format csv -o all.dv";

/// Print all documents of several segments, one segment after the other
///
/// Columns are united by name, in the order in which they first appear; documents of a segment without a column
/// have no value in it. Values are printed in the text format of their own segment (see `dv export --help`).
/// The numbers of --doc-ids begin at 0 in each segment.
#[derive(Debug, Args)]
#[command(after_help = CAT_EXAMPLES)]
pub(crate) struct CatArgs {
    /// The segments
    #[arg(required = true, value_name = "FILE.dv")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  dv export packages.dv --format csv > packages.csv
  dv export packages.dv -o packages.tsv.gz --columns package,size
  dv export packages.dv --columns package,tags --docs 1000..2000
  dv export packages.dv --where 'section = \"games\"' --sort=-size --limit 100 --format csv
  jq .doc hits.ndjson | dv export packages.dv --docs - --format csv

Several files are searched as if all documents were in one:
  dv export logs/*.dv --where 'status = 404' --sort=-size -o errors.csv";

/// Write documents as NDJSON, CSV, TSV, Markdown, Parquet or Arrow
///
/// Text formats print values as the input wrote them, if all values of the column were written alike. Otherwise they
/// print the canonical form: floats in the fewest digits, with a point, timestamps as RFC 3339 in UTC, bytes in
/// hexadecimal. Several values of a document come in ascending order. In JSON, NaN and infinity are null. In CSV,
/// several values are a JSON array, a missing value is an empty cell, and an empty string is "".
///
/// `dv build` infers the same types again. Name those that the text does not say with --type: bytes, several values
/// in CSV, strings that all look like another type, u64 if all values fit i64, timestamps whose values need fewer
/// digits than their unit.
///
/// Parquet and Arrow (--format parquet or arrow, or the extension of -o; if dv was built with the feature `parquet`) get a
/// column for each, of its type: timestamps in UTC, several values as a list, ip and uuid as 16 bytes with a marker by which
/// `dv build` recognizes them. Parquet is compressed with zstd. Arrow has the file format in a file, and the stream
/// format elsewhere.
///
/// If there are several files, --doc-ids prints the file in a column `_file` before the number, in text formats.
#[derive(Debug, Args)]
#[command(after_long_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// Segments and stores, or patterns such as 'logs/*.dv'
    #[arg(value_name = "FILE.dv", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The documents: a range a..b (b excluded), or a file of document numbers; `-` is standard input
    ///
    /// Either end of a range can be left out. Numbers in a file are separated by white space or commas;
    /// documents are written in their order. The numbers of several segments go on from one to the next.
    #[arg(long, value_name = "A..B|FILE|-", conflicts_with_all = ["query", "sort", "limit"])]
    pub(crate) docs: Option<String>,

    /// Columns to sort by, with - before a name in descending order; default: the order of the segment
    #[arg(long, value_name = "[-]NAME,…", allow_hyphen_values = true)]
    pub(crate) sort: Vec<String>,

    /// Write at most this many documents
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}
