//! Cost of compressing byte strings, relative to the crates `fsst-rs` and `onpair`, and to copying the bytes.
//!
//! `binary-QUESTION/CONTENDER/url`: a million URLs of 63 bytes that are `raw`, or `fsst` or `onpair` codes; the bytes of
//! each are printed. A `scan` reads all, `gather` 1,024 random documents a call, `get` one; `vec` copies the raw bytes, and
//! `crate-fsst` and `crate-onpair` decode codes of their own, value by value. `encode` trains a table and encodes all
//! values. Throughput is values a second.
#![expect(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    reason = "a bench may panic; its data is small"
)]

use std::hint::black_box;
use std::ops::ControlFlow;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::column::Lists;
use docvalues::format::binary::{CodeSection, Compressor, InMemory};
use docvalues::prelude::*;
use docvalues::writer::Compression;
use docvalues::{Binary, BytesKind};
use docvalues_benches::data::{self, Strings};
use docvalues_benches::{Bench, segment};

/// Values of a batch.
const BATCH: usize = 1024;

const WAYS: [(&str, Compression); 3] =
    [("raw", Compression::None), ("fsst", Compression::Fsst), ("onpair", Compression::OnPair)];

/// The number that a value adds to the sum, from its length and bytes.
fn touch(value: &[u8]) -> u64 {
    value.len() as u64 + u64::from(value[value.len() / 3]) + u64::from(value[value.len() - 1])
}

fn scan(column: &Binary, docs: u32) -> u64 {
    let mut total = 0;
    let scanned = column.scan(0..docs, |_, values| {
        total += values.iter().map(touch).sum::<u64>();
        ControlFlow::Continue(())
    });
    scanned.expect("good bytes");
    total
}

fn columns(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let urls = data::urls(docs);
    let value = |doc: DocId| {
        let doc = doc.get() as usize;
        &urls.bytes[urls.offsets[doc] as usize..urls.offsets[doc + 1] as usize]
    };
    let all: u64 = (0..docs).map(|doc| touch(value(DocId::new(doc)))).sum();
    let requested = data::random_docs(docs, docs as usize / 20);
    for (way, compression) in WAYS {
        let spec = FieldSpec::new("url", LogicalType::Utf8).kind(BytesKind::Binary).compression(compression);
        let written = segment::write_strings(spec, &urls);
        println!("binary/{way}: {:.2} bytes a value", written.column_bytes("url") as f64 / f64::from(docs));
        let column = written.open(OpenOptions::new()).binary("url").expect("written");
        let mut group = c.benchmark_group("binary-scan");
        group.throughput(Throughput::Elements(docs.into()));
        assert_eq!(scan(&column, docs), all);
        group.bench_function(BenchmarkId::new(way, "url"), |b| b.iter(|| scan(black_box(&column), docs)));
        group.finish();
        let expected: u64 = requested.iter().map(|&doc| touch(value(doc))).sum();
        let (mut out, mut buffer) = (Lists::new(), Vec::new());
        let mut gather = || {
            requested
                .chunks(BATCH)
                .map(|requested| {
                    column.gather_or(requested, &mut out, b"").expect("good bytes");
                    out.slices().iter().map(touch).sum::<u64>()
                })
                .sum::<u64>()
        };
        assert_eq!(gather(), expected);
        let mut group = c.benchmark_group("binary-gather");
        group.throughput(Throughput::Elements(requested.len() as u64));
        group.bench_function(BenchmarkId::new(way, "url"), |b| b.iter(&mut gather));
        group.finish();
        let mut get = || {
            let got = |&doc| touch(column.get(doc, &mut buffer).expect("good bytes").expect("a value"));
            requested.iter().map(got).sum::<u64>()
        };
        assert_eq!(get(), expected);
        let mut group = c.benchmark_group("binary-get");
        group.throughput(Throughput::Elements(requested.len() as u64));
        group.bench_function(BenchmarkId::new(way, "url"), |b| b.iter(&mut get));
        group.finish();
    }
}

/// Training and encoding, by docvalues and by the crate `onpair`.
fn encode(c: &mut Bench) {
    let urls = data::urls(docvalues_benches::docs());
    let (bytes, ends) = (&urls.bytes[..], &urls.offsets[1..]);
    let value = |pair: &[u64]| &bytes[pair[0] as usize..pair[1] as usize];
    let values: Vec<&[u8]> = urls.offsets.windows(2).map(value).collect();
    let mut group = c.benchmark_group("binary-encode");
    group.throughput(Throughput::Elements(ends.len() as u64)).sample_size(10);
    for (way, compression) in [("fsst", Compression::Fsst), ("onpair", Compression::OnPair)] {
        group.bench_function(BenchmarkId::new(way, "url"), |b| {
            b.iter(|| {
                let Ok(compressor) = Compressor::train(&InMemory { bytes, ends }, compression);
                let compressor = compressor.expect("shorter");
                let (mut section, mut made) = (CodeSection::default(), Vec::new());
                for group in values.chunks(BATCH) {
                    section.append(&compressor.codes(group.iter().copied()), &mut made);
                }
                compressor.finish(section, made).expect("shorter").bytes.len()
            });
        });
    }
    let offsets: Vec<u32> = urls.offsets.iter().map(|&offset| offset as u32).collect();
    let encode =
        || onpair::compress(black_box(bytes), &offsets, onpair::DEFAULT_CONFIG).expect("good offsets");
    group.bench_function("crate-onpair/url", |b| b.iter(encode));
    group.finish();

    let column = encode();
    let view = column.view();
    println!(
        "binary/crate onpair: {:.2} bytes a value, without offsets",
        view.codes.len() as f64 * 1.5 / ends.len() as f64
    );
    let mut group = c.benchmark_group("binary-scan");
    group.throughput(Throughput::Elements(ends.len() as u64));
    let mut out = vec![std::mem::MaybeUninit::uninit(); BATCH * 256];
    group.bench_function("crate-onpair/url", |b| {
        b.iter(|| {
            for row in 0..ends.len() {
                let decoded = onpair::try_decode_into(view.row_codes(row), view.dict, black_box(&mut out));
                black_box(decoded.expect("room for a value"));
            }
        });
    });
    group.finish();
}

fn rivals(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let Strings { bytes, offsets } = data::urls(docs);
    let mut group = c.benchmark_group("binary-scan");
    group.throughput(Throughput::Elements(docs.into()));
    let mut out = vec![0_u8; BATCH * 256];
    let span = |pair: &[u64]| pair[0] as usize..pair[1] as usize;
    let batches: Vec<u64> = offsets.iter().copied().step_by(BATCH).chain(offsets.last().copied()).collect();
    group.bench_function("vec/url", |b| {
        b.iter(|| {
            for batch in batches.windows(2).map(|pair| &bytes[span(pair)]) {
                black_box(&mut out)[..batch.len()].copy_from_slice(batch);
            }
        });
    });

    let values: Vec<&[u8]> = offsets.windows(2).map(|pair| &bytes[span(pair)]).collect();
    let sample: Vec<&[u8]> = values.iter().step_by(values.len() / 2_000).copied().collect();
    let compressor = fsst::Compressor::train(&sample);
    let (mut codes, mut places) = (Vec::new(), vec![0]);
    for value in &values {
        codes.extend(compressor.compress(value));
        places.push(codes.len() as u64);
    }
    println!("binary/fsst-rs: {:.2} bytes a value, without offsets", codes.len() as f64 / f64::from(docs));
    let decompressor = compressor.decompressor();
    assert_eq!(decompressor.decompress(&codes[span(&places[7..9])]), values[7]);
    let mut out = vec![std::mem::MaybeUninit::uninit(); BATCH * 256];
    group.bench_function("crate-fsst/url", |b| {
        b.iter(|| {
            for batch in places.chunks(BATCH) {
                let mut at = 0;
                for pair in batch.windows(2) {
                    at += decompressor.decompress_into(&codes[span(pair)], &mut black_box(&mut out)[at..]);
                }
            }
        });
    });
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = columns, encode, rivals }
criterion_main!(benches);
