//! Cost of fetching the values of some documents, in batches and one at a time, relative to a `Vec` with a slot for each
//! document.
//!
//! `gather-DOCUMENTS/CONTENDER/COLUMN`: the hits of a query, 1 % or 0.01 % of all documents, or a tenth in random order;
//! `gather`, `get`, `Rows::get` (`rows`, of `host`), and slots of 8 bytes (4 for `host`) with zeros for missing values
//! (`vec`). Throughput is documents a second. The column `three` is `ts`, `size` and `host`, document by document (`get`),
//! by a `Lookahead`, and by gathers of 64 documents.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::Lookahead;
use docvalues::column::Gathered;
use docvalues::prelude::*;
use docvalues_benches::{Bench, data, segment};

const COLUMNS: [&str; 3] = ["ts", "price60", "rare1"];

/// The groups: the hits of a query at 0.01 %, with nothing else of the column touched; at 1 %; and a tenth of the
/// documents in random order, too many for the branch predictor to learn.
fn orders(docs: u32) -> [(&'static str, Vec<DocId>); 3] {
    [
        ("gather-0.01%", data::hits(docs, 1)),
        ("gather-1%", data::hits(docs, 100)),
        ("gather-random", data::random_docs(docs, docs as usize / 10)),
    ]
}

fn numbers(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let written = segment::write(docs, &COLUMNS, WriterOptions::default());
    for name in COLUMNS {
        let plain = data::numbers(name, docs).values;
        let bits = written.column_bytes(name) as f64 * 8.0 / f64::from(docs);
        println!("gather/{name}: {bits:.2} bits a document in the file, 64 in memory");
        for (order, requested) in orders(docs) {
            let mut group = c.benchmark_group(order);
            let column = written.open(OpenOptions::new()).numeric(name).expect("written");
            group.throughput(Throughput::Elements(requested.len() as u64));
            let expected: Vec<i64> = requested.iter().map(|doc| plain[doc.get() as usize]).collect();
            let mut out = vec![-1; requested.len()];
            let batch = |out: &mut [i64]| column.gather_or(&requested, out, 0).expect("good bytes");
            batch(&mut out);
            assert_eq!(out, expected);
            group.bench_function(BenchmarkId::new("gather", name), |b| {
                b.iter(|| batch(black_box(&mut out)));
            });

            let one_by_one = |out: &mut [i64]| {
                for (&doc, out) in requested.iter().zip(out) {
                    *out = column.get(doc).expect("good bytes").unwrap_or(0);
                }
            };
            out.fill(-1);
            one_by_one(&mut out);
            assert_eq!(out, expected);
            group.bench_function(BenchmarkId::new("get", name), |b| {
                b.iter(|| one_by_one(black_box(&mut out)));
            });

            let vec = |out: &mut [i64]| {
                requested.iter().zip(out).for_each(|(doc, out)| *out = plain[doc.get() as usize]);
            };
            group.bench_function(BenchmarkId::new("vec", name), |b| b.iter(|| vec(black_box(&mut out))));
            group.finish();
        }
    }
}

fn ords(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let written = segment::write(docs, &["host"], WriterOptions::default());
    let column = written.open(OpenOptions::new()).sorted("host").expect("written");
    let mut plain = vec![TermOrd::new(0); docs as usize];
    let every: Vec<DocId> = (0..docs).map(DocId::new).collect();
    column.gather_or(&every, &mut plain, TermOrd::new(0)).expect("good bytes");

    // Names ascend like host numbers, so an ord is the rank of a host number.
    let ids = data::host_ids(docs);
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let place = |id| distinct.binary_search(id).expect("one of them");
    assert!(ids.iter().map(place).eq(plain.iter().map(|ord| ord.get() as usize)));

    for (order, requested) in orders(docs) {
        let mut group = c.benchmark_group(order);
        group.throughput(Throughput::Elements(requested.len() as u64));
        let mut out = vec![TermOrd::new(0); requested.len()];
        let batch =
            |out: &mut [TermOrd]| column.gather_or(&requested, out, TermOrd::new(0)).expect("good bytes");
        batch(&mut out);
        assert!(requested.iter().zip(&out).all(|(doc, ord)| plain[doc.get() as usize] == *ord));
        group.bench_function("gather/host", |b| b.iter(|| batch(black_box(&mut out))));

        let one_by_one = |out: &mut [TermOrd]| {
            for (&doc, out) in requested.iter().zip(out) {
                *out = column.ord(doc).expect("good bytes").unwrap_or(TermOrd::new(0));
            }
        };
        group.bench_function("get/host", |b| b.iter(|| one_by_one(black_box(&mut out))));

        let (any, mut row) = (column.column(), Vec::new());
        let rows = any.values().ords().expect("ords");
        let mut by_rows = |out: &mut [TermOrd]| {
            for (&doc, out) in requested.iter().zip(out) {
                rows.get(doc, &mut row).expect("good bytes");
                *out = row.first().copied().unwrap_or(TermOrd::new(0));
            }
        };
        group.bench_function("rows/host", |b| b.iter(|| by_rows(black_box(&mut out))));

        let vec = |out: &mut [TermOrd]| {
            requested.iter().zip(out).for_each(|(doc, out)| *out = plain[doc.get() as usize]);
        };
        group.bench_function("vec/host", |b| b.iter(|| vec(black_box(&mut out))));
        group.finish();
    }
}

fn three_columns(c: &mut Bench) {
    const DOCS: usize = 64;
    let docs = docvalues_benches::docs();
    let written = segment::write(docs, &["ts", "size", "host"], WriterOptions::default());
    let segment = written.open(OpenOptions::new());
    let times = segment.numeric("ts").expect("written");
    let sizes = segment.numeric("size").expect("written");
    let hosts = segment.sorted("host").expect("written");
    let sum = |times: &[i64], sizes: &[i64], hosts: &[TermOrd]| {
        let rows = times.iter().zip(sizes).zip(hosts);
        rows.fold(0_i64, |sum, ((time, size), host)| sum.wrapping_add(time ^ size ^ i64::from(host.get())))
    };

    for (order, requested) in orders(docs).into_iter().skip(1) {
        let mut group = c.benchmark_group(order);
        group.throughput(Throughput::Elements(requested.len() as u64));
        let one_by_one = || {
            requested.iter().fold(0_i64, |total, &doc| {
                let time = times.get(doc).expect("good bytes").unwrap_or(0);
                let size = sizes.get(doc).expect("good bytes").unwrap_or(0);
                let host = hosts.ord(doc).expect("good bytes").unwrap_or(TermOrd::new(0));
                total.wrapping_add(sum(&[time], &[size], &[host]))
            })
        };
        let expected = one_by_one();
        group.bench_function("get/three", |b| b.iter(one_by_one));

        let mut ahead = Lookahead::new((times.clone(), sizes.clone(), hosts.clone()));
        let mut lookahead = || {
            let mut total = 0_i64;
            let mut add = |(times, sizes, hosts): &(Gathered<i64>, Gathered<i64>, Gathered<TermOrd>)| {
                total = total.wrapping_add(sum(times.values(), sizes.values(), hosts.values()));
            };
            for &doc in &requested {
                if let Some((_, rows)) = ahead.push(doc).expect("good bytes") {
                    add(rows);
                }
            }
            if let Some((_, rows)) = ahead.finish().expect("good bytes") {
                add(rows);
            }
            total
        };
        assert_eq!(lookahead(), expected);
        group.bench_function("lookahead/three", |b| b.iter(&mut lookahead));

        // Documents arrive one by one here, too.
        let (mut time, mut size, mut host) = ([0; DOCS], [0; DOCS], [TermOrd::new(0); DOCS]);
        let mut by_hand = || {
            let mut add = |docs: &[DocId]| {
                let (time, size, host) =
                    (&mut time[..docs.len()], &mut size[..docs.len()], &mut host[..docs.len()]);
                times.gather_or(docs, time, 0).expect("good bytes");
                sizes.gather_or(docs, size, 0).expect("good bytes");
                hosts.gather_or(docs, host, TermOrd::new(0)).expect("good bytes");
                sum(time, size, host)
            };
            let (mut ready, mut len, mut total) = ([DocId::new(0); DOCS], 0, 0_i64);
            for &doc in &requested {
                ready[len] = doc;
                len += 1;
                if len == DOCS {
                    total = total.wrapping_add(add(&ready));
                    len = 0;
                }
            }
            total.wrapping_add(add(&ready[..len]))
        };
        assert_eq!(by_hand(), expected);
        group.bench_function("gather/three", |b| b.iter(&mut by_hand));
        group.finish();
    }
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = numbers, ords, three_columns }
criterion_main!(benches);
