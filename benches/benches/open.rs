//! Time from a file to its first value, by number of columns, relative to 10 columns.
//!
//! `open-columns/CONTENDER/COLUMNS`: open the segment, open a column, get one value, close, in `memory` or `mapped` (in the
//! page cache); `another` opens one more column of an open segment in memory.
//!
//! `open-ids/FORM/IDS` opens a segment and its index of a million UUIDs. An index of blocks is copied, and its checksums
//! and structure are checked.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::path::Path;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkId, criterion_group, criterion_main};
use docvalues::prelude::*;
use docvalues::reader::IdForm;
use docvalues::writer::IdOptions;
use docvalues_benches::Bench;
use docvalues_benches::ids::IdKind;

const DOCS: u32 = 10;
const LAST: DocId = DocId::new(DOCS - 1);

fn name(column: u32) -> String {
    format!("field {column:05}")
}

/// Value `9` of a column.
fn last(column: u32) -> Option<i64> {
    Some(i64::from(column) * 1_000 + i64::from(LAST.get()))
}

fn write(columns: u32) -> Vec<u8> {
    let mut schema = Schema::new();
    let spec = |column| FieldSpec::new(name(column), LogicalType::I64);
    let fields: Vec<_> = (0..columns).map(|column| schema.add(spec(column)).expect("names differ")).collect();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    let mut batch = writer.batch(DOCS).expect("few documents");
    for (column, field) in (0..).zip(fields) {
        let values: Vec<i64> = (0..DOCS).map(|doc| i64::from(column) * 1_000 + i64::from(doc)).collect();
        batch.i64(field, &values, None).expect("good values");
    }
    batch.finish();
    writer.finish_bytes().expect("memory does not fail")
}

fn in_memory(bytes: &Arc<[u8]>) -> Segment {
    Segment::from_bytes(Arc::clone(bytes), OpenOptions::new()).expect("just written")
}

fn mapped(path: &Path) -> Segment {
    Segment::open(path).expect("just written")
}

fn value(segment: &Segment, column: &str) -> Option<i64> {
    segment.numeric(column).expect("a column").get(LAST).expect("good bytes")
}

fn open(c: &mut Bench) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("columns.dv");
    let mut group = c.benchmark_group("open-columns");
    for columns in [10, 1_000, 65_000] {
        let bytes: Arc<[u8]> = write(columns).into();
        std::fs::write(&path, &bytes).expect("a file can be written");
        // Not the first probe of a binary search.
        let (third, other) = (columns / 3, columns / 3 + 1);
        let (name, another) = (name(third), name(other));
        for segment in [in_memory(&bytes), mapped(&path)] {
            assert_eq!(value(&segment, &name), last(third));
            println!(
                "open/{columns}: {} bytes touched of {}, in {}",
                segment.bytes_touched(),
                bytes.len(),
                segment.file()
            );
            assert_eq!(value(&segment, &another), last(other));
        }
        group.bench_function(BenchmarkId::new("memory", columns), |b| {
            b.iter(|| value(&in_memory(&bytes), &name));
        });
        group
            .bench_function(BenchmarkId::new("mapped", columns), |b| b.iter(|| value(&mapped(&path), &name)));
        group.bench_function(BenchmarkId::new("another", columns), |b| {
            let opened = || {
                let segment = in_memory(&bytes);
                value(&segment, &name);
                segment
            };
            b.iter_batched_ref(opened, |segment| value(segment, &another), BatchSize::SmallInput);
        });
    }
    group.finish();
}

fn ids(c: &mut Bench) {
    const IDS: u32 = 1_000_000;
    let ids = docvalues_benches::docs().min(IDS);
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("ids.dv");
    let kind = IdKind::Uuid;
    let mut group = c.benchmark_group("open-ids");
    for form in IdForm::ALL {
        let mut schema = Schema::new();
        let id = schema.add(FieldSpec::new("_id", LogicalType::Utf8)).expect("the first one");
        let mut writer =
            SegmentWriter::create(&path, schema, WriterOptions::default()).expect("a file can be written");
        writer.id_field(id, IdOptions::new().form(form)).expect("a column of strings");
        for i in 0..ids {
            let mut document = writer.document();
            document.str(id, &kind.id(i)).expect("text");
            document.finish().expect("memory does not fail");
        }
        writer.finish().expect("a file can be written");
        let found = mapped(&path).ids().expect("good bytes").expect("an index").find(kind.id(7).as_bytes());
        assert_eq!(found.expect("good bytes"), Some(DocId::new(7)));
        group.bench_function(BenchmarkId::new(form.name(), ids), |b| {
            b.iter(|| mapped(&path).ids().expect("good bytes").expect("an index").len());
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = open, ids }
criterion_main!(benches);
