//! The cost of changing rows: setting them, and opening the column with them.

use std::hint::black_box;
use std::sync::Arc;

use docvalues::column::{AbsentColumn, Changes, Overlay};
use docvalues::{Column, DocId, Field, Kind, LogicalType};
use docvalues_testkit::rng::SplitMix64;

use crate::{ROUNDS, median, millis, number, share, text};

/// Shares of documents that changed before, and numbers of documents that change.
const SHARES: [f64; 3] = [0.001, 0.01, 0.1];
const COUNTS: [u32; 4] = [1, 100, 1_000, 10_000];

/// Prints the milliseconds in which some rows are set and a column is opened, of which a snapshot has the one before.
pub(crate) fn measure(docs: u32) {
    println!("\n## sets, {docs} documents, ms\n");
    println!("| values | changed before | {} |", COUNTS.map(|count| format!("{count} changes")).join(" | "));
    println!("| --- | ---: |{}", " ---: |".repeat(COUNTS.len()));
    for part in SHARES {
        let mut rng = SplitMix64::new(27);
        let some = share(docs, part, &mut rng);
        let mut changes = Changes::<i64>::new(docs, false);
        let rows: Vec<i64> = some.iter().map(|_| number(&mut rng)).collect();
        changes.set(some.iter().map(|doc| DocId::new(*doc)).zip(rows.chunks(1).map(Some)));
        let times = COUNTS.map(|count| {
            let rounds = (0..ROUNDS).map(|_| {
                let some = share(docs, f64::from(count) / f64::from(docs), &mut rng);
                let rows: Vec<i64> = some.iter().map(|_| number(&mut rng)).collect();
                let (before, base) = (changes.clone(), absent(Kind::Numeric, docs));
                let time = millis(|| {
                    changes.set(some.iter().map(|doc| DocId::new(*doc)).zip(rows.chunks(1).map(Some)));
                    black_box(Overlay::<i64>::new(base, changes.clone()));
                });
                drop(before);
                time
            });
            format!("{:.3}", median(rounds.collect()))
        });
        println!("| numbers | {} % | {} |", part * 100.0, times.join(" | "));

        let mut changes = Changes::<u8>::new(docs, true);
        let texts = |some: &[u32], rng: &mut SplitMix64| some.iter().map(|_| text(rng)).collect::<Vec<_>>();
        let rows = texts(&some, &mut rng);
        let zipped = |some: &[u32], rows: &[String], changes: &mut Changes<u8>| {
            let rows = rows.iter().map(|row| Some(row.as_bytes()));
            changes.set(some.iter().map(|doc| DocId::new(*doc)).zip(rows));
        };
        zipped(&some, &rows, &mut changes);
        let times = COUNTS.map(|count| {
            let rounds = (0..ROUNDS).map(|_| {
                let some = share(docs, f64::from(count) / f64::from(docs), &mut rng);
                let rows = texts(&some, &mut rng);
                let (before, base) = (changes.clone(), absent(Kind::Binary, docs));
                let time = millis(|| {
                    zipped(&some, &rows, &mut changes);
                    black_box(Overlay::<u8>::new(base, changes.clone()));
                });
                drop(before);
                time
            });
            format!("{:.3}", median(rounds.collect()))
        });
        println!("| strings | {} % | {} |", part * 100.0, times.join(" | "));
    }
}

fn absent(kind: Kind, docs: u32) -> Arc<dyn Column> {
    let logical = if kind == Kind::Numeric { LogicalType::I64 } else { LogicalType::Utf8 };
    Arc::new(AbsentColumn::of(Field::new("changed", kind, logical), docs))
}
