//! A new value for a document beside the document written again, with text in tantivy and in Lucene.
//!
//! A cell of the grid changes documents, shows them, and searches for them, in cycles. The record keeps the figures of a
//! cell, so that a run continues where the last one stopped.

mod changes;
mod clock;
mod lucene;
mod ours;
mod record;
mod report;
#[cfg(test)]
mod tests;
mod text_index;
mod unsynced;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use docvalues_benches::lucene::Lucene;

use record::{Record, Shape, Task, Way, What};

/// A new value for a document beside the document written again
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure the cells that the record lacks
    Run(Run),
    /// Print the tables of the record, and draw its plots
    Report {
        /// The record
        #[arg(long, value_name = "FILE", default_value = RECORD)]
        record: PathBuf,

        /// File that gets the tables of pages
        #[arg(long, value_name = "FILE")]
        tables: Option<PathBuf>,

        /// Folder for plots
        #[arg(long, value_name = "DIR")]
        plots: Option<PathBuf>,
    },
}

/// The record of the pages.
const RECORD: &str = "docs/benchmarks/updates/reindex.jsonl";

/// The fewest cycles, and the most seconds that those of a cell wait, if more cycles were asked for.
const FEWEST_CYCLES: u32 = 3;
const MOST_WAITING: f64 = 30.0;

#[derive(Args)]
struct Run {
    /// Numbers of documents
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = docvalues_benches::count, default_value = "1_000_000")]
    docs: Vec<u32>,

    /// The most words of a text, of which each has 20 or more; 0 is no text
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [0, 100, 500])]
    words: Vec<u32>,

    /// Numbers of segments
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 6, 30])]
    segments: Vec<u32>,

    /// Milliseconds that the source takes to give a document
    #[arg(long, value_name = "MS,…", value_delimiter = ',', default_values_t = [0.0, 0.1, 1.0, 10.0])]
    waits: Vec<f64>,

    /// `docvalues`, with text in tantivy, and versions of Lucene, which need Maven and a JDK from 21 on. 10.6.0-nrt has an
    /// `NRTCachingDirectory`; docvalues-cold and 10.6.0-cold run one cycle, whose files are not in the page cache
    #[arg(long, value_name = "SIDE,…", value_delimiter = ',', default_values = ["docvalues", "10.5.0", "10.6.0"])]
    sides: Vec<String>,

    /// Cycles that count, after one that does not. If they wait for more than 30 s, fewer, at least 3
    #[arg(long, value_name = "N", default_value_t = 16)]
    cycles: u32,

    /// Measurements of each cell, in Lucene each in a JVM of its own; tables have the median, the least and the most
    #[arg(long, value_name = "N", default_value_t = 1)]
    times: usize,

    /// Documents that a cycle changes
    #[arg(long, value_name = "N", value_parser = docvalues_benches::count, default_value = "1_000")]
    changed: u32,

    /// File to which figures are added
    #[arg(long, value_name = "FILE", default_value = RECORD)]
    record: PathBuf,

    /// Folder for indexes, one at a time
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,

    /// Keep the indexes
    #[arg(long)]
    keep: bool,
}

impl Run {
    /// The tasks of each shape.
    fn tasks(&self) -> Vec<Task> {
        let cycles = |wait_ms: f64| {
            let fit = MOST_WAITING * 1e3 / (wait_ms * f64::from(self.changed));
            self.cycles.min((fit as u32).max(FEWEST_CYCLES))
        };
        let changed = self.changed;
        let update = Task { way: Way::Update, cycles: self.cycles, changed };
        let reindex =
            |&wait_ms: &f64| Task { way: Way::Reindex { wait_ms }, cycles: cycles(wait_ms), changed };
        [update].into_iter().chain(self.waits.iter().map(reindex)).collect()
    }

    fn shapes(&self) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for &docs in &self.docs {
            for &words in &self.words {
                shapes.extend(self.segments.iter().map(|&segments| Shape { docs, words, segments }));
            }
        }
        shapes
    }

    /// The cells of a shape on a side that the record lacks, each as often as it lacks it.
    fn missing(&self, record: &Record, side: &str, shape: Shape) -> Vec<Task> {
        let of_turn = |turn: usize| {
            let lacks = move |task: &Task| record.measured(side, shape, task.way, task.changed).len() <= turn;
            self.tasks().into_iter().filter(lacks)
        };
        (0..self.times).flat_map(of_turn).collect()
    }

    /// Measures cells of a shape on a side: in a version of Lucene, or here.
    fn measure(
        &self,
        record: &mut Record,
        (side, lucene): (&str, Option<&Lucene>),
        shape: Shape,
        tasks: Vec<Task>,
    ) {
        let folder = self.folder.clone().unwrap_or_else(|| std::env::temp_dir().join("docvalues-reindex"));
        let Shape { docs, words, segments } = shape;
        let built = folder.join(format!("{side}-{docs}-{words}-{segments}"));
        // The index, which is complete if there is a file of this name.
        let (index, complete) = (built.join("index"), built.join("complete"));
        if !complete.exists() {
            drop(fs::remove_dir_all(&built));
            fs::create_dir_all(&index).expect("a folder");
            let done = match lucene {
                Some(lucene) => lucene::build(lucene, &index, shape),
                None => ours::build(&index, shape),
            };
            let same = record.checksum(shape).is_none_or(|checksum| checksum == done.checksum);
            assert!(same, "the sides have different documents");
            record.add(side, shape, What::Built(done));
            fs::write(complete, "").expect("a disk with room");
        }
        let is_cold = side.ends_with("-cold");
        for task in tasks {
            let task = Task { cycles: if is_cold { 1 } else { task.cycles }, ..task };
            if is_cold {
                forget_all(&index);
            }
            let figures = match lucene {
                Some(lucene) => lucene::cell(lucene, side, &index, shape, task),
                None => ours::run(&index, &built, shape, task, is_cold),
            };
            record.add(side, shape, What::Cell { task, figures });
        }
        if !self.keep {
            fs::remove_dir_all(built).expect("a folder");
        }
    }
}

/// Drops the files of a folder from the page cache.
fn forget_all(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a folder").path();
        if path.is_dir() {
            forget_all(&path);
        } else {
            docvalues_benches::forget(&path).expect("a file");
        }
    }
}

fn main() {
    match Cli::parse().command {
        Command::Run(run) => {
            let (mut record, mut lucenes) = (Record::open(&run.record), HashMap::new());
            for shape in run.shapes() {
                for side in &run.sides {
                    let tasks = run.missing(&record, side, shape);
                    if tasks.is_empty() {
                        continue;
                    }
                    let lucene = (!side.starts_with("docvalues"))
                        .then(|| &*lucenes.entry(side).or_insert_with(|| lucene::compile(side)));
                    run.measure(&mut record, (side, lucene), shape, tasks);
                }
            }
        }
        Command::Report { record, tables, plots } => {
            let record = Record::open(&record);
            let run = report::tables(&record);
            print!("{}", run.markdown());
            if let Some(tables) = tables {
                run.write(&tables).expect("a record of tables");
            }
            if let Some(plots) = plots {
                report::draw(&record, &plots);
            }
        }
    }
}
