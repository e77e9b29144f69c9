//! Updates of a value, three ways, as in the experiment of 2014.
//!
//! Documents are updated at a rate, shown at an interval, and searched meanwhile. Prints a row for each load.
#![expect(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement"
)]

mod cost;
mod load;
mod lucene;
mod reads;
#[cfg(test)]
mod tests;
mod ways;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use clap::{Parser, ValueEnum};
use docvalues::search::{Parts, Search};
use docvalues::store::{Background, BackgroundOptions, MergePolicy, Store, StoreOptions};
use docvalues::writer::Document;
use docvalues_benches::line_plot::{LinePlot, Scale};
use docvalues_benches::updated_docs::{Fields, build_store, copy, time, title};

use load::{Figures, Load};
use ways::{Base, Hybrid, Way};

/// Measure updates of values, three ways, beside Lucene
#[derive(Parser)]
pub(crate) struct Args {
    /// Number of documents
    #[arg(long, value_name = "N", default_value = "1_000_000", value_parser = docvalues_benches::count)]
    pub(crate) docs: u32,

    /// Number of segments
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub(crate) segments: u32,

    /// Fields to update
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_enum, default_values_t = [Kind::Numeric, Kind::Binary])]
    pub(crate) kinds: Vec<Kind>,

    /// Ways to update
    #[arg(long, value_name = "WAY,…", value_delimiter = ',', value_enum, default_values_t = [Means::Hybrid, Means::Stacked, Means::Rewritten])]
    pub(crate) ways: Vec<Means>,

    /// Updates a second
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 1_000, 10_000])]
    pub(crate) rates: Vec<u32>,

    /// Seconds between refreshes
    #[arg(long, value_name = "S,…", value_delimiter = ',', default_values_t = [1.0])]
    pub(crate) every: Vec<f64>,

    /// Seconds of each load
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub(crate) seconds: u64,

    /// Seconds of each load before these, which do not count
    #[arg(long, value_name = "S", default_value_t = 2)]
    pub(crate) warm: u64,

    /// Threads that search
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) searchers: u32,

    /// Versions of Lucene to measure, too: needs Maven and a JDK from 21 on. 10.6.0 keeps up to eight overlays
    #[arg(long, value_name = "VERSION,…", value_delimiter = ',')]
    pub(crate) lucene: Vec<String>,

    /// Measure the calls that update, refresh and commit, instead of loads
    #[arg(long)]
    pub(crate) costs: bool,

    /// Measure reads after updates, instead of loads
    #[arg(long)]
    pub(crate) reads: bool,

    /// Merge, and commit every second, in other threads meanwhile
    #[arg(long)]
    pub(crate) background: bool,

    /// With background threads, the bytes of new values that are merged when they are more
    #[arg(long, value_name = "BYTES", value_parser = docvalues_benches::count, default_value = "256_000_000")]
    pub(crate) updates_bytes: u32,

    /// Folder for plots
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,

    /// Folder for indexes, which are kept
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// The field of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A number
    Numeric,
    /// A byte string
    Binary,
    /// A number, and each tenth document is written again
    Mixed,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Numeric => "numeric",
            Kind::Binary => "binary",
            Kind::Mixed => "mixed",
        }
    }
}

/// A way to update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Means {
    /// The store: new values in memory
    Hybrid,
    /// Deltas one over the other, at most eight
    Stacked,
    /// The whole column is written again
    Rewritten,
}

fn main() {
    let args = Args::parse();
    let folder = args.folder.clone().unwrap_or_else(|| std::env::temp_dir().join("docvalues-experiment"));
    let base = base(&folder, args.docs, args.segments);
    if args.costs {
        cost::measure(&base, &folder, args.docs, &args.kinds);
        return cost::fields(&base, &folder, args.docs);
    }
    if args.reads {
        reads::measure(&base, &folder, args.docs);
        return lucene::find(&args.lucene)
            .iter()
            .for_each(|lucene| lucene::reads(args.docs, args.segments, &folder, lucene));
    }
    println!("\n## {} documents, {} segments, {} searchers\n", args.docs, args.segments, args.searchers);
    println!(
        "| way | kind | updates/s | every s | refresh ms | CPU ms | p99.9 | longest | update ms | CPU ms | total ms | ms a document | queries/s | refreshes | behind | KB written |"
    );
    println!("| --- | --- |{}", " ---: |".repeat(14));
    let lucenes = lucene::find(&args.lucene);
    let mut rows = Vec::new();
    for kind in &args.kinds {
        for every in &args.every {
            for rate in &args.rates {
                let load = Load {
                    kind: *kind,
                    docs: args.docs,
                    rate: *rate,
                    every: Duration::from_secs_f64(*every),
                    seconds: args.seconds,
                    warm: args.warm,
                    searchers: args.searchers,
                };
                for way in &args.ways {
                    let budget = args.background.then(|| u64::from(args.updates_bytes));
                    if let Some(figures) = run(&base, &folder, (*way, budget), load) {
                        rows.push(print_row(&format!("{way:?}").to_lowercase(), load, &figures));
                    }
                }
                for version in &lucenes {
                    rows.extend(lucene::run(&args, &folder, version, load));
                }
            }
        }
    }
    if let Some(plots) = &args.plots {
        std::fs::create_dir_all(plots).expect("a folder");
        draw(plots, args.docs, &rows);
    }
}

/// The figures of a load in a plot.
pub(crate) struct Row {
    way: String,
    load: Load,
    total_ms: f64,
}

/// Draws the time of each kind and interval, by rate.
fn draw(folder: &Path, docs: u32, rows: &[Row]) {
    let of = |row: &Row| (row.load.kind.name(), row.load.every);
    let mut kinds: Vec<_> = rows.iter().map(of).collect();
    kinds.dedup();
    for (kind, every) in kinds {
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for row in rows.iter().filter(|row| of(row) == (kind, every)) {
            let point = (f64::from(row.load.rate), row.total_ms.max(1e-3));
            match lines.iter_mut().find(|(way, _)| *way == row.way) {
                Some((_, points)) => points.push(point),
                None => lines.push((row.way.clone(), vec![point])),
            }
        }
        let every = every.as_secs_f64();
        let title = format!("{kind}: {docs} documents, a refresh each {every} s");
        let scales = ["updates a second", "ms a refresh, with its updates"];
        let svg = LinePlot { title, scales, horizontal: Scale::Logarithmic, lines }.draw().expect("points");
        let path = folder.join(format!("{kind}-time-{every}.svg"));
        std::fs::write(path, svg).expect("a disk with room");
    }
}

/// Runs a load; `None` if the way has no such updates. With a budget for new values, there are background threads.
fn run(base: &Path, folder: &Path, (means, budget): (Means, Option<u64>), load: Load) -> Option<Figures> {
    let copy = copy(base, folder);
    let files = folder.join("files");
    drop(std::fs::remove_dir_all(&files));
    let way: Box<dyn Way> = match (means, budget) {
        (Means::Hybrid, Some(max_updates_bytes)) => {
            let options = StoreOptions::new().commit_every(Duration::from_secs(1));
            let store = Arc::new(Store::open(&copy, options).expect("a store"));
            let merges = MergePolicy::new().max_updates_bytes(max_updates_bytes);
            let background = Background::start(BackgroundOptions::new().merges(merges)).expect("threads");
            background.add(&store).expect("a store");
            let (figures, peak) = with_peak(&store, || load.run(&Hybrid(store.clone())));
            eprintln!("new values took at most {peak} bytes; {:?}", store.stats());
            background.remove(&store).expect("a disk with room");
            return Some(figures);
        }
        (Means::Hybrid, _) => {
            Box::new(Hybrid(Arc::new(Store::open(&copy, StoreOptions::default()).expect("a store"))))
        }
        _ if load.kind == Kind::Mixed => return None,
        (Means::Stacked, _) => Box::new(Base::stacked(&copy, files)),
        (Means::Rewritten, _) => Box::new(Base::rewritten(&copy, files)),
    };
    Some(load.run(&*way))
}

/// Runs a load. Returns its figures, and the most memory that new values took, in bytes, as seen ten times a second.
fn with_peak(store: &Store, run: impl FnOnce() -> Figures) -> (Figures, usize) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut peak = 0;
            while !is_over.load(Relaxed) {
                peak = peak.max(store.stats().expect("a store").updates_bytes);
                std::thread::sleep(Duration::from_millis(100));
            }
            peak
        });
        let figures = run();
        is_over.store(true, Relaxed);
        (figures, watcher.join().expect("no panic"))
    })
}

/// Prints the figures of a load.
pub(crate) fn print_row(way: &str, load: Load, figures: &Figures) -> Row {
    let Load { kind, rate, every, seconds, .. } = load;
    let expected = (seconds as f64 / every.as_secs_f64()) as u32;
    let total = figures.refresh_ms + figures.update_ms;
    let each = total * f64::from(figures.refreshes) / figures.updates.max(1) as f64;
    let kind = kind.name();
    let every = every.as_secs_f64();
    println!(
        "| {way} | {kind} | {rate} | {every} | {:.2} | {:.2} | {:.1} | {:.1} | {:.2} | {:.2} | {total:.2} | {each:.4} | {:.1} | {} | {} | {:.1} |",
        figures.refresh_ms,
        figures.refresh_cpu_ms,
        figures.p999_ms,
        figures.longest_ms,
        figures.update_ms,
        figures.update_cpu_ms,
        figures.queries_s,
        figures.refreshes,
        expected.saturating_sub(figures.refreshes),
        figures.written as f64 / 1024.0,
    );
    Row { way: way.to_owned(), load, total_ms: total }
}

/// The CPU time of this thread, in seconds.
pub(crate) fn cpu() -> f64 {
    docvalues_benches::clock::cpu_time().as_secs_f64()
}

/// The folder of a store with all documents, which is built when it is first needed.
fn base(folder: &Path, docs: u32, segments: u32) -> PathBuf {
    let built = folder.join(format!("base-{docs}-{segments}"));
    if !built.join("built").exists() {
        drop(std::fs::remove_dir_all(&built));
        build_store(&built, docs, segments);
        std::fs::write(built.join("built"), "").expect("a disk with room");
    }
    built
}

/// Sets what an update changes.
pub(crate) fn set(fields: &Fields, doc: &mut Document<'_>, kind: Kind, seed: u64) {
    match kind {
        Kind::Numeric | Kind::Mixed => drop(doc.i64(fields.time, time(seed)).expect("a number")),
        Kind::Binary => drop(doc.str(fields.title, &title(seed)).expect("a string")),
    }
}

/// Opens the column that is updated in all parts.
pub(crate) fn open(parts: &Parts, kind: Kind) {
    let name = match kind {
        Kind::Numeric | Kind::Mixed => "time",
        Kind::Binary => "title",
    };
    drop(Search::over(parts).retriever(&[name]).expect("good bytes"));
}
