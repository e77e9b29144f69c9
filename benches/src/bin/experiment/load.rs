//! A load: documents are updated at a rate, shown at an interval, and searched meanwhile.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use docvalues::column::DocAddress;
use docvalues::search::{Docs, Parts, Search};
use docvalues::{Bitset, DocId, SortKey};
use docvalues_testkit::rng::SplitMix64;

use crate::ways::{Op, Way};
use crate::{Kind, cpu, open};
use docvalues_benches::updated_docs::{time, title};

/// Documents are updated so often, if the rate allows.
const TICK: Duration = Duration::from_millis(10);

/// A load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) kind: Kind,
    pub(crate) docs: u32,
    /// Updates a second.
    pub(crate) rate: u32,
    /// Between refreshes.
    pub(crate) every: Duration,
    pub(crate) seconds: u64,
    /// Seconds before these.
    pub(crate) warm: u64,
    pub(crate) searchers: u32,
}

/// The figures of a load, mostly averages of its refreshes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) refresh_ms: f64,
    pub(crate) refresh_cpu_ms: f64,
    pub(crate) p999_ms: f64,
    pub(crate) longest_ms: f64,
    pub(crate) update_ms: f64,
    pub(crate) update_cpu_ms: f64,
    pub(crate) queries_s: f64,
    pub(crate) refreshes: u32,
    pub(crate) updates: u64,
    pub(crate) written: u64,
}

struct Running<'a> {
    load: Load,
    way: &'a dyn Way,
    ended: AtomicBool,
    /// The parts to search, and every tenth document of each.
    parts: RwLock<(Parts, Vec<Arc<Bitset>>)>,
    /// The last seed of each updated document.
    last: Mutex<HashMap<u32, u64>>,
    /// Of updates: their number, and the nanoseconds of time and of CPU time.
    updates: [AtomicU64; 3],
    queries: AtomicU64,
}

impl Load {
    /// Runs it, and checks that the last values are there.
    pub(crate) fn run(self, way: &dyn Way) -> Figures {
        let parts = way.refresh();
        let tenths = tenths(&parts, &[]);
        let running = Running {
            load: self,
            way,
            ended: AtomicBool::new(false),
            parts: RwLock::new((parts, tenths)),
            last: Mutex::default(),
            updates: Default::default(),
            queries: AtomicU64::new(0),
        };
        // The first search opens the columns.
        running.search();
        let written = way.written();
        let mut figures = std::thread::scope(|scope| {
            scope.spawn(|| running.update());
            (0..self.searchers).for_each(|_| {
                drop(scope.spawn(|| {
                    while !running.ended.load(Relaxed) {
                        running.search();
                        running.queries.fetch_add(1, Relaxed);
                    }
                }))
            });
            running.refresh()
        });
        let each = f64::from(figures.refreshes.max(1));
        let [count, time, cpu] = running.updates.each_ref().map(|sum| sum.load(Relaxed));
        (figures.updates, figures.written) = (count, way.written() - written);
        (figures.update_ms, figures.update_cpu_ms) = (time as f64 / 1e6 / each, cpu as f64 / 1e6 / each);
        running.check();
        figures
    }
}

impl Running<'_> {
    fn update(&self) {
        let Load { docs, rate, kind, .. } = self.load;
        let mut rng = SplitMix64::new(7);
        let (began, mut done) = (Instant::now(), 0_u64);
        while !self.ended.load(Relaxed) {
            let due = (began.elapsed().as_secs_f64() * f64::from(rate)) as u64;
            if due == done {
                std::thread::sleep(TICK);
                continue;
            }
            let op = || Op { number: rng.below_u32(docs), seed: rng.next_u64() };
            let ops: Vec<Op> = std::iter::repeat_with(op).take((due - done).min(10_000) as usize).collect();
            done += ops.len() as u64;
            let (start, cpu_start) = (Instant::now(), cpu());
            self.way.apply(kind, &ops);
            let nanos =
                [ops.len() as u64, start.elapsed().as_nanos() as u64, ((cpu() - cpu_start) * 1e9) as u64];
            for (sum, nanos) in self.updates.iter().zip(nanos) {
                sum.fetch_add(nanos, Relaxed);
            }
            self.last.lock().expect("no panic").extend(ops.iter().map(|op| (op.number, op.seed)));
        }
    }

    /// Refreshes until the time is over.
    fn refresh(&self) -> Figures {
        let Load { every, seconds, warm, kind, .. } = self.load;
        let (began, mut figures, mut next) = (Instant::now(), Figures::default(), every);
        let (mut is_warm, mut counted, mut times) = (false, began, Vec::new());
        while next.as_secs_f64() <= (warm + seconds) as f64 {
            std::thread::sleep(next.saturating_sub(began.elapsed()));
            if !is_warm && next.as_secs_f64() > warm as f64 {
                (is_warm, counted, figures) = (true, Instant::now(), Figures::default());
                times.clear();
                self.updates.iter().chain([&self.queries]).for_each(|count| count.store(0, Relaxed));
            }
            let (start, cpu_start) = (Instant::now(), cpu());
            let parts = self.way.refresh();
            open(&parts, kind);
            let ms = start.elapsed().as_secs_f64() * 1e3;
            figures.refresh_ms += ms;
            times.push(ms);
            figures.refresh_cpu_ms += (cpu() - cpu_start) * 1e3;
            figures.refreshes += 1;
            let tenths = tenths(&parts, &self.parts.read().expect("no panic").1);
            *self.parts.write().expect("no panic") = (parts, tenths);
            next = every * (began.elapsed().as_secs_f64() / every.as_secs_f64()).floor() as u32 + every;
        }
        times.sort_by(f64::total_cmp);
        figures.longest_ms = times.last().copied().unwrap_or(0.0);
        figures.p999_ms = times.get(times.len() * 999 / 1_000).copied().unwrap_or(0.0);
        let each = f64::from(figures.refreshes.max(1));
        self.ended.store(true, Relaxed);
        figures.queries_s = self.queries.load(Relaxed) as f64 / counted.elapsed().as_secs_f64();
        Figures {
            refresh_ms: figures.refresh_ms / each,
            refresh_cpu_ms: figures.refresh_cpu_ms / each,
            ..figures
        }
    }

    /// The 20 newest of a tenth of the documents.
    fn search(&self) {
        let (parts, tenths) = self.parts.read().expect("no panic").clone();
        let docs: Vec<Docs<'_>> = tenths.iter().map(|docs| Docs::Bits(docs)).collect();
        let keys = [SortKey::of("time").descending()];
        let found = Search::over(&parts).threads(1).top(&docs[..], &keys, 20).expect("good bytes");
        assert_eq!(found.len(), 20);
    }

    /// Reads the last values of updated documents.
    fn check(&self) {
        let parts = self.way.refresh();
        for (number, seed) in self.last.lock().expect("no panic").iter().take(1_000) {
            let DocAddress { part, doc } = self.way.find(*number);
            let source = parts.source(part as usize);
            let mut text = Vec::new();
            match self.load.kind {
                Kind::Numeric | Kind::Mixed => {
                    let mut row = Vec::new();
                    source
                        .column("time")
                        .expect("a column")
                        .values()
                        .numbers()
                        .expect("numbers")
                        .get(doc, &mut row)
                        .expect("good bytes");
                    assert_eq!(row, [time(*seed)], "document {number}");
                }
                Kind::Binary => {
                    source
                        .column("title")
                        .expect("a column")
                        .values()
                        .bytes()
                        .expect("strings")
                        .get(doc, &mut text)
                        .expect("good bytes");
                    assert_eq!(text, title(*seed).as_bytes(), "document {number}");
                }
            }
        }
    }
}

/// Every tenth document of each part. Those of `before` that have as many documents stay.
fn tenths(parts: &Parts, before: &[Arc<Bitset>]) -> Vec<Arc<Bitset>> {
    let of = |part| {
        let docs = parts.source(part).docs();
        let same = before.get(part).filter(|same| same.docs() == docs);
        same.cloned().unwrap_or_else(|| Arc::new(tenth(docs)))
    };
    (0..parts.len()).map(of).collect()
}

fn tenth(docs: u32) -> Bitset {
    let mut set = Bitset::none(docs);
    for doc in (0..docs).step_by(10) {
        set.insert(DocId::new(doc));
    }
    set
}
