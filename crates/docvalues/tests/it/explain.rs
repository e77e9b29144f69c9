//! The zone counts of an explained query are those computed from the values.

use std::ops::RangeInclusive;

use docvalues::column::{PruneCounts, Pruning, bits};
use docvalues::search::{Docs, Query, Search};
use docvalues::{
    ColumnSource as _, DocRange, Field, Kind, LogicalType, OpenOptions, Segment, SegmentWriter, SortKey,
    WriterOptions,
};
use docvalues_testkit::model::ModelColumn;
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::Dataset;

use crate::write::{COMPRESSIONS, add_batches, in_batches, schema};

const DOCS: u32 = 300_000;
const ZONE: usize = 4096;

/// Numbers that are sorted, clustered, and random.
fn shapes() -> [(&'static str, Vec<i64>); 3] {
    let mut rng = SplitMix64::named("explained");
    let noise: Vec<i64> = (0..DOCS).map(|_| rng.below(100_000) as i64).collect();
    let near = |(at, noise): (i64, &i64)| at / 10 + noise % 700;
    [
        ("at", (0..i64::from(DOCS)).map(|at| at * 3).collect()),
        ("near", (0..).zip(&noise).map(near).collect()),
        ("any", noise),
    ]
}

fn with_values(docs: &[i64]) -> Vec<Option<i64>> {
    (0..).zip(docs).map(|(doc, value)| (doc % 3 > 0).then_some(*value)).collect()
}

fn term(number: i64) -> Vec<u8> {
    format!("{number:06}").into()
}

fn rows() -> Dataset {
    let field = |name: &str, kind, logical| Field::new(name, kind, logical);
    let mut columns = Vec::new();
    for (name, values) in shapes() {
        let all = values.iter().copied().map(Some).collect();
        columns.push((field(name, Kind::Numeric, LogicalType::I64), ModelColumn::Numeric(all)));
        let some = with_values(&values);
        let terms = some.iter().map(|value| value.map(term)).collect();
        let ty = LogicalType::Utf8;
        columns.push((field(&format!("{name}_term"), Kind::Sorted, ty), ModelColumn::Sorted(terms)));
        let lists = some.iter().map(|value| value.map_or_else(Vec::new, |value| vec![value, value + 1]));
        let lists = ModelColumn::SortedNumeric(lists.collect());
        columns.push((field(&format!("{name}_list"), Kind::SortedNumeric, LogicalType::I64), lists));
        let some = ModelColumn::Numeric(some);
        columns.push((field(&format!("{name}_some"), Kind::Numeric, LogicalType::I64), some));
    }
    Dataset { docs: DOCS, columns }
}

/// The expected counts of zones, and the number of values in zones that decide nothing.
fn zones(values: &[i64], wanted: &RangeInclusive<i64>) -> (PruneCounts, u64) {
    let (mut zones, mut open) = (PruneCounts::default(), 0);
    for zone in values.chunks(ZONE) {
        let (min, max) = (zone.iter().min().unwrap(), zone.iter().max().unwrap());
        if max < wanted.start() || wanted.end() < min {
            zones.none += 1;
        } else if wanted.contains(min) && wanted.contains(max) {
            zones.all += 1;
        } else {
            zones.open += 1;
            open += zone.len() as u64;
        }
    }
    (zones, open)
}

fn explained(segment: &Segment, query: &str) -> (u64, Pruning) {
    let bound = Search::new(segment).bind(&Query::parse(query).unwrap()).unwrap();
    let (found, explain) = bound.collect_explained(Docs::All).unwrap();
    assert_eq!(found, bound.collect(Docs::All).unwrap());
    assert!(explain.parts.is_empty(), "{explain}");
    (found.count(), explain.profile.unwrap().filter)
}

#[test]
fn zone_counts_are_those_of_the_values() {
    let rows = rows();
    let segment = Segment::from_bytes(
        in_batches(&rows, 50_000, &COMPRESSIONS, WriterOptions::default()),
        OpenOptions::new(),
    );
    let segment = segment.unwrap();
    for (name, values) in shapes() {
        let some: Vec<i64> = with_values(&values).into_iter().flatten().collect();
        let lists: Vec<i64> = some.iter().flat_map(|value| [*value, value + 1]).collect();
        let without = u64::from(DOCS) - some.len() as u64;
        for (low, high) in [(5_000, 5_020), (9_000, 25_000), (-5, 20_000), (20_000, i64::MAX)] {
            let wanted = low..=high;
            let what = format!("{name} in {low}..={high}");
            for (column, values, missing) in
                [("", &values, 0), ("_some", &some, without), ("_list", &lists, without)]
            {
                let (_, counts) = explained(&segment, &format!("{name}{column} in {low}..={high}"));
                let (expected, open) = zones(values, &wanted);
                assert_eq!((counts.zones, counts.missing), (expected, missing), "{what}{column}");
                assert_eq!((counts.directory, counts.order), (0, 0), "{what}{column}");
                assert!(counts.read <= open && (counts.read > 0) == (counts.blocks.open > 0), "{counts:?}");
            }
            if low >= 0 && high < i64::MAX {
                let (_, counts) = explained(&segment, &format!("{name}_term in '{low:06}'..='{high:06}'"));
                assert_eq!((counts.zones, counts.missing), (zones(&some, &wanted).0, without), "{what}_term");
            }
        }
    }
}

#[test]
fn clustered_values_are_read_less() {
    let segment = in_batches(&rows(), 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(segment, OpenOptions::new()).unwrap();
    let read = |query: &str| explained(&segment, query).1;
    // Two of 74 zones: those with an end of the range.
    let sorted = read("at in 150_000..600_000");
    assert_eq!(sorted.zones, PruneCounts { none: 37, all: 35, open: 2 });
    // Nearly linear: two fine zones of 512.
    assert!((1..=2 * 512).contains(&sorted.read), "{sorted:?}");
    let near = read("near in 5_000..5_100");
    assert!(near.zones.none > 65 && near.zones.open < 9, "{near:?}");
    let any = read("any in 5_000..5_100");
    assert_eq!((any.zones, any.read), (PruneCounts { none: 0, all: 0, open: 74 }, DOCS.into()));
    // Up to eight ranges are filtered one by one. With more, each value is looked up among them.
    let two = read("any in 5_000..5_100 or any in 6_000..6_100");
    assert_eq!((two.zones.open, two.read), (2 * 74, 2 * u64::from(DOCS)));
    let many = (1..20).map(|at| format!("any in {0}..={0}", 10 * at)).collect::<Vec<_>>().join(" or ");
    assert_eq!(read(&many), Pruning { read: DOCS.into(), ..Pruning::default() });
}

/// A count begins at the window of the first zone that may match, and leaves out documents before the range.
#[test]
fn counts_of_ranges_that_begin_within_words() {
    let segment = in_batches(&rows(), 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(segment, OpenOptions::new()).unwrap();
    for (first, last) in
        [(65_536, 299_999), (65_540, 200_001), (131_070, 131_075), (4_096, 8_191), (150, 151)]
    {
        let query = Query::parse(&format!("at in {}..={}", 3 * first, 3 * last)).unwrap();
        let bound = Search::new(&segment).bind(&query).unwrap();
        for from in [0, 1, 63, 64, 100, 4_097, 65_535, 65_536, 65_541, 131_071] {
            for to in [from, from + 1, 65_537, 131_075, DOCS - 10, DOCS] {
                let expected = to.min(last + 1).saturating_sub(from.max(first));
                let count = bound.count(Docs::Range(from, to)).unwrap();
                assert_eq!(count, u64::from(expected), "{query}, {from}..{to}");
            }
        }
    }
}

#[test]
fn the_directory_decides_all_documents() {
    let segment = in_batches(&rows(), 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(segment, OpenOptions::new()).unwrap();
    let columns = ["at", "at_list"].map(|name| segment.column(name).unwrap());
    let mut bits = vec![0; DocRange::new(0, DOCS).words()];
    for (wanted, all) in [(-9..=-1, false), (i64::MIN..=i64::MAX, true), (1_000_000..=i64::MAX, false)] {
        for docs in [0..DOCS, 70..DOCS - 5].map(DocRange::from) {
            let decided = Pruning { directory: docs.len() as u64, ..Pruning::default() };
            let with_value = [docs.len(), docs.iter().filter(|doc| doc.get() % 3 > 0).count()];
            for (column, with_value) in columns.iter().zip(with_value) {
                let mut pruned = Pruning::default();
                bits.fill(0);
                column.values().numbers().unwrap().filter(docs, &wanted, &mut bits, &mut pruned).unwrap();
                assert_eq!(pruned, decided);
                assert_eq!(bits::count(&bits), if all { with_value } else { 0 });
            }
        }
    }
}

#[test]
fn the_index_sort_reads_no_zones() {
    let mut rows = rows();
    rows.columns.retain(|(field, _)| field.name == "at");
    let (schema, fields) = schema(&rows, &COMPRESSIONS);
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    writer.sort_by(vec![SortKey::of("at").descending()]).unwrap();
    add_batches(&mut writer, &fields, &rows, 50_000);
    let segment = Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap();
    let (found, counts) = explained(&segment, "at in 150_000..600_000");
    assert_eq!(found, 150_000);
    assert_eq!(counts, Pruning { order: DOCS.into(), ..Pruning::default() });
}

#[test]
fn few_candidates_are_read_without_zones() {
    let segment = in_batches(&rows(), 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(segment, OpenOptions::new()).unwrap();
    let query = Query::parse("at in 30_000..30_300 and any_list >= 10").unwrap();
    let bound = Search::new(&segment).bind(&query).unwrap();
    let (_, explain) = bound.collect_explained(Docs::All).unwrap();
    let [at, any] = explain.parts.as_slice() else { panic!("{explain}") };
    assert_eq!(at.profile.unwrap().filter.zones, PruneCounts { none: 73, all: 0, open: 1 });
    let any = any.profile.unwrap();
    // A hundred documents; two of three have two values.
    assert_eq!((any.candidates, any.gathered, any.filter.read), (100, 1, 2 * 67));
    assert_eq!(any.filter, Pruning { read: any.filter.read, ..Pruning::default() });
}
