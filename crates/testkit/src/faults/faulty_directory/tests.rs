use super::*;
use crate::faults::PowerLossDirectory;

/// A call, with its names.
type Record = (Step, String, Option<String>, usize);

fn record(call: &Call<'_>) -> Record {
    let text = |name: &OsStr| name.to_str().unwrap().to_owned();
    (call.step, text(call.name), call.new_name.map(text), call.bytes)
}

fn disk() -> Arc<PowerLossDirectory> {
    Arc::new(PowerLossDirectory::new("/disk"))
}

/// Makes each call once, and stops at the first that fails.
fn each_call(directory: &dyn Directory) -> Result<()> {
    let [a, b, lock] = ["a", "b", "lock"].map(OsStr::new);
    let of_file = |step, error| Error::new(step, "/disk/a", error);
    let file = directory.create(a)?;
    file.write_at(b"0123456789", 0).map_err(|error| of_file(Step::Write, error))?;
    file.read_at(&mut [0; 4], 0).map_err(|error| of_file(Step::Read, error))?;
    file.len().map_err(|error| of_file(Step::Metadata, error))?;
    file.is_named(b).map_err(|error| of_file(Step::Metadata, error))?;
    file.copy_permissions(b, true).map_err(|error| of_file(Step::Metadata, error))?;
    file.sync().map_err(|error| of_file(Step::Sync, error))?;
    file.clear().map_err(|error| of_file(Step::Create, error))?;
    directory.rename(a, b)?;
    directory.sync()?;
    drop(directory.claim(lock)?);
    drop(directory.hold(lock, FileLock::Shared)?);
    directory.open(b)?;
    directory.list()?;
    directory.remove(b)
}

/// The calls of [`each_call`], if the one at this index fails.
fn calls(failing: usize) -> (Vec<Record>, Result<()>) {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let records = calls.clone();
    let directory = FaultyDirectory::new(disk(), move |call| {
        let mut calls = records.lock().unwrap();
        calls.push(record(call));
        if calls.len() - 1 == failing { Err(io::Error::from_raw_os_error(5)) } else { Ok(call.bytes) }
    });
    let done = each_call(&directory);
    let calls = calls.lock().unwrap().clone();
    (calls, done)
}

#[test]
fn each_call_is_recorded_with_its_names() {
    let (calls, done) = calls(usize::MAX);
    done.unwrap();
    let call = |step, name: &str, bytes| (step, name.to_owned(), None, bytes);
    let expected = [
        call(Step::Create, "a", 0),
        call(Step::Write, "a", 10),
        call(Step::Read, "a", 4),
        call(Step::Metadata, "a", 0),
        call(Step::Metadata, "b", 0),
        call(Step::Metadata, "b", 0),
        call(Step::Sync, "a", 0),
        call(Step::Create, "a", 0),
        (Step::Rename, "a".to_owned(), Some("b".to_owned()), 0),
        call(Step::SyncFolder, "", 0),
        call(Step::Create, "lock", 0),
        call(Step::Lock, "lock", 0),
        call(Step::Open, "lock", 0),
        call(Step::Lock, "lock", 0),
        call(Step::Open, "b", 0),
        call(Step::List, "", 0),
        call(Step::Remove, "b", 0),
    ];
    assert_eq!(calls, expected);
}

#[test]
fn each_call_fails_if_it_should() {
    let (all, _) = calls(usize::MAX);
    for (failing, (step, name, ..)) in all.iter().enumerate() {
        let (made, done) = calls(failing);
        assert_eq!(made, all[..=failing], "none after it");
        let error = done.unwrap_err();
        assert_eq!((error.step(), error.io_error().raw_os_error()), (*step, Some(5)), "{name}");
    }
}

#[test]
fn a_call_that_fails_has_no_effect() {
    let disk = disk();
    let file = disk.create(OsStr::new("a")).unwrap();
    assert_eq!(file.write_at(b"0123456789", 0).unwrap(), 10);
    let mut created = false;
    let directory = FaultyDirectory::new(disk.clone(), move |call| match call.step {
        Step::Write => Ok(call.bytes / 2),
        Step::Create if call.name == OsStr::new("c") && !std::mem::replace(&mut created, true) => Ok(0),
        _ => Err(io::ErrorKind::Other.into()),
    });
    let [a, b, c] = ["a", "b", "c"].map(OsStr::new);
    assert!(directory.rename(a, b).is_err() && directory.remove(a).is_err() && directory.sync().is_err());
    assert!(directory.create(b).is_err() && directory.claim(b).is_err());
    assert_eq!((disk.list().unwrap().len(), disk.sync_count()), (1, 0));
    let file = directory.create(c).unwrap();
    assert_eq!(file.write_at(b"0123456789", 0).unwrap(), 5);
    assert!(file.sync().is_err() && file.clear().is_err());
    assert_eq!((disk.open(c).unwrap().len(), disk.sync_count()), (5, 0));
}
