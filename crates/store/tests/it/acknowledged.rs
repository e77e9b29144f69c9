//! Batches that were acknowledged survive, with each durability: every kill, every power loss, every call that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use docvalues_search::Query;
use docvalues_storage::{Directory, Step};
use docvalues_store::error::Result;
use docvalues_store::{Durability, Outcome, Store, StoreOptions};
use docvalues_testkit::faults::{FaultyDirectory, PowerLossDirectory};

use crate::fixture::{Contents, add, apply, contents, schema};
use crate::id_files::{Ids, check as check_ids, side_files};

/// Some buffers are filled by a few batches.
fn options(durability: Durability) -> StoreOptions {
    StoreOptions::new().durability(durability).buffer_bytes(20_000)
}

/// The operations of batch `round`: documents of two sizes, and some deletes.
fn batch(round: u32) -> Vec<(u32, Option<i64>)> {
    let docs = 1 + round * 7 % 40;
    (0..docs)
        .map(|i| {
            (round * 13 % 50 + i, (i == 0 || !(round + i).is_multiple_of(6)).then_some(i64::from(round)))
        })
        .collect()
}

/// What a store contains after each of the first `rounds` batches.
fn histories(rounds: u32) -> Vec<Contents> {
    let mut all = vec![Contents::new()];
    for round in 0..rounds {
        let mut now = all.last().unwrap().clone();
        for (id, size) in batch(round) {
            now.remove(&id);
            now.extend(size.map(|size| (id, size)));
        }
        all.push(now);
    }
    all
}

const ROUNDS: u32 = 30;

/// Applies batches, commits, merges and opens the store again, with side files. Calls `at` after each step with how many batches were
/// acknowledged.
fn script(disk: &Arc<dyn Directory>, durability: Durability, mut at: impl FnMut(usize, bool)) -> Result<()> {
    let mut store = Store::create_in_with(disk.clone(), schema(), options(durability), Ids::new())?;
    at(0, true);
    for round in 0..ROUNDS {
        apply(&store, &batch(round))?;
        let batches = round as usize + 1;
        at(batches, false);
        let reopens = round % 8 == 6;
        if round % 5 == 4 || reopens && durability == Durability::OnCommit {
            store.commit()?;
            at(batches, true);
        }
        if round % 9 == 8 {
            store.merge_to(1)?;
        }
        if reopens {
            drop(store);
            store = Store::open_in_with(disk.clone(), options(durability), Ids::new())?;
            at(batches, true);
        }
    }
    Ok(())
}

/// Opens what is there, and goes on. Returns how many batches are there.
fn found(disk: &PowerLossDirectory, durability: Durability, histories: &[Contents]) -> Result<usize, String> {
    let disk: Arc<dyn Directory> = Arc::new(disk.clone());
    let store = Store::open_in_with(disk.clone(), options(durability), Ids::new())
        .map_err(|error| error.to_string())?;
    let found = contents(&store.snapshot());
    assert_eq!(side_files(&*disk), check_ids(&store.snapshot()), "none orphaned, none missing");
    let batches = histories.iter().position(|known| *known == found);
    let batches = batches.unwrap_or_else(|| {
        let differs = |known: &Contents| {
            let both = known.keys().chain(found.keys()).filter(|id| known.get(id) != found.get(id));
            both.map(|id| (*id, known.get(id).copied(), found.get(id).copied())).collect::<Vec<_>>()
        };
        let nearest = histories.iter().map(differs).enumerate().min_by_key(|(_, differs)| differs.len());
        panic!("a part of a batch, nearest: {nearest:?}")
    });
    apply(&store, &[(9_999, Some(1))]).unwrap();
    drop(store);
    let store = Store::open_in_with(disk, options(durability), Ids::new()).unwrap();
    // Without a log, the last batch was not committed.
    let is_there = store.snapshot().find(b"doc-09999").unwrap().is_some();
    assert_eq!(is_there, durability != Durability::OnCommit);
    store.snapshot().segments().try_for_each(|part| part.segment.verify()).unwrap();
    Ok(batches)
}

/// What may be lost.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    /// Nothing that was written: the process was killed.
    Kill,
    /// What was not synced.
    Power,
}

/// Checks what is there after `acknowledged` batches, of which `committed` were committed.
fn check(
    found: Result<usize, String>,
    (acknowledged, committed): (usize, usize),
    durability: Durability,
    loss: Loss,
) {
    let least = match (durability, loss) {
        (Durability::EachBatch, _) | (Durability::Within(_), Loss::Kill) => acknowledged,
        _ => committed,
    };
    match found {
        // The batch that was being applied may be there.
        Ok(found) => assert!(
            (least..=acknowledged + 1).contains(&found),
            "{durability:?}, {loss:?}: {found} batches of {acknowledged}, {committed} committed"
        ),
        Err(error) => assert_eq!(acknowledged, 0, "{error}"),
    }
}

const ALL: [Durability; 3] =
    [Durability::EachBatch, Durability::OnCommit, Durability::Within(Duration::from_secs(3_600))];

/// Runs the script on a disk, or over it, and looks at what is left. Without another directory over it, the disk goes down.
fn run(
    disk: &PowerLossDirectory,
    over: Option<Arc<dyn Directory>>,
    durability: Durability,
    histories: &[Contents],
    seed: u64,
) {
    let (mut acknowledged, mut committed) = (0, 0);
    let is_down = over.is_none();
    let over = over.unwrap_or_else(|| Arc::new(disk.clone()));
    let _ = script(&over, durability, |batches, is_committed| {
        acknowledged = batches;
        committed = if is_committed { batches } else { committed };
    });
    drop(over);
    let counts = (acknowledged, committed);
    for draw in 0..2 {
        let image = disk.crash_image(2 * seed + draw);
        check(found(&image, durability, histories), counts, durability, Loss::Power);
    }
    if !is_down {
        check(found(disk, durability, histories), counts, durability, Loss::Kill);
    }
}

#[test]
fn every_power_loss_keeps_what_was_acknowledged() {
    let histories = histories(ROUNDS);
    let mut images = 0;
    for durability in ALL {
        let disk = PowerLossDirectory::new("/disk");
        let over: Arc<dyn Directory> = Arc::new(disk.clone());
        script(&over, durability, |_, _| {}).unwrap();
        let syncs = disk.sync_count();
        drop(over);
        for n in 0..syncs {
            let down = PowerLossDirectory::new("/disk").down_at_sync(n);
            run(&down, None, durability, &histories, n);
            let failing = PowerLossDirectory::new("/disk").with_failing_sync(n);
            run(&failing, Some(Arc::new(failing.clone())), durability, &histories, n);
            images += 4;
        }
    }
    println!("{images} images");
}

#[test]
fn every_call_that_fails_keeps_what_was_acknowledged() {
    let histories = histories(ROUNDS);
    let step = crate::cases(17, 1);
    let mut failures = 0;
    for durability in ALL {
        // The number of calls, when none fails.
        let count = Arc::new(AtomicUsize::new(0));
        let (disk, counted) = (PowerLossDirectory::new("/disk"), count.clone());
        let counting = FaultyDirectory::new(Arc::new(disk), move |call| {
            counted.fetch_add(1, Relaxed);
            Ok(call.bytes)
        });
        script(&(Arc::new(counting) as Arc<dyn Directory>), durability, |_, _| {}).unwrap();
        for at in (0..count.load(Relaxed)).step_by(step) {
            for is_lasting in [false, true] {
                let disk = PowerLossDirectory::new("/disk");
                let mut calls = 0;
                let failing = FaultyDirectory::new(Arc::new(disk.clone()), move |call| {
                    calls += 1;
                    if calls - 1 == at || is_lasting && calls > at {
                        return Err(std::io::Error::from_raw_os_error(5));
                    }
                    Ok(call.bytes)
                });
                run(&disk, Some(Arc::new(failing)), durability, &histories, at as u64);
                failures += 1;
            }
        }
    }
    println!("{failures} failures");
}

#[test]
fn callers_share_syncs() {
    let disk = PowerLossDirectory::new("/disk");
    let directory: Arc<dyn Directory> = Arc::new(disk.clone());
    let store = Store::create_in(directory, schema(), options(Durability::EachBatch)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let store = &store;
            scope.spawn(move || {
                for round in 0..25 {
                    apply(store, &[(thread * 1_000 + round, Some(1))]).unwrap();
                }
            });
        }
    });
    drop(store);
    let store = Store::open_in(Arc::new(disk.crash_image(1)), options(Durability::OnCommit)).unwrap();
    assert_eq!(contents(&store.snapshot()).len(), 100);
    // Without a log, the commit of the opening names none.
    drop(store);
}

#[test]
fn batches_refresh_and_commit_when_it_is_time() {
    let folder = tempfile::tempdir().unwrap();
    let every = |refresh_every: Option<Duration>, commit_every: Option<Duration>| {
        StoreOptions::default().refresh_every(refresh_every).commit_every(commit_every)
    };
    let path = folder.path().join("a");
    let store = Store::create(&path, schema(), every(Some(Duration::ZERO), None)).unwrap();
    apply(&store, &[(1, Some(1))]).unwrap();
    assert_eq!(store.snapshot().docs(), 0);
    apply(&store, &[(2, Some(2))]).unwrap();
    assert_eq!((store.snapshot().docs(), store.snapshot().commit()), (1, 1));
    drop(store);
    let store = Store::open(&path, every(None, Some(Duration::ZERO))).unwrap();
    for number in [3, 4] {
        apply(&store, &[(number, Some(1))]).unwrap();
    }
    drop(store);
    let store = Store::open(&path, every(None, Some(Duration::from_secs(3_600)))).unwrap();
    assert_eq!(
        contents(&store.snapshot()),
        Contents::from([(3, 1)]),
        "the first of two batches was committed"
    );
    for number in [5, 6] {
        apply(&store, &[(number, Some(1))]).unwrap();
    }
    assert_eq!(store.snapshot().docs(), 1, "it is not time");
    assert_eq!(store.stats().unwrap().unpublished, 2);
}

/// The disk, on which no file with `part` in its name can be created while the flag is set.
pub(crate) fn filling_up(
    disk: &PowerLossDirectory,
    part: &'static str,
) -> (Arc<dyn Directory>, Arc<AtomicBool>) {
    let is_full = Arc::new(AtomicBool::new(false));
    let full = is_full.clone();
    let directory = FaultyDirectory::new(Arc::new(disk.clone()), move |call| {
        let is_refused =
            full.load(Relaxed) && call.step == Step::Create && call.name.to_str().unwrap().contains(part);
        if is_refused { Err(std::io::Error::from_raw_os_error(28)) } else { Ok(call.bytes) }
    });
    (Arc::new(directory), is_full)
}

/// A file that a killed writer left, and that no commit names, gives its space to the next writer.
#[test]
fn a_full_disk_gets_the_space_of_files_that_no_commit_names() {
    for durability in [Durability::OnCommit, Durability::EachBatch] {
        let disk = PowerLossDirectory::new("/disk");
        let store = Store::create_in(Arc::new(disk.clone()), schema(), options(durability)).unwrap();
        apply(&store, &[(1, Some(1))]).unwrap();
        store.commit().unwrap();
        apply(&store, &[(2, Some(2))]).unwrap();
        drop(store);
        let left = std::ffi::OsStr::new("seg-0000ff.dv");
        drop(disk.create(left).unwrap());
        let full = disk.clone();
        let directory = FaultyDirectory::new(Arc::new(disk.clone()), move |call| {
            let is_refused = call.step == Step::Create && call.name != "LOCK" && full.open(left).is_ok();
            if is_refused { Err(std::io::Error::from_raw_os_error(28)) } else { Ok(call.bytes) }
        });
        let store = Store::open_in(Arc::new(directory), options(durability)).unwrap();
        let expected: &[(u32, i64)] =
            if durability == Durability::OnCommit { &[(1, 1)] } else { &[(1, 1), (2, 2)] };
        assert_eq!(contents(&store.snapshot()), expected.iter().copied().collect());
        assert!(disk.open(left).is_err());
    }
}

/// A change that the log does not hold could not be committed; batches that build on it are acknowledged.
#[test]
fn batches_after_a_change_that_was_lost_are_applied_again() {
    let disk = PowerLossDirectory::new("/disk");
    let (directory, is_full) = filling_up(&disk, "commit-");
    let store = Store::create_in(directory, schema(), options(Durability::EachBatch)).unwrap();
    apply(&store, &[(1, Some(1)), (2, Some(2))]).unwrap();
    is_full.store(true, Relaxed);
    add(&store, &[(3, 3)]).unwrap_err();
    store.delete_where(&Query::range("size", 1..2)).unwrap_err();
    assert_eq!(contents(&store.snapshot()), Contents::from([(2, 2), (3, 3)]));
    // The first deletes what only the lost segment has; the second adds what the lost deletion had removed.
    assert_eq!(apply(&store, &[(3, None)]).unwrap(), [Outcome::Deleted]);
    assert_eq!(apply(&store, &[(1, Some(7)), (4, Some(4))]).unwrap(), [Outcome::Added, Outcome::Added]);
    drop(store);
    let again = Store::open_in(Arc::new(disk), options(Durability::OnCommit)).unwrap();
    assert_eq!(contents(&again.snapshot()), Contents::from([(1, 7), (2, 2), (4, 4)]));
}

#[test]
fn what_no_segment_can_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut small = options(Durability::OnCommit);
    (small.buffer_bytes, small.writer.budget) = (64 << 20, 10_000);
    let store = Store::create(folder.path().join("a"), schema(), small).unwrap();
    // Far above the memory for values of a segment.
    let docs: Vec<_> = (0..5_000).map(|number| (number, Some(i64::from(number) << 20))).collect();
    apply(&store, &docs).unwrap();
    let long = "x".repeat(70_000);
    let mut batch = store.batch().unwrap();
    let (id, size) = (batch.field("id").unwrap(), batch.field("size").unwrap());
    let mut doc = batch.upsert();
    doc.str(id, &long).unwrap().i64(size, 1).unwrap();
    doc.finish().unwrap();
    let error = store.apply(batch).unwrap_err().to_string();
    assert_eq!(error, "operation 0 of the batch: expected an id of at most 65535 bytes, found 70000");
    store.commit().unwrap();
    assert_eq!(contents(&store.snapshot()).len(), 5_000);
}

#[test]
fn a_full_disk_bounds_the_buffer() {
    let disk = PowerLossDirectory::new("/disk");
    let (directory, is_full) = filling_up(&disk, "seg-");
    let store = Store::create_in(directory, schema(), options(Durability::OnCommit)).unwrap();
    is_full.store(true, Relaxed);
    let batch = |first: u32| (first..first + 1_500).map(|number| (number, Some(1))).collect::<Vec<_>>();
    apply(&store, &batch(0)).unwrap();
    assert!(store.stats().unwrap().buffer_bytes > 20_000);
    for _ in 0..3 {
        apply(&store, &batch(1_500)).unwrap_err();
        assert_eq!(store.stats().unwrap().docs, 1_500);
    }
    is_full.store(false, Relaxed);
    apply(&store, &batch(1_500)).unwrap();
    assert_eq!((store.stats().unwrap().docs, store.stats().unwrap().segments), (3_000, 1));
}

/// The flush of two blocks of documents fails; a document of the second one is deleted before the next flush.
#[test]
fn deletes_after_a_failed_flush_hit_their_documents() {
    let disk = PowerLossDirectory::new("/disk");
    let (directory, is_full) = filling_up(&disk, "seg-");
    let store = Store::create_in(directory, schema(), StoreOptions::default()).unwrap();
    let all: Vec<(u32, Option<i64>)> = (0..9_010).map(|doc| (doc, Some(doc.into()))).collect();
    let (first, second) = all.split_at(9_000);
    [first, second].into_iter().for_each(|docs| drop(apply(&store, docs).unwrap()));
    is_full.store(true, Relaxed);
    store.commit().unwrap_err();
    is_full.store(false, Relaxed);
    apply(&store, &[(9_004, None)]).unwrap();
    store.commit().unwrap();
    let mut expected: Contents = all.iter().filter_map(|(doc, size)| Some((*doc, (*size)?))).collect();
    expected.remove(&9_004);
    assert!(contents(&store.snapshot()) == expected);
}
