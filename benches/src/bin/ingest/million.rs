//! Documents a second over time: new ids in small batches, while another thread scans, with merges and without.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use docvalues::SortKey;
use docvalues::search::Docs;
use docvalues::store::{MergePolicy, Outcome, Store};

use super::Figures;
use super::base::{background, no_merges, refreshed};
use super::mixed::SMALL;
use super::ours::{Ours, THREADS, apply, docs};

/// The number of rates of a run.
pub(super) const STEPS: u32 = 20;

/// One run.
struct Run<'a> {
    ours: &'a Ours<'a>,
    store: Arc<Store>,
    with_merges: bool,
    next: AtomicU32,
    done: Mutex<Done>,
    ended: AtomicBool,
    searches: AtomicU32,
}

/// The documents that are done, and the end of each step.
struct Done {
    docs: u32,
    steps: Vec<Instant>,
}

impl Ours<'_> {
    pub(super) fn million(&self) -> Vec<Figures> {
        let case = |with_merges: bool| {
            let run = Run {
                ours: self,
                store: Arc::new(self.open(refreshed(1))),
                with_merges,
                next: AtomicU32::new(0),
                done: Mutex::new(Done { docs: 0, steps: vec![Instant::now()] }),
                ended: AtomicBool::new(false),
                searches: AtomicU32::new(0),
            };
            run.run()
        };
        [true, false].map(case).into()
    }
}

impl Run<'_> {
    /// The number of documents of a step.
    fn step(&self) -> u32 {
        (self.ours.args.operations / STEPS / SMALL).max(1) * SMALL
    }

    fn run(self) -> Figures {
        let policy = if self.with_merges { MergePolicy::default() } else { no_merges() };
        let background = background(&self.store, policy);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| self.write())).collect();
            scope.spawn(|| self.search());
            writers.into_iter().for_each(|writer| writer.join().expect("no panic"));
            self.ended.store(true, Relaxed);
        });
        let step = self.step();
        let steps = self.done.into_inner().expect("no panic").steps;
        let times = steps.windows(2).map(|ends| (ends[1] - ends[0]).as_secs_f64());
        let rates: Vec<f64> = times.map(|time| f64::from(step) / time).collect();
        let wall = (steps[steps.len() - 1] - steps[0]).as_secs_f64();
        background.remove(&self.store).expect("a disk with room");
        let stats = self.store.stats().expect("a store");
        let figures = [
            ("docs_s", f64::from(step * STEPS) / wall),
            ("docs_s_least", rates.iter().copied().fold(f64::INFINITY, f64::min)),
            ("merges", stats.merges.count as f64),
            ("searches_s", f64::from(self.searches.load(Relaxed)) / wall),
            ("segments_after", stats.segments as f64),
        ];
        let name = if self.with_merges { "merges" } else { "no merges" };
        let mut figures = self.ours.figures("million", name, &figures);
        let rates: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
        figures.insert("docs_s_by_step".to_owned(), rates.join(" "));
        figures
    }

    fn write(&self) {
        loop {
            let first = self.next.fetch_add(SMALL, Relaxed);
            if first >= self.step() * STEPS {
                return;
            }
            let first = self.ours.args.docs + first;
            let some = docs(first..first + SMALL, |number| 3 * i64::from(number));
            let outcomes = apply(&self.store, &some, true);
            assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Added), "another outcome");
            let mut done = self.done.lock().expect("no panic");
            done.docs += SMALL;
            if done.docs.is_multiple_of(self.step()) {
                done.steps.push(Instant::now());
            }
        }
    }

    fn search(&self) {
        let keys = [SortKey::of("size").descending()];
        while !self.ended.load(Relaxed) {
            let snapshot = self.store.snapshot();
            if snapshot.docs() == 0 {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            let found = snapshot.search().top(Docs::All, &keys, 20).expect("good bytes");
            assert_eq!(found.len(), 20);
            self.searches.fetch_add(1, Relaxed);
        }
    }
}
