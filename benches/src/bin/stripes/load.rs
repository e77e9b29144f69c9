//! Threads that upsert documents, and their locks.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use docvalues::reader::{IdReader, NumericSeeker};
use docvalues::terms::lookup::Seeker;

use crate::Args;
use crate::index::{Index, Writer};

/// How operations on one id are kept apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locks {
    /// The lock of the stripe is held while the version is checked and the document is added.
    Stripes,
    /// One lock for all is held while the version is checked.
    Operation,
    /// One lock for all is held while the versions of a batch are checked.
    Batch,
}

impl Locks {
    pub(crate) const ALL: [Locks; 3] = [Locks::Stripes, Locks::Operation, Locks::Batch];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Locks::Stripes => "stripe, over the add",
            Locks::Operation => "one, an operation",
            Locks::Batch => "one, a batch",
        }
    }
}

/// A kind of load.
pub(crate) struct Load<'a> {
    pub(crate) order: &'a [u32],
    pub(crate) stripes: usize,
    /// Whether stripes begin with the highest version that is there; otherwise each begins with a look-up.
    pub(crate) seeded: bool,
    pub(crate) locks: Locks,
    pub(crate) threads: usize,
}

pub(crate) struct Round {
    pub(crate) docs_per_second: f64,
    /// Of all threads, for each document.
    pub(crate) cpu_ns: f64,
    /// The share of documents that were not looked up.
    pub(crate) skipped: f64,
    /// The share of the threads' time in which they waited for a lock.
    pub(crate) blocked: f64,
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

pub(crate) fn run(args: &Args, index: &Index, load: &Load<'_>) -> Round {
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
    let mut writer = Writer::new((args.flush as usize / load.threads).max(1));
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
            let stripe = place(accepted[0].hash, shared.stripes.len());
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
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).expect("a short time");
    shared.cpu.fetch_add(nanos(docvalues_benches::clock::cpu_time()), Ordering::Relaxed);
    shared.blocked.fetch_add(nanos(thread.blocked), Ordering::Relaxed);
    shared.skipped.fetch_add(thread.skipped, Ordering::Relaxed);
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
        &self.shared.highest[place(hash, self.shared.highest.len())]
    }

    fn is_newer(&self, hash: u64, doc: u32) -> bool {
        let highest = self.stripe(hash).load(Ordering::Relaxed);
        highest != 0 && highest < self.index.version(doc)
    }

    /// Under the lock: whether the version is the newest of its id.
    fn accept(&mut self, upsert: &Upsert) -> bool {
        let Upsert { doc, hash, stored } = *upsert;
        let version = self.index.version(doc);
        let buffer = &self.shared.buffer[place(hash, self.shared.buffer.len())];
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

/// The place of a hash among `len`.
fn place(hash: u64, len: usize) -> usize {
    usize::try_from(hash % len as u64).expect("less than `len`")
}
