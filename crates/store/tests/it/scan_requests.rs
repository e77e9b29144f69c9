//! Datasets: opened as they were, or refused.

use std::path::Path;

use docvalues_search::{Query, Search};
use docvalues_store::{Dataset, Error, ScanRequest, Store, StoreOptions};

use crate::fixture::{add, id, schema};

/// A store of 100 documents in two segments.
fn store(path: &Path, options: StoreOptions) -> Store {
    let store = Store::create(path, schema(), options).unwrap();
    for first in [0, 50] {
        let docs: Vec<_> = (first..first + 50).map(|number| (number, i64::from(number))).collect();
        add(&store, &docs).unwrap();
    }
    store.commit().unwrap();
    store
}

fn count(dataset: &Dataset, query: &str) -> u64 {
    Search::over(&dataset.open().unwrap()).count(&Query::parse(query).unwrap()).unwrap()
}

/// The dataset after a journey as bytes.
fn sent(dataset: &Dataset) -> Dataset {
    let (columns, query) = (Vec::new(), Query::All);
    let request = ScanRequest { dataset: dataset.clone(), columns, query, limit: None, partitions: 1 };
    ScanRequest::decode(&request.encode().unwrap()).unwrap().dataset
}

/// The segment files of a store, in order.
fn segments(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_segment =
        |path: &std::path::PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("seg-");
    let mut files: Vec<_> = entries.filter(is_segment).collect();
    files.sort();
    files
}

#[test]
fn a_commit_is_opened_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().keep_commits(docvalues_store::KeepCommits::Newest(2));
    let store = store(folder.path(), options);
    let before = Dataset::of_store(folder.path()).unwrap();
    store.delete_ids((0..10).map(id)).unwrap();
    store.commit().unwrap();
    let after = Dataset::of_store(folder.path()).unwrap();
    assert_eq!(sent(&before), before);
    assert_eq!((count(&before, "true"), count(&sent(&after), "true")), (100, 90));
    assert_eq!((count(&before, "size < 20"), count(&after, "size < 20")), (20, 10));
    assert_eq!(Dataset::of_commit(folder.path(), 2).unwrap(), before);
    let name = before.to_string();
    assert!(name.starts_with("commit 2 of ") && name.ends_with(folder.path().to_str().unwrap()), "{name}");
}

#[test]
fn a_commit_that_is_gone_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path(), StoreOptions::default());
    let dataset = Dataset::of_store(folder.path()).unwrap();
    store.delete_ids([id(0)]).unwrap();
    store.commit().unwrap();
    let error = dataset.open().err().unwrap();
    assert!(matches!(error, Error::NoCommit { commit: 2, .. }), "{error}");
    assert!(error.to_string().contains(folder.path().to_str().unwrap()), "{error}");
    drop(store);
    std::fs::remove_dir_all(folder.path()).unwrap();
    assert!(dataset.open().is_err() && Dataset::of_store(folder.path()).is_err());
}

/// A commit of the same number and the same documents.
#[test]
fn a_store_that_was_replaced_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    drop(store(folder.path(), StoreOptions::default()));
    let dataset = Dataset::of_store(folder.path()).unwrap();
    assert_eq!(count(&dataset, "true"), 100);
    std::fs::remove_dir_all(folder.path()).unwrap();
    drop(store(folder.path(), StoreOptions::default()));
    let error = dataset.open().err().unwrap().to_string();
    assert!(error.contains("commit-00000002: expected a commit of store "), "{error}");
}

/// A commit of the same number of the same store, with other changes.
#[test]
fn another_history_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    drop(store(&one, StoreOptions::default()));
    std::fs::create_dir(&other).unwrap();
    for entry in std::fs::read_dir(&one).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, other.join(path.file_name().unwrap())).unwrap();
    }
    let change = |path: &Path, number| {
        let store = Store::open(path, StoreOptions::default()).unwrap();
        store.delete_ids([id(number)]).unwrap();
        store.commit().unwrap();
    };
    change(&one, 1);
    change(&other, 2);
    let dataset = Dataset::of_store(&one).unwrap();
    std::fs::remove_dir_all(&one).unwrap();
    std::fs::rename(&other, &one).unwrap();
    let error = dataset.open().err().unwrap().to_string();
    assert!(error.contains("commit-00000003: expected a commit with the hash "), "{error}");
}

#[test]
fn files_are_opened_in_order() {
    let folder = tempfile::tempdir().unwrap();
    drop(store(folder.path(), StoreOptions::default()));
    let mut files = segments(folder.path());
    files.reverse();
    let dataset = Dataset::of_files(&files).unwrap();
    assert_eq!(sent(&dataset), dataset);
    assert_eq!(count(&sent(&dataset), "size >= 30"), 70);
    let parts = dataset.open().unwrap();
    assert_eq!((parts.len(), parts.docs()), (2, 100));
    assert!(dataset.to_string().starts_with("2 files from "));
    let none: [&Path; 0] = [];
    assert!(Dataset::of_files(none).is_err());
}

#[test]
fn a_file_that_was_replaced_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    drop(store(folder.path(), StoreOptions::default()));
    let files = segments(folder.path());
    let dataset = Dataset::of_files(&files).unwrap();
    let bytes = std::fs::read(&files[1]).unwrap();
    let refused = |expected: &str| {
        let error = dataset.open().err().unwrap().to_string();
        assert!(error.contains(files[1].to_str().unwrap()) && error.contains(expected), "{error}");
    };
    let other = std::fs::read(&files[0]).unwrap();
    assert_eq!(other.len(), bytes.len(), "of the same length, so that only the content differs");
    std::fs::write(&files[1], &other).unwrap();
    refused("expected the content ");
    std::fs::write(&files[1], &bytes[..bytes.len() - 1]).unwrap();
    refused("");
    std::fs::remove_file(&files[1]).unwrap();
    refused("");
    std::fs::write(&files[1], &bytes).unwrap();
    assert_eq!(count(&dataset, "true"), 100);
}
