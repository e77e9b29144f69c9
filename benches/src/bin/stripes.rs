//! Measures locks and look-ups of versioned upserts: stripes locked for a whole add, as Solr does (SOLR-6820,
//! SOLR-7332), beside one short lock, as in docs/benchmarks/ingest.md.
//!
//! Every document has a new id and a version, ascending, but for documents that are moved. A version above the highest
//! one of its stripe needs no look-up. Threads take batches in turn, and write segments of their own.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use clap::Parser;
use docvalues::terms::lookup::{IdLookup, IdStore, Seeker};
use docvalues::{
    BytesKind, FieldId, FieldSpec, IdOptions, IdReader, LogicalType, Numeric, NumericSeeker, OpenOptions,
    Segment, SegmentWriter, WriterOptions,
};
use docvalues_benches::ingest::{IngestDoc, schema};
use docvalues_testkit::rng::SplitMix64;
use rustix::time::{ClockId, clock_gettime};

/// Measure locks and look-ups of versioned upserts
#[derive(Parser)]
struct Args {
    /// Number of documents that are there, in 13 segments
    #[arg(long, value_name = "N", default_value = "1_000_000", value_parser = docvalues_benches::count)]
    docs: u32,

    /// Number of documents of a round
    #[arg(long, value_name = "N", default_value = "200_000", value_parser = docvalues_benches::count)]
    operations: u32,

    /// Number of documents of a batch
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    batch: usize,

    /// Number of documents of a segment: the thread that adds the last one writes it
    #[arg(long, value_name = "N", default_value = "20_000", value_parser = docvalues_benches::count)]
    flush: u32,

    /// Numbers of threads
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16])]
    threads: Vec<usize>,

    /// Numbers of stripes
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [256, 65_536])]
    stripes: Vec<usize>,

    /// Rounds, of which the medians count
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,

    /// Also print a line of JSON for each row
    #[arg(long)]
    json: bool,
}

const SEGMENTS: u32 = 13;

/// The percentage of documents that are moved, and by up to how many places.
const MOVED: [(u64, u64); 5] = [(0, 0), (1, 1_000), (10, 1_000), (1, 100_000), (10, 100_000)];

/// How operations on one id are kept apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Locks {
    /// The lock of the stripe is held while the version is checked and the document is added.
    Stripes,
    /// One lock for all is held while the version is checked.
    Operation,
    /// One lock for all is held while the versions of a batch are checked.
    Batch,
}

impl Locks {
    const ALL: [Locks; 3] = [Locks::Stripes, Locks::Operation, Locks::Batch];

    fn name(self) -> &'static str {
        match self {
            Locks::Stripes => "stripe, over the add",
            Locks::Operation => "one, an operation",
            Locks::Batch => "one, a batch",
        }
    }
}

fn main() {
    let args = Args::parse();
    let index = Index::new(&args);
    println!("| locked | stripes | seeded | moved | threads | docs/s | CPU ns/doc | skipped | blocked |");
    println!("| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for (percent, places) in MOVED {
        let order = order(args.operations, percent, places);
        for &stripes in &args.stripes {
            for (seeded, locks) in
                [true, false].into_iter().flat_map(|seeded| Locks::ALL.map(|l| (seeded, l)))
            {
                for &threads in &args.threads {
                    let load = Load { order: &order, stripes, seeded, locks, threads };
                    let moved = match percent {
                        0 => "none".to_owned(),
                        _ => format!("{percent} %, {places}"),
                    };
                    measure(&args, &index, &load, &moved);
                }
            }
        }
    }
}

fn measure(args: &Args, index: &Index, load: &Load<'_>, moved: &str) {
    let mut rounds: Vec<Round> = (0..args.rounds).map(|_| run(args, index, load)).collect();
    let mut median = |value: fn(&Round) -> f64| {
        rounds.sort_by(|a, b| value(a).total_cmp(&value(b)));
        value(&rounds[rounds.len() / 2])
    };
    let (rate, cpu) = (median(|round| round.docs_per_second), median(|round| round.cpu_ns));
    let (skipped, blocked) = (median(|round| round.skipped), median(|round| round.blocked));
    let Load { stripes, seeded, locks, threads, .. } = load;
    let (locks, yes) = (locks.name(), if *seeded { "yes" } else { "no" });
    println!(
        "| {locks} | {stripes} | {yes} | {moved} | {threads} | {rate:.0} | {cpu:.0} | {:.2} % | {:.2} % |",
        100.0 * skipped,
        100.0 * blocked
    );
    if args.json {
        println!(
            "{{\"locked\":\"{locks}\",\"stripes\":{stripes},\"seeded\":{seeded},\"moved\":\"{moved}\",\
             \"threads\":{threads},\"docs_s\":{rate:.0},\"ns_cpu\":{cpu:.1},\"skipped\":{skipped:.5},\
             \"blocked\":{blocked:.5}}}"
        );
    }
}

/// The order in which documents arrive: some of them up to `places` later than they were sent.
fn order(count: u32, percent: u64, places: u64) -> Vec<u32> {
    let mut random = SplitMix64::named("moved");
    let arrival = |doc: u32| {
        let late = if random.chance(percent, 100) { 1 + random.below(places) } else { 0 };
        (u64::from(doc) + late, doc)
    };
    let mut order: Vec<(u64, u32)> = (0..count).map(arrival).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, doc)| doc).collect()
}

/// The segments that are there, and the documents to come.
struct Index {
    lookup: Arc<IdLookup<IdReader>>,
    versions: Vec<Numeric>,
    /// The highest version.
    highest: i64,
    docs: Vec<(String, IngestDoc)>,
}

impl Index {
    fn new(args: &Args) -> Index {
        let segment = |at: u32| {
            let mut writer = Writer::new(u32::MAX);
            let each = u64::from(args.docs) * u64::from(at) / u64::from(SEGMENTS);
            let end = u64::from(args.docs) * u64::from(at + 1) / u64::from(SEGMENTS);
            for doc in each..end {
                let doc = u32::try_from(doc).expect("below `docs`");
                writer.add(&IngestDoc::id(doc), &IngestDoc::new(doc), i64::from(doc) + 1);
            }
            Segment::from_bytes(writer.finish(), OpenOptions::new()).expect("just written")
        };
        let segments: Vec<Segment> = (0..SEGMENTS).rev().map(segment).collect();
        let versions = segments.iter().map(|segment| segment.numeric("_version").expect("a column"));
        let ids = segments.iter().map(|segment| {
            let index = segment.ids().expect("undamaged").expect("an id index");
            Arc::clone(index.reader())
        });
        let store = IdStore::with_seed(1);
        store.add_all(&ids.collect::<Vec<_>>()).expect("few segments");
        let next = args.docs..args.docs + args.operations;
        let docs: Vec<_> = next.map(|doc| (IngestDoc::id(doc), IngestDoc::new(doc))).collect();
        let mut writer = Writer::new(u32::MAX);
        docs.iter().take(args.flush as usize).for_each(|(id, doc)| writer.add(id, doc, 0));
        let start = Instant::now();
        writer.finish();
        println!(
            "writing a segment of {} documents: {:.1} ms\n",
            args.flush,
            start.elapsed().as_secs_f64() * 1e3
        );
        Index { lookup: store.snapshot(), versions: versions.collect(), highest: args.docs.into(), docs }
    }
}

/// A kind of load.
struct Load<'a> {
    order: &'a [u32],
    stripes: usize,
    /// Whether stripes begin with the highest version that is there; otherwise each begins with a look-up.
    seeded: bool,
    locks: Locks,
    threads: usize,
}

struct Round {
    docs_per_second: f64,
    /// Of all threads, for each document.
    cpu_ns: f64,
    /// The share of documents that were not looked up.
    skipped: f64,
    /// The share of the threads' time in which they waited for a lock.
    blocked: f64,
}

/// What the threads share.
struct Shared {
    hasher: RandomState,
    stripes: Vec<Mutex<()>>,
    /// The highest version of each stripe, or 0. Changed under the lock.
    highest: Vec<AtomicI64>,
    /// Hashes of ids and versions of the documents that no segment has; shared by stripes.
    buffer: Vec<Mutex<HashMap<u64, i64>>>,
    next: AtomicUsize,
    skipped: AtomicU64,
    blocked: AtomicU64,
    cpu: AtomicU64,
}

fn run(args: &Args, index: &Index, load: &Load<'_>) -> Round {
    let start = if load.seeded { index.highest } else { 0 };
    let locks = if load.locks == Locks::Stripes { load.stripes } else { 1 };
    let shared = Shared {
        hasher: RandomState::new(),
        stripes: (0..locks).map(|_| Mutex::default()).collect(),
        highest: (0..load.stripes).map(|_| AtomicI64::new(start)).collect(),
        buffer: (0..256).map(|_| Mutex::default()).collect(),
        next: AtomicUsize::new(0),
        skipped: AtomicU64::new(0),
        blocked: AtomicU64::new(0),
        cpu: AtomicU64::new(0),
    };
    let start = Instant::now();
    std::thread::scope(|scope| {
        (0..load.threads).for_each(|_| {
            scope.spawn(|| work(args, index, load, &shared));
        });
    });
    let wall = start.elapsed().as_secs_f64();
    let docs = load.order.len() as f64;
    let seconds = |nanos: AtomicU64| nanos.into_inner() as f64 / 1e9;
    let added: usize = shared.buffer.iter().map(|part| lock(part).len()).sum();
    assert_eq!(added, load.order.len(), "every version was the newest of its id");
    Round {
        docs_per_second: docs / wall,
        cpu_ns: shared.cpu.into_inner() as f64 / docs,
        skipped: shared.skipped.into_inner() as f64 / docs,
        blocked: seconds(shared.blocked) / (wall * load.threads as f64),
    }
}

fn work(args: &Args, index: &Index, load: &Load<'_>, shared: &Shared) {
    let mut thread = Thread {
        index,
        shared,
        seeker: index.lookup.seeker(),
        versions: NumericSeeker::new(&index.versions),
        skipped: 0,
        blocked: Duration::ZERO,
    };
    let mut writer = Writer::new(args.flush);
    let mut accepted = Vec::new();
    loop {
        let first = shared.next.fetch_add(args.batch, Ordering::Relaxed);
        let Some(batch) = load.order.get(first..load.order.len().min(first + args.batch)) else { break };
        if batch.is_empty() {
            break;
        }
        let one_by_one = if load.locks == Locks::Batch { batch.len() } else { 1 };
        for some in batch.chunks(one_by_one) {
            accepted.clear();
            accepted.extend(some.iter().map(|&doc| thread.prepare(doc, load.locks)));
            let stripe = accepted[0].hash as usize % shared.stripes.len();
            let guard = thread.lock(&shared.stripes[stripe]);
            accepted.retain(|upsert| thread.accept(upsert));
            let guard = (load.locks == Locks::Stripes).then_some(guard);
            for &Upsert { doc, .. } in &accepted {
                let (id, values) = &index.docs[doc as usize];
                writer.add(id, values, index.version(doc));
            }
            drop(guard);
        }
    }
    let cpu = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).expect("a short time");
    shared.cpu.fetch_add(nanos(cpu), Ordering::Relaxed);
    shared.blocked.fetch_add(nanos(thread.blocked), Ordering::Relaxed);
    shared.skipped.fetch_add(thread.skipped, Ordering::Relaxed);
}

impl Index {
    fn version(&self, doc: u32) -> i64 {
        self.highest + 1 + i64::from(doc)
    }
}

/// A document to add.
struct Upsert {
    doc: u32,
    hash: u64,
    /// The version that a segment has, if it was looked up before locking.
    stored: Option<Option<i64>>,
}

struct Thread<'a> {
    index: &'a Index,
    shared: &'a Shared,
    seeker: Seeker<'a, IdReader>,
    versions: NumericSeeker<'a>,
    skipped: u64,
    blocked: Duration,
}

impl<'a> Thread<'a> {
    /// Locks, and adds up the time it takes if the lock is held.
    fn lock<T>(&mut self, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
        match mutex.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::WouldBlock) => {
                let start = Instant::now();
                let guard = lock(mutex);
                self.blocked += start.elapsed();
                guard
            }
            Err(TryLockError::Poisoned(_)) => panic!("another thread failed"),
        }
    }

    /// Before locking. With one lock for all, looks the id up unless the version seems to be new.
    fn prepare(&mut self, doc: u32, locks: Locks) -> Upsert {
        let hash = self.shared.hasher.hash_one(&self.index.docs[doc as usize].0);
        let early = locks != Locks::Stripes && !self.is_newer(hash, doc);
        Upsert { doc, hash, stored: early.then(|| self.stored(doc)) }
    }

    fn stripe(&self, hash: u64) -> &'a AtomicI64 {
        &self.shared.highest[hash as usize % self.shared.highest.len()]
    }

    fn is_newer(&self, hash: u64, doc: u32) -> bool {
        let highest = self.stripe(hash).load(Ordering::Relaxed);
        highest != 0 && highest < self.index.version(doc)
    }

    /// Under the lock: whether the version is the newest of its id.
    fn accept(&mut self, upsert: &Upsert) -> bool {
        let Upsert { doc, hash, stored } = *upsert;
        let version = self.index.version(doc);
        let buffer = &self.shared.buffer[hash as usize % self.shared.buffer.len()];
        if self.is_newer(hash, doc) {
            self.skipped += u64::from(stored.is_none());
        } else {
            let recent = lock(buffer).get(&hash).copied();
            let current = recent.or_else(|| stored.unwrap_or_else(|| self.stored(doc)));
            if current.is_some_and(|current| current >= version) {
                return false;
            }
        }
        self.stripe(hash).fetch_max(version, Ordering::Relaxed);
        lock(buffer).insert(hash, version);
        true
    }

    /// The version that a segment has.
    fn stored(&mut self, doc: u32) -> Option<i64> {
        let hit = self.seeker.find(self.index.docs[doc as usize].0.as_bytes()).expect("undamaged")?;
        self.versions.get(hit.segment, hit.doc).expect("undamaged")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread failed")
}

/// Writes segments of one thread.
struct Writer {
    writer: SegmentWriter<Vec<u8>>,
    fields: ([FieldId; 8], FieldId, FieldId),
    /// Documents of a segment.
    flush: u32,
}

impl Writer {
    fn new(flush: u32) -> Writer {
        let (mut schema, fields) = schema();
        let id = FieldSpec::new("_id", LogicalType::Utf8).kind(BytesKind::Binary);
        let id = schema.add(id).expect("names differ");
        let version = schema.add(FieldSpec::new("_version", LogicalType::I64)).expect("names differ");
        let options = WriterOptions { budget: usize::MAX, ..WriterOptions::default() };
        let mut writer = SegmentWriter::in_memory(schema, options);
        writer.id_field(id, IdOptions::default()).expect("a binary field");
        Writer { writer, fields: (fields, id, version), flush }
    }

    /// Adds a document. The last one of a segment writes it.
    fn add(&mut self, id: &str, values: &IngestDoc, version: i64) {
        let (fields, id_field, version_field) = &self.fields;
        let mut doc = self.writer.document();
        doc.str(*id_field, id).and_then(|doc| doc.i64(*version_field, version)).expect("good values");
        values.add_to(&mut doc, fields).expect("good values");
        doc.finish().expect("good values");
        if self.writer.docs() >= self.flush {
            std::mem::replace(self, Writer::new(self.flush)).finish();
        }
    }

    fn finish(self) -> Vec<u8> {
        self.writer.finish_bytes().expect("memory does not fail")
    }
}
