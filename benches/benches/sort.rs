//! Gain and cost of an index sort, relative to unsorted documents.
//!
//! `sort-range/CONTENDER/COLUMN` is a range filter: into a bitset, on a segment whose first sort key is the column
//! (`sorted`), its documents as a range (`doc-range`), and the filter on `unsorted` documents. `sort-build/KEY/DOCUMENTS`
//! builds a segment of seven columns in memory: `unsorted`, by two columns of numbers, the second one descending
//! (`status-size`), by a column with a dictionary (`host`), and by one that ascends already (`in-order`). It prints the
//! bytes of each column. Throughput is documents a second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;
use std::ops::RangeInclusive;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::column::{Filter, bits};
use docvalues::prelude::*;
use docvalues_benches::segment::{self, Written};
use docvalues_benches::{Bench, column_input::ColumnInput};

const COLUMNS: [&str; 6] = ["host", "price60", "size", "status", "tags", "ts"];

fn keys(how: &str) -> Vec<SortKey> {
    let [host, size, status] = ["host", "size", "status"].map(SortKey::of);
    match how {
        "status-size" => vec![status, size.descending()],
        "host" => vec![host],
        "in-order" => vec![SortKey::of("number")],
        _ => vec![],
    }
}

fn show_bytes(unsorted: &Written, sorted: &Written, how: &str) {
    let columns = unsorted.summary.columns.iter().zip(&sorted.summary.columns);
    let columns = columns.map(|(a, b)| format!("{} {} -> {}", a.field().name, a.bytes, b.bytes));
    println!("sort-build/{how}: {}", columns.collect::<Vec<_>>().join(", "));
}

fn range(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let options = WriterOptions::default();
    let unsorted = segment::write(docs, &COLUMNS, options);
    // About 10 %, 4 % and 1 % of the documents.
    let wanted: [(&str, RangeInclusive<i64>); 3] =
        [("status", 404..=404), ("size", 1 << 19..=i64::MAX), ("price60", 0..=(1 << 20) / 60)];
    for (name, wanted) in wanted {
        let sorted = segment::write_sorted(docs, &COLUMNS, options, &[SortKey::of(name)]);
        show_bytes(&unsorted, &sorted, name);
        let [sorted, unsorted] = [&sorted, &unsorted].map(|written| written.open(OpenOptions::new()));
        let [sorted, unsorted] = [sorted, unsorted].map(|segment| segment.numeric(name).expect("written"));
        let filters = [&sorted, &unsorted].map(|column| column.range(wanted.clone()));
        let mut found = vec![0; DocRange::new(0, docs).words()];
        let mut run = |filter: &Filter<'_>| {
            found.fill(0);
            filter.collect_into(black_box(&mut found)).expect("good bytes");
            bits::count(&found)
        };
        let matches = run(&filters[1]);
        println!("sort-range/{name}: {matches} of {docs} documents match");
        assert_eq!(run(&filters[0]), matches);
        let mut group = c.benchmark_group("sort-range");
        group.throughput(Throughput::Elements(docs.into()));
        group.bench_function(BenchmarkId::new("sorted", name), |b| b.iter(|| run(&filters[0])));
        group.bench_function(BenchmarkId::new("doc-range", name), |b| {
            b.iter(|| sorted.doc_range(black_box(wanted.clone())));
        });
        group.bench_function(BenchmarkId::new("unsorted", name), |b| b.iter(|| run(&filters[1])));
        group.finish();
    }
}

fn build(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let input = COLUMNS.map(|name| (name, ColumnInput::of(name, docs)));
    let numbers: Vec<i64> = (0..i64::from(docs)).collect();
    let build = |how: &str| {
        let options = WriterOptions::new().budget(usize::MAX);
        let mut writer = SegmentWriter::in_memory(Schema::new(), options);
        let number = writer.add_field(FieldSpec::new("number", LogicalType::I64)).expect("a new field");
        let fields = COLUMNS.map(|name| writer.add_field(segment::spec(name)).expect("a new field"));
        let mut batch = writer.batch(docs).expect("few enough documents");
        batch.i64(number, &numbers, None).expect("good values");
        for ((_, input), field) in input.iter().zip(fields) {
            input.add_to(&mut batch, field, 0..docs);
        }
        batch.finish();
        writer.sort_by(keys(how)).expect("columns of one value");
        let (bytes, summary) = writer.finish().expect("memory does not fail");
        Written { bytes: bytes.into(), summary }
    };
    let mut group = c.benchmark_group("sort/build");
    group.throughput(Throughput::Elements(docs.into())).sample_size(10);
    for how in ["unsorted", "status-size", "host", "in-order"] {
        group.bench_function(BenchmarkId::new(how, docs), |b| b.iter(|| build(how)));
    }
    group.finish();
    let unsorted = build("unsorted");
    ["status-size", "host"].iter().for_each(|how| show_bytes(&unsorted, &build(how), how));
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = range, build }
criterion_main!(benches);
