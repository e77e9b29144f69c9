//! Id look-ups under ingest and beside searches, with a cold page cache, and by several threads.
//!
//! | module | contents |
//! | --- | --- |
//! | `ingest` | `ids ingest`: structures and versions of Lucene in turn, cell by cell |
//! | `grid` | the cells, and which of them are measured by default |
//! | `contender` | a structure in a process of its own, and its language |
//! | `serve` | such a process of this program; `IdsUnderIngest.java` is that of Lucene |
//! | `beside` | ingest and searches beside look-ups |
//! | `rows` | medians over the rounds |
//! | `show` | tables and a plot of these |
//! | `misses` | `ids misses`: simulated cache misses, by Valgrind |
//! | `sizes` | `ids sizes`: bytes, and the time to build them |
//! | `cold` | `ids cold`: ten million ids in one segment, from the disk |
//! | `threads` | `ids threads`: one thread and two |
//! | `in_place` | `ids in-place`: Lucene's FST and tries, read by docvalues |
//!
//! [`docvalues_benches::id_structures`] names the structures.
#![expect(clippy::cast_possible_truncation, clippy::expect_used, reason = "a tool for 64-bit machines")]
#![expect(clippy::print_stdout, reason = "a measurement")]

mod beside;
mod cold;
mod contender;
mod grid;
mod in_place;
mod ingest;
mod misses;
mod rows;
mod serve;
mod show;
mod sizes;
mod threads;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Measure id look-ups over many segments
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Bulks of 20 look-ups at the pace of apache/lucene#15820 and as fast as they go, beside ingest and searches
    Ingest(ingest::Arguments),
    /// Cache misses of these look-ups in the caches of this CPU, simulated by Valgrind
    Misses(misses::Arguments),
    /// Bytes of an id, and the time to build them
    Sizes(sizes::Arguments),
    /// Page faults and time of look-ups in one segment that is not in the page cache
    Cold(cold::Arguments),
    /// Look-ups by one thread and by two
    Threads(threads::Arguments),
    /// Lucene's FST and tries, read in place by docvalues
    InPlace(in_place::Arguments),
    /// Look up what the lines of the standard input ask for
    #[command(hide = true)]
    Serve(serve::Arguments),
    /// Look up ids under Valgrind
    #[command(hide = true)]
    Trace(misses::Trace),
    /// Look up ids in a new process
    #[command(hide = true)]
    ColdOne(cold::One),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Ingest(arguments) => ingest::run(&arguments),
        Command::Misses(arguments) => misses::run(&arguments),
        Command::Sizes(arguments) => sizes::run(&arguments),
        Command::Cold(arguments) => cold::run(&arguments),
        Command::Threads(arguments) => threads::run(&arguments),
        Command::InPlace(arguments) => in_place::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Trace(trace) => misses::trace(&trace),
        Command::ColdOne(one) => cold::one(&one),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ids: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of segments and indexes, which are kept.
fn default_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/ids")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// The commands for this program in a page, with its continued lines.
    fn commands(page: &str) -> Vec<Vec<String>> {
        let page = page.replace("\\\n", " ");
        let lines = page.lines().filter_map(|line| line.split_once("--bin ids -- "));
        let arguments = lines.map(|(_, rest)| rest.split(['`', '#', ')']).next().unwrap_or_default());
        arguments.map(|rest| rest.split_whitespace().map(str::to_owned).collect()).collect()
    }

    #[test]
    fn commands_of_the_pages_parse() {
        Arguments::command().debug_assert();
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/fst-or-trie.md");
        let commands = commands(&std::fs::read_to_string(page).unwrap());
        for command in &commands {
            let arguments = std::iter::once("ids").chain(command.iter().map(String::as_str));
            assert!(Arguments::try_parse_from(arguments).is_ok(), "{}", command.join(" "));
        }
        assert!(commands.len() >= 4, "{commands:?}");
    }
}
