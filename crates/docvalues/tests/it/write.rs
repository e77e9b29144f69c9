//! A data set of `testkit`, written.

use docvalues::{BytesKind, Compression, FieldId, FieldSpec, Kind, Schema, SegmentWriter, WriterOptions};
use docvalues_fuzz::{give, give_batch};
use docvalues_testkit::shapes::Dataset;

/// Every way in which byte strings are compressed.
pub(crate) const COMPRESSIONS: [Compression; 4] =
    [Compression::Block, Compression::Fsst, Compression::None, Compression::Auto];

/// The columns' fields, compressed in these ways in turn.
pub(crate) fn schema(dataset: &Dataset, compressions: &[Compression]) -> (Schema, Vec<FieldId>) {
    let mut schema = Schema::new();
    let fields = dataset.columns.iter().enumerate().map(|(i, (field, _))| {
        let compression = compressions[i % compressions.len()];
        let spec = FieldSpec::new(&field.name, field.logical).compression(compression);
        let spec = match field.kind {
            Kind::Numeric => spec,
            Kind::Binary => spec.kind(BytesKind::Binary),
            Kind::Sorted => spec.kind(BytesKind::Sorted),
            Kind::SortedNumeric | Kind::SortedSet => spec.multi_valued(),
        };
        let spec = match &field.format {
            Some(format) => spec.format(format),
            None => spec,
        };
        schema.add(spec).unwrap()
    });
    let fields = fields.collect();
    (schema, fields)
}

/// The file of `dataset`, written document by document.
pub(crate) fn by_document(
    dataset: &Dataset,
    compressions: &[Compression],
    options: WriterOptions,
) -> Vec<u8> {
    let (schema, fields) = schema(dataset, compressions);
    let mut writer = SegmentWriter::in_memory(schema, options);
    add_documents(&mut writer, &fields, dataset);
    writer.finish_bytes().unwrap()
}

/// Adds all documents one by one.
pub(crate) fn add_documents<T>(writer: &mut SegmentWriter<T>, fields: &[FieldId], dataset: &Dataset) {
    for doc in 0..dataset.docs {
        let mut document = writer.document();
        for ((_, column), &field) in dataset.columns.iter().zip(fields) {
            give(&mut document, field, column, doc).unwrap();
        }
        document.finish().unwrap();
    }
}

/// The file of `dataset`, written in batches of `size` documents.
pub(crate) fn in_batches(
    dataset: &Dataset,
    size: u32,
    compressions: &[Compression],
    options: WriterOptions,
) -> Vec<u8> {
    let (schema, fields) = schema(dataset, compressions);
    let mut writer = SegmentWriter::in_memory(schema, options);
    add_batches(&mut writer, &fields, dataset, size);
    writer.finish_bytes().unwrap()
}

/// Adds all documents in batches.
pub(crate) fn add_batches<T>(
    writer: &mut SegmentWriter<T>,
    fields: &[FieldId],
    dataset: &Dataset,
    size: u32,
) {
    for docs in dataset.batches(size) {
        let mut batch = writer.batch(docs.len() as u32).unwrap();
        for ((_, column), &field) in dataset.columns.iter().zip(fields) {
            give_batch(&mut batch, field, column, docs.clone()).unwrap();
        }
        batch.finish();
    }
}
