use std::fs;
use std::path::Path;

use super::*;
use crate::AtomicFile;
use crate::buffered_file::BUFFER;

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn bytes_come_back_from_a_file_without_a_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".a.dv.spill"), "of a build that was killed").unwrap();
    let file = AtomicFile::create(folder.path().join("a.dv")).unwrap();
    let (spill, same) = (file.spill(), file.spill());
    let mut bytes = [0; 3];
    let error = spill.read(0, &mut bytes).unwrap_err();
    assert_eq!(error.step(), Step::Read);
    assert_eq!(spill.append(b"first").unwrap(), 0);
    assert_eq!(same.append(&[7; 3 * BUFFER]).unwrap(), 5);
    assert_eq!(spill.append(b"last").unwrap(), 5 + 3 * BUFFER as u64);
    spill.read(2, &mut bytes).unwrap();
    assert_eq!(&bytes, b"rst");
    same.read(5 + 3 * BUFFER as u64 + 1, &mut bytes).unwrap();
    assert_eq!(&bytes, b"ast");
    same.read(5 + 3 * BUFFER as u64 + 2, &mut bytes).unwrap_err();
    #[cfg(unix)]
    assert_eq!(names(folder.path()), [".a.dv.tmp"]);
    drop((spill, same));
    file.commit().unwrap();
    assert_eq!(names(folder.path()), ["a.dv"]);
}

#[test]
fn no_file_before_the_first_append() {
    let folder = tempfile::tempdir().unwrap();
    let file = AtomicFile::create(folder.path().join("a.dv")).unwrap();
    let _spill = file.spill();
    fs::write(folder.path().join(".b.dv.spill"), "of a build that was killed").unwrap();
    drop(AtomicFile::create(folder.path().join("b.dv")).unwrap());
    assert_eq!(names(folder.path()), [".a.dv.tmp"]);
}

/// What has the name is removed, be it a link; what it points to is not touched.
#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_file_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (victim, place) = (folder.path().join("victim"), folder.path().join(".a.dv.spill"));
    fs::write(&victim, "precious").unwrap();
    let link = || std::os::unix::fs::symlink(&victim, &place).unwrap();
    link();
    let file = AtomicFile::create(folder.path().join("a.dv")).unwrap();
    assert!(!place.is_symlink());
    link();
    let error = file.spill().append(b"bytes").unwrap_err();
    assert_eq!((error.step(), error.io_error().kind()), (Step::Create, io::ErrorKind::AlreadyExists));
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}
