//! Measures commits, opening, searches with deleted documents, and merges of a store, as in docs/benchmarks/store.md.
//!
//! Prints a table: the median wall-clock time of what waits for the disk, the least CPU time of the rest.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

use std::fs::File;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use clap::Parser;
use docvalues::Field;
use docvalues::column::DocAddress;
use docvalues::prelude::*;
use docvalues::search::facet::{Facet, FacetCounts};
use docvalues::search::{Docs, Query};
use docvalues::store::{Snapshot, Store, StoreOptions, StoreReader, StoreSchema};
use docvalues_benches::clock::cpu_time;
use docvalues_benches::data::{self, Strings};

/// Measure commits, opening, searches and merges of a store
#[derive(Parser)]
struct Args {
    /// Number of documents
    #[arg(long, value_name = "N", default_value = "1_000_000", value_parser = docvalues_benches::count)]
    docs: u32,

    /// Numbers of segments
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [13, 400])]
    segments: Vec<u32>,
}

/// Documents that are deleted before each commit.
const DELETED: u32 = 1_000;

/// Commits and openings, of which the median counts.
const ROUNDS: usize = 15;

fn main() {
    let args = Args::parse();
    for segments in args.segments {
        println!("\n{segments} segments, {} documents", args.docs);
        let folder = tempfile::tempdir().expect("a temporary folder");
        measure(folder.path(), args.docs, segments);
    }
}

fn measure(folder: &Path, docs: u32, segments: u32) {
    let path = folder.join("store");
    drop(build(&path, docs, segments));
    tell("opening for writing", "ms", || median(|| wall(|| open(&path))));
    let store = open(&path);
    tell("opening for reading", "ms", || median(|| wall(|| read(&path))));
    let before = searches(&store.snapshot());
    commits(&store, folder, docs / segments);
    let snapshot = store.snapshot();
    tell("snapshot, taken and dropped", "ms", || cpu(|| store.snapshot()));
    delete_a_tenth(&store);
    println!("deleted of {docs}: {}", u64::from(docs) - store.snapshot().docs());
    for ((name, before), (_, after)) in before.into_iter().zip(searches(&store.snapshot())) {
        println!("{name}: {before:.3} ms, with deleted documents {after:.3} ms, ratio {:.3}", after / before);
    }
    drop(snapshot);
    store.commit().expect("a commit");
    let live = store.snapshot().docs();
    let took = cpu_once(|| store.merge_to(1).expect("a merge"));
    println!("merge into one segment: {:.0} ns of CPU a document", took / live as f64 * 1e6);
    let first = cpu_once(|| search_facet(&store.snapshot()));
    let second = cpu(|| search_facet(&store.snapshot()));
    println!("first facet after the merge: {:.2} of the second", first / second);
}

fn build(path: &Path, docs: u32, segments: u32) -> Store {
    let fields = [
        Field::new("id", docvalues::Kind::Binary, LogicalType::Utf8),
        Field::new("size", docvalues::Kind::Numeric, LogicalType::I64),
        Field::new("host", docvalues::Kind::Sorted, LogicalType::Utf8),
    ];
    let schema = fields.into_iter().try_fold(StoreSchema::new(), StoreSchema::with_field).expect("a schema");
    let schema = schema.with_id_field("id").expect("a binary field");
    let store = Store::create(path, schema, StoreOptions::default()).expect("a store");
    let each = docs / segments;
    let (sizes, hosts) = (data::numbers("size", docs), data::hosts(docs));
    for first in (0..segments).map(|segment| segment * each) {
        let mut segment = store.new_segment().expect("a file");
        let fields = ["id", "size", "host"].map(|name| segment.field(name).expect("a field"));
        for at in first..first + each {
            let mut doc = segment.document();
            let at = at as usize;
            doc.str(fields[0], &format!("doc-{at:09}")).expect("text");
            doc.i64(fields[1], sizes.values[at]).expect("a number");
            doc.str(fields[2], host(&hosts, at)).expect("text");
            doc.finish().expect("a document");
        }
        segment.finish().expect("a segment");
    }
    store.commit().expect("a commit");
    store
}

fn host(hosts: &Strings, at: usize) -> &str {
    let place = |at: usize| usize::try_from(hosts.offsets[at]).expect("memory");
    std::str::from_utf8(&hosts.bytes[place(at)..place(at + 1)]).expect("text")
}

/// Commits of scattered deletes, and the same bytes written by the bare calls.
fn commits(store: &Store, folder: &Path, each: u32) {
    let (mut ours, mut bare, mut largest) = (Vec::new(), Vec::new(), 0);
    for round in (0..).take(ROUNDS) {
        let snapshot = store.snapshot();
        let segments = u32::try_from(snapshot.segments().len()).expect("few segments");
        let address = |n: u32| DocAddress {
            part: n % segments,
            doc: DocId::new((n / segments * 37 + round * 11) % each),
        };
        let docs: Vec<_> = (0..DELETED).map(address).collect();
        store.delete(&snapshot, &docs).expect("documents");
        ours.push(wall(|| store.commit().expect("a commit")));
        let written = newest_files(&folder.join("store"));
        largest = largest.max(written[0].len());
        bare.push(wall(|| write_bare(folder, &written)));
    }
    let middle = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (ours, bare) = (middle(&mut ours), middle(&mut bare));
    println!("commit of {DELETED} deletes: {ours:.3} ms, bare calls {bare:.3} ms, ratio {:.2}", ours / bare);
    println!("largest delta: {largest} bytes");
}

/// The bytes of the newest delta, or fold, and of the commit.
fn newest_files(store: &Path) -> [Vec<u8>; 2] {
    let newest = |prefix: &str| {
        let names = std::fs::read_dir(store).expect("a folder").map(|entry| entry.expect("an entry").path());
        let is_it = |path: &std::path::PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
        };
        let newest = names.filter(is_it).max();
        newest.map_or_else(Vec::new, |path| std::fs::read(path).expect("a file"))
    };
    [newest("delta-"), newest("commit-")]
}

/// Two files, a rename and the sync of the folder.
fn write_bare(folder: &Path, [delta, commit]: &[Vec<u8>; 2]) {
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        let mut file = File::create(&path).expect("a file");
        file.write_all(bytes).expect("room");
        file.sync_all().expect("a sync");
        path
    };
    let delta = write("bare-delta", delta);
    let temporary = write("bare-commit.tmp", commit);
    std::fs::rename(temporary, folder.join("bare-commit")).expect("a rename");
    File::open(folder).and_then(|folder| folder.sync_all()).expect("a sync");
    std::fs::remove_file(delta).expect("a file");
}

fn delete_a_tenth(store: &Store) {
    let snapshot = store.snapshot();
    for (part, segment) in (0..).zip(snapshot.segments()) {
        let docs =
            (0..segment.segment.docs()).step_by(10).map(|doc| DocAddress { part, doc: DocId::new(doc) });
        store.delete(&snapshot, &docs.collect::<Vec<_>>()).expect("documents");
    }
}

fn read(path: &Path) -> StoreReader {
    StoreReader::open(path, OpenOptions::new()).expect("a store")
}

fn open(path: &Path) -> Store {
    Store::open(path, StoreOptions::default()).expect("a store")
}

/// The milliseconds of each kind of search.
fn searches(snapshot: &Snapshot) -> Vec<(&'static str, f64)> {
    let search = || snapshot.search().threads(1);
    let range = Query::range("size", 1_000..);
    let keys = [SortKey::of("size").descending()];
    vec![
        ("facet on host", cpu(|| search_facet(snapshot))),
        ("top 20 by size", cpu(|| search().top(Docs::All, &keys, 20).expect("good bytes"))),
        ("count of a range", cpu(|| search().count(&range).expect("good bytes"))),
        (
            "facet on host of a range",
            cpu(|| {
                let found = search().filter(&range).expect("good bytes");
                search().facet(&found, &Facet::of("host")).expect("good bytes")
            }),
        ),
    ]
}

fn search_facet(snapshot: &Snapshot) -> FacetCounts {
    snapshot.search().threads(1).facet(Docs::All, &Facet::of("host")).expect("good bytes")
}

fn tell(name: &str, unit: &str, measure: impl FnOnce() -> f64) {
    println!("{name}: {:.4} {unit}", measure());
}

fn median(mut once: impl FnMut() -> f64) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| once()).collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

/// The milliseconds of wall-clock time.
fn wall<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64() * 1e3
}

/// The least milliseconds of CPU time of a hundred runs or more.
fn cpu<T>(mut work: impl FnMut() -> T) -> f64 {
    (0..100).map(|_| cpu_once(&mut work)).fold(f64::INFINITY, f64::min)
}

fn cpu_once<T>(work: impl FnOnce() -> T) -> f64 {
    let start = cpu_time();
    black_box(work());
    cpu_time().saturating_sub(start).as_secs_f64() * 1e3
}
