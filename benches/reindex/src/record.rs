//! The record: a line of JSON for each index that was built, and for each cell of the grid.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The documents of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shape {
    pub docs: u32,
    /// The most words of a text; the fewest are 20. 0 is no text.
    pub words: u32,
    pub segments: u32,
}

/// A way to change a value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "way")]
pub enum Way {
    /// A new number by id. The text is not touched.
    Update,
    /// The document is fetched from a source that takes so long to give it, deleted, and added again.
    Reindex { wait_ms: f64 },
}

/// The changes of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    #[serde(flatten)]
    pub way: Way,
    /// Cycles that count, after one that does not.
    pub cycles: u32,
    /// Documents that a cycle changes.
    pub changed: u32,
}

/// The costs of a cell: averages of its cycles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Elapsed milliseconds a changed document: the change, and its share of the refresh.
    pub ms: f64,
    /// The same in CPU time of all threads, without that of waiting.
    pub cpu_ms: f64,
    pub refresh_ms: f64,
    /// The longest cycle, a changed document.
    pub longest_ms: f64,
    /// The milliseconds that the source took to give a document.
    pub waited_ms: f64,
    /// The 20 newest documents.
    pub query_ms: f64,
    /// Bytes written, a changed document.
    pub written: f64,
    /// The commit after all cycles, which also syncs the text.
    pub commit_ms: f64,
    pub commit_written: f64,
}

/// An index was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Built {
    pub seconds: f64,
    /// Of all threads.
    pub cpu_seconds: f64,
    pub bytes: u64,
    /// Of the texts.
    pub text_bytes: u64,
    /// A checksum of some texts and values, which is the same for all sides.
    pub checksum: u32,
}

/// The figures of a line, about a shape on a side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum What {
    Built(Built),
    Cell {
        #[serde(flatten)]
        task: Task,
        #[serde(flatten)]
        figures: Figures,
    },
}

/// A line of the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub side: String,
    #[serde(flatten)]
    pub shape: Shape,
    #[serde(flatten)]
    pub what: What,
    /// The commit of this program.
    pub commit: String,
    pub cpu: String,
}

/// A record in a file.
pub struct Record {
    path: PathBuf,
    pub lines: Vec<Line>,
    commit: String,
    cpu: String,
}

impl Record {
    /// Reads a record, if there is one.
    pub fn open(path: &Path) -> Record {
        let file = File::open(path).into_iter().flat_map(|file| BufReader::new(file).lines());
        let lines =
            file.map(|line| serde_json::from_str(&line.expect("text")).expect("a line of the record"));
        let git = Command::new("git").args(["rev-parse", "--short=8", "HEAD"]).output();
        let commit = git.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
        Record {
            lines: lines.collect(),
            path: path.to_owned(),
            commit: commit.unwrap_or_default(),
            cpu: cpu.unwrap_or("unknown").trim().to_owned(),
        }
    }

    /// Adds a line.
    pub fn add(&mut self, side: &str, shape: Shape, what: What) {
        let (commit, cpu) = (self.commit.clone(), self.cpu.clone());
        let line = Line { side: side.to_owned(), shape, what, commit, cpu };
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path).expect("a file");
        let text = serde_json::to_string(&line).expect("plain data");
        writeln!(file, "{text}").expect("a disk with room");
        eprintln!("{text}");
        self.lines.push(line);
    }

    /// The measurements of a cell, whatever the number of its cycles, the fastest first.
    pub fn measured(&self, side: &str, shape: Shape, way: Way, changed: u32) -> Vec<(Task, &Figures)> {
        let is_same = |line: &Line, task: &Task| {
            line.side == side && line.shape == shape && task.way == way && task.changed == changed
        };
        let same = self.cells().filter(|(line, task, _)| is_same(line, task));
        let mut same: Vec<_> = same.map(|(_, task, figures)| (task, figures)).collect();
        same.sort_by(|a, b| a.1.ms.total_cmp(&b.1.ms));
        same
    }

    /// The median of them.
    pub fn cell(&self, side: &str, shape: Shape, way: Way, changed: u32) -> Option<(Task, &Figures)> {
        let measured = self.measured(side, shape, way, changed);
        measured.get(measured.len() / 2).copied()
    }

    /// All cells.
    pub fn cells(&self) -> impl Iterator<Item = (&Line, Task, &Figures)> {
        self.lines.iter().filter_map(|line| match &line.what {
            What::Cell { task, figures } => Some((line, *task, figures)),
            What::Built(_) => None,
        })
    }

    /// The checksum of the documents of a shape, from any side.
    pub fn checksum(&self, shape: Shape) -> Option<u32> {
        self.lines.iter().find_map(|line| match &line.what {
            What::Built(built) if line.shape == shape => Some(built.checksum),
            _ => None,
        })
    }
}
