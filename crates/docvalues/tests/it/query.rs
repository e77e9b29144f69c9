//! Queries on segments, compared with a loop over the rows they were written from.

use docvalues::reader::JumpTables;
use docvalues::search::{Docs, Query, Search};
use docvalues::{OpenOptions, Segment, SegmentWriter, SortKey, WriterOptions};
use docvalues_fuzz::naive::{any_query, any_rows, check};
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{Cell, ModelColumn};
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::Dataset;

use crate::write::{COMPRESSIONS, add_batches, in_batches, schema};

/// Compares many random queries, in every mode of jump tables.
fn check_segment(rows: &Dataset, file: &[u8], queries: u32, rng: &mut SplitMix64) {
    let mut compared = 0;
    for jump_tables in JumpTables::ALL {
        let segment =
            Segment::from_bytes(file.to_vec(), OpenOptions::new().jump_tables(jump_tables)).unwrap();
        for i in 0..queries {
            let query = any_query(&rows.columns, i % 4, rng);
            compared += u32::from(check(rows, &segment, &query, rng));
        }
    }
    assert!(3 * compared > 4 * queries, "{compared} of {} queries compared", 2 * queries);
}

/// Some random columns. All kinds and types would take long with many documents.
fn some_rows(docs: u32, columns: usize, rng: &mut SplitMix64) -> Dataset {
    let mut rows = any_rows(docs, rng);
    rng.shuffle(&mut rows.columns);
    rows.columns.truncate(columns);
    rows
}

#[test]
fn queries_on_small_segments_match_their_rows() {
    for seed in 0..cases(6, 12) {
        let mut rng = SplitMix64::new(seed);
        let rows = some_rows(rng.below_u32(3_000), 100, &mut rng);
        let options = WriterOptions::new().jump_tables(seed % 2 == 0).zones(seed % 3 > 0);
        let file = in_batches(&rows, 1_000, &COMPRESSIONS, options);
        check_segment(&rows, &file, 24, &mut rng);
    }
}

#[test]
fn queries_on_several_windows_match_their_rows() {
    for seed in 0..cases(1, 4) {
        let mut rng = SplitMix64::new(100 + seed);
        let rows = some_rows(131_000 + rng.below_u32(300), 8, &mut rng);
        let options = WriterOptions::new().jump_tables(seed % 2 == 0);
        let file = in_batches(&rows, 50_000, &COMPRESSIONS, options);
        check_segment(&rows, &file, 6, &mut rng);
    }
}

#[test]
fn queries_on_sorted_segments_match_their_rows() {
    let mut compared = 0;
    for seed in 0..8 {
        let mut rng = SplitMix64::new(200 + seed);
        let mut rows = some_rows(rng.below_u32(5_000), 100, &mut rng);
        let lead = rng.below(2);
        let first = |column: &ModelColumn| match (column, lead) {
            (ModelColumn::Numeric(_), 0) | (ModelColumn::Sorted(_), 1) => !column.is_empty(),
            _ => false,
        };
        let Some(at) = rows.columns.iter().position(|(_, column)| first(column)) else { continue };
        rows.columns.swap(0, at);
        let (field, column) = rows.columns[0].clone();
        let key =
            SortKey { column: field.name, descending: rng.chance(1, 2), missing_first: rng.chance(1, 2) };
        // Documents with equal keys keep their order.
        let mut order: Vec<u32> = (0..rows.docs).collect();
        order.sort_by(|&a, &b| match (column.cell(a), column.cell(b)) {
            (Cell::Missing, Cell::Missing) => std::cmp::Ordering::Equal,
            (Cell::Missing, _) => {
                if key.missing_first {
                    std::cmp::Ordering::Less
                } else {
                    std::cmp::Ordering::Greater
                }
            }
            (_, Cell::Missing) => {
                if key.missing_first {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Less
                }
            }
            (Cell::Number(a), Cell::Number(b)) => {
                if key.descending {
                    b.cmp(&a)
                } else {
                    a.cmp(&b)
                }
            }
            (Cell::Bytes(a), Cell::Bytes(b)) => {
                if key.descending {
                    b.cmp(a)
                } else {
                    a.cmp(b)
                }
            }
            _ => unreachable!("one kind"),
        });
        let (schema, fields) = schema(&rows, &COMPRESSIONS);
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        writer.sort_by(vec![key]).unwrap();
        add_batches(&mut writer, &fields, &rows, 1_000);
        let file = writer.finish_bytes().unwrap();
        for (_, column) in &mut rows.columns {
            *column = column.pick(order.iter().map(|&doc| Some(doc)));
        }
        // The column of the primary sort key is in every query.
        let lead = [rows.columns[0].clone()];
        let segment = Segment::from_bytes(file.clone(), OpenOptions::new()).unwrap();
        assert_eq!(segment.sort().len(), 1);
        for depth in [0, 0, 0, 0, 1, 1] {
            let (a, b) = (any_query(&lead, depth, &mut rng), any_query(&rows.columns, depth, &mut rng));
            compared += u32::from(check(&rows, &segment, &a.clone().and(b.clone()), &mut rng));
            compared += u32::from(check(&rows, &segment, &a.or(b), &mut rng));
        }
        check_segment(&rows, &file, 12, &mut rng);
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn threads_query_ranges_of_documents() {
    let mut rng = SplitMix64::new(7);
    let rows = some_rows(140_000, 12, &mut rng);
    let file = in_batches(&rows, 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    for _ in 0..cases(8, 20) {
        let query = any_query(&rows.columns, 3, &mut rng);
        let Ok(bound) = Search::new(&segment).bind(&query) else { continue };
        let mut words = vec![0_u64; docvalues::column::bits::words(0..rows.docs)];
        std::thread::scope(|scope| {
            for (part, words) in (0_u32..).zip(words.chunks_mut(1024)) {
                let (bound, docs) = (&bound, part << 16..rows.docs.min((part + 1) << 16));
                scope.spawn(move || bound.matching(0, docs, words).unwrap());
            }
        });
        let found = bound.collect(Docs::All).unwrap();
        let found = found.iter().map(|found| found.doc.get() as usize);
        assert!(found.eq(docvalues::column::bits::ones(&words)), "{query}");
    }
}

#[test]
fn an_explained_query_reports_what_was_skipped() {
    let mut rng = SplitMix64::new(8);
    let mut rows = some_rows(0, 0, &mut rng);
    rows.docs = 200_000;
    let field = |name: &str, kind, logical| docvalues::Field::new(name, kind, logical);
    let number = |name| field(name, docvalues::Kind::Numeric, docvalues::LogicalType::I64);
    let text = field("text", docvalues::Kind::Binary, docvalues::LogicalType::Utf8);
    rows.columns = vec![
        (number("at"), ModelColumn::Numeric((0..200_000).map(Some).collect())),
        (
            text,
            ModelColumn::Binary((0..200_000).map(|doc| Some(format!("{:x}", doc % 777).into())).collect()),
        ),
    ];
    let file = in_batches(&rows, 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let query = Query::parse("text ^= '1' and at in 70_000..70_500").unwrap();
    let search = Search::new(&segment);
    let (found, explain) = search.bind(&query).unwrap().collect_explained(Docs::All).unwrap();
    let [at, text] = explain.parts.as_slice() else { panic!("{explain}") };
    assert_eq!((at.clause.as_str(), text.clause.as_str()), ("at in 70000..70500", "text ^= \"1\""));
    let (at, text) = (at.profile.unwrap(), text.profile.unwrap());
    assert_eq!((at.windows, at.skipped, at.matched), (4, 0, 500));
    assert_eq!((text.windows, text.skipped, text.gathered, text.candidates), (1, 3, 1, 500));
    assert_eq!((text.matched, explain.profile.unwrap().matched), (found.count(), found.count()));
    let nothing = Query::parse("text exists and at > 1_000_000 and text = '5'").unwrap();
    let nothing = search.bind(&nothing).unwrap();
    assert!(nothing.is_none());
    assert_eq!(nothing.explain().how, "no document can match: its values lie between 0 and 199999");
}
