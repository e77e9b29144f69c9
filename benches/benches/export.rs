//! Cost of exporting columns of many documents, in the order of another column.
//!
//! The export reads the documents of a window in file order, each once, and each term once. The baseline reads one
//! document after the other from each column. Read `export/<columns>/<how>/<order>`; each reads every 190th document,
//! ascending and in random order, and throughput is documents a second. A consumer sums the values, byte strings by
//! their lengths and first bytes.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
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
fn by_chunk(search: &Search<'_>, docs: &[DocId], columns: &[&str]) -> Vec<u64> {
    let mut sums = vec![0; columns.len()];
    let mut export = search.export(docs, columns).expect("columns of the segment");
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
fn by_row(search: &Search<'_>, docs: &[DocId], columns: &[&str]) -> Vec<u64> {
    let mut sums = vec![0; columns.len()];
    let mut rows = search.export(docs, columns).expect("columns of the segment").rows();
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
fn one_by_one(columns: &mut [Touch<'_>], docs: &[DocId]) -> Vec<u64> {
    let mut sums = vec![0; columns.len()];
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
    let sets = COLUMNS.map(|name| (name, vec![name])).into_iter().chain([("all", COLUMNS.to_vec())]);
    for (name, names) in sets {
        let mut columns: Vec<_> = names.iter().map(|name| touch(&segment, name)).collect();
        let mut group = c.benchmark_group(format!("export/{name}"));
        for (order, requested) in [("ascending", &ascending), ("random", &random)] {
            group.throughput(Throughput::Elements(requested.len() as u64));
            let expected = one_by_one(&mut columns, requested);
            assert_eq!(by_chunk(&search, requested, &names), expected);
            assert_eq!(by_row(&search, requested, &names), expected);
            group.bench_function(BenchmarkId::new("chunks", order), |b| {
                b.iter(|| by_chunk(&search, black_box(requested), &names));
            });
            group.bench_function(BenchmarkId::new("rows", order), |b| {
                b.iter(|| by_row(&search, black_box(requested), &names));
            });
            group.bench_function(BenchmarkId::new("get", order), |b| {
                b.iter(|| one_by_one(&mut columns, black_box(requested)));
            });
        }
        group.finish();
    }
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = export }
criterion_main!(benches);
