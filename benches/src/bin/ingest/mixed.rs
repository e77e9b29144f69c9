//! A mixed load: upserts of new ids in small batches, while other threads search.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use docvalues::SortKey;
use docvalues::search::Docs;
use docvalues::store::{Outcome, Store};

use super::Figures;
use super::base::{forget_all, refreshed};
use super::ours::{Ours, ROUNDS, THREADS, apply, docs, median, per_mille};

impl Ours<'_> {
    pub(super) fn mixed(&self) -> Vec<Figures> {
        let phases = [
            ("queries alone", Some(0.0), true),
            ("32 batches a second", Some(32.0), true),
            ("as fast as it goes", None, true),
            ("as fast as it goes, no queries", None, false),
        ];
        let phase = |(name, rate, queries): (&str, Option<f64>, bool)| {
            let mut runs: Vec<[f64; 7]> = Vec::new();
            let mut over_time = String::new();
            for _ in 0..ROUNDS {
                let run = Run::new(self, rate, queries).run();
                over_time = run.1;
                runs.push(run.0);
            }
            let names = [
                "docs_s",
                "batch_p50_ms",
                "batch_p99_ms",
                "batch_longest_ms",
                "query_p50_ms",
                "query_p99_ms",
                "query_longest_ms",
            ];
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
pub(super) const SMALL: u32 = 20;

impl<'a> Run<'a> {
    fn new(ours: &'a Ours<'a>, rate: Option<f64>, with_queries: bool) -> Run<'a> {
        if ours.args.cold {
            forget_all(&ours.base(ours.args.docs));
        }
        Run {
            ours,
            rate,
            with_queries,
            store: ours.open(refreshed(1)),
            next: AtomicU32::new(0),
            ended: AtomicBool::new(false),
            start: Instant::now(),
            batches: Mutex::default(),
            queries: Mutex::default(),
        }
    }

    /// The figures, and the documents in each second.
    fn run(self) -> ([f64; 7], String) {
        let seconds = self.ours.args.seconds;
        std::thread::scope(|scope| {
            (0..THREADS).for_each(|_| drop(scope.spawn(|| self.write())));
            (0..self.ours.args.searchers).for_each(|_| drop(scope.spawn(|| self.query())));
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
            per_mille(&times, 500),
            per_mille(&times, 990),
            per_mille(&times, 1_000),
            per_mille(&queries, 500),
            per_mille(&queries, 990),
            per_mille(&queries, 1_000),
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
        let keys = [SortKey::of("size").descending()];
        while !self.ended.load(Relaxed) && self.with_queries {
            let from = Instant::now();
            let found = self.store.snapshot().search().top(Docs::All, &keys, 20).expect("good bytes");
            assert_eq!(found.len(), 20);
            self.queries.lock().expect("no panic").push(from.elapsed().as_secs_f64() * 1e3);
        }
    }
}
