//! Arguments of `store`, `rm`, `commits`, `log`, `changes` and `recover`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::commit::{CommitArgs, WaitArgs};
use super::filter::zone;
use crate::api::search::calendar::TimeZone;

const STORE_EXAMPLES: &str = "\
Examples:
  dv store create packages --id-field id
  dv put packages monday.ndjson.gz && dv put packages tuesday.ndjson.gz
  dv rm packages --where 'section = \"games\"' && dv merge packages
  dv facet packages section";

/// Create a store, a folder of segments that changes
///
/// `dv put` adds documents, `dv set` changes some, `dv rm` deletes some, `dv merge` makes few segments of many. Each
/// of these makes a commit, which is whole or not there, even after a crash. All commands that read a segment read a
/// store as well, while another process writes it.
#[derive(Debug, Args)]
#[command(after_long_help = STORE_EXAMPLES)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    Create(CreateArgs),
    Alter(AlterArgs),
}

const ALTER_EXAMPLES: &str = "\
Examples:
  dv store alter prices --type price=f64
  dv store alter packages --type tags=string[],size=i64[]";

/// Make columns of a store wider
///
/// Whole numbers become doubles (f64), timestamps get a finer unit, and columns of one value a document become columns
/// of several (i64[], string[]). Every value stays the same; a number that f64 does not have is an error.
///
/// All segments that have the column are written again, in one commit. Older commits stay as they are, and replicas
/// get the files of the commit.
#[derive(Debug, Args)]
#[command(after_long_help = ALTER_EXAMPLES)]
pub(crate) struct AlterArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// The new types of columns
    #[arg(long = "type", value_name = "NAME=TYPE,…", required = true)]
    pub(crate) types: Vec<String>,

    #[command(flatten)]
    pub(crate) commit: CommitArgs,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,
}

const CREATE_EXAMPLES: &str = "\
Examples:
  dv store create packages --id-field id
  dv store create users --id-field key --version-field changed
  dv store create hits --type at=timestamp[ms],url=string:binary --sort-by -at
  dv schema hits.csv > hits.toml && dv store create hits --schema hits.toml";

/// Create a store
///
/// The folder is made if it is not there.
///
/// --schema and --type set the types of some columns; the first `dv put` with a new column fixes its type. Later, `dv
/// store alter` makes columns wider. Columns of strings get a dictionary, unless the type says :binary.
#[derive(Debug, Args)]
#[command(after_long_help = CREATE_EXAMPLES)]
pub(crate) struct CreateArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// The column of ids; a document that is put replaces the one with the same id
    ///
    /// Its type is string, unless --type or --schema says bytes, ip or uuid.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) id_field: Option<String>,

    /// The column of versions: of the documents with an id, the one with the highest version wins
    ///
    /// They may arrive in any order: a document is stale, and changes nothing, if its version is not higher than that of
    /// the document with its id. A document without a version gets the time, in microseconds since 1970. The type is u64,
    /// unless --type or --schema says i64.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, requires = "id_field")]
    pub(crate) version_field: Option<String>,

    /// Types of columns, as in dv build --help
    #[arg(long = "type", value_name = "NAME=TYPE,…")]
    pub(crate) types: Vec<String>,

    /// A file with the types of columns; its keys are in dv schema --help
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) schema: Option<PathBuf>,

    /// Columns to sort the documents of each segment by, as in dv build --help; their types must be given
    #[arg(long, value_name = "NAME,…", allow_hyphen_values = true)]
    pub(crate) sort_by: Vec<String>,

    #[command(flatten)]
    pub(crate) commit: CommitArgs,
}

const RM_EXAMPLES: &str = "\
Examples:
  dv rm packages 5de1086c79cbf431697cc6a993a7378fe46488599cc640f5834caa9f9f3c517d
  dv rm hits --where 'at < \"2013-01-01\"'
  cut -f1 gone.tsv | dv rm packages -

Exit codes: 0 done, 1 an id was not found, 2 wrong command line, 3 a file cannot be read or written, or another process \
writes the store.";

/// Delete documents of a store
#[derive(Debug, Args)]
#[command(after_help = RM_EXAMPLES, override_usage = "dv rm [OPTIONS] <DIR> <ID>...|-\n       dv rm [OPTIONS] <DIR> --where <QUERY>")]
pub(crate) struct RmArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Ids; `-` reads them from standard input, one a line
    #[arg(value_name = "ID", required_unless_present = "query")]
    pub(crate) ids: Vec<String>,

    /// Delete all documents that match this; see dv count --help
    #[arg(long = "where", value_name = "QUERY", conflicts_with = "ids")]
    pub(crate) query: Option<String>,

    /// The time zone of times in --where, such as Europe/Berlin or +02:00; default: UTC
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, value_parser = zone, requires = "query", conflicts_with = "ids")]
    pub(crate) tz: Option<TimeZone>,

    #[command(flatten)]
    pub(crate) commit: CommitArgs,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Print nothing but errors, and do not report ids that were not found
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

const COMMITS_EXAMPLES: &str = "\
Examples:
  dv commits packages
  dv count packages --commit 41
  dv commits packages --json | jq '.[].documents'";

/// List the commits of a store, and when each was made
#[derive(Debug, Args)]
#[command(after_help = COMMITS_EXAMPLES)]
pub(crate) struct CommitsArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const LOG_EXAMPLES: &str = "\
Examples:
  dv log packages
  dv log packages --json | jq 'length'";

/// List the batches in the log of a store
///
/// These were applied since its newest commit, by a program that keeps a log. Whoever opens the store to write it
/// applies them again.
///
/// "durable" is "yes" if the log says so. The last batches may be durable, too, which only what follows would tell.
#[derive(Debug, Args)]
#[command(after_long_help = LOG_EXAMPLES)]
pub(crate) struct LogArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const CHANGES_EXAMPLES: &str = "\
Examples:
  dv changes packages
  dv changes packages --from 107 | jq -r 'select(.change == \"delete\").id'";

/// List the upserts, updates and deletes of a store after a batch
///
/// They come in order, each as a line of JSON: for caches, queues and indexes beside the store.
///
/// They are read from the log of the store, so `dv put --keep-frames` says how far back they reach. The log lacks
/// changes that a query made. There, and before its oldest batch, dv fails and says how to go on from all
/// documents.
///
/// An update has the new values in "set" (null if they are removed), those of lists in "add" and "remove", and sums
/// and products in "compute".
#[derive(Debug, Args)]
#[command(after_long_help = CHANGES_EXAMPLES)]
pub(crate) struct ChangesArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// The last batch that is known; 0 lists all changes
    #[arg(long, value_name = "BATCH", default_value = "0")]
    pub(crate) from: u64,
}

const RECOVER_EXAMPLES: &str = "\
Examples:
  dv recover packages --to 41
  dv recover packages --to 41 --discard-log";

/// Go back to an older commit of a store
///
/// For a store whose newest commit is damaged or contains what it should not.
///
/// A new commit gets the contents of the older one, and the batches of the log (`dv log`), as far as they follow the
/// older one; it prints what is lost. If batches of the log cannot be applied to it, nothing is changed, and an error
/// says which.
///
/// The files of the lost commits stay until the next command that writes the store removes what --keep-commits does
/// not keep. `dv commits` lists the commits that are there.
#[derive(Debug, Args)]
#[command(after_long_help = RECOVER_EXAMPLES)]
pub(crate) struct RecoverArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// The number of the commit
    #[arg(long, value_name = "COMMIT")]
    pub(crate) to: u64,

    /// Lose the batches of the log, or those from this number on, as in --discard-log=107
    #[arg(long, value_name = "BATCH", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    pub(crate) discard_log: Option<u64>,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
