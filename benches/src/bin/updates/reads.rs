//! Reads of a column in which some rows changed, beside the same column without changes.

use std::hint::black_box;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use docvalues::column::{BatchDocs, Changes, Element, Error as ReadError, Gathered, Overlay, Pruning};
use docvalues::search::{Docs, Search};
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

/// The numbers that a filter matches: 1 %.
const WANTED: RangeInclusive<i64> = 0..=(1 << 39) / 100;

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
    let (time, title) =
        (segment.column("time").expect("a column"), segment.column("title").expect("a column"));
    let mut rng = SplitMix64::new(26);
    println!("\n## reads, {docs} documents\n");
    println!("| column | changed | bytes a change | scan | gather | ascending | filter 1 % | top 20 |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    println!("| time, ms | | | {}", row(&numbers(&time)));
    println!("| title, ms | | | {}", row(&strings(&title)));
    for part in SHARES {
        let some = share(docs, part, &mut rng);
        let mut changes = Changes::<i64>::new(docs, false);
        let rows: Vec<i64> = some.iter().map(|_| number(&mut rng)).collect();
        changes.set(some.iter().map(|doc| DocId::new(*doc)).zip(rows.chunks(1).map(Some)));
        print(&format!("time | {} %", part * 100.0), changes.heap(), &some, {
            let changed: Arc<dyn Column> = Arc::new(Overlay::<i64>::new(Arc::clone(&time), changes));
            ratios(|| numbers(&changed), || numbers(&time))
        });
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

/// A segment with a random number and a random title in each document.
fn segment(docs: u32) -> Segment {
    let mut schema = Schema::new();
    let time = schema.add(FieldSpec::new("time", LogicalType::I64)).expect("a field");
    let title = FieldSpec::new("title", LogicalType::Utf8).kind(BytesKind::Binary);
    let title = schema.add(title).expect("a field");
    let options = WriterOptions::new().budget(usize::MAX);
    let mut writer = SegmentWriter::in_memory(schema, options);
    let mut rng = SplitMix64::new(9);
    for _ in 0..docs {
        let mut doc = writer.document();
        doc.i64(time, number(&mut rng)).and_then(|doc| doc.str(title, &text(&mut rng))).expect("a value");
        doc.finish().expect("a document");
    }
    let bytes = writer.finish_bytes().expect("a segment");
    Segment::from_bytes(bytes, OpenOptions::new()).expect("a segment")
}

/// Milliseconds of a scan, of gathers in any order and ascending, of a filter, and of a search for the top 20.
fn numbers(column: &Arc<dyn Column>) -> [f64; 5] {
    let rows = column.values().numbers().expect("numbers");
    let [scan, gather, ascending] = reads(column, rows);
    let docs = DocRange::new(0, column.info().docs);
    let filter = millis(|| {
        let mut bits = vec![0; docs.words()];
        rows.filter(docs, &WANTED, &mut bits, &mut Pruning::default()).expect("good bytes");
        black_box(bits);
    });
    let source = One(Arc::clone(column));
    let top = millis(|| {
        let keys = [SortKey::of("time").descending()];
        black_box(Search::new(&source).threads(1).top(Docs::All, &keys, 20).expect("good bytes"));
    });
    [scan, gather, ascending, filter, top]
}

fn strings(column: &Arc<dyn Column>) -> [f64; 5] {
    let [scan, gather, ascending] = reads(column, column.values().bytes().expect("strings"));
    [scan, gather, ascending, 0.0, 0.0]
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
fn ratios(changed: impl Fn() -> [f64; 5], base: impl Fn() -> [f64; 5]) -> [f64; 5] {
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

fn print(name: &str, heap: usize, some: &[u32], ratios: [f64; 5]) {
    println!("| {name} | {:.1} | {}", heap as f64 / some.len() as f64, row(&ratios));
}

fn row(figures: &[f64; 5]) -> String {
    let cell = |figure: &f64| if figure.is_normal() { format!("{figure:.2} |") } else { "|".to_owned() };
    figures.iter().map(cell).collect::<Vec<_>>().join(" ")
}
