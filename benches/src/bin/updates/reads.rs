//! Reads of a column in which some rows changed, beside the same column without changes.

use std::hint::black_box;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use docvalues::column::{BatchDocs, Changes, Element, Error as ReadError, Gathered, Overlay, Pruning};
use docvalues::search::{Docs, Query, Search};
use docvalues::{
    BytesKind, Column, ColumnSource, DocId, DocRange, Field, FieldSpec, LogicalType, OpenOptions, Rows,
    Schema, Segment, SegmentWriter, SortKey, WriterOptions,
};
use docvalues_benches::ids::random;
use docvalues_testkit::rng::SplitMix64;

use crate::{ROUNDS, median, millis, number, share, text};

/// Shares of documents that changed.
const SHARES: [f64; 4] = [0.000_01, 0.001, 0.01, 0.1];

/// Documents of a gather, and how many gathers are measured.
const BATCH: usize = 1_024;
const GATHERS: usize = 500;

type Numbers = (&'static str, RangeInclusive<i64>, fn(&mut SplitMix64) -> i64);

/// The columns of numbers, each with a range that 1 % of its numbers are in, and its new values.
const NUMBERS: [Numbers; 2] =
    [("time", 0..=(1 << 39) / 100, number), ("size", 7 << 17..=(1 << 20) - 1, new_size)];

/// A source of one column.
struct One(Arc<dyn Column>);

impl ColumnSource for One {
    fn docs(&self) -> u32 {
        self.0.info().docs
    }

    fn fields(&self) -> Result<Vec<Field>, ReadError> {
        Ok(vec![self.0.info().field.clone()])
    }

    fn column(&self, _: &str) -> Result<Arc<dyn Column>, ReadError> {
        Ok(Arc::clone(&self.0))
    }
}

/// Prints how many times as long reads take as without changes.
pub(crate) fn measure(docs: u32) {
    let segment = segment(docs);
    let open = |name: &str| segment.column(name).expect("a column");
    let columns = NUMBERS.map(|(name, wanted, new)| (name, open(name), wanted, new));
    let title = open("title");
    let mut rng = SplitMix64::new(26);
    println!("\n## reads, {docs} documents\n");
    println!(
        "| column | changed | bytes a change | scan | gather | ascending | filter 1 % | count 1 % | top 20 |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (name, column, wanted, _) in &columns {
        println!("| {name}, ms | | | {}", row(&numbers(column, wanted)));
    }
    println!("| title, ms | | | {}", row(&strings(&title)));
    for part in SHARES {
        let some = share(docs, part, &mut rng);
        for (name, column, wanted, new) in &columns {
            let mut changes = Changes::<i64>::new(docs, false);
            let rows: Vec<i64> = some.iter().map(|_| new(&mut rng)).collect();
            changes.set(some.iter().map(|doc| DocId::new(*doc)).zip(rows.chunks(1).map(Some)));
            print(&format!("{name} | {} %", part * 100.0), changes.heap(), &some, {
                let changed: Arc<dyn Column> = Arc::new(Overlay::<i64>::new(Arc::clone(column), changes));
                ratios(|| numbers(&changed, wanted), || numbers(column, wanted))
            });
        }
        let mut changes = Changes::<u8>::new(docs, true);
        let rows: Vec<String> = some.iter().map(|_| text(&mut rng)).collect();
        changes.set(
            some.iter().map(|doc| DocId::new(*doc)).zip(rows.iter().map(|title| Some(title.as_bytes()))),
        );
        print(&format!("title | {} %", part * 100.0), changes.heap(), &some, {
            let changed: Arc<dyn Column> = Arc::new(Overlay::<u8>::new(Arc::clone(&title), changes));
            ratios(|| strings(&changed), || strings(&title))
        });
    }
}

/// A segment with a random number, a skewed one and a random title in each document.
fn segment(docs: u32) -> Segment {
    let mut schema = Schema::new();
    let time = schema.add(FieldSpec::new("time", LogicalType::I64)).expect("a field");
    let size = schema.add(FieldSpec::new("size", LogicalType::I64)).expect("a field");
    let title = FieldSpec::new("title", LogicalType::Utf8).kind(BytesKind::Binary);
    let title = schema.add(title).expect("a field");
    let options = WriterOptions::new().budget(usize::MAX);
    let mut writer = SegmentWriter::in_memory(schema, options);
    let mut rng = SplitMix64::new(9);
    for at in 0..docs {
        let mut doc = writer.document();
        doc.i64(time, number(&mut rng))
            .and_then(|doc| doc.i64(size, old_size(at, &mut rng)))
            .expect("a value");
        doc.str(title, &text(&mut rng)).expect("a value");
        doc.finish().expect("a document");
    }
    let bytes = writer.finish_bytes().expect("a segment");
    Segment::from_bytes(bytes, OpenOptions::new()).expect("a segment")
}

/// A skewed number: powers of two, and every tenth run of 16,384 documents has one.
fn old_size(doc: u32, rng: &mut SplitMix64) -> i64 {
    let (block, random) = (i64::from(doc >> 14), rng.next_u64());
    match block % 10 {
        9 => 4_096 + block,
        run => {
            let powers = if run == 4 { 10 } else { 20 };
            let power = 1_i64 << ((random >> 33) % powers);
            power | random.cast_signed() & (power - 1)
        }
    }
}

/// A uniform number, up to the largest size.
fn new_size(rng: &mut SplitMix64) -> i64 {
    number(rng) & ((1 << 20) - 1)
}

/// Milliseconds of a scan, of gathers in any order and ascending, of a filter, and of searches that count and that return the
/// top 20.
fn numbers(column: &Arc<dyn Column>, wanted: &RangeInclusive<i64>) -> [f64; 6] {
    let rows = column.values().numbers().expect("numbers");
    let [scan, gather, ascending] = reads(column, rows);
    let docs = DocRange::new(0, column.info().docs);
    let filter = millis(|| {
        let mut bits = vec![0; docs.words()];
        rows.filter(docs, wanted, &mut bits, &mut Pruning::default()).expect("good bytes");
        black_box(bits);
    });
    let source = One(Arc::clone(column));
    let name = &column.info().field.name;
    let query = Query::range(name, wanted.clone());
    let count = millis(|| {
        black_box(Search::new(&source).threads(1).count(&query).expect("good bytes"));
    });
    let top = millis(|| {
        let keys = [SortKey::of(name).descending()];
        black_box(Search::new(&source).threads(1).top(Docs::All, &keys, 20).expect("good bytes"));
    });
    [scan, gather, ascending, filter, count, top]
}

fn strings(column: &Arc<dyn Column>) -> [f64; 6] {
    let [scan, gather, ascending] = reads(column, column.values().bytes().expect("strings"));
    [scan, gather, ascending, 0.0, 0.0, 0.0]
}

fn reads<T: Element>(column: &Arc<dyn Column>, rows: &dyn Rows<T>) -> [f64; 3] {
    let docs = column.info().docs;
    let scan = millis(|| {
        let mut items = 0;
        let each = &mut |batch: docvalues::column::Batch<'_, T>| {
            items += black_box(batch.values.items()).len();
            ControlFlow::Continue(())
        };
        rows.scan(DocRange::new(0, docs), each).expect("good bytes");
        black_box(items);
    });
    let mut asked: Vec<DocId> = random(docs, BATCH * GATHERS).map(DocId::new).collect();
    let mut gathered = Gathered::new();
    let mut gather = |asked: &[DocId]| {
        for docs in asked.chunks(BATCH) {
            rows.gather(BatchDocs::List(docs), &mut gathered).expect("good bytes");
            black_box(&gathered);
        }
    };
    let any = millis(|| gather(&asked));
    asked.sort_unstable();
    [scan, any, millis(|| gather(&asked))]
}

/// The medians of the ratios of pairs, of which each is first in turn.
fn ratios(changed: impl Fn() -> [f64; 6], base: impl Fn() -> [f64; 6]) -> [f64; 6] {
    let pair = |round| {
        if round % 2 == 0 {
            let base = base();
            (changed(), base)
        } else {
            (changed(), base())
        }
    };
    let pairs: Vec<_> = (0..ROUNDS).map(pair).collect();
    std::array::from_fn(|at| median(pairs.iter().map(|(changed, base)| changed[at] / base[at]).collect()))
}

fn print(name: &str, heap: usize, some: &[u32], ratios: [f64; 6]) {
    println!("| {name} | {:.1} | {}", heap as f64 / some.len() as f64, row(&ratios));
}

fn row(figures: &[f64; 6]) -> String {
    let cell = |figure: &f64| if figure.is_normal() { format!("{figure:.2} |") } else { "|".to_owned() };
    figures.iter().map(cell).collect::<Vec<_>>().join(" ")
}
