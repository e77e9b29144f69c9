//! Tests of the log: against a model, with damage, power losses and failing calls.
#![cfg(not(shuttle))]

mod damage;
mod failing_calls;
mod measure;
mod power_loss;

use std::ffi::OsStr;
use std::sync::Arc;

use docvalues_storage::Directory;
use docvalues_testkit::faults::PowerLossDirectory;
use proptest::prelude::*;

use super::frame::{FRAME_HEADER, LOG_HEADER, MAX_BODY, padded};
use super::log_reader::{LogReader, read_logs};
use super::{FrameInfo, LogFrames, LogStart, LogStats, LogWriter, Queued};
use crate::error::{Error, Result};
use crate::files::{CommitFile, FileName};
use crate::options::StoreOptions;
use crate::read::StoreReader;
use crate::schema::StoreSchema;
use crate::store::Store;

/// The number of the first log, and the epoch of all.
const FIRST: u64 = 7;
const EPOCH: u64 = 3;

/// The last batch before the first log.
const AFTER: u64 = 100;

/// A configuration of these many cases; in the full sweep, a hundred times as many.
fn cases(sample: u32) -> ProptestConfig {
    let is_full = std::env::var_os("DOCVALUES_SWEEP").is_some_and(|sweep| sweep == "full");
    ProptestConfig::with_cases(if is_full { 100 * sample } else { sample })
}

/// The commit before the first log.
const START: LogStart = LogStart { first_log: FIRST, sequence: AFTER, epoch: EPOCH };

fn disk() -> (PowerLossDirectory, Arc<dyn Directory>) {
    let disk = PowerLossDirectory::new("/disk");
    let directory: Arc<dyn Directory> = Arc::new(disk.clone());
    (disk, directory)
}

fn create(directory: &Arc<dyn Directory>) -> Result<LogWriter> {
    LogWriter::create(directory, FIRST, EPOCH, AFTER, true)
}

/// The body of a batch: of another length for each.
fn body(sequence: u64) -> Vec<u8> {
    let len = [5, 0, 8, 61, 700, 17][usize::try_from(sequence % 6).unwrap()];
    (0..len).map(|at| u8::try_from((sequence * 31 + at) % 255).unwrap() + 1).collect()
}

/// Reads all logs after the commit at `sequence`. Returns the batches, which must be those after it.
fn read_after(directory: &dyn Directory, sequence: u64) -> Result<(u64, LogReader)> {
    let start = LogStart { sequence, ..START };
    let mut last = sequence;
    let end = read_logs(directory, start, |Queued { sequence, body: found, .. }| {
        assert_eq!((sequence, found), (last + 1, body(sequence)));
        last = sequence;
        Ok(())
    })?;
    assert_eq!(end.sequence.max(sequence), last);
    Ok((last, end))
}

/// Reads all logs. Returns the last batch.
fn read(directory: &dyn Directory) -> Result<u64> {
    read_after(directory, AFTER).map(|(last, _)| last)
}

/// The bytes of log `number`.
fn bytes_of(directory: &dyn Directory, number: u64) -> Vec<u8> {
    let source = directory.open(OsStr::new(&FileName::Log(number).to_string())).unwrap();
    let len = usize::try_from(source.len()).unwrap();
    source.read_at(docvalues_format::error::Section::Header, 0, len).unwrap().into_owned()
}

/// A folder with these logs.
fn folder(logs: &[(u64, &[u8])]) -> PowerLossDirectory {
    let disk = PowerLossDirectory::new("/disk");
    for (number, bytes) in logs {
        let file = disk.create(OsStr::new(&FileName::Log(*number).to_string())).unwrap();
        file.write_at(bytes, 0).unwrap();
    }
    disk
}

/// The bytes of log `number` up to the end of its last frame.
fn frames_of(directory: &dyn Directory, number: u64) -> Vec<u8> {
    let mut bytes = bytes_of(directory, number);
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(padded(end).max(LOG_HEADER));
    bytes
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Append,
    Write,
    Sync,
    Rotate,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Append),
        1 => Just(Step::Write),
        3 => Just(Step::Sync),
        1 => Just(Step::Rotate),
    ];
    prop::collection::vec(step, 0..60)
}

/// Runs steps. Calls `at` after each with the last batches that were written and synced. Returns the logs.
fn run(
    directory: &Arc<dyn Directory>,
    steps: &[Step],
    mut at: impl FnMut(u64, u64),
) -> Result<(LogWriter, Vec<u64>)> {
    let writer = create(directory)?;
    let (mut last, mut written, mut synced) = (AFTER, AFTER, AFTER);
    let mut logs = vec![FIRST];
    for step in steps {
        match step {
            Step::Append => {
                last += 1;
                writer.append(last, 0, body(last))?;
            }
            Step::Write => {
                writer.write_to(last)?;
                written = last;
            }
            Step::Sync => {
                writer.sync_to(last)?;
                (written, synced) = (last, last);
            }
            Step::Rotate => {
                let number = logs.last().unwrap() + 2;
                assert_eq!(writer.rotate(number)?, last);
                logs.push(number);
                (written, synced) = (last, last);
            }
        }
        at(written, synced);
    }
    Ok((writer, logs))
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn what_was_written_is_read(steps in steps()) {
        let (_, directory) = disk();
        let mut appended = Vec::new();
        let (writer, logs) = run(&directory, &steps, |written, synced| {
            assert_eq!(read(&*directory).unwrap(), written);
            appended.push((written, synced));
        }).unwrap();
        let (written, synced) = appended.last().copied().unwrap_or((AFTER, AFTER));
        // A commit at any batch, with any of the logs as its first.
        for sequence in AFTER..=written + 2 {
            let (last, end) = read_after(&*directory, sequence).unwrap();
            let log = end.logs.last().unwrap().header.number;
            prop_assert_eq!((last, log), (written.max(sequence), *logs.last().unwrap()));
        }
        let infos: Vec<FrameInfo> = list(&*directory).unwrap();
        prop_assert_eq!(infos.len() as u64, written - AFTER);
        for (info, sequence) in infos.iter().zip(AFTER + 1..) {
            let len = FRAME_HEADER + padded(body(sequence).len());
            prop_assert_eq!((info.sequence, info.epoch, info.bytes), (sequence, EPOCH, len as u64));
            // Known only from what was written later.
            prop_assert!(!info.is_synced || sequence <= synced);
        }
        let bytes: u64 = infos.iter().map(|info| info.bytes).sum();
        prop_assert_eq!((writer.stats().frames, writer.stats().bytes), (written - AFTER, bytes));
        prop_assert!(writer.appended() >= written);
    }
}

/// The frames of all logs.
fn list(directory: &dyn Directory) -> Result<Vec<FrameInfo>> {
    LogFrames::open(directory, START)?.collect()
}

#[test]
fn many_frames_and_long_ones() {
    let (_, directory) = disk();
    let writer = create(&directory).unwrap();
    let mut last = AFTER;
    let long: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
    for round in 0..5 {
        for _ in 0..3_000 {
            last += 1;
            writer.append(last, 0, vec![1; 200]).unwrap();
        }
        last += 1;
        writer.append(last, 0, long.clone()).unwrap();
        writer.sync_to(last - round).unwrap();
    }
    let mut reader = LogReader::open(&*directory, FIRST).unwrap();
    let mut found = AFTER;
    while let Some(frame) = reader.next_frame().unwrap() {
        found += 1;
        let is_long = (found - AFTER).is_multiple_of(3_001);
        assert!(if is_long { frame.body() == long } else { frame.body() == [1; 200] });
    }
    assert_eq!(found, last);
    let LogStats { syncs, sync_time, .. } = writer.stats();
    assert!(syncs == 5 && !sync_time.is_zero());
    // Zeros are at most a megabyte and a page.
    let (all, frames) = (bytes_of(&*directory, FIRST).len(), frames_of(&*directory, FIRST).len());
    assert!(all - frames <= (1 << 20) + 4_096, "{all} {frames}");
}

#[test]
fn requests_that_cannot_be() {
    let (_, directory) = disk();
    let writer = create(&directory).unwrap();
    for sequence in [0, AFTER, AFTER + 2, u64::MAX] {
        assert!(matches!(writer.append(sequence, 0, Vec::new()), Err(Error::Request(_))));
    }
    assert!(matches!(writer.sync_to(AFTER + 1), Err(Error::Request(_))));
    assert!(matches!(writer.append(AFTER + 1, 0, vec![0; MAX_BODY + 1]), Err(Error::Request(_))));
    // Nothing is to be done for these.
    writer.sync_to(AFTER).unwrap();
    writer.write_to(0).unwrap();
    assert_eq!(writer.stats().syncs, 0);
    // A name that is taken changes nothing.
    writer.append(AFTER + 1, 0, body(AFTER + 1)).unwrap();
    assert!(matches!(writer.rotate(FIRST), Err(Error::Request(_))));
    directory.create(OsStr::new(&FileName::Log(FIRST + 3).to_string())).unwrap();
    assert!(matches!(writer.rotate(FIRST + 3), Err(Error::Storage(_))));
    assert_eq!(writer.rotate(FIRST + 4).unwrap(), AFTER + 1);
    assert!(create(&directory).is_err());
    assert_eq!(read(&*directory).unwrap(), AFTER + 1);
}

/// A log that was created while a store was opened, which did not finish.
#[test]
fn logs_that_were_never_used_are_passed_over() {
    let (_, directory) = disk();
    let writer = create(&directory).unwrap();
    writer.append(AFTER + 1, 0, body(AFTER + 1)).unwrap();
    writer.sync_to(AFTER + 1).unwrap();
    for (number, bytes) in [(10, &b""[..]), (11, b"dvlg"), (12, &[0; 4_096])] {
        let file = directory.create(OsStr::new(&FileName::Log(number).to_string())).unwrap();
        file.write_at(bytes, 0).unwrap();
    }
    let unused = LogWriter::create(&directory, 13, EPOCH, AFTER + 1, true).unwrap();
    assert_eq!(read(&*directory).unwrap(), AFTER + 1);
    // The old log goes on after them.
    writer.rotate(14).unwrap();
    writer.append(AFTER + 2, 0, body(AFTER + 2)).unwrap();
    writer.sync_to(AFTER + 2).unwrap();
    assert_eq!(read(&*directory).unwrap(), AFTER + 2);
    // Nobody writes to both.
    unused.append(AFTER + 2, 0, body(AFTER + 2)).unwrap();
    unused.sync_to(AFTER + 2).unwrap();
    let error = read(&*directory).unwrap_err().to_string();
    assert!(error.contains("log-0000000d: ") && error.contains("found a frame at offset 64"), "{error}");
}

/// Callers on real threads, beside rotations: as `schedules`, with other orders.
#[test]
fn many_callers_on_threads() {
    let (disk, directory) = disk();
    let writer = create(&directory).unwrap();
    let sequencer = std::sync::Mutex::new(AFTER);
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (writer, sequencer, disk) = (&writer, &sequencer, &disk);
            scope.spawn(move || {
                for round in 0..100 {
                    let sequence = {
                        let mut last = sequencer.lock().unwrap();
                        *last += 1;
                        writer.append(*last, 0, body(*last)).unwrap();
                        *last
                    };
                    writer.sync_to(sequence).unwrap();
                    if round % 20 == 7 {
                        assert!(read(&disk.crash_image(thread + round)).unwrap() >= sequence);
                    }
                    if round % 20 == 13 && thread == 0 {
                        writer.rotate(FIRST + round).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(read(&*directory).unwrap(), AFTER + 400);
    assert!(writer.stats().syncs <= 400);
}

/// The frames of a store are those after its newest commit.
#[test]
fn a_store_lists_the_frames_after_its_commit() {
    let (_, directory) = disk();
    let list = || StoreReader::log_frames_in(directory.clone()).and_then(Iterator::collect::<Result<Vec<_>>>);
    assert!(matches!(list(), Err(Error::NoStore { .. })));
    Store::create_in(directory.clone(), StoreSchema::new(), StoreOptions::default()).unwrap();
    assert!(list().unwrap().is_empty());
    let commit = CommitFile::read(&*directory, 1).unwrap();
    let commit =
        CommitFile { number: Some(2), first_log: Some(FIRST), sequence: AFTER + 1, epoch: EPOCH, ..commit };
    let file = directory.create(OsStr::new("commit-00000002")).unwrap();
    file.write_at(&commit.encode(), 0).unwrap();
    assert!(matches!(list(), Err(Error::Damaged { .. })));
    let writer = create(&directory).unwrap();
    for sequence in AFTER + 1..AFTER + 4 {
        writer.append(sequence, 0, body(sequence)).unwrap();
        writer.sync_to(sequence).unwrap();
    }
    let listed: Vec<_> = list().unwrap().iter().map(|frame| (frame.sequence, frame.is_synced)).collect();
    // Nothing was written after the last one.
    assert_eq!(listed, [(AFTER + 1, true), (AFTER + 2, true), (AFTER + 3, false)]);
    writer.rotate(FIRST + 1).unwrap();
    assert!(list().unwrap().iter().all(|frame| frame.is_synced));
}
