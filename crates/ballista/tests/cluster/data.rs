//! The tables of the tests of both clusters: segment files, and a store with deletes and updates.

use std::path::{Path, PathBuf};

use docvalues::prelude::*;
use docvalues::search::Query;
use docvalues::store::{Store, StoreOptions, StoreSchema};
use docvalues::{Field, Kind};

use crate::{DOCS, FILES, SEGMENT, STORED};

/// Segment files with a column of each kind; every seventh document has no price.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let file = |file: u32| {
        let mut schema = Schema::new();
        let number = schema.add(FieldSpec::new("number", LogicalType::I64)).unwrap();
        let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
        let price = schema.add(FieldSpec::new("price", LogicalType::F64)).unwrap();
        let host = schema.add(FieldSpec::new("host", LogicalType::Utf8)).unwrap();
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        for i in file * DOCS..(file + 1) * DOCS {
            let mut doc = writer.document();
            doc.i64(number, i.into()).unwrap().i64(size, i64::from(i) * 7_919 % 1_000).unwrap();
            doc.str(host, &format!("host-{}", i % 17)).unwrap();
            if i % 7 != 0 {
                doc.f64(price, f64::from(i % 64) / 8.0).unwrap();
            }
            doc.finish().unwrap();
        }
        let path = folder.join(format!("{file:02}.dv"));
        std::fs::write(&path, writer.finish_bytes().unwrap()).unwrap();
        path
    };
    (0..FILES).map(file).collect()
}

/// A store whose last commit has segments, deletes and updates.
pub(crate) fn store(folder: &Path) -> Store {
    let schema = StoreSchema::new()
        .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))
        .and_then(|schema| schema.with_field(Field::new("number", Kind::Numeric, LogicalType::I64)))
        .and_then(|schema| schema.with_field(Field::new("size", Kind::Numeric, LogicalType::I64)))
        .and_then(|schema| schema.with_id_field("id"))
        .unwrap();
    let store = Store::create(folder, schema, StoreOptions::default()).unwrap();
    for first in (0..STORED).step_by(SEGMENT as usize) {
        let mut segment = store.new_segment().unwrap();
        let fields = ["id", "number", "size"].map(|name| segment.field(name).unwrap());
        for number in first..first + SEGMENT {
            let mut doc = segment.document();
            doc.str(fields[0], &number.to_string()).unwrap().i64(fields[1], number.into()).unwrap();
            doc.i64(fields[2], i64::from(number % 1_000)).unwrap();
            doc.finish().unwrap();
        }
        segment.finish().unwrap();
    }
    store.commit().unwrap();
    change(&store, 3);
    store
}

/// Deletes the documents of one size, and gives others a new one.
pub(crate) fn change(store: &Store, size: i64) {
    assert!(store.delete_where(&Query::eq("size", size)).unwrap() > 0);
    let mut batch = store.batch().unwrap();
    let field = batch.field("size").unwrap();
    let mut doc = batch.update();
    doc.i64(field, 100_000 + size).unwrap();
    doc.finish().unwrap();
    assert!(store.update_where(&Query::eq("size", size + 1), batch).unwrap() > 0);
    store.commit().unwrap();
}
