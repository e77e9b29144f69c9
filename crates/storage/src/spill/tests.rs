use std::path::Path;

use super::*;
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
fn nothing_is_made_before_there_are_bytes() {
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
    for (step, calls) in [(Step::Create, 1), (Step::Write, 0), (Step::Write, 5), (Step::Read, 0)] {
        let file = AtomicFile::create_with_faults(&path, Fails(step, calls)).unwrap();
        let spill = file.spill();
        let all = spill.append(&[1; 4 * BUFFER]).and_then(|at| spill.read(at, &mut [0; 10]));
        let error = all.unwrap_err();
        assert_eq!(error.step(), step);
        assert_eq!(error.path(), folder.path().join(".a.dv.spill"));
        assert!(error.to_string().contains("/.a.dv.spill`: "), "{error}");
        drop((spill, file));
        assert!(names(folder.path()).is_empty());
    }
}
