//! Documents that are deleted or replaced before their segment is finished leave no trace in it.

use std::collections::HashMap;
use std::io;

use docvalues::writer::{
    AtomicFile, Duplicates, Error as WriteError, ErrorKind as WriteErrorKind, IdOptions, Spill, StorageError,
};
use docvalues::{
    BytesKind, DocId, FieldId, FieldSpec, LiveDocs, LogicalType, Merger, OpenOptions, Segment, SegmentWriter,
    SortKey, WriterOptions,
};
use docvalues_fuzz::give;
use docvalues_testkit::damage::cases;
use docvalues_testkit::shapes::Dataset;
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, EVERY_KIND, schema};

/// A small budget, so that a segment in a file goes through the temporary file; a merge of 15,000 documents takes more than
/// half of it.
const BUDGET: usize = 120_000;

/// A document: the document of the data set whose values it has, and its id.
type Doc = (u32, Option<u16>);

/// The mode of writing: sorted or not, to a file or in memory.
#[derive(Clone, Copy, Debug)]
struct How {
    sorted: bool,
    in_file: bool,
}

/// A writer for documents of `dataset`, with an id index.
fn writer<T>(
    dataset: &Dataset,
    how: How,
    begin: impl FnOnce(docvalues::Schema, WriterOptions) -> SegmentWriter<T>,
) -> (SegmentWriter<T>, FieldId, Vec<FieldId>) {
    let (mut schema, fields) = schema(dataset, &COMPRESSIONS);
    let id = schema.add(FieldSpec::new("the id", LogicalType::Utf8).kind(BytesKind::Binary)).unwrap();
    let budget = if how.in_file { BUDGET } else { 256 << 20 };
    let mut writer = begin(schema, WriterOptions::new().budget(budget));
    writer.id_field(id, IdOptions::new().duplicates(Duplicates::KeepLast)).unwrap();
    if how.sorted {
        writer.sort_by([SortKey::of("the id").descending()]).unwrap();
    }
    (writer, id, fields)
}

fn add<T>(
    writer: &mut SegmentWriter<T>,
    dataset: &Dataset,
    docs: &[Doc],
    id: FieldId,
    fields: &[FieldId],
) -> Result<(), WriteError> {
    for (like, name) in docs {
        let mut document = writer.document();
        for ((_, column), &field) in dataset.columns.iter().zip(fields) {
            give(&mut document, field, column, *like)?;
        }
        if let Some(name) = name {
            document.str(id, &format!("document {name}"))?;
        }
        document.finish()?;
    }
    Ok(())
}

/// The segment of `docs` without those that are `deleted`, and the new id of each document.
fn written(dataset: &Dataset, docs: &[Doc], deleted: &[usize], how: How) -> (Vec<u8>, Vec<(DocId, DocId)>) {
    let mut moved = Vec::new();
    macro_rules! write {
        ($begin:expr) => {{
            let (mut writer, id, fields) = writer(dataset, how, $begin);
            add(&mut writer, dataset, docs, id, &fields).unwrap();
            for (i, &doc) in deleted.iter().enumerate() {
                let first = !deleted[..i].contains(&doc);
                assert_eq!(writer.delete(DocId::new(doc as u32)).unwrap(), first);
            }
            writer.finish_moved(|old, new| moved.push((old, new))).unwrap()
        }};
    }
    if !how.in_file {
        let (file, _) = write!(SegmentWriter::in_memory);
        return (file, moved);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    write!(|schema, options| SegmentWriter::to_file(AtomicFile::create(&path).unwrap(), schema, options));
    (std::fs::read(&path).unwrap(), moved)
}

/// The documents that are left.
fn left(docs: &[Doc], deleted: &[usize]) -> Vec<usize> {
    let mut last = HashMap::new();
    let lives = |at: &usize| !deleted.contains(at);
    last.extend((0..docs.len()).filter(lives).map(|at| (docs[at].1, at)));
    (0..docs.len()).filter(lives).filter(|at| docs[*at].1.is_none() || last[&docs[*at].1] == *at).collect()
}

fn documents() -> impl Strategy<Value = (Vec<Doc>, Vec<usize>)> {
    let id = prop::option::weighted(0.8, prop_oneof![any::<u16>(), 0..9_u16]);
    let docs = |len| prop::collection::vec((0..300_u32, id.clone()), len);
    // From 4,096 documents on, positions are in the temporary file.
    let docs = prop_oneof![
        4 => docs(0..6_usize), 4 => docs(60..70_usize), 4 => docs(200..700_usize), 1 => docs(4_500..5_000_usize)
    ];
    docs.prop_flat_map(|docs| {
        let some = prop::collection::vec(0..docs.len().max(1), 0..if docs.is_empty() { 1 } else { 40 });
        (Just(docs), some)
    })
}

fn how() -> impl Strategy<Value = How> {
    (any::<bool>(), any::<bool>()).prop_map(|(sorted, in_file)| How { sorted, in_file })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24, 48)))]

    #[test]
    fn a_segment_has_only_the_documents_that_are_left((docs, deleted) in documents(), how in how()) {
        let dataset = &EVERY_KIND.0;
        let (file, moved) = written(dataset, &docs, &deleted, how);
        let left = left(&docs, &deleted);
        let docs: Vec<Doc> = left.iter().map(|&at| docs[at]).collect();
        let (expected, places) = written(dataset, &docs, &[], how);
        prop_assert!(file == expected, "{} of the documents are left", docs.len());
        // The same documents, numbered as they were added.
        prop_assert!(moved.iter().map(|(old, _)| old.get() as usize).eq(left));
        prop_assert!(moved.iter().map(|(_, new)| new).eq(places.iter().map(|(_, new)| new)));
    }

    #[test]
    fn a_merge_keeps_the_last_document_of_each_id(
        parts in prop::collection::vec(documents(), 1..4),
        how in how(),
    ) {
        let dataset = &EVERY_KIND.0;
        // Sources with distinct ids, some of them deleted.
        let open = |(docs, deleted): &(Vec<Doc>, Vec<usize>)| {
            let docs: Vec<Doc> = left(docs, &[]).into_iter().map(|at| docs[at]).collect();
            let (file, _) = written(dataset, &docs, &[], How { sorted: false, in_file: false });
            let live: Vec<usize> = (0..docs.len()).filter(|at| !deleted.contains(at)).collect();
            let mut live_docs = LiveDocs::all(docs.len() as u32);
            for &at in deleted {
                live_docs.delete(DocId::new(at as u32));
            }
            let docs: Vec<Doc> = live.into_iter().map(|at| docs[at]).collect();
            (docs, live_docs, Segment::from_bytes(file, OpenOptions::new()).unwrap())
        };
        let parts: Vec<_> = parts.iter().map(open).collect();
        let all: Vec<Doc> = parts.iter().flat_map(|part| part.0.clone()).collect();
        let expected: Vec<Doc> = left(&all, &[]).into_iter().map(|at| all[at]).collect();

        let options = WriterOptions::new().budget(if how.in_file { BUDGET } else { 256 << 20 });
        let mut merger = Merger::new(options);
        let mut moved = 0;
        let ids = IdOptions::new().duplicates(Duplicates::KeepLast);
        merger = merger.id_field("the id", ids).moved(|_, _, _| moved += 1);
        if how.sorted {
            merger = merger.sort_by([SortKey::of("the id").descending()]);
        }
        for (_, live, segment) in &parts {
            merger.add_live("a part", segment, live).unwrap();
        }
        let file = if how.in_file {
            let folder = tempfile::tempdir().unwrap();
            let spill = Spill::in_folder(folder.path());
            let (file, _) = merger.finish_writer(Vec::new(), Some(spill)).unwrap();
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no temporary file is left");
            file
        } else {
            merger.finish_bytes().unwrap().0
        };
        prop_assert_eq!(moved, expected.len());
        let merged = Segment::from_bytes(file, OpenOptions::new()).unwrap();
        let built = written(dataset, &expected, &[], How { in_file: false, ..how }).0;
        let built = Segment::from_bytes(built, OpenOptions::new()).unwrap();
        prop_assert_eq!(merged.docs(), built.docs());
        for field in built.fields().unwrap() {
            use docvalues::ColumnSource as _;
            let [merged, built] = [&merged, &built].map(|segment| segment.column(&field.name).unwrap());
            docvalues_testkit::conformance::check_column(&*merged, &*built);
        }
        merged.verify().unwrap();
    }
}

#[test]
fn a_refused_segment_can_be_finished_without_the_duplicate() {
    let dataset = &EVERY_KIND.0;
    let how = How { sorted: true, in_file: false };
    let docs: Vec<Doc> = (0..200).map(|doc| (doc, Some((doc % 199) as u16))).collect();
    let (mut writer, id, fields) = writer(dataset, how, SegmentWriter::in_memory);
    writer.id_field(id, IdOptions::default()).unwrap();
    add(&mut writer, dataset, &docs, id, &fields).unwrap();
    let refused = writer.finish_bytes().unwrap_err();
    let WriteErrorKind::DuplicateId { docs: both, .. } = refused.kind() else { panic!("{refused}") };
    assert_eq!(*both, [0, 199]);
    let mut writer = refused.into_writer().unwrap();
    assert!(matches!(
        writer.delete(DocId::new(200)).unwrap_err().kind(),
        WriteErrorKind::NoSuchDoc { docs: 200 }
    ));
    writer.delete(DocId::new(0)).unwrap();
    assert!(writer.finish_bytes().unwrap() == written(dataset, &docs, &[0], how).0);
}

/// A stream that fails after some bytes.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stream_gets_the_bytes_of_a_file() {
    let dataset = &EVERY_KIND.0;
    let docs: Vec<Doc> = (0..200).map(|doc| (doc, Some(doc as u16))).collect();
    let how = How { sorted: true, in_file: true };
    let expected = written(dataset, &docs, &[], how).0;
    let folder = tempfile::tempdir().unwrap();
    let streamed = |out: &mut dyn io::Write, spill_limit| {
        let (mut writer, id, fields) = writer(dataset, how, |schema, options| {
            SegmentWriter::to_writer(out, schema, options.spill_limit(spill_limit))
        });
        writer.spill_to(Spill::in_folder(folder.path()));
        add(&mut writer, dataset, &docs, id, &fields)?;
        Ok::<_, WriteError>(writer.finish()?.1)
    };
    let mut bytes = Vec::new();
    let summary = streamed(&mut bytes, u64::MAX).unwrap();
    assert!(bytes == expected);
    assert_eq!(summary.bytes, expected.len() as u64);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no temporary file is left");

    let storage = |error: &WriteError| match error.kind() {
        WriteErrorKind::Storage(error) => (error.io_error().kind(), StorageError::to_string(error)),
        other => panic!("{other}"),
    };
    for room in [0, 63, 64, 5_000, expected.len() - 1] {
        let (kind, message) = storage(&streamed(&mut Full(room), u64::MAX).unwrap_err());
        assert_eq!(kind, io::ErrorKind::BrokenPipe);
        assert!(message.starts_with("cannot write \"<stream>\": "), "{message}");
    }
    streamed(&mut Full(expected.len()), u64::MAX).unwrap();
    let (kind, message) = storage(&streamed(&mut io::sink(), 4_000).unwrap_err());
    assert_eq!(kind, io::ErrorKind::QuotaExceeded);
    assert!(message.ends_with("it would take more than its limit of 4000 bytes"), "{message}");
}
