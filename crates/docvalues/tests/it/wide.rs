//! A segment with 65,000 columns: opening it and reading one value touches few bytes.

use std::time::Instant;

use docvalues::prelude::*;

#[test]
fn one_value_of_65_000_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.dv");
    let mut schema = Schema::new();
    let fields: Vec<_> = (0..65_000)
        .map(|i| schema.add(FieldSpec::new(format!("field {i:05}"), LogicalType::I64)).unwrap())
        .collect();
    let mut writer = SegmentWriter::create(&path, schema, WriterOptions::default()).unwrap();
    for doc in 0..3 {
        let mut document = writer.document();
        for (i, &field) in fields.iter().enumerate() {
            document.i64(field, i as i64 * 1_000 + doc).unwrap();
        }
        document.finish().unwrap();
    }
    let summary = writer.finish().unwrap();

    let start = Instant::now();
    let segment = Segment::open(&path).unwrap();
    let column = segment.numeric("field 41234").unwrap();
    let value = column.get(DocId::new(2)).unwrap();
    let elapsed = start.elapsed();

    assert_eq!(value, Some(41_234_002));
    let touched = segment.bytes_touched();
    println!(
        "65,000 columns, {} bytes: opened and one value read in {elapsed:?}, {touched} bytes touched",
        summary.bytes
    );
    // The test counts bytes instead of time. The root takes 32 bytes per page.
    assert!(touched < summary.bytes / 50, "{touched} of {} bytes", summary.bytes);
}
