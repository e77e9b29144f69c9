//! Memory of upserts in a process of its own, sampled while they run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use docvalues::store::{MergePolicy, Outcome, Store, StoreOptions};
use docvalues_benches::process::mib;

use super::Figures;
use super::base::background;
use super::ours::{BATCH, Ours, THREADS, apply, docs, remove, schema};

/// Whether background threads write and merge, of each case.
pub(super) const HAS_BACKGROUND: [bool; 2] = [false, true];

impl Ours<'_> {
    /// Upserts as many new ids as there are documents. To be run in a process of its own.
    pub(super) fn memory(&self, has_background: bool) -> Figures {
        let path = self.folder.join("memory.docvalues");
        remove(&path);
        let options = StoreOptions::default();
        let store = Arc::new(Store::create(&path, schema(true), options).expect("a folder"));
        let background = has_background.then(|| background(&store, MergePolicy::default()));
        let (next, writers) = (AtomicU32::new(0), AtomicUsize::new(THREADS));
        let begun = Instant::now();
        let (mut anonymous, mut buffers, mut table) = (0.0_f64, 0, 0);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    self.write_all(&store, &next);
                    writers.fetch_sub(1, Relaxed);
                });
            }
            while writers.load(Relaxed) > 0 {
                anonymous = anonymous.max(mib("RssAnon"));
                let stats = store.stats().expect("a store");
                buffers = buffers.max(stats.buffer_bytes + stats.sealed_bytes);
                std::thread::sleep(Duration::from_millis(5));
            }
            table = store.stats().expect("a store").table_bytes;
        });
        let wall = begun.elapsed().as_secs_f64();
        store.commit().expect("a disk with room");
        let (stats, to_mib) =
            (store.stats().expect("a store"), |bytes: usize| bytes as f64 / f64::from(1 << 20));
        assert_eq!(stats.docs, u64::from(self.args.docs));
        let (budget, table) = (to_mib(options.buffer_bytes), to_mib(table.max(stats.table_bytes)));
        let figures = [
            ("mib_resident_peak", mib("VmHWM")),
            ("mib_anonymous_peak", anonymous.max(mib("RssAnon"))),
            ("mib_budget", budget),
            ("mib_buffers_peak", to_mib(buffers)),
            ("mib_table", table),
            ("mib_goal", budget + table + 64.0),
            ("segments", stats.segments as f64),
            ("merges", stats.merges.count as f64),
            ("docs_s", f64::from(self.args.docs) / wall),
        ];
        let name = if has_background { "background threads" } else { "alone" };
        drop((background, store));
        remove(&path);
        self.figures("memory", name, &figures)
    }

    /// Takes batches in turn with other threads. Documents are made as they are needed.
    fn write_all(&self, store: &Store, next: &AtomicU32) {
        let batch = u32::try_from(BATCH).expect("few");
        loop {
            let first = next.fetch_add(batch, Relaxed);
            if first >= self.args.docs {
                return;
            }
            let some = docs(first..self.args.docs.min(first + batch), |number| i64::from(number) + 1);
            let outcomes = apply(store, &some, true);
            assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Added), "another outcome");
        }
    }
}
