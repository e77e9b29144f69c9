//! What does counting values cost?
//!
//! Question: how near does a facet come to a bare loop that counts ords which lie unpacked in memory, when 1 %, 10 % or all
//! documents are hits? Read `facet/<column>/<who>/<hits>`; throughput is hits a second. `vec` counts a `Vec<u32>` of
//! ords in an array that it clears, and looks up no term.
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
    let mut counts = vec![0_u32; column.term_count() as usize];

    let search = Search::new(&segment).threads(1);
    let facet = Facet::on("host");
    let mut group = c.benchmark_group("facet/host");
    for (name, per_10_000) in [("1%", 100), ("10%", 1_000), ("all", 10_000)] {
        let hits = data::hits(docs, per_10_000);
        let asked = if per_10_000 == 10_000 { Docs::All } else { Docs::List(&hits) };
        group.throughput(Throughput::Elements(hits.len() as u64));
        let mut vec = || {
            counts.fill(0);
            hits.iter().for_each(|doc| counts[plain[doc.get() as usize].get() as usize] += 1);
            counts.iter().copied().max().unwrap_or_default()
        };
        let found = search.facet(asked, &facet).expect("good bytes");
        assert_eq!(found.values[0].1, u64::from(vec()));
        group.bench_function(BenchmarkId::new("facet", name), |b| {
            b.iter(|| search.facet(black_box(asked), &facet).expect("good bytes"));
        });
        group.bench_function(BenchmarkId::new("vec", name), |b| b.iter(|| black_box(vec())));
    }
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = hosts }
criterion_main!(benches);
