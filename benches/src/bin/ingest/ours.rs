//! The store's side: the cases of `Ingest.java`, with the names of its figures.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use docvalues::store::{Observer, Outcome, Publication, Store, StoreOptions};
use docvalues_benches::ids::random;
use docvalues_benches::ingest::IngestDoc;
pub(super) use docvalues_benches::ingest::{
    Versioned, batch, store_fields as fields, store_schema as schema,
};
use docvalues_benches::process::cpu;

use super::base::refreshed;
use super::child::child;
use super::memory;
use super::{Args, Figures, Work};

pub(super) const ROUNDS: usize = 3;
pub(super) const THREADS: usize = 2;
pub(super) const BATCH: usize = 1_000;

/// Refreshes of which the median counts.
const REFRESHES: usize = 15;

/// The case with ids and an [`Idle`] observer.
const OBSERVED: &str = "with ids, observed";

/// An observer that does nothing.
struct Idle;

impl Observer for Idle {
    fn publish(
        &self,
        _publication: &mut Publication<'_>,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(())
    }
}

/// The cases of a work.
pub(super) fn cases(args: &Args, folder: &Path, work: Work, segments: u32) -> Vec<Figures> {
    let ours = Ours { args, folder, segments };
    match work {
        Work::Adds => vec![ours.adds("without ids"), ours.adds("with ids"), ours.adds(OBSERVED)],
        Work::Upserts => ours.upserts(),
        Work::Refresh => [false, true].into_iter().flat_map(|half| ours.refreshes(half)).collect(),
        Work::Mixed => ours.mixed(),
        Work::Threads => ours.threads(),
        Work::Durable => ours.durable(),
        Work::Million => ours.million(),
        Work::Check => ours.check(),
        Work::BesideMerges => ours.beside_merges(),
        Work::Memory => (0..memory::HAS_BACKGROUND.len()).flat_map(|case| child(&ours, work, case)).collect(),
        Work::Many => {
            ours.base(ours.small());
            child(&ours, work, 0)
        }
    }
}

pub(super) struct Ours<'a> {
    pub(super) args: &'a Args,
    pub(super) folder: &'a Path,
    pub(super) segments: u32,
}

pub(super) fn docs(numbers: impl Iterator<Item = u32>, version: impl Fn(u32) -> i64) -> Vec<Versioned> {
    numbers.map(|number| (IngestDoc::new(number), IngestDoc::id(number), version(number))).collect()
}

/// Applies documents as one batch. Returns the outcomes.
pub(super) fn apply(store: &Store, docs: &[Versioned], with_ids: bool) -> Vec<Outcome> {
    store.apply(batch(store, docs, with_ids)).expect("a disk with room").outcomes
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

    fn adds(&self, case: &str) -> Figures {
        let with_ids = case != "without ids";
        let some = docs(0..self.args.operations, |number| i64::from(number) + 1);
        let (mut rates, mut cpus) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let path = self.folder.join("adds.docvalues");
            remove(&path);
            let (wall, start) = (Instant::now(), cpu());
            let (schema, options) = (schema(with_ids), StoreOptions::default());
            let store = match case == OBSERVED {
                true => Store::create_with(&path, schema, options, Arc::new(Idle)),
                false => Store::create(&path, schema, options),
            };
            let store = store.expect("a folder");
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
        self.figures("adds", case, &[("docs_s", median(rates)), ("ns_cpu", median(cpus))])
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
            let store = self.open(refreshed(1));
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
        let store = self.open(StoreOptions::default());
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
}

/// The value that so many of a thousand are not above.
pub(super) fn per_mille(values: &[f64], of: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get(last.min(sorted.len() * of / 1_000)).copied().unwrap_or(0.0)
}

pub(super) fn median(values: Vec<f64>) -> f64 {
    per_mille(&values, 500)
}

pub(super) fn remove(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
}
