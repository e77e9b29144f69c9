//! Cost of the 20 first documents by a column, relative to reading the value of every hit.
//!
//! `top-COLUMN/CONTENDER/HITS`: an ascending column and an unordered one, among 0.01 %, 1 % or all of the documents.
//! `Search::top` of a `list` of documents, or of the `bits` of a filter's result; `gather` reads every hit's value, in
//! batches of 4,096, and compares it with the least of the best so far. Throughput is hits a second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::Numeric;
use docvalues::prelude::*;
use docvalues::search::{Bitset, Docs, Search};
use docvalues_benches::{Bench, data, segment};

const TOP: usize = 20;

const HITS: [(&str, u64); 3] = [("0.01%", 1), ("1%", 100), ("all", 10_000)];

/// Reads every value.
fn each(column: &Numeric, hits: &[DocId], values: &mut [i64]) -> Vec<DocId> {
    let mut best = BinaryHeap::new();
    for docs in hits.chunks(values.len()) {
        let values = &mut values[..docs.len()];
        column.gather_or(docs, values, 0).expect("good bytes");
        for (&value, &doc) in values.iter().zip(docs) {
            if best.len() < TOP || best.peek().is_some_and(|&(Reverse(least), _)| value > least) {
                best.push((Reverse(value), doc));
                if best.len() > TOP {
                    best.pop();
                }
            }
        }
    }
    best.into_sorted_vec().into_iter().map(|(_, doc)| doc).collect()
}

fn tops(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let segment = segment::write(docs, &["size", "ts"], WriterOptions::default()).open(OpenOptions::new());
    let search = Search::new(&segment).threads(1);
    let mut values = vec![0; 4_096];
    for name in ["size", "ts"] {
        let column = segment.numeric(name).expect("written");
        let keys = [SortKey::of(name).descending()];
        let mut group = c.benchmark_group(format!("top-{name}"));
        for (share, per_10_000) in HITS {
            let hits = data::hits(docs, per_10_000);
            let set = Bitset::from_docs(hits.iter().copied(), docs);
            let top = |docs: Docs<'_>| search.top(docs, &keys, TOP).expect("good bytes");
            for docs in [Docs::list(&hits).expect("ascending"), Docs::Bits(&set)] {
                assert!(top(docs).iter().map(|found| found.doc).eq(each(&column, &hits, &mut values)));
            }
            group.throughput(Throughput::Elements(hits.len() as u64));
            group.bench_function(BenchmarkId::new("list", share), |b| {
                b.iter(|| top(Docs::list(&hits).expect("ascending")))
            });
            group.bench_function(BenchmarkId::new("bits", share), |b| b.iter(|| top(Docs::Bits(&set))));
            group.bench_function(BenchmarkId::new("gather", share), |b| {
                b.iter(|| each(&column, black_box(&hits), &mut values));
            });
        }
        group.finish();
    }
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = tops }
criterion_main!(benches);
