//! The command line: subcommands, options and their help.

pub(crate) mod aggregate;
mod answer;
pub(crate) mod build;
mod commit;
pub(crate) mod filter;
mod help;
pub(crate) mod hints;
#[cfg(feature = "lucene")]
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod lookup;
pub(crate) mod merge;
pub(crate) mod put;
pub(crate) mod records;
pub(crate) mod replica;
pub(crate) mod report;
pub(crate) mod search;
pub(crate) mod set;
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod store;
pub(crate) mod verify;
pub(crate) mod where_guide;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::answer::rows::RecordFormat;
#[cfg(feature = "lucene")]
use crate::api::lucene::FieldType;
use crate::error::{CliError, Result};
use crate::open::opener::Opener;

const NOTES: &str = "\
Examples:
  dv build hits.csv -o hits.dv
  dv facet hits.dv host --where 'status = 404'
  dv sort hits.dv --by=-size -n 5

Exit codes:
  0  done
  1  a segment is damaged, a row is bad, columns do not fit, something was not found, or two segments differ
  2  the command line is wrong
  3  a file cannot be read or written, is not a segment that this release can read, or another process writes the store
  4  `dv replica`: batches are missing between what it has and what came
  5  `dv replica`, `dv replicate`, `dv changes`: the leader does not have what the replica has, or was replaced
  130, 143  `dv put` was ended by Ctrl-C or SIGTERM, and has committed what it had read; others ended, too

Data goes to standard output, everything else to standard error.";

/// Build, inspect, search, export, merge, compare and check docvalues segments and stores
///
/// A segment is one file that stores documents column by column. A program can read any value of any document without
/// reading the rest. `dv build` makes a segment from CSV, TSV, NDJSON, Parquet or Arrow; most other commands read one.
///
/// A store is a folder of segments that changes: `dv store create`, `dv put`, `dv set`, `dv rm`, `dv merge`. Commands that
/// read a segment read a store, too, and the folder of an index of Lucene, Solr, OpenSearch or Elasticsearch; `dv import`
/// makes a segment or a store of one.
#[derive(Debug, Parser)]
#[command(
    name = "dv",
    version,
    after_long_help = NOTES,
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

    /// When to colour messages; `auto` respects NO_COLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,

    /// Read stores at this commit instead of the newest; `dv commits` lists those that are kept
    #[arg(long, global = true, value_name = "COMMIT")]
    pub(crate) commit: Option<u64>,

    /// Whether the command reads stores at a commit, so that --commit means something.
    #[arg(skip)]
    pub(crate) reads_a_commit: bool,

    /// The format in which an answer is printed as rows, `None` as an object of JSON or as text; and whether the extension of
    /// its file gives it.
    #[arg(skip)]
    pub(crate) format: Option<RecordFormat>,
    #[arg(skip)]
    by_extension: bool,

    /// The arguments that are files to read.
    #[arg(skip)]
    pub(crate) inputs: Vec<PathBuf>,

    /// The file of --output, and whether it gets what the command prints.
    #[arg(skip)]
    pub(crate) output: Option<PathBuf>,
    #[arg(skip)]
    pub(crate) is_printed: bool,

    /// Types of columns of indexes of Lucene, such as price=f64,weight=f32
    ///
    /// Types: i64 u64 f64 f32 bool date timestamp[ms] timestamp[us] timestamp[ns] ip uuid string bytes. Without one, a column
    /// has the type that Solr, Elasticsearch or OpenSearch are known to write, or i64, string or bytes.
    #[cfg(feature = "lucene")]
    #[arg(long, global = true, value_name = "NAME=TYPE,…", value_delimiter = ',', value_parser = import::parse_type)]
    pub(crate) lucene_type: Vec<(String, FieldType)>,
}

/// Commands that read no store, or all of its commits: they refuse --commit.
const WITHOUT_COMMIT: &str = "build schema check store put set rm commits log changes recover replicate replica import \
                              completions man where";

/// The arguments of commands that are files to read. Those that may also be text are not among them.
const INPUTS: &str = "a b file files folder inputs schema";

/// Commands that print to the file of --output, besides those with an answer.
const PRINTING: &str = "terms sort sql report get lookup head sample cat";

/// Commands without --any-docs and --no-mmap in their help.
const WITHOUT_SEGMENTS: &str = "build schema commits log replicate completions man where";

/// Whether a word is one of `words`.
fn is_of(word: &str, words: &str) -> bool {
    words.split(' ').any(|other| other == word)
}

/// The commands. Those that refuse a global option, or hardly need it, do not show it.
pub(crate) fn commands() -> clap::Command {
    let dv = CommandLine::command();
    let globals = dv.get_arguments().filter(|arg| arg.is_global_set());
    let hidden: Vec<Arg> = globals.map(|arg| arg.clone().hide(true)).collect();
    dv.mut_subcommands(|command| {
        let name = command.get_name();
        let is_hidden = |arg: &&Arg| match arg.get_id().as_str() {
            "commit" => is_of(name, WITHOUT_COMMIT),
            // Rare elsewhere: `dv --help` and the page on Lucene have it.
            "lucene_type" => name != "import",
            "any_docs" | "no_mmap" => is_of(name, WITHOUT_SEGMENTS),
            _ => false,
        };
        let refused: Vec<Arg> = hidden.iter().filter(is_hidden).cloned().collect();
        let has_formats = is_of(name, answer::ANSWERS);
        let command = if has_formats { answer::with_formats(command) } else { command };
        command.args(refused)
    })
}

impl CommandLine {
    /// Parses the arguments of the process, the first of which is its name.
    pub(crate) fn parse(mut args: Vec<OsString>) -> Result<CommandLine, clap::Error> {
        if args.get(1).is_some_and(|word| word == "help") {
            args.remove(1);
            args.push("--help".into());
        }
        let matches = help::with_help(commands(), &args).try_get_matches_from(args)?;
        let mut line = CommandLine::from_arg_matches(&matches)?;
        let merges_a_store = matches!(&line.command, Command::Merge(args) if args.output.is_none());
        let Some((name, matches)) = matches.subcommand() else { return Ok(line) };
        let of_inputs = INPUTS.split(' ').filter_map(|id| matches.try_get_raw(id).ok()?);
        line.inputs = of_inputs.flatten().map(PathBuf::from).collect();
        line.output = matches.try_get_one("output").ok().flatten().cloned();
        let is_answer = is_of(name, answer::ANSWERS);
        line.is_printed = is_answer || is_of(name, PRINTING);
        if is_answer {
            // JSON is the answer of --json, not its rows.
            let is_json = matches.get_raw("format").is_some_and(|mut raw| raw.any(|value| value == "json"));
            let format: Option<RecordFormat> = matches.get_one("format").copied();
            line.format = format.filter(|_| !is_json);
            line.by_extension =
                format.is_none() && matches.value_source("json") != Some(ValueSource::CommandLine);
        }
        line.reads_a_commit = !is_of(name, WITHOUT_COMMIT) && !merges_a_store;
        Ok(line)
    }

    /// Sets the format of rows to that of --json, --format or the extension of --output. Fails if it is none that the command
    /// has.
    pub(crate) fn choose_format(&mut self) -> Result<()> {
        let is_export = matches!(self.command, Command::Export(_));
        let output = self.output.as_deref().filter(|_| self.by_extension);
        let extension = output.and_then(Path::extension);
        let is_toml = extension.is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
        let (json, format, output, own) = match &mut self.command {
            // The file for --schema.
            Command::Schema(args) if is_toml => {
                args.json = false;
                return Ok(());
            }
            Command::Terms(args) => (args.json, &mut args.format, args.output.as_deref(), "txt"),
            // Plans are text.
            Command::Sql(args) => (args.json, &mut args.format, args.output.as_deref(), "txt"),
            // Lines.
            Command::Lookup(lookup::LookupArgs { doc: true, records, .. }) => {
                (records.json, &mut records.format, records.output.as_deref(), "txt")
            }
            Command::Sort(search::SortArgs { records, .. })
            | Command::Get(records::GetArgs { records, .. })
            | Command::Lookup(lookup::LookupArgs { records, .. })
            | Command::Head(records::HeadArgs { records, .. })
            | Command::Sample(records::SampleArgs { records, .. })
            | Command::Cat(records::CatArgs { records, .. })
            | Command::Export(records::ExportArgs { records, .. }) => {
                (records.json, &mut records.format, records.output.as_deref(), "")
            }
            _ => (false, &mut self.format, output, "json"),
        };
        *format = RecordFormat::chosen(json, *format, output, own)?;
        match format {
            Some(RecordFormat::Parquet | RecordFormat::Arrow) if !is_export => {
                Err(CliError::usage("only `dv export` writes Parquet and Arrow"))
            }
            _ => Ok(()),
        }
    }

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
    Report(report::ReportArgs),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        commands().debug_assert();
        help::with_help(commands(), &["dv".into(), "--help".into()]).debug_assert();
        let names: Vec<String> = commands().get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        let mut words =
            [WITHOUT_COMMIT, PRINTING, WITHOUT_SEGMENTS].into_iter().flat_map(|words| words.split(' '));
        assert!(words.all(|word| names.iter().any(|name| name == word)));
        let dv = commands();
        let args = || dv.get_subcommands().flat_map(clap::Command::get_arguments);
        assert!(INPUTS.split(' ').all(|id| args().any(|arg| arg.get_id() == id)));
    }
}
