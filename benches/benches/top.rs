//! Cost of the first documents by a column, and the gain from skipping.
//!
//! Read `top/<column>/<how>/<hits>`: the 20 hits with the greatest values of an ascending column and of an unordered
//! one, among 0.01 %, 1 %, 10 % or all of the documents; throughput is hits a second.
//!
//! | how | |
//! | --- | --- |
//! | `list` | `Search::top` of a list of documents |
//! | `bits` | `Search::top` of a bitset, the result of a filter |
//! | `each` | reads every hit's value, in batches of 4,096, and compares it with the least of the best so far |
//!
//! `top/listed/<how>/<hits>` converts a bitset to a list: `one_by_one` visits each bit, `four` writes four positions
//! for each word and keeps the valid ones.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::prelude::*;
use docvalues::search::{Bitset, Docs, Search};
use docvalues::{Numeric, bits};
use docvalues_benches::{Bench, data, segment};

const TOP: usize = 20;

const HITS: [(&str, u64); 4] = [("0.01%", 1), ("1%", 100), ("10%", 1_000), ("all", 10_000)];

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
        let keys = [SortKey::new(name).descending()];
        let mut group = c.benchmark_group(format!("top/{name}"));
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
            group.bench_function(BenchmarkId::new("each", share), |b| {
                b.iter(|| each(&column, black_box(&hits), &mut values));
            });
        }
        group.finish();
    }
}

fn listed(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let mut list = Vec::with_capacity(docs as usize + 64);
    let mut group = c.benchmark_group("top/listed");
    for (share, per_10_000) in HITS {
        let hits = data::hits(docs, per_10_000);
        let set = Bitset::from_docs(hits.iter().copied(), docs);
        group.throughput(Throughput::Elements(u64::from(docs)));
        group.bench_function(BenchmarkId::new("four", share), |b| {
            b.iter(|| {
                list.clear();
                bits::push_docs(black_box(set.words()), 0, &mut list);
                list.len()
            });
        });
        assert_eq!(list, hits);
        group.bench_function(BenchmarkId::new("one_by_one", share), |b| {
            b.iter(|| {
                list.clear();
                list.extend(black_box(&set).iter());
                list.len()
            });
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = tops, listed }
criterion_main!(benches);
