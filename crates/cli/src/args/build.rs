//! `build` and `schema`: what is read, and what becomes of it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ids::IdArgs;
use crate::api::writer::WriterOptions;
use crate::input::source::InputFormat;

const BUILD_LONG: &str = "\
Make a segment of CSV, TSV, NDJSON, Parquet or Arrow IPC files.

Each input is plain, gzip or zstd, told apart by its first bytes; its format is told by its name, or \
by its first line, or by --input-format. `-` is standard input. Several inputs make one segment, \
their columns united by name.

Types are inferred from a first pass over a sample: bool, i64, u64, f64, date (2013-01-31), timestamp \
(RFC 3339, in milliseconds, microseconds or nanoseconds, whichever the digits need), else string. A \
type is taken only if every value of the sample comes out as it went in, so 007 and +5 make a column of \
strings. A later value that contradicts its column's type is an error that says which option mends \
it. A column that is empty in the sample is a string in CSV; in NDJSON, its first value tells.

Missing are empty CSV cells and the tokens NA and null, unless they are quoted in a column of strings, \
and in JSON null, [] and absent keys. A JSON array of scalars makes a column with several values a \
document, which are kept in ascending order, strings without duplicates. A nested object makes \
columns with dotted names. A CSV cell of a column with several values (--type tags=string[]) holds a \
JSON array.

Parquet and Arrow (in a dv that was built with the feature `parquet`) know their types: integers become i64 or \
u64, floats and decimals f64 (decimals without a fraction i64), text string, binary bytes, dates and timestamps \
what they are, times of day and durations i64, counts of their unit. Lists make columns with several values, \
structs columns with dotted names; null and an empty list are missing. A value that would not come out as it went \
in is an error; columns that no segment has, such as maps, are left out with --exclude. Parquet, and Arrow as a \
file, are read from their end, so not from a pipe; Arrow as a stream is.

How values were spelled (a timestamp's format, digits of a number, the token of a missing value) is \
kept with the column where all values agree, so that `dv export` gives it back.";

const BUILD_EXAMPLES: &str = "\
Examples:
  dv build packages.ndjson.gz -o packages.dv
  dv build 2023.csv 2024.csv.zst -o all.dv --type zip=string,size=u64
  psql -c 'copy hits to stdout csv header' | dv build - --input-format csv -o hits.dv
  dv build 2023.parquet 2024.parquet -o all.dv --exclude raw,person.address
  dv build dirty.csv -o clean.dv --skip-bad --missing - --missing unknown
  dv build packages.ndjson.gz -o packages.dv --sort-by section,-size
  dv build hits.csv -o hits.dv --sort-by at:missing-first
  dv build packages.ndjson.gz -o packages.dv --id-field id
  dv build users.csv -o users.dv --type key=uuid --id-field key --term-index fst --filter-bits 8

Schema file (--schema):
  [columns.size]
  type = \"u64\"              # i64 u64 f64 bool date timestamp timestamp[ms|us|ns]
                            # ip uuid string bytes; [] behind it: several values
  [columns.host]
  type = \"string\"
  kind = \"sorted\"           # or \"binary\": else whichever is smaller. Instead of
                            # \"binary\": \"raw\", \"fsst\" or \"block\", see --type
  [columns.\"Flight Date\"]
  type = \"date\"
  format = \"%d.%m.%Y\"       # a pattern of strftime, or \"epoch\": units since 1970
  [columns.tags]
  type = \"string\"
  multi = true
  separator = \"|\"           # within a CSV cell

Patterns of dates and timestamps (all of them: https://docs.rs/jiff/latest/jiff/fmt/strtime):
  %Y %y %m %d %j            year, of two digits, month, day, day of the year
  %b %B %a %A               Jan, January, Thu, Thursday
  %H %M %S %I %p            hour, minute, second; hour to 12, AM or PM
  %.3f %.f                  a point and three digits of the second, or as many as needed
  %z %:z                    +0200, +02:00; without an offset, a time is UTC
  %F %T %D %R               %Y-%m-%d, %H:%M:%S, %m/%d/%y, %H:%M
  %s %% %-d %_d             seconds since 1970, a percent sign; no zeros, or blanks, in front

Exit codes: 0 built, 1 bad rows or values, 2 wrong command line, 3 unreadable or unwritable files.
Whatever goes wrong, a file that stood under the output's name before still does.";

/// What is read, and how: the same for `build` and `schema`.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Files to read, `-` for standard input
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,

    /// The format of all inputs, whatever their names say
    #[arg(long, value_name = "FORMAT")]
    pub(crate) input_format: Option<InputFormat>,

    /// The character between CSV cells, such as ';' or '\t'
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,

    /// The first row is data: columns are named c1, c2, …
    #[arg(long)]
    pub(crate) no_header: bool,

    /// Quotes are text, as in TSV files that have none
    #[arg(long)]
    pub(crate) no_quotes: bool,

    /// Types of columns, instead of inferring them
    ///
    /// NAME=TYPE, several separated by commas. Types: i64 u64 f64 bool date timestamp timestamp[ms]
    /// timestamp[us] timestamp[ns] ip uuid string bytes. `[]` behind a type lets a document have
    /// several values; `:sorted` or `:binary` behind string, bytes, ip or uuid chooses between a
    /// dictionary and values one after the other, compressed one by one where that pays. `:raw`,
    /// `:fsst` and `:block` are `:binary` and choose how: not at all, one by one, or in blocks (the
    /// smallest, but slow to read in any other order). A type that is asked for takes more than an
    /// inferred one: numbers such as 007 or +5, timestamps without an offset (as UTC), numbers as
    /// strings.
    #[arg(long = "type", value_name = "NAME=TYPE,…")]
    pub(crate) types: Vec<String>,

    /// A file that describes columns (its keys: dv build --help)
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) schema: Option<PathBuf>,

    /// Another token for a missing value in CSV
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    pub(crate) missing: Vec<String>,

    /// NA and null are text: missing are empty cells and the tokens of --missing
    #[arg(long)]
    pub(crate) no_default_missing: bool,

    /// Rows of each input to look at before types are decided, or `all`
    #[arg(long, value_name = "ROWS", default_value = "10000", value_parser = parse_sample)]
    pub(crate) sample: u64,

    /// Columns to leave out
    ///
    /// Names separated by commas; the option can be repeated. A name stands for all columns of an object or struct
    /// of that name, too. A name that holds a comma is an option of its own.
    #[arg(long, value_name = "NAME,…")]
    pub(crate) exclude: Vec<String>,

    /// Leave bad rows out instead of stopping; `build` tells how many, and the first few, at the end
    #[arg(long)]
    pub(crate) skip_bad: bool,
}

/// What becomes of jump tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JumpTables {
    /// In the file: no reader has to make them
    Baked,
    /// Left out: a little smaller, and a reader makes its own on first use
    None,
}

/// Options of a writer and of its report, shared by `build` and `merge`.
#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// Threads that encode columns side by side, 0 for one for each core; the file is the same
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub(crate) threads: usize,

    /// Tables with which a reader jumps to any document at once
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = JumpTables::Baked)]
    pub(crate) jump_tables: JumpTables,

    /// Leave the zone maps out, with which range filters skip
    #[arg(long)]
    pub(crate) no_zone_maps: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

impl WriteArgs {
    /// The options of a writer that may take so many bytes of memory.
    pub(crate) fn options(&self, memory: usize) -> WriterOptions {
        WriterOptions {
            jump_tables: self.jump_tables == JumpTables::Baked,
            zones: !self.no_zone_maps,
            budget: memory,
            threads: self.threads,
            ..WriterOptions::default()
        }
    }
}

/// Make a segment of CSV, TSV, NDJSON, Parquet or Arrow files
#[derive(Debug, Args)]
#[command(long_about = BUILD_LONG, after_long_help = BUILD_EXAMPLES)]
pub(crate) struct BuildArgs {
    /// The segment to write; an existing file is replaced once the new one is complete
    #[arg(short, long, value_name = "FILE.dv")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Columns to sort the documents by, the first one counting most
    ///
    /// NAME, several separated by commas; the option can be repeated. The smallest value comes first, and with `-`
    /// in front of the name the greatest; documents without a value come last, and with `:missing-first` behind it
    /// first. Documents that are equal stay in the order of the input. A range of the first column is then found
    /// at once, and columns that go with it take fewer bytes.
    #[arg(long, value_name = "NAME,…", allow_hyphen_values = true)]
    pub(crate) sort_by: Vec<String>,

    #[command(flatten)]
    pub(crate) ids: IdArgs,

    /// Memory for values, such as 64MiB or 8GiB; of more, a part goes to a temporary file beside the output
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    pub(crate) memory: usize,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

const SCHEMA_LONG: &str = "\
Print the types that a sample of the inputs leads to, as a schema file to edit.

`dv build --schema` takes what this prints, and makes of the same rows the same segment as without it. A \
type that a schema file names is asked for, so rows beyond the sample may be read more generously (see \
--type). Columns of which the sample has no value are comments where nothing is known of them.";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  dv schema hits.csv > hits.toml
  $EDITOR hits.toml
  dv build hits.csv -o hits.dv --schema hits.toml

  dv schema hits.csv --type zip=string --sample all
  dv schema hits.csv --json | jq -r '.columns[].name'

The keys of a schema file: dv build --help. Exit codes: 0 printed, 1 a bad row, values of a column that no \
type holds together, 2 wrong command line, 3 unreadable.";

/// Print the types that inputs seem to have, as a schema file to edit
#[derive(Debug, Args)]
#[command(long_about = SCHEMA_LONG, after_long_help = SCHEMA_EXAMPLES)]
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
        _ => Err("one ASCII character other than a quote, or \\t".to_owned()),
    }
}

fn parse_sample(text: &str) -> Result<u64, String> {
    if text == "all" {
        return Ok(u64::MAX);
    }
    text.parse().map_err(|_| "a number of rows, or `all`".to_owned())
}

/// Reads `500MiB`, `8G` or a number of bytes.
pub(super) fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text.get(digits.len()..).unwrap_or_default().to_ascii_lowercase();
    let shift = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err("a size such as 500MiB or 8GiB".to_owned()),
    };
    let number: usize = digits.parse().map_err(|_| "a size such as 500MiB or 8GiB".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "more than this machine can address".to_owned())
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
