//! The times of single batches, alone and beside threads that write, commit, refresh and merge.

use std::sync::Arc;
use std::time::{Duration, Instant};

use docvalues::store::{MergePolicy, Outcome, StoreOptions};
use docvalues_benches::ids::random;
use docvalues_benches::process::waited;

use super::Figures;
use super::base::background;
use super::ours::{BATCH, Ours, ROUNDS, batch, docs, per_mille};

/// The loads beside the batches. Alone, the store starts a thread for each full buffer. Background threads write full
/// buffers, commit each second, refresh four times as often, and merge.
const LOADS: [(&str, bool); 2] = [("alone", false), ("background threads", true)];

/// The times of the batches of a round, in ms.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    /// Less the time in which the thread waited for a core.
    running: Vec<f64>,
    merges: f64,
    flushes: f64,
}

impl Ours<'_> {
    /// Of rounds the one with the shortest longest batch.
    pub(super) fn beside_merges(&self) -> Vec<Figures> {
        let case = |(name, has_background): (&str, bool)| {
            let rounds = (0..ROUNDS).map(|_| self.times(has_background));
            let longest = |times: &Times| times.running.iter().copied().fold(0.0, f64::max);
            let best = rounds.min_by(|a, b| longest(a).total_cmp(&longest(b))).unwrap_or_default();
            let row = |clock: &str, times: &[f64]| {
                let [p50, p99, p999, longest] = [500, 990, 999, 1_000].map(|at| per_mille(times, at));
                let figures = [
                    ("p50_ms", p50),
                    ("p99_ms", p99),
                    ("p99_9_ms", p999),
                    ("longest_ms", longest),
                    ("batches", times.len() as f64),
                    ("merges", best.merges),
                    ("flushes", best.flushes),
                ];
                self.figures("beside-merges", &format!("{name}: {clock}"), &figures)
            };
            [row("wall-clock time", &best.wall), row("less waits for a core", &best.running)]
        };
        LOADS.into_iter().flat_map(case).collect()
    }

    /// Applies batches of upserts, half of their ids there, as fast as one thread makes them.
    fn times(&self, has_background: bool) -> Times {
        let options = StoreOptions::new()
            .refresh_every(Duration::from_millis(250))
            .commit_every(has_background.then_some(Duration::from_secs(1)));
        let store = Arc::new(self.open(options));
        let background = has_background.then(|| background(&store, MergePolicy::default()));
        let mut times = Times::default();
        let end = Instant::now() + Duration::from_secs(self.args.seconds.into());
        let mut present =
            std::iter::repeat_with(|| random(self.args.docs, self.args.docs as usize)).flatten();
        let (mut absent, mut version) = (self.args.docs.., 1_000_000_000_000);
        while Instant::now() < end {
            let numbers = (0..BATCH).map(|at| {
                let number = if at % 2 == 0 { present.next() } else { absent.next() };
                number.expect("enough numbers")
            });
            let some = docs(numbers, |_| version);
            version += 1;
            let batch = batch(&store, &some, true);
            let (begun, before) = (Instant::now(), waited());
            let applied = store.apply(batch).expect("a disk with room");
            let (wall, waited) = (begun.elapsed().as_secs_f64(), waited() - before);
            let half =
                |outcome| applied.outcomes.iter().filter(|other| **other == outcome).count() == BATCH / 2;
            assert!(half(Outcome::Added) && half(Outcome::Replaced), "another outcome");
            times.wall.push(wall * 1e3);
            times.running.push((wall - waited).max(0.0) * 1e3);
        }
        let stats = store.stats().expect("a store");
        drop(background);
        (times.merges, times.flushes) = (stats.merges.count as f64, stats.flushes.count as f64);
        times
    }
}
