//! The file: whole under its name, or nothing.

use super::*;
use crate::{Merger, NewFile};
use docvalues_storage::{Directory, FsDirectory, Step};
use docvalues_testkit::faults::faulty_file;
use std::io;
use std::path::Path;
use std::sync::Arc;

fn specs() -> [FieldSpec; 3] {
    [
        FieldSpec::new("number", LogicalType::I64),
        FieldSpec::new("tags", LogicalType::Utf8).multi_valued(),
        FieldSpec::new("text", LogicalType::Utf8),
    ]
}

fn fill<T>(writer: &mut SegmentWriter<T>, [number, tags, text]: [FieldId; 3]) {
    for i in 0..20_000_i64 {
        let mut doc = writer.document();
        doc.i64(number, i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed())).unwrap();
        doc.str(tags, &format!("tag {}", i % 100)).unwrap().str(text, &format!("text {i}")).unwrap();
        doc.finish().unwrap();
    }
}

fn listing(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_has_the_bytes_that_memory_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hits.dv");
    let (schema_a, ids) = schema(specs());
    let mut writer = SegmentWriter::create(&path, schema_a, WriterOptions::default()).unwrap();
    fill(&mut writer, ids);
    assert_eq!(listing(folder.path()), [".hits.dv.tmp"], "nothing under the name before the end");
    let summary = writer.finish().unwrap();
    assert_eq!(listing(folder.path()), ["hits.dv"]);

    let (schema_b, ids) = schema(specs());
    let mut writer = in_memory(schema_b);
    fill(&mut writer, ids);
    let (bytes, expected) = writer.finish().unwrap();
    assert!(std::fs::read(&path).unwrap() == bytes);
    assert_eq!(summary, expected);
}

#[test]
fn a_new_file_has_the_bytes_that_memory_has() {
    let folder = tempfile::tempdir().unwrap();
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::new(folder.path()));
    let create = |name| NewFile::create(Arc::clone(&directory), name).unwrap();
    let (schema_a, ids) = schema(specs());
    let mut writer = SegmentWriter::to_new_file(create("a.dv"), None, schema_a, WriterOptions::default());
    fill(&mut writer, ids);
    let summary = writer.finish().unwrap();
    assert_eq!(listing(folder.path()), ["a.dv"]);

    let (schema_b, ids) = schema(specs());
    let mut writer = in_memory(schema_b);
    fill(&mut writer, ids);
    let (bytes, expected) = writer.finish().unwrap();
    assert!(std::fs::read(folder.path().join("a.dv")).unwrap() == bytes);
    assert_eq!(summary, expected);

    let merger = || Merger::new(WriterOptions::default());
    let merged = merger().finish_into(create("b.dv"), None).unwrap();
    let (bytes, expected) = merger().finish_bytes().unwrap();
    assert!(std::fs::read(folder.path().join("b.dv")).unwrap() == bytes);
    assert_eq!(merged, expected);
}

#[test]
fn a_folder_that_is_not_there_fails_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, _) = schema(specs());
    let path = folder.path().join("missing").join("hits.dv");
    let error = SegmentWriter::create(path, schema, WriterOptions::default()).unwrap_err();
    let ErrorKind::Storage(inner) = error.kind() else { panic!("{error}") };
    assert_eq!(inner.step(), Step::Create);
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.is::<io::Error>(), "{source}: the cause is said once");
}

#[test]
fn a_writer_that_is_dropped_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hits.dv");
    std::fs::write(&path, "old").unwrap();
    let (schema, ids) = schema(specs());
    let mut writer = SegmentWriter::create(&path, schema, WriterOptions::default()).unwrap();
    fill(&mut writer, ids);
    drop(writer);
    assert_eq!(listing(folder.path()), ["hits.dv"]);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
}

#[test]
fn whatever_call_fails_the_name_holds_what_it_held() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hits.dv");
    let (schema, ids) = schema(specs());
    // One build of values, written over and over: encoding gives the same bytes each time.
    let mut calls = 0;
    let mut of_fields = std::collections::BTreeSet::new();
    loop {
        std::fs::write(&path, "old").unwrap();
        let mut left = calls;
        // Removals pass, so that what remains is what nobody removed.
        let file = faulty_file(&path, move |step, bytes| {
            if step != Step::Remove {
                left = usize::checked_sub(left, 1).ok_or(io::ErrorKind::StorageFull)?;
            }
            Ok(bytes)
        });
        let done = file.map_err(crate::Error::from).and_then(|file| {
            let mut writer = SegmentWriter::to_file(file, schema.clone(), WriterOptions::default());
            fill(&mut writer, ids);
            Ok(writer.finish()?)
        });
        let Err(error) = done else { break };
        let ErrorKind::Storage(inner) = error.kind() else { panic!("{error}") };
        assert_eq!(inner.io_error().kind(), io::ErrorKind::StorageFull);
        assert_eq!(listing(folder.path()), ["hits.dv"], "after call {calls}");
        let published = inner.step() == Step::SyncFolder;
        assert_eq!(std::fs::read(&path).unwrap() == b"old", !published, "after call {calls}");
        of_fields.extend(error.field().map(str::to_owned));
        calls += 1;
    }
    // Open and lock, some writes, sync, rename, sync of the folder.
    assert!(calls > 7, "{calls} calls failed");
    assert!(!of_fields.is_empty(), "a full disk is said of the field that was written");
}
