//! Writing with several threads gives the bytes of a single thread.

use docvalues::writer::ErrorKind as WriteErrorKind;
use docvalues::{
    BytesKind, ColumnSource, FieldSpec, LogicalType, Merger, OpenOptions, Schema, Segment, SegmentWriter,
    WriterOptions,
};
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::shapes::{self, Dataset};
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, EVERY_KIND, in_batches};

const THREADS: [usize; 5] = [2, 3, 8, 64, 0];

fn with(threads: usize) -> WriterOptions {
    WriterOptions::new().threads(threads)
}

/// Merges the source with itself, to a file.
fn merged(source: &dyn ColumnSource, options: WriterOptions) -> Result<Vec<u8>, docvalues::writer::Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("merged.dv");
    let mut merger = Merger::new(options);
    merger.add("one", source).add("other", source);
    merger.finish(&path)?;
    Ok(std::fs::read(path).unwrap())
}

fn check(dataset: &Dataset, threads: usize) {
    let expected = in_batches(dataset, 777, &COMPRESSIONS, with(1));
    assert!(in_batches(dataset, 777, &COMPRESSIONS, with(threads)) == expected, "{threads} threads");
    let segment = Segment::from_bytes(expected, OpenOptions::new()).unwrap();
    let both = merged(&segment, with(1)).unwrap();
    assert!(merged(&segment, with(threads)).unwrap() == both, "merged by {threads} threads");
}

#[test]
fn every_kind_of_column_is_encoded_in_parallel() {
    THREADS.into_iter().for_each(|threads| check(&EVERY_KIND.0, threads));
}

#[test]
fn columns_of_different_size_stay_in_order() {
    let docs = 70_000;
    let large = shapes::large().into_iter().filter(|shape| shape.docs >= docs);
    let large = large.map(|shape| shapes::Shape { docs, ..shape });
    check(&Dataset::of_shapes(docs, large.step_by(2)), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(15, 30)))]

    #[test]
    fn any_segment_has_the_same_bytes(
        dataset in shapes::any_dataset(12),
        threads in proptest::sample::select(vec![2, 3, 8]),
    ) {
        check(&dataset, threads);
    }
}

#[test]
fn a_column_that_exceeds_its_share_of_the_budget_gets_all() {
    let mut schema = Schema::new();
    let fields = ["a", "b", "c"].map(|name| {
        let spec = FieldSpec::new(name, LogicalType::Bytes).kind(BytesKind::Binary);
        schema.add(spec.compression(docvalues::writer::Compression::None)).unwrap()
    });
    let mut writer = SegmentWriter::in_memory(schema, with(1).budget(usize::MAX));
    let mut doc = writer.document();
    // With two threads, a share is a quarter of 160 MiB.
    doc.bytes(fields[0], b"small").unwrap().bytes(fields[1], &vec![7; 50 << 20]).unwrap();
    doc.bytes(fields[2], b"small, too").unwrap();
    doc.finish().unwrap();
    let segment = Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap();
    let within = |budget, threads| merged(&segment, with(threads).budget(budget));
    assert!(within(160 << 20, 2).unwrap() == within(160 << 20, 1).unwrap());
    let refused = within(40 << 20, 2).unwrap_err();
    assert!(matches!(refused.kind(), WriteErrorKind::Budget { .. }), "{refused}");
}

#[test]
fn the_first_column_that_fails_is_named() {
    use docvalues::{Field, Kind};
    let bad = |name: &str| {
        let field = Field::new(name, Kind::Binary, LogicalType::Utf8);
        (field, ModelColumn::Binary(vec![Some(b"\xff".to_vec())]))
    };
    let good = |name: &str| {
        let field = Field::new(name, Kind::Numeric, LogicalType::I64);
        (field, ModelColumn::Numeric(vec![Some(7)]))
    };
    let columns = [good("a"), bad("b"), good("c"), bad("d"), bad("e"), good("f")];
    let source = MemSource::new(1, columns);
    let expected = merged(&source, with(1)).unwrap_err().to_string();
    assert!(expected.contains("\"b\""), "{expected}");
    for threads in THREADS {
        assert_eq!(merged(&source, with(threads)).unwrap_err().to_string(), expected);
    }
}
