//! The cost of adding to numbers of a store, beside setting them.

use docvalues::store::{Store, StoreOptions, Update};
use docvalues_benches::updated_docs::{build_store, id};
use docvalues_testkit::rng::SplitMix64;

use crate::{ROUNDS, median, millis};

/// The segments of the store.
const SEGMENTS: u32 = 13;

/// The documents of a batch.
const COUNTS: [u32; 3] = [1, 100, 1_000];

/// Prints the milliseconds of a batch of updates of one number and a refresh, set and added to, in turns.
pub(crate) fn measure(docs: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    build_store(folder.path(), docs, SEGMENTS);
    let store = Store::open(folder.path(), StoreOptions::default()).expect("a store");
    println!("\n## counters, {docs} documents in {SEGMENTS} segments, ms\n");
    println!("| documents of a batch | set | add | ratio |\n| ---: | ---: | ---: | ---: |");
    let mut rng = SplitMix64::new(29);
    // The table of ids, and pages that are read for the first time.
    run(&store, docs, 1_000, true, &mut rng);
    for count in COUNTS {
        let (mut set, mut added) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            set.push(run(&store, docs, count, false, &mut rng));
            added.push(run(&store, docs, count, true, &mut rng));
        }
        let (set, added) = (median(set), median(added));
        println!("| {count} | {set:.3} | {added:.3} | {:.2} |", added / set);
    }
}

/// The milliseconds of one batch of random documents.
fn run(store: &Store, docs: u32, count: u32, is_added: bool, rng: &mut SplitMix64) -> f64 {
    let mut batch = store.batch().expect("a batch");
    let (id_field, time) = (batch.field("id").expect("a field"), batch.field("time").expect("a field"));
    let update = if is_added { Update::new().add(time, 1) } else { Update::new() };
    for _ in 0..count {
        let mut row = batch.update_with(&update);
        row.bytes(id_field, &id(rng.below_u32(docs))).expect("bytes");
        if !is_added {
            row.i64(time, 7).expect("a number");
        }
        row.finish().expect("a row");
    }
    millis(|| {
        store.apply(batch).expect("an update");
        store.refresh().expect("a store");
    })
}
