//! Each call to the storage failing: the writer is of no use afterwards, and what was synced is there.

use std::io;

use docvalues_storage::Step as CallStep;
use docvalues_testkit::faults::FaultyDirectory;

use super::*;

const EIO: i32 = 5;
const EINTR: i32 = 4;

/// The script: appends, writes, syncs and rotations.
const STEPS: [Step; 14] = {
    use Step::{Append, Rotate, Sync, Write};
    [Append, Sync, Append, Append, Write, Sync, Rotate, Append, Write, Append, Sync, Rotate, Append, Sync]
};

/// Makes call `at` fail with this error number; without one, transfer half of its bytes.
fn faulty(disk: &PowerLossDirectory, at: usize, error: Option<i32>) -> Arc<dyn Directory> {
    let mut calls = 0..;
    let before = move |call: &docvalues_testkit::faults::Call<'_>| match error {
        _ if calls.next() != Some(at) => Ok(call.bytes),
        Some(error) => Err(io::Error::from_raw_os_error(error)),
        None => Ok(call.bytes / 2),
    };
    Arc::new(FaultyDirectory::new(Arc::new(disk.clone()), before))
}

fn calls() -> Vec<CallStep> {
    let calls = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = calls.clone();
    let directory = FaultyDirectory::new(Arc::new(PowerLossDirectory::new("/disk")), move |call| {
        log.lock().unwrap().push(call.step);
        Ok(call.bytes)
    });
    let directory: Arc<dyn Directory> = Arc::new(directory);
    run(&directory, &STEPS, |_, _| {}).unwrap();
    calls.lock().unwrap().clone()
}

#[test]
fn after_each_failing_call_synced_frames_are_there() {
    let calls = calls();
    for (at, step) in calls.iter().enumerate() {
        for error in [Some(EIO), Some(EINTR), None] {
            let (disk, _) = disk();
            let mut safe = None;
            let result = run(&faulty(&disk, at, error), &STEPS, |_, synced| safe = Some(synced));
            // Short and interrupted writes go on. Windows interrupts none.
            let is_interrupted = cfg!(unix) && error == Some(EINTR);
            let goes_on = error.is_none() || (is_interrupted && *step == CallStep::Write);
            assert_eq!(result.is_ok(), goes_on, "call {at}: {step:?}");
            let Some(safe) = safe else { continue };
            for seed in 0..20 {
                let found = read(&disk.crash_image(seed)).unwrap();
                assert!(found >= safe, "call {at}: {step:?}, {found} of {safe}");
            }
            assert!(read(&disk).unwrap() >= safe);
        }
    }
}

/// The last batch that can be synced after a failure is one that was synced before it.
#[test]
fn a_failed_write_or_sync_poisons() {
    for step in [CallStep::Write, CallStep::Sync] {
        let (disk, _) = disk();
        let is_broken = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let broken = is_broken.clone();
        let faulty = FaultyDirectory::new(Arc::new(disk.clone()), move |call| {
            let fails = call.step == step && broken.load(std::sync::atomic::Ordering::Relaxed);
            if fails { Err(io::Error::from_raw_os_error(EIO)) } else { Ok(call.bytes) }
        });
        let directory: Arc<dyn Directory> = Arc::new(faulty);
        let writer = create(&directory).unwrap();
        let first = AFTER + 1;
        writer.append(first, 0, body(first)).unwrap();
        writer.sync_to(first).unwrap();
        writer.append(first + 1, 0, body(first + 1)).unwrap();
        is_broken.store(true, std::sync::atomic::Ordering::Relaxed);
        let error = writer.sync_to(first + 1).unwrap_err();
        assert!(matches!(&error, Error::Storage(error) if error.step() == step), "{error}");
        is_broken.store(false, std::sync::atomic::Ordering::Relaxed);
        let reason = error.to_string();
        for result in [
            writer.append(first + 2, 0, Vec::new()),
            writer.sync_to(first + 1),
            writer.rotate(FIRST + 1).map(drop),
        ] {
            let error = result.unwrap_err();
            assert!(matches!(&error, Error::Poisoned { why } if *why == reason), "{error}");
        }
        writer.sync_to(first).unwrap();
        assert!(writer.write_to(first + 1).is_err() || step == CallStep::Sync);
        for seed in 0..50 {
            assert!(read(&disk.crash_image(seed)).unwrap() >= first);
        }
    }
}

/// A file that cannot be created is no reason to stop.
#[test]
fn a_log_that_cannot_be_created_leaves_the_old_one_in_use() {
    let at = calls().into_iter().enumerate().filter(|(_, step)| *step == CallStep::Create).nth(1).unwrap().0;
    let (disk, _) = disk();
    let directory = faulty(&disk, at, Some(EIO));
    let writer = create(&directory).unwrap();
    let mut last = AFTER;
    for step in &STEPS {
        match step {
            Step::Append => {
                last += 1;
                writer.append(last, 0, body(last)).unwrap();
            }
            Step::Write => writer.write_to(last).unwrap(),
            Step::Sync => writer.sync_to(last).unwrap(),
            Step::Rotate => {
                let number = FIRST + last - AFTER;
                if writer.rotate(number).is_err() {
                    assert_eq!(read(&*directory).unwrap(), last);
                }
            }
        }
    }
    assert_eq!(read(&*directory).unwrap(), last);
}
