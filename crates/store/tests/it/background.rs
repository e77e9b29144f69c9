//! Background threads: what they do, what they report, and how they stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use docvalues_storage::{Directory, FaultyDirectory, PowerLossDirectory, Step};
use docvalues_store::{Durability, MergePolicy, Store, StoreOptions};

use crate::acknowledged::filling_up;
use crate::fixture::{apply, contents, schema};

const POLICY: MergePolicy =
    MergePolicy { segments_per_tier: 2, floor_bytes: 1, max_bytes: 1 << 30, max_deleted_percent: 20 };

fn create(directory: Arc<dyn Directory>, options: StoreOptions) -> Arc<Store> {
    Arc::new(Store::create_in(directory, schema(), options).unwrap())
}

/// Waits until something is so, for a minute at most.
fn wait_until(mut is_so: impl FnMut() -> bool) {
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
    let options = StoreOptions {
        buffer_bytes: 20_000,
        refresh_every: every,
        commit_every: every,
        ..StoreOptions::default()
    };
    let store = create(Arc::new(disk.clone()), options);
    let background = store.start_background(POLICY).unwrap();
    let again = store.start_background(POLICY).unwrap_err().to_string();
    assert_eq!(again, "expected a store without background threads, found some");
    for batch in 0..50 {
        apply(&store, &docs(batch * 100..batch * 100 + 200)).unwrap();
    }
    wait_until(|| {
        let stats = store.stats().unwrap();
        (stats.unpublished, stats.uncommitted, stats.segments <= 8) == (0, 0, true)
    });
    assert_eq!(store.snapshot().docs(), 5_100);
    let stats = store.stats().unwrap();
    assert!(stats.merges.count > 0 && stats.flushes.count > 1 && stats.refreshes.count > 0, "{stats:?}");
    // Ids were looked up often enough for the table to pay.
    assert!(stats.table_bytes > 0);
    background.stop().unwrap();
    let found = contents(&store.snapshot());
    assert_eq!(found.len(), 5_100);
    drop(store.start_background(POLICY).unwrap());
    drop(store);
    assert!(contents(&Store::open_in(Arc::new(disk), options).unwrap().snapshot()) == found);
}

#[test]
fn a_log_is_synced_in_time() {
    let disk = PowerLossDirectory::new("/disk");
    let durability = Durability::Within(Duration::from_millis(1));
    let store = create(Arc::new(disk.clone()), StoreOptions { durability, ..StoreOptions::default() });
    let background = store.start_background(POLICY).unwrap();
    let syncs = store.stats().unwrap().log.syncs;
    apply(&store, &docs(0..10)).unwrap();
    wait_until(|| store.stats().unwrap().log.syncs > syncs);
    drop((background, store));
}

/// The next batch returns the error and changes nothing. When there is room again, nothing was lost.
#[test]
fn a_failure_is_returned_by_the_next_batch() {
    let disk = PowerLossDirectory::new("/disk");
    let (directory, is_full) = filling_up(&disk, "seg-");
    let store = create(directory, StoreOptions { buffer_bytes: 20_000, ..StoreOptions::default() });
    let background = store.start_background(POLICY).unwrap();
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

/// A merge that takes for ever is given up, and its file is removed.
#[test]
fn a_merge_is_given_up() {
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
    let background = store.start_background(POLICY).unwrap();
    wait_until(|| is_merging.load(Relaxed));
    background.stop().unwrap();
    assert_eq!((store.stats().unwrap().merges.count, store.stats().unwrap().segments), (0, 6));
    let segments =
        disk.list().unwrap().into_iter().filter(|entry| entry.name.to_str().unwrap().starts_with("seg-"));
    assert_eq!(segments.count(), 6);
    is_slow.store(false, Relaxed);
    store.merge(&POLICY).unwrap();
    assert_eq!(store.snapshot().docs(), 60);
}
