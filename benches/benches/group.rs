//! Cost of grouping, relative to loops over unpacked ords and numbers in memory.
//!
//! Groups by host with the sum of a number, and with their best documents, among 1 %, 10 % or all of the documents.
//! Read `group/<question>/<who>/<hits>`; throughput is hits a second. The baseline `rows` has count and sum of a group
//! beside each other, `arrays` in two arrays.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::prelude::*;
use docvalues::search::group::{Group, GroupOrder, Metric};
use docvalues::search::{Docs, Search};
use docvalues_benches::{Bench, data, segment};

const HITS: [(&str, u64); 3] = [("1%", 100), ("10%", 1_000), ("all", 10_000)];

/// The columns in plain arrays.
struct Plain {
    ords: Vec<TermOrd>,
    numbers: Vec<i64>,
    terms: usize,
}

impl Plain {
    fn of(segment: &Segment, docs: u32) -> Plain {
        let every: Vec<DocId> = (0..docs).map(DocId::new).collect();
        let column = segment.sorted("host").expect("written");
        let mut ords = vec![TermOrd::new(0); docs as usize];
        column.gather_or(&every, &mut ords, TermOrd::new(0)).expect("good bytes");
        Plain {
            ords,
            numbers: data::numbers("size", docs).values,
            terms: column.terms().term_count() as usize,
        }
    }

    fn hits<'h>(&'h self, hits: &'h [DocId]) -> impl Iterator<Item = (usize, i64)> + 'h {
        hits.iter()
            .map(|doc| doc.get() as usize)
            .map(|doc| (self.ords[doc].get() as usize, self.numbers[doc]))
    }

    fn rows(&self, hits: &[DocId]) -> u64 {
        let mut rows = vec![(0_u64, 0_i64); self.terms];
        for (ord, number) in self.hits(hits) {
            rows[ord].0 += 1;
            rows[ord].1 += number;
        }
        rows.iter().map(|row| row.0).max().unwrap_or_default()
    }

    fn arrays(&self, hits: &[DocId]) -> u64 {
        let (mut counts, mut sums) = (vec![0_u32; self.terms], vec![0_i64; self.terms]);
        for (ord, number) in self.hits(hits) {
            counts[ord] += 1;
            sums[ord] += number;
        }
        black_box(&sums);
        counts.iter().copied().max().unwrap_or_default().into()
    }
}

fn sums(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let segment = segment::write(docs, &["host", "size"], WriterOptions::default()).open(OpenOptions::new());
    let plain = Plain::of(&segment, docs);
    let search = Search::new(&segment).threads(1);
    let requested = Group::by("host").metric(Metric::Sum("size".into()));
    let mut group = c.benchmark_group("group/sum");
    for (name, per_10_000) in HITS {
        let hits = data::hits(docs, per_10_000);
        let among = if per_10_000 == 10_000 { Docs::All } else { Docs::list(&hits).expect("ascending") };
        group.throughput(Throughput::Elements(hits.len() as u64));
        let found = search.group(among, &requested).expect("good bytes");
        assert_eq!(found.groups[0].count, plain.rows(&hits));
        assert_eq!(found.groups[0].count, plain.arrays(&hits));
        group.bench_function(BenchmarkId::new("group", name), |b| {
            b.iter(|| search.group(black_box(among), &requested).expect("good bytes"));
        });
        group.bench_function(BenchmarkId::new("rows", name), |b| b.iter(|| plain.rows(black_box(&hits))));
        group.bench_function(BenchmarkId::new("arrays", name), |b| b.iter(|| plain.arrays(black_box(&hits))));
    }
    group.finish();
}

/// The ten hosts with the largest documents, and the same ordered by count with three documents each.
fn best(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let segment = segment::write(docs, &["host", "size"], WriterOptions::default()).open(OpenOptions::new());
    let search = Search::new(&segment).threads(1);
    let by_size = Group::by("host").sort([SortKey::new("size").descending()]);
    let questions = [
        ("collapse", by_size.clone().order(GroupOrder::Best).docs(1)),
        ("count and documents", by_size.docs(3)),
    ];
    let mut group = c.benchmark_group("group/best");
    for (name, per_10_000) in HITS {
        let hits = data::hits(docs, per_10_000);
        let among = if per_10_000 == 10_000 { Docs::All } else { Docs::list(&hits).expect("ascending") };
        group.throughput(Throughput::Elements(hits.len() as u64));
        for (question, requested) in &questions {
            group.bench_function(BenchmarkId::new(*question, name), |b| {
                b.iter(|| search.group(black_box(among), requested).expect("good bytes"));
            });
        }
    }
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = sums, best }
criterion_main!(benches);
