//! Plain columns: what is put in is read, appended and encoded as a segment of the same documents.

use std::sync::Arc;

use docvalues::column::{PlainColumns, PlainSource};
use docvalues::{Field, SegmentWriter, WriterOptions};
use docvalues_testkit::conformance::check_source;
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::MemSource;
use docvalues_testkit::shapes::{self, Dataset};
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, EVERY_KIND, add_batches, add_documents, by_document, schema};

/// The documents, added one by one or in batches.
fn plain(dataset: &Dataset, in_batches: bool) -> PlainColumns {
    let (schema, fields) = schema(dataset, &COMPRESSIONS);
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    match in_batches {
        true => add_batches(&mut writer, &fields, dataset, 1_000),
        false => add_documents(&mut writer, &fields, dataset),
    }
    writer.into_plain().unwrap()
}

/// The documents from `start` up to `end`.
fn slice(dataset: &Dataset, start: u32, end: u32) -> Dataset {
    let columns = dataset.columns.iter().map(|(field, column)| (field.clone(), column.slice(start, end)));
    Dataset { docs: end - start, columns: columns.collect() }
}

/// Reads and writes the documents, added in three ways: one by one, in batches, and in two parts.
fn check(dataset: &Dataset, cut: u32) {
    let fields: Vec<Field> = dataset.columns.iter().map(|(field, _)| field.clone()).collect();
    let mut parts = plain(&slice(dataset, 0, cut), true);
    parts.append(&plain(&slice(dataset, cut, dataset.docs), false));
    // A field that no document has is not there.
    let columns = dataset.columns.iter().filter(|(_, column)| column.has_values());
    let model = MemSource::new(dataset.docs, columns.cloned());
    let written = by_document(dataset, &COMPRESSIONS, WriterOptions::default());
    for docs in [plain(dataset, false), plain(dataset, true), parts] {
        let source = PlainSource::new(Arc::new(docs.clone()), fields.clone().into());
        check_source(&source, &model);
        let (schema, _) = schema(dataset, &COMPRESSIONS);
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        writer.append_plain(&docs).unwrap();
        assert!(writer.finish_bytes().unwrap() == written);
    }
}

/// A part of the small shapes, or all in the full sweep.
#[test]
fn plain_columns_of_every_shape_are_read_and_written() {
    for shape in shapes::small().into_iter().step_by(cases(7, 1)) {
        check(&Dataset::of_shapes(shape.docs, [shape]), shape.docs / 3);
    }
    if cases(false, true) {
        check(&EVERY_KIND.0, 65);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(16, 64)))]

    #[test]
    fn plain_columns_are_read_and_written(dataset in shapes::any_dataset(4), cut in any::<u32>()) {
        check(&dataset, cut % (dataset.docs + 1));
    }
}
