//! Gain and cost of zone maps in a range filter, relative to a filter without.
//!
//! `filter/CONTENDER/COLUMN`: with `zones`, with `no-zones`, a loop of `get`, and a loop over 64-bit numbers in memory
//! (`vec`). The ranges match about 1 % of `ts` (contiguous for zones), 4 % of `size` (anywhere, but in the fine zones of
//! one size) and 1 % of `uni24` (anywhere). Throughput is documents a second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;
use std::ops::RangeInclusive;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::column::{Filter, bits};
use docvalues::prelude::*;
use docvalues_benches::{Bench, data, segment};

const COLUMNS: [&str; 3] = ["ts", "size", "uni24"];

fn wanted(name: &str, plain: &[i64]) -> RangeInclusive<i64> {
    match name {
        "ts" => plain[plain.len() / 2]..=plain[plain.len() / 2 + plain.len() / 100],
        "size" => 1 << 19..=i64::MAX,
        _ => 5_000_000..=5_000_000 + (1 << 24) / 100,
    }
}

/// Sets bit `i` if `matches(i)`, word by word.
fn collect(bits: &mut [u64], docs: u32, matches: impl Fn(u32) -> bool) {
    for (word, first) in bits.iter_mut().zip((0..docs).step_by(64)) {
        let docs = first..docs.min(first + 64);
        *word = docs.rev().fold(0, |word, doc| word << 1 | u64::from(matches(doc)));
    }
}

fn filter(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let options = WriterOptions::default();
    let with = segment::write(docs, &COLUMNS, options).open(OpenOptions::new());
    let without = segment::write(docs, &COLUMNS, options.zones(false));
    let without = without.open(OpenOptions::new());
    let mut found = vec![0; DocRange::new(0, docs).words()];
    for name in COLUMNS {
        let plain = data::numbers(name, docs).values;
        let wanted = wanted(name, &plain);
        let vec = |found: &mut [u64]| collect(found, docs, |doc| wanted.contains(&plain[doc as usize]));
        vec(&mut found);
        let expected = found.clone();
        println!("filter/{name}: {} of {docs} documents match", bits::count(&expected));

        let mut group = c.benchmark_group("filter");
        group.throughput(Throughput::Elements(docs.into()));
        let run = |filter: &Filter<'_>, found: &mut [u64]| {
            found.fill(0);
            filter.collect_into(found).expect("good bytes");
        };
        for (how, segment) in [("zones", &with), ("no-zones", &without)] {
            let column = segment.numeric(name).expect("written");
            let filter = column.range(wanted.clone());
            run(&filter, &mut found);
            assert!(found == expected, "{name}, {how}");
            group.bench_function(BenchmarkId::new(how, name), |b| {
                b.iter(|| run(&filter, black_box(&mut found)))
            });
        }
        let column = without.numeric(name).expect("written");
        let get = |found: &mut [u64]| {
            let value = |doc| column.get(DocId::new(doc)).expect("good bytes");
            collect(found, docs, |doc| value(doc).is_some_and(|value| wanted.contains(&value)));
        };
        get(&mut found);
        assert!(found == expected, "{name}, get");
        group.bench_function(BenchmarkId::new("get", name), |b| b.iter(|| get(black_box(&mut found))));
        group.bench_function(BenchmarkId::new("vec", name), |b| b.iter(|| vec(black_box(&mut found))));
        group.finish();
    }
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = filter }
criterion_main!(benches);
