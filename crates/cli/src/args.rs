//! The command line: subcommands, options and their help.

mod aggregate;
mod build;
mod ids;
mod inspect;
mod lookup;
mod merge;
mod records;
mod search;
mod shell;
mod verify;

use clap::{Parser, Subcommand};

pub(crate) use aggregate::{
    FacetArgs, FacetBy, GroupArgs, GroupBy, GroupSpec, HistogramArgs, HistogramSpec, TextOrNumber,
};
pub(crate) use build::{BuildArgs, InputArgs, SchemaArgs};
pub(crate) use ids::IdArgs;
pub(crate) use inspect::{InfoArgs, StatsArgs, TermsArgs};
pub(crate) use lookup::LookupArgs;
pub(crate) use merge::MergeArgs;
pub(crate) use records::{CatArgs, ExportArgs, GetArgs, HeadArgs, RecordArgs, RecordFormat, SampleArgs};
pub(crate) use search::{CountArgs, QueryArgs, SortArgs, WhereArgs};
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use verify::{CheckArgs, DiffArgs};

const ABOUT: &str = "Build, inspect, search, export, merge, compare and check docvalues segments";

const LONG_ABOUT: &str = "\
Build, inspect, search, export, merge, compare and check docvalues segments.

A segment is one file that stores documents column by column. A program can read any value of any document \
without reading the rest. `dv build` makes a segment from CSV, TSV, NDJSON, Parquet or Arrow; most other \
commands read one.";

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a segment is damaged, a row is bad, something was not found, or two segments differ
  2  the command line is wrong
  3  a file cannot be read or written, or is not a segment that this release can read

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
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Build(BuildArgs),
    Schema(SchemaArgs),
    Merge(MergeArgs),
    Info(InfoArgs),
    Stats(StatsArgs),
    Terms(TermsArgs),
    Count(CountArgs),
    Facet(FacetArgs),
    Histogram(HistogramArgs),
    Group(GroupArgs),
    Sort(SortArgs),
    Query(QueryArgs),
    Get(GetArgs),
    Lookup(LookupArgs),
    Head(HeadArgs),
    Sample(SampleArgs),
    Cat(CatArgs),
    Export(ExportArgs),
    Diff(DiffArgs),
    Check(CheckArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
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
