//! Requests that a store cannot fulfil, files that do not agree, and disks that fail.

use std::sync::Arc;

use docvalues_column::{DocAddress, DocId, LogicalType};
use docvalues_store::{Error, Store, StoreOptions, StoreReader, StoreSchema};
use docvalues_testkit::faults::PowerLossDirectory;
use docvalues_writer::{FieldSpec, Schema, SegmentWriter, WriterOptions};

use crate::fixture::{add, contents, id, schema};

#[test]
fn older_commits_are_read_as_long_as_they_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().keep_commits(docvalues_store::KeepCommits::Newest(3));
    let store = Store::create(folder.path(), schema(), options).unwrap();
    for number in 0..5_u32 {
        add(&store, &[(number, i64::from(number))]).unwrap();
        store.merge_to(1).unwrap();
        assert_eq!(store.commit().unwrap(), u64::from(number) + 2);
    }
    let commits = StoreReader::commits(folder.path()).unwrap();
    let found: Vec<_> =
        commits.iter().map(|(number, commit)| (*number, commit.as_ref().unwrap().docs)).collect();
    assert_eq!(found, [(4, 3), (5, 4), (6, 5)]);
    for (commit, docs) in [(4, 3), (5, 4), (6, 5)] {
        let mut reader = StoreReader::open_commit(folder.path(), commit, options.open).unwrap();
        assert_eq!((reader.snapshot().commit(), contents(&reader.snapshot()).len()), (commit, docs));
        assert_eq!(reader.reopen().unwrap(), commit < 6);
        assert_eq!(reader.snapshot().docs(), 5);
    }
    let error = StoreReader::open_commit(folder.path(), 3, options.open).unwrap_err();
    assert!(error.to_string().ends_with("expected one of the commits 4, 5, 6, found commit 3"), "{error}");
    // Without changes there is no new one.
    assert_eq!(store.commit().unwrap(), 6);
}

#[test]
fn documents_of_no_segment_are_not_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    add(&store, &[(1, 1), (2, 2)]).unwrap();
    add(&store, &[(3, 3)]).unwrap();
    let before = store.snapshot();
    let address = |part, doc| DocAddress { part, doc: DocId::new(doc) };
    for unknown in [address(0, 2), address(1, 1), address(2, 0)] {
        let deleted = store.delete(&before, &[address(0, 0), unknown]);
        assert!(matches!(deleted, Err(Error::Request(_))), "{unknown:?}");
    }
    assert_eq!(store.snapshot().docs(), 3, "none of a call that failed");
    assert_eq!(store.delete(&before, &[address(0, 0), address(0, 0)]).unwrap(), 1);
    store.merge_to(1).unwrap();
    assert_eq!(store.delete(&before, &[address(0, 0), address(1, 0)]).unwrap(), 1);
    assert_eq!(store.snapshot().docs(), 1);
}

#[test]
fn stores_without_ids_have_no_look_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("a"), StoreSchema::new(), StoreOptions::default()).unwrap();
    let expected = "expected a store with an id field, found one without";
    assert_eq!(store.snapshot().find(b"a").unwrap_err().to_string(), expected);
    let error = store.delete_ids(["a"]).unwrap_err().to_string();
    assert_eq!(error, format!("operation 0 of the batch: {expected}"));

    // A segment without an index of ids is refused by a store that has one.
    let plain = schema().fields().iter().cloned().try_fold(StoreSchema::new(), StoreSchema::with_field);
    let plain = Store::create(folder.path().join("b"), plain.unwrap(), StoreOptions::default()).unwrap();
    add(&plain, &[(1, 1)]).unwrap();
    let with_ids = Store::create(folder.path().join("c"), schema(), StoreOptions::default()).unwrap();
    let error = with_ids.add_segment(folder.path().join("b/seg-000000.dv")).unwrap_err().to_string();
    assert!(error.ends_with("expected an index of the ids \"id\", found none"), "{error}");
    assert_eq!(with_ids.snapshot().docs(), 0);
}

/// Replaces a text in the newest commit, and makes its checksum right.
fn edit_commit(folder: &std::path::Path, number: u64, from: &str, to: &str) {
    let path = folder.join(format!("commit-{number:08}"));
    let text = std::fs::read_to_string(&path).unwrap();
    let json = text.rsplit_once("crc32").unwrap().0;
    let edited = json.replacen(from, to, 1);
    assert_ne!(edited, json);
    std::fs::write(&path, format!("{edited}crc32 {:08x}\n", crc32fast::hash(edited.as_bytes()))).unwrap();
}

#[test]
fn a_commit_that_disagrees_with_its_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    add(&store, &[(1, 1), (2, 2), (3, 3)]).unwrap();
    store.delete_ids([id(2)]).unwrap();
    let number = store.commit().unwrap();
    drop(store);
    let good = std::fs::read(folder.path().join(format!("commit-{number:08}"))).unwrap();
    let edits = [
        ("\"live\": 2", "\"live\": 3", "expected 3 live documents, found 2"),
        ("\"docs\": 3", "\"docs\": 4", "expected 4 documents, found 3"),
        ("\"bytes\": ", "\"bytes\": 1", "bytes, found"),
        ("\"sequence\": ", "\"sequence\": 999999999999999", "expected counters of at most"),
    ];
    for (from, to, expected) in edits {
        edit_commit(folder.path(), number, from, to);
        for error in [
            StoreReader::open(folder.path(), StoreOptions::default().open).unwrap_err(),
            Store::open(folder.path(), StoreOptions::default()).unwrap_err(),
        ] {
            assert!(error.to_string().contains(expected), "{error}");
        }
        std::fs::write(folder.path().join(format!("commit-{number:08}")), &good).unwrap();
    }
    Store::open(folder.path(), StoreOptions::default()).unwrap();
}

/// A row of a delta: segment, document, and whether it is deleted.
type Row = (i64, Option<i64>, bool);

/// Writes a delta of these rows in place of the only one, and names it in the commit.
fn replace_delta(folder: &std::path::Path, commit: u64, rows: &[Row]) {
    let mut schema = Schema::new();
    let segment = schema.add(FieldSpec::new("_segment", LogicalType::I64)).unwrap();
    let doc_field = schema.add(FieldSpec::new("_doc", LogicalType::I64)).unwrap();
    let deleted = schema.add(FieldSpec::new("_deleted", LogicalType::Bool)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for (number, doc, is_deleted) in rows {
        let mut row = writer.document();
        row.i64(segment, *number).unwrap().bool(deleted, *is_deleted).unwrap();
        if let Some(doc) = doc {
            row.i64(doc_field, *doc).unwrap();
        }
        row.finish().unwrap();
    }
    put_delta(folder, commit, writer);
}

/// Puts these rows in place of the only delta, and names the file in the commit.
pub(crate) fn put_delta(folder: &std::path::Path, commit: u64, writer: SegmentWriter<Vec<u8>>) {
    let (bytes, summary) = writer.finish().unwrap();
    std::fs::write(folder.join("delta-000001.dv"), &bytes).unwrap();
    let path = folder.join(format!("commit-{commit:08}"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(text.rsplit_once("crc32").unwrap().0).unwrap();
    json["deltas"][0]["bytes"] = summary.bytes.into();
    json["deltas"][0]["id"] = format!("{:032x}", summary.id).into();
    let json = json.to_string();
    std::fs::write(&path, format!("{json}crc32 {:08x}\n", crc32fast::hash(json.as_bytes()))).unwrap();
}

#[test]
fn deltas_with_other_rows_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    add(&store, &[(1, 1), (2, 2), (3, 3)]).unwrap();
    store.delete_ids([id(2)]).unwrap();
    let number = store.commit().unwrap();
    drop(store);
    let open = || StoreReader::open(folder.path(), StoreOptions::default().open);
    // That of another segment is ignored.
    replace_delta(folder.path(), number, &[(0, Some(1), true), (7, Some(9), true)]);
    assert_eq!(open().unwrap().snapshot().docs(), 2);
    let refused: [(&[Row], &str); 6] = [
        (&[(0, Some(3), true)], "document 3 of segment 000000, which has 3"),
        (&[(0, Some(-1), true)], "expected the rows of a delta"),
        (&[(0, Some(1), true), (0, Some(1), true)], "expected the rows of a delta"),
        (&[(0, Some(2), true), (0, Some(1), true)], "expected the rows of a delta"),
        (&[(0, None, true), (0, Some(1), true)], "expected the rows of a delta"),
        (&[(0, Some(1), false)], "expected only deleted documents"),
    ];
    for (rows, expected) in refused {
        replace_delta(folder.path(), number, rows);
        let error = open().unwrap_err().to_string();
        assert!(error.contains("delta-000001.dv") && error.contains(expected), "{error}");
    }
}

#[test]
fn after_a_failed_sync_nothing_is_written_any_more() {
    let disk = PowerLossDirectory::new("/disk");
    let open = |disk: &PowerLossDirectory| {
        Store::create_in(Arc::new(disk.clone()), schema(), StoreOptions::default())
    };
    let syncs = {
        let store = open(&disk).unwrap();
        let first = disk.sync_count();
        add(&store, &[(1, 1), (2, 2)]).unwrap();
        store.delete_ids([id(1)]).unwrap();
        store.commit().unwrap();
        first..disk.sync_count()
    };
    assert_eq!(syncs.clone().count(), 5, "segment, delta, folder, commit, folder");
    for failing in syncs {
        let store = open(&PowerLossDirectory::new("/disk").with_failing_sync(failing)).unwrap();
        let done = add(&store, &[(1, 1), (2, 2)])
            .and_then(|()| store.delete_ids([id(1)]).map(drop))
            .and_then(|()| store.commit().map(drop));
        assert!(matches!(done, Err(Error::Storage(_) | Error::Write(_))), "{done:?}");
        assert!(matches!(store.commit(), Err(Error::Poisoned { .. })), "sync {failing}");
        assert!(matches!(store.new_segment(), Err(Error::Poisoned { .. })), "sync {failing}");
    }
}
