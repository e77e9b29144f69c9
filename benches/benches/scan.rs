//! Cost of summing a whole column, relative to a sum over a `Vec`.
//!
//! `scan/CONTENDER/COLUMN`: `scan`, and a sum of slots of 8 bytes (4 for `host`) with zeros for missing values, which the
//! compiler vectorizes (`vec`). Throughput is documents a second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;
use std::ops::ControlFlow;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::Numeric;
use docvalues::prelude::*;
use docvalues_benches::{Bench, data, segment};

fn sum(values: &[i64]) -> i64 {
    values.iter().fold(0, |sum, &value| sum.wrapping_add(value))
}

fn scanned(column: &Numeric, docs: u32) -> i64 {
    let mut total = 0_i64;
    let scanned = column.scan(0..docs, |_, values| {
        total = total.wrapping_add(sum(values));
        ControlFlow::Continue(())
    });
    scanned.expect("good bytes");
    total
}

fn scan(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let segment = segment::write(docs, &data::NUMERIC, WriterOptions::default()).open(OpenOptions::new());
    for name in data::NUMERIC {
        let (column, plain) = (segment.numeric(name).expect("written"), data::numbers(name, docs).values);
        assert_eq!(scanned(&column, docs), sum(&plain));
        let mut group = c.benchmark_group("scan");
        group.throughput(Throughput::Elements(docs.into()));
        group
            .bench_function(BenchmarkId::new("scan", name), |b| b.iter(|| scanned(black_box(&column), docs)));
        group.bench_function(BenchmarkId::new("vec", name), |b| b.iter(|| sum(black_box(&plain))));
        group.finish();
    }
}

fn ords(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let segment = segment::write(docs, &["host"], WriterOptions::default()).open(OpenOptions::new());
    let column = segment.sorted("host").expect("written");
    let scanned = |each: &mut dyn FnMut(&[TermOrd])| {
        let scanned = column.scan(0..docs, |_, ords| {
            each(ords);
            ControlFlow::Continue(())
        });
        scanned.expect("good bytes");
    };
    let sum = |ords: &[TermOrd]| ords.iter().map(|ord| u64::from(ord.get())).sum::<u64>();
    let total = || {
        let mut total = 0;
        scanned(&mut |ords| total += sum(ords));
        total
    };
    let mut plain = Vec::new();
    scanned(&mut |ords| plain.extend_from_slice(ords));
    assert_eq!(total(), sum(&plain));
    let mut group = c.benchmark_group("scan");
    group.throughput(Throughput::Elements(docs.into()));
    group.bench_function("scan/host", |b| b.iter(|| black_box(total())));
    group.bench_function("vec/host", |b| b.iter(|| sum(black_box(&plain))));
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = scan, ords }
criterion_main!(benches);
