use std::fs;
use std::path::Path;

use super::*;
use crate::buffered_file::BUFFER;
use crate::{AtomicFile, Faults};

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

/// Fails in one step, with as many calls of it before as are to work.
struct Fails(Step, usize);

impl Faults for Fails {
    fn before(&mut self, step: Step, bytes: usize) -> io::Result<usize> {
        match step == self.0 {
            true if self.1 == 0 => Err(io::ErrorKind::StorageFull.into()),
            true => {
                self.1 -= 1;
                // Half a write is none that fails.
                Ok(bytes.div_ceil(2))
            }
            false => Ok(bytes),
        }
    }
}

#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    for (step, calls) in [(Step::Create, 2), (Step::Write, 0), (Step::Write, 5), (Step::Read, 0)] {
        let file = AtomicFile::create_with_faults(&path, Fails(step, calls)).unwrap();
        let spill = file.spill();
        let all = spill.append(&[1; 4 * BUFFER]).and_then(|at| spill.read(at, &mut [0; 10]));
        let error = all.unwrap_err();
        assert_eq!(error.step(), step);
        assert_eq!(error.path(), folder.path().join(".a.dv.spill"));
        assert!(error.to_string().contains("/.a.dv.spill\": "), "{error}");
        drop((spill, file));
        assert!(names(folder.path()).is_empty());
    }
}

/// Goes wrong in one step once, after as many calls of it as are to work.
struct Once(Step, usize, fn(usize) -> io::Result<usize>);

impl Faults for Once {
    fn before(&mut self, step: Step, bytes: usize) -> io::Result<usize> {
        if step != self.0 {
            return Ok(bytes);
        }
        self.1 = self.1.wrapping_sub(1);
        if self.1 == usize::MAX { (self.2)(bytes) } else { Ok(bytes) }
    }
}

#[test]
fn refused_bytes_can_be_appended_again() {
    let folder = tempfile::tempdir().unwrap();
    for (step, calls) in [(Step::Create, 2), (Step::Write, 0), (Step::Write, 1), (Step::Write, 2)] {
        let fails = Once(step, calls, |_| Err(io::ErrorKind::StorageFull.into()));
        let file = AtomicFile::create_with_faults(folder.path().join("a.dv"), fails).unwrap();
        let (spill, all) = (file.spill(), [[1; 2 * BUFFER], [2; 2 * BUFFER]]);
        let mut refused = 0;
        for (i, bytes) in all.iter().enumerate() {
            let appended = spill.append(bytes).or_else(|_| {
                refused += 1;
                spill.append(bytes)
            });
            assert_eq!(appended.unwrap(), (i * 2 * BUFFER) as u64, "no room is lost");
        }
        assert_eq!(refused, 1, "{step:?} {calls}");
        let mut read = vec![0; 4 * BUFFER];
        spill.read(0, &mut read).unwrap();
        assert!(read == all.as_flattened());
    }
}

#[test]
fn partial_calls_are_continued() {
    let folder = tempfile::tempdir().unwrap();
    for step in [Step::Write, Step::Read] {
        for fault in [|_| Err(io::ErrorKind::Interrupted.into()), |bytes| Ok(bytes / 3)] {
            let file =
                AtomicFile::create_with_faults(folder.path().join("a.dv"), Once(step, 1, fault)).unwrap();
            let (spill, bytes) = (file.spill(), (0..=255).cycle().take(4 * BUFFER).collect::<Vec<u8>>());
            let mut read = vec![0; 4 * BUFFER];
            spill.append(&bytes).unwrap();
            spill.read(0, &mut read).unwrap();
            assert!(read == bytes, "{step:?}");
        }
    }
}

/// As on systems where an open file has to have one.
#[test]
fn a_named_file_is_removed_on_drop() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    let fails = Once(Step::Remove, 1, |_| Err(io::ErrorKind::PermissionDenied.into()));
    let file = AtomicFile::create_with_faults(&path, fails).unwrap();
    let (spill, same) = (file.spill(), file.spill());
    spill.append(b"some").unwrap();
    assert!(names(folder.path()).contains(&".a.dv.spill".to_owned()));
    let mut read = [0; 4];
    same.read(0, &mut read).unwrap();
    assert_eq!(&read, b"some");
    drop((spill, same, file));
    assert!(names(folder.path()).is_empty());
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
