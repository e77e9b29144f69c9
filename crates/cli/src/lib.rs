//! `dv`: docvalues segments from the shell.
//!
//! [`run`] is the whole program except for the process around it, so tests call it, too.
//!
//! | module | subject |
//! | --- | --- |
//! | `args` | the command line: subcommands, options, help texts |
//! | `cmd` | the subcommands |
//! | `import` | CSV, NDJSON, Parquet and Arrow as documents, and documents in segments and stores |
//! | `answer` | documents, answers and descriptions as tables, CSV, JSON, HTML, Parquet and Arrow |
//! | `open` | files, segments and stores, opened, with their columns by name |
//! | `text` | numbers, times, names, JSON and stored values as text, and back |
//! | `console` | standard output and error, destinations and progress |
//! | `process` | signals, temporary files, memory of the machine |
//! | `error` | errors, hints and exit codes |
//! | `api` | the parts of the `docvalues` crates that this crate uses |

mod answer;
mod api;
mod args;
mod cmd;
mod console;
mod error;
mod import;
mod open;
mod process;
mod text;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::slice;

use clap::ColorChoice;
use clap::error::{ContextKind, ErrorKind};

pub use console::Console;
pub use error::Exit;

use answer::answer_rows;
use args::hints::of_other_tools;
use args::{Command, CommandLine};
use console::destination::{Destination, refuse_input, refuse_no_text};
use error::{CliError, Result};
use open::files;
use text::quoting::for_terminal;

/// The features of this crate, and whether they were built in.
const FEATURES: [(&str, bool); 5] = [
    ("lucene", cfg!(feature = "lucene")),
    ("man", cfg!(feature = "man")),
    ("parquet", cfg!(feature = "parquet")),
    ("sql", cfg!(feature = "sql")),
    ("tzdb", cfg!(feature = "tzdb")),
];

/// Runs the command line `args`, whose first element is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, console: &mut Console<'_>) -> Exit {
    process::end_signal::ignore_size_signal();
    let args: Vec<OsString> = args.into_iter().collect();
    match console::colours::choice(&args) {
        ColorChoice::Auto => {}
        choice => {
            let always = choice == ColorChoice::Always;
            (console.out_colours, console.err_colours) = (always, always);
        }
    }
    let result = match CommandLine::parse(args.clone()) {
        Ok(line) => console.escaped(|console| run_command(line, console)),
        Err(error) => usage(&args, error, console),
    };
    let result = result.and_then(|exit| match console.finish() {
        Ok(()) => Ok(exit),
        Err(error) => Err(CliError::from(error).at_least(exit)),
    });
    match result {
        Ok(exit) => exit,
        Err(mut failure) => {
            if !failure.quiet {
                // Output that was printed earlier comes before the error.
                let _ = console.out.flush();
                if let Some(done) = console.done.take().filter(|_| failure.of_output) {
                    failure.message += &format!("; but {done}");
                }
                console.note(&failure.to_string());
            }
            failure.exit
        }
    }
}

/// Runs a command, whose answer goes where --output says.
fn run_command(mut line: CommandLine, console: &mut Console<'_>) -> Result<Exit> {
    let destination = Destination::of(line.output.as_deref().filter(|_| line.is_printed))?;
    if let Destination::File(path) = &destination {
        refuse_no_text(path)?;
    }
    if let Some(output) = &line.output {
        // A pattern without a match is an error of the command.
        let expand = |input| files::expand(slice::from_ref(input)).unwrap_or_default();
        let inputs = inputs(&line);
        refuse_input(&inputs.iter().flat_map(expand).collect::<Vec<_>>(), output)?;
    }
    line.choose_format()?;
    let (format, mut exit) = (line.format, Exit::Ok);
    destination.write(console, |console| {
        console.answers = format.map(|_| Vec::new());
        exit = dispatch(&line, console)?;
        let answers = format.zip(console.answers.take());
        answers.map_or(Ok(()), |(format, answers)| answer_rows::print(&answers, format, console))?;
        match exit {
            // A file that is not whole is not kept.
            Exit::Interrupted | Exit::Terminated if destination != Destination::Stdout => {
                Err(CliError { exit, quiet: true, ..CliError::default() })
            }
            _ => Ok(()),
        }
    })?;
    Ok(exit)
}

/// The files that a command reads. Of arguments that may also be columns or ids, only those that are files.
fn inputs(line: &CommandLine) -> Vec<PathBuf> {
    match &line.command {
        Command::Facet(args) => files::split(&args.arguments).0,
        Command::Stats(args) => files::split(&args.arguments).0,
        Command::Lookup(args) => cmd::lookup::inputs(args),
        _ => line.inputs.clone(),
    }
}

fn dispatch(line: &CommandLine, console: &mut Console<'_>) -> Result<Exit> {
    let opener = &line.opener();
    if opener.commit.is_some() && !line.reads_a_commit {
        return Err(CliError::usage("--commit: this command reads no store, or all of its commits"));
    }
    // If the reader of a report goes away, nothing says that all is well.
    let unfinished = |error: CliError| error.at_least(Exit::Failed);
    match &line.command {
        Command::Build(args) => cmd::build::run(args, console),
        Command::Schema(args) => cmd::schema::run(args, console),
        Command::Merge(args) => cmd::merge::run(args, opener, console),
        #[cfg(feature = "lucene")]
        Command::Import(args) => cmd::import::run(args, opener, console),
        Command::Info(args) => cmd::info::run(args, opener, console),
        Command::Stats(args) => cmd::stats::run(args, opener, console),
        Command::Terms(args) => cmd::terms::run(args, opener, console),
        Command::Count(args) => cmd::aggregate::count(args, opener, console),
        Command::Facet(args) => cmd::aggregate::facet(args, opener, console),
        Command::Histogram(args) => cmd::aggregate::histogram(args, opener, console),
        Command::Group(args) => cmd::aggregate::group(args, opener, console),
        Command::Sort(args) => cmd::sort::run(args, opener, console),
        Command::Query(args) => cmd::query::run(args, opener, console),
        Command::Sql(args) => cmd::sql::run(args, opener, console),
        Command::Report(args) => cmd::report::run(args, opener, console),
        Command::Get(args) => cmd::records::get(args, opener, console),
        Command::Lookup(args) => cmd::lookup::run(args, opener, console),
        Command::Head(args) => cmd::records::head(args, opener, console),
        Command::Sample(args) => cmd::records::sample(args, opener, console),
        Command::Cat(args) => cmd::records::cat(args, opener, console),
        Command::Export(args) => cmd::export::run(args, opener, console),
        Command::Diff(args) => cmd::diff::run(args, opener, console).map_err(unfinished),
        Command::Check(args) => cmd::check::run(args, opener, console).map_err(unfinished),
        Command::Store(args) => cmd::store::run(args, opener, console),
        Command::Put(args) => cmd::put::run(args, opener, console),
        Command::Set(args) => cmd::set::run(args, opener, console),
        Command::Rm(args) => cmd::store::rm(args, opener, console),
        Command::Commits(args) => cmd::store::commits(args, console),
        Command::Log(args) => cmd::store::log(args, console),
        Command::Changes(args) => cmd::store::changes(args, opener, console),
        Command::Recover(args) => cmd::store::recover(args, opener, console),
        Command::Replicate(args) => cmd::replica::replicate(args, console),
        Command::Replica(args) => cmd::replica::replica(args, opener, console),
        Command::Completions(args) => cmd::shell::completions(args, opener, console),
        Command::Man(args) => cmd::shell::man(args, console),
        Command::Where(_) => cmd::shell::where_guide(console),
    }
}

/// Prints help or the version if it was asked for, and an error otherwise.
fn usage(args: &[OsString], mut error: clap::Error, console: &mut Console<'_>) -> Result<Exit> {
    let hint = of_other_tools(args, &error);
    if hint.is_some() {
        // Such as to pass the option as a value, or a command that has some of the letters.
        error.remove(ContextKind::Suggested);
        error.remove(ContextKind::SuggestedSubcommand);
    }
    let (text, is_error) = (error.render(), error.use_stderr());
    let (has_colours, width) = match is_error {
        true => (console.err_colours, console.err_width),
        false => (console.out_colours, console.out_width),
    };
    let plain = text.to_string();
    // An argument may have control characters.
    let text = match for_terminal(&plain) {
        Cow::Owned(escaped) if width.is_some() => escaped,
        _ if has_colours => text.ansi().to_string(),
        _ => plain,
    };
    if is_error {
        let _ = console.err.write_all(text.as_bytes());
        if let Some(hint) = hint {
            console.note(&format!("    hint: {hint}"));
        }
        return Ok(Exit::Usage);
    }
    console.out.write_all(text.as_bytes())?;
    if error.kind() == ErrorKind::DisplayVersion {
        let features = FEATURES.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name);
        writeln!(console.out, "features: {}", features.collect::<Vec<_>>().join(", "))?;
    }
    Ok(Exit::Ok)
}
