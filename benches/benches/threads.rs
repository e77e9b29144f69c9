//! Gain from a second thread in searches, in wall time, relative to one thread.
//!
//! `threads/THREADS/WORKLOAD`: meaningful on an idle machine, with ten million documents. Throughput is documents a
//! second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::group::{Group, Metric};
use docvalues::search::stats::Stats;
use docvalues::search::{Docs, Query, Search};
use docvalues_benches::segment;

fn works(c: &mut Criterion) {
    let docs = docvalues_benches::docs();
    let columns = ["host", "size", "uni24"];
    let segment = segment::write(docs, &columns, WriterOptions::default()).open(OpenOptions::new());
    let by = |name: &str| SortKey::of(name).descending();
    let facet = Facet::of("host");
    let group_by = Group::of("host").metric(Metric::Sum("size".into()));
    let sorted = [by("size")];
    let percentiles = Stats::of("uni24").percentiles([5.0, 50.0, 95.0]);
    let one = Query::range("uni24", 1_000_000..9_000_000);
    let all = Docs::All;

    let mut group = c.benchmark_group("threads");
    group.throughput(Throughput::Elements(docs.into()));
    for threads in [1, 2] {
        let search = Search::new(&segment).threads(threads);
        let mut bench = |work: &str, run: &dyn Fn()| {
            group.bench_function(BenchmarkId::new(threads.to_string(), work), |b| b.iter(run));
        };
        bench("filter", &|| drop(black_box(search.filter(&one).expect("good bytes"))));
        bench("facet", &|| drop(black_box(search.facet(all, &facet).expect("good bytes"))));
        bench("group", &|| drop(black_box(search.group(all, &group_by).expect("good bytes"))));
        bench("sort", &|| drop(black_box(search.sorted(all, &sorted).expect("good bytes"))));
        bench("percentiles", &|| drop(black_box(search.stats(all, &percentiles).expect("good bytes"))));
    }
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::wall_time(); targets = works }
criterion_main!(benches);
