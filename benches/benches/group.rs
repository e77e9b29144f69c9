//! Cost of grouping with a sum, relative to a loop over ords and numbers in two `Vec`s.
//!
//! `group-sum/CONTENDER/HITS`: by host with the sum of `size`, among 1 %, 10 % or all of the documents. `search` is
//! `Search::group`; `vec` has count and sum of a group beside each other. Throughput is hits a second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::prelude::*;
use docvalues::search::group::{Group, Metric};
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
}

fn sums(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let segment = segment::write(docs, &["host", "size"], WriterOptions::default()).open(OpenOptions::new());
    let plain = Plain::of(&segment, docs);
    let search = Search::new(&segment).threads(1);
    let requested = Group::of("host").metric(Metric::Sum("size".into()));
    let mut group = c.benchmark_group("group-sum");
    for (name, per_10_000) in HITS {
        let hits = data::hits(docs, per_10_000);
        let among = if per_10_000 == 10_000 { Docs::All } else { Docs::list(&hits).expect("ascending") };
        group.throughput(Throughput::Elements(hits.len() as u64));
        let found = search.group(among, &requested).expect("good bytes");
        assert_eq!(found.groups[0].count, plain.rows(&hits));
        group.bench_function(BenchmarkId::new("search", name), |b| {
            b.iter(|| search.group(black_box(among), &requested).expect("good bytes"));
        });
        group.bench_function(BenchmarkId::new("vec", name), |b| b.iter(|| plain.rows(black_box(&hits))));
    }
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = sums }
criterion_main!(benches);
