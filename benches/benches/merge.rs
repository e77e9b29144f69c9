//! Cost of merging 40 segments, by column, relative to building one from the same values.
//!
//! `merge/CONTENDER/COLUMN`: `merge` of segments in memory, the same with every hundredth document deleted (`live`), and
//! the values in `batches` of 65,536 documents or as single `documents`. Throughput is documents of the merged segment a
//! second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::ops::Range;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::prelude::*;
use docvalues::writer::Compression;
use docvalues::{BytesKind, LiveDocs, Merger};
use docvalues_benches::column_input::ColumnInput;
use docvalues_benches::{Bench, segment};

/// Documents of a batch. A multiple of 64, so that a batch has whole words of a bitset.
const STEP: u32 = 1 << 16;

/// Number of segments.
const SEGMENTS: u32 = 40;

/// Columns with the same byte strings as others, in other encodings.
const STRINGS: [(&str, BytesKind, Compression); 2] = [
    ("url-sorted", BytesKind::Sorted, Compression::None),
    ("url-onpair", BytesKind::Binary, Compression::OnPair),
];

fn options() -> WriterOptions {
    WriterOptions::new().budget(usize::MAX)
}

/// A segment of the documents `docs`, added one by one or in batches.
fn built(spec: &FieldSpec, input: &ColumnInput, docs: Range<u32>, one_by_one: bool) -> Vec<u8> {
    let mut schema = Schema::new();
    let field = schema.add(spec.clone()).expect("a new field");
    let mut writer = SegmentWriter::in_memory(schema, options());
    if one_by_one {
        docs.for_each(|doc| input.add_document(&mut writer, field, doc));
    } else {
        for start in docs.clone().step_by(STEP as usize) {
            input.add_batch(&mut writer, field, start..docs.end.min(start + STEP));
        }
    }
    writer.finish_bytes().expect("memory does not fail")
}

/// All documents but one in a hundred.
fn live(docs: u32) -> LiveDocs {
    let mut live = LiveDocs::all(docs);
    for doc in (0..docs).step_by(100) {
        live.delete(DocId::new(doc));
    }
    live
}

fn measure(c: &mut Bench, name: &str, spec: &FieldSpec, input: &ColumnInput) {
    let docs = docvalues_benches::docs();
    let size = docs.div_ceil(SEGMENTS).next_multiple_of(64);
    let pieces: Vec<_> =
        (0..docs).step_by(size as usize).map(|start| start..docs.min(start + size)).collect();
    let segments = pieces.into_iter().map(|piece| built(spec, input, piece, false));
    let segments: Vec<_> =
        segments.map(|file| Segment::from_bytes(file, OpenOptions::new()).expect("a good file")).collect();
    let live: Vec<_> = segments.iter().map(|segment| live(segment.docs())).collect();
    let merge = |live: Option<&[LiveDocs]>| {
        let mut merger = Merger::new(options()).compression(spec.compressed());
        for (i, segment) in segments.iter().enumerate() {
            match live {
                None => merger.add(segment.file(), segment),
                Some(live) => merger.add_live(segment.file(), segment, &live[i]).expect("as many documents"),
            };
        }
        merger.finish_bytes().expect("good segments").0
    };
    let (batches, documents) = (|| built(spec, input, 0..docs, false), || built(spec, input, 0..docs, true));
    assert!(merge(None) == batches());

    let mut group = c.benchmark_group("merge");
    group.throughput(Throughput::Elements(docs.into())).sample_size(10);
    group.bench_function(BenchmarkId::new("merge", name), |b| b.iter(|| merge(None)));
    group.bench_function(BenchmarkId::new("live", name), |b| b.iter(|| merge(Some(&live))));
    group.bench_function(BenchmarkId::new("batches", name), |b| b.iter(batches));
    group.bench_function(BenchmarkId::new("documents", name), |b| b.iter(documents));
    group.finish();
}

fn merge(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    for name in ["ts", "host"] {
        measure(c, name, &segment::spec(name), &ColumnInput::of(name, docs));
    }
    for (name, kind, compression) in STRINGS {
        let spec = FieldSpec::new("url", docvalues::LogicalType::Utf8).kind(kind).compression(compression);
        measure(c, name, &spec, &ColumnInput::of("url", docs));
    }
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = merge }
criterion_main!(benches);
