//! The store's side: the cases of `Ingest.java`, with the names of its figures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use docvalues::search::Docs;
use docvalues::store::{Outcome, Store, StoreOptions, StoreSchema};
use docvalues::{Field, FieldId, Kind, LogicalType, SortKey};
use docvalues_benches::ids::random;
use docvalues_benches::ingest::IngestDoc;

use super::{Args, Figures, Work};

pub(super) const ROUNDS: usize = 3;
const THREADS: usize = 2;
const BATCH: usize = 1_000;

/// Refreshes of which the median counts.
const REFRESHES: usize = 15;

/// The cases of a work.
pub(super) fn cases(args: &Args, folder: &Path, work: Work, segments: u32) -> Vec<Figures> {
    let ours = Ours { args, folder, segments };
    match work {
        Work::Adds => vec![ours.adds(false), ours.adds(true)],
        Work::Upserts => ours.upserts(),
        Work::Refresh => [false, true].into_iter().flat_map(|half| ours.refreshes(half)).collect(),
        Work::Mixed => ours.mixed(),
        Work::Threads => ours.threads(),
        Work::Durable => ours.durable(),
    }
}

pub(super) struct Ours<'a> {
    pub(super) args: &'a Args,
    pub(super) folder: &'a Path,
    segments: u32,
}

/// Documents with their ids and versions.
pub(super) type Versioned = (IngestDoc, String, i64);

pub(super) fn docs(numbers: impl Iterator<Item = u32>, version: impl Fn(u32) -> i64) -> Vec<Versioned> {
    numbers.map(|number| (IngestDoc::new(number), IngestDoc::id(number), version(number))).collect()
}

pub(super) fn schema(with_ids: bool) -> StoreSchema {
    let field = |(name, kind, logical)| Field::new(name, kind, logical);
    let numbers = [("ts", LogicalType::I64), ("size", LogicalType::I64), ("code", LogicalType::I64)];
    let numbers = numbers.into_iter().chain([("price", LogicalType::F64), ("flag", LogicalType::Bool)]);
    let numbers = numbers.map(|(name, logical)| (name, Kind::Numeric, logical));
    let strings = [("host", Kind::Sorted), ("status", Kind::Sorted), ("path", Kind::Binary)];
    let strings = strings.map(|(name, kind)| (name, kind, LogicalType::Utf8));
    let fields = numbers.chain(strings).map(field);
    let schema =
        fields.fold(StoreSchema::new(), |schema, field| schema.with_field(field).expect("names differ"));
    if !with_ids {
        return schema;
    }
    let ids = [("_id", Kind::Binary, LogicalType::Utf8), ("_version", Kind::Numeric, LogicalType::I64)];
    let ids = ids.map(|(name, kind, logical)| (name.trim_start_matches('_'), kind, logical)).map(field);
    let schema =
        ids.into_iter().fold(schema, |schema, field| schema.with_field(field).expect("names differ"));
    schema.with_id_field("id").and_then(|schema| schema.with_version_field("version")).expect("these fields")
}

/// Applies documents as one batch. Returns the outcomes.
pub(super) fn apply(store: &Store, docs: &[Versioned], with_ids: bool) -> Vec<Outcome> {
    let mut batch = store.batch().expect("a schema");
    let names = ["ts", "size", "code", "price", "flag", "host", "status", "path"];
    let fields: [FieldId; 8] = names.map(|name| batch.field(name).expect("a field"));
    let of_ids = with_ids.then(|| ["id", "version"].map(|name| batch.field(name).expect("a field")));
    for (values, id, version) in docs {
        let mut doc = batch.upsert();
        values.add_to(&mut doc, &fields).expect("values of these types");
        if let Some([id_field, version_field]) = of_ids {
            doc.str(id_field, id)
                .and_then(|doc| doc.i64(version_field, *version))
                .expect("an id and a version");
        }
        doc.finish().expect("a document");
    }
    store.apply(batch).expect("a disk with room").outcomes
}

/// Applies documents in batches taken by two threads in turn.
fn parallel(store: &Store, docs: &[Versioned], with_ids: bool, check: impl Fn(&[Outcome]) + Sync) {
    parallel_by(THREADS, store, docs, with_ids, check);
}

/// As [`parallel`], by any number of threads.
pub(super) fn parallel_by(
    threads: usize,
    store: &Store,
    docs: &[Versioned],
    with_ids: bool,
    check: impl Fn(&[Outcome]) + Sync,
) {
    let next = Mutex::new(docs.chunks(BATCH));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(docs) = { next.lock().expect("no panic").next() } {
                    check(&apply(store, docs, with_ids));
                }
            });
        }
    });
}

impl Ours<'_> {
    pub(super) fn figures(&self, work: &str, case: &str, figures: &[(&str, f64)]) -> Figures {
        let mut all: Figures =
            [("peer", "docvalues"), ("version", env!("CARGO_PKG_VERSION")), ("work", work), ("case", case)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
        all.insert("docs".to_owned(), self.args.docs.to_string());
        all.insert("segments".to_owned(), self.segments.to_string());
        all.extend(figures.iter().map(|(name, value)| ((*name).to_owned(), format!("{value:.3}"))));
        all
    }

    fn adds(&self, with_ids: bool) -> Figures {
        let some = docs(0..self.args.operations, |number| i64::from(number) + 1);
        let (mut rates, mut cpus) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let path = self.folder.join("adds.docvalues");
            remove(&path);
            let (wall, start) = (Instant::now(), cpu());
            let store = Store::create(&path, schema(with_ids), StoreOptions::default()).expect("a folder");
            parallel(&store, &some, with_ids, |_| {});
            // Writes what is in the buffer, as Lucene's flush does, and syncs it.
            store.commit().expect("a disk with room");
            let wall = wall.elapsed();
            if round > 0 {
                rates.push(some.len() as f64 / wall.as_secs_f64());
                cpus.push((cpu() - start) * 1e9 / some.len() as f64);
            }
            drop(store);
            remove(&path);
        }
        let name = if with_ids { "with ids" } else { "without ids" };
        self.figures("adds", name, &[("docs_s", median(rates)), ("ns_cpu", median(cpus))])
    }

    fn upserts(&self) -> Vec<Figures> {
        let (there, operations) = (self.args.docs, self.args.operations);
        let above = i64::from(2 * there) + i64::from(operations);
        let present: Vec<u32> = random(there, operations.min(there) as usize).collect();
        let absent = docs(there..there + operations, |number| above + i64::from(number));
        let newer = docs(present.iter().copied(), |number| above + i64::from(number));
        let stale = docs(present.iter().copied(), |_| 1);
        vec![
            self.upsert("new ids", &absent, |outcome| *outcome == Outcome::Added),
            self.upsert("ids that are there", &newer, |outcome| *outcome == Outcome::Replaced),
            self.upsert("stale versions", &stale, |outcome| matches!(outcome, Outcome::Stale { .. })),
        ]
    }

    fn upsert(&self, name: &str, some: &[Versioned], expected: impl Fn(&Outcome) -> bool + Sync) -> Figures {
        let (mut rates, mut cpus) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let store = self.open(Some(Duration::from_secs(1)));
            let (wall, start) = (Instant::now(), cpu());
            parallel(&store, some, true, |outcomes| {
                assert!(outcomes.iter().all(&expected), "another outcome")
            });
            store.refresh().expect("a store");
            let wall = wall.elapsed();
            store.commit().expect("a disk with room");
            if round > 0 {
                rates.push(some.len() as f64 / wall.as_secs_f64());
                cpus.push((cpu() - start) * 1e9 / some.len() as f64);
            }
        }
        self.figures("upserts", name, &[("docs_s", median(rates)), ("ns_cpu", median(cpus))])
    }

    fn refreshes(&self, with_present: bool) -> Vec<Figures> {
        let store = self.open(None);
        let mut present = random(self.args.docs, 3 * REFRESHES * 10_000);
        let mut absent = self.args.docs..;
        let counts: &[u32] = if self.segments > 100 { &[20] } else { &[20, 1_000, 10_000] };
        let case = |count: &u32| {
            let (mut walls, mut cpus) = (Vec::new(), 0.0);
            for round in 0..2 * REFRESHES {
                let numbers = (0..*count).map(|i| {
                    let is_present = with_present && i % 2 == 0;
                    if is_present { present.next() } else { absent.next() }.expect("enough numbers")
                });
                let version = 1_000_000_000_000 + round as i64;
                let some = docs(numbers, |_| version);
                apply(&store, &some, true);
                let (wall, start) = (Instant::now(), cpu());
                store.refresh().expect("a store");
                if round >= REFRESHES {
                    walls.push(wall.elapsed().as_secs_f64() * 1e3);
                    cpus += (cpu() - start) * 1e3;
                }
            }
            let name =
                format!("{count} documents, {}", if with_present { "half of them there" } else { "new" });
            let figures = [("ms_wall", median(walls)), ("ms_cpu", cpus / REFRESHES as f64)];
            self.figures("refresh", &name, &figures)
        };
        counts.iter().map(case).collect()
    }

    fn mixed(&self) -> Vec<Figures> {
        let phases = [
            ("queries alone", Some(0.0), true),
            ("32 batches a second", Some(32.0), true),
            ("as fast as it goes", None, true),
            ("as fast as it goes, no queries", None, false),
        ];
        let phase = |(name, rate, queries): (&str, Option<f64>, bool)| {
            let mut runs: Vec<[f64; 5]> = Vec::new();
            let mut over_time = String::new();
            for _ in 0..ROUNDS {
                let run = Run::new(self, rate, queries).run();
                over_time = run.1;
                runs.push(run.0);
            }
            let names = ["docs_s", "batch_p50_ms", "batch_p99_ms", "query_p50_ms", "query_p99_ms"];
            let medians: Vec<(&str, f64)> = (0..)
                .zip(names)
                .map(|(at, name)| (name, median(runs.iter().map(|run| run[at]).collect())))
                .collect();
            let mut figures = self.figures("mixed", name, &medians);
            figures.insert("docs_s_over_time".to_owned(), over_time);
            figures
        };
        phases.into_iter().map(phase).collect()
    }

    /// A copy of the store with all documents, in as many segments.
    fn open(&self, refresh_every: Option<Duration>) -> Store {
        let Ours { args, folder, segments } = self;
        let built = folder.join(format!("base-{}-{segments}.docvalues", args.docs));
        if !built.join("built").exists() {
            remove(&built);
            build(&built, args.docs, *segments);
        }
        let copy = folder.join("copy.docvalues");
        remove(&copy);
        std::fs::create_dir(&copy).expect("a folder");
        for entry in std::fs::read_dir(&built).expect("a folder") {
            let entry = entry.expect("a folder");
            // No file of a store changes, apart from its lock.
            if !entry.file_name().to_string_lossy().starts_with("LOCK") && entry.file_name() != "built" {
                std::fs::hard_link(entry.path(), copy.join(entry.file_name())).expect("one file system");
            }
        }
        let options = StoreOptions { refresh_every, ..StoreOptions::default() };
        let store = Store::open(&copy, options).expect("a store");
        let snapshot = store.snapshot();
        assert!(snapshot.segments().len() == *segments as usize && snapshot.docs() == u64::from(args.docs));
        store
    }
}

/// A store of `docs` documents in `segments` segments of one size.
fn build(path: &PathBuf, docs: u32, segments: u32) {
    let options = StoreOptions { buffer_bytes: usize::MAX, ..StoreOptions::default() };
    let store = Store::create(path, schema(true), options).expect("a folder");
    for segment in 0..u64::from(segments) {
        let at = |segment: u64| {
            u32::try_from(segment * u64::from(docs) / u64::from(segments)).expect("below docs")
        };
        let numbers: Vec<u32> = (at(segment)..at(segment + 1)).collect();
        for numbers in numbers.chunks(10_000) {
            let some = self::docs(numbers.iter().copied(), |number| i64::from(number) + 2);
            apply(&store, &some, true);
        }
        store.commit().expect("a disk with room");
    }
    std::fs::write(path.join("built"), "").expect("a disk with room");
}

/// One run of a mixed load.
struct Run<'a> {
    ours: &'a Ours<'a>,
    /// Batches a second; as many as possible without.
    rate: Option<f64>,
    with_queries: bool,
    store: Store,
    next: AtomicU32,
    ended: AtomicBool,
    start: Instant,
    batches: Mutex<Vec<(Duration, f64)>>,
    queries: Mutex<Vec<f64>>,
}

/// Documents of a batch of the mixed load.
const SMALL: u32 = 20;

impl<'a> Run<'a> {
    fn new(ours: &'a Ours<'a>, rate: Option<f64>, with_queries: bool) -> Run<'a> {
        Run {
            ours,
            rate,
            with_queries,
            store: ours.open(Some(Duration::from_secs(1))),
            next: AtomicU32::new(0),
            ended: AtomicBool::new(false),
            start: Instant::now(),
            batches: Mutex::default(),
            queries: Mutex::default(),
        }
    }

    /// The figures, and the documents in each second.
    fn run(self) -> ([f64; 5], String) {
        let seconds = self.ours.args.seconds;
        std::thread::scope(|scope| {
            (0..THREADS).for_each(|_| drop(scope.spawn(|| self.write())));
            scope.spawn(|| self.query());
            std::thread::sleep(Duration::from_secs(seconds.into()));
            self.ended.store(true, Relaxed);
        });
        let batches = self.batches.into_inner().expect("no panic");
        let mut in_second = BTreeMap::new();
        for (done, _) in &batches {
            *in_second.entry(done.as_secs()).or_insert(0_u32) += SMALL;
        }
        let over_time: Vec<String> = (0..u64::from(seconds))
            .map(|second| in_second.get(&second).copied().unwrap_or(0).to_string())
            .collect();
        let rate = (batches.len() * SMALL as usize) as f64 / f64::from(seconds);
        let times: Vec<f64> = batches.iter().map(|(_, time)| *time).collect();
        let queries = self.queries.into_inner().expect("no panic");
        let of = [
            rate,
            quantile(&times, 50),
            quantile(&times, 99),
            quantile(&queries, 50),
            quantile(&queries, 99),
        ];
        (of, over_time.join(" "))
    }

    fn write(&self) {
        while !self.ended.load(Relaxed) && self.rate != Some(0.0) {
            let batch = self.next.fetch_add(1, Relaxed);
            let first = self.ours.args.docs + batch * SMALL;
            let some = docs(first..first + SMALL, |number| 3 * i64::from(number));
            let mut due = Instant::now();
            if let Some(rate) = self.rate {
                due = self.start + Duration::from_secs_f64(f64::from(batch) / rate);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            let outcomes = apply(&self.store, &some, true);
            assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Added), "another outcome");
            let time = due.elapsed().as_secs_f64() * 1e3;
            self.batches.lock().expect("no panic").push((self.start.elapsed(), time));
        }
    }

    fn query(&self) {
        let keys = [SortKey::new("size").descending()];
        while !self.ended.load(Relaxed) && self.with_queries {
            let from = Instant::now();
            let found = self.store.snapshot().search().top(Docs::All, &keys, 20).expect("good bytes");
            assert_eq!(found.len(), 20);
            self.queries.lock().expect("no panic").push(from.elapsed().as_secs_f64() * 1e3);
        }
    }
}

fn quantile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get(last.min(sorted.len() * percent / 100)).copied().unwrap_or(0.0)
}

pub(super) fn median(values: Vec<f64>) -> f64 {
    quantile(&values, 50)
}

pub(super) fn remove(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
}

/// The CPU time of the process, in seconds.
pub(super) fn cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default().as_secs_f64()
}
