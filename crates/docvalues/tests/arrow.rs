//! Exported record batches, written again, give the same segment.
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "a failing helper is a failing test"
)]

#[path = "it/write.rs"]
#[expect(dead_code, reason = "the other tests want all of it")]
mod write;

use docvalues::search::arrow::StringLayout;
use docvalues::search::{Docs, Search};
use docvalues::writer::Compression;
use docvalues::writer::arrow::field_specs;
use docvalues::{
    BytesKind, ColumnSource, FieldSpec, Kind, OpenOptions, Schema, Segment, SegmentWriter, WriterOptions,
};
use docvalues_testkit::damage::cases;
use docvalues_testkit::shapes::{self, Dataset};

/// The field of an exported column, with what Arrow does not record: the kind of byte strings, and the spelling.
fn as_it_was(spec: FieldSpec, segment: &Segment) -> FieldSpec {
    let column = segment.column(spec.name()).unwrap();
    let field = &column.info().field;
    let spec = match field.kind {
        Kind::Sorted => spec.kind(BytesKind::Sorted),
        Kind::Binary => spec.kind(BytesKind::Binary),
        _ => spec,
    };
    field.format.iter().fold(spec, |spec, format| spec.format(format))
}

#[test]
fn exported_batches_give_the_same_segment() {
    let Dataset { docs, columns } = shapes::small_of_every_kind();
    for (turn, layout) in
        [StringLayout::Offsets, StringLayout::Views, StringLayout::Dictionary].into_iter().enumerate()
    {
        // Columns take turns, but for the full sweep.
        let some = columns.iter().skip(cases(turn, 0)).step_by(cases(3, 1)).cloned();
        let dataset = Dataset { docs, columns: some.collect() };
        let file = write::in_batches(&dataset, 10_000, &[Compression::Auto], WriterOptions::default());
        let segment = Segment::from_bytes(file.clone(), OpenOptions::new()).unwrap();
        let names: Vec<String> = dataset.columns.iter().map(|(field, _)| field.name.clone()).collect();
        let batches = Search::new(&segment).export(Docs::All, &names).unwrap().batches();
        let batches = batches.strings_as(layout);
        let mut writer = None;
        for batch in batches {
            let batch = batch.unwrap();
            let writer = writer.get_or_insert_with(|| {
                let mut schema = Schema::new();
                for spec in field_specs(&batch.schema()).unwrap() {
                    schema.add(as_it_was(spec, &segment)).unwrap();
                }
                SegmentWriter::in_memory(schema, WriterOptions::default())
            });
            writer.append(&batch).unwrap();
        }
        let again = writer.unwrap().finish_bytes().unwrap();
        assert!(again == file, "{layout:?}");
    }
}

/// Record batches are applied to a store as documents are.
#[cfg(feature = "store")]
#[test]
fn exported_batches_are_applied_to_a_store() {
    use docvalues::store::{Store, StoreOptions, StoreSchema};

    let dataset = shapes::small_of_every_kind();
    let file = write::in_batches(&dataset, 10_000, &[Compression::Auto], WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let names: Vec<String> = dataset.columns.iter().map(|(field, _)| field.name.clone()).collect();
    let fields = dataset.columns.iter().map(|(field, _)| field.clone());
    let schema = fields.fold(StoreSchema::new(), |schema, field| schema.with_field(field).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("a"), schema, StoreOptions::default()).unwrap();
    for batch in Search::new(&segment).export(Docs::All, &names).unwrap().batches() {
        let mut documents = store.batch().unwrap();
        documents.upsert_record_batch(&batch.unwrap()).unwrap();
        store.apply(documents).unwrap();
    }
    store.commit().unwrap();
    let snapshot = store.snapshot();
    assert_eq!((snapshot.docs(), snapshot.segments().len()), (u64::from(dataset.docs), 1));
    let written = snapshot.segments().next().unwrap();
    docvalues_testkit::conformance::check_source(written.segment, &dataset.source());
}
