//! The driver: starts a process for each column of each peer, round by round, and writes the record.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cpus::{self, Variant};
use crate::lucene::{self, Lucene};
use crate::machine::{self, Machine};
use crate::peer::in_place;
use crate::python::{self, Python};
use crate::report;
use crate::results::{PEERS, Results};
use crate::session::Line;
use crate::task::{Column, Workload};

const HELP: &str = "\
usage: benches/peers/run [--quick] [--docs N] [--rounds N] [--only NAME]... [--no-cpus] [--report FOLDER] [--keep]
       benches/peers/run workloads ...  another report; --help lists its options
       benches/peers/run report [FOLDER]      write the report of the last run again
       benches/peers/run against OLD [NEW]    print ratios to tantivy that differ by more than 10 % between two
                                              files of results (NEW: the last run's)

  --docs N         documents (10,000,000)
  --rounds N       rounds: measurements of each peer (3)
  --quick          1,000,000 documents, less time for each measurement, and --no-cpus
  --only NAME      only this peer, column or workload, beside docvalues. May be repeated
  --no-cpus        without docvalues-avx2 and docvalues-any, which are docvalues with AVX2 and with portable
                   kernels; --only can still name them
  --report FOLDER  folder of benchmarks/peers.json and of the plots (docs; with --only a folder of the target directory)
  --keep           read the files of the last run instead of building them again
  --in-place       Lucene 10.5 and 10.6, and docvalues on their indexes, also with lists of one: benchmarks/in-place.json

peers: docvalues docvalues-avx2 docvalues-any lucene lucene-10.5.0 lucene-9.12.3 lucene-8.0.0 lucene-7.7.3 tantivy
       parquet parquet-small; and for `take` vortex and lance, if target/venv has their Python wheels (--only take,
       vortex or lance installs them); for --in-place lucene-10.6.0, lucene-…-lists, in-place-…, in-place-10.5.0-built,
       in-place-10.5.0-walk";

/// The peers of this program, docvalues first.
const HERE: [&str; 4] = ["docvalues", "tantivy", "parquet", "parquet-small"];

struct Options {
    docs: u32,
    rounds: u32,
    milliseconds: u32,
    peers: Vec<String>,
    columns: Vec<Column>,
    workloads: Vec<Workload>,
    report: Option<PathBuf>,
    cpus: bool,
    keep: bool,
    in_place: bool,
    /// Whether only some peers, columns or workloads were asked for.
    is_partial: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options, String> {
        let mut options = Options {
            docs: 0,
            rounds: 3,
            milliseconds: 300,
            peers: Vec::new(),
            columns: Vec::new(),
            workloads: Vec::new(),
            report: None,
            cpus: true,
            keep: false,
            in_place: false,
            is_partial: false,
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
        options.is_partial =
            !(options.peers.is_empty() && options.columns.is_empty() && options.workloads.is_empty());
        if options.in_place {
            options.fill_in_place();
        }
        if options.docs == 0 {
            options.docs = if options.milliseconds < 300 { 1_000_000 } else { 10_000_000 };
        }
        Ok(options)
    }

    /// What `--in-place` measures, unless some of it was named.
    fn fill_in_place(&mut self) {
        if self.peers.is_empty() {
            let versions = lucene::IN_PLACE.iter();
            self.peers = versions
                .flat_map(|version| ["lucene", "in-place"].map(|kind| format!("{kind}-{version}")))
                .collect();
            self.peers.extend(["in-place-10.5.0-built", "in-place-10.5.0-walk"].map(str::to_owned));
        }
        if self.columns.is_empty() {
            let columns = Column::ALL.iter().copied();
            self.columns = columns.filter(|column| column.parts().is_none()).collect();
        }
        if self.workloads.is_empty() {
            let reads = Workload::ALL.iter().copied().filter(|work| work.is_read());
            self.workloads = reads.filter(|work| !matches!(work, Workload::Open | Workload::Take)).collect();
        }
    }

    fn only(&mut self, name: &str) -> Result<(), String> {
        if let Ok(column) = name.parse() {
            self.columns.push(column);
        } else if let Ok(work) = name.parse() {
            self.workloads.push(work);
        } else if PEERS.iter().any(|peer| peer.0 == name) || name == "lucene" {
            self.peers.push(name.to_owned());
        } else {
            return Err(format!("--only: expected a peer, column or workload, found `{name}`\n\n{HELP}"));
        }
        Ok(())
    }

    fn wants_peer(&self, name: &str) -> bool {
        self.peers.is_empty()
            || self.peers.iter().any(|peer| name == peer || name.starts_with(&format!("{peer}-1")))
    }

    fn wants_lucene(&self, version: &str) -> bool {
        self.peers.is_empty()
            || self.peers.iter().any(|peer| peer == "lucene" || *peer == format!("lucene-{version}"))
    }

    /// Whether a peer in Python is named.
    fn names_python(&self) -> bool {
        python::PEERS.iter().any(|peer| self.peers.iter().any(|wanted| wanted == peer))
            || self.peers.is_empty() && self.workloads.contains(&Workload::Take)
    }

    fn wants_limited(&self, name: &str) -> bool {
        if self.peers.is_empty() { self.cpus } else { self.peers.iter().any(|peer| peer == name) }
    }

    fn columns(&self) -> &[Column] {
        if self.columns.is_empty() { Column::ALL } else { &self.columns }
    }

    /// The workloads that `peer` measures on `column`.
    fn workloads(&self, peer: &str, column: Column) -> Vec<Workload> {
        let wanted = if self.workloads.is_empty() { Workload::ALL } else { &self.workloads };
        // A batch workload also counts single lookups; memory is read after a scan.
        let is_needed = |work: Workload| {
            work.also().is_some_and(|also| wanted.contains(&also))
                || work == Workload::Scan && wanted.contains(&Workload::Memory)
        };
        let (is_python, is_parquet) = (python::PEERS.contains(&peer), peer.starts_with("parquet"));
        let is_for = |work: Workload| match work {
            _ if in_place::is_mode(peer) => matches!(work, Workload::Random | Workload::RandomSingle),
            // They are the same in both.
            _ if peer.ends_with("-lists") && matches!(column, Column::Url | Column::Tags) => false,
            Workload::ThreeColumns | Workload::ThreeColumns64 => {
                column.parts().is_some() && !is_python && !is_parquet
            }
            _ if column.parts().is_some() => false,
            Workload::Take => !matches!(column, Column::Url | Column::Tags) && !is_parquet,
            _ if is_python => false,
            Workload::Build => !self.keep && !cpus::is_variant(peer),
            // Variants of docvalues read the files of docvalues.
            _ => work.is_read() || !cpus::is_variant(peer),
        };
        let workloads = Workload::ALL.iter().copied();
        workloads.filter(|&work| (wanted.contains(&work) || is_needed(work)) && is_for(work)).collect()
    }
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target")
}

/// Measures all peers and writes the report.
pub fn run(args: &[String]) -> Result<(), String> {
    let options = Options::parse(args)?;
    let folder = target().join("data").join(options.docs.to_string());
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let versions = if options.in_place { lucene::IN_PLACE } else { lucene::FOR_COLUMNS };
    let lucenes = lucene::find(&package.join("lucene"), &target(), |version| {
        versions.contains(&version) && options.wants_lucene(version)
    });
    let variants = cpus::variants(|peer| options.wants_limited(peer));
    let python = python::find(package, &target(), options.names_python());
    let peers = Peers { lucenes: &lucenes, variants: &variants, python: python.as_ref() };
    let jvms = lucenes.iter().map(|lucene| (lucene.version.to_owned(), lucene.jvm.clone())).collect();
    let mut machine = Machine::detect(root(), options.docs, options.rounds, jvms);

    let mut lines = Vec::new();
    // A partial run keeps the results of the complete one.
    let results_file = target().join(match (options.is_partial, options.in_place) {
        (true, _) => "partial.jsonl",
        (false, true) => "in-place.jsonl",
        (false, false) => "results.jsonl",
    });
    for round in 0..options.rounds {
        for &column in options.columns() {
            lines.extend(turn(&options, &peers, column, round, &folder)?);
            // Keeps the measurements if a later one fails.
            machine.load.1 = machine::load();
            save(&results_file, &machine, &lines).map_err(|e| format!("{}: {e}", results_file.display()))?;
        }
    }
    let partial = options.is_partial.then(|| target().join("partial"));
    let report_folder = options.report.clone().or(partial).unwrap_or_else(|| root().join("docs"));
    finish(&machine, lines, &report_folder, options.in_place)
}

/// The peers in other programs.
struct Peers<'a> {
    lucenes: &'a [Lucene],
    variants: &'a [Variant],
    python: Option<&'a Python>,
}

/// One round of a column: each peer measures it once.
fn turn(
    options: &Options,
    peers: &Peers<'_>,
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
        .chain(peers.variants.iter().map(|one| (one.peer.to_owned(), one.command("measure"))))
        .chain(peers.lucenes.iter().map(|lucene| (format!("lucene-{}", lucene.version), lucene.command())))
        .chain(peers.python.into_iter().flat_map(|python| {
            let wanted = python::PEERS.into_iter().filter(|peer| options.wants_peer(peer));
            wanted.map(|peer| (peer.to_owned(), python.command(peer)))
        }))
        .collect();
    // The order changes, so that no peer always follows the same one.
    let first = round as usize % commands.len();
    commands.rotate_left(first);
    // Last, because Lucene's processes of the first round write the indexes.
    for peer in options.peers.iter().filter(|peer| peer.starts_with(in_place::PREFIX)) {
        let mut command = Command::new(&this);
        command.args(["measure", peer]);
        commands.push((peer.clone(), command));
    }
    let mut lines = Vec::new();
    for (peer, mut command) in commands {
        let workloads = options.workloads(&peer, column);
        if workloads.is_empty() {
            continue;
        }
        if python::PEERS.contains(&&*peer) {
            python::write(column, options.docs, folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        eprintln!("round {} of {}: {column}: {peer}", round + 1, options.rounds);
        command.args([column.name(), &options.docs.to_string()]).arg(folder);
        let workloads: Vec<&str> = workloads.into_iter().map(Workload::name).collect();
        command.args([options.milliseconds.to_string(), workloads.join(",")]);
        touch_memory(options.docs);
        let output = command.output().map_err(|e| format!("{peer}: {e}"))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{peer}: {column}: {}\n{message}", output.status));
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            lines.push(serde_json::from_str(line).map_err(|e| format!("{peer}: {line}: {e}"))?);
        }
    }
    Ok(lines)
}

/// Allocates, touches and frees memory.
///
/// A virtual machine returns free memory to its host after a while. The next process to use it waits up to a hundred
/// times as long as for a usual first touch. Without this call, that would be the first peer.
pub fn touch_memory(docs: u32) {
    /// Memory of building the largest column.
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
    let (machine, lines) = load(&target().join("results.jsonl"))?;
    let folder = args.first().map_or_else(|| root().join("docs"), PathBuf::from);
    finish(&machine, lines, &folder, false)
}

fn load(path: &Path) -> Result<(Machine, Vec<Line>), String> {
    let error = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let text = fs::read_to_string(path).map_err(|e| error(&e))?;
    let (machine, lines) = text.split_once('\n').ok_or_else(|| error(&"no results"))?;
    let machine = serde_json::from_str(machine).map_err(|e| error(&e))?;
    let lines = lines.lines().map(|line| serde_json::from_str(line).map_err(|e| error(&e)));
    Ok((machine, lines.collect::<Result<_, _>>()?))
}

/// Prints how ratios to tantivy differ between two files of results: `against OLD [NEW]`.
pub fn against(args: &[String]) -> Result<(), String> {
    let [old, new] = match args {
        [old] => [PathBuf::from(old), target().join("results.jsonl")],
        [old, new] => [old.into(), new.into()],
        _ => return Err(HELP.to_owned()),
    };
    let [old, new] = [old, new].map(|path| Results::new(load(&path)?.1));
    print!("{}", report::differences(&old?, &new?));
    Ok(())
}

fn finish(machine: &Machine, lines: Vec<Line>, folder: &Path, in_place: bool) -> Result<(), String> {
    let results = Results::new(lines)?;
    let written = if in_place {
        report::write_in_place(machine, &results, folder)
    } else {
        report::write(machine, &results, folder)
    };
    let written = written.map_err(|e| format!("{}: {e}", folder.display()))?;
    print!("{}", report::summary(&results, usize::MAX));
    println!("{} answers were equal", results.compared);
    println!("{}; UPDATE_SNAPSHOTS=1 cargo test -p docvalues --test pages rewrites pages", written.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(args: &[&str]) -> Options {
        Options::parse(&args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn variants_only_read() {
        let all = options(&[]);
        assert!(all.workloads("docvalues", Column::Ts).contains(&Workload::Build));
        let workloads = all.workloads("docvalues-avx2", Column::Ts);
        assert!(workloads.contains(&Workload::Scan) && workloads.iter().all(|work| work.is_read()));
    }

    #[test]
    fn variants_run_only_if_wanted() {
        assert!(options(&[]).wants_limited("docvalues-any"));
        assert!(!options(&["--quick"]).wants_limited("docvalues-any"));
        assert!(!options(&["--no-cpus"]).wants_limited("docvalues-any"));
        assert!(!options(&["--only", "tantivy"]).wants_limited("docvalues-any"));
        assert!(options(&["--quick", "--only", "docvalues-any"]).wants_limited("docvalues-any"));
    }

    #[test]
    fn peers_run_supported_workloads() {
        let all = options(&[]);
        assert_eq!(
            all.workloads("lucene-10.5.0", Column::Three),
            [Workload::ThreeColumns, Workload::ThreeColumns64]
        );
        assert_eq!(all.workloads("parquet", Column::Three), []);
        assert_eq!(all.workloads("lance", Column::Ts), [Workload::Take]);
        assert_eq!(all.workloads("lance", Column::Tags), []);
    }

    #[test]
    fn batch_workloads_include_single_lookups() {
        let workloads = options(&["--only", "gather-1"]).workloads("tantivy", Column::Ts);
        assert_eq!(workloads, [Workload::Gather1, Workload::Get1]);
    }
}
