//! The CPU time of the id check: the same batches in a store with an id field, and in one where the ids are only values.

use docvalues::store::{Outcome, Store, StoreOptions, StoreSchema, WriteBatch};
use docvalues_benches::ids::random;
use docvalues_benches::process::thread_cpu;

use super::Figures;
use super::mixed::SMALL;
use super::ours::{BATCH, Ours, ROUNDS, Versioned, batch, docs, fields, median, remove, schema};

/// Documents a second of apache/lucene#15820: 32 batches of 20.
const A_SECOND: f64 = 640.0;

/// The nanoseconds of CPU time of an operation, in each round.
#[derive(Default)]
struct Costs {
    unchecked: Vec<f64>,
    /// In an empty store: the hash, and the map of the buffer.
    buffer: Vec<f64>,
    checked: Vec<f64>,
}

impl Ours<'_> {
    /// `apply` alone, in one thread, of batches that were made before, into buffers that are never full.
    pub(super) fn check(&self) -> Vec<Figures> {
        let sizes = [SMALL as usize, BATCH];
        sizes.into_iter().flat_map(|size| self.check_by(size)).collect()
    }

    fn check_by(&self, size: usize) -> [Figures; 3] {
        let (there, operations) = (self.args.docs, self.args.operations.min(self.args.docs));
        let absent = docs(there..there + operations, |_| 1 << 40);
        let present = docs(random(there, operations as usize), |_| 1 << 40);
        // So few that the table of all ids is not made.
        let few = &absent[..absent.len().min((there / (self.segments / 2).max(10)) as usize)];
        let [mut by_filters, mut new, mut replaced] = [(); 3].map(|()| Costs::default());
        for round in 0..=ROUNDS {
            let pair = |costs: &mut Costs, some: &[Versioned], store: &Store, outcome: Outcome| {
                let unchecked = self.pure(fields(true), some, size);
                let buffer = self.pure(schema(true), some, size);
                let checked = apply_all(store, some, size, Some(outcome));
                if round > 0 {
                    costs.unchecked.push(unchecked);
                    costs.buffer.push(buffer);
                    costs.checked.push(checked);
                }
            };
            let options = StoreOptions::new().buffer_bytes(usize::MAX);
            let store = self.open(options);
            pair(&mut by_filters, few, &store, Outcome::Added);
            drop(store);
            let store = self.open(options);
            self.fill_table(&store);
            pair(&mut new, &absent, &store, Outcome::Added);
            pair(&mut replaced, &present, &store, Outcome::Replaced);
        }
        let row = |name: &str, costs: Costs| {
            let difference = |from: &[f64]| {
                median(costs.checked.iter().zip(from).map(|(checked, from)| checked - from).collect())
            };
            let (check, segments) = (difference(&costs.unchecked), difference(&costs.buffer));
            let figures = [
                ("ns_check", check),
                ("ns_check_segments", segments),
                ("ns_checked", median(costs.checked)),
                ("ns_unchecked", median(costs.unchecked)),
                ("percent_of_core_at_640_s", check * A_SECOND / 1e9 * 100.0),
            ];
            self.figures("check", &format!("{name}, batches of {size}"), &figures)
        };
        [
            row("new ids, by filters", by_filters),
            row("new ids, by the table", new),
            row("ids that are there, by the table", replaced),
        ]
    }

    /// The cost of an operation in an empty store.
    fn pure(&self, schema: StoreSchema, some: &[Versioned], size: usize) -> f64 {
        let path = self.folder.join("check.docvalues");
        remove(&path);
        let options = StoreOptions::new().buffer_bytes(usize::MAX);
        let store = Store::create(&path, schema, options).expect("a folder");
        let cost = apply_all(&store, some, size, None);
        drop(store);
        remove(&path);
        cost
    }

    /// Asks for so many ids that the store makes its table. Nothing changes.
    fn fill_table(&self, store: &Store) {
        let mut number = u32::MAX;
        while store.stats().expect("a store").table_bytes == 0 {
            let mut batch = store.batch().expect("a schema");
            for _ in 0..10_000 {
                batch.delete(docvalues_benches::ingest::IngestDoc::id(number).as_bytes());
                number -= 1;
            }
            store.apply(batch).expect("good bytes");
        }
    }
}

/// Applies documents. Returns the nanoseconds of CPU time of an operation.
fn apply_all(store: &Store, some: &[Versioned], size: usize, outcome: Option<Outcome>) -> f64 {
    let batches: Vec<WriteBatch> = some.chunks(size).map(|docs| batch(store, docs, true)).collect();
    let start = thread_cpu();
    for batch in batches {
        let applied = store.apply(batch).expect("good bytes");
        assert!(outcome.is_none_or(|outcome| applied.outcomes.iter().all(|other| *other == outcome)));
    }
    (thread_cpu() - start) * 1e9 / some.len() as f64
}
