//! Bytes of the caller in a commit: durable with its documents, kept by later ones, and sent to replicas.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use docvalues_reader::OpenOptions;
use docvalues_store::error::Result;
use docvalues_store::{Durability, Error, Feed, Received, Snapshot, Store, StoreOptions, StoreReader, Taken};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::fixture::{add, apply, contents, problems, schema};
use crate::replicas::{install, pair, pump};

#[test]
fn later_commits_keep_the_bytes_until_others_are_given() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    assert!(store.snapshot().user_data().is_empty());
    let first = store.commit_with(b"one").unwrap();
    let before = store.snapshot();
    assert_eq!(store.commit_with(b"one").unwrap(), first, "the same bytes are no change");
    assert_eq!(store.commit().unwrap(), first);

    add(&store, &[(1, 1)]).unwrap();
    assert!(store.commit().unwrap() > first);
    assert_eq!(store.snapshot().user_data(), b"one");
    store.commit_with(b"two").unwrap();
    assert_eq!((before.user_data(), store.snapshot().user_data()), (&b"one"[..], &b"two"[..]));
    let reader = StoreReader::open(folder.path(), OpenOptions::new()).unwrap();
    assert_eq!(reader.snapshot().user_data(), b"two");
    let commits = StoreReader::commits(folder.path()).unwrap();
    assert_eq!(&*commits.last().unwrap().1.as_ref().unwrap().user_data, b"two");

    // As many as there may be, and one more.
    let most = vec![7; 1 << 20];
    let newest = store.commit_with(&most).unwrap();
    let error = store.commit_with(&vec![7; (1 << 20) + 1]).unwrap_err();
    assert!(matches!(&error, Error::Request(why) if why.contains("found 1048577")), "{error}");
    assert_eq!(store.snapshot().commit(), newest);
    store.purge().unwrap();
    drop(store);
    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    assert!(store.snapshot().user_data() == most);
    store.commit_with(b"").unwrap();
    assert!(store.snapshot().user_data().is_empty());
    assert!(problems(folder.path()).is_empty());
}

/// Commits a document and its number in each of four rounds. `safe` is the last round that is durable for sure, from 0 when the
/// store is created.
fn script(disk: &PowerLossDirectory, safe: &Cell<Option<u32>>) -> Result<()> {
    let store = Store::create_in(Arc::new(disk.clone()), schema(), StoreOptions::default())?;
    safe.set(Some(0));
    for round in 1..=4_u32 {
        add(&store, &[(round, 7)])?;
        store.commit_with(&round.to_le_bytes())?;
        safe.set(Some(round));
    }
    Ok(())
}

/// Checks the store after each crash of a script. `check` also gets what is safe.
fn check_crashes(
    script: impl Fn(&PowerLossDirectory, &Cell<Option<u32>>) -> Result<()>,
    mut check: impl FnMut(&Snapshot, Option<u32>),
) {
    let whole = PowerLossDirectory::new("/disk");
    script(&whole, &Cell::new(None)).unwrap();
    for sync in 0..=whole.sync_count() {
        let (disk, safe) = (PowerLossDirectory::new("/disk").down_at_sync(sync), Cell::new(None));
        let _ = script(&disk, &safe);
        for seed in 0..crate::cases(4, 400) {
            match Store::open_in(Arc::new(disk.crash_image(seed)), StoreOptions::default()) {
                Err(_) if safe.get().is_none() => {}
                store => check(&store.unwrap().snapshot(), safe.get()),
            }
        }
    }
}

#[test]
fn bytes_are_durable_with_the_documents_of_their_commit() {
    let mut seen = BTreeSet::new();
    check_crashes(script, |snapshot, safe| {
        let docs = u32::try_from(contents(snapshot).len()).unwrap();
        assert!(safe.is_none_or(|safe| docs == safe || docs == safe + 1));
        let bytes = docs.to_le_bytes();
        assert_eq!(snapshot.user_data(), if docs == 0 { &[][..] } else { &bytes[..] });
        seen.insert(docs);
    });
    assert_eq!(seen, BTreeSet::from([0, 1, 2, 3, 4]));
}

#[test]
fn a_log_keeps_the_bytes_of_the_last_commit() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let store = Store::create(folder.path(), schema(), options).unwrap();
    store.commit_with(b"one").unwrap();
    apply(&store, &[(2, Some(2))]).unwrap();
    drop(store);
    let store = Store::open(folder.path(), options).unwrap();
    assert_eq!((contents(&store.snapshot()).len(), store.snapshot().user_data()), (1, &b"one"[..]));
}

/// Writes a document and its number in each of three rounds. `safe` is the last round whose commit returned.
fn logged(disk: &PowerLossDirectory, safe: &Cell<Option<u32>>) -> Result<()> {
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let store = Store::create_in(Arc::new(disk.clone()), schema(), options)?;
    safe.set(Some(0));
    for round in 1..=3_u32 {
        apply(&store, &[(3 * round, Some(7))])?;
        store.commit_with(&round.to_le_bytes())?;
        safe.set(Some(round));
    }
    Ok(())
}

/// The log has the bytes among its batches, so that a commit that was lost leaves those of its log.
#[test]
fn bytes_in_a_log_come_after_the_batches_before_them() {
    let mut seen = BTreeSet::new();
    check_crashes(logged, |snapshot, safe| {
        let docs = u32::try_from(contents(snapshot).len()).unwrap();
        let round = snapshot.user_data().try_into().map_or(0, u32::from_le_bytes);
        assert!(docs == round || docs == round + 1, "{docs} {round}");
        assert!(safe.is_none_or(|safe| round >= safe));
        seen.insert((docs, round));
    });
    assert!(seen.is_superset(&BTreeSet::from([(0, 0), (1, 1), (2, 2), (3, 3)])), "{seen:?}");
    assert!(seen.iter().any(|(docs, round)| docs > round), "{seen:?}");
}

#[test]
fn replicas_that_follow_by_frames_get_no_files() {
    let (store, replica) = pair();
    let mut feed = Feed::open_in(store.directory().clone(), replica.position());
    for bytes in [&b"one"[..], b"two", b""] {
        apply(&store, &[(6, Some(6))]).unwrap();
        store.commit_with(bytes).unwrap();
        let taken = pump(&mut feed, &replica).unwrap();
        assert_eq!(taken, [Taken::Frame(Received::Applied), Taken::Frame(Received::Applied)]);
        assert_eq!(replica.position(), store.position());
        replica.store().commit().unwrap();
        assert_eq!(replica.snapshot().user_data(), bytes);
    }
    assert_eq!(feed.sent(), (6, 0));
    // The bytes are no change of a document.
    assert_eq!(store.changes(replica.position().sequence - 2).unwrap().count(), 1);
}

#[test]
fn replicas_get_the_bytes_and_give_none() {
    let (store, replica) = pair();
    store.commit_with(b"one").unwrap();
    assert!(replica.position().sequence < store.position().sequence, "a batch, so that replicas follow");
    install(&store, &replica).unwrap();
    assert_eq!(replica.snapshot().user_data(), b"one");
    assert!(matches!(replica.store().commit_with(b"two"), Err(Error::IsReplica { .. })));
    let store = replica.promote().unwrap();
    assert_eq!(store.snapshot().user_data(), b"one");
    store.commit_with(b"two").unwrap();
    assert_eq!(store.snapshot().user_data(), b"two");
}
