//! What is measured of the store only: more threads than cores, and durable batches beside bare syncs.

use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

use docvalues::store::{Durability, Store, StoreOptions};
use docvalues_benches::process::cpu;

use super::Figures;
use super::ours::{Ours, ROUNDS, apply, docs, median, parallel_by, remove, schema};

/// Documents of a durable batch.
const DURABLE: usize = 100;

/// Durable batches of a caller in a round: so few that no buffer is full.
const BATCHES: usize = 200;

impl Ours<'_> {
    /// Upserts of new ids into an empty store.
    pub(super) fn threads(&self) -> Vec<Figures> {
        let some = docs(0..self.args.operations, |number| i64::from(number) + 1);
        let case = |threads: usize| {
            let (mut rates, mut cpus, mut waits) = (Vec::new(), Vec::new(), Vec::new());
            for round in 0..=ROUNDS {
                let path = self.folder.join("threads.docvalues");
                remove(&path);
                let store = Store::create(&path, schema(true), StoreOptions::default()).expect("a folder");
                let (wall, start) = (Instant::now(), cpu());
                parallel_by(threads, &store, &some, true, |_| {});
                let wall = wall.elapsed().as_secs_f64();
                if round > 0 {
                    rates.push(some.len() as f64 / wall);
                    cpus.push((cpu() - start) * 1e9 / some.len() as f64);
                    let waited = store.stats().expect("a store").waited.as_secs_f64();
                    waits.push(100.0 * waited / (wall * threads as f64));
                }
                drop(store);
                remove(&path);
            }
            let figures =
                [("docs_s", median(rates)), ("ns_cpu", median(cpus)), ("waited_percent", median(waits))];
            self.figures("threads", &format!("{threads} threads"), &figures)
        };
        [1, 2, 4, 8, 16].into_iter().map(case).collect()
    }

    /// Batches of 100 documents that are synced when they are acknowledged.
    pub(super) fn durable(&self) -> Vec<Figures> {
        let mut cases = vec![self.bare(false), self.bare(true)];
        cases.extend([1, 8].map(|callers| self.callers(callers)));
        cases
    }

    /// Appends as many bytes as a batch has, and syncs them; into room that is there, or at the end.
    fn bare(&self, with_room: bool) -> Figures {
        let path = self.folder.join("bare");
        let bytes = [7_u8; 120 * DURABLE];
        let rounds = (0..=ROUNDS).map(|_| {
            let mut file = File::create(&path).expect("a folder");
            if with_room {
                let zeros = vec![0; bytes.len() * BATCHES];
                file.write_all(&zeros).and_then(|()| file.sync_all()).expect("a disk with room");
                file = File::options().write(true).open(&path).expect("the file");
            }
            let start = Instant::now();
            for _ in 0..BATCHES {
                file.write_all(&bytes).and_then(|()| file.sync_data()).expect("a disk with room");
            }
            start.elapsed().as_secs_f64() * 1e3 / BATCHES as f64
        });
        let time = median(rounds.skip(1).collect());
        let _ = std::fs::remove_file(&path);
        let name = if with_room { "write and fdatasync, room filled before" } else { "write and fdatasync" };
        self.figures("durable", name, &[("ms_batch", time), ("ms_each", time)])
    }

    fn callers(&self, callers: usize) -> Figures {
        let count = u32::try_from(DURABLE * BATCHES * callers).expect("few");
        let some = docs(0..count, |number| i64::from(number) + 1);
        let options = StoreOptions::new().durability(Durability::EachBatch);
        let rounds = (0..=ROUNDS).map(|_| {
            let path = self.folder.join("durable.docvalues");
            remove(&path);
            let store = Store::create(&path, schema(true), options).expect("a folder");
            let start = Instant::now();
            std::thread::scope(|scope| {
                for part in some.chunks(DURABLE * BATCHES) {
                    let store = &store;
                    scope.spawn(move || {
                        part.chunks(DURABLE).for_each(|docs| drop(apply(store, docs, true)));
                    });
                }
            });
            let wall = start.elapsed().as_secs_f64() * 1e3;
            drop(store);
            remove(&path);
            wall / BATCHES as f64
        });
        let each = median(rounds.skip(1).collect());
        let figures = [("ms_batch", each / callers as f64), ("ms_each", each)];
        self.figures("durable", &format!("batches of {DURABLE} documents, callers: {callers}"), &figures)
    }
}
