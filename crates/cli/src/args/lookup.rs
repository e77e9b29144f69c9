//! `dv lookup`.

use std::ffi::OsString;

use clap::Args;

use super::records::RecordArgs;

const LONG: &str = "\
Print the documents that have these ids, in the order in which the ids are given.

The segments need an index of ids, which `dv build --id-field` and `dv merge --id-field` add. They are asked from the \
last to the first: of documents with one id, that of the later file counts, as the newer one.

Arguments up to the last one that ends in .dv, or is a file, are segments; those behind it are ids, and `-` stands for \
ids on standard input, one a line. With --id, or ids behind `--`, all other arguments are segments. Ids are written as \
`dv get` prints them: text as it is, bytes in hexadecimal, UUIDs with or without hyphens.";

const EXAMPLES: &str = "\
Examples:
  dv lookup packages.dv 5de1086c79cbf431697cc6a993a7378fe46488599cc640f5834caa9f9f3c517d
  dv lookup segments/*.dv - --columns package,size < ids.txt
  dv lookup 2023.dv 2024.dv --id -7 --id x.dv --doc
  cut -f1 wanted.tsv | dv lookup segments/*.dv - --doc --quiet | cut -f3 | sort > known.txt

Exit codes: 0 all found, 1 an id is not found, a segment has no index or is damaged,
2 wrong command line, 3 unreadable.";

/// Print the documents that have these ids
#[derive(Debug, Args)]
#[command(
    long_about = LONG,
    after_long_help = EXAMPLES,
    override_usage = "dv lookup [OPTIONS] <FILE.dv>... <ID>...|-\n       dv lookup [OPTIONS] <FILE.dv>... -- <ID>..."
)]
pub(crate) struct LookupArgs {
    /// Segments, the newest one last; behind them ids, or `-`
    #[arg(required = true, value_name = "FILE.dv|ID")]
    pub(crate) arguments: Vec<OsString>,

    /// Ids, whatever they look like
    #[arg(last = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,

    /// An id, whatever it looks like; the option can be repeated
    #[arg(long = "id", value_name = "ID", allow_hyphen_values = true)]
    pub(crate) more_ids: Vec<String>,

    /// Print only where documents are: file, number and id, with tabs between them, or with --json as an object
    #[arg(long, conflicts_with_all = ["columns", "format", "doc_ids"])]
    pub(crate) doc: bool,

    #[command(flatten)]
    pub(crate) records: RecordArgs,

    /// Say nothing of ids that are not found
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
