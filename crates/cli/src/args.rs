//! The command line: subcommands, options and their help.

pub(crate) mod aggregate;
pub(crate) mod build;
mod commit;
pub(crate) mod filter;
mod ids;
#[cfg(feature = "lucene")]
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod lookup;
pub(crate) mod merge;
pub(crate) mod put;
pub(crate) mod records;
pub(crate) mod replica;
pub(crate) mod search;
pub(crate) mod set;
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod store;
pub(crate) mod verify;
pub(crate) mod where_guide;

use clap::{ColorChoice, Parser, Subcommand};

#[cfg(feature = "lucene")]
use crate::api::lucene::FieldType;
use crate::open::opener::Opener;

const ABOUT: &str = "Build, inspect, search, export, merge, compare and check docvalues segments and stores";

const LONG_ABOUT: &str = "\
Build, inspect, search, export, merge, compare and check docvalues segments and stores.

A segment is one file that stores documents column by column. A program can read any value of any document \
without reading the rest. `dv build` makes a segment from CSV, TSV, NDJSON, Parquet or Arrow; most other \
commands read one.

A store is a folder of segments that changes: `dv store create`, `dv put`, `dv set`, `dv rm`, `dv merge`. Commands that read a \
segment read a store, too, and the folder of an index of Lucene, Solr, OpenSearch or Elasticsearch; `dv import` makes a segment \
or a store of one.";

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a segment is damaged, a row is bad, something was not found, or two segments differ
  2  the command line is wrong
  3  a file cannot be read or written, or is not a segment that this release can read
  4  `dv replica`: batches are missing between what it has and what came
  5  `dv replica`, `dv replicate`: the leader does not have what the replica has, or was replaced
  130, 143  `dv put` was ended by Ctrl-C or SIGTERM, and has committed what it had read; others ended, too

Data goes to standard output, everything else to standard error.";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "dv",
    version,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_help = EXIT_CODES,
    max_term_width = 100,
    arg_required_else_help = true,
    subcommand_required = true
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Open a segment even if its header claims far more documents than its size suggests
    #[arg(long, global = true)]
    pub(crate) any_docs: bool,

    /// Read segments without mapping them: if another program shortens a file meanwhile, that is an error, not a signal
    #[arg(long, global = true)]
    pub(crate) no_mmap: bool,

    /// When to colour help and messages; `auto` colours terminals and respects NO_COLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,

    /// Read stores at this commit instead of the newest; `dv commits` lists those that are kept
    #[arg(long, global = true, value_name = "COMMIT")]
    pub(crate) commit: Option<u64>,

    /// Types of columns of indexes of Lucene, such as price=f64,weight=f32
    ///
    /// Types: i64 u64 f64 f32 bool date timestamp[ms] timestamp[us] timestamp[ns] ip uuid string bytes. Without one, a column
    /// has the type that Solr, Elasticsearch or OpenSearch are known to write, or i64, string or bytes.
    #[cfg(feature = "lucene")]
    #[arg(long, global = true, value_name = "NAME=TYPE,…", value_delimiter = ',', value_parser = import::parse_type)]
    pub(crate) lucene_type: Vec<(String, FieldType)>,
}

impl CommandLine {
    /// Opens segments and stores as the global options say.
    pub(crate) fn opener(&self) -> Opener {
        Opener {
            any_docs: self.any_docs,
            no_mmap: self.no_mmap,
            commit: self.commit,
            #[cfg(feature = "lucene")]
            lucene_types: self.lucene_type.clone(),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Build(build::BuildArgs),
    Schema(build::SchemaArgs),
    Merge(merge::MergeArgs),
    #[cfg(feature = "lucene")]
    Import(import::ImportArgs),
    Info(inspect::InfoArgs),
    Stats(inspect::StatsArgs),
    Terms(inspect::TermsArgs),
    Count(search::CountArgs),
    Facet(aggregate::FacetArgs),
    Histogram(aggregate::HistogramArgs),
    Group(aggregate::GroupArgs),
    Sort(search::SortArgs),
    Query(search::QueryArgs),
    Sql(sql::SqlArgs),
    Get(records::GetArgs),
    Lookup(lookup::LookupArgs),
    Head(records::HeadArgs),
    Sample(records::SampleArgs),
    Cat(records::CatArgs),
    Export(records::ExportArgs),
    Diff(verify::DiffArgs),
    Check(verify::CheckArgs),
    Store(store::StoreArgs),
    Put(put::PutArgs),
    Set(set::SetArgs),
    Rm(store::RmArgs),
    Commits(store::CommitsArgs),
    Log(store::LogArgs),
    Changes(store::ChangesArgs),
    Recover(store::RecoverArgs),
    Replicate(replica::ReplicateArgs),
    Replica(replica::ReplicaArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
    Where(where_guide::WhereGuideArgs),
}

impl Command {
    /// Whether the command reads stores, so that --commit means something.
    pub(crate) fn reads_stores(&self) -> bool {
        match self {
            Command::Build(_)
            | Command::Schema(_)
            | Command::Check(_)
            | Command::Store(_)
            | Command::Put(_)
            | Command::Set(_)
            | Command::Rm(_)
            | Command::Commits(_)
            | Command::Log(_)
            | Command::Changes(_)
            | Command::Recover(_)
            | Command::Replicate(_)
            | Command::Replica(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Where(_) => false,
            #[cfg(feature = "lucene")]
            Command::Import(_) => false,
            Command::Merge(args) => args.output.is_some(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_is_sound() {
        CommandLine::command().debug_assert();
    }
}
