//! Arguments of `build` and `schema`.

use std::path::PathBuf;

use clap::Args;

use crate::api::writer::WriterOptions;
use crate::error::Result;
use crate::import::column::MissingTokens;
use crate::import::csv::dialect::Extras;
use crate::import::csv::header::Header;
use crate::import::schema::requested;
use crate::import::source::{Encoding, InputFormat, Source};
use crate::import::{Exclude, ImportOptions};

const BUILD_EXAMPLES: &str = "\
Examples:
  dv build packages.ndjson.gz -o packages.dv
  dv build 2023.csv 2024.csv.zst -o all.dv --type zip=string,size=u64
  psql -c 'copy hits to stdout csv header' | dv build - --input-format csv -o hits.dv
  dv build dirty.csv -o clean.dv --skip-bad --missing - --missing unknown
  dv build packages.ndjson.gz -o packages.dv --sort-by section,-size
  dv build packages.ndjson.gz -o packages.dv --id-field id";

/// Groups of options in help.
const CSV: &str = "CSV";
const TYPES: &str = "Types of columns";
pub(super) const INDEX: &str = "Order and ids";
pub(super) const RESOURCES: &str = "Memory and threads";

/// The maximum size of a batch of rows, in bytes.
const MAX_BATCH_BYTES: usize = 8 << 20;

/// Options of inputs, shared by `build` and `schema`.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Files to read; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,

    /// The format of all inputs; default: each by its name or content
    #[arg(long, value_name = "FORMAT", hide_short_help = true)]
    pub(crate) input_format: Option<InputFormat>,

    /// The encoding of text without a byte order mark
    #[arg(long, value_name = "NAME", value_enum, default_value_t, hide_short_help = true)]
    pub(crate) encoding: Encoding,

    /// The character between CSV cells, such as ';' or '\t'; default: by the first lines
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter, help_heading = CSV)]
    pub(crate) delimiter: Option<u8>,

    /// The columns of CSV files without a header: their names, or `no` for c1, c2, …
    ///
    /// Names are as in a header: double quotes may enclose a comma, or a single column that is called "no".
    #[arg(long, value_name = "no|NAME,…", value_parser = Header::parse, help_heading = CSV)]
    pub(crate) header: Option<Header>,

    /// Read quotes as text, not as CSV quoting
    #[arg(long, help_heading = CSV, hide_short_help = true)]
    pub(crate) no_quotes: bool,

    /// Lines to leave out before each header, such as a title
    #[arg(long, value_name = "COUNT", default_value_t = 0, help_heading = CSV, hide_short_help = true)]
    pub(crate) skip_lines: u64,

    /// Leave out lines that begin with this character, such as '#'
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter, help_heading = CSV, hide_short_help = true)]
    pub(crate) comment: Option<u8>,

    /// The character before a quote within quotes, such as '\'; or double it
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter, conflicts_with = "no_quotes", help_heading = CSV, hide_short_help = true)]
    pub(crate) escape: Option<u8>,

    /// Leave out blanks around CSV cells without quotes
    #[arg(long, help_heading = CSV, hide_short_help = true)]
    pub(crate) trim: bool,

    /// Types of columns, instead of inferred ones
    ///
    /// NAME=TYPE, separated by commas: i64 u64 f64 bool date timestamp timestamp[ms|us|ns] ip uuid string bytes, with `[]` for several
    /// values a document. After string, bytes, ip or uuid, `:sorted` gives a dictionary, `:binary` none, compressed if that pays,
    /// `:raw` none and uncompressed, `:fsst` or `:onpair` values compressed one by one. After timestamp[ms|us|ns], `:epoch` reads
    /// numbers since 1970. A given type accepts more than an inferred one: 007 and +5, timestamps with any or no offset, numbers
    /// as strings.
    #[arg(long = "type", value_name = "NAME=TYPE,…", help_heading = TYPES)]
    pub(crate) types: Vec<String>,

    /// A file with the types of columns; its keys are in dv schema --help
    #[arg(long, value_name = "FILE.toml", help_heading = TYPES)]
    pub(crate) schema: Option<PathBuf>,

    /// A cell that is a missing value, beside NA and null; can be repeated
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true, help_heading = CSV)]
    pub(crate) missing: Vec<String>,

    /// Read NA and null as text; only empty cells and --missing are missing
    #[arg(long, help_heading = CSV, hide_short_help = true)]
    pub(crate) no_default_missing: bool,

    /// Rows of each input to infer types from, or `all`
    #[arg(long, value_name = "ROWS", default_value = "10000", value_parser = parse_sample, help_heading = TYPES, hide_short_help = true)]
    pub(crate) sample: u64,

    /// Columns to leave out, separated by commas
    ///
    /// The name of an object or struct leaves out all of its columns. Give a name that contains a comma in an option of its own.
    #[arg(long, value_name = "NAME,…")]
    pub(crate) exclude: Vec<String>,

    /// Skip bad rows instead of stopping; the first few are named at the end
    #[arg(long)]
    pub(crate) skip_bad: bool,
}

impl InputArgs {
    /// The inputs.
    pub(crate) fn sources(&self) -> Vec<Source> {
        self.inputs.iter().map(|path| Source::new(path)).collect()
    }

    /// The options of the inputs; `memory` is the budget for values.
    pub(crate) fn options(&self, memory: usize) -> Result<ImportOptions> {
        Ok(ImportOptions {
            format: self.input_format,
            encoding: self.encoding,
            delimiter: self.delimiter,
            quotes: !self.no_quotes,
            header: self.header.clone().unwrap_or_default(),
            extras: Extras {
                skip_lines: self.skip_lines,
                comment: self.comment,
                escape: self.escape,
                trim: self.trim,
            },
            missing: MissingTokens::new(self.no_default_missing, &self.missing),
            schema: requested(self.schema.as_deref(), &self.types)?,
            exclude: Exclude::new(&self.exclude),
            sample: self.sample,
            skip_bad: self.skip_bad,
            batch_bytes: MAX_BATCH_BYTES.min(memory / 16),
            ..ImportOptions::usual()
        })
    }
}

/// Options of a writer and of its report, shared by `build` and `merge`.
#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// Threads that read text and encode columns, 0 for one per core; any number writes the same file
    #[arg(long, value_name = "COUNT", default_value_t = 0, help_heading = RESOURCES, hide_short_help = true)]
    pub(crate) threads: usize,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Print nothing but errors, and notes on cells that became one number
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

impl WriteArgs {
    /// The options of a writer with a memory budget in bytes.
    pub(crate) fn options(&self, memory: usize) -> WriterOptions {
        WriterOptions::new().budget(memory).threads(self.threads)
    }

    /// The number of threads, at least one.
    pub(crate) fn worker_threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

/// Build a segment from CSV, TSV, JSON, Parquet or Arrow files
///
/// Several inputs make one segment; their columns are united by name. An input may be compressed with gzip or zstd,
/// or be the only file of a zip archive. Its name, first bytes or first line gives its format. JSON has one object a
/// line (NDJSON), an array of objects, or objects one after the other; a nested object makes columns with dotted
/// names. `dv schema --help` says how types are inferred, and lists the keys of schema files and the patterns of
/// dates.
///
/// A missing value is in CSV an empty cell, NA or null, unless it is quoted in a column of strings; in JSON null, []
/// and an absent key. An array of scalars is several values of a document, in CSV in a column such as --type
/// tags=string[]. They are stored in ascending order, and a string once.
///
/// Parquet and Arrow files (if dv was built with the feature `parquet`) declare their types: integers become i64 or
/// u64; floats and decimals f64; decimals without a fraction, times of day and durations i64. Lists make columns with
/// several values, structs columns with dotted names. A value that would change is an error. Leave out columns of
/// other types, such as maps, with --exclude. Of these formats, only an Arrow stream can be read from a pipe.
///
/// If all values of a column are written alike (the format of a timestamp, the digits of a number, the token for a
/// missing value), the segment stores that format and `dv export` prints them the same way.
#[derive(Debug, Args)]
#[command(after_long_help = BUILD_EXAMPLES)]
pub(crate) struct BuildArgs {
    /// The segment to write, which appears when it is complete and replaces a segment only; `-` is standard output
    #[arg(short, long, value_name = "FILE.dv")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Columns to sort the documents by (index sort), the most significant first
    ///
    /// `-` before a name sorts it in descending order. Documents without a value come last, or first with `:missing-first` after the
    /// name; equal documents stay in the order of the input. A range filter on the first column is then two binary searches, and
    /// columns that correlate with it take fewer bytes.
    #[arg(long, value_name = "NAME,…", allow_hyphen_values = true, help_heading = INDEX)]
    pub(crate) sort_by: Vec<String>,

    /// The column of ids, for `dv lookup`
    ///
    /// Its type is string, bytes, ip or uuid, with at most one value a document; no two documents have the same. It is
    /// stored without a dictionary (:binary), and the segment gets an index of its values.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, help_heading = INDEX)]
    pub(crate) id_field: Option<String>,

    /// Memory for values, such as 64MiB or 8GiB; beyond it they spill to a temporary file beside the output
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size, help_heading = RESOURCES, hide_short_help = true)]
    pub(crate) memory: usize,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

const SCHEMA_EXAMPLES: &str = "\
Examples:
  dv schema hits.csv > hits.toml
  $EDITOR hits.toml
  dv build hits.csv -o hits.dv --schema hits.toml

  dv schema hits.csv --type zip=string --sample all
  dv schema hits.csv --json | jq -r '.columns[].name'

Schema file:
  [columns.size]
  type = \"u64\"              # i64 u64 f64 bool date timestamp timestamp[ms|us|ns]
                            # ip uuid string bytes; with [] after it: several values
  [columns.host]
  type = \"string:sorted\"    # or :binary, :raw, :fsst, :onpair (see --type);
                            # default: the smaller of sorted and binary
  [columns.\"Flight Date\"]
  type = \"date\"
  format = \"%d.%m.%Y\"       # a strftime pattern, or \"epoch\": units since 1970
  [columns.tags]
  type = \"string[]\"
  separator = \"|\"           # within a CSV cell

Patterns of dates and timestamps (all of them: https://docs.rs/jiff/latest/jiff/fmt/strtime):
  %Y %y %m %d %j            year, two-digit year, month, day, day of the year
  %b %B %a %A               Jan, January, Thu, Thursday
  %H %M %S %I %p            hour, minute, second; hour of 1 to 12, AM or PM
  %.3f %.f                  a point and three decimals of the second, or as many as needed
  %z %:z                    +0200, +02:00; without an offset, a time is UTC
  %F %T %D %R               %Y-%m-%d, %H:%M:%S, %m/%d/%y, %H:%M
  %s %% %-d %_d             seconds since 1970; a percent sign; without, or with blank, padding";

/// Print the types that dv infers from inputs, as a schema file to edit
///
/// Pass the file to `dv build --schema`; -o writes it if the name ends in .toml. If you do not edit it, the segment is the
/// same as without --schema. But a type in a schema file accepts more values than the same type inferred from a sample
/// (see --type), so some rows that are bad without --schema are good with it. A column without a value in the sample is
/// written as a comment if its type is unknown.
///
/// Types: dv picks the first of bool, i64, u64, f64, date (2013-01-31), timestamp (RFC 3339, in ms, us or ns as its
/// digits need; UTC without an offset), ip, uuid and string that holds every value of the sample. 007 and +5 make a
/// column of strings; so do numbers that a double rounds, such as 9007199254740993.0 beside 1.5, and timestamps with
/// different UTC offsets. Other decimals are numbers, also with an exponent (1e5). If cells become one number although
/// they differ, such as 2.5 and 2.50 or 1e3 and 1000, a note of `dv build` names them, also with --quiet. If a later
/// value does not fit, `dv build` reads the files again and infers the types from all rows, with a note. In a pipe or
/// in `dv put`, it is an error that names the option to use. --skip-bad skips such rows. A column without a value in
/// the sample is a string in CSV; in JSON, its first value decides, and a field without any value is left out unless
/// --type names it.
#[derive(Debug, Args)]
#[command(after_long_help = SCHEMA_EXAMPLES)]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        br"\t" => Ok(b'\t'),
        [byte @ (b' '..=b'~' | b'\t')] if !matches!(byte, b'"') => Ok(*byte),
        _ => Err("expected one ASCII character other than a quote, or \\t".to_owned()),
    }
}

fn parse_sample(text: &str) -> Result<u64, String> {
    if text == "all" {
        return Ok(u64::MAX);
    }
    text.parse().map_err(|_| "expected a number of rows, or `all`".to_owned())
}

/// Parses `500MiB`, `8G` or a number of bytes.
pub(super) fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text.get(digits.len()..).unwrap_or_default().to_ascii_lowercase();
    let shift = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err("expected a size such as 500MiB or 8GiB".to_owned()),
    };
    let number: usize = digits.parse().map_err(|_| "expected a size such as 500MiB or 8GiB".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "the size is more than this machine can address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("512"), Ok(512));
        assert_eq!(parse_size("500MiB"), Ok(500 << 20));
        assert_eq!(parse_size("8g"), Ok(8 << 30));
        assert_eq!(parse_size("1KB"), Ok(1 << 10));
        for wrong in ["", "GiB", "1.5GiB", "-1", "1XB", "99999999999999999999"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn delimiters_are_one_character() {
        assert_eq!((parse_delimiter(";"), parse_delimiter("\\t")), (Ok(b';'), Ok(b'\t')));
        for wrong in ["", "\"", ";;", "é", "\n"] {
            assert!(parse_delimiter(wrong).is_err(), "{wrong}");
        }
    }
}
