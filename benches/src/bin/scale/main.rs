//! Measures locks under many threads, a store of ten thousand segments, and a segment of 300 million documents.
//!
//! | module | contents |
//! | --- | --- |
//! | `locks` | `scale locks`: batches by 1 to 16 threads beside readers, and searches that share the pool |
//! | `lock_times` | the times of locks, by lock and function |
//! | `segments` | `scale segments`: stores of few and of many small segments, and how often a process can open the largest |
//! | `docs` | `scale docs`: a segment of many documents |
//! | `readings` | readings of the process after each step, in a process of its own |
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

mod docs;
mod lock_times;
mod locks;
mod readings;
mod segments;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use docvalues_benches::record::Run;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Measure locks, many segments, and many documents
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Batches by several threads beside readers that refresh; with `RUSTFLAGS="--cfg docvalues_lock_times"`, the times of locks
    Locks(locks::Arguments),
    /// Opening, searches, look-ups, batches and commits of stores of few and of many small segments
    Segments(segments::Arguments),
    /// Writing, opening and reading a segment of many documents
    Docs(docs::Arguments),
    /// The steps of `segments`, in a new process
    #[command(hide = true)]
    SegmentsOne(segments::One),
    /// The steps of `docs`, in a new process
    #[command(hide = true)]
    DocsOne(docs::One),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Locks(arguments) => locks::run(&arguments),
        Command::Segments(arguments) => segments::run(&arguments),
        Command::Docs(arguments) => docs::run(&arguments),
        Command::SegmentsOne(one) => segments::one(&one),
        Command::DocsOne(one) => docs::one(&one),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scale: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of stores and segments, which are removed.
fn default_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/scale")
}

/// Prints the tables of a run, and puts it into the record, if there is one.
fn show(run: Run, record: Option<&Path>) -> Outcome {
    println!("{}", run.markdown());
    record.map_or(Ok(()), |record| run.write(record))
}

/// The figure below which so many of a hundred are, and 0 without any.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get(last * percent / 100).copied().unwrap_or_default()
}
