//! Gain from jump tables and rank tables (LUCENE-8374, LUCENE-8585), relative to neither.
//!
//! Read `jump_tables/<layout>/<presence>/<order>/<documents>/<tables>`; throughput is look-ups a second. Prints the four
//! times of each row, and the headers of blocks that a look-up reads. The four take turns in each sample. Two minutes.
//!
//! | part | is one of |
//! | --- | --- |
//! | layout | `lucene`: blocks of 16,384 numbers and 65,536 documents; `docvalues`: its own |
//! | presence | `all`, `60%`, `10%`, `1%`, `0.1%` of the documents at random, or `runs` of a thousand |
//! | order | 1,000 `random` documents, others in each iteration; 10,000 `ascending` ones all over the column |
//! | tables | `neither` (Lucene 7), `ranks`, `jumps`, `both` (Lucene 8) |
//!
//! A million and ten million documents, or `DOCVALUES_BENCH_DOCS`, a list. With `DOCVALUES_BENCH_RECORD`, a file, it adds the
//! tables to that record, and writes a plot beside it.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;
use std::path::Path;
use std::slice::Chunks;
use std::time::Duration;

use criterion::measurement::Measurement;
use criterion::{Throughput, criterion_group, criterion_main};
use docvalues::DocId;
use docvalues_benches::jump_shapes::{self, Shape};
use docvalues_benches::layouts::{self, Tables, Values};
use docvalues_benches::line_plot::{LinePlot, Scale};
use docvalues_benches::record::Run;
use docvalues_benches::{Bench, ThreadTime, data};

/// The numbers of a block of Lucene.
const BLOCK: usize = 16_384;

/// Look-ups at random, in parts of which an iteration takes the next one: too many for caches and the branch predictor to
/// learn.
const RANDOM: usize = 100_000;
const PART: usize = 1_000;

/// Look-ups in ascending order, all in each iteration.
const ASCENDING: usize = 10_000;

const LAYOUTS: [&str; 2] = ["lucene", "docvalues"];

/// In Lucene's layout, neither is Lucene 7, and both are Lucene 8.
const HEADER: [&str; 8] = [
    "documents, presence, order",
    "neither",
    "ranks",
    "jumps",
    "both",
    "neither / both",
    "ranks / both",
    "jumps / both",
];

/// The row of each size that is drawn.
const PLOTTED: (&str, &str, &str) = ("lucene", "60%", "random");

const NAMES: [&str; 4] = ["neither", "ranks", "jumps", "both"];

/// A column in either layout.
enum Column {
    Lucene(layouts::lucene::Column),
    Docvalues(Box<layouts::docvalues::Column>),
}

impl Column {
    fn encode(layout: &str, values: &[i64], present: Option<&[u64]>) -> Column {
        match layout {
            "lucene" => Column::Lucene(layouts::lucene::Column::encode(values, present, false, BLOCK)),
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

/// Samples of criterion for each name. In each of them, all four take turns, so that medians are of four times as many.
const SAMPLES: usize = 10;

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
    let mut lines = NAMES.map(|name| (name.to_owned(), Vec::new()));
    for docs in sizes.split(',').map(|docs| docvalues_benches::count(docs).expect("numbers of documents")) {
        let values = jump_shapes::values(docs);
        for (name, shape) in Shape::EACH {
            let present = shape.present(docs);
            for (layout, table) in LAYOUTS.into_iter().zip(&mut tables) {
                let column = Column::encode(layout, &values, present.as_deref());
                let random = data::random_docs(docs, RANDOM);
                let mut ascending = random[..ASCENDING].to_vec();
                ascending.sort_unstable();
                for (order, asked, part) in [("random", &random, PART), ("ascending", &ascending, ASCENDING)]
                {
                    let parts = asked.chunks(part);
                    let costs = measure(c, &column, &format!("{layout}/{name}/{order}/{docs}"), parts);
                    let size = f64::from(docs) / 1e6;
                    if (layout, name, order) == PLOTTED {
                        lines.iter_mut().zip(costs).for_each(|((_, line), cost)| {
                            line.push((f64::from(docs), cost.nanos));
                        });
                    }
                    let row = row(&format!("{size} million, {name}, {order}"), costs);
                    println!("{layout}: {}", row.join(" | "));
                    table.push(row);
                }
            }
        }
    }
    if let Some(path) = std::env::var_os("DOCVALUES_BENCH_RECORD") {
        let mut run = Run::new(&command, "medians of forty samples, in each of which the four take turns");
        LAYOUTS.into_iter().zip(tables).for_each(|(layout, table)| run.table(layout, table));
        run.write(path.as_ref()).expect("a record");
        let plot = LinePlot {
            title: "A look-up at random in Lucene's layout, 60 % of the documents with a value".to_owned(),
            scales: ["documents", "ns"],
            horizontal: Scale::Logarithmic,
            lines: lines.into(),
        };
        let svg = Path::new(&path).with_extension("svg");
        std::fs::write(svg, plot.draw().expect("points")).expect("a folder");
    }
}

/// The cost of each choice of tables, for look-ups in parts. In each sample, of whichever choice, all four take turns, so
/// that a machine that becomes slower favours none.
fn measure(c: &mut Bench, column: &Column, name: &str, parts: Chunks<'_, DocId>) -> [Cost; 4] {
    let sums = Tables::EACH.map(|tables| column.sum(tables, parts.clone().next().unwrap_or_default()).0);
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{name}: {sums:?}");
    let len = parts.clone().next().map_or(0, <[DocId]>::len);
    let (mut next, mut turns) = (parts.cycle(), [0_usize, 1, 2, 3]);
    let mut samples: Vec<[Cost; 4]> = Vec::new();
    let mut group = c.benchmark_group("jump_tables");
    group
        .sample_size(SAMPLES)
        .warm_up_time(Duration::from_millis(20))
        .measurement_time(Duration::from_millis(150))
        .throughput(Throughput::Elements(len as u64));
    for (measured, label) in NAMES.into_iter().enumerate() {
        let mut taken: Vec<[Cost; 4]> = Vec::new();
        group.bench_function(format!("{name}/{label}"), |b| {
            b.iter_custom(|iterations| {
                let (mut times, mut costs) = ([Duration::ZERO; 4], [Cost::default(); 4]);
                turns.rotate_left(1);
                for at in turns {
                    let (start, mut headers) = (ThreadTime.start(), 0);
                    for _ in 0..iterations {
                        let (sum, read) = column.sum(Tables::EACH[at], next.next().unwrap_or_default());
                        black_box(sum);
                        headers += read;
                    }
                    times[at] = ThreadTime.end(start);
                    let each = |total: f64| total / iterations as f64 / len as f64;
                    costs[at] =
                        Cost { nanos: each(times[at].as_nanos() as f64), headers: each(headers as f64) };
                }
                taken.push(costs);
                times[measured]
            });
        });
        // Those before the last ones warmed up.
        samples.extend(taken.split_off(taken.len().saturating_sub(SAMPLES)));
    }
    group.finish();
    std::array::from_fn(|at| {
        let mut costs: Vec<Cost> = samples.iter().map(|costs| costs[at]).collect();
        costs.sort_unstable_by(|one, other| one.nanos.total_cmp(&other.nanos));
        costs.get(costs.len() / 2).copied().unwrap_or_default()
    })
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
