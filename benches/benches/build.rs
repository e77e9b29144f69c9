//! Cost of building a segment, by column, relative to copying its values twice.
//!
//! `build/CONTENDER/COLUMN`: `batches` of 65,536 documents or single `documents`, into a segment in memory; `vec` copies
//! the values into a buffer of their size, and that into another one. Each run allocates memory for the values, as a caller
//! does who builds one segment. Throughput is documents a second.
//!
//! `build-finish/THREADS/COLUMNS` encodes columns in parallel, from full buffers to the bytes of the file. **This is wall
//! time**, on an idle machine.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use docvalues::FieldId;
use docvalues::prelude::*;
use docvalues_benches::column_input::ColumnInput;
use docvalues_benches::data::{Numbers, Strings};
use docvalues_benches::{Bench, segment};

/// Documents of a batch. A multiple of 64, so that a batch has whole words of a bitset.
const STEP: u32 = 1 << 16;

const COLUMNS: [&str; 4] = ["ts", "host", "tags", "url"];

fn copied(input: &ColumnInput) -> (Vec<u64>, Vec<u8>) {
    let twice = |bytes: &[u8]| black_box(bytes.to_vec()).clone();
    match input {
        ColumnInput::Numbers(Numbers { values, .. }) => {
            let numbers = values.iter().map(|value| value.cast_unsigned()).collect::<Vec<_>>();
            (black_box(numbers).clone(), Vec::new())
        }
        ColumnInput::Strings(Strings { bytes, offsets }) => {
            (black_box(offsets.clone()).clone(), twice(bytes))
        }
        ColumnInput::Sets(Strings { bytes, .. }, lists) => (black_box(lists.clone()).clone(), twice(bytes)),
    }
}

fn built(name: &str, docs: u32, add: impl Fn(&mut SegmentWriter<Vec<u8>>, FieldId)) -> Vec<u8> {
    let mut schema = Schema::new();
    let field = schema.add(segment::spec(name)).expect("a new field");
    let options = WriterOptions::new().budget(usize::MAX);
    let mut writer = SegmentWriter::in_memory(schema, options);
    add(&mut writer, field);
    assert_eq!(writer.docs(), docs);
    writer.finish_bytes().expect("memory does not fail")
}

fn build(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    for name in COLUMNS {
        let input = ColumnInput::of(name, docs);
        let batches = || {
            built(name, docs, |writer, field| {
                for start in (0..docs).step_by(STEP as usize) {
                    input.add_batch(writer, field, start..docs.min(start + STEP));
                }
            })
        };
        let documents = || {
            built(name, docs, |writer, field| {
                (0..docs).for_each(|doc| input.add_document(writer, field, doc));
            })
        };
        assert!(batches() == documents());
        let mut group = c.benchmark_group("build");
        group.throughput(Throughput::Elements(docs.into())).sample_size(10);
        group.bench_function(BenchmarkId::new("batches", name), |b| b.iter(batches));
        group.bench_function(BenchmarkId::new("documents", name), |b| b.iter(documents));
        group.bench_function(BenchmarkId::new("vec", name), |b| b.iter(|| copied(&input)));
        group.finish();
    }
}

fn finish(c: &mut Criterion) {
    let docs = docvalues_benches::docs();
    let input = COLUMNS.map(|name| (name, ColumnInput::of(name, docs)));
    let buffered = |threads| {
        let mut schema = Schema::new();
        let fields: Vec<_> =
            input.iter().map(|(name, _)| schema.add(segment::spec(name)).expect("a new field")).collect();
        let options = WriterOptions::new().budget(usize::MAX).threads(threads);
        let mut writer = SegmentWriter::in_memory(schema, options);
        for start in (0..docs).step_by(STEP as usize) {
            let range = start..docs.min(start + STEP);
            let mut batch = writer.batch(range.end - range.start).expect("few enough documents");
            for ((_, input), &field) in input.iter().zip(&fields) {
                input.add_to(&mut batch, field, range.clone());
            }
            batch.finish();
        }
        writer
    };
    let finished = |writer: SegmentWriter<Vec<u8>>| writer.finish_bytes().expect("memory does not fail");
    let mut group = c.benchmark_group("build-finish");
    group.throughput(Throughput::Elements(docs.into())).sample_size(10);
    let expected = finished(buffered(1));
    for threads in [1, 2] {
        assert!(finished(buffered(threads)) == expected);
        group.bench_function(BenchmarkId::new(threads.to_string(), COLUMNS.len()), |b| {
            b.iter_batched(|| buffered(threads), finished, BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = build }
criterion_group! { name = wall; config = docvalues_benches::wall_time(); targets = finish }
criterion_main!(benches, wall);
