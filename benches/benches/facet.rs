//! Cost of counting values, relative to a loop over ords in a `Vec`.
//!
//! `facet-COLUMN/CONTENDER/HITS`: `search` is `Search::facet`; `vec` counts a `Vec<u32>` of ords in an array that it
//! clears, and looks up no term. The hits are 1 %, 10 % or all of the documents. Throughput is hits a second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::{Docs, Search};
use docvalues_benches::{Bench, data, segment};

fn hosts(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let segment = segment::write(docs, &["host"], WriterOptions::default()).open(OpenOptions::new());
    let column = segment.sorted("host").expect("written");
    let every: Vec<DocId> = (0..docs).map(DocId::new).collect();
    let mut plain = vec![TermOrd::new(0); docs as usize];
    column.gather_or(&every, &mut plain, TermOrd::new(0)).expect("good bytes");
    let mut counts = vec![0_u32; column.terms().term_count() as usize];

    let search = Search::new(&segment).threads(1);
    let facet = Facet::of("host");
    let mut group = c.benchmark_group("facet-host");
    for (name, per_10_000) in [("1%", 100), ("10%", 1_000), ("all", 10_000)] {
        let hits = data::hits(docs, per_10_000);
        let requested = if per_10_000 == 10_000 { Docs::All } else { Docs::list(&hits).expect("ascending") };
        group.throughput(Throughput::Elements(hits.len() as u64));
        let mut vec = || {
            counts.fill(0);
            hits.iter().for_each(|doc| counts[plain[doc.get() as usize].get() as usize] += 1);
            counts.iter().copied().max().unwrap_or_default()
        };
        let found = search.facet(requested, &facet).expect("good bytes");
        assert_eq!(found.values[0].1, u64::from(vec()));
        group.bench_function(BenchmarkId::new("search", name), |b| {
            b.iter(|| search.facet(black_box(requested), &facet).expect("good bytes"));
        });
        group.bench_function(BenchmarkId::new("vec", name), |b| b.iter(|| black_box(vec())));
    }
    group.finish();
}

/// A column of numbers with 7 values.
fn status(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let segment = segment::write(docs, &["status"], WriterOptions::default()).open(OpenOptions::new());
    let search = Search::new(&segment).threads(1);
    let mut group = c.benchmark_group("facet-status");
    group.throughput(Throughput::Elements(docs.into()));
    group.bench_function("search/all", |b| {
        b.iter(|| search.facet(black_box(Docs::All), &Facet::of("status")).expect("good bytes"));
    });
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = hosts, status }
criterion_main!(benches);
