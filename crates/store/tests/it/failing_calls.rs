//! Each call to the storage failing, in every way: an operation succeeds, or fails and changes nothing.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use docvalues_storage::{Directory, Step};
use docvalues_store::{Store, StoreOptions};
use docvalues_testkit::faults::{Call, FaultyDirectory, PowerLossDirectory};

use crate::script::{Operation, Run, read, script};

const EINTR: i32 = 4;
const EIO: i32 = 5;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;

/// A kind of failure.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// With this error number.
    Error(i32),
    /// A write transfers half of its bytes, and the call after it fails.
    Short,
}

const FAULTS: [Fault; 5] =
    [Fault::Error(EIO), Fault::Error(ENOSPC), Fault::Error(EMFILE), Fault::Error(EINTR), Fault::Short];

/// A fault of call `at`, counted from 0, or of all calls from it on.
#[derive(Clone, Copy, Debug)]
struct Failure {
    at: usize,
    step: Step,
    fault: Fault,
    is_lasting: bool,
}

impl Failure {
    /// Returns the bytes that call number `at` may transfer, or its error.
    fn before(self, at: usize, call: &Call<'_>) -> io::Result<usize> {
        let (first, number) = match self.fault {
            Fault::Short if at == self.at => return Ok(call.bytes / 2),
            Fault::Short => (self.at + 1, ENOSPC),
            Fault::Error(number) => (self.at, number),
        };
        let fails = if self.is_lasting { at >= first } else { at == first };
        if fails { Err(io::Error::from_raw_os_error(number)) } else { Ok(call.bytes) }
    }

    /// Whether this can happen in its step.
    fn happens(self) -> bool {
        match self.fault {
            Fault::Short => self.step == Step::Write,
            // Interrupted writes are repeated, for ever if all are interrupted: so does the standard library.
            Fault::Error(EINTR) => !self.is_lasting,
            Fault::Error(_) => true,
        }
    }

    /// The most operations that may fail, and those after which the writer may be of no use.
    fn most_failed(self) -> (usize, usize) {
        match (self.step, self.fault) {
            _ if self.is_lasting => (usize::MAX, usize::MAX),
            (Step::Write | Step::Read, Fault::Error(EINTR)) => (0, 0),
            // The call after a short write may be a sync. Without metadata, the writer cannot tell that it has the lock.
            (_, Fault::Short) | (Step::Sync | Step::SyncFolder | Step::Metadata, _) => (1, 1),
            _ => (1, 0),
        }
    }
}

/// Counts of runs of the script.
#[derive(Debug, Default)]
struct Counts {
    runs: usize,
    /// Those in which no operation failed: the call was repeated, or its result is not needed.
    unnoticed: usize,
    failed_operations: usize,
    images: u64,
}

/// The steps and names of all calls of the script, when none fails.
fn calls(script: &[Operation]) -> Vec<(Step, String)> {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let log = calls.clone();
    let disk = Arc::new(PowerLossDirectory::new("/disk"));
    let directory = FaultyDirectory::new(disk, move |call| {
        log.lock().unwrap().push((call.step, call.name.to_str().unwrap().to_owned()));
        Ok(call.bytes)
    });
    let mut run = Run::new(Arc::new(directory));
    run.run(script, |_, _| {});
    assert_eq!(run.failed, 0);
    drop(run);
    let calls = std::mem::take(&mut *calls.lock().unwrap());
    covers_all(&calls);
    calls
}

/// Checks that the script makes every call that a store makes.
fn covers_all(calls: &[(Step, String)]) {
    let count =
        |step, part: &str| calls.iter().filter(|call| call.0 == step && call.1.contains(part)).count();
    let files = ["seg-", "delta-", ".g0000", ".side", ".commit-"];
    for (step, file) in files.into_iter().flat_map(|file| [Step::Create, Step::Sync].map(|step| (step, file)))
    {
        assert!(count(step, file) > 0, "{step:?} {file}");
    }
    for file in ["seg-", "delta-", ".g0000", ".side", "commit-", "LOCK"] {
        assert!(count(Step::Open, file) + count(Step::Lock, file) > 0, "{file}");
    }
    for file in ["seg-", "delta-", ".g0000", ".side", "commit-", ".spill"] {
        assert!(count(Step::Remove, file) > 0, "{file}");
    }
    assert!(count(Step::Create, ".spill") > 0 && count(Step::Read, ".spill") > 10);
    assert!(count(Step::Rename, ".commit-") >= 20 && count(Step::SyncFolder, "") >= 40);
    assert!(count(Step::List, "") > 4 && count(Step::Metadata, "LOCK") > 20);
}

/// Runs the script with this failure, looks at what is there, and goes on with a disk that works again.
fn run_with(failure: Failure, script: &[Operation], counts: &mut Counts) {
    let disk = Arc::new(PowerLossDirectory::new("/disk"));
    let is_broken = Arc::new(AtomicBool::new(true));
    let (mut calls, broken) = (0.., is_broken.clone());
    let directory =
        FaultyDirectory::new(disk.clone(), move |call| match calls.next().filter(|_| broken.load(Relaxed)) {
            Some(at) => failure.before(at, call),
            None => Ok(call.bytes),
        });
    let mut run = Run::new(Arc::new(directory));
    run.run(script, |_, _| {});
    let most = failure.most_failed();
    assert!(run.failed <= most.0 && run.poisoned <= most.1, "{failure:?}: {} {}", run.failed, run.poisoned);
    counts.runs += 1;
    counts.unnoticed += usize::from(run.failed == 0);
    counts.failed_operations += run.failed;
    assert!(run.allows(&read(disk.clone())), "{failure:?}: another state");
    for _ in 0..2 {
        let image = disk.crash_image(counts.images);
        assert!(run.allows(&read(Arc::new(image))), "{failure:?}: another state after a power loss");
        counts.images += 1;
    }

    is_broken.store(false, Relaxed);
    // Half of the writers that are not poisoned go on; the others are opened again.
    let reopens = failure.at.is_multiple_of(2);
    let reopen = [Operation::Reopen].into_iter().filter(|_| reopens);
    let last =
        [Operation::Add(vec![(9_000, 1), (9_001, 2)]), Operation::Delete(vec![9_000]), Operation::Commit];
    let before = run.failed;
    run.run(&reopen.chain(last).collect::<Vec<_>>(), |_, _| {});
    assert_eq!(run.failed, before, "{failure:?}: the disk works again");
    drop(run);
    assert!(read(disk.clone()).is_some_and(|found| found.get(&9_001) == Some(&2)), "{failure:?}");
    // While no file can be removed, they accumulate until the store is opened again.
    if reopens || !failure.is_lasting {
        only_named_files(&disk, failure);
    }
}

/// Checks that nothing is left that the newest commit does not name: opening the store removes nothing.
fn only_named_files(disk: &PowerLossDirectory, failure: Failure) {
    let names = || disk.list().unwrap().into_iter().map(|entry| entry.name).collect::<BTreeSet<_>>();
    let before = names();
    Store::open_in(Arc::new(disk.clone()), StoreOptions::default()).unwrap();
    let needless: Vec<_> = before.difference(&names()).cloned().collect();
    assert!(needless.is_empty(), "{failure:?}: {needless:?} is left");
}

#[test]
fn whatever_call_fails_the_store_is_as_a_commit() {
    // In a sample, one of the failures of each eighth call.
    let (seeds, step) = crate::cases((1..=1, 16 * FAULTS.len()), (1..=5, 1));
    let (mut all, mut counts) = (0, Counts::default());
    for seed in seeds {
        let script = script(seed, 21);
        let calls = calls(&script);
        all += calls.len();
        for (at, (step_of_call, _)) in calls.iter().enumerate() {
            let failures = [false, true].into_iter().flat_map(|is_lasting| {
                FAULTS.map(|fault| Failure { at, step: *step_of_call, fault, is_lasting })
            });
            for failure in failures.skip(at * 7 % step).step_by(step).filter(|failure| failure.happens()) {
                run_with(failure, &script, &mut counts);
            }
        }
    }
    println!("{all} calls, {counts:?}");
    assert!(counts.unnoticed > 0 && counts.failed_operations > counts.runs);
}
