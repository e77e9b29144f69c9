//! Arguments of `lookup`.

use std::ffi::OsString;

use clap::Args;

use super::records::RecordArgs;

const EXAMPLES: &str = "\
Examples:
  dv lookup packages.dv 5de1086c79cbf431697cc6a993a7378fe46488599cc640f5834caa9f9f3c517d
  dv lookup segments/*.dv - --columns package,size < ids.txt
  dv lookup 2023.dv 2024.dv --doc -- -7 x.dv
  dv lookup data/indices/mBqYbpUbT9C8cS0/0/index _id 17 ab-3
  cut -f1 wanted.tsv | dv lookup segments/*.dv - --doc --quiet | cut -f3 | sort > known.txt

Exit codes: 0 all found, 1 an id was not found, or a segment has no index or is damaged, 2 wrong command line, 3 a file \
cannot be read or written.";

/// Print the documents with these ids
///
/// They come in the order of the ids.
///
/// The segments need an index of ids; `dv build --id-field` and `dv merge --id-field` add one. The last segment is
/// searched first: if several segments have an id, the document of the last one is printed. --doc-ids then prints the file
/// in a column `_file` before the number.
///
/// In an index of Lucene, the first argument after its folder is an indexed field, such as _id, and the others are its
/// ids. All live documents with an id are printed.
///
/// Arguments up to the last one that ends in .dv or is a file are segments; the rest are ids. `-` reads ids from
/// standard input, one a line. With ids after `--`, all other arguments are segments. Write ids as `dv get` prints
/// them: text as it is, bytes in hexadecimal, UUIDs with or without hyphens.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES,
    override_usage = "dv lookup [OPTIONS] <FILE.dv>... <ID>...|-\n       dv lookup [OPTIONS] <FILE.dv>... -- <ID>..."
)]
pub(crate) struct LookupArgs {
    /// Segments and stores, the newest last, then ids, or `-`
    #[arg(required = true, value_name = "FILE.dv|ID")]
    pub(crate) arguments: Vec<OsString>,

    /// Ids, even if they look like files or options
    #[arg(last = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,

    /// Print only the file, document number and id: lines with tabs, or rows of --format or of the extension of -o
    #[arg(long, conflicts_with_all = ["columns", "doc_ids"])]
    pub(crate) doc: bool,

    #[command(flatten)]
    pub(crate) records: RecordArgs,

    /// Do not report ids that were not found
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
