//! Reads after updates were shown or committed, some or many times.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use docvalues::column::{Batch, BatchDocs, Gathered};
use docvalues::search::{Docs, Parts, Search};
use docvalues::store::{Store, StoreOptions, StoreReader};
use docvalues::{DocId, DocRange, OpenOptions, SortKey};
use docvalues_benches::updated_docs::copy;
use docvalues_testkit::rng::SplitMix64;

use crate::ways::{Base, Hybrid, Op, Way};
use crate::{Kind, cpu};

/// Rounds, of which the median counts.
const ROUNDS: usize = 5;

/// Numbers of batches of 1,000 updates. After eight, Lucene 10.6 has as many overlays as it may, and after the next one, one.
pub(crate) const TIMES: [usize; 6] = [0, 1, 8, 9, 64, 65];

/// Prints the nanoseconds for each value of a scan and of gathers in any order, and the milliseconds of the top 20.
pub(crate) fn measure(base: &Path, folder: &Path, docs: u32) {
    println!("\n## Reads, {docs} documents, 1,000 updated at a time\n");
    println!("| way | times | scan, ns | gather, ns | top 20, ms | files |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for times in TIMES {
        let way =
            Hybrid(Arc::new(Store::open(copy(base, folder), StoreOptions::default()).expect("a store")));
        row("hybrid, shown", times, &after(&way, docs, times, || {}), folder);
        drop(way);
        let way =
            Hybrid(Arc::new(Store::open(copy(base, folder), StoreOptions::default()).expect("a store")));
        after(&way, docs, times, || assert!(way.0.commit().is_ok()));
        drop(way);
        let reader = StoreReader::open(folder.join("copy"), OpenOptions::new()).expect("a store");
        row("hybrid, committed", times, reader.snapshot().parts(), folder);
        let files = folder.join("files");
        let way = Base::stacked(&copy(base, folder), files.clone());
        row("stacked", times, &after(&way, docs, times, || {}), folder);
        if times < 64 {
            let way = Base::rewritten(&copy(base, folder), files);
            row("rewritten", times, &after(&way, docs, times, || {}), folder);
        }
    }
}

/// The parts after 1,000 documents were updated some times.
fn after(way: &dyn Way, docs: u32, times: usize, then: impl Fn()) -> Parts {
    let mut rng = SplitMix64::new(5);
    let mut parts = way.refresh();
    for _ in 0..times {
        let op = || Op { number: rng.below_u32(docs), seed: rng.next_u64() };
        way.apply(Kind::Numeric, &std::iter::repeat_with(op).take(1_000).collect::<Vec<_>>());
        parts = way.refresh();
        then();
    }
    parts
}

fn row(way: &str, times: usize, parts: &Parts, folder: &Path) {
    let keys = [SortKey::of("time").descending()];
    let docs: u64 = parts.docs();
    let mut rounds: [Vec<f64>; 3] = Default::default();
    let mut rng = SplitMix64::new(9);
    for _ in 0..=ROUNDS {
        let start = cpu();
        let mut sum = 0_i64;
        for part in 0..parts.len() {
            let column = parts.source(part).column("time").expect("a column");
            let all = DocRange::new(0, column.info().docs);
            let mut add = |batch: Batch<'_, i64>| {
                sum = batch.values.items().iter().fold(sum, |sum, value| sum.wrapping_add(*value));
                ControlFlow::Continue(())
            };
            column.values().numbers().expect("numbers").scan(all, &mut add).expect("good bytes");
        }
        black_box(sum);
        let scanned = cpu();
        let mut gathered = 0_u32;
        for part in 0..parts.len() {
            let column = parts.source(part).column("time").expect("a column");
            let rows = column.values().numbers().expect("numbers");
            for _ in 0..100 {
                let some: Vec<DocId> =
                    (0..1_024).map(|_| DocId::new(rng.below_u32(column.info().docs))).collect();
                let mut out = Gathered::default();
                rows.gather(BatchDocs::List(&some), &mut out).expect("good bytes");
                black_box(&out);
                gathered += 1_024;
            }
        }
        let read = cpu();
        let found = Search::over(parts).threads(1).top(Docs::All, &keys, 20).expect("good bytes");
        assert_eq!(found.len(), 20);
        let sorted = cpu();
        let times = [
            (scanned - start) * 1e9 / docs as f64,
            (read - scanned) * 1e9 / f64::from(gathered),
            (sorted - read) * 1e3,
        ];
        rounds.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
    }
    let [scan, gather, top] = rounds.map(|mut times| {
        // The first round opens columns, and compares checksums.
        times.remove(0);
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let files = std::fs::read_dir(folder.join("copy")).expect("a folder").count();
    println!("| {way} | {times} | {scan:.2} | {gather:.1} | {top:.2} | {files} |");
}
