//! A call fails, and the process continues.

use std::fs;
use std::io;
use std::path::Path;

use docvalues::SegmentWriter;
use docvalues::writer::{Error as WriteError, ErrorKind as WriteErrorKind};
use docvalues_storage::{AtomicFile, Result as StorageResult, Step};
use docvalues_testkit::faults::faulty_file;

use super::calls::{Log, Tally, all_of, tried};
use super::work::{Work, Works, add, schema};
use super::{NAME, OLDER, names};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// The fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It fails with this error number.
    Error(i32),
    /// A signal interrupts it before it transfers a byte.
    Interrupted,
    /// It transfers half of the bytes.
    Short,
    /// It transfers no bytes, and returns 0.
    Nothing,
}

impl Fault {
    const ALL: [Fault; 5] =
        [Fault::Error(EIO), Fault::Error(ENOSPC), Fault::Interrupted, Fault::Short, Fault::Nothing];

    /// Whether the fault can happen in a step.
    fn happens(self, step: Step) -> bool {
        match self {
            Fault::Error(number) => number != ENOSPC || step != Step::Read,
            // Other calls transfer nothing, or the standard library repeats them.
            Fault::Interrupted | Fault::Short | Fault::Nothing => matches!(step, Step::Write | Step::Read),
        }
    }
}

/// Begins the file at `path`. Call number `at` has the fault.
fn fails_at(path: &Path, at: usize, fault: Fault, log: &Log) -> StorageResult<AtomicFile> {
    let log = log.clone();
    faulty_file(path, move |step, bytes| match fault {
        _ if log.note(step) != at => Ok(bytes),
        Fault::Error(number) => Err(io::Error::from_raw_os_error(number)),
        Fault::Interrupted => Err(io::ErrorKind::Interrupted.into()),
        Fault::Short => Ok(bytes.div_ceil(2)),
        Fault::Nothing => Ok(0),
    })
}

/// The step of an error, and the last part of the path that it names.
fn step_and_name(error: &WriteError, fault: Fault) -> (Step, String) {
    let WriteErrorKind::Storage(storage) = error.kind() else { panic!("{error}") };
    let (said, name) = (error.to_string(), storage.path().file_name().unwrap().to_str().unwrap());
    assert!(said.contains(&format!("{}\": ", storage.path().display())), "{said}");
    match fault {
        Fault::Error(ENOSPC) => assert!(said.ends_with("No space left on device (os error 28)"), "{said}"),
        Fault::Error(number) => assert!(said.ends_with(&format!("(os error {number})")), "{said}"),
        Fault::Interrupted | Fault::Short | Fault::Nothing => {
            assert!(matches!(
                storage.io_error().kind(),
                io::ErrorKind::WriteZero | io::ErrorKind::UnexpectedEof
            ));
        }
    }
    (storage.step(), name.to_owned())
}

/// Runs a build whose call `at` fails, and returns the step and the file of its error, if there was one.
fn fails_once(
    works: &Works,
    work: Work,
    path: &Path,
    at: usize,
    fault: Fault,
    whole: &[u8],
) -> Option<String> {
    let older = (!at.is_multiple_of(3)).then_some(OLDER);
    let _ = fs::remove_file(path);
    older.inspect(|older| fs::write(path, older).unwrap());
    let log = Log::default();
    let file = fails_at(path, at, fault, &log).map_err(WriteError::from);
    let done = file.and_then(|file| works.run(work, file));
    let step = log.step(at).unwrap_or_else(|| panic!("{work:?} makes fewer than {at} calls"));
    let context = format!("{work:?}, call {at}, {step:?}: {fault:?}");

    let failure = done.as_ref().err().map(|error| step_and_name(error, fault));
    if let Some((failure, _)) = &failure {
        assert_eq!(*failure, step, "{context}");
    }
    let may_go_on = match fault {
        // A temporary file that keeps its name is harmless.
        Fault::Error(_) => step == Step::Remove,
        Fault::Interrupted | Fault::Short => true,
        Fault::Nothing => false,
    };
    assert!(failure.is_some() || may_go_on, "{context}: is not seen");
    assert!(
        failure.is_none() || matches!(fault, Fault::Error(_) | Fault::Nothing),
        "{context}: should be repeated"
    );
    // After this step the new file is there, but may not survive a crash of the system.
    let published = failure.is_none() || step == Step::SyncFolder;
    let expected = if published { Some(whole) } else { older };
    assert!(fs::read(path).ok().as_deref() == expected, "{context}: another file");
    let names = names(path.parent().unwrap());
    assert_eq!(names, expected.map_or(vec![], |_| vec![NAME.to_owned()]), "{context}");
    failure.map(|(step, name)| match step {
        Step::SyncFolder => "SyncFolder".to_owned(),
        _ => format!("{step:?} {name}"),
    })
}

#[test]
fn a_failing_call_keeps_the_old_file_and_leaves_nothing_else() {
    let works = &Works::new();
    std::thread::scope(|scope| {
        for work in Work::ALL {
            scope.spawn(move || {
                let whole = works.expected(work);
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join(NAME);
                let calls = all_of(works, work, &path);
                assert!(fs::read(&path).unwrap() == whole, "{work:?} writes something else");
                let (mut failed, mut went_on) = (Tally::default(), Tally::default());
                for at in tried(&calls) {
                    for fault in Fault::ALL.into_iter().filter(|fault| fault.happens(calls[at])) {
                        match fails_once(works, work, &path, at, fault, &whole) {
                            Some(failure) => failed.add(failure),
                            None => went_on.add(format!("{:?}", calls[at])),
                        }
                    }
                }
                println!(
                    "{work:?}: {} calls; {} fault points: {} failed ({failed}), {} went on ({went_on})",
                    calls.len(),
                    failed.total() + went_on.total(),
                    failed.total(),
                    went_on.total(),
                );
                covers_all(work, &failed, &went_on);
            });
        }
    });
}

/// Checks that every step failed, for every file.
fn covers_all(work: Work, failed: &Tally, went_on: &Tally) {
    let of_file = ["Create hits.dv", "Create .hits.dv.tmp", "Lock .hits.dv.tmp", "Remove .hits.dv.spill"];
    let of_spill = ["Create .hits.dv.spill", "Write .hits.dv.spill", "Read .hits.dv.spill"];
    let at_end = ["Write .hits.dv.tmp", "Sync .hits.dv.tmp", "Rename .hits.dv.tmp", "SyncFolder"];
    let mut expected = [&of_file[..], &at_end, if work.spills() { &of_spill } else { &[] }].concat();
    expected.sort_unstable();
    assert_eq!(failed.keys(), expected, "{work:?}");
    let expected: &[_] = if work.spills() { &["Read", "Remove", "Write"] } else { &["Write"] };
    assert_eq!(went_on.keys(), expected, "{work:?}");
}

/// A full disk that gets space again: adding the refused document again loses nothing.
#[test]
fn a_writer_continues_after_a_full_disk() {
    let works = Works::new();
    let whole = works.expected(Work::BuildSpilling);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    let calls = all_of(&works, Work::BuildSpilling, &path);
    let (mut refused, mut fell) = (0, 0);
    for at in tried(&calls).into_iter().filter(|&at| matches!(calls[at], Step::Create | Step::Write)) {
        let Ok(file) = fails_at(&path, at, Fault::Error(ENOSPC), &Log::default()) else { continue };
        let (schema, fields) = schema();
        let options = Work::BuildSpilling.options();
        let mut writer = SegmentWriter::to_file(file, schema, options);
        for i in 0..super::work::DOCS {
            if let Err(error) = add(&mut writer, &fields, i) {
                step_and_name(&error, Fault::Error(ENOSPC));
                refused += 1;
                add(&mut writer, &fields, i).unwrap();
            }
        }
        // A call of the encoding ends the writer.
        match writer.finish() {
            Ok(_) => assert!(fs::read(&path).unwrap() == whole, "call {at}"),
            Err(_) => fell += 1,
        }
    }
    println!("{refused} documents were refused and added again, {fell} builds ended");
    assert!(refused > 3 && fell > 3);
}
