//! Workloads of search engines in docvalues, Lucene and tantivy: facets, top-k, groups, ranges and exports
//! (`benches/peers/run workloads`).
//!
//! Every peer has one segment with the columns `ts`, `size`, `uni24`, `host` and `url`, which is built once. One
//! process measures one row of the table in one peer. See README.md.

mod checksum;
mod docvalues;
mod process;
mod report;
mod tantivy;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cpus::{self, Variant};
use crate::lucene::{self, Lucene};
use crate::machine::{self, Machine};
use crate::peer::in_place;
use crate::task::{Column, names};
use crate::{compare, peer};
use process::Process;

const HELP: &str = "\
usage: benches/peers/run workloads [--quick] [--docs N] [--rounds N] [--only NAME]... [--no-cpus] [--report FOLDER]
                               [--keep] [--in-place]

  --docs N         documents (10,000,000)
  --rounds N       rounds: measurements of each peer (3)
  --quick          1,000,000 documents, less time for each measurement, and --no-cpus
  --only NAME      only this peer or row, beside docvalues. May be repeated
  --no-cpus        without docvalues-avx2 and docvalues-any, which are docvalues with AVX2 and with portable
                   kernels; --only can still name them
  --report FOLDER  folder of workloads.json (docs/benchmarks; with --only a folder of the target directory)
  --keep           reuse the last segment of docvalues, too, not only those of the peers
  --in-place       Lucene 10.5 and 10.6, and docvalues on their indexes, also with lists of one: in-place-workloads.json

peers: docvalues docvalues-avx2 docvalues-any lucene-10.5.0 lucene-7.7.3 tantivy
rows: facet-1 facet-10 facet-100, top-…, group-…, range-ts range-size range-uni24, export-random export-sorted";

/// The peers of this program, docvalues first.
const HERE: [&str; 2] = ["docvalues", "tantivy"];

/// The numeric columns of the segment, and the byte strings.
const NUMBERS: [Column; 3] = [Column::Ts, Column::Size, Column::Uni24];
const STRINGS: [Column; 2] = [Column::Host, Column::Url];

/// The exported columns, in order.
const EXPORTED: [Column; 4] = [Column::Url, Column::Host, Column::Ts, Column::Size];

/// The number of exported documents.
const ROWS: usize = 52_653;

/// The number of top hosts and groups, and of top documents.
const TOP: usize = 10;
const SORTED: usize = 20;

names! {
    /// A row of the table.
    Row {
        Facet1 = "facet-1",
        Facet10 = "facet-10",
        Facet100 = "facet-100",
        Top1 = "top-1",
        Top10 = "top-10",
        Top100 = "top-100",
        Group1 = "group-1",
        Group10 = "group-10",
        Group100 = "group-100",
        RangeTs = "range-ts",
        RangeSize = "range-size",
        RangeUni24 = "range-uni24",
        ExportRandom = "export-random",
        ExportSorted = "export-sorted",
    }
}

/// The workload of a row.
#[derive(Clone, Copy)]
enum Task {
    /// The most frequent hosts, with their names, among this many of 10,000 documents.
    Facet(u64),
    /// The largest documents.
    Top(u64),
    /// The hosts with the largest sum of sizes.
    Group(u64),
    /// The number of documents in a range that matches 1 %.
    Range(Column),
    /// Columns of random documents, in ascending or random order.
    Export { sorted: bool },
}

impl Row {
    fn task(self) -> Task {
        match self {
            Row::Facet1 => Task::Facet(100),
            Row::Facet10 => Task::Facet(1_000),
            Row::Facet100 => Task::Facet(10_000),
            Row::Top1 => Task::Top(100),
            Row::Top10 => Task::Top(1_000),
            Row::Top100 => Task::Top(10_000),
            Row::Group1 => Task::Group(100),
            Row::Group10 => Task::Group(1_000),
            Row::Group100 => Task::Group(10_000),
            Row::RangeTs => Task::Range(Column::Ts),
            Row::RangeSize => Task::Range(Column::Size),
            Row::RangeUni24 => Task::Range(Column::Uni24),
            Row::ExportRandom => Task::Export { sorted: false },
            Row::ExportSorted => Task::Export { sorted: true },
        }
    }

    /// Whether a version of Lucene runs it.
    fn is_for(self, version: &str) -> bool {
        !version.starts_with('7') || matches!(self.task(), Task::Export { .. })
    }
}

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    /// `lucene`, for example.
    peer: String,
    version: String,
    work: Row,
    /// The peer's API.
    api: String,
    ns_cpu: f64,
    ns_wall: f64,
    /// The sum of the answer, equal in all peers.
    checksum: i64,
}

impl Line {
    /// The peer; for Lucene with its version.
    fn name(&self) -> String {
        if self.peer == "lucene" { format!("lucene-{}", self.version) } else { self.peer.clone() }
    }
}

struct Options {
    docs: u32,
    rounds: u32,
    milliseconds: u32,
    peers: Vec<String>,
    rows: Vec<Row>,
    report: Option<PathBuf>,
    cpus: bool,
    keep: bool,
    in_place: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options, String> {
        let mut options = Options {
            docs: 0,
            rounds: 3,
            milliseconds: 300,
            peers: Vec::new(),
            rows: Vec::new(),
            report: None,
            cpus: true,
            keep: false,
            in_place: false,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg}: expected a value\n\n{HELP}"));
            let number = |text: &String| {
                text.replace(['_', ','], "").parse::<u32>().map_err(|e| format!("{arg} {text}: {e}"))
            };
            match arg.as_str() {
                "--docs" => options.docs = number(value()?)?,
                "--rounds" => options.rounds = number(value()?)?.max(1),
                "--quick" => (options.milliseconds, options.cpus) = (60, false),
                "--no-cpus" => options.cpus = false,
                "--only" => options.only(value()?)?,
                "--report" => options.report = Some(value()?.into()),
                "--keep" => options.keep = true,
                "--in-place" => options.in_place = true,
                _ => return Err(HELP.to_owned()),
            }
        }
        if options.docs == 0 {
            options.docs = if options.milliseconds < 300 { 1_000_000 } else { 10_000_000 };
        }
        if options.report.is_none() && !(options.peers.is_empty() && options.rows.is_empty()) {
            options.report = Some(target().join("partial"));
        }
        if options.in_place && options.peers.is_empty() {
            let versions = lucene::IN_PLACE.iter();
            options.peers = versions
                .flat_map(|version| ["lucene", "in-place"].map(|kind| format!("{kind}-{version}")))
                .collect();
        }
        if options.rows.is_empty() {
            options.rows = Row::ALL.to_vec();
        }
        Ok(options)
    }

    fn only(&mut self, name: &str) -> Result<(), String> {
        if let Ok(row) = name.parse() {
            self.rows.push(row);
        } else if HERE.contains(&name)
            || cpus::is_variant(name)
            || name.starts_with("lucene")
            || name.starts_with(in_place::PREFIX)
        {
            self.peers.push(name.to_owned());
        } else {
            return Err(format!("--only: expected a peer or row, found `{name}`\n\n{HELP}"));
        }
        Ok(())
    }

    fn wants(&self, peer: &str) -> bool {
        self.peers.is_empty()
            || self.peers.iter().any(|wanted| peer == wanted || peer.starts_with(&format!("{wanted}-")))
    }

    fn wants_limited(&self, peer: &str) -> bool {
        if self.peers.is_empty() { self.cpus } else { self.peers.iter().any(|wanted| wanted == peer) }
    }

    /// The arguments of a process after the peer: a row to measure, or none to build its segment.
    fn arguments(&self, folder: &Path, row: Option<Row>) -> [OsString; 4] {
        let row = row.map_or("build", Row::name);
        [
            self.docs.to_string().into(),
            folder.into(),
            self.milliseconds.to_string().into(),
            row.to_owned().into(),
        ]
    }
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target")
}

/// Measures all peers and writes the record.
pub fn run(args: &[String]) -> Result<(), String> {
    let options = Options::parse(args)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = target().join(format!("data/workloads-{}", options.docs));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let variants = cpus::variants(|peer| options.wants_limited(peer));
    let versions: &[&str] = if options.in_place { &lucene::IN_PLACE } else { &lucene::FOR_WORKS };
    let lucenes = lucene::find(&package.join("lucene"), &target(), |version| {
        versions.contains(&version) && options.wants(&format!("lucene-{version}"))
    });
    let jvms = lucenes.iter().map(|lucene| (lucene.version.to_owned(), lucene.jvm.clone())).collect();
    let mut machine = Machine::detect(&root, options.docs, options.rounds, jvms);
    for (peer, mut command) in commands(&options, &variants, &lucenes, &folder, None) {
        eprintln!("segments: {peer}");
        stdout_of(&peer, &mut command)?;
    }
    let mut lines: Vec<Line> = Vec::new();
    for round in 0..options.rounds {
        for &row in &options.rows {
            let mut commands = commands(&options, &variants, &lucenes, &folder, Some(row));
            // The order changes, so that no peer always follows the same one.
            let first = round as usize % commands.len();
            commands.rotate_left(first);
            for (peer, mut command) in commands {
                eprintln!("round {} of {}: {row}: {peer}", round + 1, options.rounds);
                for line in stdout_of(&peer, &mut command)?.lines() {
                    lines.push(serde_json::from_str(line).map_err(|e| format!("{peer}: {line}: {e}"))?);
                }
            }
            agree(&lines)?;
        }
        // Keeps the measurements if a later one fails.
        machine.load.1 = machine::load();
        let saved: Vec<String> = lines.iter().filter_map(|line| serde_json::to_string(line).ok()).collect();
        let _ = fs::write(target().join("workloads.jsonl"), saved.join("\n"));
        let report = options.report.clone().unwrap_or_else(|| root.join("docs/benchmarks"));
        let path = report::write(&machine, &lines, &report, options.in_place)
            .map_err(|e| format!("{}: {e}", report.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// A command for each peer that runs `row`; without a row, for each peer whose segment is missing.
fn commands(
    options: &Options,
    variants: &[Variant],
    lucenes: &[Lucene],
    folder: &Path,
    row: Option<Row>,
) -> Vec<(String, Command)> {
    let mut commands = Vec::new();
    for peer in HERE.into_iter().filter(|&peer| peer == "docvalues" || options.wants(peer)) {
        // Segments of docvalues depend on the commit.
        let again = peer == "docvalues" && !options.keep;
        if row.is_none() && !again && process::file(folder, peer).exists() {
            continue;
        }
        let mut command = Command::new(std::env::current_exe().unwrap_or_default());
        command.args(["measure-workloads", peer]).args(options.arguments(folder, row));
        commands.push((peer.to_owned(), command));
    }
    // The variants read the segment of docvalues.
    for variants in variants.iter().filter(|_| row.is_some()) {
        let mut command = variants.command("measure-workloads");
        command.args(options.arguments(folder, row));
        commands.push((variants.peer.to_owned(), command));
    }
    for lucene in lucenes {
        let peer = format!("lucene-{}", lucene.version);
        let needed = row.map_or(!process::file(folder, &peer).exists(), |row| row.is_for(lucene.version));
        if needed {
            let mut command = lucene.command();
            command.arg("workloads").args(options.arguments(folder, row));
            commands.push((peer, command));
        }
    }
    // They read the segments of Lucene.
    for peer in options.peers.iter().filter(|peer| row.is_some() && peer.starts_with(in_place::PREFIX)) {
        let mut command = Command::new(std::env::current_exe().unwrap_or_default());
        command.args(["measure-workloads", peer]).args(options.arguments(folder, row));
        commands.push((peer.clone(), command));
    }
    commands
}

fn stdout_of(peer: &str, command: &mut Command) -> Result<String, String> {
    // Enough for counters and exports.
    compare::touch_memory(1_000_000);
    let output = command.output().map_err(|e| format!("{peer}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{peer}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Checks that equal rows have equal answers.
fn agree(lines: &[Line]) -> Result<(), String> {
    let mut known: BTreeMap<Row, &Line> = BTreeMap::new();
    for line in lines {
        let first = known.entry(line.work).or_insert(line);
        if first.checksum != line.checksum {
            return Err(format!("expected the same answer, found different ones: {first:?} and {line:?}"));
        }
    }
    Ok(())
}

/// PEER DOCS FOLDER MILLISECONDS ROW
pub fn measure(args: &[String]) -> Result<(), String> {
    let [name, docs, folder, milliseconds, row] = args else {
        return Err("measure-workloads: PEER DOCS FOLDER MILLISECONDS ROW".into());
    };
    let number = |text: &String| text.parse::<u32>().map_err(|e| format!("`{text}`: {e}"));
    let (docs, budget) = (number(docs)?, f64::from(number(milliseconds)?) * 1e6);
    let row = if row == "build" { None } else { Some(row.parse::<Row>()?) };
    let process =
        |peer, version| Process { peer, version, docs, file: process::file(folder.as_ref(), peer), budget };
    match name.as_str() {
        name if name.starts_with("docvalues") => {
            cpus::check(name)?;
            let file = process::file(folder.as_ref(), "docvalues");
            docvalues::run(&Process { file, ..process(cpus::this(), peer::locked("docvalues")) }, row);
        }
        name if name.starts_with(in_place::PREFIX) => {
            let peer = in_place::known(name)?;
            let file = process::file(folder.as_ref(), &in_place::lucene(peer));
            let process = Process { file, ..process(peer, peer::locked("docvalues-lucene")) };
            docvalues::in_place(&process, row.ok_or("its index is built by Lucene")?);
        }
        "tantivy" => tantivy::run(&process("tantivy", peer::locked("tantivy-columnar")), row),
        other => return Err(format!("expected a peer of this program, found `{other}`")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_answers_are_refused() {
        let line = |peer: &str, checksum| Line {
            peer: peer.to_owned(),
            version: String::new(),
            work: Row::Facet1,
            api: String::new(),
            ns_cpu: 1.0,
            ns_wall: 1.0,
            checksum,
        };
        assert!(agree(&[line("docvalues", 7), line("tantivy", 7)]).is_ok());
        assert!(agree(&[line("docvalues", 7), line("tantivy", 8)]).unwrap_err().contains("different"));
    }
}
