use std::fs;
use std::path::Path;

use super::*;
use crate::buffered_file::BUFFER;
use crate::directory::FsDirectory;

fn directory(folder: &Path) -> Arc<dyn Directory> {
    Arc::new(FsDirectory::new(folder))
}

#[test]
fn all_lengths_of_pieces_are_written_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = NewFile::create(directory(folder.path()), "a").unwrap();
    let mut all = Vec::new();
    for (len, byte) in [10, BUFFER, 3, 3 * BUFFER + 5, BUFFER - 1, 1, 0, BUFFER - 1].into_iter().zip(b'a'..) {
        all.resize(all.len() + len, byte);
        file.append(&vec![byte; len]).unwrap();
        assert_eq!(file.written(), all.len() as u64);
    }
    file.finish().unwrap();
    assert!(fs::read(folder.path().join("a")).unwrap() == all);
}

#[test]
fn an_existing_file_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "older").unwrap();
    let error = NewFile::create(directory(folder.path()), "a").unwrap_err();
    assert_eq!((error.step(), error.path()), (Step::Create, &*path));
    assert_eq!(error.io_error().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"older");
}

#[test]
fn an_unfinished_file_is_removed_on_drop() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = NewFile::create(directory(folder.path()), "a").unwrap();
    file.append(&[1; 3 * BUFFER]).unwrap();
    assert!(folder.path().join("a").exists());
    drop(file);
    assert!(!folder.path().join("a").exists());
}
