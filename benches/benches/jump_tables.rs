//! Gain from jump tables (LUCENE-8374 and LUCENE-8585), by size of the segment.
//!
//! The modes are walking the blocks (Lucene 7), a table on the heap (LUCENE-8374) and a table in the file
//! (LUCENE-8585). Read `jump_tables/<question>/<mode>/<documents>`; throughput is documents a second.
//!
//! | question | reads |
//! | --- | --- |
//! | `random_get` | single documents in random order |
//! | `ascending_get` | the hits of a query at 1 %, one after the other |
//! | `ascending_gather` | the same documents in one batch |
//! | `first_get` | the last document of a segment that was just opened |
//!
//! The column is `price60`: 60 % of the documents have a value, so both presence and values have blocks.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::measurement::Measurement;
use criterion::{BenchmarkGroup, BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::prelude::*;
use docvalues::{JumpTables, Numeric, Section};
use docvalues_benches::data::{self, Numbers};
use docvalues_benches::segment::{self, Written};
use docvalues_benches::{Bench, ThreadTime};

const NAME: &str = "price60";

/// Single documents of one iteration: too many for the branch predictor to learn.
const LOOKUPS: usize = 5_000;

fn label(mode: JumpTables) -> &'static str {
    match mode {
        JumpTables::Ignore => "ignore",
        JumpTables::BuildOnFirstUse => "build",
        JumpTables::Baked => "baked",
        other => panic!("no label for {other:?}"),
    }
}

fn open(written: &Written, jump_tables: JumpTables) -> Numeric {
    written.open(OpenOptions::new().jump_tables(jump_tables)).numeric(NAME).expect("written")
}

/// The sum of all values of `docs`.
fn sum(docs: &[DocId], mut get: impl FnMut(DocId) -> docvalues::column::Result<Option<i64>>) -> i64 {
    docs.iter().map(|&doc| get(doc).expect("good bytes").unwrap_or(0)).sum()
}

struct Asked {
    random: Vec<DocId>,
    hits: Vec<DocId>,
    plain: Numbers,
}

impl Asked {
    fn expected(&self, docs: &[DocId]) -> i64 {
        docs.iter().map(|doc| self.plain.values[doc.get() as usize]).sum()
    }
}

fn jump_tables(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    for docs in [docs / 10, docs, docs * 10] {
        let written = segment::write(docs, &[NAME], WriterOptions::default());
        let sections = written.summary.columns[0].sections();
        let table = |(name, _): &&(Section, u64)| matches!(name, Section::PresenceJump | Section::ValuesJump);
        let tables: u64 = sections.iter().filter(table).map(|(_, bytes)| bytes).sum();
        println!(
            "jump_tables: {docs} documents, {} bytes, {tables} of them jump tables",
            written.bytes.len()
        );
        let requested = Asked {
            random: data::random_docs(docs, LOOKUPS),
            hits: data::hits(docs, 100),
            plain: data::numbers(NAME, docs),
        };
        for mode in JumpTables::ALL {
            let mut group = c.benchmark_group("jump_tables");
            many(&mut group, &open(&written, mode), label(mode), &requested);
            first(&mut group, &written, mode, &requested);
            group.finish();
        }
    }
}

fn many(group: &mut BenchmarkGroup<'_, ThreadTime>, column: &Numeric, mode: &str, requested: &Asked) {
    let id = |question| BenchmarkId::new(format!("{question}/{mode}"), column.info().docs);
    let random = || sum(black_box(&requested.random), |doc| column.get(doc));
    assert_eq!(random(), requested.expected(&requested.random));
    group.throughput(Throughput::Elements(LOOKUPS as u64));
    group.bench_function(id("random_get"), |b| b.iter(random));

    group.throughput(Throughput::Elements(requested.hits.len() as u64));
    let ascending = || sum(black_box(&requested.hits), |doc| column.get(doc));
    assert_eq!(ascending(), requested.expected(&requested.hits));
    group.bench_function(id("ascending_get"), |b| b.iter(ascending));

    let mut out = vec![0; requested.hits.len()];
    let mut gather = || {
        column.gather_or(black_box(&requested.hits), &mut out, 0).expect("good bytes");
        out.iter().sum::<i64>()
    };
    assert_eq!(gather(), requested.expected(&requested.hits));
    group.bench_function(id("ascending_gather"), |b| b.iter(&mut gather));
}

fn first(
    group: &mut BenchmarkGroup<'_, impl Measurement>,
    written: &Written,
    mode: JumpTables,
    requested: &Asked,
) {
    let docs = written.summary.docs;
    let last = (0..docs).rev().map(DocId::new).find(|doc| requested.plain.values[doc.get() as usize] != 0);
    let last = last.expect("a document with a value");
    let first = || open(written, mode).get(last).expect("good bytes");
    assert_eq!(first(), Some(requested.plain.values[last.get() as usize]));
    group.throughput(Throughput::Elements(1));
    group.bench_function(BenchmarkId::new(format!("first_get/{}", label(mode)), docs), |b| b.iter(first));
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = jump_tables }
criterion_main!(benches);
