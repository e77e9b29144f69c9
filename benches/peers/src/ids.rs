//! Primary-key lookup over many segments: docvalues compared with Lucene's term dictionaries, its Bloom filters, the
//! crate `fst` and tantivy's sorted string tables (`benches/peers/run ids`).
//!
//! One process measures one shape of one peer. See README.md.

mod report;
mod rust_peers;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::compare;
use crate::id_kinds::IdKind;
use crate::lucene::{self, Lucene};
use crate::machine::{self, Machine};

pub use rust_peers::measure;

const HELP: &str = "\
usage: benches/peers/run ids [--quick] [--rounds N] [--only NAME]... [--report FOLDER]

  --quick          fewer shapes, and less time for each measurement
  --rounds N       rounds: measurements of each peer (3)
  --only NAME      only this peer or shape, beside docvalues. May be repeated
  --report FOLDER  folder of ids.md (docs/benchmarks; with --only a folder of the target directory)

peers: docvalues lucene lucene-10.5.0 lucene-10.3.1 lucene-9.12.3 fst tantivy
shapes: ids and segments, such as uuid-400x2500";

/// The kind of ids, the number of segments, and the ids of each, which are consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    pub kind: IdKind,
    pub segments: u32,
    pub each: u32,
}

const fn shape(kind: IdKind, segments: u32, each: u32) -> Shape {
    Shape { kind, segments, each }
}

/// The measured shapes; `--quick` measures the first [`QUICK`].
const SHAPES: [Shape; 9] = [
    shape(IdKind::Uuid, 400, 2_500),
    shape(IdKind::Uuid, 13, 76_923),
    shape(IdKind::Auto, 400, 2_500),
    shape(IdKind::Seq, 400, 2_500),
    shape(IdKind::Uuid, 1, 1_000_000),
    shape(IdKind::Auto, 13, 76_923),
    shape(IdKind::Auto, 1, 1_000_000),
    shape(IdKind::Seq, 1, 1_000_000),
    shape(IdKind::Uuid, 400, 25_000),
];

/// Ids between two readings of the clock.
const WINDOW: usize = 20_000;

/// The number of shapes of `--quick`.
const QUICK: usize = 4;

impl Shape {
    /// The number of ids.
    pub fn ids(self) -> u32 {
        self.segments * self.each
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}x{}", self.kind, self.segments, self.each)
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let parts = text.split_once('-').and_then(|(kind, rest)| Some((kind, rest.split_once('x')?)));
        let parts = parts.and_then(|(kind, (segments, each))| {
            let kind = kind.parse().ok()?;
            Some(shape(kind, segments.parse().ok()?, each.parse().ok()?))
        });
        parts
            .filter(|shape| shape.segments > 0 && shape.each > 0)
            .ok_or_else(|| format!("expected a shape such as uuid-400x2500, found `{text}`"))
    }
}

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    pub peer: String,
    /// `bytes`, `absent`, `present`, or a workload of docvalues alone.
    pub work: String,
    pub kind: String,
    pub segments: u32,
    pub each: u32,
    /// The number of lookups of `ns_cpu`.
    pub units: u64,
    pub ns_cpu: f64,
    pub ns_wall: f64,
    /// For `bytes`, the bytes. Otherwise, for each window of ids, the sum of the versions plus 1 of the ids found.
    pub checksums: Vec<i64>,
}

impl Line {
    /// The number of distinct ids looked up, if the shape has that many.
    fn asked(&self) -> u64 {
        self.checksums.len() as u64 * WINDOW as u64
    }
}

struct Options {
    rounds: u32,
    milliseconds: u32,
    peers: Vec<String>,
    shapes: Vec<Shape>,
    report: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options, String> {
        let mut options =
            Options { rounds: 3, milliseconds: 4_000, peers: Vec::new(), shapes: Vec::new(), report: None };
        let mut quick = false;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg}: expected a value\n\n{HELP}"));
            match arg.as_str() {
                "--quick" => (quick, options.milliseconds) = (true, 2_000),
                "--rounds" => options.rounds = value()?.parse().map_err(|e| format!("{arg}: {e}"))?,
                "--report" => options.report = Some(value()?.into()),
                "--only" => {
                    let name = value()?;
                    match name.parse() {
                        Ok(shape) => options.shapes.push(shape),
                        Err(_) => options.peers.push(name.clone()),
                    }
                }
                _ => return Err(HELP.to_owned()),
            }
        }
        let partial = !(options.peers.is_empty() && options.shapes.is_empty());
        if partial && options.report.is_none() {
            options.report = Some(target().join("partial"));
        }
        if options.shapes.is_empty() {
            options.shapes = SHAPES[..if quick { QUICK } else { SHAPES.len() }].to_vec();
        }
        Ok(options)
    }

    fn wants(&self, peer: &str) -> bool {
        self.peers.is_empty()
            || self.peers.iter().any(|wanted| peer == wanted || peer.starts_with(&format!("{wanted}-")))
    }
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target")
}

/// Measures all peers and writes the report.
pub fn run(args: &[String]) -> Result<(), String> {
    let options = Options::parse(args)?;
    let (root, folder) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), target().join("data/ids"));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("lucene");
    let lucenes = lucene::find(&java, &target(), |version| {
        lucene::FOR_IDS.contains(&version) && options.wants(&format!("lucene-{version}"))
    });
    let jvms = lucenes.iter().map(|lucene| (lucene.version.to_owned(), lucene.jvm.clone())).collect();
    let mut machine = Machine::detect(&root, 0, options.rounds, jvms);
    let mut lines = Vec::new();
    for round in 0..options.rounds {
        for &shape in &options.shapes {
            lines.extend(turn(&options, &lucenes, shape, round, &folder)?);
            machine.load.1 = machine::load();
            agree(&lines)?;
            let saved: Vec<String> =
                lines.iter().filter_map(|line| serde_json::to_string(line).ok()).collect();
            let _ = fs::write(target().join("ids.jsonl"), saved.join("\n"));
            // Keeps the measurements if a later one fails.
            let report = options.report.clone().unwrap_or_else(|| root.join("docs/benchmarks"));
            let path =
                report::write(&machine, &lines, &report).map_err(|e| format!("{}: {e}", report.display()))?;
            println!("{}", path.display());
        }
    }
    Ok(())
}

/// One round of a shape: each peer measures it once.
fn turn(
    options: &Options,
    lucenes: &[Lucene],
    shape: Shape,
    round: u32,
    folder: &Path,
) -> Result<Vec<Line>, String> {
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let (text, milliseconds) = (shape.to_string(), options.milliseconds.to_string());
    let mut commands = Vec::new();
    for peer in rust_peers::PEERS.into_iter().filter(|peer| *peer == "docvalues" || options.wants(peer)) {
        let mut command = Command::new(&this);
        command.args(["measure-ids", peer, &text]).arg(folder).arg(&milliseconds);
        commands.push((peer.to_owned(), command));
    }
    for lucene in lucenes {
        // Bloom filters are measured in the newest version alone.
        let with_filter = lucene.version == lucene::FOR_IDS[0];
        for filter in ["plain", "bloom"].into_iter().take(1 + usize::from(with_filter)) {
            let mut command = lucene.command();
            let Shape { kind, segments, each } = shape;
            command.args(["ids", kind.name(), &segments.to_string(), &each.to_string()]);
            command.arg(folder).args([&milliseconds, filter]);
            commands.push((format!("lucene-{}, {filter}", lucene.version), command));
        }
    }
    // The order changes, so that no peer always follows the same one.
    let first = round as usize % commands.len();
    commands.rotate_left(first);
    let mut lines = Vec::new();
    for (peer, mut command) in commands {
        eprintln!("round {} of {}: {shape}: {peer}", round + 1, options.rounds);
        compare::touch_memory(shape.ids());
        let output = command.output().map_err(|e| format!("{peer}: {e}"))?;
        if !output.status.success() {
            return Err(format!(
                "{peer}: {shape}: {}\n{}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            lines.push(serde_json::from_str(line).map_err(|e| format!("{peer}: {line}: {e}"))?);
        }
    }
    Ok(lines)
}

/// Checks that peers that looked up the same windows of ids found the same documents.
fn agree(lines: &[Line]) -> Result<(), String> {
    let mut sums: BTreeMap<(&str, &str, u32, u32), &Line> = BTreeMap::new();
    for line in
        lines.iter().filter(|line| line.work.starts_with("absent") || line.work.starts_with("present"))
    {
        let workload = line.work.split(',').next().unwrap_or_default();
        let known = sums.entry((workload, &line.kind, line.segments, line.each)).or_insert(line);
        if known.checksums.iter().zip(&line.checksums).any(|(known, found)| known != found) {
            return Err(format!("{known:?}, but {line:?}"));
        }
    }
    Ok(())
}
