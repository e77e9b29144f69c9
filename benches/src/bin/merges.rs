//! Measures merges of the segments of a store into one, as in docs/benchmarks/store.md, with `--lucene` beside those of
//! Lucene 10.5.0.
//!
//! Prints the median CPU time of a document: of the thread here, of the process there, with its collector. With `--moves`,
//! instead, the least time to follow all documents through a merge of one column, without an index sort and with one by which
//! documents of all segments alternate.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use clap::Parser;
use docvalues::store::{Store, StoreOptions, StoreSchema};
use docvalues::{Field, Kind, LogicalType, SortKey};
use docvalues_benches::clock::cpu_time;
use docvalues_benches::column_input::ColumnInput;
use docvalues_benches::lucene;

/// Measure merges of segments
#[derive(Parser)]
struct Args {
    /// Number of documents
    #[arg(long, value_name = "N", default_value = "1_000_000", value_parser = docvalues_benches::count)]
    docs: u32,

    /// Number of segments
    #[arg(long, value_name = "N", default_value_t = 13)]
    segments: u32,

    /// Also measure Lucene 10.5.0: needs Maven and a JDK from 21 on
    #[arg(long)]
    lucene: bool,

    /// Measure how long it takes to follow documents through a merge
    #[arg(long, conflicts_with = "lucene")]
    moves: bool,
}

/// The columns, and the data of each.
const COLUMNS: [(&str, &str, Kind); 10] = [
    ("n0", "ts", Kind::Numeric),
    ("n1", "size", Kind::Numeric),
    ("n2", "status", Kind::Numeric),
    ("n3", "price60", Kind::Numeric),
    ("n4", "rare1", Kind::Numeric),
    ("n5", "uni24", Kind::Numeric),
    ("n6", "price60", Kind::Numeric),
    ("host", "host", Kind::Sorted),
    ("url", "url", Kind::Binary),
    ("tags", "tags", Kind::SortedSet),
];

/// Merges, of which the median counts.
const ROUNDS: usize = 5;

fn main() {
    let args = Args::parse();
    if args.moves {
        return [false, true].into_iter().for_each(|is_sorted| moves(args.docs, args.segments, is_sorted));
    }
    let inputs: Vec<ColumnInput> =
        COLUMNS.iter().map(|(_, data, _)| ColumnInput::of(data, args.docs)).collect();
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| merge(&inputs, args.docs, args.segments)).collect();
    times.sort_by(f64::total_cmp);
    let ours = times[ROUNDS / 2] / f64::from(args.docs);
    println!("{} segments of {} columns, {} documents", args.segments, COLUMNS.len(), args.docs);
    println!("merge: {ours:.0} ns a document");
    if let Some(lucene) = args.lucene.then(lucene::newest).flatten() {
        let found = lucene.measure("Merges", "merges", args.docs, args.segments, 0);
        let theirs = found["merge"] / f64::from(args.docs);
        println!("Lucene's forceMerge: {theirs:.0} ns a document; ratio {:.2}", ours / theirs);
    }
}

/// Merges a new store, and follows all documents.
fn moves(docs: u32, segments: u32, is_sorted: bool) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let schema = StoreSchema::new().with_field(Field::new("rank", Kind::Numeric, LogicalType::I64));
    let schema = schema.and_then(|schema| schema.with_sort(is_sorted.then(|| SortKey::of("rank"))));
    let path = folder.path().join("store");
    let store = Store::create(&path, schema.expect("a schema"), StoreOptions::default()).expect("a store");
    for segment in 0..segments {
        let mut writer = store.new_segment().expect("a segment");
        let rank = writer.field("rank").expect("a field");
        for doc in segment * (docs / segments)..(segment + 1) * (docs / segments) {
            let mut document = writer.document();
            let value = u64::from(doc).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 1;
            document.i64(rank, value.cast_signed()).expect("a value");
            document.finish().expect("a document");
        }
        writer.finish().expect("a segment");
    }
    let before = store.snapshot();
    store.merge_to(1).expect("a merge");
    let now = store.snapshot();
    let follow = || {
        let start = Instant::now();
        let runs = now.moves_since(&before).expect("the same store");
        // Adds the new numbers, as who follows documents reads them.
        let (runs, moved, sum) = runs.fold((0_u64, 0, 0_u64), |(runs, docs, sum), run| {
            let new = run.to.map_or(0, |(_, doc)| doc.get());
            (runs + 1, docs + run.docs.len(), sum.wrapping_add(new.into()))
        });
        black_box(sum);
        (start.elapsed(), runs, moved)
    };
    let (took, runs, moved) = (0..3 * ROUNDS).map(|_| follow()).min().expect("some rounds");
    let order = if is_sorted { "sorted" } else { "unsorted" };
    let (micros, each) = (took.as_secs_f64() * 1e6, took.as_secs_f64() * 1e9 / moved as f64);
    println!("moves of {moved} documents, {order}: {runs} runs, {micros:.1} us, {each:.2} ns a document");
}

/// Merges a new store into one segment. Returns the nanoseconds of CPU time.
fn merge(inputs: &[ColumnInput], docs: u32, segments: u32) -> f64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = build(&folder.path().join("store"), inputs, docs, segments);
    let start = cpu_time();
    store.merge_to(1).expect("a merge");
    let took = cpu_time().saturating_sub(start);
    assert_eq!((store.snapshot().segments().len(), store.snapshot().docs()), (1, docs.into()));
    took.as_secs_f64() * 1e9
}

fn build(path: &Path, inputs: &[ColumnInput], docs: u32, segments: u32) -> Store {
    let field = |(name, _, kind): (&str, &str, Kind)| {
        Field::new(name, kind, if kind == Kind::Numeric { LogicalType::I64 } else { LogicalType::Utf8 })
    };
    let schema = COLUMNS.into_iter().map(field).try_fold(StoreSchema::new(), StoreSchema::with_field);
    let store = Store::create(path, schema.expect("names differ"), StoreOptions::default()).expect("a store");
    // The first document of a batch is a multiple of 64.
    let start = |part: u32| match part == segments {
        true => docs,
        false => {
            u32::try_from(u64::from(docs) * u64::from(part) / u64::from(segments)).expect("few") / 64 * 64
        }
    };
    for range in (0..segments).map(|part| start(part)..start(part + 1)) {
        let mut segment = store.new_segment().expect("a file");
        let fields = COLUMNS.map(|(name, ..)| segment.field(name).expect("a field"));
        let mut batch = segment.writer().batch(range.end - range.start).expect("few documents");
        inputs.iter().zip(fields).for_each(|(input, field)| input.add_to(&mut batch, field, range.clone()));
        batch.finish();
        segment.finish().expect("a segment");
    }
    store.commit().expect("a commit");
    store
}
