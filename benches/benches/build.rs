//! What building a segment costs, beside plain copies of the same values.
//!
//! Question: what does a document cost, by column, when it comes in a batch, and when it comes alone?
//! Read `build/<column>/<how>`; throughput is documents a second. Memory for the values is new in every
//! run, as it is for a caller who builds one segment.
//!
//! | how | |
//! | --- | --- |
//! | `batches` | batches of 65,536 documents, to a segment in memory |
//! | `documents` | one document after the other, to the same segment |
//! | `copy` | the values copied into a buffer as large as they are, and that into another one |
#![expect(clippy::cast_possible_truncation, clippy::expect_used, reason = "a bench may panic, and is small")]

use std::hint::black_box;
use std::ops::Range;

use criterion::{Throughput, criterion_group, criterion_main};
use docvalues::FieldId;
use docvalues::prelude::*;
use docvalues_benches::data::{self, Numbers, Strings};
use docvalues_benches::{Bench, segment};

/// Documents of a batch. A multiple of 64, so that bitsets can be cut.
const STEP: u32 = 1 << 16;

/// A column as its caller has it.
enum Given {
    Numbers(Numbers),
    Strings(Strings),
    /// Strings, and where each document's begin.
    Sets(Strings, Vec<u64>),
}

fn string(Strings { bytes, offsets }: &Strings, at: usize) -> &[u8] {
    &bytes[offsets[at] as usize..offsets[at + 1] as usize]
}

impl Given {
    fn of(name: &str, docs: u32) -> Given {
        match name {
            "host" => Given::Strings(data::hosts(docs)),
            "url" => Given::Strings(data::urls(docs)),
            "tags" => {
                let (names, lists) = data::tags(docs);
                Given::Sets(names, lists)
            }
            _ => Given::Numbers(data::numbers(name, docs)),
        }
    }

    fn copied(&self) -> (Vec<u64>, Vec<u8>) {
        let twice = |bytes: &[u8]| black_box(bytes.to_vec()).clone();
        match self {
            Given::Numbers(Numbers { values, .. }) => {
                let numbers = values.iter().map(|value| value.cast_unsigned()).collect::<Vec<_>>();
                (black_box(numbers).clone(), Vec::new())
            }
            Given::Strings(Strings { bytes, offsets }) => (black_box(offsets.clone()).clone(), twice(bytes)),
            Given::Sets(Strings { bytes, .. }, lists) => (black_box(lists.clone()).clone(), twice(bytes)),
        }
    }

    fn add_batch(&self, writer: &mut SegmentWriter<Vec<u8>>, field: FieldId, docs: Range<u32>) {
        let mut batch = writer.batch(docs.end - docs.start).expect("few documents");
        let (start, end) = (docs.start as usize, docs.end as usize);
        let added = match self {
            Given::Numbers(Numbers { values, present }) => {
                let present = present.as_ref().map(|words| &words[start / 64..]);
                batch.i64(field, &values[start..end], present)
            }
            Given::Strings(Strings { bytes, offsets }) => {
                batch.bytes(field, &offsets[start..=end], bytes, None)
            }
            Given::Sets(Strings { bytes, offsets }, lists) => {
                batch.bytes_lists(field, &lists[start..=end], offsets, bytes, None)
            }
        };
        added.expect("good values");
        batch.finish();
    }

    fn add_document(&self, writer: &mut SegmentWriter<Vec<u8>>, field: FieldId, doc: u32) {
        let mut document = writer.document();
        let at = doc as usize;
        match self {
            Given::Numbers(Numbers { values, present }) => {
                if present.as_ref().is_none_or(|words| words[at / 64] >> (at % 64) & 1 == 1) {
                    document.i64(field, values[at]).expect("a good value");
                }
            }
            Given::Strings(strings) => {
                document.stored_bytes(field, string(strings, at)).expect("a good value");
            }
            Given::Sets(strings, lists) => {
                for at in lists[at]..lists[at + 1] {
                    document.stored_bytes(field, string(strings, at as usize)).expect("a good value");
                }
            }
        }
        document.finish().expect("few documents");
    }
}

fn built(name: &str, docs: u32, add: impl Fn(&mut SegmentWriter<Vec<u8>>, FieldId)) -> Vec<u8> {
    let mut schema = Schema::new();
    let field = schema.add(segment::spec(name)).expect("a new field");
    let options = WriterOptions { budget: usize::MAX, ..WriterOptions::default() };
    let mut writer = SegmentWriter::in_memory(schema, options);
    add(&mut writer, field);
    assert_eq!(writer.docs(), docs);
    writer.finish_bytes().expect("memory does not fail")
}

fn build(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    for name in data::NUMERIC.into_iter().chain(["host", "url", "tags"]) {
        let given = Given::of(name, docs);
        let batches = || {
            built(name, docs, |writer, field| {
                for start in (0..docs).step_by(STEP as usize) {
                    given.add_batch(writer, field, start..docs.min(start + STEP));
                }
            })
        };
        let documents = || {
            built(name, docs, |writer, field| {
                (0..docs).for_each(|doc| given.add_document(writer, field, doc));
            })
        };
        assert!(batches() == documents());
        let mut group = c.benchmark_group(format!("build/{name}"));
        group.throughput(Throughput::Elements(docs.into()));
        group.bench_function("batches", |b| b.iter(batches));
        group.bench_function("documents", |b| b.iter(documents));
        group.bench_function("copy", |b| b.iter(|| given.copied()));
        group.finish();
    }
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = build }
criterion_main!(benches);
