//! The newest commit is damaged or gone, or the store is to go back: batches that were acknowledged are applied again, or
//! named before anything changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use docvalues_reader::OpenOptions;
use docvalues_search::Query;
use docvalues_storage::Directory;
use docvalues_store::error::Result;
use docvalues_store::{Durability, Error, KeepCommits, Store, StoreOptions, StoreReader};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::fixture::{Contents, apply, contents, problems, schema};

fn options(durability: Durability) -> StoreOptions {
    StoreOptions::new().durability(durability).keep_commits(KeepCommits::Newest(2))
}

const LOG: Durability = Durability::EachBatch;
const NO_LOG: Durability = Durability::OnCommit;

/// Commits 1 and 2 without a log, and commit 3 with the same batches and a log of five more, 2 to 6.
fn store(folder: &Path) {
    let store = Store::create(folder, schema(), options(NO_LOG)).unwrap();
    apply(&store, &[(1, Some(1))]).unwrap();
    store.commit().unwrap();
    drop(store);
    let store = Store::open(folder, options(LOG)).unwrap();
    for batch in 2..=6 {
        apply(&store, &[(batch, Some(batch.into()))]).unwrap();
    }
}

/// What it has after a batch.
fn after(batch: u32) -> Contents {
    (1..=batch).map(|batch| (batch, batch.into())).collect()
}

fn open(folder: &Path) -> Result<Contents> {
    Ok(contents(&Store::open(folder, options(NO_LOG))?.snapshot()))
}

/// The names and bytes of all files but the lock's.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = crate::fixture::files(folder);
    files.retain(|name, _| !name.starts_with("LOCK"));
    files
}

fn log_of(folder: &Path) -> std::path::PathBuf {
    let (name, _) = files(folder).into_iter().find(|(name, _)| name.starts_with("log-")).unwrap();
    folder.join(name)
}

#[test]
fn the_log_follows_the_older_commit() {
    for is_damaged in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path());
        if is_damaged {
            let newest = folder.path().join("commit-00000003");
            let mut bytes = fs::read(&newest).unwrap();
            bytes[50] ^= 1;
            fs::write(&newest, bytes).unwrap();
            assert!(matches!(open(folder.path()), Err(Error::Damaged { .. })));
        }
        let recovered = Store::recover(folder.path(), 2, None, options(NO_LOG)).unwrap();
        assert_eq!((recovered.commit.number, recovered.replayed, &recovered.discarded), (4, 5, &None));
        assert_eq!(open(folder.path()).unwrap(), after(6));
        assert!(!is_damaged || problems(folder.path()).len() == 1);
    }
}

#[test]
fn a_missing_newest_commit_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    fs::remove_file(folder.path().join("commit-00000003")).unwrap();
    let before = files(folder.path());
    let what = "expected the commit that names this log, found commit 2: its batches from 2 on would be lost";
    let error = open(folder.path()).unwrap_err().to_string();
    assert!(error.contains(what) && error.contains("log-"), "{error}");
    let found = problems(folder.path());
    assert!(found.len() == 1 && found[0].contains(what), "{found:?}");
    assert!(StoreReader::log_frames(folder.path()).unwrap_err().to_string().contains(what));
    assert!(StoreReader::position(folder.path()).unwrap_err().to_string().contains(what));
    assert!(files(folder.path()) == before, "nothing is changed");
    // Nor is another store created over the log.
    for commit in ["commit-00000001", "commit-00000002"] {
        fs::rename(folder.path().join(commit), folder.path().join(format!("{commit}.bak"))).ok();
    }
    let error = Store::create(folder.path(), schema(), options(NO_LOG)).unwrap_err().to_string();
    assert!(error.contains("expected the commit that names this log, found none"), "{error}");
    fs::rename(folder.path().join("commit-00000002.bak"), folder.path().join("commit-00000002")).unwrap();
    let recovered = Store::recover(folder.path(), 2, None, options(NO_LOG)).unwrap();
    assert_eq!((recovered.replayed, recovered.lost), (5, Vec::new()));
    assert_eq!(open(folder.path()).unwrap(), after(6));
    assert_eq!(problems(folder.path()), [""; 0]);
}

#[test]
fn a_log_that_another_process_begins_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    assert_eq!(open(folder.path()).unwrap(), after(6));
    // A writer was killed before the commit that would have named its log.
    fs::write(folder.path().join("log-000000ff"), [0; 100]).unwrap();
    assert_eq!(problems(folder.path()), [""; 0]);
    assert_eq!(open(folder.path()).unwrap(), after(6));
}

#[test]
fn batches_are_discarded_on_request() {
    for (from, last) in [(0, 1), (2, 1), (4, 3), (6, 5)] {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path());
        let recovered = Store::recover(folder.path(), 2, Some(from), options(NO_LOG)).unwrap();
        let discarded = recovered.discarded.unwrap();
        assert_eq!((recovered.replayed, discarded), (last - 1, last + 1..=6));
        assert_eq!(open(folder.path()).unwrap(), after(u32::try_from(last).unwrap()));
    }
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    let recovered = Store::recover(folder.path(), 2, Some(7), options(NO_LOG)).unwrap();
    assert_eq!((recovered.replayed, recovered.discarded), (5, None));
}

/// A flipped bit in each frame, the header, and between: what follows it is named, and lost only on request.
#[test]
fn damage_to_the_log_is_named() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    let frames: Vec<_> = StoreReader::log_frames(folder.path()).unwrap().map(Result::unwrap).collect();
    let places =
        frames[..4].iter().map(|frame| (usize::try_from(frame.offset).unwrap() + 60, frame.sequence));
    for (place, first) in places.chain([(20, 2)]) {
        let copy = tempfile::tempdir().unwrap();
        for (name, bytes) in files(folder.path()) {
            fs::write(copy.path().join(name), bytes).unwrap();
        }
        let log = log_of(copy.path());
        let mut bytes = fs::read(&log).unwrap();
        bytes[place] ^= 1;
        fs::write(&log, bytes).unwrap();
        let before = files(copy.path());
        // Also the newest commit is one to go back to, as it cannot be opened.
        assert!(matches!(open(copy.path()), Err(Error::Damaged { .. })), "{place}");
        for to in [2, 3] {
            let recover = |from| Store::recover(copy.path(), to, from, options(NO_LOG));
            for from in [None, Some(first + 1)] {
                let error = recover(from).unwrap_err();
                let named = matches!(&error, Error::LostBatches { first: f, last: 6, .. } if *f == first);
                assert!(named, "{place}: {error}");
            }
            assert!(files(copy.path()) == before, "nothing is changed");
        }
        let recovered = Store::recover(copy.path(), 3, Some(first), options(NO_LOG)).unwrap();
        assert_eq!((recovered.replayed, recovered.discarded), (first - 2, Some(first..=6)));
        assert_eq!(open(copy.path()).unwrap(), after(u32::try_from(first).unwrap() - 1));
    }
}

/// The log does not hold segments and deletions by a query, and not what earlier logs had.
#[test]
fn batches_that_do_not_follow_are_named() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    let store = Store::open(folder.path(), options(LOG)).unwrap();
    apply(&store, &[(7, Some(7))]).unwrap();
    store.delete_where(&Query::eq("size", 3)).unwrap();
    apply(&store, &[(9, Some(9))]).unwrap();
    drop(store);
    let numbers: Vec<u64> =
        StoreReader::commits(folder.path()).unwrap().into_iter().map(|(number, _)| number).collect();
    let newest = folder.path().join(format!("commit-{:08}", numbers[1]));
    let bytes = fs::read(&newest).unwrap();
    // The newest is whole: what it has is lost with it, and so is what comes after.
    for is_gone in [false, true] {
        if is_gone {
            fs::write(&newest, &bytes[1..]).unwrap();
        }
        let recover = |from| Store::recover(folder.path(), numbers[0], from, options(NO_LOG));
        let error = recover(None).unwrap_err();
        let expected = if is_gone { 7 } else { 9 };
        let named = matches!(&error, Error::LostBatches { first, last: 9, .. } if *first == expected);
        assert!(named, "{error}");
    }
    let recovered = Store::recover(folder.path(), numbers[0], Some(0), options(NO_LOG)).unwrap();
    assert_eq!(recovered.discarded, Some(7..=9));
    assert_eq!(open(folder.path()).unwrap(), after(6));
}

/// With the frames of older commits kept, the log follows over several commits, up to a change that it does not hold.
#[test]
fn kept_frames_follow_over_commits() {
    let folder = tempfile::tempdir().unwrap();
    let kept = options(LOG).keep_frames(1 << 20);
    let store = Store::create(folder.path(), schema(), kept).unwrap();
    for batch in 1..=6 {
        apply(&store, &[(batch, Some(batch.into()))]).unwrap();
        if batch % 2 == 0 {
            store.commit().unwrap();
        }
    }
    drop(store);
    fs::write(folder.path().join("commit-00000004"), "gone").unwrap();
    assert_eq!(Store::recover(folder.path(), 3, None, kept).unwrap().replayed, 2);
    assert_eq!(open(folder.path()).unwrap(), after(6));
}

/// One session with a log, one without, and so on. Calls `at` with the batches that were acknowledged.
fn script(disk: &Arc<dyn Directory>, mut at: impl FnMut(u32)) -> Result<()> {
    let mut batch = 0;
    drop(Store::create_in(disk.clone(), schema(), options(NO_LOG))?);
    for session in 0..6 {
        let durability = if session % 3 == 1 { NO_LOG } else { LOG };
        let store = Store::open_in(disk.clone(), options(durability))?;
        for _ in 0..4 {
            batch += 1;
            apply(&store, &[(batch, Some(batch.into()))])?;
            if durability == NO_LOG || batch % 5 == 0 {
                store.commit()?;
            }
            at(batch);
        }
    }
    Ok(())
}

/// After a power loss at each sync, the newest commit is removed or damaged. A writer refuses what would lose batches, and
/// going back to an older commit has all of them, or says which it lacks.
#[test]
fn a_lost_commit_after_a_power_loss_loses_nothing_silently() {
    let over = |disk: &PowerLossDirectory| Arc::new(disk.clone()) as Arc<dyn Directory>;
    let disk = PowerLossDirectory::new("/disk");
    script(&over(&disk), |_| {}).unwrap();
    let (mut applied, mut named, mut refused) = (0, 0, 0);
    for n in 0..disk.sync_count() {
        let down = PowerLossDirectory::new("/disk").down_at_sync(n);
        let mut acknowledged = 0;
        let _ = script(&over(&down), |batch| acknowledged = batch);
        for (seed, is_removed) in (0..crate::cases(6, 200)).zip([true, false].into_iter().cycle()) {
            let image = over(&down.crash_image(n * 1_000 + seed));
            let mut commits: Vec<String> = image
                .list()
                .unwrap()
                .into_iter()
                .filter_map(|entry| entry.name.into_string().ok())
                .filter(|name| name.starts_with("commit-"))
                .collect();
            commits.sort();
            let [.., older, newest] = &commits[..] else { continue };
            let newest_commit = StoreReader::open_in(image.clone(), OpenOptions::new()).unwrap().snapshot();
            image.remove(newest.as_ref()).unwrap();
            if !is_removed {
                image.create(newest.as_ref()).unwrap().write_at(b"damaged", 0).unwrap();
            }
            // What is in no commit that is left, and in no log, nobody can know: it is named as the commit that is lost.
            let is_logged = StoreReader::log_frames_in(image.clone());
            match Store::open_in(image.clone(), options(NO_LOG)) {
                Ok(store) => {
                    let found = contents(&store.snapshot());
                    let least = if is_logged.is_ok_and(|mut frames| frames.next().is_some()) {
                        acknowledged
                    } else {
                        0
                    };
                    assert!(found.len() >= least as usize, "{n}, {seed}: {} of {acknowledged}", found.len());
                    continue;
                }
                Err(Error::Damaged { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
            let to: u64 = older.trim_start_matches("commit-").parse().unwrap();
            // Only what the lost commit had, and no log after it, may be lacking unnamed.
            let is_logged = newest_commit.docs() < u64::from(acknowledged);
            let batches = match Store::recover_in(image.clone(), to, None, options(NO_LOG)) {
                Ok(recovered) => {
                    applied += 1;
                    assert_eq!(recovered.discarded, None);
                    assert!(!is_logged || recovered.commit.docs >= acknowledged.into(), "{n}, {seed}");
                    recovered.commit.docs
                }
                Err(Error::LostBatches { first, last, .. }) => {
                    named += 1;
                    assert!(!is_logged || last >= acknowledged.into(), "{n}, {seed}: {first} to {last}");
                    Store::recover_in(image.clone(), to, Some(first), options(NO_LOG)).unwrap();
                    first - 1
                }
                Err(error) => panic!("{n}, {seed}: {error}"),
            };
            let found = contents(&Store::open_in(image, options(NO_LOG)).unwrap().snapshot());
            assert!(found == after(u32::try_from(batches).unwrap()), "{n}, {seed}: {batches}");
        }
    }
    println!("{refused} refused; {applied} applied again, {named} named");
    assert!(applied > 20 && named > 20);
}
