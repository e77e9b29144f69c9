//! Cost of checksums at first touch and afterwards, relative to `Verify::Never`.
//!
//! `verify-QUESTION/CONTENDER/DOCUMENTS`: a column that was just opened, of which every touched granule is verified
//! (`cold`), and the same request again (`warm`); `never-cold` and `never-warm` are the same with `Verify::Never`. Only
//! the checksums are cold: the bytes are in memory, and partly in the CPU's caches. `verify-open` opens the segment and
//! the column; `at-open` verifies all of it. Throughput is documents a second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;
use std::ops::ControlFlow;

use criterion::{BatchSize, BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::Numeric;
use docvalues::prelude::*;
use docvalues::reader::Verify;
use docvalues_benches::segment::{self, Written};
use docvalues_benches::{Bench, data};

const NAME: &str = "uni24";

fn open(written: &Written, verify: Verify) -> Numeric {
    written.open(OpenOptions::new().verify(verify)).numeric(NAME).expect("written")
}

fn get(column: &Numeric, docs: &[DocId]) -> i64 {
    docs.iter().map(|&doc| column.get(doc).expect("good bytes").unwrap_or(0)).sum()
}

fn gather(column: &Numeric, docs: &[DocId]) -> i64 {
    let mut out = vec![0; docs.len()];
    column.gather_or(docs, &mut out, 0).expect("good bytes");
    out.iter().sum()
}

/// `docs` is all of them.
fn scan(column: &Numeric, docs: &[DocId]) -> i64 {
    let (mut total, end) = (0, u32::try_from(docs.len()).unwrap_or(u32::MAX));
    let scanned = column.scan(0..end, |_, values| {
        total += values.iter().sum::<i64>();
        ControlFlow::Continue(())
    });
    scanned.expect("good bytes");
    total
}

fn verify(c: &mut Bench) {
    type Question = fn(&Numeric, &[DocId]) -> i64;
    let docs = docvalues_benches::docs();
    let written = segment::write(docs, &[NAME], WriterOptions::default());
    let plain = data::numbers(NAME, docs).values;
    let questions: [(&str, Question, Vec<DocId>); 3] = [
        ("verify-get", get, data::random_docs(docs, 1)),
        ("verify-gather", gather, data::random_docs(docs, 100)),
        ("verify-scan", scan, (0..docs).map(DocId::new).collect()),
    ];
    for (name, question, requested) in questions {
        let ask = |column: &Numeric| question(black_box(column), black_box(&requested));
        let expected = requested.iter().map(|doc| plain[doc.get() as usize]).sum::<i64>();
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(requested.len() as u64));
        for (cold, warm, verify) in
            [("cold", "warm", Verify::OnFirstTouch), ("never-cold", "never-warm", Verify::Never)]
        {
            let column = open(&written, verify);
            assert_eq!(ask(&column), expected);
            group.bench_function(BenchmarkId::new(cold, requested.len()), |b| {
                b.iter_batched_ref(|| open(&written, verify), |column| ask(column), BatchSize::SmallInput);
            });
            group.bench_function(BenchmarkId::new(warm, requested.len()), |b| b.iter(|| ask(&column)));
        }
        group.finish();
    }

    let mut group = c.benchmark_group("verify-open");
    group.throughput(Throughput::Bytes(written.bytes.len() as u64));
    group.bench_function(BenchmarkId::new("at-first-touch", docs), |b| {
        b.iter(|| open(&written, Verify::OnFirstTouch))
    });
    group.bench_function(BenchmarkId::new("at-open", docs), |b| b.iter(|| open(&written, Verify::AtOpen)));
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = verify }
criterion_main!(benches);
