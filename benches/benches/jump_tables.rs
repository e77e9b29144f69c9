//! Gain from jump tables and rank tables (LUCENE-8374, LUCENE-8585): without, with one of them, with both.
//!
//! Read `jump_tables/<layout>/<presence>/<order>/<tables>/<documents>`; throughput is look-ups a second. Prints the four
//! times of each row, and the headers of blocks that a look-up reads. Two minutes.
//!
//! | part | is one of |
//! | --- | --- |
//! | layout | `lucene`: blocks of 16,384 numbers and 65,536 documents; `docvalues`: its own |
//! | presence | `all`, `60%`, `10%`, `1%`, `0.1%` of the documents at random, or `runs` of a thousand |
//! | order | `random` documents, or 10,000 `ascending` ones all over the column |
//! | tables | `neither` (Lucene 7), `ranks`, `jumps`, `both` (Lucene 8) |
//!
//! A million and ten million documents, or `DOCVALUES_BENCH_DOCS`, a list. With `DOCVALUES_BENCH_RECORD`, a file, it adds the
//! tables to that record.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::Measurement;
use criterion::{Throughput, criterion_group, criterion_main};
use docvalues::DocId;
use docvalues_benches::jump_shapes::{self, Shape};
use docvalues_benches::layouts::{self, Tables, Values};
use docvalues_benches::record::Run;
use docvalues_benches::{Bench, ThreadTime, data};

/// The numbers of a block of Lucene.
const BLOCK: usize = 16_384;

/// Look-ups of an iteration: too many for the branch predictor to learn; fewer if each walks over half of the column.
const LOOKUPS: usize = 10_000;
const WALKS: usize = 200;

const LAYOUTS: [&str; 2] = ["lucene", "docvalues"];

const HEADER: [&str; 8] = [
    "documents, presence, order",
    "neither (Lucene 7)",
    "ranks",
    "jumps",
    "both (Lucene 8)",
    "gain of both",
    "of jumps beside ranks",
    "of ranks beside jumps",
];

const NAMES: [&str; 4] = ["neither", "ranks", "jumps", "both"];

/// A column in either layout.
enum Column {
    Lucene(layouts::lucene::Column),
    Docvalues(Box<layouts::docvalues::Column>),
}

impl Column {
    fn encode(layout: &str, values: &[i64], present: Option<&[u64]>) -> Column {
        match layout {
            "lucene" => Column::Lucene(layouts::lucene::Column::encode(values, present, BLOCK)),
            _ => Column::Docvalues(Box::new(layouts::docvalues::Column::encode(values, present))),
        }
    }

    /// The sum of the values of `docs`, and the headers that were read.
    fn sum(&self, tables: Tables, docs: &[DocId]) -> (i64, u64) {
        match self {
            Column::Lucene(column) => sum(&mut column.iterator(tables), docs),
            Column::Docvalues(column) => sum(&mut column.iterator(tables), docs),
        }
    }
}

fn sum(cursor: &mut impl Values, docs: &[DocId]) -> (i64, u64) {
    let sum = docs.iter().filter_map(|&doc| cursor.get(doc)).fold(0, i64::wrapping_add);
    (sum, cursor.headers().iter().sum())
}

/// Nanoseconds of CPU time and headers of a look-up.
#[derive(Clone, Copy, Default)]
struct Cost {
    nanos: f64,
    headers: f64,
}

fn jump_tables(c: &mut Bench) {
    let sizes = std::env::var("DOCVALUES_BENCH_DOCS").unwrap_or_else(|_| "1_000_000,10_000_000".to_owned());
    println!("ns a look-up, and in brackets the headers that it reads");
    let command =
        format!("DOCVALUES_BENCH_DOCS={sizes} cargo bench -p docvalues-benches --bench jump_tables");
    let mut tables = LAYOUTS.map(|_| vec![HEADER.map(str::to_owned).to_vec()]);
    for docs in sizes.split(',').map(|docs| docvalues_benches::count(docs).expect("numbers of documents")) {
        let values = jump_shapes::values(docs);
        for (name, shape) in Shape::EACH {
            let present = shape.present(docs);
            for (layout, table) in LAYOUTS.into_iter().zip(&mut tables) {
                let column = Column::encode(layout, &values, present.as_deref());
                let mut random = data::random_docs(docs, LOOKUPS);
                for order in ["random", "ascending"] {
                    let costs = measure(c, &column, &format!("{layout}/{name}/{order}"), &random, docs);
                    let size = f64::from(docs) / 1e6;
                    let row = row(&format!("{size} million, {name}, {order}"), costs);
                    println!("{layout}: {}", row.join(" | "));
                    table.push(row);
                    random.sort_unstable();
                }
            }
        }
    }
    if let Some(path) = std::env::var_os("DOCVALUES_BENCH_RECORD") {
        let mut run = Run::new(&command, "the last of ten samples by criterion");
        LAYOUTS.into_iter().zip(tables).for_each(|(layout, table)| run.table(layout, table));
        run.write(path.as_ref()).expect("a record");
    }
}

/// The cost of each choice of tables.
fn measure(c: &mut Bench, column: &Column, name: &str, docs: &[DocId], all: u32) -> [Cost; 4] {
    let mut costs = [Cost::default(); 4];
    let mut group = c.benchmark_group("jump_tables");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(20))
        .measurement_time(Duration::from_millis(150));
    let mut sums = Vec::new();
    for ((tables, label), cost) in Tables::EACH.into_iter().zip(NAMES).zip(&mut costs) {
        let walks = !tables.jumps && !docs.is_sorted() && all > 2_000_000;
        let some = if walks { &docs[..WALKS] } else { docs };
        let run = || column.sum(tables, black_box(some));
        let (sum, headers) = run();
        sums.push((some.len(), sum));
        group.throughput(Throughput::Elements(some.len() as u64));
        group.bench_function(format!("{name}/{label}/{all}"), |b| {
            b.iter_custom(|iterations| {
                let start = ThreadTime.start();
                for _ in 0..iterations {
                    black_box(run());
                }
                let time = ThreadTime.end(start);
                cost.nanos = time.as_nanos() as f64 / iterations as f64 / some.len() as f64;
                time
            });
        });
        cost.headers = headers as f64 / some.len() as f64;
    }
    group.finish();
    let same = |(len, sum)| sums.iter().all(|(other, others)| *other != len || *others == sum);
    assert!(sums.iter().copied().all(same), "{name}: {sums:?}");
    costs
}

/// The times and headers of each choice of tables, and what both gain, and each beside the other.
fn row(name: &str, costs: [Cost; 4]) -> Vec<String> {
    let cell = |Cost { nanos, headers }: Cost| match headers {
        0.0 => format!("{nanos:.1}"),
        _ => format!("{nanos:.1} ({headers:.2})"),
    };
    let [neither, ranks, jumps, both] = costs.map(|cost| cost.nanos);
    let gains = [neither / both, ranks / both, jumps / both].map(|gain| format!("{gain:.1}x"));
    std::iter::once(name.to_owned()).chain(costs.map(cell)).chain(gains).collect()
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = jump_tables }
criterion_main!(benches);
