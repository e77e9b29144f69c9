//! Measures adds, versioned upserts, refreshes and a mixed load of the store, as in docs/benchmarks/store.md; of Lucene,
//! too, with `--lucene`. Other works are of the store only: see `--help`.
//!
//! Prints a table for each work and number of segments. With `--json`, also a line for each case.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

mod alone;
mod base;
mod beside_merges;
mod check;
mod child;
mod many;
mod memory;
mod million;
mod mixed;
mod ours;
mod plot;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use docvalues_benches::ingest;
use docvalues_benches::lucene::{self, Lucene};

use ours::Ours;

/// Measure adds, upserts, refreshes and a mixed load
#[derive(Parser)]
struct Args {
    /// Number of documents that are there before upserts, refreshes and the mixed load
    #[arg(long, value_name = "N", default_value = "200_000", value_parser = docvalues_benches::count)]
    docs: u32,

    /// Number of documents that are added or upserted in a round
    #[arg(long, value_name = "N", default_value = "20_000", value_parser = docvalues_benches::count)]
    operations: u32,

    /// Length of a round of the mixed load, and of batches beside merges
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    seconds: u32,

    /// Numbers of segments of these documents; Lucene merges more than 100 only in million
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [13, 400])]
    segments: Vec<u32>,

    /// Number of threads that search in mixed
    #[arg(long, value_name = "N", default_value_t = 1)]
    searchers: u32,

    /// Drop the files of the index from the page cache before each round of mixed
    #[arg(long)]
    cold: bool,

    /// Number of stores that are open at a time, for many
    #[arg(long, value_name = "N", default_value_t = 192)]
    stores: u32,

    /// Number of documents in each of their segments
    #[arg(long, value_name = "N", default_value_t = 20)]
    segment_docs: u32,

    /// Works to measure
    #[arg(long, value_name = "WORK,…", value_delimiter = ',', value_enum, default_values_t = Work::ALL)]
    only: Vec<Work>,

    /// Also measure Lucene: needs Maven and a JDK from 21 on
    #[arg(long)]
    lucene: bool,

    /// Versions of Lucene
    #[arg(long, value_name = "VERSION,…", value_delimiter = ',', default_value = "10.5.0")]
    versions: Vec<String>,

    /// Major version of the JDK that runs Lucene, such as 21: in JAVA_HOME or /usr/lib/jvm, also one without a compiler
    #[arg(long, value_name = "MAJOR", requires = "lucene")]
    jdk: Option<u32>,

    /// Also measure Lucene with a Bloom filter on the ids
    #[arg(long, requires = "lucene")]
    bloom: bool,

    /// Also measure million with Lucene's throttled merges
    #[arg(long, requires = "lucene")]
    throttle: bool,

    /// Folder for indexes, which are kept
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,

    /// Folder for plots of documents a second over time
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,

    /// Also print a line of JSON for each case
    #[arg(long)]
    json: bool,

    /// Run this case of the one work, and print its figures
    #[arg(long, value_name = "CASE", hide = true)]
    case: Option<usize>,

    /// Drop the files in a folder from the page cache, and do nothing else: for Lucene's side
    #[arg(long, value_name = "DIR", hide = true)]
    forget: Option<PathBuf>,
}

/// A work to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Work {
    /// Documents without and with ids, into an empty index; into the store also with an observer
    Adds,
    /// Documents with versions, the ids looked up in the segments that are there
    Upserts,
    /// Making documents visible
    Refresh,
    /// Upserts in small batches, while other threads search
    Mixed,
    /// Documents a second over time: new ids in small batches beside searches, as many as --operations, with merges and
    /// without, also into an empty index
    Million,
    /// Upserts by 1 to 16 threads; of the store only
    Threads,
    /// Batches that are durable when they are acknowledged, beside bare syncs; of the store only
    Durable,
    /// CPU time of the id check, and its share of a core at 640 documents a second; of the store only
    Check,
    /// The times of batches while other threads merge and commit; of the store only
    BesideMerges,
    /// The peak memory of as many upserts as there are documents, in a process of its own; of the store only
    Memory,
    /// Mappings, open files and memory of many stores of small segments; of the store only
    Many,
}

impl Work {
    const ALL: [Work; 11] = [
        Work::Adds,
        Work::Upserts,
        Work::Refresh,
        Work::Mixed,
        Work::Million,
        Work::Threads,
        Work::Durable,
        Work::Check,
        Work::BesideMerges,
        Work::Memory,
        Work::Many,
    ];

    fn name(self) -> &'static str {
        match self {
            Work::Adds => "adds",
            Work::Upserts => "upserts",
            Work::Refresh => "refresh",
            Work::Mixed => "mixed",
            Work::Million => "million",
            Work::Threads => "threads",
            Work::Durable => "durable",
            Work::Check => "check",
            Work::BesideMerges => "beside-merges",
            Work::Memory => "memory",
            Work::Many => "many",
        }
    }

    /// Whether Lucene is measured, too.
    fn has_peer(self) -> bool {
        matches!(self, Work::Adds | Work::Upserts | Work::Refresh | Work::Mixed | Work::Million)
    }

    /// The heading of its table: the sizes with which it is measured.
    fn shapes(self, segments: &[u32]) -> Vec<u32> {
        match self {
            // These begin without segments.
            Work::Adds | Work::Threads | Work::Durable | Work::Memory => segments[..1].to_vec(),
            Work::Many => segments.iter().copied().max().into_iter().collect(),
            Work::Million => [0].into_iter().chain(segments.iter().copied()).collect(),
            _ => segments.to_vec(),
        }
    }

    /// The numbers of segments with which it is measured.
    fn heading(self, args: &Args, segments: u32) -> String {
        let Args { docs, operations, segment_docs, searchers, cold, .. } = args;
        match self {
            Work::Adds | Work::Threads | Work::Durable => format!("{operations} documents"),
            Work::Memory => format!("{docs} documents"),
            Work::Many => format!("{segments} segments of {segment_docs} documents"),
            Work::Million => format!("{segments} segments, {operations} new ids"),
            Work::Mixed => {
                let pages = if *cold { "cold" } else { "warm" };
                format!("{segments} segments, {docs} documents, {searchers} searching, {pages}")
            }
            _ => format!("{segments} segments, {docs} documents"),
        }
    }
}

/// The figures of a case by name: as in the JSON of `Ingest.java`.
type Figures = BTreeMap<String, String>;

/// The figures of one program.
struct Peer {
    name: String,
    cases: Vec<Figures>,
}

fn main() {
    let args = Args::parse();
    if let Some(folder) = &args.forget {
        return base::forget_all(folder);
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = args.folder.clone().unwrap_or_else(|| here.join("../target/ingest"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let wanted = |version: &str| args.lucene && args.versions.iter().any(|wanted| wanted == version);
    let lucenes =
        lucene::find_on(args.jdk, &here.join("peers/lucene"), &here.join("../target/lucene"), wanted);
    for &work in &args.only {
        for segments in work.shapes(&args.segments) {
            if let Some(case) = args.case {
                child::run(&Ours { args: &args, folder: &folder, segments }, work, case);
                continue;
            }
            let cases = ours::cases(&args, &folder, work, segments);
            let mut peers = vec![Peer { name: "docvalues".to_owned(), cases }];
            let lucenes = if work.has_peer() { &lucenes[..] } else { &[] };
            for lucene in lucenes {
                peers.push(theirs(&args, &folder, lucene, work, segments, false));
                if args.bloom {
                    peers.push(theirs(&args, &folder, lucene, work, segments, true));
                }
            }
            println!("\n## {}, {}\n", work.name(), work.heading(&args, segments));
            print(&peers);
            if let (Work::Million, Some(plots)) = (work, &args.plots) {
                std::fs::create_dir_all(plots).expect("a folder");
                let svg = plot::draw(&args, segments, &peers).expect("rates");
                std::fs::write(plots.join(format!("million-{segments}.svg")), svg).expect("a disk with room");
            }
            if args.json {
                peers.iter().for_each(|peer| print_json(&peer.cases));
            }
        }
    }
}

/// The figures of a version of Lucene.
fn theirs(args: &Args, folder: &Path, lucene: &Lucene, work: Work, segments: u32, bloom: bool) -> Peer {
    let mut command = lucene.command_of("Ingest");
    command.args([work.name(), &args.docs.to_string()]).arg(folder);
    command.args([args.operations, args.seconds, segments, args.searchers].map(|number| number.to_string()));
    command.args(bloom.then_some("bloom"));
    command.args(args.throttle.then_some("throttle"));
    if args.cold {
        let program = std::env::current_exe().expect("this program");
        command.arg(format!("cold={}", program.display()));
    }
    let output = command.output().expect("a JVM");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut cases: Vec<Figures> = String::from_utf8_lossy(&output.stdout).lines().filter_map(parse).collect();
    let checksums = cases.extract_if(.., |case| case["work"] == "documents");
    for checksum in checksums {
        let same = ingest::checksum(12_345, 1_000) & 0xffff_ffff_ffff;
        assert_eq!(checksum["checksum"].split('.').next(), Some(&*same.to_string()), "the same documents");
    }
    let filter = if bloom { ", Bloom filter" } else { "" };
    Peer { name: format!("Lucene {}{filter} ({})", lucene.version, lucene.jvm), cases }
}

/// The pairs of a flat object of JSON, without commas or colons in names and texts of Lucene's side.
fn parse(line: &str) -> Option<Figures> {
    let object = line.strip_prefix('{')?.strip_suffix('}')?;
    let pair = |pair: &str| {
        let (name, value) = pair.split_once(':')?;
        Some((name.trim_matches('"').to_owned(), value.trim_matches('"').to_owned()))
    };
    // A comma in a text is followed by a space.
    let mut parts: Vec<String> = Vec::new();
    for part in object.split(',') {
        match parts.last_mut() {
            Some(last) if part.starts_with(' ') => {
                last.push(',');
                last.push_str(part);
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts.iter().map(|part| pair(part)).collect()
}

/// Columns that are in a heading, or not for people.
const HIDDEN: [&str; 6] = ["peer", "version", "work", "case", "docs", "segments"];

fn print(peers: &[Peer]) {
    let Some(first) = peers.iter().find_map(|peer| peer.cases.first()) else { return };
    let columns: Vec<&String> = first.keys().filter(|name| !HIDDEN.contains(&name.as_str())).collect();
    let names: String = columns.iter().map(|name| format!(" {} |", name.replace('_', " "))).collect();
    println!("| | |{names}\n| --- | --- |{}", " ---: |".repeat(columns.len()));
    for peer in peers {
        for case in &peer.cases {
            let cell = |column: &&String| case.get(*column).map(|value| rounded(value)).unwrap_or_default();
            let cells = columns.iter().map(|column| format!(" {} |", cell(column)));
            println!("| {} | {} |{}", case["case"], peer.name, cells.collect::<String>());
        }
    }
}

/// A number with about three digits, or a text as it is.
fn rounded(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if number >= 100.0 => format!("{number:.0}"),
        Ok(number) => format!("{number:.2}"),
        Err(_) => value.to_owned(),
    }
}

fn print_json(cases: &[Figures]) {
    for case in cases {
        let pairs: Vec<String> = case.iter().map(|(name, value)| format!("\"{name}\":\"{value}\"")).collect();
        println!("{{{}}}", pairs.join(","));
    }
}
