//! Cost of counting values, relative to a loop over unpacked ords in memory.
//!
//! The hits are 1 %, 10 % or all of the documents. Read `facet/<column>/<who>/<hits>`; throughput is hits a second.
//! The baseline `vec` counts a `Vec<u32>` of ords in an array that it clears, and looks up no term.
//!
//! `facet/turns/<values>/<arrays>` compares one array of counters with several that are used in turn, for the given
//! number of values with a Zipf distribution.
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
    let facet = Facet::on("host");
    let mut group = c.benchmark_group("facet/host");
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
        group.bench_function(BenchmarkId::new("facet", name), |b| {
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
    let mut group = c.benchmark_group("facet/status");
    group.throughput(Throughput::Elements(docs.into()));
    group.bench_function("facet/all", |b| {
        b.iter(|| search.facet(black_box(Docs::All), &Facet::on("status")).expect("good bytes"));
    });
    group.finish();
}

fn turns(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let mut group = c.benchmark_group("facet/turns");
    group.throughput(Throughput::Elements(docs.into()));
    for values in [2, 10, 100, 1_000, 10_000, 100_000] {
        let ranks = ranks(docs, values);
        let mut counts = vec![0_u32; 4 * values];
        group.bench_function(BenchmarkId::new(values.to_string(), 1), |b| {
            b.iter(|| black_box(count::<1>(&mut counts[..values], black_box(&ranks))));
        });
        group.bench_function(BenchmarkId::new(values.to_string(), 4), |b| {
            b.iter(|| black_box(count::<4>(&mut counts, black_box(&ranks))));
        });
    }
    group.finish();
}

/// The value of each document, in random order with a Zipf distribution.
fn ranks(docs: u32, values: usize) -> Vec<u32> {
    let weights = (1..=values).scan(0.0, |sum, rank| {
        *sum += 1.0 / rank as f64;
        Some(*sum)
    });
    let weights: Vec<f64> = weights.collect();
    let total = weights[values - 1];
    let rank = |doc: u32| {
        let at = f64::from(doc.wrapping_mul(2_654_435_761)) / f64::from(u32::MAX) * total;
        let rank = weights.partition_point(|weight| *weight < at).min(values - 1);
        // Spread over the array, like the ords of frequent terms.
        u32::try_from(rank * 7_919 % values).expect("a small number")
    };
    (0..docs).map(rank).collect()
}

fn count<const ARRAYS: usize>(counts: &mut [u32], values: &[u32]) -> u32 {
    counts.fill(0);
    let mut arrays = counts.chunks_exact_mut(counts.len() / ARRAYS);
    let mut arrays: [&mut [u32]; ARRAYS] = std::array::from_fn(|_| arrays.next().expect("one of so many"));
    for group in values.as_chunks::<ARRAYS>().0 {
        for (array, &value) in arrays.iter_mut().zip(group) {
            array[value as usize] += 1;
        }
    }
    arrays[0][0]
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = hosts, status, turns }
criterion_main!(benches);
