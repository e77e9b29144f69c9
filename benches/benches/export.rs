//! Cost of exporting four columns of many documents, relative to reading one document after the other.
//!
//! `export-ORDER/CONTENDER/COLUMNS`: every 190th document, ascending or in random order, in `chunks` or `rows` of
//! `Search::export`, which reads the documents of a window in file order, each once, and each term once; and one after the
//! other (`get`). A consumer sums the values, byte strings by their lengths and first bytes. Throughput is documents a
//! second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{Throughput, criterion_group, criterion_main};
use docvalues::prelude::*;
use docvalues::search::Search;
use docvalues::search::export::{Cell, ChunkColumn};
use docvalues_benches::{Bench, data, segment};

const COLUMNS: [&str; 4] = ["url", "host", "ts", "size"];

fn of_bytes(bytes: &[u8]) -> u64 {
    bytes.len() as u64 + u64::from(bytes.first().copied().unwrap_or(0))
}

fn sum(a: u64, b: u64) -> u64 {
    a.wrapping_mul(31).wrapping_add(b)
}

/// Column by column of each chunk.
fn by_chunk(search: &Search<'_>, docs: &[DocId]) -> [u64; 4] {
    let mut sums = [0; 4];
    let mut export = search.export(docs, &COLUMNS).expect("columns of the segment");
    while let Some(chunk) = export.next_chunk().expect("good bytes") {
        for (i, total) in sums.iter_mut().enumerate() {
            match chunk.column(i) {
                ChunkColumn::Numbers(numbers) => {
                    *total = numbers.values.iter().fold(*total, |a, b| sum(a, b.cast_unsigned()));
                }
                ChunkColumn::Strings(strings) => {
                    *total =
                        (0..chunk.len()).fold(*total, |a, at| sum(a, strings.get(at).map_or(0, of_bytes)));
                }
                _ => {}
            }
        }
    }
    sums
}

/// Row by row.
fn by_row(search: &Search<'_>, docs: &[DocId]) -> [u64; 4] {
    let mut sums = [0; 4];
    let mut rows = search.export(docs, &COLUMNS).expect("columns of the segment").rows();
    while let Some(row) = rows.next().expect("good bytes") {
        for (total, cell) in sums.iter_mut().zip(row.values()) {
            *total = sum(
                *total,
                match cell {
                    Cell::Number(number) => number.cast_unsigned(),
                    Cell::Bytes(bytes) => of_bytes(bytes),
                    _ => 0,
                },
            );
        }
    }
    sums
}

/// Reads a column for one document, and touches its value.
type Touch<'s> = Box<dyn FnMut(DocId) -> u64 + 's>;

fn touch<'s>(segment: &'s Segment, name: &str) -> Touch<'s> {
    let mut buffer = Vec::new();
    match name {
        "url" => {
            let column = segment.binary(name).expect("written");
            Box::new(move |doc| column.get(doc, &mut buffer).expect("good bytes").map_or(0, of_bytes))
        }
        "host" => {
            let column = segment.sorted(name).expect("written");
            Box::new(move |doc| {
                column.ord(doc).expect("good bytes").map_or(0, |ord| {
                    column.terms().term(ord, &mut buffer).expect("a term of the column");
                    of_bytes(&buffer)
                })
            })
        }
        _ => {
            let column = segment.numeric(name).expect("written");
            Box::new(move |doc| column.get(doc).expect("good bytes").unwrap_or(0).cast_unsigned())
        }
    }
}

/// Every column for one document after the other.
fn one_by_one(columns: &mut [Touch<'_>; 4], docs: &[DocId]) -> [u64; 4] {
    let mut sums = [0; 4];
    for &doc in docs {
        for (total, column) in sums.iter_mut().zip(&mut *columns) {
            *total = sum(*total, column(doc));
        }
    }
    sums
}

fn export(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let written = segment::write(docs, &COLUMNS, WriterOptions::default());
    let segment = written.open(OpenOptions::new());
    let search = Search::new(&segment);
    let random = data::random_docs(docs, docs as usize / 190 + 22);
    let mut ascending = random.clone();
    ascending.sort_unstable();
    let mut columns = COLUMNS.map(|name| touch(&segment, name));
    for (order, requested) in [("export-ascending", &ascending), ("export-random", &random)] {
        let mut group = c.benchmark_group(order);
        group.throughput(Throughput::Elements(requested.len() as u64));
        let expected = one_by_one(&mut columns, requested);
        assert_eq!(by_chunk(&search, requested), expected);
        assert_eq!(by_row(&search, requested), expected);
        group.bench_function("chunks/four", |b| b.iter(|| by_chunk(&search, black_box(requested))));
        group.bench_function("rows/four", |b| b.iter(|| by_row(&search, black_box(requested))));
        group.bench_function("get/four", |b| b.iter(|| one_by_one(&mut columns, black_box(requested))));
        group.finish();
    }
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = export }
criterion_main!(benches);
