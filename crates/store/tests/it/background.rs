//! Background threads: what they do, what they report, and how they stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use docvalues_storage::{Directory, Step};
use docvalues_store::{Background, BackgroundOptions, Durability, MergePolicy, Store, StoreOptions};
use docvalues_testkit::faults::{FaultyDirectory, PowerLossDirectory};

use crate::acknowledged::filling_up;
use crate::fixture::{Stop, apply, contents, schema};

const POLICY: MergePolicy = MergePolicy::new()
    .segments_per_tier(2)
    .floor_bytes(1)
    .max_bytes(1 << 30)
    .max_deleted_percent(20)
    .max_updates_bytes(1 << 28);

fn create(directory: Arc<dyn Directory>, options: StoreOptions) -> Arc<Store> {
    Arc::new(Store::create_in(directory, schema(), options).unwrap())
}

fn background(stores: &[&Arc<Store>]) -> Background {
    let options = BackgroundOptions::new().merges(POLICY);
    let background = Background::start(options).unwrap();
    stores.iter().for_each(|store| background.add(store).unwrap());
    background
}

/// Waits until something is so, for a minute at most.
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "it is not so after a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn docs(range: std::ops::Range<u32>) -> Vec<(u32, Option<i64>)> {
    range.map(|number| (number, Some(1))).collect()
}

#[test]
fn changes_become_visible_and_durable_and_segments_are_merged() {
    let disk = PowerLossDirectory::new("/disk");
    let every = Some(Duration::from_millis(1));
    let options = StoreOptions::new().buffer_bytes(20_000).refresh_every(every).commit_every(every);
    let store = create(Arc::new(disk.clone()), options);
    let background = background(&[&store]);
    let again = background.add(&store).unwrap_err().to_string();
    assert_eq!(again, "expected a store without background threads, found some");
    for batch in 0..50 {
        apply(&store, &docs(batch * 100..batch * 100 + 200)).unwrap();
    }
    // Two a tier, and seven tiers: the largest segment has at most 2^7 times the bytes of the smallest.
    wait_until(|| {
        let stats = store.stats().unwrap();
        (stats.unpublished, stats.uncommitted, stats.segments <= 14) == (0, 0, true)
    });
    assert_eq!(store.snapshot().docs(), 5_100);
    let stats = store.stats().unwrap();
    assert!(stats.merges.count > 0 && stats.flushes.count > 1 && stats.refreshes.count > 0, "{stats:?}");
    // Ids were looked up often enough for the table to pay.
    assert!(stats.table_bytes > 0);
    background.remove(&store).unwrap();
    let found = contents(&store.snapshot());
    assert_eq!(found.len(), 5_100);
    background.add(&store).unwrap();
    drop(background);
    drop(store);
    assert!(contents(&Store::open_in(Arc::new(disk), options).unwrap().snapshot()) == found);
}

#[test]
fn a_log_is_synced_in_time() {
    let disk = PowerLossDirectory::new("/disk");
    let durability = Durability::Within(Duration::from_millis(1));
    let store = create(Arc::new(disk.clone()), StoreOptions::new().durability(durability));
    let background = background(&[&store]);
    let syncs = store.stats().unwrap().log.syncs;
    apply(&store, &docs(0..10)).unwrap();
    wait_until(|| store.stats().unwrap().log.syncs > syncs);
    drop((background, store));
}

/// A batch syncs its log if the thread is busy with another store.
#[test]
fn a_log_is_synced_beside_a_slow_one() {
    let (is_done, is_syncing) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (done, syncing) = (is_done.clone(), is_syncing.clone());
    let directory = FaultyDirectory::new(Arc::new(PowerLossDirectory::new("/slow")), move |call| {
        if std::thread::current().name() == Some("dv-refresh") && call.step == Step::Sync {
            syncing.store(true, Relaxed);
            while !done.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(call.bytes)
    });
    let within = |millis| StoreOptions::new().durability(Durability::Within(Duration::from_millis(millis)));
    // So long that the batch below leaves the sync to the thread.
    let busy = create(Arc::new(directory), within(500));
    let store = create(Arc::new(PowerLossDirectory::new("/disk")), within(1));
    apply(&busy, &docs(0..1)).unwrap();
    let _background = background(&[&busy, &store]);
    let _stop = Stop(&is_done);
    wait_until(|| is_syncing.load(Relaxed));
    let syncs = store.stats().unwrap().log.syncs;
    wait_until(|| {
        apply(&store, &docs(0..1)).unwrap();
        store.stats().unwrap().log.syncs > syncs
    });
}

/// Without such threads, one that the store starts writes a large buffer, and batches go on meanwhile.
#[test]
fn a_large_buffer_is_written_beside_batches() {
    const BYTES: usize = 4 << 20;
    let (disk, is_done) = (PowerLossDirectory::new("/disk"), Arc::new(AtomicBool::new(false)));
    let done = is_done.clone();
    let directory = FaultyDirectory::new(Arc::new(disk), move |call| {
        while std::thread::current().name() == Some("dv-flush") && !done.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(call.bytes)
    });
    let options = StoreOptions::new().buffer_bytes(BYTES);
    let store = create(Arc::new(directory.clone()), options);
    let _stop = Stop(&is_done);
    let mut applied = 0;
    let mut apply_some = || {
        apply(&store, &docs(applied..applied + 1_000)).unwrap();
        applied += 1_000;
        let stats = store.stats().unwrap();
        assert!(stats.buffer_bytes + stats.sealed_bytes < 2 * BYTES, "{stats:?}");
        assert_eq!(stats.docs, u64::from(applied));
        stats
    };
    while apply_some().sealed_bytes == 0 {}
    // The thread waits.
    assert_eq!(apply_some().flushes.count, 0);
    is_done.store(true, Relaxed);
    while apply_some().flushes.count < 2 {}
    store.commit().unwrap();
    let committed = store.snapshot().docs();
    // A segment that is written when the store is dropped is in no commit.
    while apply_some().sealed_bytes == 0 {}
    assert!(committed < u64::from(applied));
    drop(store);
    let store = Store::open_in(Arc::new(directory), options).unwrap();
    assert_eq!(store.snapshot().docs(), committed);
}

/// The batch that finds it returns the error, and so does each one after it: they change nothing, and memory does not grow.
#[test]
fn a_large_buffer_cannot_be_written() {
    // The new buffer is smaller than what a thread writes, and larger.
    for size in [1_000, 40_000] {
        let disk = PowerLossDirectory::new("/disk");
        let (directory, is_full) = filling_up(&disk, "seg-");
        let store = create(directory, StoreOptions::new().buffer_bytes(4 << 20));
        is_full.store(true, Relaxed);
        let mut applied = 0;
        while apply(&store, &docs(applied..applied + size)).is_ok() {
            applied += size;
        }
        for _ in 0..5 {
            let error = apply(&store, &docs(applied..applied + size)).unwrap_err().to_string();
            assert!(error.contains("/disk/seg-"), "{error}");
            assert_eq!(store.stats().unwrap().docs, u64::from(applied));
        }
        is_full.store(false, Relaxed);
        apply(&store, &docs(applied..applied + size)).unwrap();
        store.commit().unwrap();
        assert_eq!(store.snapshot().docs(), u64::from(applied + size));
    }
}

/// The next batch returns the error and changes nothing. When there is room again, nothing was lost.
#[test]
fn a_failure_is_returned_by_the_next_batch() {
    let disk = PowerLossDirectory::new("/disk");
    let (directory, is_full) = filling_up(&disk, "seg-");
    let store = create(directory, StoreOptions::new().buffer_bytes(20_000));
    let background = background(&[&store]);
    is_full.store(true, Relaxed);
    let (mut applied, mut error) = (0, None);
    wait_until(|| {
        match apply(&store, &docs(applied..applied + 100)) {
            Ok(_) => applied += 100,
            Err(failed) => error = Some(failed.to_string()),
        }
        let bytes = store.stats().unwrap();
        // The memory is bounded: by one batch, and the growth of the table of ids, more than there may be.
        assert!(bytes.buffer_bytes + bytes.sealed_bytes < 2 * 20_000, "{bytes:?}");
        error.as_ref().is_some_and(|error| error.contains("in the background"))
    });
    let error = error.unwrap();
    assert!(error.contains("/disk/seg-"), "{error}");
    assert_eq!(store.stats().unwrap().docs, u64::from(applied));
    is_full.store(false, Relaxed);
    wait_until(|| apply(&store, &docs(applied..applied + 100)).is_ok());
    drop(background);
    store.commit().unwrap();
    assert_eq!(store.snapshot().docs(), u64::from(applied) + 100);
}

/// A merge that takes for ever is cancelled, and its file is removed.
#[test]
fn a_merge_is_cancelled() {
    let disk = PowerLossDirectory::new("/disk");
    let (is_slow, is_merging) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (slow, merging) = (is_slow.clone(), is_merging.clone());
    let directory = FaultyDirectory::new(Arc::new(disk.clone()), move |call| {
        if slow.load(Relaxed) && call.step == Step::Create && call.name.to_str().unwrap().starts_with("seg-")
        {
            merging.store(true, Relaxed);
            // Until it is to stop, which sets no flag that a test could see.
            std::thread::sleep(Duration::from_secs(1));
        }
        Ok(call.bytes)
    });
    let store = create(Arc::new(directory), StoreOptions::default());
    for batch in 0..6 {
        apply(&store, &docs(batch * 10..batch * 10 + 10)).unwrap();
        store.commit().unwrap();
    }
    is_slow.store(true, Relaxed);
    let background = background(&[&store]);
    wait_until(|| is_merging.load(Relaxed));
    background.remove(&store).unwrap();
    assert_eq!((store.stats().unwrap().merges.count, store.stats().unwrap().segments), (0, 6));
    let segments =
        disk.list().unwrap().into_iter().filter(|entry| entry.name.to_str().unwrap().starts_with("seg-"));
    assert_eq!(segments.count(), 6);
    is_slow.store(false, Relaxed);
    store.merge(&POLICY).unwrap();
    assert_eq!(store.snapshot().docs(), 60);
}

/// Stores that share threads also share memory: the largest buffer is written.
#[test]
fn memory_is_shared() {
    let options = StoreOptions::new().refresh_every(Duration::from_millis(1));
    let stores: Vec<Arc<Store>> =
        (0..20).map(|_| create(Arc::new(PowerLossDirectory::new("/disk")), options)).collect();
    let shared = Background::start(BackgroundOptions::new().merges(POLICY).buffer_bytes(100_000)).unwrap();
    stores.iter().for_each(|store| shared.add(store).unwrap());
    std::thread::scope(|scope| {
        for part in stores.chunks(5) {
            scope.spawn(move || {
                for batch in 0..20 {
                    // The first of them grows four times as fast.
                    for (at, store) in part.iter().enumerate() {
                        let docs = if at == 0 {
                            batch * 100..batch * 100 + 100
                        } else {
                            batch * 25..batch * 25 + 25
                        };
                        apply(store, &self::docs(docs)).unwrap();
                    }
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..100 {
                let bytes: usize = stores
                    .iter()
                    .map(|store| store.stats().unwrap())
                    .map(|stats| stats.buffer_bytes + stats.sealed_bytes)
                    .sum();
                // Each of the four threads may be one batch, and the growth of a table of ids, ahead.
                assert!(bytes < 100_000 + 4 * 20_000, "{bytes}");
            }
        });
    });
    let flushes = |store: &Arc<Store>| store.stats().unwrap().flushes.count;
    assert!(stores.iter().step_by(5).all(|store| flushes(store) > 0));
    for (at, store) in stores.iter().enumerate() {
        let docs = if at % 5 == 0 { 2_000 } else { 500 };
        wait_until(|| store.snapshot().docs() == docs);
    }
    // One that is dropped is closed; the others go on.
    let mut stores = stores.into_iter();
    let first = stores.next().unwrap();
    let last = stores.next_back().unwrap();
    drop(first);
    apply(&last, &docs(9_000..9_001)).unwrap();
    wait_until(|| last.snapshot().docs() == 501);
    let other = background(&[]);
    let error = other.remove(&last).unwrap_err().to_string();
    assert_eq!(error, "expected a store of these background threads, found another");
    drop(shared);
    other.add(&last).unwrap();
}

/// The error after a panic of [`panicking`].
const PANICKED: &str = "a task in the background failed: a thread panicked: a test panics here";

/// The disk, on which a call panics once while the flag is set.
fn panicking(disk: &PowerLossDirectory, part: &'static str) -> (Arc<dyn Directory>, Arc<AtomicBool>) {
    let panics = Arc::new(AtomicBool::new(false));
    let flag = panics.clone();
    let directory = FaultyDirectory::new(Arc::new(disk.clone()), move |call| {
        let is_part = call.step == Step::Create && call.name.to_str().unwrap().contains(part);
        assert!(!(is_part && flag.swap(false, Relaxed)), "a test panics here");
        Ok(call.bytes)
    });
    (Arc::new(directory), panics)
}

/// The next batch returns it as an error, and the threads go on.
#[test]
fn a_panic_is_an_error() {
    let (directory, panics) = panicking(&PowerLossDirectory::new("/disk"), "commit-");
    let every = Some(Duration::from_millis(1));
    let store = create(directory, StoreOptions::new().commit_every(every));
    let _background = background(&[&store]);
    panics.store(true, Relaxed);
    let (mut applied, mut error) = (0, String::new());
    wait_until(|| {
        match apply(&store, &docs(applied..applied + 1)) {
            Ok(_) => applied += 1,
            Err(failed) => error = failed.to_string(),
        }
        !error.is_empty()
    });
    assert_eq!(error, PANICKED);
    apply(&store, &docs(applied..applied + 1)).unwrap();
    wait_until(|| store.stats().unwrap().uncommitted == 0);
    assert_eq!(store.snapshot().docs(), u64::from(applied) + 1);
}

/// Also while it writes the largest of several buffers, and the thread writes them from then on.
#[test]
fn a_panic_with_shared_memory_is_an_error() {
    let (directory, panics) = panicking(&PowerLossDirectory::new("/disk"), "seg-");
    let store = create(directory, StoreOptions::default());
    let shared = Background::start(BackgroundOptions::new().merges(POLICY).buffer_bytes(100_000)).unwrap();
    shared.add(&store).unwrap();
    panics.store(true, Relaxed);
    let (mut applied, mut errors) = (0, Vec::new());
    wait_until(|| {
        match apply(&store, &docs(applied..applied + 100)) {
            Ok(_) => applied += 100,
            Err(failed) => errors.push(failed.to_string()),
        }
        !errors.is_empty() && store.stats().unwrap().flushes.count > 1
    });
    assert_eq!(errors, [PANICKED]);
    store.refresh().unwrap();
    assert_eq!(store.snapshot().docs(), u64::from(applied));
}

/// A buffer that could not be written is written when the disk has room, as the memory is shared: no batch need follow.
#[test]
fn a_failed_write_is_tried_again() {
    let disk = PowerLossDirectory::new("/disk");
    let (directory, is_full) = filling_up(&disk, "seg-");
    let failing = create(directory, StoreOptions::default());
    let other = create(Arc::new(PowerLossDirectory::new("/other")), StoreOptions::default());
    // Documents from before the store was added count, too.
    apply(&failing, &docs(0..2_000)).unwrap();
    is_full.store(true, Relaxed);
    let shared = Background::start(BackgroundOptions::new().merges(POLICY).buffer_bytes(100_000)).unwrap();
    for store in [&failing, &other] {
        shared.add(store).unwrap();
    }
    let held = || {
        let stats = failing.stats().unwrap();
        (stats.buffer_bytes, stats.sealed_bytes > 0)
    };
    wait_until(|| held() == (0, true));
    is_full.store(false, Relaxed);
    wait_until(|| {
        apply(&other, &docs(0..1)).unwrap();
        held() == (0, false)
    });
    let error = apply(&failing, &docs(0..1)).unwrap_err().to_string();
    assert!(error.starts_with("a flush in the background failed: "), "{error}");
    assert_eq!(failing.stats().unwrap().docs, 2_000);
}

/// A batch that exceeds the memory is written before the next one.
#[test]
fn a_large_batch_is_written_before_the_next() {
    let options = StoreOptions::new().buffer_bytes(50_000);
    let store = create(Arc::new(PowerLossDirectory::new("/disk")), options);
    let _background = background(&[&store]);
    for batch in 0..10 {
        apply(&store, &docs(batch * 2_000..batch * 2_000 + 2_000)).unwrap();
        apply(&store, &docs(0..1)).unwrap();
        let stats = store.stats().unwrap();
        assert!(stats.buffer_bytes + stats.sealed_bytes < 10_000, "{stats:?}");
    }
}

/// Also without such threads, whether or not one of the store writes the buffer before it.
#[test]
fn a_large_batch_is_written_before_the_next_by_the_call() {
    let store = create(Arc::new(PowerLossDirectory::new("/disk")), StoreOptions::new().buffer_bytes(2 << 20));
    for has_thread in [false, true, true] {
        while has_thread && store.stats().unwrap().sealed_bytes == 0 {
            apply(&store, &docs(0..2_000)).unwrap();
        }
        apply(&store, &docs(0..80_000)).unwrap();
        assert!(store.stats().unwrap().buffer_bytes > 2 << 20);
        apply(&store, &docs(0..1)).unwrap();
        let stats = store.stats().unwrap();
        assert!(stats.buffer_bytes + stats.sealed_bytes < 10_000, "{stats:?}");
    }
}

/// A batch waits while segments are merged, if there are more than the options say, but not for ever, nor when nothing is left
/// to merge.
#[test]
fn batches_are_slowed_down_if_merges_fall_behind() {
    let (is_done, is_merging) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (done, merging) = (is_done.clone(), is_merging.clone());
    let directory = FaultyDirectory::new(Arc::new(PowerLossDirectory::new("/disk")), move |call| {
        let is_merge = std::thread::current().name() == Some("dv-merge") && call.step == Step::Create;
        while is_merge && !done.load(Relaxed) {
            merging.store(true, Relaxed);
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(call.bytes)
    });
    let store = create(Arc::new(directory), StoreOptions::default());
    for batch in 0..6 {
        apply(&store, &docs(batch * 10..batch * 10 + 10)).unwrap();
        store.commit().unwrap();
    }
    let options = BackgroundOptions::new().merges(POLICY).max_segments(0);
    let background = Background::start(options).unwrap();
    background.add(&store).unwrap();
    let _stop = Stop(&is_done);
    wait_until(|| is_merging.load(Relaxed));
    let began = Instant::now();
    apply(&store, &docs(60..61)).unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(store.stats().unwrap().merges.count, 0);
    is_done.store(true, Relaxed);
    let mut next = 61;
    wait_until(|| {
        let began = Instant::now();
        apply(&store, &docs(next..next + 1)).unwrap();
        next += 1;
        began.elapsed() < Duration::from_secs(1)
    });
    assert!(store.stats().unwrap().segments > 0);
}

/// Though a thread works for another store that was added with it.
#[test]
fn a_store_that_is_removed_can_be_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let is_merging = Arc::new(AtomicBool::new(false));
    let merging = is_merging.clone();
    let directory = FaultyDirectory::new(Arc::new(PowerLossDirectory::new("/disk")), move |call| {
        if std::thread::current().name() == Some("dv-merge") && call.step == Step::Create {
            merging.store(true, Relaxed);
            std::thread::sleep(Duration::from_secs(1));
        }
        Ok(call.bytes)
    });
    let slow = create(Arc::new(directory), StoreOptions::default());
    for batch in 0..6 {
        apply(&slow, &docs(batch * 10..batch * 10 + 10)).unwrap();
        slow.commit().unwrap();
    }
    let store = Arc::new(Store::create(folder.path(), schema(), StoreOptions::default()).unwrap());
    let background = background(&[&slow, &store]);
    wait_until(|| is_merging.load(Relaxed));
    background.remove(&store).unwrap();
    drop(store);
    drop(Store::open(folder.path(), StoreOptions::default()).unwrap());
}
