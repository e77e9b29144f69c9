//! Arguments of `set`.

use std::path::PathBuf;

use clap::Args;

use super::commit::{CommitArgs, WaitArgs};
use super::filter::zone;
use crate::api::search::calendar::TimeZone;

const EXAMPLES: &str = "\
Examples:
  dv set packages libc6 priority=required tags+=new
  dv set goods 4711 stock-=1 price*=1.1
  dv set packages --where 'section = \"games\"' section=play --unset source
  dv set users ann name=Ann changed=8
  cut -f1 seen.tsv | dv set packages - seen=true

Exit codes: 0 done, 1 an id was not found, or its document stays as it is, 2 wrong command line, 3 a file cannot be read or \
written, or another process writes the store.";

/// Change some columns of documents of a store
///
/// Their other columns stay as they are.
///
///   FIELD=VALUE   sets a column; several of these set several values of a column that can have them
///   FIELD+=VALUE  adds a value to those of the document, unless it has it; adds to a number
///   FIELD-=VALUE  removes a value from those of the document; subtracts from a number
///   FIELD*=VALUE  multiplies a number; integers are rounded, halves away from zero
///
/// Values are read by the type of the column, in the format in which `dv put` read it; FIELD= is the
/// empty string. The column of ids, and those by which a store is sorted, cannot be changed: put the
/// whole document instead.
///
/// In a store with versions, a document keeps its version, unless it is set as well, as in changed=8.
/// If the document has that version or a higher one, it stays as it is: with an id, that is an error;
/// with --where, it is not counted.
///
/// A number that is missing counts from 0 when it is added to, and stays missing when it is multiplied.
/// A document stays as it is if a number would be out of range: with an id, that is an error; with
/// --where, nothing is changed then.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = EXAMPLES,
    override_usage = "dv set [OPTIONS] <DIR> <ID>|- <FIELD=VALUE>...\n       dv set [OPTIONS] <DIR> --where <QUERY> <FIELD=VALUE>..."
)]
pub(crate) struct SetArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// The id of the document, or `-` to read ids from standard input, one a line; then the changes
    #[arg(value_name = "ID|FIELD=VALUE")]
    pub(crate) arguments: Vec<String>,

    /// Change all documents that match this, in place of one id; see dv count --help
    #[arg(long = "where", value_name = "QUERY")]
    pub(crate) query: Option<String>,

    /// Remove all values of a column; the option can be repeated
    #[arg(long, value_name = "FIELD", allow_hyphen_values = true)]
    pub(crate) unset: Vec<String>,

    /// The time zone of times without an offset in values and --where, such as Europe/Berlin or +02:00; default: UTC
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, value_parser = zone)]
    pub(crate) tz: Option<TimeZone>,

    #[command(flatten)]
    pub(crate) commit: CommitArgs,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Print nothing but errors, and do not report ids that were not found or versions that are stale
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
}
