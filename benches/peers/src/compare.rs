//! The driver: starts a process for each column of each peer, round by round, and writes the report.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lucene::{self, Lucene};
use crate::machine::{self, Machine};
use crate::report;
use crate::results::Results;
use crate::session::Line;
use crate::task::{Column, Work};

const HELP: &str = "\
usage: benches/peers/run [--quick] [--docs N] [--rounds N] [--only NAME]... [--report FOLDER] [--keep]

  --docs N         documents (10,000,000)
  --rounds N       how often each peer has its turn (3)
  --quick          1,000,000 documents and less time for each measurement
  --only NAME      only this peer, column or work; docvalues is always there. May be repeated
  --report FOLDER  where benchmarks-peers.md goes (docs; with --only a folder of the target directory)
  --keep           read the files of the last run instead of building them again

peers: docvalues lucene lucene-10.5.0 lucene-9.12.3 lucene-8.0.0 lucene-7.7.3 tantivy parquet parquet-small";

/// The peers of this program, docvalues first.
const HERE: [&str; 4] = ["docvalues", "tantivy", "parquet", "parquet-small"];

struct Options {
    docs: u32,
    rounds: u32,
    milliseconds: u32,
    peers: Vec<String>,
    columns: Vec<Column>,
    works: Vec<Work>,
    report: Option<PathBuf>,
    keep: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options, String> {
        let mut options = Options {
            docs: 0,
            rounds: 3,
            milliseconds: 300,
            peers: Vec::new(),
            columns: Vec::new(),
            works: Vec::new(),
            report: None,
            keep: false,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg}: a value is missing\n\n{HELP}"));
            let number = |text: &String| {
                text.replace(['_', ','], "").parse::<u32>().map_err(|e| format!("{arg} {text}: {e}"))
            };
            match arg.as_str() {
                "--docs" => options.docs = number(value()?)?,
                "--rounds" => options.rounds = number(value()?)?.max(1),
                "--quick" => options.milliseconds = 60,
                "--only" => options.only(value()?)?,
                "--report" => options.report = Some(value()?.into()),
                "--keep" => options.keep = true,
                _ => return Err(HELP.to_owned()),
            }
        }
        if options.docs == 0 {
            options.docs = if options.milliseconds < 300 { 1_000_000 } else { 10_000_000 };
        }
        Ok(options)
    }

    fn only(&mut self, name: &str) -> Result<(), String> {
        if let Ok(column) = name.parse() {
            self.columns.push(column);
        } else if let Ok(work) = name.parse() {
            self.works.push(work);
        } else if HERE.contains(&name) || name.starts_with("lucene") {
            self.peers.push(name.to_owned());
        } else {
            return Err(format!("--only {name}: no such peer, column or work\n\n{HELP}"));
        }
        Ok(())
    }

    fn is_partial(&self) -> bool {
        !(self.peers.is_empty() && self.columns.is_empty() && self.works.is_empty())
    }

    fn wants_peer(&self, name: &str) -> bool {
        self.peers.is_empty()
            || self.peers.iter().any(|peer| name == peer || name.starts_with(&format!("{peer}-1")))
    }

    fn wants_lucene(&self, version: &str) -> bool {
        self.peers.is_empty()
            || self.peers.iter().any(|peer| peer == "lucene" || *peer == format!("lucene-{version}"))
    }

    fn columns(&self) -> &[Column] {
        if self.columns.is_empty() { Column::ALL } else { &self.columns }
    }

    fn works(&self) -> String {
        let works = if self.works.is_empty() { Work::ALL } else { &self.works };
        // The fastest way to look up is among both kinds of ways; memory is looked at after a scan.
        let pairs =
            [(Work::Random, Work::RandomSingle), (Work::TermsBatch, Work::Terms), (Work::Memory, Work::Scan)];
        let mut works: Vec<Work> = works.to_vec();
        for (work, needed) in pairs {
            if works.contains(&work) && !works.contains(&needed) {
                works.push(needed);
            }
        }
        works.retain(|&work| !(self.keep && work == Work::Build));
        works.iter().map(|work| work.name()).collect::<Vec<_>>().join(",")
    }
}

/// The repository's folder.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target")
}

/// Measures and reports.
pub fn run(args: &[String]) -> Result<(), String> {
    let options = Options::parse(args)?;
    let folder = target().join("data").join(options.docs.to_string());
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let lucenes = lucene::find(&Path::new(env!("CARGO_MANIFEST_DIR")).join("lucene"), &target(), |version| {
        lucene::FOR_COLUMNS.contains(&version) && options.wants_lucene(version)
    });
    let jvms = lucenes.iter().map(|lucene| (lucene.version.to_owned(), lucene.jvm.clone())).collect();
    let mut machine = Machine::look(root(), options.docs, options.rounds, jvms);

    let mut lines = Vec::new();
    // A partial run leaves the complete one alone.
    let results_file = target().join(if options.is_partial() { "partial.jsonl" } else { "results.jsonl" });
    for round in 0..options.rounds {
        for &column in options.columns() {
            lines.extend(turn(&options, &lucenes, column, round, &folder)?);
            // What was measured stays, should the rest fail.
            machine.load.1 = machine::load();
            save(&results_file, &machine, &lines).map_err(|e| format!("{}: {e}", results_file.display()))?;
        }
    }
    let partial = options.is_partial().then(|| target().join("partial"));
    let report_folder = options.report.clone().or(partial).unwrap_or_else(|| root().join("docs"));
    finish(&machine, lines, &report_folder)
}

/// Every peer's turn at a column.
fn turn(
    options: &Options,
    lucenes: &[Lucene],
    column: Column,
    round: u32,
    folder: &Path,
) -> Result<Vec<Line>, String> {
    let here = HERE.iter().filter(|&&peer| peer == "docvalues" || options.wants_peer(peer));
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut commands: Vec<(String, Command)> = here
        .map(|&peer| {
            let mut command = Command::new(&this);
            command.args(["measure", peer]);
            (peer.to_owned(), command)
        })
        .chain(lucenes.iter().map(|lucene| (format!("lucene-{}", lucene.version), lucene.command())))
        .collect();
    // Nobody always comes after the same neighbour.
    let first = round as usize % commands.len();
    commands.rotate_left(first);
    let mut lines = Vec::new();
    for (peer, mut command) in commands {
        eprintln!("round {} of {}: {column}: {peer}", round + 1, options.rounds);
        command.args([column.name(), &options.docs.to_string()]).arg(folder);
        command.args([options.milliseconds.to_string(), options.works()]);
        touch_memory(options.docs);
        let said = command.output().map_err(|e| format!("{peer}: {e}"))?;
        if !said.status.success() {
            let told = String::from_utf8_lossy(&said.stderr);
            return Err(format!("{peer}: {column}: {}\n{told}", said.status));
        }
        for line in String::from_utf8_lossy(&said.stdout).lines() {
            lines.push(serde_json::from_str(line).map_err(|e| format!("{peer}: {line}: {e}"))?);
        }
    }
    Ok(lines)
}

/// Uses memory, and gives it back.
///
/// A virtual machine hands free memory to its host after a while; whoever needs it first then waits for it,
/// at up to a hundred times what a first touch costs otherwise. That shall not be the peer that comes first.
pub fn touch_memory(docs: u32) {
    /// What the largest column takes while it is built.
    const BYTES_PER_DOC: usize = 200;
    const PAGE: usize = 4 << 10;
    let mut memory = vec![0_u8; docs as usize * BYTES_PER_DOC];
    memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    std::hint::black_box(&memory);
}

fn save(path: &Path, machine: &Machine, lines: &[Line]) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    writeln!(file, "{}", serde_json::to_string(machine)?)?;
    for line in lines {
        writeln!(file, "{}", serde_json::to_string(line)?)?;
    }
    file.flush()
}

/// Writes the report of the last run again: `report [FOLDER]`.
pub fn report_again(args: &[String]) -> Result<(), String> {
    let path = target().join("results.jsonl");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let (machine, lines) = text.split_once('\n').ok_or("no results")?;
    let machine = serde_json::from_str(machine).map_err(|e| e.to_string())?;
    let lines = lines.lines().map(|line| serde_json::from_str(line).map_err(|e| e.to_string()));
    let folder = args.first().map_or_else(|| root().join("docs"), PathBuf::from);
    finish(&machine, lines.collect::<Result<_, _>>()?, &folder)
}

fn finish(machine: &Machine, lines: Vec<Line>, folder: &Path) -> Result<(), String> {
    let results = Results::new(lines)?;
    let written =
        report::write(machine, &results, folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    print!("{}", report::summary(&results, usize::MAX));
    println!("{}", written.display());
    Ok(())
}
