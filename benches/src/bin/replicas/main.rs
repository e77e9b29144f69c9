//! Measures a leader and its replica, two processes, as in docs/benchmarks/store.md: what a replica costs the leader, what
//! a document costs each of them by the size of batches, and how far the replica is behind.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

mod shards;

use std::io::{BufReader, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Parser;
use docvalues::store::{
    Background, BackgroundOptions, Durability, Feed, Position, Replica, Store, StoreOptions, StoreSchema,
    StreamReader, StreamWriter, Taken,
};
use docvalues::{Field, Kind, LogicalType};
use docvalues_benches::ingest::IngestDoc;

/// Measure a leader and its replica
#[derive(Parser)]
struct Args {
    /// Number of documents
    #[arg(long, value_name = "N", default_value = "500_000", value_parser = docvalues_benches::count)]
    docs: u32,

    /// Documents of a batch
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 10, 100, 1_000])]
    batches: Vec<u32>,

    /// Rounds, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,

    /// Seconds in which the lag is measured, at 10,000 documents a second
    #[arg(long, value_name = "S", default_value_t = 10)]
    lag: u64,

    /// Measure this many leaders, each with a replica, instead
    #[arg(long, value_name = "N")]
    shards: Option<u32>,

    /// Tasks that write to these leaders
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [8, 16, 48])]
    tasks: Vec<u32>,

    /// Be the replica in this folder
    #[arg(long, hide = true)]
    replica: Option<PathBuf>,
}

/// The way in which the replica gets changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// There is none, and no log.
    None,
    /// There is none, but a log.
    Log,
    Frames,
    Files,
}

/// Microseconds of CPU time a document, and bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    /// Documents a second of the clock, in the leader.
    docs_s: f64,
    leader_us: f64,
    feed_us: f64,
    replica_us: f64,
    bytes: f64,
}

fn main() {
    let args = Args::parse();
    if let Some(folder) = &args.replica {
        return replicate(folder);
    }
    if let Some(shards) = args.shards {
        return shards::measure(shards, &args.tasks, args.docs, args.rounds);
    }
    println!("{} documents, medians of {} rounds\n", args.docs, args.rounds);
    println!(
        "| replica | documents of a batch | docs/s | leader, CPU us a document | feed | replica | bytes sent a document |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for batch in &args.batches {
        // A document alone takes so long that fewer are enough.
        let docs = if *batch < 100 { args.docs / 5 } else { args.docs };
        for way in [Way::None, Way::Log, Way::Frames, Way::Files] {
            let mut rounds: Vec<Figures> = (0..args.rounds).map(|_| run(way, docs, *batch)).collect();
            rounds.sort_by(|a, b| (a.leader_us + a.replica_us).total_cmp(&(b.leader_us + b.replica_us)));
            let Figures { docs_s, leader_us, feed_us, replica_us, bytes } = rounds[rounds.len() / 2];
            let name = match way {
                Way::None => "none",
                Way::Log => "none, with a log",
                Way::Frames => "by frames",
                Way::Files => "by files",
            };
            println!(
                "| {name} | {batch} | {docs_s:.0} | {leader_us:.2} | {feed_us:.2} | {replica_us:.2} | {bytes:.0} |"
            );
        }
    }
    lag(args.lag);
}

/// The names of the fields after the id.
const FIELDS: [&str; 8] = ["ts", "size", "code", "price", "flag", "host", "status", "path"];

fn schema() -> StoreSchema {
    let text = |kind| (kind, LogicalType::Utf8);
    let number = |logical| (Kind::Numeric, logical);
    let (whole, sorted) = (number(LogicalType::I64), text(Kind::Sorted));
    let real = [number(LogicalType::F64), number(LogicalType::Bool)];
    let kinds = [whole, whole, whole, real[0], real[1], sorted, sorted, text(Kind::Binary)];
    let fields = FIELDS.into_iter().zip(kinds).map(|(name, (kind, logical))| Field::new(name, kind, logical));
    let id = Field::new("id", Kind::Binary, LogicalType::Utf8);
    let schema = [id].into_iter().chain(fields).try_fold(StoreSchema::new(), StoreSchema::with_field);
    schema.and_then(|schema| schema.with_id_field("id")).expect("names that differ")
}

/// Applies the documents from `first` on as one batch. Returns its number.
fn apply(store: &Store, first: u32, count: u32) -> u64 {
    let mut batch = store.batch().expect("a schema");
    let id = batch.field("id").expect("a field");
    let fields = FIELDS.map(|name| batch.field(name).expect("a field"));
    for number in first..first + count {
        let mut doc = batch.upsert();
        doc.str(id, &IngestDoc::id(number)).expect("an id");
        IngestDoc::new(number).add_to(&mut doc, &fields).expect("values");
        doc.finish().expect("a document");
    }
    store.apply(batch).expect("a disk with room").sequence
}

/// A leader that applies documents as fast as it can.
fn run(way: Way, docs: u32, batch: u32) -> Figures {
    let folder = tempfile::tempdir().expect("a folder");
    let leader = folder.path().join("leader");
    let options = StoreOptions::new()
        .keep_frames(if matches!(way, Way::None | Way::Files) { 0 } else { 1 << 30 })
        .commit_every(Duration::from_secs(1));
    let store = Arc::new(Store::create(&leader, schema(), options).expect("a folder"));
    let background = Background::start(BackgroundOptions::default()).expect("threads");
    background.add(&store).expect("a store");
    let mut link =
        matches!(way, Way::Frames | Way::Files).then(|| Link::start(&leader, &folder.path().join("replica")));
    let (began, cpu) = (Instant::now(), process_cpu());
    let mut last = 0;
    for first in (0..docs).step_by(batch as usize) {
        last = apply(&store, first, batch.min(docs - first));
    }
    let docs_s = f64::from(docs) / began.elapsed().as_secs_f64();
    store.commit().expect("a disk with room");
    let (mut feed_cpu, mut replica_cpu, mut bytes) = (0.0, 0.0, 0);
    if let Some(link) = link.take() {
        (feed_cpu, replica_cpu, bytes, _) = link.end(last);
    }
    background.remove(&store).expect("a disk with room");
    let each = |seconds: f64| seconds * 1e6 / f64::from(docs);
    let leader_us = each(process_cpu() - cpu - feed_cpu);
    Figures {
        docs_s,
        leader_us,
        feed_us: each(feed_cpu),
        replica_us: each(replica_cpu),
        bytes: bytes as f64 / f64::from(docs),
    }
}

/// Prints the lag of a replica at 10,000 documents a second, in batches that are durable each: from the call of `apply`
/// until the replica has applied the batch.
fn lag(seconds: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let leader = folder.path().join("leader");
    let options = StoreOptions::new()
        .durability(Durability::EachBatch)
        .keep_frames(1 << 30)
        .commit_every(Duration::from_secs(1));
    let store = Arc::new(Store::create(&leader, schema(), options).expect("a folder"));
    let background = Background::start(BackgroundOptions::default()).expect("threads");
    background.add(&store).expect("a store");
    let link = Link::start(&leader, &folder.path().join("replica"));
    let (began, mut sent) = (Instant::now(), Vec::new());
    for number in 0..100 * u32::try_from(seconds).expect("some seconds") {
        std::thread::sleep((Duration::from_millis(10) * number).saturating_sub(began.elapsed()));
        let at = micros();
        sent.push((apply(&store, number * 100, 100), at));
    }
    let last = sent.last().map_or(0, |(sequence, _)| *sequence);
    let (.., received) = link.end(last);
    background.remove(&store).expect("a disk with room");
    let mut lags: Vec<f64> = sent
        .iter()
        .filter_map(|(sequence, at)| {
            let (_, arrived) = received.iter().find(|(received, _)| received == sequence)?;
            Some((arrived.saturating_sub(*at)) as f64 / 1e3)
        })
        .collect();
    lags.sort_by(f64::total_cmp);
    let place = |share: usize| lags.get(lags.len() * share / 1_000).copied().unwrap_or_default();
    println!(
        "\nlag at 10,000 documents a second in batches of 100, each durable: {} of {} by frames, median {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
        lags.len(),
        sent.len(),
        place(500),
        place(990),
        lags.last().copied().unwrap_or_default()
    );
}

/// A process with a replica, and the thread that feeds it.
struct Link {
    child: Child,
    feed: std::thread::JoinHandle<(f64, u64)>,
    until: Arc<AtomicU64>,
}

impl Link {
    fn start(leader: &Path, replica: &Path) -> Link {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        let command = command.arg("--replica").arg(replica).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let pipe = child.stdin.take().expect("a pipe");
        let until = Arc::new(AtomicU64::new(u64::MAX));
        let feed = std::thread::spawn({
            let (leader, until) = (leader.to_owned(), until.clone());
            move || feed(&leader, pipe, &until)
        });
        Link { child, feed, until }
    }

    /// Waits until the replica has batch `last`. Returns the seconds of CPU time of the feed and of the replica, the bytes
    /// that were sent, and when each batch was applied.
    fn end(mut self, last: u64) -> (f64, f64, u64, Vec<(u64, u64)>) {
        self.until.store(last, Relaxed);
        let (feed_cpu, bytes) = self.feed.join().expect("no panic");
        let mut text = String::new();
        self.child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
        assert!(self.child.wait().expect("a process").success());
        let mut lines = text.lines().map(|line| line.split_once(' ').expect("two words"));
        let (cpu, sequence) = lines.next().expect("a line");
        assert_eq!(sequence.parse(), Ok(last), "the replica has everything");
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let received = lines.map(|(sequence, at)| (number(sequence), number(at))).collect();
        (feed_cpu, cpu.parse().expect("a number"), bytes, received)
    }
}

/// Counts what is written.
struct Counted<W>(W, u64);

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1 += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Sends what the leader has, until a batch. Returns the seconds of CPU time, and the bytes.
fn feed(leader: &Path, pipe: impl Write, until: &AtomicU64) -> (f64, u64) {
    let (mut feed, mut out) =
        (Feed::open(leader, Position::default()), Counted(BufWriter::with_capacity(256 << 10, pipe), 0));
    while feed.position() < until.load(Relaxed) {
        feed.send_within(&mut StreamWriter::new(&mut out), Duration::from_millis(20)).expect("a replica");
    }
    out.flush().expect("a replica");
    (seconds(rustix::time::ClockId::ThreadCPUTime), out.1)
}

/// Takes what comes from standard input. Prints the seconds of CPU time and the last batch, then when each batch was applied.
fn replicate(folder: &Path) {
    let options = StoreOptions::new().commit_every(Duration::from_secs(1));
    let replica = Replica::open(folder, options).expect("a folder");
    let background = Background::start(BackgroundOptions::default()).expect("threads");
    background.add(replica.store()).expect("a store");
    let mut stream = StreamReader::new(BufReader::with_capacity(256 << 10, std::io::stdin().lock()));
    let mut received = Vec::new();
    while let Some(taken) = replica.take(&mut stream).expect("what follows") {
        if matches!(taken, Taken::Frame(_)) {
            received.push((replica.position().sequence, micros()));
        }
    }
    replica.store().commit().expect("a disk with room");
    background.remove(replica.store()).expect("a disk with room");
    println!("{} {}", process_cpu(), replica.position().sequence);
    received.iter().for_each(|(sequence, at)| println!("{sequence} {at}"));
}

/// The microseconds since 1970, which both processes agree upon.
fn micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or_default()
}

fn process_cpu() -> f64 {
    seconds(rustix::time::ClockId::ProcessCPUTime)
}

fn seconds(clock: rustix::time::ClockId) -> f64 {
    Duration::try_from(rustix::time::clock_gettime(clock)).unwrap_or_default().as_secs_f64()
}
