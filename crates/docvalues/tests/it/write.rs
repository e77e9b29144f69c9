//! Writes data sets of `testkit`.

use std::sync::LazyLock;

use docvalues::reader::IdForm;
use docvalues::writer::{Compression, IdOptions};
use docvalues::{
    BytesKind, ColumnSource as _, FieldId, FieldSpec, Kind, LogicalType, OpenOptions, Schema, Segment,
    SegmentWriter, WriterOptions,
};
use docvalues_fuzz::{give, give_batch};
use docvalues_testkit::conformance::check_column;
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::{self, Dataset};

/// Every compression of byte strings.
pub(crate) const COMPRESSIONS: [Compression; 4] =
    [Compression::OnPair, Compression::Fsst, Compression::None, Compression::Auto];

/// The small segment with every kind and encoding: its documents, and its bytes. Tests share them.
pub(crate) static EVERY_KIND: LazyLock<(Dataset, Vec<u8>)> = LazyLock::new(|| {
    let dataset = shapes::small_of_every_kind();
    let file = by_document(&dataset, &COMPRESSIONS, WriterOptions::default());
    (dataset, file)
});

/// Checks some columns of a segment of [`EVERY_KIND`], others for each `turn`, or all in the full sweep.
pub(crate) fn check_some(segment: &Segment, turn: usize) {
    let model = EVERY_KIND.0.source();
    for (field, _) in EVERY_KIND.0.columns.iter().skip(cases(turn, 0)).step_by(cases(5, 1)) {
        check_column(&*segment.column(&field.name).unwrap(), &*model.column(&field.name).unwrap());
    }
}

/// The schema of the data set. The compressions take turns.
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

/// The bytes of a segment of `dataset`, written document by document.
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

/// The bytes of a segment of `dataset`, written in batches of `size` documents.
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

/// Small segments with an id index: blocks of any ids, blocks of UUIDs, a trie, an automaton, and values of the column.
pub(crate) fn with_ids() -> [Vec<u8>; 5] {
    let any = |doc: u32| match doc % 4 {
        0 => format!("same beginning {}", doc * 7),
        1 => format!("{:x}", u64::from(doc).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        2 => format!("{doc}.example.org"),
        _ => format!("{doc:03}").repeat(1 + doc as usize % 5),
    };
    let uuid = |doc: u32| format!("{:08x}-0000-4000-8000-{doc:012x}", doc.wrapping_mul(0x9e37_79b9));
    [
        ids_of(IdForm::Blocks, any),
        ids_of(IdForm::Blocks, uuid),
        ids_of(IdForm::Exact, any),
        ids_of(IdForm::Fst, any),
        ids_in_column(),
    ]
}

/// 300 random ids: fewer than 256 would get blocks.
fn ids_in_column() -> Vec<u8> {
    let mut schema = Schema::new();
    let field =
        FieldSpec::new("id", LogicalType::Bytes).kind(BytesKind::Binary).compression(Compression::None);
    let field = schema.add(field).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    writer.id_field(field, IdOptions::new().form(IdForm::Column)).unwrap();
    let mut random = SplitMix64::new(256);
    for _ in 0..300 {
        let mut document = writer.document();
        document.bytes(field, &random.next_u64().to_be_bytes()).unwrap();
        document.finish().unwrap();
    }
    let file = writer.finish_bytes().unwrap();
    let segment = Segment::from_bytes(file.clone(), OpenOptions::new()).unwrap();
    assert_eq!(segment.ids().unwrap().unwrap().form(), IdForm::Column);
    file
}

fn ids_of(form: IdForm, id: impl Fn(u32) -> String) -> Vec<u8> {
    let mut schema = Schema::new();
    let field = schema.add(FieldSpec::new("id", LogicalType::Utf8).kind(BytesKind::Binary)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    writer.id_field(field, IdOptions::new().form(form)).unwrap();
    for doc in 0..250 {
        let mut document = writer.document();
        if doc % 9 > 0 {
            document.str(field, &id(doc)).unwrap();
        }
        document.finish().unwrap();
    }
    writer.finish_bytes().unwrap()
}
