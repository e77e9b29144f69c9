//! Arguments of `report`.

use std::path::PathBuf;

use clap::Args;

use super::filter::WhereArgs;

const EXAMPLES: &str = "\
Examples:
  dv report packages.dv -o packages.html
  dv report packages.dv -o games.html --where 'section = \"games\"' --columns package,size,tags
  dv report logs/*.dv -o logs.html --tz Europe/Berlin";

/// Write a page that describes columns, their sizes and their values
///
/// The page is one file of HTML. It needs no network and no script, follows the colours of the system, and fits a phone and
/// paper.
///
/// It has the types, encodings and sizes of columns, their missing values and ranges, histograms and time lines, frequent
/// values, what zones of documents a filter skips, a sample of documents, and warnings: columns with one value or with nearly
/// only different ones, and values that differ in capitals or blanks alone.
///
/// --where and --tz are for everything but sizes and zones. The page has at most 2 MB and 300 columns, and names those that it
/// leaves out.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Segments and stores, or patterns such as 'logs/*.dv'
    #[arg(value_name = "FILE.dv", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The page to write, which appears when it is complete; default, or with `-`: standard output
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) output: Option<PathBuf>,

    /// The columns to describe, in this order; default: all, in the order of the input
    #[arg(long, value_name = "NAME,…")]
    pub(crate) columns: Vec<String>,

    #[command(flatten)]
    pub(crate) filter: WhereArgs,
}
