//! Orders of threads that `shuttle` chooses: callers that share syncs, beside rotations and failures.
//!
//! `RUSTFLAGS="--cfg shuttle" cargo test -p docvalues-store --lib log::schedules`. Threads may change at each lock and
//! each call to the storage. `DOCVALUES_SWEEP=full` takes two hundred times as many orders.
#![cfg(shuttle)]

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use docvalues_storage::{Directory, DirectoryEntry, DirectoryFile, FileLock, Result, Source};
use docvalues_testkit::faults::PowerLossDirectory;
use shuttle::sync::Mutex;
use shuttle::thread;

use super::log_reader::read_logs;
use super::{LogStart, LogWriter};
use crate::error::Error;

/// Orders of a sample.
const ORDERS: usize = 1_000;

/// The threads that append, and the batches of each.
const THREADS: u64 = 3;
const BATCHES: u64 = 2;

fn check(body: impl Fn() + Send + Sync + 'static) {
    let is_full = std::env::var_os("DOCVALUES_SWEEP").is_some_and(|sweep| sweep == "full");
    let orders = if is_full { 200 * ORDERS } else { ORDERS };
    let body = Arc::new(body);
    let again = body.clone();
    shuttle::check_random(move || again(), orders);
    // With three changes of priority: long runs of one thread.
    shuttle::check_pct(move || body(), orders, 3);
    println!("{} orders", 2 * orders);
}

/// A directory in memory. Other threads may run before and in each call that writes, of which there is one at a time.
#[derive(Clone, Debug)]
struct Yielding {
    disk: PowerLossDirectory,
    is_busy: Arc<AtomicBool>,
}

#[derive(Debug)]
struct YieldingFile {
    file: Box<dyn DirectoryFile>,
    directory: Yielding,
}

impl Yielding {
    fn call<T>(&self, call: impl FnOnce() -> T) -> T {
        assert!(!self.is_busy.swap(true, Relaxed), "two threads write");
        // Unlike `yield_now`, this does not tell the scheduler to choose another thread.
        thread::sleep(Duration::ZERO);
        let result = call();
        thread::sleep(Duration::ZERO);
        self.is_busy.store(false, Relaxed);
        result
    }
}

impl Directory for Yielding {
    fn path(&self) -> &Path {
        self.disk.path()
    }

    fn create(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>> {
        let file = self.call(|| self.disk.create(name))?;
        Ok(Box::new(YieldingFile { file, directory: self.clone() }))
    }

    fn claim(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>> {
        self.disk.claim(name)
    }

    fn hold(&self, name: &OsStr, lock: FileLock) -> Result<Box<dyn DirectoryFile>> {
        self.disk.hold(name, lock)
    }

    fn open(&self, name: &OsStr) -> Result<Source> {
        self.disk.open(name)
    }

    fn list(&self) -> Result<Vec<DirectoryEntry>> {
        self.disk.list()
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, name: &OsStr) -> Result<()> {
        self.disk.remove(name)
    }

    fn sync(&self) -> Result<()> {
        self.call(|| self.disk.sync())
    }
}

impl DirectoryFile for YieldingFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(bytes, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.directory.call(|| self.file.write_at(bytes, offset))
    }

    fn clear(&self) -> io::Result<()> {
        self.file.clear()
    }

    fn sync(&self) -> io::Result<()> {
        self.directory.call(|| self.file.sync())
    }

    fn is_named(&self, name: &OsStr) -> io::Result<bool> {
        self.file.is_named(name)
    }
}

/// A disk, and a writer whose first batch is 1.
fn writer(disk: PowerLossDirectory) -> (PowerLossDirectory, Arc<LogWriter>) {
    let directory: Arc<dyn Directory> = Arc::new(Yielding { disk: disk.clone(), is_busy: Arc::default() });
    (disk, Arc::new(LogWriter::create(&directory, 1, 1, 0, true).unwrap()))
}

/// The last batch of an image of the disk.
fn last_batch(image: &PowerLossDirectory) -> u64 {
    let start = LogStart { first_log: 1, sequence: 0, epoch: 1 };
    let read = read_logs(image, start, |frame| {
        assert_eq!(frame.body, frame.sequence.to_le_bytes());
        Ok(())
    });
    read.unwrap().sequence
}

/// Threads that append batches and wait for them. Checks that those that were synced are on the disk. Returns the
/// number of calls that failed.
fn append_and_sync(disk: &PowerLossDirectory, writer: &Arc<LogWriter>) -> u64 {
    let (sequencer, failed) = (Arc::new(Mutex::new(0)), Arc::new(AtomicU64::new(0)));
    let append = |_| {
        let (disk, writer, sequencer, failed) =
            (disk.clone(), writer.clone(), sequencer.clone(), failed.clone());
        thread::spawn(move || {
            for _ in 0..BATCHES {
                let mut last = sequencer.lock().unwrap();
                let sequence = *last + 1;
                if writer.append(sequence, 0, sequence.to_le_bytes().to_vec()).is_ok() {
                    *last = sequence;
                    drop(last);
                    match writer.sync_to(sequence) {
                        Ok(()) => assert!((0..2).all(|seed| last_batch(&disk.crash_image(seed)) >= sequence)),
                        Err(_) => drop(failed.fetch_add(1, Relaxed)),
                    }
                }
            }
        })
    };
    let threads: Vec<_> = (0..THREADS).map(append).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    failed.load(Relaxed)
}

#[test]
fn callers_share_syncs() {
    let fewest = Arc::new(AtomicU64::new(u64::MAX));
    let seen = fewest.clone();
    check(move || {
        let (disk, writer) = writer(PowerLossDirectory::new("/disk"));
        assert_eq!(append_and_sync(&disk, &writer), 0);
        let stats = writer.stats();
        assert!(stats.frames == THREADS * BATCHES && stats.syncs <= stats.frames);
        seen.fetch_min(stats.syncs, Relaxed);
        assert_eq!(last_batch(&disk), THREADS * BATCHES);
    });
    // All threads of a round at once.
    assert!(fewest.load(Relaxed) <= BATCHES + 1);
}

#[test]
fn a_log_is_replaced_while_others_append() {
    check(|| {
        let (disk, writer) = writer(PowerLossDirectory::new("/disk"));
        let rotating = {
            let (disk, writer) = (disk.clone(), writer.clone());
            thread::spawn(move || {
                for number in [2, 5] {
                    let last = writer.rotate(number).unwrap();
                    assert!((2..4).all(|seed| last_batch(&disk.crash_image(seed)) >= last));
                }
            })
        };
        assert_eq!(append_and_sync(&disk, &writer), 0);
        rotating.join().unwrap();
        assert_eq!(last_batch(&disk), THREADS * BATCHES);
    });
}

/// A sync fails: who waits for it learns it, and nobody else's batch is lost.
#[test]
fn a_failed_sync_fails_all_who_wait() {
    check(|| {
        // The second sync of frames: the header and the folder were synced before.
        let (disk, writer) = writer(PowerLossDirectory::new("/disk").with_failing_sync(3));
        let failed = append_and_sync(&disk, &writer);
        let last = writer.stats().frames;
        // All batches may have been in the first sync.
        assert!(failed > 0 || writer.sync_to(last).is_ok());
        assert!(failed == 0 || matches!(writer.append(100, 0, Vec::new()), Err(Error::Poisoned { .. })));
    });
}

#[test]
fn writes_beside_syncs() {
    check(|| {
        let (disk, writer) = writer(PowerLossDirectory::new("/disk"));
        let written = {
            let writer = writer.clone();
            thread::spawn(move || {
                for _ in 0..3 {
                    let last = writer.appended();
                    writer.write_to(last).unwrap();
                }
            })
        };
        assert_eq!(append_and_sync(&disk, &writer), 0);
        written.join().unwrap();
        assert_eq!(last_batch(&disk), THREADS * BATCHES);
    });
}
