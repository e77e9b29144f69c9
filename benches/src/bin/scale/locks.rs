//! Batches by several threads beside readers that refresh snapshots: how long locks are held and waited for. And searches by
//! several callers, which share the pool of threads.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use docvalues::search::facet::Facet;
use docvalues::search::{Docs, Query, Search};
use docvalues::store::{Background, BackgroundOptions, Store, StoreOptions};
use docvalues::{OpenOptions, WriterOptions};
use docvalues_benches::ingest::{self, IngestDoc, Versioned};
use docvalues_benches::process::cpu;
use docvalues_benches::record::{Run, command_of, figure};
use docvalues_benches::segment;

use crate::lock_times::{self, LockTime, Name, Times};
use crate::{Outcome, percentile, show};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Numbers of threads that apply batches, and of callers that search
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16])]
    threads: Vec<usize>,
    /// Documents of a batch
    #[arg(long, value_name = "N", default_value_t = 100)]
    batch: u32,
    /// Threads that refresh, take a snapshot and search it, a hundred times a second
    #[arg(long, value_name = "N", default_value_t = 2)]
    readers: u32,
    /// Documents that callers search
    #[arg(long, value_name = "N", default_value = "2_000_000", value_parser = docvalues_benches::count)]
    docs: u32,
    /// Length of a round
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    seconds: f64,
    /// Folder of the stores, which are removed
    #[arg(long, value_name = "FOLDER", default_value_os_t = crate::default_folder())]
    folder: PathBuf,
    /// Record that gets the tables
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// The time between two searches of a reader.
const PAUSE: Duration = Duration::from_millis(10);

/// The lock of the writer, as `lock_times` names it.
const WRITER: &str = "writer";

/// Functions in the table of all locks: those with the longest times.
const MOST_FUNCTIONS: usize = 6;

/// The work of some threads, and the times of their locks.
struct Round {
    docs: f64,
    batches: f64,
    seconds: f64,
    cpu: f64,
    times: Vec<LockTime>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    std::fs::create_dir_all(&arguments.folder)?;
    let flags = if lock_times::ARE_NOTED { "RUSTFLAGS=\"--cfg docvalues_lock_times\" " } else { "" };
    let mut run = Run::new(&format!("{flags}{}", command_of("scale")), "one run");
    let mut table = vec![
        [
            "threads",
            "documents a second",
            "CPU, µs a batch",
            "writer's lock held, % of the time",
            "held, µs: p50 / p99 / longest",
            "waited, µs: p50 / p99 / longest",
            "documents a second if it were always held, an estimate",
            "cores that hold it always, an estimate",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for &threads in &arguments.threads {
        let round = Round::of(arguments, threads)?;
        let all = lock_times::by_name(&round.times);
        let writer = Times::of_lock(&all, WRITER);
        let held = writer.seconds_held();
        let [cells_held, cells_waited] = writer.cells();
        table.push(vec![
            threads.to_string(),
            format!("{:.0}", round.docs / round.seconds),
            figure(round.cpu / round.batches * 1e6),
            figure(held / round.seconds * 100.0),
            cells_held,
            cells_waited,
            if held > 0.0 { format!("{:.0}", round.docs / held) } else { String::new() },
            if held > 0.0 { figure(round.cpu / held) } else { String::new() },
        ]);
        if Some(&threads) == arguments.threads.last() {
            run.table("functions", functions(&all, round.seconds));
        }
    }
    run.table("locks", table);
    run.table("callers", callers(arguments)?);
    show(run, arguments.record.as_deref())
}

impl Round {
    /// A new store, with background threads, as its default options have it, but for a refresh and a commit each second.
    fn of(arguments: &Arguments, threads: usize) -> Outcome<Round> {
        let folder = tempfile::tempdir_in(&arguments.folder)?;
        let (schema, second) = (ingest::store_schema(true), Duration::from_secs(1));
        let options = StoreOptions::new().refresh_every(second).commit_every(second);
        let store = Arc::new(Store::create(folder.path().join("store"), schema, options)?);
        let background = Background::start(BackgroundOptions::default())?;
        background.add(&store)?;
        let (next, ended, large) = (AtomicU32::new(0), AtomicBool::new(false), Query::range("size", 1_000..));
        // Those before.
        drop(lock_times::take());
        let (began, spent) = (Instant::now(), cpu());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while !ended.load(Relaxed) {
                        let first = next.fetch_add(arguments.batch, Relaxed);
                        let docs: Vec<Versioned> = (first..first + arguments.batch)
                            .map(|number| (IngestDoc::new(number), IngestDoc::id(number), 1))
                            .collect();
                        store.apply(ingest::batch(&store, &docs, true)).expect("a disk with room");
                    }
                });
            }
            for _ in 0..arguments.readers {
                scope.spawn(|| {
                    while !ended.load(Relaxed) {
                        store.refresh().expect("a store that can be written");
                        store.snapshot().search().threads(1).count(&large).expect("good bytes");
                        std::thread::sleep(PAUSE);
                    }
                });
            }
            std::thread::sleep(Duration::from_secs_f64(arguments.seconds));
            ended.store(true, Relaxed);
        });
        let (seconds, cpu) = (began.elapsed().as_secs_f64(), cpu() - spent);
        let times = lock_times::take();
        background.remove(&store)?;
        let docs = f64::from(next.into_inner());
        Ok(Round { docs, batches: docs / f64::from(arguments.batch), seconds, cpu, times })
    }
}

/// A row for each lock and each function that locks it, the longest times first.
fn functions(all: &HashMap<Name, Times>, seconds: f64) -> Vec<Vec<String>> {
    let head = ["lock", "function", "times a second", "held, % of the time", "held, µs", "waited, µs"];
    let mut rows: Vec<(f64, Vec<String>)> = Vec::new();
    for ((lock, function), times) in all {
        let [held, waited] = times.cells();
        let cells = vec![
            format!("`{lock}`"),
            format!("`{function}`"),
            figure(times.held.len() as f64 / seconds),
            figure(times.seconds_held() / seconds * 100.0),
            held,
            waited,
        ];
        rows.push((times.seconds_held() + times.waited.iter().sum::<f64>() / 1e6, cells));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let rows = rows.into_iter().take(MOST_FUNCTIONS).map(|(_, cells)| cells);
    [head.map(str::to_owned).to_vec()].into_iter().chain(rows).collect()
}

/// Callers that take snapshots, and that search a segment in memory: each with one thread, and with those of the pool.
fn callers(arguments: &Arguments) -> Outcome<Vec<Vec<String>>> {
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let schema = ingest::store_schema(true);
    let store = Store::create(folder.path().join("store"), schema, StoreOptions::default())?;
    let segment =
        segment::write(arguments.docs, &["host"], WriterOptions::default()).open(OpenOptions::new());
    let cores = std::thread::available_parallelism()?.get();
    let length = Duration::from_secs_f64(arguments.seconds / 5.0);
    let head = [
        "callers",
        "snapshots a second",
        "facets a second, a thread each",
        "p50 / p99, ms",
        "with all threads of the pool",
        "p50 / p99, ms",
    ];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for &callers in &arguments.threads {
        let taken = AtomicU64::new(0);
        let (snapshots, _) = repeated(callers, length, || {
            // So that the clock is a small part of it.
            (0..1_000).for_each(|_| drop(std::hint::black_box(store.snapshot())));
            taken.fetch_add(1_000, Relaxed);
        });
        let mut row = vec![callers.to_string(), format!("{:.0}", taken.into_inner() as f64 / snapshots)];
        for threads in [1, cores] {
            let (seconds, times) = repeated(callers, length, || {
                let facet = Search::new(&segment).threads(threads).facet(Docs::All, &Facet::of("host"));
                drop(std::hint::black_box(facet.expect("good bytes")));
            });
            row.push(figure(times.len() as f64 / seconds));
            row.push([50, 99].map(|percent| figure(percentile(&times, percent))).join(" / "));
        }
        table.push(row);
    }
    Ok(table)
}

/// Has callers repeat their work for a time. Returns the seconds that it took, and the milliseconds of each call, ascending.
fn repeated(callers: usize, length: Duration, work: impl Fn() + Sync) -> (f64, Vec<f64>) {
    let began = Instant::now();
    let caller = || {
        let mut times = Vec::new();
        while times.is_empty() || began.elapsed() < length {
            let start = Instant::now();
            work();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times
    };
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..callers).map(|_| scope.spawn(caller)).collect();
        callers.into_iter().flat_map(|caller| caller.join().expect("a caller")).collect()
    });
    let seconds = began.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    (seconds, times)
}
