//! Calls that fail, or transfer a part of the bytes, while a file or its spill is written.
#![expect(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};

use docvalues_storage::{AtomicFile, Result, Step};
use docvalues_testkit::faults::faulty_file;

/// The bytes that are written by one call.
const BUFFER: usize = 1 << 16;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// The names in a folder, and the contents.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn only(name: &str, bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([(name.to_owned(), bytes.to_vec())])
}

/// The fault of a call.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// It fails with this error number.
    Error(i32),
    /// A signal interrupts it.
    Interrupted,
    /// It transfers half of the bytes; half of one byte is none.
    Short,
    /// It transfers no bytes, and returns 0.
    Nothing,
}

/// Injects `fault` into call number `at`, and records all.
fn build_in(path: &Path, at: usize, fault: Fault, calls: &Arc<Mutex<Vec<Step>>>) -> Result<AtomicFile> {
    let calls = Arc::clone(calls);
    faulty_file(path, move |step, bytes| {
        let mut calls = calls.lock().unwrap();
        calls.push(step);
        match fault {
            _ if calls.len() - 1 != at => Ok(bytes),
            Fault::Error(number) => Err(io::Error::from_raw_os_error(number)),
            // The standard library repeats other calls.
            Fault::Interrupted if step == Step::Write => Err(io::ErrorKind::Interrupted.into()),
            Fault::Interrupted => Ok(bytes),
            Fault::Short => Ok(bytes / 2),
            Fault::Nothing => Ok(0),
        }
    })
}

/// Writes pieces of all lengths, together more than the buffer.
fn build(path: &Path, at: usize, fault: Fault, calls: &Arc<Mutex<Vec<Step>>>) -> Result<Vec<u8>> {
    let mut file = build_in(path, at, fault, calls)?;
    let mut all = Vec::new();
    for (len, byte) in [10, BUFFER, 3, 3 * BUFFER + 5, BUFFER - 1, 1].into_iter().zip(b'a'..) {
        all.resize(all.len() + len, byte);
        file.append(&vec![byte; len])?;
    }
    file.commit()?;
    Ok(all)
}

/// Every call of a build, failing once in every way, over an older file and over none.
#[test]
fn any_call_may_fail() {
    let calls = Arc::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    let all = build(&path, usize::MAX, Fault::Short, &calls).unwrap();
    let steps = std::mem::take(&mut *calls.lock().unwrap());
    // Nothing else, and in this order; of writes, as many as there are.
    let (begin, end) = steps.split_at(4);
    assert_eq!(begin, [Step::Create, Step::Lock, Step::Create, Step::Remove]);
    let (writes, end) = end.split_at(end.len() - 3);
    assert!(writes.len() > 3 && writes.iter().all(|&step| step == Step::Write), "{writes:?}");
    assert_eq!(end, [Step::Sync, Step::Rename, Step::SyncFolder]);
    let faults = [Fault::Error(EIO), Fault::Error(ENOSPC), Fault::Interrupted, Fault::Short, Fault::Nothing];
    for (at, &step) in steps.iter().enumerate() {
        for fault in faults {
            for older in [None, Some(&b"older"[..])] {
                let _ = fs::remove_file(&path);
                older.inspect(|bytes| fs::write(&path, bytes).unwrap());
                calls.lock().unwrap().clear();
                let built = build(&path, at, fault, &calls);
                let before = older.map_or_else(BTreeMap::new, |bytes| only("a.dv", bytes));
                let (of, expected) = match (&built, step) {
                    // Half a write is no error; the rest comes after.
                    (Ok(_), _) => (None, only("a.dv", &all)),
                    (Err(error), Step::SyncFolder) => (Some((error, "")), only("a.dv", &all)),
                    (Err(error), Step::Remove) => (Some((error, ".a.dv.spill")), before),
                    // Before there is a temporary file.
                    (Err(error), _) if at == 0 => (Some((error, "a.dv")), before),
                    (Err(error), _) => (Some((error, ".a.dv.tmp")), before),
                };
                if let Some((error, name)) = of {
                    assert_eq!((error.step(), error.path()), (step, &*folder.path().join(name)));
                }
                assert_eq!(contents(folder.path()), expected, "call {at}, {step:?}: {fault:?}");
                let fails = match fault {
                    Fault::Error(_) => true,
                    Fault::Nothing => step == Step::Write,
                    Fault::Interrupted | Fault::Short => false,
                };
                assert_eq!(built.is_err(), fails, "call {at}, {step:?}: {fault:?}");
            }
        }
    }
}

#[test]
fn a_write_that_failed_is_not_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    for fault in [Fault::Error(ENOSPC), Fault::Nothing] {
        let mut file = build_in(&path, 4, fault, &Arc::default()).unwrap();
        file.write_all(&[1; 2 * BUFFER]).unwrap_err();
        file.write_all(&[2; 2 * BUFFER]).unwrap();
        let error = file.commit().unwrap_err();
        assert_eq!(error.step(), Step::Write);
        assert!(contents(folder.path()).is_empty());
    }
}

#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    for (failing, mut left) in [(Step::Create, 2), (Step::Write, 0), (Step::Write, 5), (Step::Read, 0)] {
        let file = faulty_file(&path, move |step, bytes| match step == failing {
            true if left == 0 => Err(io::ErrorKind::StorageFull.into()),
            true => {
                left -= 1;
                // Half a write is none that fails.
                Ok(bytes.div_ceil(2))
            }
            false => Ok(bytes),
        });
        let file = file.unwrap();
        let spill = file.spill();
        let all = spill.append(&[1; 4 * BUFFER]).and_then(|at| spill.read(at, &mut [0; 10]));
        let error = all.unwrap_err();
        assert_eq!(error.step(), failing);
        assert_eq!(error.path(), folder.path().join(".a.dv.spill"));
        assert!(error.to_string().contains("/.a.dv.spill\": "), "{error}");
        drop((spill, file));
        assert!(contents(folder.path()).is_empty());
    }
}

/// The file `a.dv` in `folder`. Call number `at` of those that are `failing` has the result of `fault`, which gets its
/// bytes.
fn once(folder: &Path, failing: Step, at: usize, fault: fn(usize) -> io::Result<usize>) -> AtomicFile {
    let mut calls = 0;
    let file = faulty_file(folder.join("a.dv"), move |step, bytes| {
        if step != failing {
            return Ok(bytes);
        }
        calls += 1;
        if calls - 1 == at { fault(bytes) } else { Ok(bytes) }
    });
    file.unwrap()
}

#[test]
fn refused_bytes_can_be_appended_again() {
    let folder = tempfile::tempdir().unwrap();
    for (step, at) in [(Step::Create, 2), (Step::Write, 0), (Step::Write, 1), (Step::Write, 2)] {
        let file = once(folder.path(), step, at, |_| Err(io::ErrorKind::StorageFull.into()));
        let (spill, all) = (file.spill(), [[1; 2 * BUFFER], [2; 2 * BUFFER]]);
        let mut refused = 0;
        for (i, bytes) in all.iter().enumerate() {
            let appended = spill.append(bytes).or_else(|_| {
                refused += 1;
                spill.append(bytes)
            });
            assert_eq!(appended.unwrap(), (i * 2 * BUFFER) as u64, "no room is lost");
        }
        assert_eq!(refused, 1, "{step:?} {at}");
        let mut read = vec![0; 4 * BUFFER];
        spill.read(0, &mut read).unwrap();
        assert!(read == all.as_flattened());
    }
}

#[test]
fn partial_calls_are_continued() {
    let folder = tempfile::tempdir().unwrap();
    for step in [Step::Write, Step::Read] {
        let faults: [fn(usize) -> io::Result<usize>; 2] =
            [|_| Err(io::ErrorKind::Interrupted.into()), |bytes| Ok(bytes / 3)];
        for fault in faults {
            let file = once(folder.path(), step, 1, fault);
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
    let file = once(folder.path(), Step::Remove, 1, |_| Err(io::ErrorKind::PermissionDenied.into()));
    let (spill, same) = (file.spill(), file.spill());
    spill.append(b"some").unwrap();
    assert!(contents(folder.path()).contains_key(".a.dv.spill"));
    let mut read = [0; 4];
    same.read(0, &mut read).unwrap();
    assert_eq!(&read, b"some");
    drop((spill, same, file));
    assert!(contents(folder.path()).is_empty());
}
